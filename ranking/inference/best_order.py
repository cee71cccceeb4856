"""The best order of items where pairs interact by their positions, in the general form of c-star, section 3.

    f(pi) = sum_i s_i c_{pi_i} + sum_ij f_ij d_{pi_i, pi_j},   pi_i the position of item i, from 0 at the top

is a quadratic assignment problem. Without interactions it is a linear one; where they form a c-star, each placement of
the core leaves a linear one. For teaching: `best_top_k` solves the case that methods need, and solves it much faster.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment, quadratic_assignment

from ranking.core import Floats, Ints
from ranking.core.errors import InputError
from ranking.inference.best_top_k import check_interactions

APPROXIMATIONS = ("faq", "2opt")


@dataclass(frozen=True, eq=False)
class BestOrder:
    """An order of N items."""

    # (N,) the position of each item, 0 at the top
    positions: Ints
    # f of it
    value: float


@dataclass(frozen=True, eq=False)
class OrderModel:
    """The terms of f for N items, C of which are the core."""

    # (N,) s
    unary: Floats
    # (N,) c
    design: Floats
    # (C,) numbers of items
    core: Ints
    # (C, N) = F[core]; F is symmetric with a zero diagonal, and zero outside the rows and columns of the core
    interactions: Floats
    # (N, N) D, symmetric
    pair_design: Floats

    def __post_init__(self) -> None:
        items = len(self.unary)
        if self.design.shape != (items,) or self.pair_design.shape != (items, items):
            raise InputError(
                "designs",
                f"the shapes ({items},) and ({items}, {items})",
                f"{self.design.shape} and {self.pair_design.shape}",
            )
        if (self.pair_design != self.pair_design.T).any():
            raise InputError(
                "pair_design",
                "a symmetric matrix, because f_ij = f_ji see d_kl + d_lk alone",
                remedy="give (D + D') / 2",
            )
        check_interactions(self.interactions, self.core, items)

    @property
    def pairs(self) -> Floats:
        """(N, N) F."""
        matrix = np.zeros((len(self.unary), len(self.unary)))
        matrix[:, self.core] = self.interactions.T
        matrix[self.core] = self.interactions
        return matrix

    def value(self, positions: Ints) -> float:
        """f of the order that gives item i the position positions[i], from its definition."""
        linear = float(self.unary @ self.design[positions])
        return linear + float(np.vdot(self.pairs, self.pair_design[np.ix_(positions, positions)]))


def best_order(model: OrderModel) -> BestOrder:
    """Find the order with the greatest f exactly, in O(N^(C+3)).

    >>> model = OrderModel(np.array([1.0, 3.0]), np.array([1.0, 0.0]), np.array([], int), np.empty((0, 2)), np.eye(2))
    >>> best_order(model).positions.tolist()
    [1, 0]
    """
    # All placements of the core are tried; each leaves a linear assignment problem.
    items, core = len(model.unary), model.core
    linear = np.outer(model.unary, model.design)
    rest = np.setdiff1d(np.arange(items), core)
    best, best_value = np.arange(items), -np.inf
    for core_placement in itertools.permutations(range(items), len(core)):
        occupied = np.array(core_placement, np.int64)
        free = np.setdiff1d(np.arange(items), occupied)
        # np.vdot sums pairs within the core in both orders; pairs of the core and another item come once.
        among = np.vdot(model.interactions[:, core], model.pair_design[np.ix_(occupied, occupied)])
        value = float(linear[core, occupied].sum() + among)
        pull = 2.0 * model.interactions[:, rest].T @ model.pair_design[np.ix_(occupied, free)]
        gains = linear[np.ix_(rest, free)] + pull
        rows, columns = linear_sum_assignment(gains, maximize=True)
        value += float(gains[rows, columns].sum())
        if value > best_value:
            best, best_value = np.empty(items, np.int64), value
            best[core], best[rest[rows]] = occupied, free[columns]
    return BestOrder(best, best_value)


def approximate_order(model: OrderModel, method: str = "faq", seed: int = 0) -> BestOrder:
    """Find an order, whose value is at most the greatest f, by SciPy's solver of quadratic assignment."""
    # The linear part is one of the quadratic: sum_i s_i c_{pi_i} = sum_ij S_ij C_{pi_i, pi_j} with S and C
    # diagonal.
    if method not in APPROXIMATIONS:
        raise InputError("method", f"one of: {', '.join(APPROXIMATIONS)}", method)
    flow = model.pairs + np.diag(model.unary)
    distance = model.pair_design - np.diag(np.diagonal(model.pair_design)) + np.diag(model.design)
    solution = quadratic_assignment(
        flow, distance, method=method, options={"maximize": True, "rng": np.random.default_rng(seed)}
    )
    positions = np.asarray(solution.col_ind, np.int64)
    return BestOrder(positions, model.value(positions))
