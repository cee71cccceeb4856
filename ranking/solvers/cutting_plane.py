"""One-slack cutting planes (Joachims et al. 2009) with the step of Franc and Sonnenburg (2009).

Plain cutting planes call the oracle at the optimum of the model, which jumps about far from the solution. Here the
best weights so far move along the line towards that optimum, to the least objective on it, and the cut is taken a
little further on. Scores are linear along a line, so a step costs a few oracle calls but still two passes over the
features: the scores of the model's optimum, and the normal of the new plane.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ranking.core import Certificate, Floats, OnProgress, StopTraining, relative_gap
from ranking.solvers.clock import Clock
from ranking.solvers.line import Line, Point
from ranking.solvers.risk import UNKNOWN, Cut, LinearRisk, Solution, WorkingSet, certified
from ranking.solvers.simplex_qp import (
    Program,
    solve_bound_simplex_qp,
    solve_by_interior_point,
    solve_simplex_qp,
)

# a plane that carried no weight for so long is dropped
IDLE_ITERATIONS = 50
# of the way from the best weights to the model's optimum: where the cut is taken
BEYOND = 0.2
# the first step tried, as a multiple of the last one taken
LONGER = 1.5
# oracle calls on a line at most
TRIALS = 3
# of the gap: the accuracy of the line search
CLOSE = 0.05
# a cut that closes less of the gap than this is followed by one at the model's optimum
STALLED = 1e-3
# iterations without a change of either bound: the rest of the gap is rounding
STANDSTILL = 30
# times the tolerance, because the gap grows when it is recomputed in double precision
SAFETY = 0.9
# a smaller gap is rounding
SMALLEST_TARGET = 1e-9


class Report(Protocol):
    def __call__(
        self, iteration: int, primal: float, dual: float, passes: int, planes: int, *, weights: Floats
    ) -> None: ...


def cutting_plane(
    risk: LinearRisk,
    tolerance: float = 1e-3,
    max_iterations: int = 10_000,
    on_progress: OnProgress | None = None,
    start: Floats | None = None,
    working_set: WorkingSet | None = None,
    promising: Callable[[int, float], bool] = lambda iterations, gap: True,
    coefficients: Floats = UNKNOWN,
) -> Solution:
    """Minimise `risk` until primal - dual <= tolerance x primal, the gap recomputed in float64 at the end.

    start: (d,) the first weights, unless zero is better. working_set: planes of an earlier run on the same samples,
    for any C. promising: whether to continue, given the number of iterations and the relative gap. coefficients: (n,)
    those of the start. Returns the best weights met; they have not converged where the iterations ran out, where
    rounding prevents progress, or where `promising` said no.
    """
    clock = Clock(on_progress)
    first = Point.at_start(risk, None)
    if start is not None:
        first = min(first, Point.at_start(risk, start, coefficients), key=lambda point: point.objective)
    search = PlaneSearch(risk, first, working_set, passes=1 if start is None else 2)
    target = GapTarget(tolerance)

    def ended() -> bool:
        # Weights 0 rank nothing: make at least one step.
        if (start is None and not search.iterations) or search.relative_gap > target.gap:
            return not promising(search.iterations, search.relative_gap)
        return target.accepts(search.certificate(tolerance, clock))

    stopped = search.run(ended, max_iterations, clock.report)
    certificate = target.certificate or search.certificate(tolerance, clock)
    weights, planes = search.best.weights, search.active
    return Solution(weights, search.dual, certificate, planes, stopped, search.coefficients)


class GapTarget:
    """The relative gap at which a certificate is computed, and the certificate that ends training."""

    def __init__(self, tolerance: float) -> None:
        # below the tolerance, and halved after a certificate whose exact gap is larger
        self.gap = SAFETY * tolerance
        # None until it has converged, or a smaller gap would be rounding
        self.certificate: Certificate | None = None

    def accepts(self, certificate: Certificate) -> bool:
        """Return whether training ends with this certificate."""
        if certificate.converged or self.gap < SMALLEST_TARGET:
            self.certificate = certificate
            return True
        # single precision hid a part of the gap
        self.gap *= 0.5
        return False


class PlaneSearch:
    """Cutting planes on one risk: the best point met, and the planes with the bound that they prove."""

    def __init__(self, risk: LinearRisk, start: Point, working_set: WorkingSet | None, passes: int) -> None:
        # best: the point. bound: a lower bound on the objective
        self.risk, self.best = risk, start
        # iterations, passes: so far; passes are over the features
        self.iterations, self.passes = 0, passes
        self._model = _Model(risk, working_set, start.coefficients)
        self._model.add(start.cut, risk.normal(start.cut.coefficients))
        self._step, self._stalled, self._still = 1.0, False, 0

    @property
    def bound(self) -> float:
        return self._model.bound

    @property
    def dual(self) -> Cut:
        """The combination of cuts that attains the bound."""
        return self._model.dual

    @property
    def coefficients(self) -> Floats:
        """(n,) those of the best weights."""
        model = self._model
        mixed: Floats = model.shares @ model.coefficients.array
        return model.rest - mixed[: self.risk.samples]

    @property
    def active(self) -> WorkingSet:
        """The planes that carry weight."""
        return self._model.active

    @property
    def planes(self) -> tuple[WorkingSet, Floats]:
        """All planes that it holds, in the order in which they were found, and the multiplier of each."""
        return self._model.planes, self._model.multipliers

    @property
    def relative_gap(self) -> float:
        return relative_gap(self.best.objective, self.bound)

    def certificate(self, tolerance: float, clock: Clock) -> Certificate:
        return certified(self.risk, self.best.weights, self.dual, tolerance, self.iterations, clock.seconds)

    def run(self, enough: Callable[[], bool], max_iterations: int, report: Report) -> bool:
        """Search until `enough` returns True or progress ends; return whether a callback stopped it."""
        # `enough` is called after each report. If a callback stopped training, the state is the result so
        # far.
        try:
            while self.iterations < max_iterations and self._goes_on():
                best = self.best
                report(
                    self.iterations,
                    best.objective,
                    self.bound,
                    self.passes,
                    self._model.size,
                    weights=best.weights,
                )
                if enough():
                    break
                self._iterate()
        except StopTraining:
            return True
        return False

    def _goes_on(self) -> bool:
        """Return whether progress is possible."""
        # Where both bounds stand still, the solver of the program is once replaced by the careful one,
        # because the faster one may not distinguish the remaining progress from rounding.
        if self._still == STANDSTILL and not self._model.careful:
            self._still = 0
            self._model.take_care()
        return self._still < STANDSTILL and not self._model.stuck

    def _iterate(self) -> None:
        risk, model, best = self.risk, self._model, self.best
        self.iterations += 1
        line = Line(risk, best, model.weights, risk.scores(model.weights))
        self.passes += 2
        close = CLOSE * (best.objective - model.bound)
        step, self.best = line.search(min(1.0, LONGER * self._step) or 1.0, close, TRIALS)
        model.mix(step)
        cut = line.cut_at(1.0 if self._stalled else step + BEYOND * (1.0 - step))
        bound = model.bound
        model.add(cut, risk.normal(cut.coefficients))
        self._step = step
        self._stalled = model.bound - bound < STALLED * (self.best.objective - bound)
        self._still = self._still + 1 if step == 0.0 and model.bound <= bound else 0


class _Rows:
    """A matrix that grows by rows in reserved memory: a new plane copies one row, not all."""

    def __init__(self, rows: Floats) -> None:
        self._buffer, self._used = rows, len(rows)

    @property
    def array(self) -> Floats:
        return self._buffer[: self._used]

    def append(self, row: Floats) -> None:
        if self._used == len(self._buffer):
            buffer = np.empty((max(16, 2 * self._used), len(row)))
            buffer[: self._used] = self.array
            self._buffer = buffer
        self._buffer[self._used] = row
        self._used += 1


class _Model:
    """The planes so far and the optimum of the quadratic program over them."""

    def __init__(self, risk: LinearRisk, working_set: WorkingSet | None, coefficients: Floats) -> None:
        samples, size = risk.shape
        self.risk = risk
        self.coefficients = _Rows(np.empty((0, samples)))
        self.losses = np.empty(0)
        self.normals = _Rows(np.empty((0, size)))
        # of the normals' free parts
        self.gram = np.empty((0, 0))
        self.idle = np.empty(0, dtype=int)
        # multipliers: of the best combination so far. shares: of the planes in the best weights met, a mixture of the
        # weights of all iterations
        self.multipliers = self.shares = np.empty(0)
        # (n,) the other coefficients of the best weights met: of the start, and of planes since dropped
        self.rest = coefficients + np.zeros(risk.samples)
        # the bound without planes
        self.bound = 0.0
        # the program over the planes is solved by interior points
        self.careful = False
        # interior points failed too
        self.stuck = False
        self.weights = np.zeros(size)
        if working_set is not None and len(working_set):
            self.coefficients, self.losses = _Rows(working_set.coefficients), working_set.losses
            self.normals = _Rows(working_set.normals)
            free = working_set.normals[:, : risk.free]
            self.gram = free @ free.T
            self.idle, self.shares = np.zeros(len(self.losses), dtype=int), np.zeros(len(self.losses))
            self._solve()

    def add(self, cut: Cut, normal: Floats) -> None:
        """Add a plane and solve again."""
        self._drop_idle()
        self.coefficients.append(cut.coefficients)
        self.normals.append(normal)
        self.losses = np.append(self.losses, cut.loss)
        self.idle, self.shares = np.append(self.idle, 0), np.append(self.shares, 0.0)
        gram = np.empty((len(self.losses), len(self.losses)))
        gram[:-1, :-1] = self.gram
        free = self.risk.free
        gram[-1] = gram[:, -1] = self.normals.array[:, :free] @ normal[:free]
        self.gram = gram
        self._solve()

    def mix(self, step: float) -> None:
        """Note that the best weights move by `step` of the way to the current ones."""
        self.shares = (1.0 - step) * self.shares + step * self.latest
        self.rest *= 1.0 - step

    @property
    def size(self) -> int:
        """The number of planes."""
        return len(self.losses)

    @property
    def dual(self) -> Cut:
        """The combination of cuts that attains the bound."""
        return Cut(self.multipliers @ self.coefficients.array, float(self.multipliers @ self.losses))

    @property
    def planes(self) -> WorkingSet:
        return WorkingSet(self.coefficients.array, self.losses, self.normals.array)

    @property
    def active(self) -> WorkingSet:
        """The planes that carry weight."""
        active = self.multipliers > 0
        return WorkingSet(self.coefficients.array[active], self.losses[active], self.normals.array[active])

    def take_care(self) -> None:
        """Solve by interior points from now on."""
        self.careful = True
        self._solve()

    def _solve(self) -> None:
        """Solve the program; its optimum gives the next weights, the best combination so far the bound."""
        kept = np.append(self.multipliers, np.zeros(len(self.losses) - len(self.multipliers)))
        self.latest = latest = self._optimum(kept)
        self.weights = self.risk.least(latest @ self.normals.array)
        bound = float(latest @ self.losses - 0.5 * self.weights @ self.weights)
        self.multipliers, self.bound = (latest, bound) if bound > self.bound else (kept, self.bound)
        self.idle = np.where((latest > 0) | (self.multipliers > 0), 0, self.idle + 1)

    def _optimum(self, start: Floats) -> Floats:
        """Return the multipliers that solve the program; `start` where nothing solves it."""
        if not self.careful:
            try:
                return self._solved(solve_simplex_qp, start)
            except ArithmeticError:
                # happens where C is large
                self.careful = True
        try:
            return self._solved(solve_by_interior_point, start)
        except ArithmeticError:
            self.stuck = True
            return start

    def _solved(self, program: Program, start: Floats) -> Floats:
        """Return the optimum of the program, which has kinks where weights are bound."""
        C = self.risk.C
        if self.risk.free == self.risk.shape[1]:
            return C * program(C * self.gram, self.losses)
        bound = np.sqrt(C) * self.normals.array[:, self.risk.free :]
        return C * solve_bound_simplex_qp(C * self.gram, self.losses, bound, start / C, program)

    def _drop_idle(self) -> None:
        active = self.idle < IDLE_ITERATIONS
        if not active.all():
            dropped = self.shares[~active] @ self.coefficients.array[~active]
            self.rest, self.shares = self.rest - dropped[: self.risk.samples], self.shares[active]
            self.coefficients = _Rows(self.coefficients.array[active])
            self.normals = _Rows(self.normals.array[active])
            self.losses, self.idle, self.multipliers, self.gram = (
                self.losses[active],
                self.idle[active],
                self.multipliers[active],
                self.gram[np.ix_(active, active)],
            )
