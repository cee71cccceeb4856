from __future__ import annotations

import math

import numpy as np
import pytest
from refusals import refused
from scipy.stats import ttest_rel

from ranking.metrics.statistics import difference_interval, holm, mean_interval, paired_t_test

FIVE = ([0.56, 0.61, 0.58, 0.66, 0.60], [0.55, 0.57, 0.59, 0.60, 0.57])


def test_the_paired_t_test_is_student_s_and_so_is_the_interval_of_differences():
    assert paired_t_test(*FIVE) == pytest.approx(ttest_rel(*FIVE).pvalue)
    interval = difference_interval(*FIVE)
    apart = np.subtract(*FIVE)
    assert interval == pytest.approx(mean_interval(apart.tolist()))
    half = 2.776445 * apart.std(ddof=1) / math.sqrt(5)
    assert interval[1:] == pytest.approx((apart.mean() - half, apart.mean() + half), abs=1e-6)


def test_differences_without_variance_have_a_defined_test_result():
    for first, second, p in (
        ([0.1, 0.2], [0.1, 0.2], 1.0),
        # apart by rounding alone
        ([0.1 + 0.2, 0.5], [0.3, 0.5], 1.0),
        # equal differences
        ([0.2, 0.3], [0.1, 0.2], math.nan),
        ([0.9 + 1e-5, 0.7 + 1e-5], [0.9, 0.7], math.nan),
        ([0.2], [0.1], math.nan),
    ):
        assert paired_t_test(first, second) == pytest.approx(p, nan_ok=True)
        assert np.isnan(difference_interval(first, second)[1:]).all()
        assert not difference_interval(first, second).without_zero
    assert mean_interval([0.5, 0.5]) == pytest.approx((0.5, math.nan, math.nan), nan_ok=True)
    for first, second in (([], []), ([1.0], [1.0, 2.0])):
        with refused("values of a paired test", f"({len(first)},) and ({len(second)},)"):
            paired_t_test(first, second)
    with refused("values of a mean"):
        mean_interval([])


def test_holm_is_the_step_down_rule():
    """A comparison is significant at a where its p, and all smaller ones, pass a / (m - rank)."""
    generator = np.random.default_rng(0)
    for level in np.tile([0.01, 0.05, 0.2, 0.7], 50):
        values = (generator.random(generator.integers(1, 9)) ** 3).round(2)
        passed = set()
        for rank, number in enumerate(np.argsort(values, kind="stable")):
            if values[number] > level / (len(values) - rank) + 1e-12:
                break
            passed.add(number)
        assert passed == set(np.flatnonzero(np.array(holm(values)) <= level + 1e-12))
    assert holm([0.9, 0.3, 0.8]) == pytest.approx([1.0, 0.9, 1.0]), "no p is above 1"
    assert holm([0.01, math.nan, 0.02]) == pytest.approx([0.03, math.nan, 0.04], nan_ok=True)
    assert holm([]) == []
