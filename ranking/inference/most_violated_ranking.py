"""The most violated ranking: loss-augmented inference for QS-suitable losses (quicksort, eq. 5)."""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np
import numpy.typing as npt

from ranking.core import Bools, Floats, Ints, check_relevance, is_real
from ranking.core.errors import InputError
from ranking.inference.bins import bin_grid
from ranking.inference.buckets import buckets
from ranking.inference.interleaving import LARGEST, Derivative, coefficient_line, greedy, halve, search, select
from ranking.inference.sorting import descending
from ranking.losses import RankingLoss, make_loss
from ranking.losses.base import loss_tables

FEW = 6_000  # irrelevant samples: for fewer, NumPy's vectorised sort and `select` are faster than counting
ALGORITHMS = ("auto", "greedy", "search", "select", "buckets")


@dataclass(frozen=True, eq=False)
class MostViolatedRanking:
    """A ranking that maximises score plus loss.

    coefficients: (n,) c with Psi(X, R) = X.T @ c. loss: Delta(R*, R). interleaving_ranks: (|N|,) one plus the number
    of relevant samples above each irrelevant one, in input order. objective: scores @ c + loss.
    """

    coefficients: Floats
    loss: float
    interleaving_ranks: npt.NDArray[np.int32]
    objective: float


def algorithms_for(loss: str) -> list[str]:
    """Return the ALGORITHMS that find the most violated ranking for a loss, given by its name.

    >>> algorithms_for("ndcg")
    ['auto', 'greedy', 'select', 'buckets']
    """
    return [name for name in ALGORITHMS if name != "search" or make_loss(loss).unimodal]


def most_violated_ranking(
    scores: npt.ArrayLike, relevant: npt.ArrayLike, loss: str | RankingLoss = "ap", algorithm: str = "auto"
) -> MostViolatedRanking:
    """Return argmax over rankings R of w.Psi(X, R) + Delta(R*, R), given scores = X @ w (quicksort, eq. 5).

    scores: (n,) finite. relevant: (n,) bool (or grades: above 0 is relevant), with both kinds. loss: the name of a
    registered loss, or any RankingLoss; ValueError for one that is not QS-suitable. algorithm: "greedy" evaluates
    every rank of every irrelevant sample (Yue et al. 2007), "search" bisects (Algorithm 3, for unimodal losses),
    "select" is quicksort-flavoured (Algorithms 1 and 2), "buckets" counts instead of comparing, and leaves scores
    that no grid can separate to select; "auto" is "buckets", or select on scores sorted by NumPy where there are few.

    All reach the same objective. Where several rankings attain it, each algorithm always returns the same one, but
    two algorithms may return different ones.

    >>> violated = most_violated_ranking([3.0, 1.0, 2.0], [True, False, False])
    >>> violated.interleaving_ranks, violated.loss, violated.objective
    (array([2, 2], dtype=int32), 0.0, 1.5)
    """
    scores, is_relevant = _checked(scores, relevant)
    chosen = make_loss(loss) if isinstance(loss, str) else loss
    if algorithm not in ALGORITHMS:
        raise InputError("algorithm", f"one of: {', '.join(ALGORITHMS)}", algorithm)
    positives = np.flatnonzero(is_relevant)
    count = len(positives)
    negatives = len(scores) - count
    if not count or not negatives:
        missing = "no relevant sample" if not count else "no irrelevant sample"
        raise InputError("relevant", "both relevant and irrelevant samples", missing, "choose another query")
    gains, steps = loss_tables(chosen, count, negatives)
    order, relevant_scores = descending(scores[positives])
    from_top = positives[order]
    derivative = Derivative(relevant_scores, gains * (0.5 * count * negatives), steps)

    ranks = np.empty(negatives, np.int32)
    coefficients = np.empty(len(scores))
    counted = algorithm == "buckets" or (algorithm == "auto" and negatives >= FEW)
    grid = bin_grid(scores) if counted else None
    written = buckets(scores, positives, derivative, grid, ranks, coefficients) if grid else None
    if written is None:
        irrelevant, usable = _irrelevant(scores, is_relevant, negatives)
        if not usable:
            raise _unusable(scores)
        _compare(algorithm, chosen, irrelevant, derivative, ranks)
        written = _write_coefficients(scores, is_relevant, ranks, count, coefficients)
    rank_counts, product = written
    above, product_of_relevant = _write_relevant(
        from_top, rank_counts, negatives, relevant_scores, coefficients
    )
    delta = chosen.of_positions(np.arange(1.0, count + 1) + above)
    return MostViolatedRanking(coefficients, delta, ranks, product + product_of_relevant + delta)


