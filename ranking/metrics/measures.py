"""Measures of a ranking: average precision, precision at k, NDCG and the agreement of pairs.

Directions and ties, the same for all measures:

- Every measure takes ``(relevance, scores, ...)``, both (n,), and is larger for a better ranking.
- The higher score ranks higher. Equal scores are ranked pessimistically, the less relevant first: a measure is its
  least value over all orders that the scores allow, and no method gains from ties. Where no scores are equal, average
  precision and NDCG are those of scikit-learn and trec_eval.
- Scores are compared as float64. Infinite scores are allowed, since only the order counts; NaN is refused.
- Binary measures (average precision, precision, recall) treat every grade > 0 as relevant.
- Without a relevant sample a measure is undefined: ValueError, for precision at k too. Without an irrelevant one
  every order is perfect for the binary measures, which are 1. `kendall_tau` and `pair_accuracy` need two different
  grades, else ValueError.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from ranking.core import Floats, Ints, check_relevance, is_real
from ranking.core.arrays import AnyArray
from ranking.core.errors import InputError
from ranking.core.settings import check_choice

Gain = Literal["linear", "exponential"]
Grades = npt.NDArray[np.int64]

CUTOFFS = (10, 50, 100)


def rank(scores: npt.ArrayLike) -> AnyArray:
    """Return (n,) the samples sorted by falling score; equal scores keep their input order.

    >>> rank([0.1, 0.9, 0.5])
    array([1, 2, 0])
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or np.isnan(values).any():
        nans = np.count_nonzero(np.isnan(values))
        raise InputError("scores", "shape (n,) without NaN", f"shape {values.shape} with {nans:,} NaN")
    return np.argsort(-values, kind="stable")


def ranking_order(relevance: npt.ArrayLike, scores: npt.ArrayLike) -> npt.NDArray[np.intp]:
    """Return (n,) the samples from the top; of equal scores the less relevant first, then the lower row.

    Needs no relevant sample.

    >>> ranking_order([1, 0, 1], [0.5, 0.5, 0.9])
    array([2, 1, 0])
    """
    return _order(*_validated(relevance, scores))


def precision_recall_curve(
    relevance: npt.ArrayLike, scores: npt.ArrayLike
) -> tuple[Floats, Floats, npt.NDArray[np.intp]]:
    """Return precision (n,) and recall (n,) of the first 1, 2, ..., n samples, and the `ranking_order` (n,).

    One point per cutoff, without interpolation: average precision sums precision times the step of recall.

    >>> precision, recall, order = precision_recall_curve([0, 1, 1], [0.2, 0.9, 0.1])
    >>> precision.round(3), recall, order
    (array([1.   , 0.5  , 0.667]), array([0.5, 0.5, 1. ]), array([1, 0, 2]))
    """
    grades, values = _validated(relevance, scores)
    order = _order(grades, values)
    hits = np.cumsum(_with_relevant(grades)[order] > 0)
    return hits / np.arange(1, len(hits) + 1), hits / hits[-1], order


def average_precision(relevance: npt.ArrayLike, scores: npt.ArrayLike) -> float:
    """Return the mean over the relevant samples of the precision at their rank.

    1 minus it is the AP loss of quicksort, section 2.2, whose example is the order x1, x3, x8, x4, x5, x2, x6, x7
    with x1 to x4 relevant:

    >>> relevance, scores = [1, 1, 1, 1, 0, 0, 0, 0], [8, 3, 7, 5, 4, 2, 1, 6]
    >>> round(1 - average_precision(relevance, scores), 3)
    0.146
    """
    return _average_precision(_ranked(relevance, scores))


def precision_at_k(relevance: npt.ArrayLike, scores: npt.ArrayLike, k: int) -> float:
    """Return the share of relevant samples among the first k, 1 <= k <= n (else ValueError).

    >>> precision_at_k([1, 0, 1], [0.9, 0.5, 0.1], k=2)
    0.5
    """
    return _precision(_ranked(relevance, scores), k)


def break_even_precision(relevance: npt.ArrayLike, scores: npt.ArrayLike) -> float:
    """Return precision at k for k the number of relevant samples, where it equals recall (c-star, BEP).

    >>> break_even_precision([1, 0, 1], [0.9, 0.5, 0.1])
    0.5
    """
    ranked = _ranked(relevance, scores)
    return _precision(ranked, int(np.count_nonzero(ranked)))


