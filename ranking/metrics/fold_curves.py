"""Break-even precision by number of questions over several folds: means, spread and differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from ranking.core import Floats
from ranking.core.errors import InputError
from ranking.core.settings import GivenJson, GivenSettings, Json

CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class FoldCurve:
    """Break-even precision after 0, 1, ... q questions of a method and a question strategy."""

    method: str
    strategy: str
    # (f, q + 1)
    folds: Floats
    # of the method
    settings: GivenSettings = field(default_factory=dict)
    # those of its settings that differ from other curves of the method, as text; "" for none
    variant: str = ""

    @property
    def name(self) -> str:
        """The name of the method, with its variant where there is one."""
        return f"{self.method} ({self.variant})" if self.variant else self.method

    @property
    def mean(self) -> Floats:
        """(q + 1,) the mean over folds."""
        return np.asarray(self.folds.mean(axis=0))

    @property
    def spread(self) -> Floats:
        """(q + 1,) the standard deviation over folds; NaN for a single fold."""
        if len(self.folds) < 2:
            return np.full(self.folds.shape[1], np.nan)
        return np.asarray(self.folds.std(axis=0, ddof=1))

    def to_json(self) -> Json:
        """Return the record that `curves_of` reads, with the mean."""
        named = {"method": self.method, "settings": dict(self.settings), "strategy": self.strategy}
        return {**named, "mean": self.mean.tolist(), "folds": self.folds.tolist()}


class Difference(NamedTuple):
    """The mean difference of two curves over folds with its interval."""

    # (q + 1,) each; the ends are NaN for a single fold.

    mean: Floats
    low: Floats
    high: Floats


def difference(left: FoldCurve, right: FoldCurve) -> Difference:
    """Return `left` minus `right` on the same folds, with Student's 95% confidence interval over folds.

    >>> flat = FoldCurve("a", "random", np.array([[0.5], [0.7]]))
    >>> [round(float(end[0]), 3) for end in difference(flat, FoldCurve("b", "random", np.array([[0.4], [0.5]])))]
    [0.15, -0.485, 0.785]
    """
    # The interval treats folds as independent. They share training images, so that it is somewhat too narrow.
    if left.folds.shape != right.folds.shape:
        got = f"{left.folds.shape} and {right.folds.shape}"
        raise InputError("two curves", "the same folds and questions", got)
    differences = FoldCurve("", "", left.folds - right.folds)
    count = len(differences.folds)
    half = np.full(differences.folds.shape[1], np.nan)
    if count > 1:
        half = float(student.ppf(0.5 + CONFIDENCE / 2, count - 1)) * differences.spread / np.sqrt(count)
    return Difference(differences.mean, differences.mean - half, differences.mean + half)


def curves_of(records: Sequence[GivenJson]) -> list[FoldCurve]:
    """Return the curves of a stored result: records of "method", "settings", "strategy" and "folds"."""
    try:
        curves = [
            FoldCurve(
                str(record["method"]),
                str(record["strategy"]),
                np.array(record["folds"], np.float64),
                dict(record["settings"]),
                _variant(record, records),
            )
            for record in records
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            "a curve", "a method, a strategy, settings and folds of numbers", str(error)
        ) from error
    shapes = {curve.folds.shape for curve in curves}
    finite = all(np.isfinite(curve.folds).all() for curve in curves)
    if len(shapes) != 1 or len(next(iter(shapes))) != 2 or 0 in next(iter(shapes)) or not finite:
        expected = "the same number of finite numbers in each, folds by questions"
        raise InputError("curves", expected, f"shapes {sorted(shapes)}")
    named = [(curve.name, curve.strategy) for curve in curves]
    if len(set(named)) < len(named):
        raise InputError("curves", "different methods, settings or strategies", named)
    return curves


def _variant(record: GivenJson, records: Sequence[GivenJson]) -> str:
    """Return the settings of a curve that differ between curves of its method: "core_size = 3"."""
    own = dict(record["settings"])
    curves = [dict(curve["settings"]) for curve in records if curve["method"] == record["method"]]
    telling = [name for name in own if any(curve.get(name) != own[name] for curve in curves)]
    return ", ".join(f"{name} = {own[name]}" for name in telling)
