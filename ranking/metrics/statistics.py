"""Whether methods differ by more than chance: paired tests over folds, Holm's correction, intervals.

The folds share training samples, so that tests over them, the paper's t-test too, find differences somewhat too easily.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

from ranking.core import Floats, Ints
from ranking.core.errors import InputError
from ranking.metrics.intervals import Interval

CONFIDENCE = 0.95
EQUAL = 1e-12  # of the size of the values: what lies closer together differs by rounding alone


def mean_interval(values: Sequence[float]) -> Interval:
    """Student's interval of the mean. Its ends are NaN of one value and of equal ones: nothing tells how they vary.

    >>> [round(one, 3) for one in mean_interval([0.4, 0.5, 0.6])]
    [0.5, 0.252, 0.748]
    """
    given = np.asarray(values, np.float64)
    if not len(given):
        raise InputError("values of a mean", "at least one value", "none")
    return _interval(given, EQUAL * float(np.abs(given).max()))


def difference_interval(one: Sequence[float], other: Sequence[float]) -> Interval:
    """Student's interval of the mean of the differences, fold by fold, as `mean_interval`: NaN ends exactly where
    `paired_t_test` knows nothing, and where all differences are 0.

    >>> [round(end, 3) for end in difference_interval([0.5, 0.6, 0.8], [0.4, 0.5, 0.6])]
    [0.133, -0.01, 0.277]
    """
    return _interval(*_apart(one, other))


def _interval(given: Floats, rounding: float) -> Interval:
    """rounding: up to what two of the values differ by rounding alone."""
    mean = float(given.mean())
    if np.ptp(given) <= rounding:
        return Interval(mean, math.nan, math.nan)
    half = float(stats.t.ppf(0.5 + CONFIDENCE / 2, len(given) - 1) * given.std(ddof=1)) / math.sqrt(
        len(given)
    )
    return Interval(mean, mean - half, mean + half)


def paired_t_test(one: Sequence[float], other: Sequence[float]) -> float:
    """The two-sided p of Student's t-test of the differences, fold by fold (high-order, section 5).

    Where all differences are 0, it is 1. Where they all are equal but not 0, or there is one, nothing tells how they
    vary: NaN.

    >>> round(paired_t_test([0.5, 0.6, 0.8], [0.4, 0.5, 0.6]), 4)
    0.0572
    """
    apart, rounding = _apart(one, other)
    if not apart.any():
        return 1.0
    if np.ptp(apart) <= rounding:
        return math.nan
    return float(stats.ttest_1samp(apart, 0.0).pvalue)


def wilcoxon_test(one: Sequence[float], other: Sequence[float]) -> float:
    """The two-sided p of Wilcoxon's signed-rank test, which asks for no normal distribution; differences of 0 count
    for nothing, and where all are 0 it is 1. Those that only rounding tells apart share a rank: 0.3 - 0.2 and
    0.2 - 0.1 are tied.

    With n folds it is never below 2 / 2^n: .0625 with five.

    >>> wilcoxon_test([0.5, 0.6, 0.8, 0.9, 0.7], [0.4, 0.4, 0.5, 0.5, 0.2])
    0.0625
    """
    apart, rounding = _apart(one, other)
    if math.isnan(rounding):
        return math.nan
    apart = apart[apart != 0.0]
    return _signed_ranks_p(apart, _doubled_ranks(np.abs(apart), rounding))


def _doubled_ranks(sizes: Floats, rounding: float) -> Ints:
    """Twice the rank of each size from 1, a whole number: those that only rounding tells apart share their mean rank.

    >>> _doubled_ranks(np.array([0.3, 0.1, 0.3]), 1e-12)
    array([5, 2, 5])
    """
    order = np.argsort(sizes)
    level = np.empty(len(sizes), np.int64)
    level[order] = np.cumsum(
        np.diff(sizes[order], prepend=0.0) > rounding
    )  # rises by 1 where a size is another
    ranks: Ints = np.rint(2 * stats.rankdata(level)).astype(np.int64)
    return ranks


def _signed_ranks_p(apart: Floats, doubled: Ints) -> float:
    """The share of all 2^n ways to choose signs whose sum of ranks lies as far from its mean as this one or farther:
    counted rank by rank, for SciPy goes over to a normal distribution where more than 13 values have ties."""
    share = np.zeros(int(doubled.sum()) + 1)  # of the ways whose positive ranks have each sum
    share[0] = 1.0
    for rank in doubled:
        share[rank:] += share[:-rank].copy()
        share *= 0.5
    far = np.abs(2 * np.arange(len(share)) - doubled.sum())  # of each sum from the mean, doubled
    return min(float(share[far >= far[doubled[apart > 0].sum()]].sum()), 1.0)


def holm(values: Sequence[float]) -> list[float]:
    """The p of each comparison after Holm's correction for all of them; NaN, which no test gave, stays and counts.

    >>> [round(p, 6) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    given = np.asarray(values, np.float64)
    order = np.argsort(given, kind="stable")  # NaN goes last
    factors = len(given) - np.arange(len(given))
    corrected = np.empty(len(given))
    corrected[order] = np.minimum(np.maximum.accumulate(factors * given[order]), 1.0)
    return [float(value) for value in corrected]


def _apart(one: Sequence[float], other: Sequence[float]) -> tuple[Floats, float]:
    """The differences, fold by fold, those of rounding alone as 0; and up to what two of them differ by rounding."""
    first, second = np.asarray(one, np.float64), np.asarray(other, np.float64)
    if first.shape != second.shape or first.ndim != 1 or not len(first):
        shapes = f"{first.shape} and {second.shape}"
        raise InputError("values of a paired test", "the same number of both, at least one", shapes)
    apart = first - second
    rounding = EQUAL * float(np.maximum(np.abs(first), np.abs(second)).max())
    return np.where(np.abs(apart) <= rounding, 0.0, apart), rounding
