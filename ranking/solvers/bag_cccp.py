"""CCCP on bags of windows, with a working set of windows and a certificate (Behl, Jawahar and Kumar 2014).

A round fixes the best window of every image that shows the object, and minimises the convex bound (`bag_risk`) by
cutting planes. Its minimum is where the next round begins, so f never rises. The planes of a round, moved to the new
windows, begin the next one.

Cutting planes know the few best windows of every other image only, which gives lower bounds on the convex bound.
Where they end, one pass over all windows gives f, the new windows, and those that the working set lacked: the round
continues with them if they raise the bound. All passes are counted.

It has converged where the bound that touches f can fall no further than the tolerance: no round gains more. That is no
bound on f, and other windows may lead lower. At weights 0 all windows are equal, and any bound touches: where none of
its cuts can lower it, nothing is learned, and another start may help.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ranking.core import Certificate, Floats, Ints, relative_gap
from ranking.solvers.bag_risk import BagProblem, Place
from ranking.solvers.clock import Clock
from ranking.solvers.cutting_plane import GapTarget, PlaneSearch
from ranking.solvers.line import Point
from ranking.solvers.risk import WorkingSet, certified

# windows of an image that a round begins with
KEPT = 8
# of the tolerance: how far cutting planes, and windows that they do not know, may leave a bound open
INNER = 0.25


@dataclass(frozen=True, eq=False)
class BagSolution:
    """Where a descent ended, and its certificate."""

    place: Place
    # the primal is f at `place`, the dual that of the bound that touches f there
    certificate: Certificate
    # products with all windows
    passes: int
    # whether a callback stopped training
    stopped: bool


def bag_cccp(
    problem: BagProblem,
    start: Floats | Ints,
    tolerance: float = 1e-3,
    max_iterations: int = 10_000,
    clock: Clock | None = None,
    rounds: int | None = None,
) -> BagSolution:
    """Minimise f until no round gains more than tolerance x f."""
    # start: the first weights (d,), or as whole numbers (n,) the windows that the first round fixes, at
    # weights 0. An iteration is one of cutting planes. rounds: at most so many.
    descent = _Descent(problem, start, tolerance, clock or Clock(None))
    stopped = descent.descend(max_iterations, math.inf if rounds is None else rounds)
    return descent.solution(stopped)


class _Descent:
    """The place where this round began, its bound, and the search for the minimum of that."""

    # Reports f where the round began: the objective of the search is that of some windows only.

    def __init__(self, problem: BagProblem, start: Floats | Ints, tolerance: float, clock: Clock) -> None:
        self.problem, self.tolerance, self.clock = problem, tolerance, clock
        self._target = GapTarget(tolerance)
        # before this search
        self._number = self._iterations = self._passes = 0
        self._rows: Ints = np.empty(0, np.int64)
        of_windows = np.issubdtype(start.dtype, np.integer)
        place = problem.at(np.zeros(problem.windows.shape[1]) if of_windows else start.astype(np.float64))
        self._passes += bool(place.weights.any())
        self._begin(place, start.astype(np.int64) if of_windows else place.best, None)

    @property
    def iterations(self) -> int:
        return self._iterations + self._search.iterations

    @property
    def passes(self) -> int:
        """Products with all windows so far."""
        return self._passes + (self._search.passes if self._complete else 0)

    def descend(self, max_iterations: int, rounds: float) -> bool:
        """Run rounds until none gains or makes progress; return whether a callback stopped training."""
        stopped = False
        while not stopped and self.iterations < max_iterations and self._number <= rounds:
            stopped = self._search.run(self._enough, max_iterations - self._iterations, self._report)
            if self._target.certificate is not None:
                break
            if not self._move(stopped or self.iterations >= max_iterations):
                break
        return stopped

    def solution(self, stopped: bool) -> BagSolution:
        return BagSolution(self.place, self._target.certificate or self._certified(), self.passes, stopped)

    def _begin(self, place: Place, fixed: Ints, planes: WorkingSet | None) -> None:
        """Begin a round at `place` with the windows `fixed` (n,) of images that show the object."""
        self.place, self._fixed, self._number = place, fixed, self._number + 1
        self._touches = bool((place.image_scores == place.scores[fixed])[self.problem.relevant].all())
        self._lowest = place, self.problem.bound_at(place, fixed)
        self._search_in(self.problem.highest(place, KEPT), planes)

    def _search_in(self, rows: Ints, planes: WorkingSet | None) -> None:
        """Begin a search, at the lowest place, over `rows` and those that planes need."""
        problem, old = self.problem, self._rows
        if planes is not None:
            self._iterations, self._passes = self.iterations, self.passes
            rows = np.concatenate([rows, old[planes.coefficients.any(axis=0)]])
        self._rows = problem.rows_of(self._fixed, rows)
        risk = problem.bound(self._rows)
        if planes is not None and len(planes):
            coefficients, losses = problem.moved(planes.coefficients, planes.losses, old, self._rows)
            planes = WorkingSet(coefficients, losses, risk.normal(coefficients))
        weights = self._lowest[0].weights
        self._first = Point.of(risk, weights, risk.exact_scores(weights))
        # Scores and a normal at the start, and the normals of moved planes.
        self._search = PlaneSearch(
            risk, self._first, planes, passes=3 if planes is not None and len(planes) else 2
        )
        usable = problem.irrelevant_rows & (problem.bonus > -np.inf)
        self._complete = np.count_nonzero(usable) == np.count_nonzero(problem.irrelevant_rows[self._rows])

    def _enough(self) -> bool:
        search = self._search
        if self._touches and relative_gap(self.place.objective, search.bound) <= self._target.gap:
            return self._target.accepts(self._certified())
        return search.relative_gap <= INNER * self._target.gap

    def _move(self, last: bool) -> bool:
        """Continue this round with more windows, or begin the next round; return whether to go on."""
        # last: go to the next round anyway, if f is lower.
        problem, best, planes = self.problem, self._search.best, self._search.active
        if best is self._first:
            there, value = self._lowest
        else:
            there = problem.at(best.weights)
            self._passes += 1
            value = problem.bound_at(there, self._fixed)
        unknown = np.setdiff1d(there.best[~problem.relevant], self._rows)
        if len(unknown) and not last and value - best.objective > INNER * self._target.gap * value:
            if value < self._lowest[1]:
                self._lowest = there, value
            self._search_in(np.concatenate([self._rows, problem.highest(there, KEPT)]), planes)
        elif there.objective < self.place.objective:
            self._begin(there, there.best, planes)
        elif not self._touches:
            # the windows of the start were not the best ones
            self._begin(self.place, self.place.best, planes)
        else:
            return False
        return True

    def _certified(self) -> Certificate:
        search = self._search
        self._passes += 2 * self._complete
        return certified(
            search.risk, self.place.weights, search.dual, self.tolerance, self.iterations, self.clock.seconds
        )

    def _report(
        self, iteration: int, primal: float, dual: float, passes: int, planes: int, *, weights: Floats
    ) -> None:
        self.clock.report(
            self.iterations,
            self.place.objective,
            dual if self._touches else -math.inf,
            self.passes,
            planes,
            self._number,
            self.place.weights,
        )