@nb.njit(cache=True, nogil=True)
def _irrelevant(scores: Floats, is_relevant: Bools, negatives: int) -> tuple[Floats, bool]:
    """Return the scores of the irrelevant samples, (negatives,), and whether all scores are usable.

    A score is not if it is not finite, or so large that a sum over all samples might overflow.
    """
    irrelevant, count, unusable = np.empty(negatives + 1), 0, 0
    for k in range(len(scores)):
        irrelevant[count] = scores[k]
        count += not is_relevant[k]
        unusable += not abs(scores[k]) <= LARGEST  # NaN as well
    return irrelevant[:negatives], unusable == 0


@nb.njit(cache=True, nogil=True, fastmath={"reassoc"})  # lets the sum be vectorised
def _write_coefficients(
    scores: Floats, is_relevant: Bools, ranks: Ints, positives: int, coefficients: Floats
) -> tuple[Ints, float]:
    """Write c of the irrelevant samples.

    Returns how many have each rank, (|P| + 2,), and their share of scores @ c.
    """
    level, slope = coefficient_line(positives, len(ranks))
    rank_counts, product, number = np.zeros(positives + 2, np.int64), 0.0, 0
    for k in range(len(scores)):
        if not is_relevant[k]:
            coefficients[k] = level + slope * ranks[number]
            product += coefficients[k] * scores[k]
            rank_counts[ranks[number]] += 1
            number += 1
    return rank_counts, product


@nb.njit(cache=True, nogil=True)
def _write_relevant(
    from_top: Ints, rank_counts: Ints, negatives: int, relevant: Floats, coefficients: Floats
) -> tuple[Ints, float]:
    """Write c of the relevant samples, which are `from_top` with the scores `relevant`, both (|P|,).

    Returns how many irrelevant samples are above each of them, and their share of scores @ c.
    """
    count = len(from_top)
    above, product = np.cumsum(rank_counts[1 : count + 1]), 0.0
    for i in range(count):
        coefficient = (negatives - 2.0 * above[i]) / (float(count) * negatives)
        coefficients[from_top[i]] = coefficient
        product += coefficient * relevant[i]
    return above, product


def _checked(scores: npt.ArrayLike, relevant: npt.ArrayLike) -> tuple[Floats, Bools]:
    array, mask = np.asarray(scores), np.asarray(relevant)
    if array.ndim != 1 or mask.shape != array.shape:
        raise InputError("scores and relevant", "one shape (n,)", f"{array.shape} and {mask.shape}")
    if not is_real(array):
        raise InputError("scores", "real numbers", str(array.dtype))
    values = np.ascontiguousarray(array, dtype=np.float64)
    return values, mask if mask.dtype == np.bool_ else check_relevance(mask, len(values)) > 0


def _unusable(scores: Floats) -> InputError:
    """Return the error about scores of which some are not finite, or too large."""
    bad = np.flatnonzero(~(np.abs(scores) <= LARGEST))
    return InputError(
        "scores", f"numbers from {-LARGEST:g} to {LARGEST:g}", f"{len(bad)} others, the first at {bad[0]}"
    )


def _compare(algorithm: str, loss: RankingLoss, scores: Floats, derivative: Derivative, ranks: Ints) -> None:
    """Write the `ranks` of the irrelevant `scores` by one of the comparison-based algorithms."""
    if algorithm in ("select", "buckets"):
        select(scores, np.arange(len(scores)), 0, 1, len(derivative.relevant) + 1, derivative, ranks)
        return
    if algorithm == "search" and not loss.unimodal:
        raise InputError("loss of search", "a unimodal one such as ap", loss.name, "use auto")
    order, from_top = descending(scores)
    if algorithm == "auto":
        halve(from_top, order, 0, 1, len(derivative.relevant) + 1, derivative, ranks)
        return
    in_order = np.empty_like(ranks)
    (search if algorithm == "search" else greedy)(from_top, derivative, in_order)
    ranks[order] = in_order
