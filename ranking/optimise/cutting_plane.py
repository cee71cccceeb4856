"""One-slack cutting planes (Joachims, Finley and Yu 2009) with the optimised step of Franc and Sonnenburg (2009).

Plain cutting planes ask the oracle at the optimum of the model, which jumps about far from the solution. Here
the best weights so far move along the line towards that optimum, to the least objective on it, and the cut is
taken a little further on. Scores are linear along a line, so a step costs a few oracle calls but still two
passes over the features: the scores of the model's optimum, and the normal of the new plane.
"""

from __future__ import annotations

import numpy as np

from ranking.optimise.clock import Clock
from ranking.optimise.line import Line, Point
from ranking.optimise.risk import Cut, LinearRisk, Solution, WorkingSet, certified
from ranking.optimise.simplex_qp import solve_bound_simplex_qp, solve_simplex_qp
from ranking.types import Floats, OnProgress, StopTraining, relative_gap

IDLE_ITERATIONS = 50  # a plane that carried no weight for so long is dropped
BEYOND = 0.2  # of the way from the best weights to the model's optimum: where the cut is taken
LONGER = 1.5  # the first step tried, as a multiple of the last one taken
TRIALS = 3  # oracle calls on a line at most
CLOSE = 0.05  # the line is searched until it cannot promise more than this share of the gap
STALLED = 1e-3  # a cut that closes less of the gap than this is followed by one at the model's optimum
STANDSTILL = 30  # iterations in which neither bound moves: what is left of the gap is rounding
SAFETY = 0.9  # of the tolerance: what single precision may cost when the gap is recomputed in double


def cutting_plane(
    risk: LinearRisk,
    tolerance: float = 1e-3,
    max_iterations: int = 10_000,
    on_progress: OnProgress | None = None,
    start: Floats | None = None,
    working_set: WorkingSet | None = None,
) -> Solution:
    """Minimise `risk` until primal - dual <= tolerance x primal, the gap recomputed in float64 at the end.

    `start` (d,) gives the first weights, zero where there are none; `working_set` planes of an earlier run on
    the same samples, for any C. The best weights met are returned; they have not converged where the
    iterations ran out, or where rounding hides the way on.
    """
    clock = Clock(on_progress)
    model = _Model(risk, working_set)
    best = Point.at_start(risk, start)
    model.add(best.cut, risk.normal(best.cut.coefficients))
    iteration, passes, step, stalled, still = 0, 1 if start is None else 2, 1.0, False, 0
    target, stopped = SAFETY * tolerance, False
    try:
        while iteration < max_iterations and still < STANDSTILL and not model.stuck:
            clock.report(iteration, best.objective, model.bound, passes, len(model.losses))
            # Never end at weights 0, which rank nothing, while a step has not been tried.
            if (iteration or start is not None) and relative_gap(best.objective, model.bound) <= target:
                certificate = certified(risk, best.weights, model.dual, tolerance, iteration, clock.seconds)
                if certificate.converged or target < 1e-9:
                    return Solution(best.weights, model.dual, certificate, model.active, stopped)
                target *= 0.5  # single precision hid a part of the gap
            iteration += 1
            line = Line(risk, best, model.weights, risk.scores(model.weights))
            passes += 2
            close = CLOSE * (best.objective - model.bound)
            step, best = line.search(min(1.0, LONGER * step) or 1.0, close, TRIALS)
            cut = line.cut_at(1.0 if stalled else step + BEYOND * (1.0 - step))
            bound = model.bound
            model.add(cut, risk.normal(cut.coefficients))
            stalled = model.bound - bound < STALLED * (best.objective - bound)
            still = still + 1 if step == 0.0 and model.bound <= bound else 0
    except StopTraining:
        stopped = True  # what was reached so far is the result, and its certificate says how far that is
    seconds = clock.seconds
    certificate = certified(risk, best.weights, model.dual, tolerance, iteration, seconds)
    return Solution(best.weights, model.dual, certificate, model.active, stopped)


