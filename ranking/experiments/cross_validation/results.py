"""Results of an experiment so far, and the grid points that cross-validation chooses on the validation folds only."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ranking.experiments.cross_validation.protocol import PATH, ComparedMethod, Point
from ranking.experiments.cross_validation.trial import Outcome
from ranking.metrics.statistics import EQUAL
from ranking.storage.run_settings import Protocol
from ranking.storage.stored_settings import Grids

# times that a grid is extended at an end that has the best value
MAX_WIDER = 2
# Query, compared method, grid point, fold (None: trained on all training samples, evaluated on the test samples).
TrialId = tuple[str, str, Point, int | None]


@dataclass(frozen=True, eq=False)
class Results:
    """The outcomes so far: all of a finished experiment, or some of a running one."""

    protocol: Protocol
    queries: tuple[str, ...]
    compared_methods: tuple[ComparedMethod, ...]
    # by place
    outcomes: Mapping[TrialId, Outcome]
    # of the trials of all planned places, for `TrialStore.scores`
    keys: Mapping[TrialId, str]

    @property
    def folds(self) -> range:
        return range(self.protocol.folds)

    @property
    def unproven(self) -> int:
        """Number of finished runs that did not converge."""
        return sum(not outcome.certificate.converged for outcome in self.outcomes.values())

    def compared_method(self, name: str) -> ComparedMethod:
        """Return the compared method with that name."""
        return next(
            compared_method for compared_method in self.compared_methods if compared_method.name == name
        )

    def value(self, place: TrialId) -> float | None:
        """Return the measure of the protocol at a place; None if it is not finished."""
        outcome = self.outcomes.get(place)
        return None if outcome is None else outcome.measures[self.protocol.measure]

    def folds_of(self, query: str, compared_method: str, point: Point) -> tuple[float, ...] | None:
        """Return the measure of each fold at a grid point; None until all folds are finished."""
        values = [self.value((query, compared_method, point, fold)) for fold in self.folds]
        known = tuple(value for value in values if value is not None)
        return known if len(known) == len(values) else None

    def points(self, query: str, compared_method: str) -> tuple[Point, ...]:
        """Return the grid of a compared method on a query, in the order in which ties are broken."""
        # Where the best point lies at an end and the protocol extends grids, the next values are added, twice
        # at most.
        points = self.compared_method(compared_method).points
        for _ in range(MAX_WIDER if self.protocol.widen else 0):
            more = self._beyond(query, compared_method, points)
            if not more:
                break
            points = tuple(sorted({*points, *more}))
        return points

    def _beyond(self, query: str, compared_method: str, points: Sequence[Point]) -> set[Point]:
        """Return the points one step beyond each end of the grid at which the best of `points` lies."""
        # Corners are included.
        best = self._best(query, compared_method, points)
        more = set(points)
        for name in self._at_end(query, compared_method, points, best):
            values = sorted({dict(point)[name] for point in points})
            inner, end = (values[-2:]) if dict(best or ())[name] == values[-1] else values[1::-1]
            value = float(f"{end * end / inner:.12g}")
            if self.compared_method(compared_method).allows(name, value):
                more |= {tuple((key, value if key == name else old) for key, old in point) for point in more}
        return more - set(points)

    def chosen(self, query: str, compared_method: str) -> Point | None:
        """Return the point with the highest mean over the folds; None until all folds are complete."""
        # Ties are broken by the smallest C, then the smallest eta. Means that differ only by rounding are
        # tied.
        return self._best(query, compared_method, self.points(query, compared_method))

    def at_end(self, query: str, compared_method: str) -> list[str]:
        """Return the settings chosen at an end of their grid, strictly best: a better value may be beyond."""
        return self._at_end(
            query, compared_method, self.points(query, compared_method), self.chosen(query, compared_method)
        )

    def longer_grids(self) -> Grids:
        """Return the grids, extended by values tried and the next one where the choice is at an end."""
        # No smaller C is added, because it would change the warm starts of all trials.
        grids = {name: set(values) for name, values in self.protocol.grids.items()}
        for query in self.queries:
            for compared_method in self.compared_methods:
                points = self.points(query, compared_method.name)
                beyond = self._beyond(query, compared_method.name, points)
                for name in self.at_end(query, compared_method.name) if beyond else ():
                    grids[name] |= {dict(point)[name] for point in (*points, *beyond)}
        first = min(self.protocol.grids.get(PATH, (0.0,)))
        return {
            name: tuple(value for value in sorted(values) if name != PATH or value >= first)
            for name, values in grids.items()
        }

    def _best(self, query: str, compared_method: str, points: Sequence[Point]) -> Point | None:
        best: tuple[float, Point] | None = None
        for point in points:
            folds = self.folds_of(query, compared_method, point)
            if folds is None:
                return None
            mean = statistics.fmean(folds)
            if best is None or higher(mean, best[0]):
                best = mean, point
        return None if best is None else best[1]

    def _at_end(
        self, query: str, compared_method: str, points: Sequence[Point], best: Point | None
    ) -> list[str]:
        names = []
        for name, value in best or ():
            values = {dict(point)[name] for point in points}
            others = [point for point in points if dict(point)[name] != value]
            if others and value in (min(values), max(values)):
                second = self._best(query, compared_method, others)
                if (
                    second is not None
                    and best is not None
                    and higher(
                        self._mean(query, compared_method, best), self._mean(query, compared_method, second)
                    )
                ):
                    names.append(name)
        return names

    def _mean(self, query: str, compared_method: str, point: Point) -> float:
        return statistics.fmean(self.folds_of(query, compared_method, point) or (math.nan,))

    def validation(self, query: str, compared_method: str) -> tuple[float, ...] | None:
        """Return the measure of each fold at the chosen point; None until it is chosen."""
        point = self.chosen(query, compared_method)
        return None if point is None else self.folds_of(query, compared_method, point)

    def test(self, query: str, compared_method: str) -> float | None:
        """Return the measure on the test samples; None until it is finished, NaN if none is relevant."""
        # It is of a training run on all training samples at the chosen point.
        point = self.chosen(query, compared_method)
        outcome = None if point is None else self.outcomes.get((query, compared_method, point, None))
        return None if outcome is None else outcome.measures.get(self.protocol.measure, float("nan"))

    def seconds(self, query: str, compared_method: str) -> float | None:
        """Return the total seconds of the finished runs; None if there are none."""
        took = [
            outcome.seconds
            for (of, by, _, _), outcome in self.outcomes.items()
            if of == query and by == compared_method
        ]
        return sum(took) if took else None


def higher(first: float, second: float) -> bool:
    """Whether `first` exceeds `second` by more than rounding.

    >>> statistics.fmean([0.2, 0.2, 0.2]) > statistics.fmean([0.1, 0.2, 0.3]), higher(0.2 + 1e-16, 0.2)
    (True, False)
    """
    return first > second and not math.isclose(first, second, rel_tol=EQUAL)
