"""RankSVM: pairs of different grades, a margin apart (Herbrich et al. 1999; Joachims 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ranking.core import Certificate, Floats, OnProgress, SequenceSet
from ranking.inference.graded_pairs import GradedPairs
from ranking.methods.common_settings import closed_gap, most_iterations, penalty
from ranking.methods.linear_order import LinearOrder
from ranking.methods.order_method import Grid
from ranking.methods.registry import METHODS
from ranking.solvers import Cut, LinearRisk, cutting_plane
from ranking.solvers.block import Block


@METHODS.register("RankSVM")
@dataclass(kw_only=True, eq=False)
class RankSVM(LinearOrder):
    """min 1/2 ||w||^2 + C mean over all pairs of max(0, 1 - w.(x_i - x_j)), i of a higher grade than j.

    The pairs are those within a sequence, of all sequences together, and each counts the same: one that occurs in two
    sequences counts twice, and a long sequence has more of them than a short one. Joachims (2006) does the same. The
    certificate's primal is this objective.
    """

    order = 20
    summary: ClassVar[str] = "Learns from pairs: the better image should score higher by a margin."
    objective: ClassVar[str] = (
        r"\tfrac12\|w\|^2 + \frac{C}{|\mathcal P|}\sum_{(i,j)\in\mathcal P}\max\bigl(0,\,1 - w^\top(x_i - x_j)\bigr)"
    )

    grid: ClassVar[Grid] = Grid("C", (1.0, 10.0, 100.0, 1e3, 1e4, 1e5))

    C: float = penalty(1000.0, "misordered pair")
    tolerance: float = closed_gap()
    max_iterations: int = most_iterations(5000)

    def risk(self, sequences: SequenceSet) -> LinearRisk:
        """Return the objective on `sequences`; a cut counts the violated pairs by row of the pool."""
        pairs = GradedPairs(sequences)

        def oracle(scores: Floats) -> Cut:
            counts, violated = pairs.violations(scores)
            return Cut(counts / pairs.number, violated / pairs.number)

        return LinearRisk(Block(sequences.features), self.C, oracle)

    def learn(self, sequences: SequenceSet, on_progress: OnProgress | None) -> Certificate:
        solution = cutting_plane(self.risk(sequences), self.tolerance, self.max_iterations, on_progress)
        self.direction, self.coefficients = solution.weights, solution.coefficients
        return solution.certificate
