"""Training runs in several parts, reported as one run; solvers that take turns at one risk."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ranking.core import Floats, OnProgress, ProgressEvent, StopTraining
from ranking.solvers.cutting_plane import cutting_plane
from ranking.solvers.risk import UNKNOWN, Cut, LinearRisk, Solution, WorkingSet, certified

NOTHING_PROVEN = ProgressEvent(0, math.inf, -math.inf, 0.0, 0)


class JoinedProgress:
    """Progress of the parts of a training run as one: each part counts on from the one before."""

    def __init__(self, on_progress: OnProgress | None, first: ProgressEvent = NOTHING_PROVEN) -> None:
        # what the counts of the current part are added to
        # the last event passed on; initially `first`
        self.before = self.latest = first
        # whether the callback stopped training. From then on every event raises StopTraining.
        self.stopped = False
        self._on_progress = on_progress

    def report(self, event: ProgressEvent) -> None:
        """Pass on an event of the current part, with the counts and seconds of the whole run."""
        before = self.before
        self.latest = replace(
            event,
            iteration=before.iteration + event.iteration,
            seconds=before.seconds + event.seconds,
            passes=before.passes + event.passes,
            round=before.round + event.round,
        )
        self.repeat()

    def repeat(self) -> None:
        """Pass on the latest event once more."""
        # Raises StopTraining if training has been stopped.
        if self.stopped:
            raise StopTraining
        try:
            if self._on_progress is not None:
                self._on_progress(self.latest)
        except StopTraining:
            self.stopped = True
            raise


class Relay(JoinedProgress):
    """One training run by several solvers of one risk: the bounds never get worse."""

    def __init__(
        self,
        risk: LinearRisk,
        tolerance: float,
        max_iterations: int,
        on_progress: OnProgress | None,
        weights: Floats | None = None,
        dual: Cut | None = None,
        planes: WorkingSet | None = None,
        coefficients: Floats = UNKNOWN,
    ) -> None:
        super().__init__(on_progress)
        self.risk, self.tolerance, self.max_iterations = risk, tolerance, max_iterations
        # weights, coefficients, dual, planes: the best weights, with their coefficients, and combination of cuts
        # so far, and planes that prove as much; at first those of another run, or None
        self.weights, self.coefficients, self.dual = weights, coefficients, dual
        self.planes = _plane_of(risk, dual) if planes is None and dual is not None else planes
        # of all turns, None before the first
        self.solution: Solution | None = None

    def turn(self, solve: Callable[[int], Solution], iterations: int | None = None) -> Solution:
        """Let `solve` run for `iterations`, by default for all that are left, unless training has ended."""
        solution = self.solution
        used = 0 if solution is None else solution.certificate.iterations
        left = min(self.max_iterations - used, iterations or self.max_iterations)
        if solution is None or not (solution.certificate.converged or solution.stopped or left <= 0):
            self.before = replace(self.latest, weights=self.weights)
            solution = self.solution = self._joined(solve(left))
            self.weights, self.coefficients = solution.weights, solution.coefficients
            self.dual = solution.dual
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
                self.risk,
                self.tolerance,
                left,
                self.report,
                self.weights,
                self.planes,
                promising,
                self.coefficients,
            ),
            iterations,
        )

    def report(self, event: ProgressEvent) -> None:
        """Pass on the progress of the current solver, with the best bounds and weights of the whole run."""
        best = event if event.primal <= self.before.primal else self.before
        dual = max(self.before.dual, event.dual)
        super().report(replace(event, primal=best.primal, dual=dual, weights=best.weights))

    def _joined(self, latest: Solution) -> Solution:
        """Return the weights of the lower objective with the better of both bounds, certified together."""
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
        best = min(latest, first, key=lambda solution: solution.certificate.primal)
        dual = max(latest, first, key=lambda solution: solution.certificate.dual).dual
        certificate = certified(self.risk, best.weights, dual, self.tolerance, iterations, seconds)
        proven = replace(latest, dual=dual, certificate=certificate)
        return replace(proven, weights=best.weights, coefficients=best.coefficients)


def _plane_of(risk: LinearRisk, dual: Cut) -> WorkingSet:
    """Return the one plane that, with multiplier C, proves the bound of `dual`."""
    coefficients = dual.coefficients / risk.C
    return WorkingSet(
        coefficients[None], np.array([dual.loss / risk.C]), risk.exact_normal(coefficients)[None]
    )
