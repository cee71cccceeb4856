"""Several solvers that take turns at one risk, each starting from earlier results; reported as one run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ranking.core import Floats, OnProgress, ProgressEvent
from ranking.solvers.cutting_plane import cutting_plane
from ranking.solvers.risk import Cut, LinearRisk, Solution, WorkingSet, certified


class Relay:
    """One training run by several solvers: iterations are counted on, and the bounds never get worse.

    weights, dual, planes: the best weights and combination of cuts so far, and planes that prove as much; at first
    those of another run, or None. solution: of all turns, None before the first.
    """

    def __init__(
        self,
        risk: LinearRisk,
        tolerance: float,
        max_iterations: int,
        on_progress: OnProgress | None,
        weights: Floats | None = None,
        dual: Cut | None = None,
        planes: WorkingSet | None = None,
    ) -> None:
        self.risk, self.tolerance, self.max_iterations = risk, tolerance, max_iterations
        self.weights, self.dual = weights, dual
        self.planes = _plane_of(risk, dual) if planes is None and dual is not None else planes
        self.solution: Solution | None = None
        self._on_progress = on_progress
        self._before = self._last = ProgressEvent(0, math.inf, -math.inf, 0.0, 0)

    def turn(self, solve: Callable[[int], Solution], iterations: int | None = None) -> Solution:
        """Let `solve` run for `iterations`, by default for all that are left, unless training has ended."""
        solution = self.solution
        used = 0 if solution is None else solution.certificate.iterations
        left = min(self.max_iterations - used, iterations or self.max_iterations)
        if solution is None or not (solution.certificate.converged or solution.stopped or left <= 0):
            self._before = self._last
            solution = self.solution = self._joined(solve(left))
            self.weights, self.dual = solution.weights, solution.dual
            self.planes = solution.working_set or _plane_of(self.risk, solution.dual)
        return solution

    def one_slack(
        self,
        iterations: int | None = None,
        promising: Callable[[int, float], bool] = lambda iterations, gap: True,
    ) -> Solution:
        """Run a turn of one-slack cutting planes, which ends when it is no longer `promising`."""
        return self.turn(
            lambda left: cutting_plane(
                self.risk, self.tolerance, left, self.report, self.weights, self.planes, promising
            ),
            iterations,
        )

    def report(self, event: ProgressEvent) -> None:
        """Pass on the progress of the current solver, as part of the whole run."""
        before = self._before
        self._last = replace(
            event,
            iteration=before.iteration + event.iteration,
            primal=min(before.primal, event.primal),
            dual=max(before.dual, event.dual),
            seconds=before.seconds + event.seconds,
            passes=before.passes + event.passes,
            weights=event.weights if event.primal <= before.primal else self.weights,
        )
        if self._on_progress is not None:
            self._on_progress(self._last)

    def _joined(self, latest: Solution) -> Solution:
        """Return the weights of the lower objective with the better of both lower bounds, certified together."""
        first = self.solution
        if first is None:
            return latest
        ended = latest.certificate
        iterations, seconds = (
            first.certificate.iterations + ended.iterations,
            first.certificate.seconds + ended.seconds,
        )
        if ended.primal <= first.certificate.primal and ended.dual >= first.certificate.dual:
            return replace(latest, certificate=replace(ended, iterations=iterations, seconds=seconds))
        weights = min(latest, first, key=lambda solution: solution.certificate.primal).weights
        dual = max(latest, first, key=lambda solution: solution.certificate.dual).dual
        certificate = certified(self.risk, weights, dual, self.tolerance, iterations, seconds)
        return replace(latest, weights=weights, dual=dual, certificate=certificate)


def _plane_of(risk: LinearRisk, dual: Cut) -> WorkingSet:
    """Return the one plane that, with multiplier C, proves the bound of `dual`."""
    coefficients = dual.coefficients / risk.C
    return WorkingSet(
        coefficients[None], np.array([dual.loss / risk.C]), risk.exact_normal(coefficients)[None]
    )
