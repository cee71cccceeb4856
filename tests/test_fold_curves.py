"""Curves over folds: their spread, and the interval of a paired difference."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ranking.fold_curves import FoldCurve, curves_of, difference


def test_the_interval_is_that_of_a_paired_t_test() -> None:
    random = np.random.default_rng(0)
    base = random.normal(0.7, 0.05, (5, 1))
    one = FoldCurve("C-star p@k", "random", base + random.normal(0.02, 0.01, (5, 4)))
    other = FoldCurve("Independent p@k", "random", base + random.normal(0.0, 0.01, (5, 4)))
    found = difference(one, other)
    for at in range(4):
        test = stats.ttest_rel(one.folds[:, at], other.folds[:, at]).confidence_interval(0.95)
        assert (found.low[at], found.high[at]) == pytest.approx((test.low, test.high))
    assert found.mean == pytest.approx(one.mean - other.mean)
    assert one.spread == pytest.approx([np.std(one.folds[:, at], ddof=1) for at in range(4)])


def test_a_single_fold_has_no_interval_and_no_spread() -> None:
    one, other = (FoldCurve(name, "random", np.array([[0.5, 0.6]])) for name in "ab")
    found = difference(one, other)
    assert found.mean.tolist() == [0.0, 0.0]
    assert np.isnan(found.low).all()
    assert np.isnan(found.high).all()
    assert one.spread.tolist() == [0.0, 0.0]


def test_curves_of_other_folds_cannot_be_paired() -> None:
    one, other = FoldCurve("a", "x", np.zeros((5, 2))), FoldCurve("b", "x", np.zeros((4, 2)))
    with pytest.raises(ValueError, match=r"same folds and questions, got \(5, 2\) and \(4, 2\)"):
        difference(one, other)


TOLD = {
    "method": "a",
    "settings": {"C": 1.0},
    "strategy": "random",
    "mean": [0.5, 0.6],
    "folds": [[0.5, 0.6], [0.5, 0.6]],
}


def test_curves_are_read_as_they_were_told() -> None:
    [curve] = curves_of([TOLD])
    assert (curve.method, curve.strategy, curve.folds.tolist()) == ("a", "random", TOLD["folds"])
    assert curve.to_json() == TOLD


def test_curves_of_one_method_are_told_apart_by_their_settings() -> None:
    other = TOLD | {"settings": {"C": 1.0, "core_size": 3}}
    assert [curve.name for curve in curves_of([TOLD, other, TOLD | {"method": "b"}])] == [
        "a",
        "a (core_size = 3)",
        "b",
    ]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ([], "equally many finite numbers"),
        ([{"method": "a", "strategy": "b"}], "must have a method, a strategy and folds"),
        ([TOLD | {"folds": [[0.5], [0.5, 0.6]]}], "must have a method, a strategy and folds"),
        ([TOLD | {"folds": [[0.5, None]]}], "equally many finite numbers"),
        ([TOLD | {"folds": []}], "equally many finite numbers"),
        ([TOLD, TOLD | {"strategy": "entropy", "folds": [[0.5, 0.6]]}], "equally many finite numbers"),
        ([TOLD | {"settings": None}], "must have a method, a strategy and folds"),
        ([TOLD, TOLD], "must differ in method or strategy"),
    ],
)
def test_what_is_no_curve_is_refused(told: list[dict[str, object]], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        curves_of(told)
