"""Localisation and detection against a slow reference, and against scikit-learn's precision and recall."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import reference
from refusals import refused
from sklearn.metrics import average_precision_score, precision_recall_curve

from ranking import metrics


def random_boxes(rng: np.random.Generator, count: int) -> np.ndarray:
    """Boxes on a small grid, so that many overlap, some exactly by half."""
    corners = rng.integers(0, 4, (count, 2))
    return np.hstack([corners, corners + rng.integers(1, 5, (count, 2))])


def random_detections(
    rng: np.random.Generator,
) -> tuple[list[tuple[np.ndarray, np.ndarray]], list[np.ndarray]]:
    """Detections with different scores in one to five images, and one or more objects."""
    images = int(rng.integers(1, 6))
    detections = [random_boxes(rng, int(rng.integers(0, 7))) for _ in range(images)]
    objects = [random_boxes(rng, int(rng.integers(number == 0, 4))) for number in range(images)]
    scores = np.split(
        rng.permutation(sum(map(len, detections))) / 7.0, np.cumsum([*map(len, detections)])[:-1]
    )
    return list(zip(detections, scores, strict=True)), objects


def test_overlap_and_suppression_are_those_of_the_reference() -> None:
    for seed in range(200):
        rng = np.random.default_rng(seed)
        boxes, second = random_boxes(rng, int(rng.integers(0, 9))), random_boxes(rng, 3)
        expected = [[reference.overlap_of(box, box2) for box2 in second] for box in boxes]
        np.testing.assert_allclose(metrics.overlap(boxes, second), np.reshape(expected, (-1, 3)), atol=1e-15)
        scores, most = rng.integers(0, 5, len(boxes)).astype(float), float(rng.choice([0.0, 0.3, 0.5, 1.0]))
        kept = metrics.non_maximum_suppression(boxes, scores, most)
        assert kept.tolist() == reference.suppressed(boxes.tolist(), scores.tolist(), most), seed


def test_detection_average_precision_is_that_of_the_reference_and_of_scikit_learn() -> None:
    partial = 0
    for seed in range(300):
        detections, objects = random_detections(np.random.default_rng(seed))
        value, total = metrics.detection_average_precision(detections, objects), sum(map(len, objects))
        points = reference.detection_points(detections, [real.tolist() for real in objects])
        assert value == pytest.approx(reference.detection_ap(points, total), abs=1e-12), seed
        hits = np.array([hit for _, hit in points], bool)
        if not hits.any():
            assert value == 0
            continue
        scores = [score for score, _ in points]
        precision, recall, _ = precision_recall_curve(hits, scores)
        envelope, share = np.maximum.accumulate(precision), hits.sum() / total
        assert value == pytest.approx(-(np.diff(recall) @ envelope[:-1]) * share, abs=1e-12), seed
        assert value >= average_precision_score(hits, scores) * share - 1e-12
        partial += 0 < value < 1
    assert partial > 100


def test_equal_scores_of_detections_are_ranked_pessimistically() -> None:
    detections = [([[0, 0, 2, 2]], [1.0]), ([[0, 0, 2, 2]], [1.0])]
    for objects in ([[[0, 0, 2, 2]], []], [[], [[0, 0, 2, 2]]]):
        assert metrics.detection_average_precision(detections, objects) == 0.5


def orders_of(scores: np.ndarray) -> Iterator[list[int]]:
    """Every order of detections with falling scores."""
    groups = [np.flatnonzero(scores == score).tolist() for score in np.unique(scores)[::-1]]
    for parts in itertools.product(*map(itertools.permutations, groups)):
        yield list(itertools.chain(*parts))


def test_equal_scores_give_the_least_value_over_all_their_orders() -> None:
    below_the_best = 0
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        images, many = int(rng.integers(1, 3)), int(rng.integers(1, 6))
        boxes, image_of = random_boxes(rng, many), rng.integers(0, images, many)
        objects = [random_boxes(rng, int(rng.integers(number == 0, 3))) for number in range(images)]
        scores, total = rng.integers(0, 2, many).astype(float), sum(map(len, objects))
        values = []
        for order in orders_of(scores):
            # scores without ties, in this order
            ranks = np.empty(many)
            ranks[order] = -np.arange(many)
            ranked = [(boxes[image_of == image], ranks[image_of == image]) for image in range(images)]
            points = reference.detection_points(ranked, [real.tolist() for real in objects])
            values.append(reference.detection_ap(points, total))
        tied = [(boxes[image_of == image], scores[image_of == image]) for image in range(images)]
        assert metrics.detection_average_precision(tied, objects) == pytest.approx(min(values), abs=1e-12)
        below_the_best += min(values) < max(values)
    assert below_the_best > 100


def test_two_boxes_with_equal_scores_on_one_object_find_it_first() -> None:
    box = [0, 0, 4, 4]
    assert metrics.detection_average_precision([([box, box], [0.5, 0.5])], [[box]]) == 1.0


def test_an_object_is_detected_once_and_a_box_on_half_of_it_is_correct() -> None:
    twice = [([[0, 0, 4, 2], [0, 0, 4, 4]], [0.9, 0.8])]
    assert metrics.detection_average_precision(twice, [[[0, 0, 4, 4]]]) == 1.0
    assert metrics.detection_average_precision(twice, [[[0, 0, 4, 4], [8, 8, 9, 9]]]) == 0.5
    assert metrics.detection_average_precision([([], [])], [[[0, 0, 4, 4]]]) == 0.0
    assert metrics.correct_localisation([[0, 0, 4, 2]], [[[0, 0, 4, 4]]]) == 1.0
    assert metrics.correct_localisation([[0, 0, 4, 1]], [[[0, 0, 4, 4]]]) == 0.0


def test_invalid_boxes_objects_and_scores_are_refused() -> None:
    box: Any = [[0, 0, 1, 1]]
    for subject, call in (
        ("boxes", lambda: metrics.overlap([[0, 0, 0, 1]], box)),
        ("boxes", lambda: metrics.overlap([[0, 0, 1]], box)),
        ("boxes", lambda: metrics.overlap([[0, 0, 1, np.inf]], box)),
        ("objects", lambda: metrics.correct_localisation(box, [[]])),
        ("objects", lambda: metrics.correct_localisation([], [])),
        ("objects", lambda: metrics.correct_localisation(box, [box, box])),
        ("objects", lambda: metrics.detection_average_precision([(box, [1.0])], [[]])),
        ("objects", lambda: metrics.detection_average_precision([(box, [1.0])], [])),
        ("scores", lambda: metrics.detection_average_precision([(box, [1.0, 2.0])], [box])),
        ("scores", lambda: metrics.non_maximum_suppression(box, [])),
    ):
        with refused(subject):
            call()
