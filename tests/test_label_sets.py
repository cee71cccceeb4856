"""From an image set to rows of labels: one an image, whatever its boxes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from refusals import refused

from ranking.label_sets import label_set
from ranking.types import ImageSet


def images_of(image_of, labels, test):
    n, m = len(image_of), len(test)
    return ImageSet(
        key="k",
        title="Some",
        folder=Path(),
        classes=("a", "b", "c"),
        image_names=np.array([f"i{row}" for row in range(m)]),
        image_files=np.array(["f"] * m),
        image_sizes=np.full((m, 2), 9, np.int32),
        image_test=np.array(test),
        boxes=np.tile(np.int32([0, 0, 9, 9]), (n, 1)),
        image_of=np.array(image_of, np.int32),
        groups=np.array(image_of, np.int32),
        labels=np.array(labels, bool),
        ids=np.array([f"s{row}" for row in range(n)]),
    )


WHOLE = images_of([0, 1, 2], [[1, 1, 0], [1, 0, 0], [1, 1, 1]], [False, False, True])


def test_one_sample_per_image():
    features = np.arange(6, dtype=np.float32).reshape(3, 2)
    made = label_set(WHOLE, features)
    assert made.features is features
    assert made.labels.tolist() == WHOLE.labels.tolist()
    assert made.names == ("a", "b", "c")
    assert made.test.tolist() == [False, False, True]
    assert made.ids.tolist() == ["i0", "i1", "i2"]


def test_rare_labels_are_omitted():
    made = label_set(WHOLE, np.zeros((3, 1)), min_images=2)
    assert made.names == ("a", "b")
    assert made.labels.tolist() == [[True, True], [True, False], [True, True]]
    with refused("labels of Some"):
        label_set(WHOLE, np.zeros((3, 1)), min_images=4)
    with refused("min_images", 0):
        label_set(WHOLE, np.zeros((3, 1)), min_images=0)


def test_boxes_of_an_image_are_one_row():
    boxes = images_of([1, 0, 1], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [True, False])
    made = label_set(boxes, np.array([[2.0], [5.0], [4.0]]))
    assert made.features.tolist() == [[5.0], [3.0]]
    assert made.labels.tolist() == [[False, True, False], [True, False, True]]
    assert made.test.tolist() == [True, False]


def test_features_of_different_samples_are_refused():
    for features in (np.zeros((2, 1)), np.zeros(3)):
        with refused("features", features.shape):
            label_set(WHOLE, features)
