"""The most violated ranking against every ranking there is, and at the edges."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator

import numpy as np
import pytest
import reference
from checks import ALGORITHMS, DEFINITIONS, LOSSES, PAIRS, case, check_ranking

from ranking.inference import most_violated_ranking
from ranking.inference.threads import MIN_PART, split


def small_samples() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Random scores, half of them on a coarse grid so that samples of both kinds tie, at several scales."""
    rng = np.random.default_rng(9)
    for number in range(60):
        n = int(rng.integers(2, 10))
        relevant = rng.permutation(n) < rng.integers(1, n)
        scores = rng.integers(-2, 3, n).astype(float) if number % 2 else rng.normal(size=n)
        yield scores * 10.0 ** rng.integers(-2, 2), relevant


@pytest.mark.parametrize("loss", LOSSES)
def test_no_interleaving_is_better(loss: str) -> None:
    for scores, relevant in small_samples():
        orders = reference.interleavings(scores, relevant)
        best = reference.best_objective(orders, scores, relevant, DEFINITIONS[loss])
        for algorithm in ALGORITHMS[loss]:
            with case(algorithm, scores, relevant):
                result = most_violated_ranking(scores, relevant, LOSSES[loss], algorithm)
                assert result.objective == pytest.approx(best, rel=1e-12, abs=1e-12)
                check_ranking(result, scores, relevant, loss)


def test_equal_scores_put_every_irrelevant_sample_first() -> None:
    relevant = np.array([True, False, True, False, False, True, True])
    for (loss, algorithm), value in itertools.product(PAIRS, [0.0, -0.0, 0.3, 1e6, -1e-9]):
        with case(loss, algorithm, value):
            result = most_violated_ranking(np.full(7, value), relevant, LOSSES[loss], algorithm)
            assert result.interleaving_ranks.tolist() == [1, 1, 1]
            assert result.loss == pytest.approx(DEFINITIONS[loss]([4, 5, 6, 7]), abs=1e-14)
            check_ranking(result, np.full(7, value), relevant, loss)


def test_of_equally_good_ranks_the_highest_is_taken() -> None:
    """Observation 4 depends on it."""
    # Being first is worth -0.25 + 0.5 to the irrelevant sample, being last 0.25.
    for algorithm in ALGORITHMS["ap"]:
        result = most_violated_ranking([0.25, 0.0], [True, False], "ap", algorithm)
        assert result.interleaving_ranks.tolist() == [2], algorithm


def test_grades_above_zero_and_other_types_of_scores() -> None:
    expected = most_violated_ranking([0.5, 0.25, 0.0], [True, False, True])
    for scores, relevant in (
        (np.array([0.5, 0.25, 0.0], np.float32), [2, 0, 1]),
        (np.array([0.5, 9, 0.25, 9, 0.0])[::2], np.array([1, 0, 3.0])),
    ):
        result = most_violated_ranking(scores, relevant)
        np.testing.assert_array_equal(result.coefficients, expected.coefficients)
        assert (result.loss, result.objective) == (expected.loss, expected.objective)


def test_inference_does_not_change_its_input_and_is_repeatable() -> None:
    rng = np.random.default_rng(2)
    query = rng.normal(size=300), rng.uniform(size=300) < 0.2
    before = [array.copy() for array in query]
    for loss, algorithm in PAIRS:
        first, again = (most_violated_ranking(*query, LOSSES[loss], algorithm) for _ in range(2))
        np.testing.assert_array_equal(first.coefficients, again.coefficients)
    for array, unchanged in zip(query, before, strict=True):
        np.testing.assert_array_equal(array, unchanged)


@pytest.mark.parametrize("n", [450_000, 1_100_000])
def test_many_samples_are_shared_among_threads(n: int) -> None:
    """The parts meet inside a run of irrelevant samples."""
    # The larger case has bins that 16 bits cannot number.
    rng = np.random.default_rng(n)
    relevant = np.zeros(n, bool)
    relevant[rng.choice(n, 300, replace=False)] = True
    scores = rng.standard_normal(n) + relevant
    assert len(split(n, np.flatnonzero(relevant))) == min(n // MIN_PART, os.cpu_count(), 4)
    result, expected = (most_violated_ranking(scores, relevant, "ap", name) for name in ("buckets", "select"))
    np.testing.assert_array_equal(result.interleaving_ranks, expected.interleaving_ranks)
    np.testing.assert_array_equal(result.coefficients, expected.coefficients)
    assert result.objective == pytest.approx(scores @ result.coefficients + result.loss, rel=1e-12)
    assert result.objective == pytest.approx(expected.objective, rel=1e-12)


def test_the_objective_keeps_its_digits_where_nearly_all_samples_are_relevant() -> None:
    scores = 5.0 + np.random.default_rng(0).standard_normal(450_000)
    relevant = np.ones(len(scores), bool)
    relevant[7] = False
    result = most_violated_ranking(scores, relevant, "ap", "buckets")
    exact = math.fsum(scores * result.coefficients) + result.loss
    assert result.objective == pytest.approx(exact, abs=1e-13)
