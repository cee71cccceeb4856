"""The measure over the folds along C: a curve for each method and combination of its other settings."""

from __future__ import annotations

from typing import NamedTuple

from ranking.experiments.cross_validation.protocol import PATH
from ranking.experiments.cross_validation.results import Results
from ranking.experiments.cross_validation.tables import point_words
from ranking.metrics.intervals import Interval
from ranking.metrics.statistics import mean_interval


class GridCurve(NamedTuple):
    """The means of a measure over the folds along the grid of C."""

    compared_method: str
    # the settings of the compared method except C, in words; "" if there are none
    others: str
    # increasing, (p,)
    C: tuple[float, ...]
    # the mean over the folds at each C with its 95% Student interval; None if folds are missing
    means: tuple[Interval | None, ...]

    @property
    def label(self) -> str:
        """The method and its other settings, for a legend."""
        return f"{self.compared_method}, {self.others}" if self.others else self.compared_method

    @property
    def known(self) -> list[tuple[float, Interval]]:
        """Each C that has a mean, with that mean."""
        return [(C, mean) for C, mean in zip(self.C, self.means, strict=True) if mean is not None]


def grid_curves(results: Results, query: str) -> list[GridCurve]:
    """Return the curves of a query; none for a method without a grid of C."""
    curves = []
    for compared_method in results.compared_methods:
        along: dict[str, dict[float, Interval | None]] = {}
        for point in results.points(query, compared_method.name):
            values = dict(point)
            if PATH not in values:
                continue
            rest = tuple(item for item in point if item[0] != PATH)
            folds = results.folds_of(query, compared_method.name, point)
            mean = None if folds is None else mean_interval(folds)
            along.setdefault(point_words(rest) if rest else "", {})[values[PATH]] = mean
        curves += [
            GridCurve(compared_method.name, others, tuple(means), tuple(means.values()))
            for others, means in along.items()
        ]
    return curves
