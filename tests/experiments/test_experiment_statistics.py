from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import ttest_rel, wilcoxon

from ranking.experiments.statistics import (
    difference_interval,
    holm,
    mean_interval,
    paired_t_test,
    wilcoxon_test,
)

FIVE = ([0.56, 0.61, 0.58, 0.66, 0.60], [0.55, 0.57, 0.59, 0.60, 0.57])


def test_the_paired_t_test_is_student_s() -> None:
    apart = np.subtract(*FIVE)
    t = apart.mean() / (apart.std(ddof=1) / math.sqrt(5))
    assert paired_t_test(*FIVE) == pytest.approx(ttest_rel(*FIVE).pvalue)
    assert paired_t_test(*FIVE) == pytest.approx(2 * (1 - 0.5 * (1 + _student_cdf(t, 4))), abs=1e-4)
    assert paired_t_test(FIVE[1], FIVE[0]) == pytest.approx(paired_t_test(*FIVE))


def _student_cdf(t: float, freedom: int) -> float:
    """The share of Student's distribution within -t and t, by summing its density."""
    x = np.linspace(-t, t, 200_001)
    density = (1 + x**2 / freedom) ** (-(freedom + 1) / 2)
    constant = math.gamma((freedom + 1) / 2) / (math.sqrt(freedom * math.pi) * math.gamma(freedom / 2))
    return float(constant * density.mean() * 2 * t)


def test_wilcoxon_counts_all_signs() -> None:
    apart = np.array([0.01, 0.04, -0.02, 0.06, 0.03])
    ranks = np.argsort(np.argsort(np.abs(apart))) + 1
    plus = ranks[apart > 0].sum()
    sums = np.array([ranks @ signs for signs in itertools.product((0, 1), repeat=5)])
    expected = 2 * min((sums >= plus).mean(), (sums <= plus).mean())
    assert wilcoxon_test(apart.tolist(), [0.0] * 5) == pytest.approx(expected)
    assert wilcoxon_test([3, 5, 9, 1], [1, 1, 1, 1]) == pytest.approx(wilcoxon([2, 4, 8]).pvalue), (
        "0 counts not"
    )


def test_differences_that_only_rounding_tells_apart_are_tied() -> None:
    """As precision at 10 has them: tenths, whose differences are not quite equal in binary."""
    one, other = [0.3, 0.7, 0.4, 0.9, 0.6, 0.8], [0.2, 0.9, 0.3, 0.4, 0.7, 0.3]
    apart = np.subtract(one, other)
    assert len(np.unique(np.abs(apart))) > 3, "0.1, 0.2 and 0.5"
    ranks = np.array([2, 4, 2, 5.5, 2, 5.5])
    plus, signs = ranks[apart > 0].sum(), np.array(list(itertools.product((0, 1), repeat=6)))
    at_least = np.abs(signs @ ranks - ranks.sum() / 2) >= abs(plus - ranks.sum() / 2)
    assert wilcoxon_test(one, other) == pytest.approx(at_least.mean())
    generator = np.random.default_rng(0)
    for _ in range(20):
        tenths = generator.integers(0, 11, (2, 7))
        exact = wilcoxon_test(*tenths.astype(float).tolist())
        assert wilcoxon_test(*(tenths / 10).tolist()) == pytest.approx(exact)
    assert math.isnan(paired_t_test([0.9 + 1e-5, 0.7 + 1e-5], [0.9, 0.7]))


