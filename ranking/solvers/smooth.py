"""A regularised risk whose loss is smooth and convex in the scores, and an exact bound by its gradient.

    min_w  P(w) = 1/2 ||w||^2 + C loss(X w)

By Fenchel duality its dual at the slope of the loss, a = -C loss'(X w), lies 1/2 ||w - X'a||^2 below P(w): the two
Fenchel inequalities that make up the gap hold with equality for the loss, and the regulariser's leaves this square.
So half the squared length of the gradient is the duality gap, and proves how far from the optimum w is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ranking.core import Certificate, Features, Floats, relative_gap
from ranking.solvers.block import Block

# scores (n,) to the loss and its slope (n,)
Loss = Callable[[Floats], tuple[float, Floats]]


def gap_of(gradient: Floats) -> float:
    """Return the duality gap where P has this gradient."""
    return 0.5 * float(gradient @ gradient)


@dataclass(frozen=True, eq=False)
class SmoothRisk:
    """The problem above."""

    # (n, d)
    features: Features
    C: float
    # convex and differentiable, never negative
    loss: Loss

    @property
    def block(self) -> Block:
        return Block(self.features)

    def at(self, weights: Floats, scores: Floats) -> tuple[float, Floats]:
        """Return P and its gradient (d,) at `weights` of known scores, in the precision of the features."""
        value, slope = self.loss(scores)
        return 0.5 * float(weights @ weights) + self.C * value, weights + self.C * self.block.normal(slope)

    def certified(self, weights: Floats, tolerance: float, iterations: int, seconds: float) -> Certificate:
        """Return the certificate of `weights`, everything recomputed in float64."""
        value, slope = self.loss(self.block.exact_scores(weights))
        primal = 0.5 * float(weights @ weights) + self.C * value
        gap = gap_of(weights + self.C * self.block.exact_normal(slope))
        converged = relative_gap(primal, primal - gap) <= tolerance
        return Certificate(primal, primal - gap, gap, iterations, seconds, converged)
