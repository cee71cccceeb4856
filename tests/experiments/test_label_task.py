"""From an image set to rows of labels, and to a ranker of labels: without a store or a run."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from image_sets import image_set
from refusals import refusal, refused
from training_runs import Listener

from ranking import LabelSet
from ranking.datasets.label_sets import label_set
from ranking.experiments import label_task
from ranking.experiments.label_task import label_metrics, label_set_of
from ranking.experiments.tasks import train
from ranking.metrics import break_even_precision
from ranking.storage.run_settings import LabelTrainSettings

GIVEN = {"core_size": 2, "C": 10.0, "tolerance": 0.05}
SETTINGS = LabelTrainSettings("key", (("Colour", {"bins": 2}),), "C-star p@k", GIVEN, min_images=4)


def whole_precision(method: Any, part: LabelSet) -> float:
    """The mean break-even precision from scores of all images at once."""
    part = part.part(part.labels.any(axis=1))
    scores = method.scores(part, part.labels.sum(axis=1))
    return float(np.mean([break_even_precision(z, s) for z, s in zip(part.labels, scores, strict=True)]))


@pytest.mark.parametrize("name", ["C-star p@k", "Independent p@k"])
def test_training_needs_no_store(labelled, tmp_path, monkeypatch, name):
    # so that there are several, the last one not full
    monkeypatch.setattr(label_task, "BLOCK", 7)
    settings = replace(SETTINGS, method=name, method_settings={"C": 10.0, "tolerance": 0.05})
    heard = Listener()
    trained = train(labelled, settings, tmp_path, **heard.listeners())
    assert heard.steps == ["Colour", "Training", "fitted"]
    assert heard.iterations
    assert trained.certificate.relative_gap <= 0.05
    labels = label_set_of(labelled, settings, tmp_path)
    assert "rare" in labelled.classes
    assert "rare" not in labels.names
    for part, rows in (("train", ~labels.test), ("test", labels.test)):
        metrics = trained.metrics[part]
        assert metrics["BEP"] == pytest.approx(whole_precision(trained.method, labels.part(rows)), abs=1e-12)
        assert metrics["images"] == labels.labels[rows].any(axis=1).sum()
        assert 0.5 < metrics["BEP"] < 1.0
    assert trained.metrics["train"]["images"] < (~labels.test).sum(), "an image without labels is left out"


def test_only_training_images_are_trained_on(labelled, tmp_path):
    labels = labelled.labels.copy()
    labels[labelled.test] = ~labels[labelled.test]
    altered = copy(labelled)
    object.__setattr__(altered, "labels", labels)
    settings = replace(SETTINGS, min_images=1)
    usual = train(labelled, settings, tmp_path).metrics
    changed = train(altered, settings, tmp_path).metrics
    assert usual["train"] == changed["train"]
    assert usual["test"] != changed["test"]


def test_where_no_image_has_a_label_there_is_no_precision(labelled, tmp_path):
    method = train(labelled, SETTINGS, tmp_path).method
    labels = label_set_of(labelled, SETTINGS, tmp_path)
    nothing = labels.part(~labels.labels.any(axis=1))
    assert len(nothing) > 0
    assert label_metrics(method, nothing) == label_metrics(method, labels.part([])) == {"images": 0.0}


def test_settings_that_make_no_training_are_refused(labelled, tmp_path):
    for change, name in (
        ({"method": "AP-SVM"}, "AP-SVM"),
        ({"method_settings": {"core_size": -1}}, "core_size"),
        ({"features": ()}, "feature"),
        ({"min_images": 100}, "labels of Patches"),
    ):
        invalid = replace(SETTINGS, **change)
        assert name in str(refusal(train, labelled, invalid, tmp_path)), change


def images_of(image_of, labels, test):
    return image_set(image_of, test, classes=("a", "b", "c"), labels=np.array(labels, bool))


WHOLE = images_of([0, 1, 2], [[1, 1, 0], [1, 0, 0], [1, 1, 1]], [False, False, True])


def test_one_sample_per_image_has_its_features_and_rare_labels_are_omitted():
    features = np.arange(6, dtype=np.float32).reshape(3, 2)
    assert label_set(WHOLE, features).features is features
    made = label_set(WHOLE, np.zeros((3, 1)), min_images=2)
    assert made.names == ("a", "b")
    assert made.labels.tolist() == [[True, True], [True, False], [True, True]]
    assert made.ids.tolist() == ["i000", "i001", "i002"]
    with refused("labels of Set"):
        label_set(WHOLE, np.zeros((3, 1)), min_images=4)
    with refused("labels of Set", "none"):
        label_set(image_set([0, 1, 2], [False, False, True]), np.zeros((3, 1)))
    with refused("min_images", 0):
        label_set(WHOLE, np.zeros((3, 1)), min_images=0)
    for features in (np.zeros((2, 1)), np.zeros(3)):
        with refused("features", features.shape):
            label_set(WHOLE, features)


def test_boxes_of_an_image_are_one_row():
    boxes = images_of([1, 0, 1], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [True, False])
    made = label_set(boxes, np.array([[2.0], [5.0], [4.0]]))
    assert made.features.tolist() == [[5.0], [3.0]]
    assert made.labels.tolist() == [[False, True, False], [True, False, True]]
    assert made.test.tolist() == [True, False]