def ndcg(
    relevance: npt.ArrayLike, scores: npt.ArrayLike, *, gain: Gain = "linear", k: int | None = None
) -> float:
    """Return the DCG of the first k samples (all n where k is None) over that of the best ranking, in [0, 1].

    DCG sums gain x D(i) over the ranks i = 1, 2, ..., where D(i) = 1 / log2(1 + i). The gain of a grade is the grade
    itself ("linear") or 2^grade - 1 ("exponential"); they agree where relevance is 0 or 1. 1 <= k <= n (else
    ValueError). 1 minus it is the NDCG loss of quicksort, section 2.2, whose example is that of `average_precision`:

    >>> relevance, scores = [1, 1, 1, 1, 0, 0, 0, 0], [8, 3, 7, 5, 4, 2, 1, 6]
    >>> round(1 - ndcg(relevance, scores), 3)
    0.056
    """
    return _ndcg(_ranked(relevance, scores), gain, k)


def pair_accuracy(relevance: npt.ArrayLike, scores: npt.ArrayLike) -> float:
    """Return the share of pairs of different grades where the more relevant sample has the higher score.

    Pairs of one grade have no correct order and do not count; a pair of different grades with equal scores is
    incorrect. For two grades and untied scores it is the area under the ROC curve. Takes O(n log n). All samples of
    one grade: ValueError. Grades may be negative or decimal here and in `kendall_tau`.

    >>> round(pair_accuracy([2, 1, 0], [0.3, 0.2, 0.2]), 3)
    0.667
    """
    wrong, pairs = _wrong_pairs(relevance, scores)
    return (pairs - wrong) / pairs


def kendall_tau(relevance: npt.ArrayLike, scores: npt.ArrayLike) -> float:
    """Return (correct - incorrect) / (correct + incorrect) over pairs: 2 pair_accuracy - 1.

    The pairs are those of `pair_accuracy`.

    This is midrank's section 5.1 with l+ + l- pairs of different grades. Untied grades and scores make tau-a and
    tau-b the same number, this one. With tied grades and untied scores it is Somers' D of scores given relevance,
    neither tau-a (which divides by all pairs) nor tau-b. Tied scores count as incorrect, not as half.

    >>> round(kendall_tau([2, 1, 0], [0.3, 0.2, 0.2]), 3), round(kendall_tau([0.5, -1.0, -1.5], [0.3, 0.2, 0.2]), 3)
    (0.333, 0.333)
    """
    wrong, pairs = _wrong_pairs(relevance, scores)
    return (pairs - 2 * wrong) / pairs


def evaluate(relevance: npt.ArrayLike, scores: npt.ArrayLike) -> dict[str, float]:
    """Return the measures that a run stores: AP, P@10, P@50, P@100 (where k <= n), NDCG, and counts.

    NDCG has linear gain and all ranks. The counts are "positives" (relevant samples) and "samples".

    >>> evaluate([1, 0], [0.9, 0.1])
    {'AP': 1.0, 'NDCG': 1.0, 'positives': 1.0, 'samples': 2.0}
    """
    ranked = _ranked(relevance, scores)
    return {
        "AP": _average_precision(ranked),
        **{f"P@{k}": _precision(ranked, k) for k in CUTOFFS if k <= len(ranked)},
        "NDCG": _ndcg(ranked, "linear", None),
        "positives": float(np.count_nonzero(ranked)),
        "samples": float(len(ranked)),
    }


def evaluate_or_count(relevance: Ints, scores: Floats) -> dict[str, float]:
    """Return `evaluate`, or the counts only where no sample is relevant.

    >>> evaluate_or_count(np.array([0, 0]), np.array([0.9, 0.1]))
    {'positives': 0.0, 'samples': 2.0}
    """
    if not relevance.any():
        return {"positives": 0.0, "samples": float(len(relevance))}
    return evaluate(relevance, scores)


# ---------------------------------------------------------------------------------------------------------
# Input checks
# ---------------------------------------------------------------------------------------------------------


