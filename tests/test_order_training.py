"""A training of a method of orders needs an image set, settings and a folder for features: no store, no run."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dated_pictures import dated
from refusals import refused

from ranking import method_class, order_training
from ranking.features import load_features
from ranking.methods.order_method import OrderMethod
from ranking.order_training import (
    NAMES,
    Ordered,
    drawn_for_test,
    make_drawing,
    measures,
    relevances,
    train_orders,
)
from ranking.run_settings import OrderTrainSettings
from ranking.sequences import Drawn, draw_sequences
from ranking.types import ImageSet, ProgressEvent, SequenceSet, StopTraining

SETTINGS = OrderTrainSettings(
    "key",
    (("Colour", {"bins": 3}),),
    "year",
    "MidRank",
    {"longest": 4, "subsequences": 200},
    {"length": 5, "train": 40, "test": 30},
)


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> ImageSet:
    return dated(tmp_path_factory.mktemp("dated") / "set")


def slow_measures(method: OrderMethod, sequences: SequenceSet) -> dict[str, float]:
    """The means from the definitions of section 5.1, sequence by sequence; no two samples score alike."""
    rows = []
    for number in range(len(sequences)):
        query = sequences.query(number)
        assert query.relevance is not None
        grades, scores = query.relevance, method.score(query)
        right = np.array([sum(other < grade for other in set(grades.tolist())) for grade in grades])
        places = np.argsort(np.argsort(-scores))
        best = np.argsort(np.argsort(-right, kind="stable"))
        discounts = np.log2(2 + np.arange(len(grades)))
        dcgs = [
            (gain / discounts[places]).sum() / (gain / discounts[best]).sum()
            for gain in (right, 2.0**right - 1)
        ]
        pairs = [(a, b) for a in range(len(grades)) for b in range(len(grades)) if grades[a] > grades[b]]
        share = np.mean([scores[a] > scores[b] for a, b in pairs])
        rows.append([*dcgs, 2 * share - 1, share])
    return {**dict(zip(NAMES, np.mean(rows, axis=0), strict=True)), "sequences": float(len(sequences))}


@pytest.mark.parametrize("name", ["MidRank", "RankSVM"])
def test_a_training_without_a_store(images: ImageSet, tmp_path: Path, name: str) -> None:
    steps: list[str] = []
    iterations: list[ProgressEvent] = []
    given = SETTINGS.method_settings if name == "MidRank" else {}
    settings = replace(SETTINGS, method=name, method_settings=given)
    trained = train_orders(
        images,
        settings,
        tmp_path,
        on_step=lambda what, done, total: steps.append(what),
        on_iteration=iterations.append,
        on_fitted=lambda method, _: steps.append(f"fitted {method.name}"),
    )
    assert list(dict.fromkeys(steps)) == ["Colour", "Training", f"fitted {name}"]
    assert {event.round for event in iterations} == ({0, 1, 2} if name == "MidRank" else {0})
    assert trained.certificate is not None
    assert trained.certificate.converged
    features = load_features(images, settings.features, tmp_path)
    drawn = draw_sequences(images, features, "year", make_drawing(settings.drawing))
    for part, one in zip(("train", "test"), drawn, strict=True):
        assert trained.metrics[part] == pytest.approx(slow_measures(trained.method, one.sequences), abs=1e-9)
        assert 0.3 < trained.metrics[part]["Kendall tau"] < 1.0
    assert len(drawn[1].sequences) == 30
    assert trained.scores.shape == (150,)
    trained.method.save(tmp_path / "model.npz")
    again = method_class(name).load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.score_sequences(drawn[1].sequences), trained.scores)


def test_which_samples_are_tested_does_not_depend_on_features(images: ImageSet, tmp_path: Path) -> None:
    features = load_features(images, SETTINGS.features, tmp_path)
    with_them, without = drawn_for_test(images, SETTINGS, features), drawn_for_test(images, SETTINGS)
    np.testing.assert_array_equal(with_them.samples, without.samples)
    np.testing.assert_array_equal(with_them.sequences.members, without.sequences.members)
    assert with_them.sequences.features.shape[1] > 1
    assert not without.sequences.features.any()
    assert images.test[with_them.samples].all()
    other = drawn_for_test(images, replace(SETTINGS, drawing={**SETTINGS.drawing, "seed": 1}))
    assert (other.sequences.members != without.sequences.members).any()


def drawn_by_hand() -> Drawn:
    grades = np.array([70, 3, 3, 9])
    sequences = SequenceSet(np.zeros((4, 1)), grades, np.array([0, 1, 3, 2, 3]), np.array([0, 3, 5]))
    return Drawn(sequences, np.arange(4))


def test_relevance_is_the_position_in_a_drawn_sequence_and_the_grade_in_a_group() -> None:
    expected = {"any samples": [[2, 0, 1], [0, 1]], "whole groups": [[70, 3, 9], [3, 9]]}
    for of, grades in expected.items():
        assert [each.tolist() for each in relevances(drawn_by_hand(), make_drawing({"of": of}))] == grades


def test_measures_by_hand() -> None:
    scores = np.array([3.0, 2.0, 1.0, 1.0, 2.0])  # relevance 2 0 1, then 0 1: one pair wrong, then none
    means = measures(drawn_by_hand(), scores, make_drawing({}))
    np.testing.assert_allclose(means.tau, [1 / 3, 1.0])
    np.testing.assert_allclose(means.pairs, [2 / 3, 1.0])
    third = 1 / math.log2(4)
    linear = (2 + third) / (2 + 1 / math.log2(3))
    exponential = (3 + third) / (3 + 1 / math.log2(3))
    np.testing.assert_allclose(means.ndcg_linear, [linear, 1.0])
    np.testing.assert_allclose(means.ndcg_exponential, [exponential, 1.0])


def test_sequences_as_a_method_orders_them() -> None:
    scores = np.array([3.0, 2.0, 1.0, 1.0, 2.0])
    ordered = Ordered.of(drawn_by_hand(), scores, make_drawing({}))
    assert len(ordered) == 2
    assert [ordered.samples(number).tolist() for number in range(2)] == [[0, 1, 3], [2, 3]]
    assert [ordered.order(number).tolist() for number in range(2)] == [[0, 1, 2], [1, 0]]
    assert [ordered.true_order(number).tolist() for number in range(2)] == [[0, 2, 1], [1, 0]]
    with refused("scores") as caught:
        Ordered.of(drawn_by_hand(), scores[:4], make_drawing({}))
    assert "5" in caught.value.expected
    assert "4" in str(caught.value.came)


def test_who_stops_a_training_gets_the_lengths_so_far(images: ImageSet, tmp_path: Path) -> None:
    def stop(event: ProgressEvent) -> None:
        if event.round == 2:
            raise StopTraining

    endless = replace(SETTINGS, method_settings={"subsequences": 200, "tolerance": 1e-7})
    trained = train_orders(images, endless, tmp_path, on_iteration=stop)
    assert trained.certificate is not None
    assert not trained.certificate.converged
    assert trained.method.lengths == (3, 4)  # type: ignore[attr-defined]
    assert 0.0 < trained.metrics["test"]["Kendall tau"] < 1.0


def test_settings_that_make_no_training_are_refused(
    images: ImageSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes: tuple[tuple[dict[str, Any], str], ...] = (
        ({"method": "AP-SVM"}, "AP-SVM"),
        ({"method": "MidRang"}, "MidRang"),
        ({"method_settings": {"trees": 0}}, "trees"),
        ({"criterion": "age"}, "age"),
        ({"drawing": {"lenght": 3}}, "lenght"),
        ({"drawing": {"length": 1}}, "length"),
        ({"drawing": {"length": 50}}, "50"),
        ({"features": ()}, "feature"),
    )
    for change, name in changes:
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            train_orders(images, replace(SETTINGS, **change), tmp_path)
        assert name in str(caught.value), change
    with refused("drawing", "lenght") as unknown:
        make_drawing({"lenght": 3})
    assert "length" in unknown.value.expected
    monkeypatch.setattr(order_training, "load_features", lambda *rest: pytest.fail("features were computed"))
    with pytest.raises(ValueError, match="age"):  # before features take their time
        train_orders(images, replace(SETTINGS, criterion="age"), tmp_path)
