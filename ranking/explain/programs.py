"""The convex models as written on a blackboard, in CVXPY: short, slow, and independent of the solvers.

Each function states one whole problem and solves it by interior points, to a relative gap of 1e-9. Features are (n, d),
one row per sample, and relevant (n,) bool. CVXPY is imported where it is used, because that takes a second or two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ranking.core import Bools, Features, Floats, Ints

EXACT = {"solver": "CLARABEL", "tol_gap_abs": 1e-12, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}


class Optimum(NamedTuple):
    """The optimal value of a program, and the variables that attain it."""

    # They are weights, or multipliers of a dual program.

    value: float
    variables: Floats


def svm(features: Features, relevant: Bools, C: float) -> Optimum:
    """Solve high-order, eqs. 4, 7 and 8 without pairs: w[0] scores the relevant class, w[1] the other."""
    # The loss is a sum over samples, so the most violated labelling has the worse label of each.
    # Weights: (2 d,).

    # takes a second to load
    import cvxpy as cp

    # eq. 7 with J = |N| / |P|
    costs = np.where(relevant, 0.5 / relevant.sum(), 0.5 / (~relevant).sum())
    w = cp.Variable((2, features.shape[1]))
    margins = cp.multiply(np.where(relevant, 1, -1), features @ (w[0] - w[1]))
    slack = cp.sum(cp.pos(costs - margins))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * slack))
    return Optimum(problem.solve(**EXACT), w.value.ravel())


def hob_svm(
    features: Features, relevant: Bools, edges: Ints, affinity: Features, C: float, eta: float
) -> Optimum:
    """Solve high-order, eqs. 4 to 8, over all labellings of each component of the graph."""
    # Weights: (2 d + d2,), w2 last. edges: (m, 2), at least one. affinity: (m, d2) >= 0.

    # takes a second to load
    import cvxpy as cp

    # eq. 7 with J = |N| / |P|
    costs = np.where(relevant, 0.5 / relevant.sum(), 0.5 / (~relevant).sum())
    w, w2 = cp.Variable((2, features.shape[1])), cp.Variable(affinity.shape[1], nonpos=True)
    scores, penalties = cp.Variable(len(features)), cp.Variable(len(edges))
    constraints, slacks = [scores == features @ (w[0] - w[1]), penalties == eta * affinity @ w2], []
    for samples, labels, cut in labellings(len(features), edges):
        losses = (labels != relevant[samples]) @ costs[samples]
        # w.Psi(X, Y) up to a constant, eqs. 4 and 5
        values = labels @ scores[samples] + cut @ penalties
        truth = (labels == relevant[samples]).all(axis=1)
        slacks.append(cp.max(losses + values - values[truth]))
    value = (cp.sum_squares(w) + cp.sum_squares(w2)) / 2 + C * cp.sum(cp.hstack(slacks))
    return Optimum(cp.Problem(cp.Minimize(value), constraints).solve(**EXACT), np.append(w.value, w2.value))


def hoap_round(
    features: Features, relevant: Bools, edges: Ints, affinity: Features, C: float, eta: float,
    rankings: Floats, losses: Floats, at: tuple[Floats, Floats],
) -> Optimum:  # fmt: skip
    """Solve the convex problem that touches high-order, eq. 14, at the weights `at`: Propositions 3 to 5."""
    # at: (2, d), (d2,). rankings: (r, n) the sizes of the coefficients of Psi(X, R) - Psi(X, R*), losses
    # (r,). Weights: as `hob_svm`.

    # takes a second to load
    import cvxpy as cp

    w, w2 = cp.Variable((2, features.shape[1])), cp.Variable(affinity.shape[1], nonpos=True)
    scores, penalties = cp.Variable(len(features)), cp.Variable(len(edges))
    excess, slack = cp.Variable(len(features)), cp.Variable(nonneg=True)
    constraints = [scores == features @ (w[0] - w[1]), penalties == eta * affinity @ w2]
    constraints.append(slack >= losses + rankings @ excess)
    for samples, labels, cut in labellings(len(features), edges):
        values = labels @ scores[samples] + cut @ penalties
        now = labels @ (features[samples] @ (at[0][0] - at[0][1])) + cut @ (eta * affinity @ at[1])
        # best wrong label - true label, fixed at `at`
        for label, i in zip(labels.T, samples, strict=True):
            fixed = np.argmax(np.where(label == relevant[i], now, -np.inf))
            constraints.append(excess[i] >= values[label != relevant[i]] - values[fixed])
    value = (cp.sum_squares(w) + cp.sum_squares(w2)) / 2 + C * slack
    return Optimum(cp.Problem(cp.Minimize(value), constraints).solve(**EXACT), np.append(w.value, w2.value))


def rank_svm(features: Features, pairs: Ints, C: float) -> Optimum:
    """Solve RankSVM: the first sample of each pair (m, 2) should score higher by 1 than the second."""
    # Weights: (d,).

    # takes a second to load
    import cvxpy as cp

    w = cp.Variable(features.shape[1])
    margins = (features[pairs[:, 0]] - features[pairs[:, 1]]) @ w
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * cp.sum(cp.pos(1 - margins)) / len(pairs)))
    return Optimum(problem.solve(**EXACT), w.value)


def planes_primal(planes: Sequence[tuple[Floats, Floats]], C: float) -> Optimum:
    """Solve the program over cutting planes: Mohapatra et al., CVPR 2018, eq. 4, with some constraints."""
    # Weights: (d,). planes: for each query, normals (m, d) and losses (m,).

    # takes a second to load
    import cvxpy as cp

    w, slack = cp.Variable(planes[0][0].shape[1]), cp.Variable(len(planes), nonneg=True)
    constraints = [xi >= losses + normals @ w for xi, (normals, losses) in zip(slack, planes, strict=True)]
    value = cp.sum_squares(w) / 2 + C * cp.sum(slack) / len(planes)
    return Optimum(cp.Problem(cp.Minimize(value), constraints).solve(**EXACT), w.value)


def planes_dual(normals: Floats, losses: Floats, C: float) -> Optimum:
    """The dual of `planes_primal` for one query, with the same value."""
    # Multipliers: (m,), one per plane.

    # takes a second to load
    import cvxpy as cp

    alpha = cp.Variable(len(losses), nonneg=True)
    # the least weights are -normals.T @ alpha
    value = losses @ alpha - cp.sum_squares(normals.T @ alpha) / 2
    problem = cp.Problem(cp.Maximize(value), [cp.sum(alpha) <= C])
    return Optimum(problem.solve(**EXACT), alpha.value)


def labellings(n: int, edges: Ints) -> Iterator[tuple[Ints, Bools, Bools]]:
    """Yield each connected component of n samples: its samples (c,), labellings, and edges that they cut."""
    # Labellings are (2^c, c). The last are (2^c, m), True where the labels of an edge differ.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    left, right = edges.T
    number, component = connected_components(coo_array((np.ones(len(edges)), (left, right)), shape=(n, n)))
    for which in range(number):
        samples = np.flatnonzero(component == which)
        labels = np.arange(2 ** len(samples))[:, None] >> np.arange(len(samples)) & 1 == 1
        whole = np.zeros((len(labels), n), bool)
        whole[:, samples] = labels
        yield samples, labels, whole[:, left] != whole[:, right]
