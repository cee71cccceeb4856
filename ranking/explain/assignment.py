"""Rankings as assignment problems, for teaching: precision at k, a c-star and AP (c-star, sections 2 and 3).

All three maximise, over positions pi and with Pi_ij = 1 where sample i is at position j,

    g(pi) = constant + sum_i L_{i, pi_i} + sum_ij F_ij D_{pi_i, pi_j} = constant + <L, Pi> + Tr{F Pi D' Pi'}

In section 2 of the paper the rows of Pi are positions (A Pi z), in eq. 5 they are samples. Here they are samples, so
that AP is <Pi'z, A Pi'z> / 1'z. For a prediction g is the score of eq. 4; for the most violated ranking it is score
plus loss, eq. 3.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from ranking.core import Bools, Floats, Ints
from ranking.core.errors import InputError
from ranking.inference.best_order import (
    APPROXIMATIONS,
    OrderModel,
    approximate_order,
    best_order,
)

# samples: 5,040 rankings
MAX_ENUMERATED = 7
ENUMERATION, LINEAR, EXACT = "enumeration", "linear_sum_assignment", "best_order"
HEURISTICS = {f"quadratic_assignment, {method}": method for method in APPROXIMATIONS}


@dataclass(frozen=True, eq=False)
class Assignment:
    """The terms of g for N samples."""

    # linear, flow, design: (N, N) L, F and D
    linear: Floats
    flow: Floats
    design: Floats
    constant: float
    # the same problem as `best_order` takes it, which is g without the constant
    model: OrderModel

    @property
    def is_linear(self) -> bool:
        """Whether no two samples interact."""
        return not self.flow.any()

    def values(self, rankings: Ints) -> Floats:
        """Return (m,) g of m rankings (m, N), given by the positions of the samples, from its definition."""
        rows = np.arange(len(self.linear))
        pairs = self.flow * self.design[rankings[:, :, None], rankings[:, None, :]]
        values: Floats = self.constant + self.linear[rows, rankings].sum(axis=1) + pairs.sum(axis=(1, 2))
        return values


class AssignmentSolution(NamedTuple):
    """The result of a solver."""

    solver: str
    # whether it is proven optimal
    exact: bool
    # (N,) of the samples
    positions: Ints
    # g
    value: float


def permutation_matrix(positions: Ints) -> Floats:
    """Return (N, N) Pi: 1 where sample i is at position j (eq. 5)."""
    matrix: Floats = np.eye(len(positions))[positions]
    return matrix


def precision_rows(n: int) -> Floats:
    """Return (n, n) A of section 2: 1/k on the first k entries of row k, so that A Pi'z is all p@k."""
    rows: Floats = np.tril(np.ones((n, n))) / np.arange(1, n + 1)[:, None]
    return rows


def relevant_pairs(relevant: npt.ArrayLike) -> Floats:
    """Return (n, n) B = zz' / 1'z of section 2."""
    marks = _marks(relevant)
    pairs: Floats = np.outer(marks, marks) / marks.sum()
    return pairs


def average_precision(relevant: npt.ArrayLike, positions: Ints) -> float:
    """Return AP as the quadratic form Tr{A Pi' B Pi} (section 2).

    >>> round(average_precision([True, False, True], np.array([0, 1, 2])), 4)
    0.8333
    """
    P = permutation_matrix(positions)
    return float(np.trace(precision_rows(len(positions)) @ P.T @ relevant_pairs(relevant) @ P))


def precision_assignment(scores: Floats, relevant: npt.ArrayLike, k: int, violated: bool) -> Assignment:
    """Return s' Pi c with c = 1 at the first k positions, plus 1 - p@k where `violated`."""
    # The problem is linear (sections 2 and 4).
    n = len(scores)
    return c_star_assignment(scores, relevant, k, np.array([], np.int64), np.empty((0, n)), violated)


