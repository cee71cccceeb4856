"""HOB-SVM: the binary SVM whose samples lean on their neighbours (high-order, section 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ranking.errors import InputError
from ranking.first_settings import RANKING_UNIT
from ranking.inference import AttractivePairs
from ranking.losses.weighted_zero_one import misclassification_costs
from ranking.methods.common_settings import COST, cost_in, cost_unit, penalty
from ranking.methods.high_order import HighOrderMethod, Neighbours
from ranking.methods.linear import Start
from ranking.methods.registry import METHODS
from ranking.methods.training_set import TrainingSet
from ranking.optimise import Cut, LinearRisk, Solution, block_frank_wolfe, cutting_plane
from ranking.optimise.polish import Onward, polished
from ranking.settings import setting
from ranking.types import Bools, Floats, OnProgress

SOLVERS = ("auto", "Frank-Wolfe", "cutting plane")
PATIENCE = 300  # rounds of Frank-Wolfe, which takes a few dozen where it is the right solver


@METHODS.register("HOB-SVM")
@dataclass(kw_only=True, eq=False)
class HOBSVM(HighOrderMethod):
    """min 1/2 ||w||^2 + C xi / (4 |P| |N|),  w.Psi(X, Y*) - w.Psi(X, Y) >= Delta(Y*, Y) - xi for all Y,  w2 <= 0.

    That is eq. 8 with the C of `SVM`; the setting `unit` brings the paper's back.

    Delta is the weighted fraction of misclassified samples (eq. 7). The most violated labelling is a minimum cut,
    which falls into the connected components of similar samples. Without similar samples this is the SVM.

    With pairs of either sign the maximum over Y may be one over more, half-integral labellings (over-generating, Finley
    and Joachims 2008): xi, and with it the objective, then lies above that of eq. 8, and the gap is that of the higher
    one.
    """

    order = 3
    summary: ClassVar[str] = (
        "Counts misclassified images as the SVM does, and lets similar images share their label."
    )
    objective: ClassVar[str] = (
        rf"\tfrac12\|w\|^2 + {COST[RANKING_UNIT]}"
        r"\max_Y\bigl[\Delta_{0/1}(Y) - w^\top(\Psi(Y^*)-\Psi(Y))\bigr],\quad " + AttractivePairs.constraint
    )

    C: float = penalty(1000.0, "misclassified image")

    unit: str = cost_unit("C")

    solver: str = setting(
        "auto",
        label="Solver",
        help="All end at the same optimum. Frank-Wolfe goes over the groups of similar images one by one; one-slack "
        "cutting planes are what the paper uses. auto begins with the first and goes on with the second where that "
        "takes long. Only the second knows other than attractive pairs.",
        formula=r"\min_w\,\text{primal}(w) = \max_\alpha\,\text{dual}(\alpha)",
        choices=SOLVERS,
        advanced=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.solver == "Frank-Wolfe" and self.potentials != AttractivePairs.name:
            raise InputError(
                f"{self.name}: potentials",
                f"{AttractivePairs.name} with the solver Frank-Wolfe",
                self.potentials,
                "choose the solver auto or cutting plane",
            )

    def cost(self, queries: Sequence[Bools]) -> float:
        return cost_in(self.unit, self.C, queries)

    @classmethod
    def objective_of(cls, settings: Mapping[str, Any]) -> str:
        return super().objective_of(settings).replace(COST[RANKING_UNIT], COST[settings["unit"]])

    def risk(self, samples: TrainingSet, neighbours: Neighbours | None = None) -> LinearRisk:
        """The objective on `samples`, the mean over their queries. neighbours: those of `samples`."""
        known = neighbours or self.neighbours(samples)
        return self.risk_of(samples, most_violated_labelling(known, costs_of(samples)), known)

    def solve(self, samples: TrainingSet, on_progress: OnProgress | None, start: Start) -> Solution:
        """Frank-Wolfe works on the dual, so it can begin only where the same samples were solved before."""
        neighbours = self.neighbours(samples)
        risk = self.risk(samples, neighbours)
        if self.solver == "cutting plane" or self.potentials != AttractivePairs.name:
            return cutting_plane(
                risk, self.tolerance, self.max_iterations, on_progress, start.weights, start.working_set
            )
        rounds = self.max_iterations if self.solver == "Frank-Wolfe" else min(PATIENCE, self.max_iterations)
        onward = Onward(on_progress)
        first = block_frank_wolfe(
            risk,
            samples.relevant,
            costs_of(samples),
            neighbours.potentials.components,
            self.tolerance,
            rounds,
            onward,
            start.dual_within(self.cost(samples.by_query)),
            start.weights,
        )
        return (
            first
            if self.solver == "Frank-Wolfe"
            else polished(risk, first, self.tolerance, self.max_iterations, onward)
        )


def costs_of(samples: TrainingSet) -> Floats:
    """(n,) what misclassifying each sample costs within its query (eq. 7)."""
    return np.concatenate([misclassification_costs(samples.relevant[part]) for part in samples.parts])


def most_violated_labelling(neighbours: Neighbours, costs: Floats) -> Callable[[Floats], Cut]:
    """Loss-augmented inference of eq. 8: scores (n + t,) to the labelling's changes from the truth, and its loss."""
    potentials, relevant = neighbours
    true = potentials.broken(relevant)

    def oracle(scores: Floats) -> Cut:
        unary, penalty = neighbours.split(scores)
        labels, broken = potentials.best(unary + np.where(relevant, -costs, costs), penalty)
        changed = labels - relevant
        return Cut(np.append(changed, broken - true), float(np.abs(changed) @ costs))

    return oracle
