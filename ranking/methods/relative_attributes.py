"""Relative Attributes: ordered pairs a margin apart, similar pairs together (Parikh and Grauman 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ranking.core import Certificate, Floats, OnProgress, SequenceSet, relative_gap
from ranking.inference.graded_pairs import GradedPairs
from ranking.methods.common_settings import closed_gap, most_iterations, penalty
from ranking.methods.linear_order import LinearOrder
from ranking.methods.order_method import Grid
from ranking.methods.registry import METHODS
from ranking.solvers.clock import Clock
from ranking.solvers.quasi_newton import Best, quasi_newton
from ranking.solvers.smooth import SmoothRisk, gap_of


@METHODS.register("Relative Attributes")
@dataclass(kw_only=True, eq=False)
class RelativeAttributes(LinearOrder):
    """A ranking SVM with ordered and similar pairs (Relative Attributes, eqs. 4 to 7).

    min 1/2 ||w||^2 + C mean over all pairs of xi_ij^2 (ordered) or gamma_ij^2 (similar).

    w.(x_i - x_j) >= 1 - xi_ij where i has the higher grade, |w.(x_i - x_j)| <= gamma_ij where the grades are equal.
    Pairs are those within a sequence, of both kinds together. Newton's method in the primal, as theirs; a pair's
    slacks are added up by sample, so that no pair is stored.
    """

    order = 23
    summary: ClassVar[str] = (
        "Learns from ordered pairs and from pairs with equal grades, with squared errors."
    )
    objective: ClassVar[str] = (
        r"\tfrac12\|w\|^2 + \frac{C}{|O|+|S|}\Bigl[\sum_{(i,j)\in O}\max\bigl(0,\,1 - w^\top(x_i - x_j)\bigr)^2"
        r" + \sum_{(i,j)\in S}\bigl(w^\top(x_i - x_j)\bigr)^2\Bigr]"
    )
    grid: ClassVar[Grid] = Grid("C", (1.0, 10.0, 100.0, 1e3, 1e4, 1e5))

    C: float = penalty(1000.0, "misordered pair")
    tolerance: float = closed_gap()
    max_iterations: int = most_iterations(5000)

    def learn(self, sequences: SequenceSet, on_progress: OnProgress | None) -> Certificate:
        pairs = GradedPairs(sequences)
        share = 1.0 / (pairs.number + pairs.similar)

        def loss(scores: Floats) -> tuple[float, Floats]:
            """Return the loss and its slope.

            The loss is (1 - s_i + s_j)^2 of the violated pairs, and (s_i - s_j)^2 of the similar ones.
            """
            counts, violated = pairs.violations(scores)
            spread = pairs.laplacian(scores, scores)
            value = violated + 2.0 * float(counts @ scores) + float(spread @ scores)
            return share * max(value, 0.0), 2.0 * share * (counts + spread)

        clock = Clock(on_progress)
        risk = SmoothRisk(sequences.features.astype(np.float64, copy=False), self.C, loss)

        def objective(weights: Floats) -> tuple[float, Floats]:
            return risk.at(weights, risk.block.scores(weights))

        def curvature(weights: Floats, values: Floats) -> Floats:
            bent = pairs.laplacian(risk.block.scores(weights), risk.block.scores(values))
            return values + 2.0 * share * self.C * risk.block.normal(bent)

        def bound(best: Best) -> float:
            return best.value - gap_of(best.gradient)

        def enough(best: Best) -> bool:
            return relative_gap(best.value, bound(best)) <= self.tolerance

        start = np.zeros(risk.features.shape[1])
        best = quasi_newton(objective, start, enough, bound, self.max_iterations, clock, curvature)
        self.direction = best.point
        return risk.certified(best.point, self.tolerance, best.iterations, clock.seconds)
