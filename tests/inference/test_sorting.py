"""Sorting by counting, against a stable sort by comparisons."""

from __future__ import annotations

import numpy as np
from checks import case
from hard_scores import FAMILIES

from ranking.inference import sorting


def test_descending_is_the_stable_sort() -> None:
    for family, generate in FAMILIES.items():
        for n in (1, 2, sorting.FEW - 1, sorting.FEW, 1000):
            if n == 1 and family == "outlier":
                continue
            with case(family, n):
                scores = generate(n, np.random.default_rng(n))
                order, in_order = np.empty(n, np.int32), np.empty(n)
                sorting.sort_descending(scores, order, in_order)
                np.testing.assert_array_equal(order, np.argsort(-scores, kind="stable"))
                np.testing.assert_array_equal(in_order, scores[order])


def test_most_scores_are_sorted_without_comparisons() -> None:
    """One far away leaves the others in too few bins."""
    scores = np.random.default_rng(0).normal(size=3000)
    for far, expected in ((0.0, True), (1e4, True), (1e9, False)):
        scores[7] = far
        order, in_order = np.empty(3000, np.int32), np.empty(3000)
        assert sorting._count(scores, order, in_order)
        assert sorting._insert(order, in_order, sorting.MOVES * 3000) == expected, far


def test_scores_that_are_not_finite_are_sorted_somehow() -> None:
    for bad in (np.nan, np.inf, -np.inf):
        scores = np.random.default_rng(0).normal(size=500)
        scores[[3, 400]] = bad
        order, in_order = np.empty(500, np.int32), np.empty(500)
        sorting.sort_descending(scores, order, in_order)
        assert sorted(order) == list(range(500))
