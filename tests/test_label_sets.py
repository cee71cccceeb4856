"""From an image set to rows of labels: one an image, whatever its boxes."""

from __future__ import annotations

import numpy as np
from image_sets import image_set
from refusals import refused

from ranking.label_sets import label_set


def images_of(image_of, labels, test):
    return image_set(image_of, test, classes=("a", "b", "c"), labels=np.array(labels, bool))


WHOLE = images_of([0, 1, 2], [[1, 1, 0], [1, 0, 0], [1, 1, 1]], [False, False, True])


def test_one_sample_per_image():
    features = np.arange(6, dtype=np.float32).reshape(3, 2)
    made = label_set(WHOLE, features)
    assert made.features is features
    assert made.labels.tolist() == WHOLE.labels.tolist()
    assert made.names == ("a", "b", "c")
    assert made.test.tolist() == [False, False, True]
    assert made.ids.tolist() == ["i000", "i001", "i002"]


def test_rare_labels_are_omitted():
    made = label_set(WHOLE, np.zeros((3, 1)), min_images=2)
    assert made.names == ("a", "b")
    assert made.labels.tolist() == [[True, True], [True, False], [True, True]]
    with refused("labels of Set"):
        label_set(WHOLE, np.zeros((3, 1)), min_images=4)
    with refused("labels of Set", "none"):
        label_set(image_set([0, 1, 2], [False, False, True]), np.zeros((3, 1)))
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
