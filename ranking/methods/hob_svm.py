"""HOB-SVM: the binary SVM whose samples lean on their neighbours (high-order, section 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ranking.inference import best_labelling
from ranking.losses.weighted_zero_one import misclassification_costs
from ranking.methods.high_order import HighOrderMethod, Neighbours
from ranking.methods.linear import Start, penalty
from ranking.methods.registry import METHODS
from ranking.methods.training_set import TrainingSet
from ranking.optimise import Cut, LinearRisk, Solution, cutting_plane
from ranking.types import Bools, Floats, Ints, OnProgress


@METHODS.register("HOB-SVM")
@dataclass(kw_only=True, eq=False)
class HOBSVM(HighOrderMethod):
    """min 1/2 ||w||^2 + C xi,  w.Psi(X, Y*) - w.Psi(X, Y) >= Delta(Y*, Y) - xi for all Y,  w2 <= 0 (eq. 8).

    Delta is the weighted fraction of misclassified samples (eq. 7). The most violated labelling is a minimum cut,
    which falls into the connected components of similar samples. Without similar samples this is the SVM.
    """

    order = 3
    summary: ClassVar[str] = (
        "Counts misclassified images as the SVM does, and lets similar images share their label."
    )
    objective: ClassVar[str] = (
        r"\tfrac12\|w\|^2 + C\max_Y\bigl[\Delta_{0/1}(Y) - w^\top(\Psi(Y^*)-\Psi(Y))\bigr],\quad w_2 \le 0"
    )

    C: float = penalty(0.1, "misclassified image")

    def risk(self, samples: TrainingSet) -> LinearRisk:
        """The objective on `samples`, the mean over their queries."""
        costs = np.concatenate([misclassification_costs(samples.relevant[part]) for part in samples.parts])
        return self.risk_of(samples, most_violated_labelling(self.neighbours(samples), costs))

    def solve(self, samples: TrainingSet, on_progress: OnProgress | None, start: Start) -> Solution:
        return cutting_plane(
            self.risk(samples),
            self.tolerance,
            self.max_iterations,
            on_progress,
            start.weights,
            start.working_set,
        )


def most_violated_labelling(neighbours: Neighbours, costs: Floats) -> Callable[[Floats], Cut]:
    """Loss-augmented inference of eq. 8: scores (n + m,) to the labelling's changes from the truth, and its loss."""
    edges, components, relevant = neighbours

    def oracle(scores: Floats) -> Cut:
        unary, penalty = neighbours.split(scores)
        labels, _ = best_labelling(unary + np.where(relevant, -costs, costs), edges, penalty, components)
        changed = labels.astype(np.float64) - relevant
        return Cut(
            np.append(changed, cut_edges(labels, edges) - cut_edges(relevant, edges)), _loss(changed, costs)
        )

    return oracle


def cut_edges(labels: Bools, edges: Ints) -> Floats:
    """(m,) 1 where the ends of an edge differ in their label, else 0."""
    differs: Bools = labels[edges[:, 0]] != labels[edges[:, 1]]
    return differs.astype(np.float64)


def _loss(changed: Floats, costs: Floats) -> float:
    return float(np.abs(changed) @ costs)
