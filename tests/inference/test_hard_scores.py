"""All algorithms agree where sorting, binning and rounding are hard, at sizes that reach every branch."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from checks import ALGORITHMS, LOSSES, Made, case, check_ranking, hinge
from hard_scores import FAMILIES, MIXTURES, hard_case

from ranking.inference import most_violated_ranking
from ranking.inference.bins import bin_grid

EPSILON = np.finfo(float).eps


def check_agreement(scores: np.ndarray, relevant: np.ndarray, loss: str) -> None:
    """Every algorithm's ranking is consistent and violates as much as greedy's, up to the rounding of a score."""
    expected = hinge(most_violated_ranking(scores, relevant, LOSSES[loss], "greedy"), scores, relevant)
    allowed = 1e-12 + 64 * EPSILON * np.abs(scores).max()
    for algorithm in ALGORITHMS[loss]:
        with case(loss, algorithm):
            result = most_violated_ranking(scores, relevant, LOSSES[loss], algorithm)
            check_ranking(result, scores, relevant, loss)
            assert hinge(result, scores, relevant) == pytest.approx(expected, rel=1e-13, abs=allowed)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("mixture", MIXTURES)
def test_all_algorithms_agree(mixture: str, loss: str) -> None:
    for family in FAMILIES:
        for n in (17, 260):
            with case(family, n):
                check_agreement(*hard_case(family, mixture, n), loss)


@pytest.mark.parametrize(("loss", "mixture"), [("ap", "a tenth"), ("ndcg", "most"), ("root", "first")])
def test_all_algorithms_agree_on_thousands(loss: str, mixture: str) -> None:
    for family in FAMILIES:
        with case(family):
            check_agreement(*hard_case(family, mixture, 3000), loss)


@pytest.mark.parametrize("loss", ["ap", "ndcg"])
def test_greedy_is_optimal_among_all_interleavings(loss: str) -> None:
    """Dynamic programming asks nothing of the loss; 64 samples, a fifth to four fifths of them relevant."""
    for family in [family for family in FAMILIES if "huge" not in family]:
        for mixture in ("a tenth", "most"):
            scores, relevant = hard_case(family, mixture, 64, seed=3)
            terms = reference.loss_terms(loss, int(relevant.sum()), len(scores))
            objective = most_violated_ranking(scores, relevant, loss, "greedy").objective
            allowed = 1e-12 + 64 * EPSILON * np.abs(scores).max()
            best = reference.best_path(scores, relevant, terms)
            assert objective == pytest.approx(best, abs=allowed), (family, mixture)


def test_scores_of_a_training_that_ends() -> None:
    """Most irrelevant samples far below: what the last iterations ask for, at a size with many bins."""
    rng = np.random.default_rng(5)
    relevant = rng.uniform(size=12_000) < 0.02
    for spread in (0.05, 0.5):
        scores = np.where(relevant, 1.0, -1.0) + spread * rng.normal(size=12_000)
        for loss in ("ap", "ndcg"):
            check_agreement(scores, relevant, loss)


def test_scores_at_the_edge_of_a_bin_get_the_rank_that_greedy_gives() -> None:
    """Rounding may put a score on the wrong side of an edge where its best rank changes."""
    # The discount falls on a straight line, so that the best rank of a sample depends on its score alone.
    n, straight = 2000, Made(lambda at: -at * 2.0**-12)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        scores, relevant = rng.uniform(-1, 1, n) / 3, np.arange(n) == 1
        grid = bin_grid(scores)
        assert grid is not None
        for number in range(3, grid.bins - 3):
            edge = grid.top - number / grid.scale
            # the edge and its neighbours, at positions that the grid does not sample
            around = scores.copy()
            around[2:13] = edge + np.spacing(edge) * np.arange(-5, 6)
            # There both ranks of a sample at the edge are equally good.
            around[1] = edge + 0.5 * (n - 1) * 2.0**-12
            assert bin_grid(around) == grid
            result, expected = (
                most_violated_ranking(around, relevant, straight, name).interleaving_ranks
                for name in ("buckets", "greedy")
            )
            np.testing.assert_array_equal(result, expected, f"seed {seed}, bin {number}")
