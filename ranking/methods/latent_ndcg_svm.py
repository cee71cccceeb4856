"""Latent NDCG-SVM: NDCG-SVM for an object in an unknown window (quicksort, sections 4.1 and 6.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ranking.losses import NDCG
from ranking.methods.latent_rank_svm import LatentRankSVM
from ranking.methods.registry import METHODS


@METHODS.register("Latent NDCG-SVM")
@dataclass(kw_only=True, eq=False)
class LatentNDCGSVM(LatentRankSVM):
    """Minimises an upper bound on one minus the NDCG of images ranked by their best windows."""

    summary: ClassVar[str] = (
        "Minimises a bound on 1 − NDCG, and learns which window of an image shows the object."
    )
    objective: ClassVar[str] = (
        r"\tfrac12\|w\|^2 + C\max_R\bigl[\Delta_{\text{NDCG}}(R) - \tfrac1{|\mathcal P||\mathcal N|}"
        r"\textstyle\sum_{ij}(1-R_{ij})(s_i-s_j)\bigr],\quad s_i = \max_h w^\top\varphi_i(h)"
    )
    loss = NDCG()
    order = 41
