"""One-slack cutting planes (Joachims, Finley and Yu 2009): two passes over the features an iteration."""

from __future__ import annotations

import daqp
import numpy as np

from ranking.optimise.clock import Clock
from ranking.optimise.risk import Cut, LinearRisk, Solution, WorkingSet, certified
from ranking.types import Floats, OnProgress, StopTraining, relative_gap

IDLE_ITERATIONS = 50  # a plane that carried no weight for so long is dropped
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

    Each iteration finds the most violated output at the model's optimum, adds its plane, and solves the small
    quadratic program over all planes. `start` (d,) gives weights whose plane is added first; `working_set`
    planes of an earlier run on the same samples, for any C. The best weights met are returned.
    """
    clock = Clock(on_progress)
    model = _Model(risk, working_set)
    weights = model.weights if start is None else np.asarray(start, dtype=np.float64)
    best, best_primal, iteration, passes = weights, np.inf, 0, 0
    target = SAFETY * tolerance
    try:
        while iteration < max_iterations:
            iteration += 1
            scores = risk.scores(weights)
            cut = risk.oracle(scores)
            primal = risk.objective(weights, scores, cut)
            if primal < best_primal:
                best, best_primal = weights, primal
            model.add(cut, risk.normal(cut.coefficients))
            passes += 2
            weights = model.weights
            clock.report(iteration, best_primal, model.bound, passes, len(model.losses))
            if relative_gap(best_primal, model.bound) <= target:
                if risk.features.dtype == np.float64:
                    break
                exact = relative_gap(*risk.certify(best, model.dual))
                if exact <= tolerance or target < 1e-9:
                    break
                target *= 0.5
    except StopTraining:
        pass  # asked for: what was reached so far is the result, and its certificate says how far that is
    seconds = clock.seconds
    certificate = certified(risk, best, model.dual, tolerance, iteration, seconds)
    return Solution(best, model.dual, certificate, model.active)


class _Model:
    """The planes so far and the optimum of the quadratic program over them."""

    def __init__(self, risk: LinearRisk, working_set: WorkingSet | None) -> None:
        samples, size = risk.features.shape
        self.C = risk.C
        self.coefficients = np.empty((0, samples))
        self.losses = np.empty(0)
        self.normals = np.empty((0, size))
        self.gram = np.empty((0, 0))
        self.idle = np.empty(0, dtype=int)
        self.multipliers = np.empty(0)
        self.bound = -np.inf
        self.weights = np.zeros(size)
        if working_set is not None and len(working_set):
            self.coefficients, self.losses = working_set.coefficients, working_set.losses
            self.normals = working_set.normals
            self.gram = self.normals @ self.normals.T
            self.idle = np.zeros(len(self.losses), dtype=int)
            self._solve()

    def add(self, cut: Cut, normal: Floats) -> None:
        """Add a plane and solve again."""
        self._drop_idle()
        products = self.normals @ normal
        self.coefficients = np.vstack([self.coefficients, cut.coefficients])
        self.normals = np.vstack([self.normals, normal])
        self.losses = np.append(self.losses, cut.loss)
        self.idle = np.append(self.idle, 0)
        self.gram = np.block([[self.gram, products[:, None]], [products[None, :], normal @ normal]])
        self._solve()

    @property
    def dual(self) -> Cut:
        """The combination of cuts that attains the bound."""
        return Cut(self.multipliers @ self.coefficients, float(self.multipliers @ self.losses))

    @property
    def active(self) -> WorkingSet:
        """The planes that carry weight."""
        keep = self.multipliers > 0
        return WorkingSet(self.coefficients[keep], self.losses[keep], self.normals[keep])

    def _solve(self) -> None:
        share = solve_simplex_qp(self.C * self.gram, self.losses)
        self.multipliers = self.C * share
        combined = self.multipliers @ self.normals
        self.weights = -combined
        self.bound = float(self.multipliers @ self.losses - 0.5 * combined @ combined)
        self.idle = np.where(share > 0, 0, self.idle + 1)

    def _drop_idle(self) -> None:
        keep = self.idle < IDLE_ITERATIONS
        if not keep.all():
            self.coefficients, self.normals = self.coefficients[keep], self.normals[keep]
            self.losses, self.idle, self.gram = (
                self.losses[keep],
                self.idle[keep],
                self.gram[np.ix_(keep, keep)],
            )


def solve_simplex_qp(quadratic: Floats, linear: Floats) -> Floats:
    """argmax linear.x - 1/2 x'Qx over x >= 0, sum x <= 1: what cutting planes and their reference both solve.

    Whatever the solver's accuracy, the result is feasible, so that it proves a lower bound.
    """
    m = len(linear)
    x, _, flag, _ = daqp.solve(
        np.ascontiguousarray(quadratic),
        -linear,
        np.ones((1, m)),
        np.ones(m + 1),
        np.append(np.zeros(m), -1e30),
        np.zeros(m + 1, dtype=np.int32),
        eps_prox=-1.0,
    )
    if flag < 1:
        raise ArithmeticError(
            f"the quadratic program over {m} planes was not solved (daqp exit flag {flag}); "
            "try a smaller C or features of a smaller scale"
        )
    x = np.where(x > 1e-12, x, 0.0)
    return x / max(float(x.sum()), 1.0)
