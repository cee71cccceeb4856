"""Dual coordinate descent for the hinge loss (Hsieh et al. 2008), on dense features, a margin per sample.

    min_v  1/2 ||v||^2 + C sum_i max(0, cost_i - y_i scale x_i.v)

is the risk of a binary SVM: the maximum over labellings decomposes into samples. Its dual has one variable
0 <= alpha_i <= C a sample, and v = scale X'(alpha y).
"""

from __future__ import annotations

import numba as nb
import numpy as np

from ranking.core import Features, Floats, Ints, OnProgress, StopTraining, relative_gap
from ranking.solvers.clock import Clock, stalled
from ranking.solvers.risk import Cut, LinearRisk, Solution, certified

# as for cutting planes
SAFETY = 0.9
# iterations that must halve the gap; where C is large, steps are small and cutting planes are faster
SLOW = 200


def coordinate_descent(
    risk: LinearRisk,
    labels: Floats,
    costs: Floats,
    tolerance: float = 1e-3,
    max_iterations: int = 10_000,
    on_progress: OnProgress | None = None,
    start: Cut | None = None,
    seed: int = 0,
) -> Solution:
    """Minimise `risk`, the hinge of `labels` (n,) -1 or +1 at margins `costs` (n,), to a relative gap.

    An iteration is one round over the samples that are not known to be at a bound; the gap is measured after each
    round, and recomputed in float64 at the end. Ends early where progress stalls. start: the dual combination of
    another run on the same samples; multipliers beyond C are clipped.
    """
    clock = Clock(on_progress)
    state = _State(risk, labels, costs, start)
    generator = np.random.default_rng(seed)
    best, coefficients, best_primal = state.weights, state.alpha * labels, np.inf
    iteration = passes = 0
    bound, stopped = -np.inf, False
    gaps: list[float] = []
    try:
        while True:
            margins = labels * risk.scores(state.weights)
            length, primal = best_length(state.weights, margins, costs, risk.C)
            bound = max(bound, state.bound)
            if primal < best_primal:
                best, best_primal = length * state.weights, primal
                coefficients = length * (state.alpha * labels)
            passes += 1
            clock.report(iteration, best_primal, bound, passes, weights=best)
            gaps.append(best_primal - bound)
            closed = relative_gap(best_primal, bound) <= SAFETY * tolerance
            if closed or stalled(gaps, SLOW) or iteration >= max_iterations:
                break
            passes += state.sweep(margins, generator)
            iteration += 1
    except StopTraining:
        # the result so far is returned, with the certificate of its gap
        stopped = True
    # A large C magnifies margins missed by rounding in single precision: fit the length in double.
    length, _ = best_length(best, labels * risk.exact_scores(best), costs, risk.C)
    best, coefficients = length * best, length * coefficients
    seconds = clock.seconds
    certificate = certified(risk, best, state.dual, tolerance, iteration, seconds)
    return Solution(best, state.dual, certificate, stopped=stopped, coefficients=coefficients)


def best_length(weights: Floats, margins: Floats, costs: Floats, C: float) -> tuple[float, float]:
    """Return the t >= 0 that minimises the primal at t w, and its value: exact, by one sort of the kinks."""
    # Near the optimum many margins are missed by very little, which a large C makes expensive; slightly
    # longer weights reach all of them.
    square = float(weights @ weights)
    positive = margins > 0
    # sample i counts while t < its kink
    kinks = costs[positive] / margins[positive]
    order = np.argsort(kinks)
    kinks = kinks[order]
    # After the k-th kink: the slope of the hinge, and its value at t = 0.
    slopes = margins[~positive].sum() + np.append(np.cumsum(margins[positive][order][::-1])[::-1], 0.0)
    heights = costs[~positive].sum() + np.append(np.cumsum(costs[positive][order][::-1])[::-1], 0.0)
    if square == 0.0:
        return 1.0, C * float(costs.sum())
    # Within each piece the primal is a parabola; the best t of a convex function is the best over all pieces.
    free = C * slopes / square
    lengths = np.clip(free, np.append(0.0, kinks), np.append(kinks, np.inf))
    values = 0.5 * square * lengths**2 + C * (heights - lengths * slopes)
    best = int(np.argmin(values))
    return float(lengths[best]), float(values[best])


# between two measurements of the gap, each of which costs two passes
SWEEPS = 4


class _State:
    """The dual variables, the weights that they imply, and one round of descent."""

    def __init__(self, risk: LinearRisk, labels: Floats, costs: Floats, start: Cut | None) -> None:
        self.risk, self.labels, self.costs = risk, labels, costs
        features = risk.features.rows
        self.curvatures = risk.features.scale**2 * np.einsum("ij,ij->i", features, features).astype(
            np.float64
        )
        self.alpha = np.zeros(len(labels))
        if start is not None:
            self.alpha = np.clip(-start.coefficients * labels, 0.0, risk.C)
        self._refresh()

    @property
    def dual(self) -> Cut:
        return Cut(-self.alpha * self.labels, float(self.alpha @ self.costs))

    @property
    def bound(self) -> float:
        return float(self.alpha @ self.costs - 0.5 * self.weights @ self.weights)

    def sweep(self, margins: Floats, generator: np.random.Generator) -> int:
        """Descend over the samples that can move, SWEEPS times in random order; return the passes."""
        gradients = margins - self.costs
        movable = ((self.alpha > 0) | (gradients < 0)) & ((self.alpha < self.risk.C) | (gradients > 0))
        active = np.flatnonzero(movable & (self.curvatures > 0))
        weights = self.weights.astype(self.risk.features.rows.dtype)
        for _ in range(SWEEPS):
            _descend(
                self.risk.features.rows,
                self.risk.features.scale,
                generator.permutation(active),
                self.labels,
                self.costs,
                self.curvatures,
                self.risk.C,
                self.alpha,
                weights,
            )
        self._settle_flat()
        self._refresh()
        return 1 + round(SWEEPS * len(active) / len(self.labels))

    def _refresh(self) -> None:
        """Compute the weights from the dual variables, so that single precision cannot drift."""
        self.weights = self.risk.normal(self.alpha * self.labels)

    def _settle_flat(self) -> None:
        """Set the variable of samples without features to C: they can reach no margin."""
        self.alpha[self.curvatures == 0] = self.risk.C


@nb.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _descend(
    features: Features,
    scale: float,
    order: Ints,
    labels: Floats,
    costs: Floats,
    curvatures: Floats,
    C: float,
    alpha: Floats,
    weights: Features,
) -> None:
    """Minimise the dual along one variable after the other, keeping weights = scale X'(alpha y)."""
    # arithmetic in the features' own precision
    number = weights.dtype.type
    for i in order:
        product = number(0)
        for k in range(len(weights)):
            product += features[i, k] * weights[k]
        gradient = labels[i] * scale * product - costs[i]
        updated = min(max(alpha[i] - gradient / curvatures[i], 0.0), C)
        change = (updated - alpha[i]) * labels[i] * scale
        if change != 0.0:
            alpha[i] = updated
            step = number(change)
            for k in range(len(weights)):
                weights[k] += step * features[i, k]