def c_star_assignment(
    scores: Floats, relevant: npt.ArrayLike, k: int, core: Ints, interactions: Floats, violated: bool
) -> Assignment:
    """Return the same with Tr{F Pi D Pi'}, d_kl = |k - l|: f_ij > 0 puts i and j far apart (eqs. 4 and 5)."""
    # core, interactions: as in `OrderModel`. The loss 1 - p@k is added to the scores: s_i + (1 - z_i) / k
    # (section 4). Section 2's a_i = 1 - 1/k with b = z is not that loss: it grows with the relevant samples
    # among the first k.
    n = len(scores)
    if not 1 <= k <= n:
        raise InputError("k", f"1 to {n}, the number of samples", k)
    ranks, irrelevant = np.arange(n), (~np.asarray(relevant, np.bool_)).astype(np.float64)
    first = (ranks < k).astype(np.float64)
    unary = scores + (irrelevant / k if violated else 0.0)
    model = OrderModel(unary, first, core, interactions, np.abs(ranks[:, None] - ranks).astype(np.float64))
    linear = np.outer(scores, first) + (np.outer(irrelevant, (ranks < k) / k) if violated else 0.0)
    return Assignment(linear, model.pairs, model.pair_design, 0.0, model)


def ap_assignment(scores: Floats, relevant: npt.ArrayLike, violated: bool) -> Assignment:
    """Return s' Pi c with c_k = 1/k, plus 1 - AP where `violated`: F = -B and D = A (section 2)."""
    # Only pairs of relevant samples interact, so that all of those but one are the core of a c-star. Its D is
    # (A + A') / 2, and the diagonals of A and B are linear: as c is the diagonal of A, s_i becomes s_i - z_i
    # / 1'z. Section 2's [3] has another score, sum_ij (s_i - s_j) R_ij, for which the most violated ranking
    # is fast to find.
    n, marks = len(scores), _marks(relevant)
    A, c = precision_rows(n), 1.0 / np.arange(1, n + 1)
    linear = np.outer(scores, c)
    if not violated:
        nothing = np.zeros((n, n))
        model = OrderModel(scores, c, np.array([], np.int64), np.empty((0, n)), nothing)
        return Assignment(linear, nothing, A, 0.0, model)
    flow = -relevant_pairs(marks)
    core = np.flatnonzero(marks)[:-1]
    interactions = (flow - np.diag(np.diagonal(flow)))[core]
    model = OrderModel(scores + np.diagonal(flow), c, core, interactions, (A + A.T) / 2)
    return Assignment(linear, flow, A, 1.0, model)


def all_orders(n: int) -> Ints:
    """Return (n!, n) the positions of n samples in every ranking, n at most MAX_ENUMERATED."""
    if not 1 <= n <= MAX_ENUMERATED:
        raise InputError("samples", f"1 to {MAX_ENUMERATED}, because all rankings are tried", n)
    return np.array(list(itertools.permutations(range(n))), np.int64)


def solutions(problem: Assignment, seed: int = 0) -> list[AssignmentSolution]:
    """Return the solution of each solver, enumeration first."""
    # `linear_sum_assignment` solves linear problems only.
    orders = all_orders(len(problem.linear))
    best = {(ENUMERATION, True): orders[int(problem.values(orders).argmax())]}
    if problem.is_linear:
        best[LINEAR, True] = linear_sum_assignment(problem.linear, maximize=True)[1].astype(np.int64)
    best[EXACT, True] = best_order(problem.model).positions
    for name, method in HEURISTICS.items():
        best[name, False] = approximate_order(problem.model, method, seed).positions
    values = problem.values(np.stack(list(best.values())))
    return [
        AssignmentSolution(name, exact, positions, float(value))
        for ((name, exact), positions), value in zip(best.items(), values, strict=True)
    ]


def _marks(relevant: npt.ArrayLike) -> Bools:
    """Return z; ValueError unless a sample is relevant, because AP divides by 1'z."""
    marks: Bools = np.asarray(relevant, np.bool_)
    if not marks.any():
        raise InputError("relevant", "at least one relevant sample, because AP divides by their number", 0)
    return marks
