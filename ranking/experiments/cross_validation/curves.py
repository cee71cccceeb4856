"""What the settings are worth: the measure over the folds along C, a curve for each method and value of its others."""

from __future__ import annotations

from typing import NamedTuple

from ranking.experiments.cross_validation.protocol import PATH
from ranking.experiments.cross_validation.results import Results
from ranking.experiments.cross_validation.tables import point_words
from ranking.metrics.intervals import Interval
from ranking.metrics.statistics import mean_interval


class GridCurve(NamedTuple):
    """contender: its method. others: its settings but for C, in words, "" where there are none. C: rising, (p,).

    means: the mean over the folds at each C with Student's interval of 95%, None where it is not there yet.
    """

    contender: str
    others: str
    C: tuple[float, ...]
    means: tuple[Interval | None, ...]

    @property
    def label(self) -> str:
        """What it is of, in words."""
        return f"{self.contender}, {self.others}" if self.others else self.contender

    @property
    def known(self) -> list[tuple[float, Interval]]:
        """Each C whose mean is there, with that."""
        return [(C, mean) for C, mean in zip(self.C, self.means, strict=True) if mean is not None]


def grid_curves(results: Results, query: str) -> list[GridCurve]:
    """The curves of a query; of a contender without a grid of C none."""
    curves = []
    for contender in results.contenders:
        along: dict[str, dict[float, Interval | None]] = {}
        for point in results.points(query, contender.name):
            values = dict(point)
            if PATH not in values:
                continue
            rest = tuple(item for item in point if item[0] != PATH)
            folds = results.folds_of(query, contender.name, point)
            mean = None if folds is None else mean_interval(folds)
            along.setdefault(point_words(rest) if rest else "", {})[values[PATH]] = mean
        curves += [
            GridCurve(contender.name, others, tuple(means), tuple(means.values()))
            for others, means in along.items()
        ]
    return curves
