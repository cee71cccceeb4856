"""The most violated ranking: loss-augmented inference for QS-suitable losses (quicksort, eq. 5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numba as nb
import numpy as np
import numpy.typing as npt

from ranking.core import Bools, Floats, Ints, check_relevance, is_real
from ranking.core.errors import InputError
from ranking.inference.bins import bin_grid
from ranking.inference.buckets import buckets
from ranking.inference.interleaving import (
    LARGEST,
    Derivative,
    coefficient_line,
    greedy,
    halve,
    search,
    select,
)
from ranking.inference.sorting import sort_descending
from ranking.losses import RankingLoss, as_loss
from ranking.losses.base import loss_tables

# irrelevant samples: for fewer, sorting all of them is faster than `buckets`
FEW = 12_000
ALGORITHMS = ("auto", "greedy", "search", "select", "buckets")
AUTO, GREEDY, SEARCH, SELECT, _ = range(len(ALGORITHMS))


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


def algorithms_for(loss: str | RankingLoss) -> list[str]:
    """Return the ALGORITHMS that find the most violated ranking for a loss, or for the loss of that name.

    >>> algorithms_for("ndcg")
    ['auto', 'greedy', 'select', 'buckets']
    """
    return [name for name in ALGORITHMS if name != "search" or as_loss(loss).unimodal]


def most_violated_ranking(
    scores: npt.ArrayLike, relevant: npt.ArrayLike, loss: str | RankingLoss = "ap", algorithm: str = "auto"
) -> MostViolatedRanking:
    """Return argmax over rankings R of w.Psi(X, R) + Delta(R*, R), given scores = X @ w (quicksort, eq. 5).

    scores: (n,) finite. relevant: (n,) bool (or grades: above 0 is relevant), with both kinds. loss: the name of a
    registered loss, or any RankingLoss; ValueError for one that is not QS-suitable. algorithm: "greedy" evaluates
    every rank of every irrelevant sample (Yue et al. 2007), "search" bisects (Algorithm 3, for unimodal losses),
    "select" is quicksort-flavoured (Algorithms 1 and 2), "buckets" counts instead of comparing, and leaves scores
    that no grid can separate to select; "auto" is "buckets", or halves the sorted scores where there are few.

    All reach the same objective. Where several rankings attain it, each algorithm always returns the same one, but
    two algorithms may return different ones.

    >>> violated = most_violated_ranking([3.0, 1.0, 2.0], [True, False, False])
    >>> violated.interleaving_ranks, violated.loss, violated.objective
    (array([2, 2], dtype=int32), 0.0, 1.5)
    """
    scores, is_relevant = _checked(scores, relevant)
    if algorithm not in ALGORITHMS:
        raise InputError("algorithm", f"one of: {', '.join(ALGORITHMS)}", algorithm)
    count = int(np.count_nonzero(is_relevant))
    negatives = len(scores) - count
    if not count or not negatives:
        missing = "no relevant sample" if not count else "no irrelevant sample"
        raise InputError("relevant", "both relevant and irrelevant samples", missing, "choose another query")
    chosen, half_gains, steps = _terms(loss, count, negatives)
    if algorithm == "search" and not chosen.unimodal:
        raise InputError("loss of search", "a unimodal one such as ap", chosen.name, "use auto")
    ranks = np.empty(negatives, np.int32)
    coefficients = np.empty(len(scores))
    counted = algorithm == "buckets" or (algorithm == "auto" and negatives >= FEW)
    written = _count(scores, is_relevant, half_gains, steps, ranks, coefficients) if counted else None
    if written is None:
        number = ALGORITHMS.index(algorithm)
        written = _compare(scores, is_relevant, half_gains, steps, number, ranks, coefficients)
        if written is None:
            raise _unusable(scores)
    positions, product = written
    delta = chosen.of_positions(positions)
    return MostViolatedRanking(coefficients, delta, ranks, product + delta)


@lru_cache(maxsize=8)
def _terms(loss: str | RankingLoss, positives: int, negatives: int) -> tuple[RankingLoss, Floats, Floats]:
    """Return a loss, and the half gains and steps of a `Derivative`."""
    chosen = as_loss(loss)
    gains, steps = loss_tables(chosen, positives, negatives)
    return chosen, gains * (0.5 * positives * negatives), steps


def _count(
    scores: Floats, is_relevant: Bools, half_gains: Floats, steps: Floats, ranks: Ints, coefficients: Floats
) -> tuple[Floats, float] | None:
    """Do what `_compare` does by counting; return None, with nothing written, without a useful grid."""
    # No grid is useful where it cannot separate the scores.
    grid = bin_grid(scores)
    if grid is None:
        return None
    positives = np.flatnonzero(is_relevant)
    order, relevant = np.empty(len(positives), np.int32), np.empty(len(positives))
    sort_descending(scores[positives], order, relevant)
    derivative = Derivative(relevant, half_gains, steps)
    written = buckets(scores, positives, derivative, grid, ranks, coefficients)
    if written is None:
        return None
    rank_counts, product = written
    positions = np.empty(len(positives))
    of_relevant = _write_relevant(positives[order], relevant, rank_counts, coefficients, positions)
    return positions, product + of_relevant


@nb.njit(cache=True, nogil=True)
def _compare(
    scores: Floats,
    is_relevant: Bools,
    half_gains: Floats,
    steps: Floats,
    algorithm: int,
    ranks: Ints,
    coefficients: Floats,
) -> tuple[Floats, float] | None:
    """Write the `ranks` of the irrelevant samples and all `coefficients` by a number in ALGORITHMS."""
    # Returns the positions of the relevant samples, (|P|,), and scores @ coefficients; None where a score is
    # not finite, or so large that a sum over all samples might overflow.
    count, negatives, unusable, p, n = len(half_gains), len(ranks), 0, 0, 0
    positives, relevant, irrelevant = (
        np.empty(count + 1, np.int32),
        np.empty(count + 1),
        np.empty(negatives + 1),
    )
    # without branches: what is written too much is overwritten
    for k in range(len(scores)):
        positives[p], relevant[p], irrelevant[n] = k, scores[k], scores[k]
        p += is_relevant[k]
        n += not is_relevant[k]
        # NaN as well
        unusable += not abs(scores[k]) <= LARGEST
    if unusable:
        return None
    order, relevant_in_order = np.empty(count, np.int32), np.empty(count)
    sort_descending(relevant[:count], order, relevant_in_order)
    derivative = Derivative(relevant_in_order, half_gains, steps)
    numbers, in_order = np.empty(negatives, np.int32), np.empty(negatives)
    if algorithm >= SELECT:
        numbers[:] = np.arange(negatives)
        select(irrelevant[:negatives], numbers, 0, 1, count + 1, derivative, ranks)
    else:
        sort_descending(irrelevant[:negatives], numbers, in_order)
        if algorithm == AUTO:
            halve(in_order, numbers, 0, 1, count + 1, derivative, ranks)
        elif algorithm == GREEDY:
            greedy(in_order, numbers, derivative, ranks)
        else:
            search(in_order, numbers, derivative, ranks)
    rank_counts, product = _write_irrelevant(scores, is_relevant, ranks, count, coefficients)
    from_top, positions = positives[order], np.empty(count)
    of_relevant = _write_relevant(from_top, relevant_in_order, rank_counts, coefficients, positions)
    return positions, product + of_relevant


# lets the sum be vectorised
@nb.njit(cache=True, nogil=True, fastmath={"reassoc"})
def _write_irrelevant(
    scores: Floats, is_relevant: Bools, ranks: Ints, positives: int, coefficients: Floats
) -> tuple[Ints, float]:
    """Write c of the irrelevant samples."""
    # Returns how many have each rank, (|P| + 2,), and their share of scores @ c.
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
    from_top: Ints, relevant: Floats, rank_counts: Ints, coefficients: Floats, positions: Floats
) -> float:
    """Write c and `positions` (|P|,) of the relevant samples `from_top`, whose scores are `relevant`."""
    # rank_counts: (|P| + 2,) of irrelevant samples. Returns the relevant samples' share of scores @ c.
    count, negatives, above, product = len(from_top), rank_counts.sum(), 0, 0.0
    for i in range(count):
        above += rank_counts[i + 1]
        positions[i] = i + 1 + above
        coefficient = (negatives - 2.0 * above) / (float(count) * negatives)
        coefficients[from_top[i]] = coefficient
        product += coefficient * relevant[i]
    return float(product)


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
