"""Block-coordinate problems of HOB-SVM on random samples, for the tests of block-coordinate Frank-Wolfe."""

from __future__ import annotations

import itertools
import math

import numpy as np

from ranking.inference import Components, best_labelling
from ranking.losses.weighted_zero_one import misclassification_costs
from ranking.solvers import Cut, LinearRisk, Solution
from ranking.solvers.block import Block

Problem = tuple[LinearRisk, np.ndarray, np.ndarray, Components]


def cliques(sizes: list[int]) -> np.ndarray:
    """All pairs within groups of these sizes, as of boxes in one image."""
    pairs, start = [], 0
    for size in sizes:
        pairs += itertools.combinations(range(start, start + size), 2)
        start += size
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def problem(
    sizes: list[int],
    seed: int = 0,
    C: float = 1.0,
    eta: float = 1.0,
    dtype: type = np.float64,
    edges: np.ndarray | None = None,
    spread: float = 1.0,
) -> Problem:
    """The risk of HOB-SVM on random samples; `spread` tells how far affinities are from 1."""
    rng = np.random.default_rng(seed)
    n, edges = sum(sizes), cliques(sizes) if edges is None else edges
    group = np.repeat(rng.uniform(size=len(sizes)) < 0.5, sizes)
    relevant = np.where(rng.uniform(size=n) < 0.8, group, ~group)
    relevant[:2] = True, False
    # so that neighbours are no rows in a row
    order = rng.permutation(n)
    relevant, place = relevant[np.argsort(order)], order
    # fewer features than samples bend a large problem so that all solvers creep
    size = 5 if n <= 8 else 30
    features = (rng.normal(size=(n, size)) + 0.6 * relevant[:, None]).astype(dtype)
    edges = place[edges]
    affinity = np.exp(-spread * rng.uniform(size=(len(edges), 3))).astype(dtype)
    return risk_of(features, relevant, edges, affinity, C, eta)


def risk_of(
    features: np.ndarray, relevant: np.ndarray, edges: np.ndarray, affinity: np.ndarray, C: float, eta: float
) -> Problem:
    n, components = len(features), Components.of(len(features), edges)
    costs = misclassification_costs(relevant)
    differ = relevant[edges[:, 0]] != relevant[edges[:, 1]]

    def oracle(scores: np.ndarray) -> Cut:
        augmented = scores[:n] + np.where(relevant, -costs, costs)
        labels, _ = best_labelling(augmented, edges, np.minimum(scores[n:], 0), components)
        changed = labels[edges[:, 0]] != labels[edges[:, 1]]
        coefficients = np.concatenate([1.0 * labels - relevant, 1.0 * changed - differ])
        return Cut(coefficients, float(costs[labels != relevant].sum()))

    risk = LinearRisk(Block(features, math.sqrt(2.0)), C, oracle, Block(affinity, eta))
    return risk, relevant, costs, components


def agree(solution: Solution, reference: Solution) -> None:
    """The first solution is optimal, and no bound of one contradicts the other."""
    # The other may have stopped before its end.
    for one, two in ((solution, reference), (reference, solution)):
        assert one.certificate.dual <= two.certificate.primal * (1 + 1e-9)
    assert solution.certificate.converged
    assert reference.certificate.relative_gap <= 0.02
