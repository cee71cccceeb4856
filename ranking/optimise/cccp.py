"""The concave-convex procedure (Yuille and Rangarajan 2003; high-order, Algorithm 1) with a certificate.

A round bounds the objective from above by a convex risk that touches it at the weights of now, and minimises that.
The objective never rises, and it has converged where no such risk can fall further: the dual of the last one is a
lower bound on it, which certifies a local result. It is no bound on the objective itself.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ranking.optimise.clock import Clock
from ranking.optimise.cutting_plane import cutting_plane
from ranking.optimise.risk import Cut, LinearRisk, Solution, certified
from ranking.types import Floats, OnProgress, ProgressEvent, relative_gap

INNER = 0.3  # of the tolerance: how exactly the last rounds are solved
LOOSER = 0.1  # of what the last round gained: how exactly the next one is


def cccp(
    convexify: Callable[[Floats], LinearRisk],
    start: Floats,
    tolerance: float = 1e-3,
    max_iterations: int = 10_000,
    clock: Clock | None = None,
) -> Solution:
    """Minimise what `convexify` bounds, from `start` until no round can gain more than tolerance x objective.

    convexify: weights to a convex risk that is nowhere below the objective, and equal to it there. An iteration is
    one of cutting planes within a round. clock: has run since training began, and tells of progress. The
    certificate's primal is the objective at the returned weights, its dual the lower bound of the risk that
    touches it there.
    """
    rounds = _Rounds(clock or Clock(None))
    weights, exactness = start, LOOSER * LOOSER
    while True:
        risk = convexify(weights)
        value = exact_objective(risk, weights)
        exactness = max(INNER * tolerance, min(exactness, LOOSER))
        left = max_iterations - rounds.iterations
        solution = cutting_plane(risk, exactness, left, rounds.begin(value), weights)
        rounds.end(solution)
        dual = solution.dual
        arrived = relative_gap(value, solution.certificate.dual) <= tolerance
        after = exact_objective(convexify(solution.weights), solution.weights)
        if not arrived and after < value:
            weights, exactness = solution.weights, LOOSER * relative_gap(value, after)
            risk = convexify(weights)
            dual = Cut(np.zeros(risk.shape[0]), 0.0)  # no cut of the round is one of this risk
        elif not arrived and exactness > INNER * tolerance:
            exactness = 0.0  # the round was solved too loosely to gain anything
        else:
            break
        if solution.stopped or rounds.iterations >= max_iterations:
            break
    certificate = certified(risk, weights, dual, tolerance, rounds.iterations, rounds.clock.seconds)
    return Solution(weights, dual, certificate, stopped=solution.stopped)


def exact_objective(risk: LinearRisk, weights: Floats) -> float:
    """The value of `risk` at `weights`, in float64 from its definition."""
    scores = risk.exact_scores(weights)
    return risk.objective(weights, scores, risk.oracle(scores))


class _Rounds:
    """Reports the iterations of all rounds as one training."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.iterations, self.number = 0, 0
        self._passes = self._last_passes = 0
        self._ceiling = float("inf")

    def begin(self, value: float) -> OnProgress:
        self.number += 1
        self._ceiling = min(self._ceiling, value)

        def report(event: ProgressEvent) -> None:
            self._last_passes = event.passes
            self._ceiling = min(self._ceiling, event.primal)
            self.clock.report(
                self.iterations + event.iteration,
                self._ceiling,
                event.dual,
                self._passes + event.passes,
                event.planes,
                self.number,
            )

        return report

    def end(self, solution: Solution) -> None:
        self.iterations += solution.certificate.iterations
        self._passes += self._last_passes
