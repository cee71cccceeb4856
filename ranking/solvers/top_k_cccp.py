"""The tightest bound where several outputs have the least loss (c-star, eq. 8), minimised by CCCP.

The objective is a convex function minus the greatest score of an output of least loss. A round fixes that output of
every image at the current weights, which bounds the objective from above and touches it there, and minimises the
convex bound: the objective never rises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ranking.core import Bools, Floats
from ranking.inference import best_top_ks
from ranking.solvers.clock import Clock
from ranking.solvers.top_k_risk import TopKRisk, TopKSolution, TopKWeights

# the risk, iterations at most, number of the round
Solve = Callable[[TopKRisk, int, int], TopKSolution]


def tightest_truth(risk: TopKRisk, weights: TopKWeights) -> Bools:
    """Return (M, L) the outputs of greatest score among those with the least loss (c-star, eq. 8)."""
    # With k relevant labels or more they hold relevant ones only; with fewer, all of them.
    return _among_best(risk, weights.unary(risk.shared, risk.own), weights)


def first_truth(risk: TopKRisk) -> Bools:
    """Return (M, L) outputs of the least loss without weights, filled up by the most frequent labels."""
    frequency = np.broadcast_to(risk.labels.mean(axis=0), risk.labels.shape)
    return _among_best(risk, frequency, risk.zero())


def top_k_cccp(
    risk: TopKRisk,
    solve: Solve,
    tolerance: float = 1e-3,
    max_iterations: int = 1000,
    clock: Clock | None = None,
    start: TopKWeights | None = None,
) -> TopKSolution:
    """Minimise eq. 8, from `start` or the frequencies of labels, until rounds gain at most the tolerance."""
    # solve: minimises a convex risk. The certificate is of the last round: its primal is the objective, its
    # dual the lower bound of the convex risk that touches it there.
    clock = clock or Clock(None)
    iterations = number = 0
    weights, stopped = start, False
    if weights is None:
        first = solve(replace(risk, truth=first_truth(risk)), max_iterations, number)
        weights, stopped, iterations = first.weights, first.stopped, first.certificate.iterations
    while True:
        touching = replace(risk, truth=tightest_truth(risk, weights))
        value, bound = touching.objective(weights), touching.least_loss
        if stopped or iterations >= max_iterations:
            break
        number += 1
        round_ = solve(touching, max_iterations - iterations, number)
        iterations, stopped = iterations + round_.certificate.iterations, round_.stopped
        arrived = touching.openness(value, round_.certificate.dual) <= tolerance
        if arrived or round_.certificate.primal >= value:
            bound = max(bound, round_.certificate.dual)
            break
        weights = round_.weights
    certificate = touching.certified(weights, bound, tolerance, iterations, clock.seconds)
    return TopKSolution(weights, certificate, stopped)


def _among_best(risk: TopKRisk, unary: Floats, weights: TopKWeights) -> Bools:
    """Return (M, L) the outputs of greatest score among those with the least loss."""
    enough = risk.labels.sum(axis=1) >= risk.k
    forced = np.where(enough[:, None], -1 * ~risk.labels, 1 * risk.labels)
    return best_top_ks(unary, risk.core, weights.interactions, risk.k, forced).members
