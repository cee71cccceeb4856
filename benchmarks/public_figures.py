"""The public figures of midrank's Table 1, and the measures of ranked sequences: shared by the sequence benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat

from ranking import SequenceSet
from ranking.metrics import kendall_tau, ndcg, pair_accuracy

FOLDS = 3


class Figures:
    """The photographs: features of length 1, persons, and the grades that an attribute gives each person."""

    def __init__(self, file: Path) -> None:
        contents = loadmat(file)
        features = contents["feat"].astype(np.float64)
        self.features = (features / np.linalg.norm(features, axis=1, keepdims=True)).astype(np.float32)
        self.persons = contents["class_labels"].ravel().astype(int) - 1
        self.train = contents["used_for_training"].ravel().astype(bool)
        # (11, 8)
        self.orders = contents["relative_ordering"].astype(int) - 1

    def sequences(self, attribute: int, rows: np.ndarray, count: int, seed: int) -> SequenceSet:
        """Sample sequences of one photograph of each person, out of `rows`."""
        rng = np.random.default_rng([seed, attribute])
        people = [rows[self.persons[rows] == person] for person in np.unique(self.persons)]
        members = np.stack([rng.choice(own, count) for own in people], axis=1)
        starts = np.arange(0, members.size + 1, len(people))
        return SequenceSet(self.features, self.orders[attribute][self.persons], members.ravel(), starts)

    def splits(self, attribute: int, rows: np.ndarray, count: int) -> list[tuple[SequenceSet, SequenceSet]]:
        """Return complete sequences within the images of each fold, and within all others."""
        fold = np.random.default_rng(0).integers(0, FOLDS, len(rows))
        parts = [(rows[fold != k], rows[fold == k]) for k in range(FOLDS)]
        return [tuple(self.sequences(attribute, part, count, 3) for part in both) for both in parts]


def measures(method: Any, sequences: SequenceSet) -> np.ndarray:
    """Return NDCG, Kendall's tau and pair accuracy, means over non-constant sequences of equal length."""
    # NDCG has linear gain. Equal to `ranking.metrics` (checked).
    rows = sequences.members.reshape(len(sequences), -1)
    scores = method.score_sequences(sequences).reshape(rows.shape)
    values = measures_of(sequences.grades[rows], scores)
    for number in range(3):
        query = sequences.query(number)
        once = [measure(query.relevance, scores[number]) for measure in (ndcg, kendall_tau, pair_accuracy)]
        np.testing.assert_allclose(values[number], once, rtol=1e-12)
    return values.mean(axis=0)


def measures_of(grades: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return (m, 3) measures for grades and scores (m, l)."""
    higher = grades[:, :, None] > grades[:, None, :]
    right = (scores[:, :, None] > scores[:, None, :]) & higher
    accuracy = right.sum(axis=(1, 2)) / higher.sum(axis=(1, 2))
    order = np.lexsort((grades, -scores), axis=1)
    discounts = 1.0 / np.log2(2.0 + np.arange(grades.shape[1]))
    reached = np.take_along_axis(grades, order, axis=1) @ discounts
    best = -np.sort(-grades, axis=1) @ discounts
    return np.stack([reached / best, 2.0 * accuracy - 1.0, accuracy], axis=1)


def in_digits(measured: np.ndarray) -> list[str]:
    gain, tau, pairs = measured
    return [f"{gain:.3f}", f"{tau:.3f}", f"{100 * pairs:.1f}"]
