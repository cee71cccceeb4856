"""McRank: the grade as one of several classes, by boosting; expected grades rank (Li, Wu and Burges 2007)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ranking.core import Floats, Ints, SequenceSet
from ranking.core.errors import InputError
from ranking.methods.boosted import Boosted, Boosting
from ranking.methods.order_method import Arrays
from ranking.methods.registry import METHODS

# per training run: each has a tree in every round
MAX_GRADES = 256


@METHODS.register("McRank")
@dataclass(kw_only=True, eq=False)
class McRank(Boosted):
    """Scores are sum_k p_k(x) k, the expected grade, p the softmax of K sums of trees, one per grade k.

    The trees are those of LightGBM's multiclass, which follow the gradient of -log p_(y_i)(x_i) and its curvature
    K/(K - 1) p (1 - p) (sections 4 and 5 of the paper). The weight of a sample is how often it is in sequences. Grades
    that occur in no sequence are not learned.
    """

    order = 21
    summary: ClassVar[str] = "Classifies grades with boosted trees and ranks images by their expected grade."
    objective: ClassVar[str] = r"\sum_i -\log p_{y_i}(x_i),\quad s = \sum_k k\,p_k(x)"

    # of the outputs
    grades: Floats = field(default_factory=lambda: np.zeros(0), init=False, repr=False)

    def boosting(self, sequences: SequenceSet, rows: Ints) -> Boosting:
        levels, classes = np.unique(sequences.grades[rows], return_inverse=True)
        if len(levels) > MAX_GRADES:
            raise InputError(
                "grades",
                f"at most {MAX_GRADES} different grades, because McRank treats them as classes",
                len(levels),
                "use coarser grades, or another method",
            )
        self.grades = levels.astype(np.float64)
        counts = np.bincount(sequences.members, minlength=len(sequences.features))[rows]
        dataset_arguments = {
            "label": classes,
            "weight": counts / counts.mean(),
            # all grades are equally probable
            "init_score": np.zeros((len(rows), len(levels))),
        }
        options = {"objective": "multiclass", "num_class": len(levels), "metric": "multi_logloss"}
        return Boosting(options, dataset_arguments, None, lambda booster: float(booster.eval_train()[0][2]))

    def scores_of(self, features: Floats) -> Floats:
        # also of no samples
        chances = self.outputs(features).reshape(-1, len(self.grades))
        scores: Floats = chances @ self.grades
        return scores

    def arrays(self) -> Arrays:
        return {**super().arrays(), "grades": self.grades}

    def restore(self, arrays: Arrays) -> None:
        super().restore(arrays)
        self.grades = np.asarray(arrays["grades"], np.float64)
        if self.grades.shape != (self.booster.num_model_per_iteration(),):
            raise InputError("grades", "one per class of the trees", self.grades.shape)
