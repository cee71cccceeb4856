"""The NDCG loss with the convex discount 1/log2(1 + position) (quicksort, section 2.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranking.core import Floats
from ranking.losses.base import RankingLoss
from ranking.losses.registry import LOSSES


@LOSSES.register("ndcg")
@dataclass(frozen=True)
class NDCG(RankingLoss):
    """1 - NDCG for relevant and irrelevant samples: every relevant one gains the same.

    The worked example of section 2.2, relevant samples at positions 1, 2, 4 and 6:

    >>> round(NDCG().of_positions(np.array([1.0, 2, 4, 6])), 3)
    0.056
    """

    order = 1
    measure = "NDCG"

    def gains(self, positives: int) -> Floats:
        ideal = self.discount(np.arange(1, positives + 1, dtype=np.float64)).sum()
        return np.full(positives, 1.0 / ideal)

    def discount(self, positions: Floats) -> Floats:
        values: Floats = 1.0 / np.log2(1.0 + positions)
        return values

    def steps(self, n: int) -> Floats:
        # log(m + 2) - log(m + 1) = log1p(1 / (m + 1)): the plain difference would cancel at large m.
        m = np.arange(1, n + 1, dtype=np.float64)
        steps: Floats = np.log1p(1.0 / (m + 1.0)) * np.log(2.0) / (np.log1p(m) * np.log1p(m + 1.0))
        return steps