def _validated(relevance: npt.ArrayLike, scores: npt.ArrayLike) -> tuple[Grades, Floats]:
    """Return grades (n,) and scores (n,) float64; InputError if they are invalid."""
    values = np.asarray(scores)
    if values.ndim != 1:
        raise InputError("scores", "shape (n,), one score per sample", values.shape)
    if not is_real(values):
        raise InputError("scores", "real numbers", values.dtype)
    if np.isnan(values).any():
        rows = np.flatnonzero(np.isnan(values))
        got = f"{len(rows):,} of {len(values):,} that are NaN, the first in row {rows[0]:,}"
        raise InputError("scores", "no NaN", got)
    return check_relevance(relevance, len(values)), values.astype(np.float64)


def _with_relevant(grades: Grades) -> Grades:
    if not grades.any():
        got = f"{len(grades):,} samples of which none is relevant"
        raise InputError("relevance", "a sample with a grade above 0", got, "omit a query that has none")
    return grades


def _check_k(k: int, n: int) -> None:
    if isinstance(k, bool | np.bool_) or not isinstance(k, int | np.integer) or not 1 <= k <= n:
        raise InputError("k", f"a whole number from 1 to {n:,}, the number of samples", repr(k))


# ---------------------------------------------------------------------------------------------------------
# Measures of grades listed from the top of the ranking
# ---------------------------------------------------------------------------------------------------------


def _order(grades: Grades, scores: Floats) -> npt.NDArray[np.intp]:
    # the last key sorts first; the sort is stable
    return np.lexsort((grades, -scores))


def _ranked(relevance: npt.ArrayLike, scores: npt.ArrayLike) -> Grades:
    grades, values = _validated(relevance, scores)
    return _with_relevant(grades)[_order(grades, values)]


def _average_precision(ranked: Grades) -> float:
    ranks = np.flatnonzero(ranked) + 1
    return float(np.mean(np.arange(1, len(ranks) + 1) / ranks))


def _precision(ranked: Grades, k: int) -> float:
    _check_k(k, len(ranked))
    return float(np.mean(ranked[:k] > 0))


def _ndcg(ranked: Grades, gain: Gain, k: int | None) -> float:
    check_choice("gain", gain, get_args(Gain))
    if k is not None:
        _check_k(k, len(ranked))
    gains = ranked.astype(np.float64)
    if gain == "exponential":
        # Over 2^(highest grade), which cancels in the quotient, so that no grade overflows.
        gains = np.exp2(gains - gains.max()) - np.exp2(-gains.max())
    discounts = 1 / np.log2(1 + np.arange(1, len(ranked[:k]) + 1))
    best = -np.sort(-gains)
    return float((gains[:k] * discounts).sum() / (best[:k] * discounts).sum())


def _wrong_pairs(relevance: npt.ArrayLike, scores: npt.ArrayLike) -> tuple[int, int]:
    """Return how many pairs of different grades are ordered incorrectly, and how many there are.

    Only the order of grades counts, so they may be any finite numbers.
    """
    truth = np.asarray(relevance)
    if truth.ndim == 1 and is_real(truth) and np.isfinite(truth).all():
        truth = np.unique(truth, return_inverse=True)[1]
    grades, values = _validated(truth, scores)
    levels, counts = np.unique(grades, return_counts=True)
    if len(levels) < 2:
        got = f"{len(grades):,} samples with {len(levels)} different grades"
        raise InputError("relevance", "at least two different grades", got, "omit a query without them")
    pairs = (len(grades) ** 2 - int(counts @ counts)) // 2
    return _ascents(np.searchsorted(levels, grades[_order(grades, values)])), pairs


def _ascents(numbers: Ints) -> int:
    """Return in how many pairs the smaller number precedes the larger."""
    # O(n log n) for numbers of O(n). Two different numbers first differ in some bit, counted from the
    # highest. Bit by bit from the top, numbers that agree in all higher bits form a block in their original
    # order; there each 1 is preceded by a number of 0s, which are counted.
    pairs = 0
    for bit in reversed(range(int(numbers.max()).bit_length())):
        ones, block = (numbers >> bit) & 1, numbers >> (bit + 1)
        zeros_before = np.cumsum(1 - ones)
        zeros_of_block = np.bincount(block[ones == 0], minlength=int(block.max()) + 1)
        # zeros of the blocks before
        earlier = np.cumsum(zeros_of_block) - zeros_of_block
        pairs += int(ones @ (zeros_before - earlier[block]))
        numbers = numbers[np.argsort(numbers >> bit, kind="stable")]
    return pairs
