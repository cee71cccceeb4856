"""Recording a training run: which iterations are kept, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from ranking.core import Certificate, Floats, ProgressEvent
from ranking.experiments import recording
from ranking.experiments.recording import Recorder
from ranking.explain.playback import MAX_ITERATIONS, Playback, Scored, most_iterations


def event(iteration: int, weights: Floats | None = None, **values: float) -> ProgressEvent:
    own = np.array([float(iteration)]) if weights is None else weights
    return ProgressEvent(iteration, 5.0, values.get("dual", 1.0), 0.1, 2, weights=own)


def ended(iterations: int) -> Certificate:
    return Certificate(4.0, 3.9, 0.1, iterations, 0.1, True)


def recorded(iterations: int, samples: int = 3) -> list[Playback]:
    """All that a recorder passes on of a run whose weights are its iteration, and whose scores are those."""
    passed: list[Playback] = []
    recorder = Recorder(passed.append)
    recorder.begin(samples, lambda weights, rounds: Scored(np.repeat(weights, samples, axis=1)))
    for number in range(iterations):
        recorder.record(event(number))
    recorder.end(ended(iterations), Scored(np.full(samples, 0.5)))
    return passed


@pytest.mark.parametrize("iterations", [1, 2, 29, 30, 31, 58, 59, 60, 61, 100, 1_000, 12_345])
def test_all_first_iterations_are_kept_and_later_ones_thinned_out(iterations):
    [playback] = recorded(iterations)
    kept = playback.iterations.tolist()
    assert len(kept) == min(iterations + 1, len(kept)) <= MAX_ITERATIONS
    assert kept[: min(iterations, MAX_ITERATIONS // 2)] == list(range(min(iterations, MAX_ITERATIONS // 2)))
    assert kept[-1] == iterations
    if iterations < MAX_ITERATIONS:
        assert kept == list(range(iterations + 1))
    else:
        later = np.diff(kept[MAX_ITERATIONS // 2 : -1])
        assert len(set(later.tolist())) == 1, "evenly"
        assert len(kept) > 0.7 * MAX_ITERATIONS
    assert np.array_equal(playback.scores[:-1, 0], kept[:-1]), "each with the scores of its own weights"
    assert (playback.scores[-1] == 0.5).all()
    assert (playback.primal[-1], playback.dual[-1]) == (4.0, 3.9)


def test_a_large_set_has_fewer_iterations_and_a_huge_one_no_recording():
    samples = 40_000
    [playback] = recorded(500, samples)
    assert len(playback) <= most_iterations(samples) == 12
    assert playback.iterations[:6].tolist() == [0, 1, 2, 3, 4, 5]
    assert recorded(5, 600_000) == []


def test_recorded_weights_are_copies_because_the_solver_changes_them():
    passed: list[Playback] = []
    recorder = Recorder(passed.append)
    recorder.begin(1, lambda weights, rounds: Scored(np.stack(weights)))
    weights = np.zeros(1)
    for number in range(3):
        weights[0] = number
        recorder.record(event(number, weights))
    recorder.end(ended(3), Scored(np.zeros(1)))
    assert passed[0].scores[:, 0].tolist() == [0, 1, 2, 0]


def test_an_iteration_that_is_reported_twice_is_kept_once_as_it_was_reported_last():
    passed: list[Playback] = []
    recorder = Recorder(passed.append)
    recorder.begin(1, lambda weights, rounds: Scored(np.stack(weights)))
    for number, dual in ((0, 0.0), (1, 1.0), (1, 0.5), (2, 1.0)):
        recorder.record(event(number, dual=dual))
    recorder.end(ended(2), Scored(np.zeros(1)))
    assert passed[0].iterations.tolist() == [0, 1, 2]
    assert passed[0].dual.tolist() == [0.0, 0.5, 3.9]


def test_without_weights_or_certificate_nothing_is_recorded():
    for weights, certificate in ((None, ended(1)), (np.zeros(1), None)):
        passed: list[Playback] = []
        recorder = Recorder(passed.append)
        recorder.begin(1, lambda weights, rounds: Scored(np.stack(weights)))
        recorder.record(ProgressEvent(0, 1.0, 0.0, 0.0, 0, weights=weights))
        recorder.end(certificate, Scored(np.zeros(1)))
        assert passed == []


def test_scoring_during_training_takes_a_small_share_of_the_time(monkeypatch):
    now, spent, passed = [0.0], [0.0], list[float]()
    monkeypatch.setattr(recording.time, "monotonic", lambda: now[0])
    recorder = Recorder(lambda _: passed.append(now[0]))

    def score(weights: Sequence[Floats], rounds: Sequence[int]) -> Scored:
        now[0] += 0.1
        spent[0] += 0.1
        return Scored(np.stack(weights))

    recorder.begin(1, score)
    for number in range(10_000):
        now[0] += 0.01
        recorder.record(event(number))
    assert len(passed) > 10, "it can be watched"
    assert spent[0] <= 0.05 * now[0]
    assert recorder.seconds == pytest.approx(spent[0])


def test_a_certificate_of_several_problems_leaves_the_bounds_that_were_last_reported():
    """That of MidRank sums up its rankers, and counts fewer iterations than were reported."""
    passed: list[Playback] = []
    recorder = Recorder(passed.append)
    recorder.begin(
        2, lambda weights, rounds: Scored(np.repeat(weights, 2, axis=1) + 100 * np.array(rounds)[:, None])
    )
    for number in range(4):
        recorder.record(replace(event(number), round=number // 2))
    recorder.end(ended(2), Scored(np.array([7.0, 8.0, 9.0])))
    [playback] = passed
    assert playback.iterations.tolist() == [0, 1, 2, 3]
    assert playback.rounds.tolist() == [0, 0, 1, 1]
    assert (playback.primal[-1], playback.dual[-1]) == (5.0, 1.0)
    assert playback.scores.tolist() == [[0, 0], [1, 1], [102, 102], [7, 8]], "the end has the first scores"
