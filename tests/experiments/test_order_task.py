"""Training a sequence-ranking method needs an image set, settings and a folder for features only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from refusals import refusal, refused
from training_runs import Listener

from ranking.core import OnProgress, ProgressEvent, SequenceSet, StopTraining
from ranking.datasets.sequences import SampledSequences, dense_ranks, draw_sequences
from ranking.experiments import order_task
from ranking.experiments.order_task import (
    NAMES,
    RECORDED,
    Ordered,
    held_out_sequences,
    make_drawing,
    recorded_sequences,
    relevances,
)
from ranking.experiments.recording import Recorder
from ranking.experiments.tasks import train
from ranking.explain.playback import Playback
from ranking.features import load_features
from ranking.methods.order_method import OrderMethod
from ranking.metrics import kendall_tau, ndcg, pair_accuracy
from ranking.storage.run_settings import OrderTrainSettings

GIVEN, DRAWING = {"longest": 4, "subsequences": 200}, {"length": 5, "train": 40, "test": 30}
SETTINGS = OrderTrainSettings("key", (("Colour", {"bins": 3}),), "year", "MidRank", GIVEN, DRAWING)


def means_of(method: OrderMethod, sequences: SequenceSet) -> dict[str, float]:
    """The measures of section 5.1 sequence by sequence, where the last of each has relevance 0."""
    rows = []
    for number in range(len(sequences)):
        query = sequences.query(number)
        right, scores = dense_ranks(query.relevance), method.score(query)
        gains = [ndcg(right, scores, gain=gain) for gain in ("linear", "exponential")]
        rows.append([*gains, kendall_tau(right, scores), pair_accuracy(right, scores)])
    return {**dict(zip(NAMES, np.mean(rows, axis=0), strict=True)), "sequences": float(len(sequences))}


@pytest.mark.parametrize("name", ["MidRank", "RankSVM"])
def test_training_needs_no_store(painted, tmp_path, name):
    settings = replace(SETTINGS, method=name, method_settings=GIVEN if name == "MidRank" else {})
    heard = Listener()
    trained = train(painted, settings, tmp_path, **heard.listeners())
    assert heard.steps == ["Colour", "Training", "fitted"]
    assert {event.round for event in heard.iterations} == ({0, 1, 2} if name == "MidRank" else {0})
    assert trained.certificate.converged
    features = load_features(painted, settings.features, tmp_path)
    sampled = draw_sequences(painted, features, "year", make_drawing(settings.drawing))
    for part, one in zip(("train", "test"), sampled, strict=True):
        assert trained.metrics[part] == pytest.approx(means_of(trained.method, one.sequences), abs=1e-9)
        assert 0.3 < trained.metrics[part]["Kendall tau"] < 1.0
    assert len(sampled[1].sequences) == 30
    assert trained.scores.shape == (150,)
    np.testing.assert_array_equal(trained.method.score_sequences(sampled[1].sequences), trained.scores)


def test_which_samples_are_tested_does_not_depend_on_features(painted, tmp_path):
    features = load_features(painted, SETTINGS.features, tmp_path)
    with_them, without = (
        held_out_sequences(painted, SETTINGS, features),
        held_out_sequences(painted, SETTINGS),
    )
    np.testing.assert_array_equal(with_them.samples, without.samples)
    np.testing.assert_array_equal(with_them.sequences.members, without.sequences.members)
    assert with_them.sequences.features.shape[1] > 1
    assert not without.sequences.features.any()
    assert painted.test[with_them.samples].all()
    reseeded = held_out_sequences(painted, replace(SETTINGS, drawing={**DRAWING, "seed": 1}))
    assert (reseeded.sequences.members != without.sequences.members).any()


def handmade_sequences() -> SampledSequences:
    grades = np.array([70, 3, 3, 9])
    sequences = SequenceSet(np.zeros((4, 1)), grades, np.array([0, 1, 3, 2, 3]), np.array([0, 3, 5]))
    return SampledSequences(sequences, np.arange(4))


def test_relevance_is_the_position_in_a_sampled_sequence_and_the_grade_in_a_group():
    expected = {"any samples": [[2, 0, 1], [0, 1]], "whole groups": [[70, 3, 9], [3, 9]]}
    for of, grades in expected.items():
        assert [
            each.tolist() for each in relevances(handmade_sequences(), make_drawing({"of": of}))
        ] == grades


def test_sequences_as_a_method_orders_them():
    # relevance 2 0 1, then 0 1: one pair wrong, then none
    scores = np.array([3.0, 2.0, 1.0, 1.0, 2.0])
    ordered = Ordered.of(handmade_sequences(), scores, make_drawing({}))
    np.testing.assert_allclose(ordered.measures.tau, [1 / 3, 1.0])
    assert len(ordered) == 2
    assert [ordered.samples(number).tolist() for number in range(2)] == [[0, 1, 3], [2, 3]]
    assert [ordered.order(number).tolist() for number in range(2)] == [[0, 1, 2], [1, 0]]
    assert [ordered.true_order(number).tolist() for number in range(2)] == [[0, 2, 1], [1, 0]]
    with refused("scores"):
        Ordered.of(handmade_sequences(), scores[:4], make_drawing({}))


def test_settings_that_make_no_training_are_refused(painted, tmp_path, monkeypatch):
    long = replace(SETTINGS, drawing={"length": 50})
    assert refusal(train, painted, long, tmp_path)[0] == "the train split of Dated patches"
    monkeypatch.setattr(order_task, "load_features", lambda *rest: pytest.fail("features were computed"))
    for change, name in (
        ({"method": "AP-SVM"}, "AP-SVM"),
        ({"method_settings": {"trees": 0}}, "trees"),
        ({"criterion": "age"}, "age"),
        ({"drawing": {"lenght": 3}}, "lenght"),
    ):
        changed = replace(SETTINGS, **change)
        assert name in str(refusal(train, painted, changed, tmp_path)), change


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("MidRank", GIVEN),
        ("MidRank", {**GIVEN, "fusion": "best length"}),
        ("MidRank", {**GIVEN, "representation": "max-pooled difference", "constant_in_search": "counted"}),
        ("RankSVM", {}),
        ("SVR", {}),
    ],
)
def test_a_recording_has_the_orders_that_a_stop_at_each_iteration_leaves(painted, tmp_path, name, given):
    settings = replace(SETTINGS, method=name, method_settings=given)
    passed: list[Playback] = []
    heard = Listener()
    trained = train(painted, settings, tmp_path, recorder=Recorder(passed.append), **heard.listeners())
    playback = passed[-1]
    held_out = held_out_sequences(painted, settings)
    few = recorded_sequences(held_out.sequences)
    assert len(few) == RECORDED
    assert playback.scores.shape[1] == len(few.members) == 25
    assert np.array_equal(playback.scores[-1], trained.scores[:25].astype(np.float32))
    assert set(playback.iterations.tolist()) <= {event.iteration for event in heard.iterations}
    orders = set[tuple[int, ...]]()
    for i in range(0, len(playback) - 1, 3):
        stopped = train(painted, settings, tmp_path, on_iteration=stop_at(int(playback.iterations[i])))
        for number in range(len(few)):
            part = slice(*few.starts[number : number + 2])
            left, recorded = (np.argsort(-scores[part]) for scores in (stopped.scores, playback.scores[i]))
            assert recorded.tolist() == left.tolist(), (i, number)
            orders.add(tuple(recorded))
    assert len(orders) > 2, "they change"


def stop_at(iteration: int) -> OnProgress:
    def listen(event: ProgressEvent) -> None:
        if event.iteration == iteration:
            raise StopTraining

    return listen


def test_long_sequences_are_recorded_as_far_as_their_search_is_fast():
    for length, count in ((3, 5), (8, 5), (9, 4), (20, 2), (40, 1), (41, 0)):
        starts = np.arange(11) * length
        members = np.arange(10 * length)
        sequences = SequenceSet(np.zeros((len(members), 1)), np.zeros(len(members), int), members, starts)
        assert len(recorded_sequences(sequences)) == count, length
