"""From an image set to rows of labels: one an image, whatever its boxes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

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


def test_a_sample_an_image():
    features = np.arange(6, dtype=np.float32).reshape(3, 2)
    told = label_set(WHOLE, features)
    assert told.features is features
    assert told.labels.tolist() == WHOLE.labels.tolist()
    assert told.names == ("a", "b", "c")
    assert told.test.tolist() == [False, False, True]
    assert told.ids.tolist() == ["i0", "i1", "i2"]


def test_rare_labels_are_left_out():
    told = label_set(WHOLE, np.zeros((3, 1)), min_images=2)
    assert told.names == ("a", "b")
    assert told.labels.tolist() == [[True, True], [True, False], [True, True]]
    with pytest.raises(
        ValueError, match="no label of Some is shown by 4 images, the most frequent one by 3; ask for fewer"
    ):
        label_set(WHOLE, np.zeros((3, 1)), min_images=4)
    with pytest.raises(ValueError, match="min_images must be at least 1, got 0"):
        label_set(WHOLE, np.zeros((3, 1)), min_images=0)


def test_boxes_of_an_image_are_one_row():
    boxes = images_of([1, 0, 1], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [True, False])
    told = label_set(boxes, np.array([[2.0], [5.0], [4.0]]))
    assert told.features.tolist() == [[5.0], [3.0]]
    assert told.labels.tolist() == [[False, True, False], [True, False, True]]
    assert told.test.tolist() == [True, False]


@pytest.mark.parametrize("features", [np.zeros((2, 1)), np.zeros(3)])
def test_features_of_other_samples(features):
    with pytest.raises(ValueError, match=r"features must be \(3, d\), one row a sample, got shape"):
        label_set(WHOLE, features)
