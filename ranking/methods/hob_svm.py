"""HOB-SVM: the binary SVM with the similarity graph (high-order, section 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ranking.core import Bools, Floats, OnProgress
from ranking.core.errors import InputError
from ranking.core.settings import GivenSettings, setting
from ranking.inference import AttractivePairs
from ranking.losses.weighted_zero_one import misclassification_costs
from ranking.methods.common_settings import COST, RANKING_UNIT, cost_in, cost_unit, penalty
from ranking.methods.high_order import HighOrderMethod, Neighbours
from ranking.methods.linear import Start
from ranking.methods.registry import METHODS
from ranking.methods.training_set import TrainingSet
from ranking.solvers import Cut, LinearRisk, Solution, block_frank_wolfe, component_planes
from ranking.solvers.relay import Relay

SOLVERS = ("auto", "Frank-Wolfe", "cutting plane")
# samples per component on average; with fewer, Frank-Wolfe steps are cheap and effective
MANY = 2
# After this number of iterations, one-slack cutting planes stop if their relative gap exceeds this value, because the
# next solver is then faster. The steps of Frank-Wolfe on small components are cheaper than component planes.
BEFORE_FRANK_WOLFE, BEFORE_COMPONENT_PLANES = (1, 0.4), (6, 0.9)
# iterations of each first-order solver; a few dozen are enough where it suits
PATIENCE = 100


@METHODS.register("HOB-SVM")
@dataclass(kw_only=True, eq=False)
class HOBSVM(HighOrderMethod):
    """A structured SVM on the weighted 0-1 loss with pairs of similar samples (high-order, eq. 8).

    min 1/2 ||w||^2 + C xi / (4 |P| |N|), w.Psi(X, Y*) - w.Psi(X, Y) >= Delta(Y*, Y) - xi for all Y, w2 <= 0.

    That is eq. 8 with the C of `LinearSVM`; the setting `unit` restores the paper's.

    Delta is the weighted fraction of misclassified samples (eq. 7). The most violated labelling is a minimum cut,
    which decomposes into the connected components of similar samples. Without similar samples this is the SVM.

    With pairs of either sign the maximum over Y may be one over more, half-integral labellings (over-generating,
    Finley and Joachims 2008): xi, and with it the objective, then exceeds that of eq. 8, and the gap is that of the
    larger one.
    """

    order = 3
    summary: ClassVar[str] = (
        "Minimises a bound on the weighted 0-1 loss like SVM, and encourages neighbours to share a label."
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
        help="All find the same optimum. The paper uses one-slack cutting planes; Frank-Wolfe processes one connected "
        "component of similar images at a time. auto starts with cutting planes. If they are slow, it changes to "
        "Frank-Wolfe if most components contain a single image, otherwise to cutting planes for each component. "
        "One-slack cutting planes finish if the other solvers stall, and are the only solver for pairs of either sign "
        "and cliques.",
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
    def objective_of(cls, settings: GivenSettings) -> str:
        return super().objective_of(settings).replace(COST[RANKING_UNIT], COST[settings["unit"]])

    def risk(self, samples: TrainingSet, neighbours: Neighbours | None = None) -> LinearRisk:
        """Return the objective on `samples`, the mean over their queries.

        neighbours: those of `samples`.
        """
        known = neighbours or self.neighbours(samples)
        return self.risk_of(samples, most_violated_labelling(known, costs_of(samples)), known)

    def solve(self, samples: TrainingSet, on_progress: OnProgress | None, start: Start) -> Solution:
        """Minimise by the setting `solver`; of two in turns the later starts from all that is proven."""
        neighbours = self.neighbours(samples)
        risk, costs = self.risk(samples, neighbours), costs_of(samples)
        components = neighbours.potentials.components
        dual = start.dual_within(self.cost(samples.by_query))
        relay = Relay(
            risk,
            self.tolerance,
            self.max_iterations,
            on_progress,
            start.weights,
            dual,
            start.working_set,
            start.coefficients,
        )
        if self.solver == "cutting plane" or self.potentials != AttractivePairs.name:
            return relay.one_slack()
        small = MANY * len(components) > components.samples
        if self.solver == "auto":
            glimpse, near = BEFORE_FRANK_WOLFE if small else BEFORE_COMPONENT_PLANES
            relay.one_slack(PATIENCE, lambda iterations, gap: iterations < glimpse or gap < near)
        if self.solver == "Frank-Wolfe" or small:
            relay.turn(
                lambda left: block_frank_wolfe(
                    risk,
                    samples.relevant,
                    costs,
                    components,
                    self.tolerance,
                    left,
                    relay.report,
                    # not the combination of the planes: it has too few labellings
                    dual,
                    start.weights,
                    coefficients=start.coefficients,
                ),
                PATIENCE if self.solver == "auto" else None,
            )
        if self.solver == "auto":
            relay.turn(
                lambda left: component_planes(
                    risk,
                    costs,
                    components,
                    self.tolerance,
                    left,
                    relay.report,
                    relay.weights,
                    relay.coefficients,
                )
            )
        return relay.one_slack()


def costs_of(samples: TrainingSet) -> Floats:
    """Return (n,) the cost of misclassifying each sample within its query (eq. 7)."""
    return np.concatenate([misclassification_costs(samples.relevant[part]) for part in samples.parts])


def most_violated_labelling(neighbours: Neighbours, costs: Floats) -> Callable[[Floats], Cut]:
    """Return the inference of eq. 8: scores (n + t,) to the labelling minus the true labels, and its loss."""
    potentials, relevant = neighbours
    true = potentials.broken(relevant)

    def oracle(scores: Floats) -> Cut:
        unary, penalty = neighbours.split(scores)
        labels, broken = potentials.best(unary + np.where(relevant, -costs, costs), penalty)
        changed = labels - relevant
        return Cut(np.append(changed, broken - true), float(np.abs(changed) @ costs))

    return oracle
