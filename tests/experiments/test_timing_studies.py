"""Timing studies: what is timed, that all answer the same calls, and how the figures come about."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from refusals import refused

from ranking import make_method
from ranking.experiments import timing_studies
from ranking.experiments.study import Context
from ranking.experiments.timing_studies import (
    BINARY,
    MAX_CALLS,
    NEGATIVE,
    POSITIVE,
    SAMPLES,
    TABLE,
    TimingOutcome,
    TimingStudy,
    competitors,
    recorded,
    sizes,
    synthetic,
    thinned,
)
from ranking.losses import AveragePrecision
from ranking.methods import methods_by_loss
from ranking.storage.run_settings import TimingSettings

SMALL = TimingSettings(share=0.05, dimensions=20, rounds=2)


@pytest.fixture(scope="module")
def outcome():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timing_studies, "SHARES", (0.5, 1.0))
        yield TimingOutcome.from_json(TimingStudy().run(SMALL, Context()))


def test_every_size_is_timed_for_every_loss_by_all_competitors(outcome):
    assert [(one.varied, one.positives, one.negatives) for one in outcome.points] == len(
        methods_by_loss()
    ) * sizes(0.05)
    losses = {loss.key: loss for loss in methods_by_loss()}
    for point in outcome.points:
        assert [one.name for one in point.timed] == [BINARY, *competitors(losses[point.loss])]
        assert len({one.calls for one in point.timed[1:]}) == 1, "all answer the same calls"
        assert all(one.mean > 0 for one in point.timed)
    assert outcome.machine == timing_studies.machine()


def test_sizes_are_those_of_the_paper():
    counts = sizes(1.0)
    last = {varied: (p, n) for varied, p, n in counts}
    assert sum(last[SAMPLES]) == pytest.approx(3347, abs=11)
    assert (last[NEGATIVE], last[POSITIVE]) == ((227, 3120), (227, 200))
    assert sizes(1.0, "tables") == counts[:1] == [(TABLE, 227, 3120)]


def test_calls_are_those_of_a_whole_training():
    query = synthetic(8, 40, 10, seed=0)
    heard: list[float] = []
    method, calls = recorded("AP-SVM", query, heard.append, 0.3)
    assert (calls[0] == 0).all(), "training begins with weights 0"
    assert len(calls) >= method.certificate.iterations
    assert set(heard) == {0.3}
    count = len(calls)
    method.cut(calls[0], query.relevance > 0)
    assert len(calls) == count, "what is timed later is not recorded"
    again = make_method("AP-SVM", **timing_studies.TRAINING).fit([query])
    np.testing.assert_array_equal(method.weights, again.weights)


def test_medians_over_rounds_are_summed_over_calls_that_are_thinned_where_they_are_many():
    times = np.array([[1.0, 2.0], [3.0, 2.0], [1.0, 9.0]])
    assert timing_studies._summed("select", 10, times) == ("select", 10, 15.0, 1.5, 0.5)
    calls = [np.array([float(number)]) for number in range(3 * MAX_CALLS)]
    kept = list(thinned(calls))
    assert (len(kept), kept[0], kept[-1]) == (MAX_CALLS, calls[0], calls[-1])
    assert len(list(thinned(calls[:5]))) == 5


def test_the_first_round_which_may_have_to_compile_does_not_count(monkeypatch):
    """On this clock a call takes a second, and a thousand while anything may have to compile."""
    # With more than one round, the median would hide it.
    rounds, clock, warm, plain = 1, [0.0], [False], timing_studies.most_violated_ranking

    def slow_at_first(*given: object) -> object:
        clock[0] += 1.0 if warm[0] else 1000.0
        return plain(*given)

    def listen(done: float) -> None:
        warm[0] = warm[0] or done > 0.4 + 0.6 / (rounds + 1) - 1e-9

    monkeypatch.setattr(timing_studies, "most_violated_ranking", slow_at_first)
    monkeypatch.setattr(timing_studies, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    timed = timing_studies._time_training(
        synthetic(8, 40, 10, seed=0), AveragePrecision(), "AP-SVM", rounds, listen
    )
    for one in timed:
        assert (one.mean, one.deviation) == ((0.0, 0.0) if one.name == BINARY else (1.0, 0.0))
        assert one.total == one.calls * one.mean


def test_algorithms_that_disagree_are_not_timed(monkeypatch):
    plain = timing_studies.most_violated_ranking

    def worse(scores, relevant, loss, algorithm):
        best = plain(scores, relevant, loss, algorithm)
        return replace(best, objective=-1.0) if algorithm == "select" else best

    monkeypatch.setattr(timing_studies, "most_violated_ranking", worse)
    with pytest.raises(ArithmeticError, match=r"select -1\.0"):
        TimingStudy().run(SMALL, Context())


def test_what_listens_can_stop_it():
    heard = []

    def stop(what: str, done: float, total: int) -> None:
        heard.append((what, done, total))
        if done > 1:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        TimingStudy().run(SMALL, Context(on_step=stop))
    assert all(part in heard[0][0] for part in ("AP-SVM", "11", "156"))
    assert heard[-1][1] < 1.5
    assert heard[-1][2] == len(methods_by_loss()) * len(sizes(1.0))


def test_outcomes_and_settings_come_back_from_json(outcome):
    assert TimingOutcome.from_json(json.loads(json.dumps(outcome.to_json()))) == outcome
    assert TimingSettings.from_json(json.loads(json.dumps(SMALL.to_json()))) == SMALL
    for wrong in ({}, {"machine": "x", "points": [{"loss": "ap"}]}, {"machine": "x", "points": 3}):
        with refused("outcome of the timing"):
            TimingOutcome.from_json(wrong)
    for name, value, came in (
        ("share", 2, 2),
        ("rounds", 0, 0),
        ("dimensions", 2.5, "2.5"),
        ("parts", None, "None"),
    ):
        with refused(name, came):
            TimingSettings.from_json({name: value})
    with refused("settings of the timing", "an unknown size"):
        TimingSettings.from_json({"size": 3})
