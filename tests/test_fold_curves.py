"""Curves over folds: their spread, and the interval of a paired difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from refusals import refused
from scipy import stats

from ranking.fold_curves import FoldCurve, curves_of, difference


def test_the_interval_is_that_of_a_paired_t_test() -> None:
    random = np.random.default_rng(0)
    base = random.normal(0.7, 0.05, (5, 1))
    a = FoldCurve("C-star p@k", "random", base + random.normal(0.02, 0.01, (5, 4)))
    b = FoldCurve("Independent p@k", "random", base + random.normal(0.0, 0.01, (5, 4)))
    paired = difference(a, b)
    for at in range(4):
        test = stats.ttest_rel(a.folds[:, at], b.folds[:, at]).confidence_interval(0.95)
        assert (paired.low[at], paired.high[at]) == pytest.approx((test.low, test.high))
    assert paired.mean == pytest.approx(a.mean - b.mean)
    assert a.spread == pytest.approx([np.std(a.folds[:, at], ddof=1) for at in range(4)])


def test_a_single_fold_has_no_interval_and_no_spread() -> None:
    a, b = (FoldCurve(name, "random", np.array([[0.5, 0.6]])) for name in "ab")
    paired = difference(a, b)
    assert paired.mean.tolist() == [0.0, 0.0]
    assert np.isnan([paired.low, paired.high]).all()
    assert a.spread.tolist() == [0.0, 0.0]


def test_curves_of_different_folds_cannot_be_paired() -> None:
    a, b = FoldCurve("a", "x", np.zeros((5, 2))), FoldCurve("b", "x", np.zeros((4, 2)))
    with refused("two curves", "(5, 2) and (4, 2)"):
        difference(a, b)


CURVE: dict[str, Any] = {
    "method": "a",
    "settings": {"C": 1.0},
    "strategy": "random",
    "mean": [0.5, 0.6],
    "folds": [[0.5, 0.6], [0.5, 0.6]],
}


def test_curves_are_read_as_they_were_written() -> None:
    [curve] = curves_of([CURVE])
    assert (curve.method, curve.strategy, curve.folds.tolist()) == ("a", "random", CURVE["folds"])
    assert curve.to_json() == CURVE


def test_curves_of_one_method_are_named_by_their_different_settings() -> None:
    larger = CURVE | {"settings": {"C": 1.0, "core_size": 3}}
    names = [curve.name for curve in curves_of([CURVE, larger, CURVE | {"method": "b"}])]
    assert names == ["a", "a (core_size = 3)", "b"]


@pytest.mark.parametrize(
    ("subject", "curves"),
    [
        ("curves", []),
        ("a curve", [{"method": "a", "strategy": "b"}]),
        ("a curve", [CURVE | {"folds": [[0.5], [0.5, 0.6]]}]),
        ("curves", [CURVE | {"folds": [[0.5, None]]}]),
        ("curves", [CURVE | {"folds": []}]),
        ("curves", [CURVE | {"folds": [[]]}]),
        ("curves", [CURVE, CURVE | {"strategy": "entropy", "folds": [[0.5, 0.6]]}]),
        ("a curve", [CURVE | {"settings": None}]),
        ("curves", [CURVE, CURVE]),
    ],
)
def test_what_is_no_curve_is_refused(subject: str, curves: list[dict[str, Any]]) -> None:
    with refused(subject):
        curves_of(curves)
