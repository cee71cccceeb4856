"""The concave-convex procedure (Yuille and Rangarajan 2003; high-order, Algorithm 1) with a certificate.

A round bounds the objective from above by a convex risk that touches it at the current weights, and moves towards the
minimum of that risk. It need not reach it: cutting planes give the most that a round can still gain, and once the
round has gained that much, the next bound is more useful. The objective never rises. It has converged where the risk
that touches it can fall no further than the tolerance: the dual of that risk is a lower bound on that risk. It is no
bound on the objective itself, and does not prove a local optimum: where several such risks touch, as where labellings
tie, only the one that was used is known to go no lower. Where the search of a round that proves this has met lower
weights than it began with, one more round begins there, so that the end is the best point met.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ranking.core import Certificate, Floats, relative_gap
from ranking.solvers.clock import Clock
from ranking.solvers.cutting_plane import GapTarget, PlaneSearch
from ranking.solvers.line import Point
from ranking.solvers.risk import LinearRisk, Solution, WorkingSet, certified

# a round ends once it can gain no more than this times what it has gained
STILL = 1.0


def no_shared_planes(planes: WorkingSet) -> None:
    """Adopt no planes: none of one bound is known to be a plane of another."""


@dataclass(frozen=True, eq=False)
class UpperBound:
    """A convex risk that is nowhere below the objective, and the point where the two are equal, in float64.

    translate: maps planes of another bound of this objective to planes of this one, or None.
    """

    risk: LinearRisk
    point: Point
    translate: Callable[[WorkingSet], WorkingSet | None] = no_shared_planes


def cccp(
    convexify: Callable[[Floats], UpperBound],
    start: Floats,
    tolerance: float = 1e-3,
    max_iterations: int = 10_000,
    clock: Clock | None = None,
    working_set: WorkingSet | None = None,
    alternative: Floats | None = None,
) -> Solution:
    """Minimise what `convexify` bounds, from `start` until no round can gain more than tolerance x objective.

    convexify: weights to the bound that touches there. An iteration is one of cutting planes within a round. clock:
    has run since training began; reports progress. working_set: planes of another bound of this objective, for any C.
    alternative: weights from which the descent continues where they have a lower objective than its end. The
    certificate's primal is the objective at the returned weights, its dual the lower bound of the risk that touches
    it there.
    """
    descent = _Descent(convexify, start, tolerance, clock or Clock(None), working_set)
    stopped = descent.descend(max_iterations)
    if alternative is not None and descent.jump(alternative) and not stopped:
        stopped = descent.descend(max_iterations)
    return descent.solution(stopped)


class _Descent:
    """The current bound and the search for its minimum, over all rounds reported as one training run."""

    def __init__(
        self,
        convexify: Callable[[Floats], UpperBound],
        start: Floats,
        tolerance: float,
        clock: Clock,
        working_set: WorkingSet | None,
    ) -> None:
        self.convexify, self.tolerance, self.clock = convexify, tolerance, clock
        self._target, self._patient = GapTarget(tolerance), False
        # before this round
        self._number = self._iterations = self._passes = 0
        self._ceiling = math.inf
        self._begin(convexify(start), working_set)

    @property
    def iterations(self) -> int:
        return self._iterations + self._search.iterations

    def descend(self, max_iterations: int) -> bool:
        """Run rounds until none gains or makes progress; return whether a callback stopped training."""
        stopped = False
        while not stopped and self.iterations < max_iterations:
            stopped = self.run(max_iterations)
            if not self.move():
                break
        return stopped

    def run(self, max_iterations: int) -> bool:
        """Search until the round has gained enough; return whether a callback stopped it."""
        return self._search.run(self._enough, max_iterations - self._iterations, self._report)

    def move(self) -> bool:
        """Begin the next round where this one ended, if better; return whether progress is possible."""
        if self._search.best is not self._bound.point and self.jump(self._search.best.weights):
            return True
        if self._target.certificate is not None:
            return False
        # rounding hides the gain: close the gap instead
        was, self._patient = self._patient, True
        return not was

    def jump(self, weights: Floats) -> bool:
        """Begin the next round at `weights` if they have a lower objective; return whether they have."""
        following = self.convexify(weights)
        if following.point.objective >= self._bound.point.objective:
            return False
        self._iterations, self._passes = self.iterations, self._passes + self._search.passes
        self._target.certificate = None
        self._begin(following, self._search.active)
        return True

    def solution(self, stopped: bool) -> Solution:
        certificate = self._target.certificate or self._certified()
        search = self._search
        return Solution(self._bound.point.weights, search.dual, certificate, search.active, stopped)

    def _begin(self, bound: UpperBound, planes: WorkingSet | None) -> None:
        self._bound, self._number = bound, self._number + 1
        translated = bound.translate(planes) if planes is not None and len(planes) else None
        # the exact scores, the normal of the first cut, those adopted
        passes = 2 if translated is None else 3
        self._search = PlaneSearch(bound.risk, bound.point, translated, passes)

    def _enough(self) -> bool:
        value, best, dual = self._bound.point.objective, self._search.best.objective, self._search.bound
        if relative_gap(value, dual) > self._target.gap:
            return not self._patient and STILL * (value - best) >= best - dual
        return self._target.accepts(self._certified())

    def _certified(self) -> Certificate:
        weights, dual = self._bound.point.weights, self._search.dual
        return certified(self._bound.risk, weights, dual, self.tolerance, self.iterations, self.clock.seconds)

    def _report(
        self, iteration: int, primal: float, dual: float, passes: int, planes: int, *, weights: Floats
    ) -> None:
        # single precision may have given a lower value in the last round
        self._ceiling = min(self._ceiling, primal)
        self.clock.report(
            self._iterations + iteration,
            self._ceiling,
            dual,
            self._passes + passes,
            planes,
            self._number,
            weights,
        )
