"""Trainings and simulations through a projection: fitted on what each learns from, and on nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dated_pictures import dated
from labelled_pictures import patches

from ranking import Query, label_training, order_training, training
from ranking.asking_simulation import askers_of, asking_curves, deal
from ranking.features.projection import PCA
from ranking.image_graph import image_graph
from ranking.label_training import label_set_of, seen_through, train_labels
from ranking.order_training import features_to_order, train_orders
from ranking.run_settings import (
    AskingSettings,
    ExperimentSettings,
    LabelTrainSettings,
    OrderTrainSettings,
    Protocol,
    StudySettings,
    TrainSettings,
)
from ranking.training import query_of, train, what_is_learnt
from ranking.types import Features, ImageSet, LabelSet

FOUR: dict[str, Any] = {"kind": "PCA", "components": 4}
WHITE: dict[str, Any] = {"kind": "PCA", "components": 4, "whiten": True}
PARTS = (("Colour", {"bins": 3}),)
SETTINGS = TrainSettings("key", PARTS, "red", "AP-SVM", {"C": 10.0, "tolerance": 0.05}, projection=FOUR)


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> ImageSet:
    return patches(tmp_path_factory.mktemp("patches") / "set", 40)


def drawn(rows: int, columns: int = 27, seed: int = 0) -> Features:
    features = np.random.default_rng(seed).random((rows, columns)).astype(np.float32)
    return features / np.linalg.norm(features, axis=1, keepdims=True)


def given(monkeypatch: pytest.MonkeyPatch, module: Any, features: Features) -> None:
    """Have a training find these features."""
    monkeypatch.setattr(module, "load_features", lambda *_: features)


def learned_twice(
    monkeypatch: pytest.MonkeyPatch, module: Any, features: Features, test: Any, learn: Callable[[], Any]
) -> tuple[Any, Any]:
    """What is learned, and what from different test samples: through the same projection, for the same training
    samples."""
    given(monkeypatch, module, features)
    usual = learn()
    given(monkeypatch, module, np.where(test[:, None], drawn(*features.shape, seed=8), features))
    changed = learn()
    np.testing.assert_array_equal(usual.projection.axes, changed.projection.axes)
    assert usual.metrics["train"] == changed.metrics["train"]
    return usual, changed


# ---------------------------------------------------------------------------------------------------------
# Settings
# ---------------------------------------------------------------------------------------------------------

PLAIN: list[Any] = [
    TrainSettings("key", PARTS, "red", "AP-SVM"),
    LabelTrainSettings("key", PARTS, "C-star p@k"),
    AskingSettings("key", PARTS, (("C-star p@k", {}),), ("entropy",)),
    OrderTrainSettings("key", PARTS, "year", "MidRank"),
    StudySettings("key", PARTS, "year", "number of trees"),
    Protocol("key", PARTS),
    ExperimentSettings("key", PARTS),
]


def test_a_run_without_projection_is_written_as_before_there_were_any() -> None:
    for plain in PLAIN:
        kind: Any = type(plain)
        assert "projection" not in plain.to_json(), kind
        assert kind.from_json({**plain.to_json(), "projection": None}) == plain
        through = replace(plain, projection=WHITE)
        written = json.loads(json.dumps(through.to_json()))
        assert written["projection"] == WHITE, kind
        assert kind.from_json(written) == through
        for wrong in ("PCA", ["PCA"], 64):
            with pytest.raises(ValueError, match="projection"):
                kind.from_json({**plain.to_json(), "projection": wrong})


def test_weights_mean_what_the_projection_and_its_set_make_of_them() -> None:
    settings = [SETTINGS, replace(SETTINGS, projection=None), replace(SETTINGS, projection=WHITE)]
    settings += [replace(SETTINGS, projection={"kind": "PCA"}), replace(SETTINGS, set="other")]
    assert len(set(map(what_is_learnt, settings))) == len(settings)
    whole = replace(SETTINGS, projection={**FOUR, "whiten": False})
    assert what_is_learnt(SETTINGS) == what_is_learnt(whole)
    bare = replace(SETTINGS, projection=None)
    assert what_is_learnt(bare) == what_is_learnt(replace(bare, set="other"))


# ---------------------------------------------------------------------------------------------------------
# Trainings that rank samples
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("projection", [FOUR, WHITE])
def test_what_test_samples_are_changes_nothing_that_is_learned(
    labelled: ImageSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, projection: dict[str, Any]
) -> None:
    features, settings = drawn(len(labelled)), replace(SETTINGS, projection=projection)
    steps: list[str] = []
    usual, changed = learned_twice(
        monkeypatch,
        training,
        features,
        labelled.test,
        lambda: train(labelled, settings, tmp_path, on_step=lambda what, *_: steps.append(what)),
    )
    assert steps == ["Fitting PCA", "Training"] * 2
    np.testing.assert_array_equal(usual.method.weights, changed.method.weights)
    np.testing.assert_array_equal(usual.scores[~labelled.test], changed.scores[~labelled.test])
    assert (usual.scores[labelled.test] != changed.scores[labelled.test]).any()
    assert usual.method.weights.shape == (4,)
    np.testing.assert_array_equal(usual.scores, usual.method.score(Query(usual.projection(features))))


def test_neighbours_are_those_of_the_features_as_they_are(labelled: ImageSet) -> None:
    features = drawn(len(labelled))
    settings = replace(SETTINGS, method="HOB-SVM", method_settings={}, graph="nearest")
    fitted = PCA(4).fitted(features, ~labelled.test)
    query = query_of(labelled, settings, features, rows=~labelled.test, projection=fitted)
    expected = image_graph(labelled, "nearest", PARTS, features, ~labelled.test)
    assert query.graph is not None
    np.testing.assert_array_equal(query.graph.edges, expected.edges)
    np.testing.assert_array_equal(query.graph.affinity, expected.affinity)
    np.testing.assert_array_equal(query.features, fitted(features[~labelled.test]))


# ---------------------------------------------------------------------------------------------------------
# Labels
# ---------------------------------------------------------------------------------------------------------

LABELS = LabelTrainSettings(
    "key", (("Colour", {"bins": 2}),), "Independent p@k", {"C": 1.0, "max_iterations": 5}, 4, FOUR
)


def test_a_ranker_of_labels_learns_through_its_training_images(
    labelled: ImageSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    features = drawn(len(labelled), 8)
    given(monkeypatch, label_training, features)
    test = label_set_of(labelled, LABELS, tmp_path).test
    usual, changed = learned_twice(
        monkeypatch, label_training, features, test, lambda: train_labels(labelled, LABELS, tmp_path)
    )
    assert usual.method.columns == 4
    assert usual.metrics["test"] != changed.metrics["test"]


def test_a_simulation_fits_in_each_fold_on_what_is_not_asked_about(
    labelled: ImageSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = AskingSettings(
        "key", LABELS.features, (("Independent p@k", {"C": 1.0, "max_iterations": 5}),), ("entropy",)
    )
    settings = replace(settings, questions=2, folds=3, min_images=4, projection=WHITE)
    images = label_set_of(labelled, settings, tmp_path)
    learnt: list[LabelSet] = []
    fit = label_training.LabelRanker.fit
    monkeypatch.setattr(
        label_training.LabelRanker,
        "fit",
        lambda self, one, **rest: learnt.append(one) or fit(self, one, **rest),
    )
    asking_curves(images, settings, askers_of(settings))
    assert len(learnt) == 3
    for rows, seen in zip(deal(len(images), 3, settings.seed), learnt, strict=True):
        training = images.part(np.setdiff1d(np.arange(len(images)), rows))
        expected = seen_through(PCA(4, whiten=True).fitted(training.features), training)
        np.testing.assert_array_equal(seen.features, expected.features)


# ---------------------------------------------------------------------------------------------------------
# Orders
# ---------------------------------------------------------------------------------------------------------

ORDERS = OrderTrainSettings(
    "key", PARTS, "year", "RankSVM", {}, {"length": 5, "train": 20, "test": 20}, projection=FOUR
)


def test_orders_are_learnt_through_the_training_images(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = dated(tmp_path / "set")
    features = drawn(len(images))
    fitted_with: list[Any] = []
    usual, changed = learned_twice(
        monkeypatch,
        order_training,
        features,
        images.test,
        lambda: train_orders(images, ORDERS, tmp_path, on_fitted=lambda _, seen: fitted_with.append(seen)),
    )
    assert fitted_with == [usual.projection, changed.projection]
    given(monkeypatch, order_training, features)
    seen, fitted = features_to_order(images, ORDERS, tmp_path)
    assert fitted is not None
    np.testing.assert_array_equal(seen, PCA(4).fitted(features, ~images.test)(features))
