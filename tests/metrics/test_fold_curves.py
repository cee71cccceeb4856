"""Curves over folds: their spread, and the interval of a paired difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from refusals import refused
from scipy import stats

from ranking.metrics.fold_curves import FoldCurve, curves_of, difference


def test_the_interval_is_that_of_a_paired_t_test():
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


def test_a_single_fold_has_no_interval_and_no_spread_and_different_folds_cannot_be_paired():
    single, five = (FoldCurve("a", "random", np.full((folds, 2), 0.5)) for folds in (1, 5))
    paired = difference(single, single)
    assert paired.mean.tolist() == [0.0, 0.0]
    assert np.isnan([paired.low, paired.high]).all()
    assert np.isnan(single.spread).all()
    with refused("two curves", "(5, 2) and (1, 2)"):
        difference(five, single)


CURVE: dict[str, Any] = {"method": "a", "settings": {"C": 1.0}, "strategy": "random", "mean": [0.5, 0.6]}
CURVE["folds"] = [CURVE["mean"], CURVE["mean"]]


def test_curves_are_read_as_they_were_written_and_identified_by_their_settings():
    [curve] = curves_of([CURVE])
    assert (curve.method, curve.strategy, curve.folds.tolist()) == ("a", "random", CURVE["folds"])
    assert curve.to_json() == CURVE
    larger = CURVE | {"settings": {"C": 1.0, "core_size": 3}}
    names = [curve.name for curve in curves_of([CURVE, larger, CURVE | {"method": "b"}])]
    assert names == ["a", "a (core_size = 3)", "b"]


def test_invalid_curves_are_refused():
    for subject, curves in (
        ("curves", []),
        ("a curve", [{"method": "a", "strategy": "b"}]),
        ("a curve", [CURVE | {"folds": [[0.5], [0.5, 0.6]]}]),
        ("curves", [CURVE | {"folds": [[0.5, None]]}]),
        ("curves", [CURVE | {"folds": []}]),
        ("curves", [CURVE | {"folds": [[]]}]),
        ("curves", [CURVE, CURVE | {"strategy": "entropy", "folds": [[0.5, 0.6]]}]),
        ("a curve", [CURVE | {"settings": None}]),
        ("curves", [CURVE, CURVE]),
    ):
        with refused(subject):
            curves_of(curves)
