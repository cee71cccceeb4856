"""The general form, for teaching: the best order of items where pairs interact by their places (c-star, section 3).

    f(pi) = sum_i s_i c_{pi_i} + sum_ij f_ij d_{pi_i, pi_j},   pi_i the place of item i, from 0 at the top

is a quadratic assignment problem. Without interactions it is a linear one; where they form a c-star, each placement of
the core leaves a linear one. Losses linear in the permutation matrix, Delta = sum_i b_i a_{pi_i}, only add to f_l.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment, quadratic_assignment

from ranking.core import Floats, Ints
from ranking.core.errors import InputError
from ranking.inference.best_top_k import check_interactions

APPROXIMATIONS = ("faq", "2opt")


class LinearLoss(NamedTuple):
    """Delta(pi, z) = sum_i of_item[i] of_place[pi_i]: b(z) and a of Le et al. (c-star, section 2)."""

    of_item: Floats
    of_place: Floats

    @property
    def matrix(self) -> Floats:
        """(N, N) what item i at place j adds to the loss."""
        return np.outer(self.of_item, self.of_place)


def winner_takes_all(relevant: npt.ArrayLike) -> LinearLoss:
    """1 where the first item is irrelevant, else 0."""
    marks = np.asarray(relevant, np.bool_)
    return LinearLoss((~marks).astype(np.float64), np.eye(len(marks))[0])


def reciprocal_rank(relevant: npt.ArrayLike) -> LinearLoss:
    """1 - 1/rank of the relevant item; ValueError unless there is exactly one."""
    marks = np.asarray(relevant, np.bool_)
    if marks.sum() != 1:
        raise InputError("relevant", "one relevant item, because the loss must be linear", int(marks.sum()))
    return LinearLoss(marks.astype(np.float64), 1.0 - 1.0 / np.arange(1, len(marks) + 1))


def precision_at_k(relevant: npt.ArrayLike, k: int) -> LinearLoss:
    """1 - precision at k: each irrelevant item at one of the first k places costs 1/k (c-star, section 4).

    Section 2's a_i = 1 - 1/k with b = z does not give that: it grows with the relevant items among the first k.
    """
    marks = np.asarray(relevant, np.bool_)
    if not 1 <= k <= len(marks):
        raise InputError("k", f"1 to {len(marks)}, the number of items", k)
    return LinearLoss((~marks).astype(np.float64), (np.arange(len(marks)) < k) / k)


@dataclass(frozen=True, eq=False)
class BestOrder:
    """places: (N,) the place of each item, 0 the top. value: f of it, with the loss where one was given."""

    places: Ints
    value: float


@dataclass(frozen=True, eq=False)
class OrderModel:
    """unary: (N,) s; design: (N,) c; core: (C,); interactions: (C, N) = F[core]; pair_design: (N, N) D, symmetric.

    F is symmetric with a zero diagonal and zero outside the rows and columns of the core.
    """

    unary: Floats
    design: Floats
    core: Ints
    interactions: Floats
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
        """(N, N) the whole of F."""
        whole = np.zeros((len(self.unary), len(self.unary)))
        whole[:, self.core] = self.interactions.T
        whole[self.core] = self.interactions
        return whole

    def value(self, places: Ints) -> float:
        """f of an order, from its definition."""
        linear = float(self.unary @ self.design[places])
        return linear + float(np.vdot(self.pairs, self.pair_design[np.ix_(places, places)]))


def best_order(model: OrderModel, loss: LinearLoss | None = None) -> BestOrder:
    """The order with the greatest f, plus the loss where one is given: exact, O(N^(C+3)).

    Every placement of the core is tried; what is left is a linear assignment problem.

    >>> model = OrderModel(np.array([1.0, 3.0]), np.array([1.0, 0.0]), np.array([], int), np.empty((0, 2)), np.eye(2))
    >>> best_order(model).places.tolist()
    [1, 0]
    """
    items, core = len(model.unary), model.core
    linear = np.outer(model.unary, model.design) + (0.0 if loss is None else loss.matrix)
    others = np.setdiff1d(np.arange(items), core)
    best, best_value = np.arange(items), -np.inf
    for placed in itertools.permutations(range(items), len(core)):
        taken = np.array(placed, np.int64)
        free = np.setdiff1d(np.arange(items), taken)
        # F among the core comes up in both orders by itself, that of the core and another item once.
        among = np.vdot(model.interactions[:, core], model.pair_design[np.ix_(taken, taken)])
        value = float(linear[core, taken].sum() + among)
        pull = 2.0 * model.interactions[:, others].T @ model.pair_design[np.ix_(taken, free)]
        gains = linear[np.ix_(others, free)] + pull
        rows, columns = linear_sum_assignment(gains, maximize=True)
        value += float(gains[rows, columns].sum())
        if value > best_value:
            best, best_value = np.empty(items, np.int64), value
            best[core], best[others[rows]] = taken, free[columns]
    return BestOrder(best, best_value)


def approximate_order(model: OrderModel, method: str = "faq", seed: int = 0) -> BestOrder:
    """An order that scipy's approximate solver of quadratic assignment finds: its value is no more than the best.

    The linear part is one of the quadratic: sum_i s_i c_{pi_i} = sum_ij S_ij C_{pi_i, pi_j} with S and C diagonal.
    """
    if method not in APPROXIMATIONS:
        raise InputError("method", f"one of: {', '.join(APPROXIMATIONS)}", method)
    flow = model.pairs + np.diag(model.unary)
    distance = model.pair_design - np.diag(np.diagonal(model.pair_design)) + np.diag(model.design)
    found = quadratic_assignment(
        flow, distance, method=method, options={"maximize": True, "rng": np.random.default_rng(seed)}
    )
    places = np.asarray(found.col_ind, np.int64)
    return BestOrder(places, model.value(places))


def top_k_model(unary: Floats, core: Ints, interactions: Floats, k: int) -> OrderModel:
    """The model of section 4 in the general form: c is 1 and D is 1 among the first k places, 0 elsewhere.

    Its best order begins with the best top k; the orders within the two parts are all alike to it.
    """
    first = (np.arange(len(unary)) < k).astype(np.float64)
    return OrderModel(unary, first, core, interactions, np.outer(first, first))
