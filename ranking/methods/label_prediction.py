"""Predictions of a label ranker: the model of each image's labels, given the answers so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ranking.core import Floats, Ints
from ranking.inference import BestTopKs, TopKMaxMarginals, best_top_ks, top_k_max_marginals

# (M, L): 1 the image has the label, -1 it has not, 0 unanswered
Answers = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class LabelPrediction:
    """The models of M images for given answers, and their solutions."""

    # (M, L)
    unary: Floats
    # (c,)
    core: Ints
    # (c, L)
    interactions: Floats
    # (M,)
    k: Ints
    # (M, L)
    answers: Answers

    @property
    def best(self) -> BestTopKs:
        """The best top k of each image with the answers forced."""
        return best_top_ks(self.unary, self.core, self.interactions, self.k, self.answers)

    @property
    def max_marginals(self) -> TopKMaxMarginals:
        """The best value with each label inside, and with it outside."""
        return top_k_max_marginals(self.unary, self.core, self.interactions, self.k, self.answers)

    @property
    def scores(self) -> Floats:
        """(M, L) inside - outside: labels are ranked by it, the best top k before all others."""
        # Infinite where a label is settled: by its answer, or because the other answers leave no choice.
        return self.max_marginals.difference
