"""The binary SVM with the weighted 0-1 loss: HOB-SVM without its pairwise part (high-order, eqs. 4, 7, 8)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ranking.core import Bools, Floats, OnProgress
from ranking.core.settings import GivenSettings, setting
from ranking.losses.weighted_zero_one import misclassification_costs
from ranking.methods.common_settings import COST, RANKING_UNIT, cost_in, cost_unit, penalty
from ranking.methods.linear import Start, UnaryMethod
from ranking.methods.registry import METHODS
from ranking.methods.training_set import TrainingSet
from ranking.solvers import Cut, Solution, coordinate_descent
from ranking.solvers.relay import Relay

SOLVERS = ("auto", "coordinate descent", "cutting plane")
# rounds of coordinate descent, which needs either a few dozen or thousands
PATIENCE = 300


@METHODS.register("SVM")
@dataclass(kw_only=True, eq=False)
class LinearSVM(UnaryMethod):
    """A structured SVM on the weighted 0-1 loss, without pairs (high-order, eqs. 4, 7 and 8).

    min 1/2 ||w||^2 + C xi / (4 |P| |N|), w.Psi(X, Y*) - w.Psi(X, Y) >= Delta(Y*, Y) - xi for all labellings
    Y.

    w has a row for each class and Psi sums the features of each class (eq. 4); Delta is the weighted fraction of
    misclassified samples with J = |N|/|P| (eq. 7). At the optimum the rows are opposite, w = (v, -v)/sqrt 2, and the
    maximum over labellings decomposes:

        1/2 ||v||^2 + C / (4 |P| |N|) sum_i max(0, cost_i - y_i sqrt 2 v.x_i),   cost_i = 1/(2|P|) or 1/(2|N|).

    The paper uses C without a factor. Here C is divided by 4 |P| |N|, so that the same values suit this loss and a
    ranking loss for any number of samples; the setting `unit` restores the paper's C.
    """

    order = 0
    summary: ClassVar[str] = (
        "Minimises a bound on the weighted 0-1 loss, in which both classes have the same weight."
    )
    objective: ClassVar[str] = (
        rf"\tfrac12\|w\|^2 + {COST[RANKING_UNIT]}"
        r"\max_Y\bigl[\Delta_{0/1}(Y) - w^\top(\Psi(Y^*)-\Psi(Y))\bigr]"
    )
    scale: ClassVar[float] = math.sqrt(2.0)

    C: float = penalty(1000.0, "misclassified image")

    unit: str = cost_unit("C")

    solver: str = setting(
        "auto",
        label="Solver",
        help="Both find the same optimum. Coordinate descent is fast if the classes are separable or C is small; the "
        "paper uses one-slack cutting planes. auto starts with coordinate descent and changes to cutting planes if it "
        "takes too long.",
        formula=r"\min_w\,\text{primal}(w) = \max_\alpha\,\text{dual}(\alpha)",
        choices=SOLVERS,
        advanced=True,
    )

    def cost(self, queries: Sequence[Bools]) -> float:
        return cost_in(self.unit, self.C, queries)

    @classmethod
    def objective_of(cls, settings: GivenSettings) -> str:
        return cls.objective.replace(COST[RANKING_UNIT], COST[settings["unit"]])

    @property
    def weights(self) -> Floats:
        """(2, d): row 0 the relevant class, row 1 the other (eq. 4).

        Scores are the difference of their products.
        """
        direction = self._fitted().weights / math.sqrt(2.0)
        return np.stack([direction, -direction])

    @property
    def sharded(self) -> bool:
        return self.solver != "coordinate descent"

    def cut(self, scores: Floats, relevant: Bools) -> Cut:
        labels, costs = np.where(relevant, 1.0, -1.0), misclassification_costs(relevant)
        wrong = costs - labels * scores > 0
        return Cut(np.where(wrong, -labels, 0.0), float(costs[wrong].sum()))

    def solve(self, samples: TrainingSet, on_progress: OnProgress | None, start: Start) -> Solution:
        """Minimise by the setting `solver`.

        Coordinate descent can only start from a run on the same samples.
        """
        risk = self.risk(samples)
        relay = Relay(
            risk,
            self.tolerance,
            self.max_iterations,
            on_progress,
            start.weights,
            planes=start.working_set,
            coefficients=start.coefficients,
        )
        if self.solver == "cutting plane":
            return relay.one_slack()
        costs = np.concatenate([misclassification_costs(samples.relevant[part]) for part in samples.parts])
        labels = np.where(samples.relevant, 1.0, -1.0)
        dual = None if start.solution is None else start.solution.dual
        relay.turn(
            lambda left: coordinate_descent(risk, labels, costs, self.tolerance, left, relay.report, dual),
            None if self.solver == "coordinate descent" else PATIENCE,
        )
        return relay.one_slack()
