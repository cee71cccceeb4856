"""Latent structured rank SVMs, for any loss that has inference (Behl, Jawahar and Kumar 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ranking.core import Bools, Floats
from ranking.losses import RankingLoss
from ranking.methods.bag_method import BagMethod
from ranking.methods.common_settings import inference_algorithm
from ranking.methods.oracles import ranking_cut
from ranking.solvers import Cut


@dataclass(kw_only=True, eq=False)
class LatentRankSVM(BagMethod):
    """min 1/2 ||w||^2 + C max_R [Delta(R*, R) - 1/(|P| |N|) sum_ij (1 - R_ij) (s_i(w) - s_j(w))].

    s_i(w) is the score of the best window of image i. Inference is the ordinary most violated ranking of these scores
    (quicksort, eq. 5), because an image takes its best window whatever the ranking is (`solvers.bag_risk`).
    """

    loss: ClassVar[RankingLoss]

    algorithm: str = inference_algorithm()

    def cut(self, scores: Floats, relevant: Bools) -> Cut:
        return ranking_cut(scores, relevant, self.loss, self.algorithm)