class _Rows:
    """A matrix that grows by rows, in room set aside: a new plane copies one row, not all."""

    def __init__(self, rows: Floats) -> None:
        self._room, self._used = rows, len(rows)

    @property
    def array(self) -> Floats:
        return self._room[: self._used]

    def append(self, row: Floats) -> None:
        if self._used == len(self._room):
            room = np.empty((max(16, 2 * self._used), len(row)))
            room[: self._used] = self.array
            self._room = room
        self._room[self._used] = row
        self._used += 1


class _Model:
    """The planes so far and the optimum of the quadratic program over them."""

    def __init__(self, risk: LinearRisk, working_set: WorkingSet | None) -> None:
        samples, size = risk.shape
        self.risk = risk
        self.coefficients = _Rows(np.empty((0, samples)))
        self.losses = np.empty(0)
        self.normals = _Rows(np.empty((0, size)))
        self.gram = np.empty((0, 0))  # of the normals' free parts
        self.idle = np.empty(0, dtype=int)
        self.multipliers = np.empty(0)  # of the best combination so far
        self.bound = 0.0  # what no plane at all proves
        self.stuck = False  # the program over the planes could not be solved
        self.weights = np.zeros(size)
        if working_set is not None and len(working_set):
            self.coefficients, self.losses = _Rows(working_set.coefficients), working_set.losses
            self.normals = _Rows(working_set.normals)
            free = working_set.normals[:, : risk.free]
            self.gram = free @ free.T
            self.idle = np.zeros(len(self.losses), dtype=int)
            self._solve()

    def add(self, cut: Cut, normal: Floats) -> None:
        """Add a plane and solve again."""
        self._drop_idle()
        self.coefficients.append(cut.coefficients)
        self.normals.append(normal)
        self.losses = np.append(self.losses, cut.loss)
        self.idle = np.append(self.idle, 0)
        gram = np.empty((len(self.losses), len(self.losses)))
        gram[:-1, :-1] = self.gram
        free = self.risk.free
        gram[-1] = gram[:, -1] = self.normals.array[:, :free] @ normal[:free]
        self.gram = gram
        self._solve()

    @property
    def dual(self) -> Cut:
        """The combination of cuts that attains the bound."""
        return Cut(self.multipliers @ self.coefficients.array, float(self.multipliers @ self.losses))

    @property
    def active(self) -> WorkingSet:
        """The planes that carry weight."""
        keep = self.multipliers > 0
        return WorkingSet(self.coefficients.array[keep], self.losses[keep], self.normals.array[keep])

    def _solve(self) -> None:
        """Solve the program; its optimum is where to go next, the best combination so far is what is proven."""
        kept = np.append(self.multipliers, np.zeros(len(self.losses) - len(self.multipliers)))
        try:
            latest = self._optimum(kept)
        except ArithmeticError:
            latest, self.stuck = kept, True
        self.weights = self.risk.least(latest @ self.normals.array)
        bound = float(latest @ self.losses - 0.5 * self.weights @ self.weights)
        self.multipliers, self.bound = (latest, bound) if bound > self.bound else (kept, self.bound)
        self.idle = np.where((latest > 0) | (self.multipliers > 0), 0, self.idle + 1)

    def _optimum(self, start: Floats) -> Floats:
        """The multipliers that solve the program, which has kinks where weights are bound."""
        C = self.risk.C
        if self.risk.free == self.risk.shape[1]:
            return C * solve_simplex_qp(C * self.gram, self.losses)
        bound = np.sqrt(C) * self.normals.array[:, self.risk.free :]
        return C * solve_bound_simplex_qp(C * self.gram, self.losses, bound, start / C)

    def _drop_idle(self) -> None:
        keep = self.idle < IDLE_ITERATIONS
        if not keep.all():
            self.coefficients = _Rows(self.coefficients.array[keep])
            self.normals = _Rows(self.normals.array[keep])
            self.losses, self.idle, self.multipliers, self.gram = (
                self.losses[keep],
                self.idle[keep],
                self.multipliers[keep],
                self.gram[np.ix_(keep, keep)],
            )
