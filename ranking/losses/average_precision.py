"""The average precision loss (quicksort, section 2.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranking.core import Floats
from ranking.losses.base import RankingLoss
from ranking.losses.registry import LOSSES


@LOSSES.register("ap")
@dataclass(frozen=True)
class AveragePrecision(RankingLoss):
    """1 - AP: gain i/|P| at discount 1/position.

    The worked example of section 2.2, relevant samples at positions 1, 2, 4 and 6:

    >>> round(AveragePrecision().of_positions(np.array([1.0, 2, 4, 6])), 3)
    0.146
    """

    order = 0
    measure = "AP"
    # Proposition 5
    unimodal = True

    def gains(self, positives: int) -> Floats:
        return np.arange(1, positives + 1) / positives

    def discount(self, positions: Floats) -> Floats:
        return 1.0 / positions

    def steps(self, n: int) -> Floats:
        m = np.arange(1, n + 1, dtype=np.float64)
        return 1.0 / (m * (m + 1.0))