def test_wilcoxon_is_exact_however_many_folds_there_are() -> None:
    """With ties too, where SciPy goes over to a normal distribution from 14 differences on."""
    generator = np.random.default_rng(1)
    for _ in range(5):
        apart = generator.choice([-4, -3, -2, -1, 1, 2, 3, 4], 15)
        sizes = np.abs(apart)
        ranks = np.array([(sizes < size).sum() + ((sizes == size).sum() + 1) / 2 for size in sizes])
        signs = (np.arange(2**15)[:, None] >> np.arange(15)) & 1
        far = np.abs(signs @ ranks - ranks.sum() / 2)
        expected = (far >= abs(ranks[apart > 0].sum() - ranks.sum() / 2)).mean()
        assert wilcoxon_test((0.5 + apart / 20).tolist(), [0.5] * 15) == pytest.approx(expected)
    untied = generator.standard_normal(60) + 0.3
    exact = wilcoxon(untied, method="exact").pvalue
    assert wilcoxon_test(untied.tolist(), [0.0] * 60) == pytest.approx(exact)
    assert math.isnan(wilcoxon_test([math.nan, 0.2], [0.1, 0.3])), "as the t-test"


def test_degenerate_differences_have_one_outcome() -> None:
    assert paired_t_test([0.1, 0.2], [0.1, 0.2]) == 1.0
    assert wilcoxon_test([0.1, 0.2], [0.1, 0.2]) == 1.0
    assert paired_t_test([0.1 + 0.2, 0.5], [0.3, 0.5]) == 1.0, "rounding is no difference"
    assert math.isnan(paired_t_test([0.2, 0.3], [0.1, 0.2])), "equal differences tell nothing of their spread"
    assert math.isnan(paired_t_test([0.2], [0.1]))
    assert wilcoxon_test([0.2], [0.1]) == 1.0
    interval = mean_interval([0.5])
    assert interval.value == 0.5
    assert math.isnan(interval.low)
    assert math.isnan(interval.high)
    assert np.isnan(mean_interval([0.5, 0.5])[1:]).all(), "equal values tell nothing of their spread"
    assert mean_interval([0.5, 0.5]).value == 0.5
    assert holm([]) == []
    for wrong in (([], []), ([1.0], [1.0, 2.0])):
        with pytest.raises(ValueError, match="paired tests need as many values of both, at least one, got"):
            paired_t_test(*wrong)
    with pytest.raises(ValueError, match="a mean needs at least one value, got none"):
        mean_interval([])


def test_differences_have_an_interval_where_the_test_knows_something() -> None:
    interval = difference_interval(*FIVE)
    apart = np.subtract(*FIVE)
    assert interval == pytest.approx(mean_interval(apart.tolist()))
    half = 2.776445 * apart.std(ddof=1) / math.sqrt(5)
    assert interval[1:] == pytest.approx((apart.mean() - half, apart.mean() + half), abs=1e-6)
    for one, other in (
        ([0.2, 0.3], [0.1, 0.2]),  # apart by .1 but for rounding
        ([0.9 + 1e-5, 0.7 + 1e-5], [0.9, 0.7]),
        ([0.1 + 0.2, 0.5], [0.3, 0.5]),  # not apart
        ([0.2], [0.1]),
    ):
        assert np.isnan(difference_interval(one, other)[1:]).all()
        assert not difference_interval(one, other).without_zero


def test_holm_is_the_step_down_rule() -> None:
    """A comparison is significant at a where its p, and all smaller ones, pass a / (m - rank)."""
    generator = np.random.default_rng(0)
    for _ in range(50):
        values = (generator.random(generator.integers(1, 9)) ** 3).round(2).tolist()
        corrected = holm(values)
        for level in (0.01, 0.05, 0.2, 0.7):
            order = np.argsort(values, kind="stable")
            passed = set()
            for rank, number in enumerate(order):
                if values[number] > level / (len(values) - rank) + 1e-12:
                    break
                passed.add(int(number))
            assert passed == {number for number, p in enumerate(corrected) if p <= level + 1e-12}
    assert holm([0.9, 0.3, 0.8]) == pytest.approx([1.0, 0.9, 1.0]), "no p is above 1"
    told = holm([0.01, math.nan, 0.02])
    assert told[0] == pytest.approx(0.03)
    assert math.isnan(told[1])
    assert told[2] == pytest.approx(0.04)
