"""Subgradient descent, as the c-star paper trains, in the form of Pegasos (Shalev-Shwartz et al. 2007).

With steps 1/n after n images, the weights are minus C times the mean of all subgradients so far. After whole passes
each image has the same part in that mean, so that its outputs and their frequencies are a dual combination:
subgradient descent proves a lower bound too. The result is the better of the last weights and of an average of all,
in which later ones count more.
"""

from __future__ import annotations

import numpy as np

from ranking.core import StopTraining
from ranking.solvers.clock import Clock
from ranking.solvers.top_k_risk import TopKRisk, TopKSolution, TopKWeights

# images whose outputs are computed at the same weights
BATCH = 32


def top_k_subgradient(
    risk: TopKRisk,
    tolerance: float = 1e-3,
    max_iterations: int = 1000,
    clock: Clock | None = None,
    number: int = 0,
) -> TopKSolution:
    """Minimise `risk` until its `openness` is at most `tolerance`."""
    # An iteration is one pass over the images.
    clock = clock or Clock(None)
    generator = np.random.default_rng(0)
    images = len(risk.k)
    # Sums over all images so far: of the subgradients without C, and of the losses of their outputs.
    total, losses, count = risk.zero(), 0.0, 0
    weights = average = best = risk.zero()
    best_value, bound, iteration = risk.objective(best), risk.least_loss, 0
    stopped = False
    try:
        while True:
            clock.report(iteration, best_value, bound, 3 * iteration, 0, number)
            if iteration >= max_iterations or (iteration and risk.openness(best_value, bound) <= tolerance):
                break
            for rows in np.array_split(generator.permutation(images), max(1, images // BATCH)):
                outputs = risk.most_violated(weights, rows).members
                total = _plus(total, risk, rows, outputs)
                losses += float(risk.costs[rows][outputs].sum())
                count += len(rows)
                weights = TopKWeights(*(-risk.C / count * part for part in total))
                average = average.combined(weights, 2.0 * len(rows) / (count + len(rows)))
            iteration += 1
            for candidate in (average, weights):
                value = risk.objective(candidate)
                if value < best_value:
                    best, best_value = candidate, value
            bound = max(bound, risk.C / count * losses - 0.5 * risk.square(weights))
    except StopTraining:
        stopped = True
    certificate = risk.certified(best, bound, tolerance, iteration, clock.seconds)
    return TopKSolution(best, certificate, stopped)


def _plus(total: TopKWeights, risk: TopKRisk, rows: np.ndarray, outputs: np.ndarray) -> TopKWeights:
    """Return the sum with the subgradients of some images' bounds (c-star, eq. 9)."""
    excess = outputs.astype(np.float64) - risk.truth[rows]
    return TopKWeights(
        total.shared + excess.T @ risk.shared[rows],
        total.own + np.einsum("ml,ml->l", excess, risk.own[rows]),
        total.interactions + risk.pairs(outputs) - risk.pairs(risk.truth[rows]),
    )
