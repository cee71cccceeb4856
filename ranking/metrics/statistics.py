"""Paired tests of methods over folds, Holm's correction, confidence intervals of means.

Folds share training samples, so that tests over them, including the paper's t-test, find differences too easily.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

from ranking.core import Floats
from ranking.core.errors import InputError
from ranking.metrics.intervals import Interval

CONFIDENCE = 0.95
# times the size of the values: smaller differences are rounding
EQUAL = 1e-12


def mean_interval(values: Sequence[float]) -> Interval:
    """Return the mean of the values with Student's confidence interval.

    >>> [round(value, 3) for value in mean_interval([0.4, 0.5, 0.6])]
    [0.5, 0.252, 0.748]
    """
    # The ends are NaN for one value and for equal values, because their variation is then unknown.
    array = np.asarray(values, np.float64)
    if not len(array):
        raise InputError("values of a mean", "at least one value", "none")
    return _interval(array, EQUAL * float(np.abs(array).max()))


def difference_interval(left: Sequence[float], right: Sequence[float]) -> Interval:
    """Return the mean of the differences, fold by fold, with Student's confidence interval.

    >>> [round(end, 3) for end in difference_interval([0.5, 0.6, 0.8], [0.4, 0.5, 0.6])]
    [0.133, -0.01, 0.277]
    """
    # The ends are NaN where all differences are 0, and exactly where `paired_t_test` is NaN.
    return _interval(*_apart(left, right))


def _interval(values: Floats, rounding: float) -> Interval:
    """Return the interval of the mean of `values`."""
    # rounding: the most that two equal values differ by.
    mean = float(values.mean())
    if np.ptp(values) <= rounding:
        return Interval(mean, math.nan, math.nan)
    half = float(stats.t.ppf(0.5 + CONFIDENCE / 2, len(values) - 1) * values.std(ddof=1)) / math.sqrt(
        len(values)
    )
    return Interval(mean, mean - half, mean + half)


def paired_t_test(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the two-sided p of Student's t-test of the differences, fold by fold (high-order, section 5).

    >>> round(paired_t_test([0.5, 0.6, 0.8], [0.4, 0.5, 0.6]), 4)
    0.0572
    """
    # 1 where all differences are 0. NaN for one difference, and where all are equal but not 0: their
    # variation is unknown.
    differences, rounding = _apart(left, right)
    if not differences.any():
        return 1.0
    if np.ptp(differences) <= rounding:
        return math.nan
    return float(stats.ttest_1samp(differences, 0.0).pvalue)


def holm(values: Sequence[float]) -> list[float]:
    """Return the p of each comparison after Holm's correction; NaN stays NaN and counts as a comparison.

    >>> [round(p, 6) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(values, np.float64)
    # NaN goes last
    order = np.argsort(p, kind="stable")
    factors = len(p) - np.arange(len(p))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(np.maximum.accumulate(factors * p[order]), 1.0)
    return [float(value) for value in corrected]


def _apart(left: Sequence[float], right: Sequence[float]) -> tuple[Floats, float]:
    """Return the differences fold by fold, those of rounding size as 0, and that size."""
    first, second = np.asarray(left, np.float64), np.asarray(right, np.float64)
    if first.shape != second.shape or first.ndim != 1 or not len(first):
        shapes = f"{first.shape} and {second.shape}"
        raise InputError("values of a paired test", "the same number of both, at least one", shapes)
    differences = first - second
    rounding = EQUAL * float(np.maximum(np.abs(first), np.abs(second)).max())
    return np.where(np.abs(differences) <= rounding, 0.0, differences), rounding
