"""The quadratic programs over planes: as many variables as a solver holds planes, solved up to rounding."""

from __future__ import annotations

from collections.abc import Callable

import clarabel
import daqp
import numpy as np
from scipy import sparse

from ranking.core import Floats

# times the losses: smaller curvature is rounding
ROUNDING = 1e-14
# Planes outnumber weights: proximal steps make the program definite, and end at the optimum of the one given.
PROXIMAL = 1e-6
# where the weaker ones cycle
STRONGER = 1e2 * PROXIMAL
# proximal steps end below it; at daqp's default 1e-6 they end too far from the optimum
STILL = 1e-9
# tolerances of the interior point method, as small as rounding allows
INTERIOR = 1e-12
# of steps where weights are bound: each guesses which weights are at their bound
ROUNDS = 50
# times the value: the last step gains less
SETTLED = 1e-11

# of a quadratic and a linear term: the best x
Program = Callable[[Floats, Floats], Floats]


def solve_simplex_qp(quadratic: Floats, linear: Floats) -> Floats:
    """Return argmax linear.x - 1/2 x'Qx over x >= 0, sum x <= 1, the program of cutting planes."""
    # Whatever the solver's accuracy, the result is feasible, so that it proves a lower bound. The solver's
    # tolerances are absolute, and it cycles where planes differ in length by orders of magnitude: so each
    # plane longer than one is scaled to length one, and then the largest loss to one. ArithmeticError where
    # it fails all the same.
    if linear.max() <= np.finfo(float).tiny * max(1.0, np.abs(quadratic).max()):
        # no plane gains anything
        return np.zeros(len(linear))
    height = float(np.abs(linear).max())
    curvature = np.where(np.abs(quadratic) < ROUNDING * height, 0.0, quadratic) / height
    scale = 1.0 / np.sqrt(np.maximum(curvature.diagonal(), 1.0))
    losses = scale * linear / height
    largest = max(float(np.abs(losses).max()), np.finfo(float).tiny)
    scale, curvature, losses = largest * scale, curvature * np.outer(scale, scale), losses / largest
    for proximal in (PROXIMAL, STRONGER):
        x, flag = _daqp(curvature, losses, scale, proximal)
        if flag > 0:
            x = scale * np.where(x > 1e-12 * x.max(), x, 0.0)
            return x / max(float(x.sum()), 1.0)
    raise ArithmeticError(
        f"the quadratic program over {len(linear)} planes was not solved (daqp exit flag {flag})"
    )


def solve_by_interior_point(quadratic: Floats, linear: Floats) -> Floats:
    """Solve the same where `solve_simplex_qp` fails, slower and a few digits less exact."""
    # It ends at the optimum where C is so large that planes nearly cancel, and the curvature left of them is
    # lost in the rounding of products. The solver is given the lengths of planes, not of their products:
    # minimise 1/2 ||v||^2 - linear.x with v = R'x, Q = RR'.
    m, height = len(linear), float(np.abs(linear).max())
    if linear.max() <= 0:
        # no plane gains anything
        return np.zeros(m)
    squares, vectors = np.linalg.eigh(quadratic)
    root = vectors * np.sqrt(np.maximum(squares, 0.0) / height)
    zeros, identity = sparse.csc_matrix((m, m)), sparse.eye(m, format="csc")
    cost = sparse.block_diag([zeros, identity], format="csc")
    held = sparse.bmat([[root.T, -identity], [-identity, None], [np.ones((1, m)), None]], format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = INTERIOR
    solution = clarabel.DefaultSolver(
        cost,
        np.append(-linear / height, np.zeros(m)),
        held,
        np.append(np.zeros(2 * m), 1.0),
        [clarabel.ZeroConeT(m), clarabel.NonnegativeConeT(m + 1)],
        settings,
    ).solve()
    x: Floats = np.maximum(np.array(solution.x[:m]), 0.0)
    if not np.isfinite(x).all():
        raise ArithmeticError(f"the quadratic program over {m} planes was not solved ({solution.status})")
    return x / max(float(x.sum()), 1.0)


def _daqp(quadratic: Floats, linear: Floats, shares: Floats, proximal: float) -> tuple[Floats, int]:
    """Return argmax linear.x - 1/2 x'Qx over x >= 0, shares.x <= 1, and daqp's flag, positive if solved."""
    m = len(linear)
    x, _, flag, _ = daqp.solve(
        np.ascontiguousarray(quadratic),
        -linear,
        shares[None],
        np.append(1.0 / shares, 1.0),
        np.append(np.zeros(m), -1e30),
        np.zeros(m + 1, dtype=np.int32),
        primal_tol=1e-10,
        eps_prox=proximal,
        eta_prox=STILL,
    )
    return x, flag


def solve_bound_simplex_qp(
    quadratic: Floats, linear: Floats, rows: Floats, start: Floats, solve: Program = solve_simplex_qp
) -> Floats:
    """Return argmax linear.x - 1/2 x'Qx - 1/2 ||max(0, B'x)||^2 over x >= 0, sum x <= 1."""
    # rows: B (m, d2). The last term is the square of the weights that are bound to be <= 0. Between its kinks
    # the program is quadratic: guess from the current x, at first `start`, which columns count, solve, move
    # to the best point on the way, repeat. No step descends, so that an early end is safe; it is feasible
    # too.
    x = start
    value = -np.inf
    for _ in range(ROUNDS):
        counted = rows[:, x @ rows > 0]
        direction = solve(quadratic + counted @ counted.T, linear) - x
        pull = quadratic @ direction
        slope, curvature = float(linear @ direction - x @ pull), float(direction @ pull)
        x = x + best_step(slope, curvature, x @ rows, direction @ rows) * direction
        before, value = value, _value(quadratic, linear, rows, x)
        if value - before <= SETTLED * abs(value):
            break
    return x


def _value(quadratic: Floats, linear: Floats, rows: Floats, x: Floats) -> float:
    over = np.maximum(x @ rows, 0.0)
    return float(linear @ x - 0.5 * x @ quadratic @ x - 0.5 * over @ over)


def best_step(first: float, curvature: float, origin: Floats, change: Floats) -> float:
    """Return argmax of t first - 1/2 t^2 curvature - 1/2 ||max(0, origin + t change)||^2 over t in [0, 1]."""
    # Exact, by bisection over the kinks on the way.

    def slope(t: float) -> float:
        return first - t * curvature - float(change @ np.maximum(origin + t * change, 0.0))

    with np.errstate(divide="ignore", invalid="ignore"):
        kinks = -origin / change
    kinks = np.concatenate([[0.0], np.sort(kinks[(kinks > 0) & (kinks < 1)]), [1.0]])
    if slope(1.0) >= 0:
        return 1.0
    low, high = 0, len(kinks) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if slope(kinks[middle]) > 0 else (low, middle)
    rise, fall = slope(kinks[low]), slope(kinks[high])
    if rise <= 0:
        return float(kinks[low])
    return float(kinks[low] + (kinks[high] - kinks[low]) * rise / (rise - fall))
