"""SVR: grades predicted by linear support vector regression (Smola and Schölkopf 2004)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ranking.core import Certificate, Floats, OnProgress, SequenceSet
from ranking.core.settings import setting
from ranking.methods.common_settings import closed_gap, most_iterations, penalty
from ranking.methods.linear_order import LinearOrder
from ranking.methods.order_method import Grid
from ranking.methods.point_targets import PointTargets, with_constant
from ranking.methods.registry import METHODS
from ranking.solvers import Cut, LinearRisk, cutting_plane
from ranking.solvers.block import Block


@METHODS.register("SVR")
@dataclass(kw_only=True, eq=False)
class SVR(LinearOrder):
    """min 1/2 ||w||^2 + C mean over all members of max(0, |w.x - t| - epsilon), t the standardised grade.

    The weight of a sample is how often it occurs in sequences. A constant feature has a weight too, which is
    regularised as in LIBLINEAR, and omitted from scores because it is the same for all samples.
    """

    order = 22
    summary: ClassVar[str] = "Predicts the grade of each image independently and ranks by the prediction."
    objective: ClassVar[str] = (
        r"\tfrac12\|w\|^2 + \frac Cm\sum_i\max\bigl(0,\,|w^\top x_i - t_i| - \varepsilon\bigr)"
    )
    grid: ClassVar[Grid] = Grid("C", (1.0, 10.0, 100.0, 1e3, 1e4, 1e5))

    C: float = penalty(100.0, "grade error")
    epsilon: float = setting(
        0.1,
        label="epsilon: error without cost",
        help="The largest error without cost, in standard deviations of the grades.",
        formula=r"|w^\top x - t| \le \varepsilon",
        minimum=0.0,
        maximum=10.0,
    )
    tolerance: float = closed_gap()
    max_iterations: int = most_iterations(5000)

    def risk(self, sequences: SequenceSet) -> LinearRisk:
        """Return the objective on `sequences`.

        A cut marks which samples are predicted too high, and which too low.
        """
        rows, shares, targets = PointTargets.of(sequences)

        def oracle(scores: Floats) -> Cut:
            errors = scores - targets
            signs = np.where(np.abs(errors) > self.epsilon, shares * np.sign(errors), 0.0)
            return Cut(signs, float(-signs @ targets - self.epsilon * np.abs(signs).sum()))

        return LinearRisk(Block(with_constant(sequences.features[rows])), self.C, oracle)

    def learn(self, sequences: SequenceSet, on_progress: OnProgress | None) -> Certificate:
        solution = cutting_plane(self.risk(sequences), self.tolerance, self.max_iterations, on_progress)
        self.direction = solution.weights[:-1]
        return solution.certificate
