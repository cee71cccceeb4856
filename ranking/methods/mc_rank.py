"""McRank: the grade as one of several classes, by boosting; expected grades rank (Li, Wu and Burges 2007)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ranking.core import Floats, Ints, SequenceSet
from ranking.core.errors import InputError
from ranking.methods.boosted import Boosted, BoostedLoss
from ranking.methods.order_method import Arrays
from ranking.methods.registry import METHODS

MOST_GRADES = 256  # in one training: each has a tree in every round


@METHODS.register("McRank")
@dataclass(kw_only=True, eq=False)
class McRank(Boosted):
    """Scores are sum_k p_k(x) k, the expected grade, p the softmax of K sums of trees, one a grade k.

    The trees follow the gradient of -log p_(y_i)(x_i), and its curvature K/(K - 1) p (1 - p) (their sections 4 and 5).
    A sample weighs as much as it stands in sequences. Grades that no sequence has are not learnt.
    """

    order = 21
    summary: ClassVar[str] = (
        "Tells grades apart as classes, with trees; images go by the grade expected of them."
    )
    objective: ClassVar[str] = r"\sum_i -\log p_{y_i}(x_i),\quad s = \sum_k k\,p_k(x)"

    grades: Floats = field(default_factory=lambda: np.zeros(0), init=False, repr=False)  # of the outputs

    def loss(self, sequences: SequenceSet, rows: Ints) -> tuple[int, BoostedLoss]:
        levels, classes = np.unique(sequences.grades[rows], return_inverse=True)
        if len(levels) > MOST_GRADES:
            raise InputError(
                "grades",
                f"at most {MOST_GRADES} different grades, because McRank holds them for classes",
                len(levels),
                "use coarser grades, or another method",
            )
        self.grades = levels.astype(np.float64)
        counts = np.bincount(sequences.members, minlength=len(sequences.features))[rows]
        weights = (counts / counts.mean())[:, None]
        wanted = np.zeros((len(rows), len(levels)))
        wanted[np.arange(len(rows)), classes] = 1.0
        factor = len(levels) / (len(levels) - 1)

        def cross_entropy(sums: Floats) -> tuple[float, Floats, Floats]:
            chances = _softmax(sums)
            value = -float((weights * wanted * np.log(np.maximum(chances, 1e-300))).sum()) / len(rows)
            return value, weights * (chances - wanted), factor * weights * chances * (1.0 - chances)

        return len(levels), cross_entropy

    def scores_of(self, features: Floats) -> Floats:
        scores: Floats = _softmax(self.forest.sums(features, len(self.grades))) @ self.grades
        return scores

    def arrays(self) -> Arrays:
        return {**super().arrays(), "grades": self.grades}

    def restore(self, arrays: Arrays) -> None:
        super().restore(arrays)
        self.grades = np.asarray(arrays["grades"], np.float64)
        if self.grades.ndim != 1 or self.forest.outputs.max(initial=0) >= len(self.grades):
            raise InputError("grades", "one per output of the trees", len(np.atleast_1d(self.grades)))


def _softmax(sums: Floats) -> Floats:
    powers = np.exp(sums - sums.max(axis=1, keepdims=True))
    chances: Floats = powers / powers.sum(axis=1, keepdims=True)
    return chances
