"""Trainings and simulations through a projection: fitted on what each learns from, and on nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from training_runs import Listener

from ranking.core import Features, LabelSet
from ranking.experiments import label_task, order_task, sample_task
from ranking.experiments.label_task import label_set_of, seen_through
from ranking.experiments.labelling_simulation import askers_of, asking_curves, assign_folds
from ranking.experiments.tasks import train
from ranking.features.projection import PCA
from ranking.methods.label_ranker import LabelRanker
from ranking.storage.run_settings import (
    LabelTrainSettings,
    OrderTrainSettings,
    SimulationSettings,
    TrainSettings,
)

FOUR: dict[str, Any] = {"kind": "PCA", "components": 4}
WHITE: dict[str, Any] = {"kind": "PCA", "components": 4, "whiten": True}
PARTS = (("Colour", {"bins": 3}),)
SETTINGS = TrainSettings("key", PARTS, "red", "AP-SVM", {"C": 10.0, "tolerance": 0.05}, projection=FOUR)


def random_features(rows: int, seed: int = 0) -> Features:
    features = np.random.default_rng(seed).random((rows, 27)).astype(np.float32)
    return features / np.linalg.norm(features, axis=1, keepdims=True)


LABELS = LabelTrainSettings(
    "key", (("Colour", {"bins": 2}),), "Independent p@k", {"C": 1.0, "max_iterations": 5}, 4, FOUR
)
ORDERS = OrderTrainSettings(
    "key", PARTS, "year", "RankSVM", {}, {"length": 5, "train": 20, "test": 20}, projection=FOUR
)


@pytest.mark.parametrize(
    ("settings", "images", "columns"),
    [
        (SETTINGS, "labelled", lambda method: len(method.weights)),
        (LABELS, "labelled", lambda method: method.columns),
        (ORDERS, "painted", lambda method: len(method.direction)),
    ],
)
def test_test_samples_do_not_influence_the_projection_or_the_weights(
    settings, images, columns, request, tmp_path, monkeypatch
):
    images, heard = request.getfixturevalue(images), Listener()
    features, altered = random_features(len(images)), random_features(len(images), seed=8)
    altered[~images.test] = features[~images.test]

    def give(features: Features) -> None:
        for module in (sample_task, label_task, order_task):
            monkeypatch.setattr(module, "load_features", lambda *_: features)

    give(altered)
    changed = train(images, settings, tmp_path)
    give(features)
    usual = train(images, settings, tmp_path, **heard.listeners())
    assert heard.steps == ["Fitting PCA", "Training", "fitted"]
    assert heard.fitted == (usual.method, usual.projection)
    fitted = PCA(4).fitted(features, ~images.test)
    for one in (usual, changed):
        np.testing.assert_array_equal(one.projection.axes, fitted.axes)
        assert columns(one.method) == 4
    assert usual.metrics["train"] == changed.metrics["train"]
    assert usual.metrics["test"] != changed.metrics["test"]


def test_a_simulation_fits_the_projection_on_the_training_images_of_each_fold(
    labelled, tmp_path, monkeypatch
):
    methods = ((LABELS.method, LABELS.method_settings),)
    settings = SimulationSettings(
        "key", LABELS.features, methods, ("entropy",), questions=2, folds=3, min_images=4, projection=WHITE
    )
    images = label_set_of(labelled, settings, tmp_path)
    learned, fit = list[LabelSet](), LabelRanker.fit

    def noted(method: LabelRanker, seen: LabelSet, **rest: Any) -> LabelRanker:
        learned.append(seen)
        return fit(method, seen, **rest)

    monkeypatch.setattr(LabelRanker, "fit", noted)
    asking_curves(images, settings, askers_of(settings))
    assert len(learned) == 3
    for rows, seen in zip(assign_folds(images.groups, 3, settings.seed), learned, strict=True):
        training = images.part(np.setdiff1d(np.arange(len(images)), rows))
        expected = seen_through(PCA(4, whiten=True).fitted(training.features), training)
        np.testing.assert_array_equal(seen.features, expected.features)
