"""Minimise a smooth function by L-BFGS or Newton's method (SciPy), with progress and early stopping."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ranking.core import Floats, StopTraining
from ranking.core.settings import Settings
from ranking.solvers.clock import Clock

# steps from which the curvature is estimated
REMEMBERED = 20


@dataclass
class Best:
    """The point of the least value met, its value and gradient."""

    point: Floats
    value: float
    gradient: Floats
    # of the whole search
    iterations: int = 0


def quasi_newton(
    objective: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    enough: Callable[[Best], bool],
    bound: Callable[[Best], float],
    max_iterations: int,
    clock: Clock,
    curvature: Callable[[Floats, Floats], Floats] | None = None,
) -> Best:
    """Return the best point met when `enough` returned True, after one iteration at the earliest."""
    # objective: a point to its value and gradient. bound: a lower bound on the objective, for reports.
    # curvature: a point and a direction to the product of the Hessian with the direction; with it Newton's
    # method finds its steps by conjugate gradients. Ends early where iterations run out, a callback raises
    # StopTraining, or no step lowers the objective by more than rounding.

    # takes a third of a second to load, and few runs need it
    from scipy.optimize import minimize

    best = Best(start, *objective(start))

    def counted(point: Floats) -> tuple[float, Floats]:
        value, gradient = objective(point)
        if value < best.value:
            best.point, best.value, best.gradient = point.copy(), value, gradient
        return value, gradient

    def after(intermediate_result: object) -> None:
        best.iterations += 1
        clock.report(best.iterations, best.value, bound(best), best.iterations)
        if enough(best):
            # SciPy ends the search
            raise StopIteration

    method: Settings = {
        "method": "L-BFGS-B",
        "options": {"maxfun": np.inf, "ftol": 0.0, "gtol": 0.0, "maxcor": REMEMBERED},
    }
    if curvature is not None:
        method = {"method": "Newton-CG", "hessp": curvature, "options": {"xtol": 0.0}}
    method["options"]["maxiter"] = max_iterations
    try:
        clock.report(0, best.value, bound(best), 1)
        minimize(counted, start, jac=True, callback=after, **method)
    except StopTraining:
        return best
    return best
