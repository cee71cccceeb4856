"""Latent AP-SVM: AP-SVM for images that show an object in an unknown window (quicksort, section 6.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ranking.losses import AveragePrecision
from ranking.methods.latent_rank_svm import LatentRankSVM
from ranking.methods.registry import METHODS


@METHODS.register("Latent AP-SVM")
@dataclass(kw_only=True, eq=False)
class LatentAPSVM(LatentRankSVM):
    """Minimises an upper bound on one minus the average precision of images ranked by their best windows."""

    summary: ClassVar[str] = (
        "Minimises a bound on 1 − average precision, and learns which window of an image shows the object."
    )
    objective: ClassVar[str] = (
        r"\tfrac12\|w\|^2 + C\max_R\bigl[\Delta_{\text{AP}}(R) - \tfrac1{|\mathcal P||\mathcal N|}"
        r"\textstyle\sum_{ij}(1-R_{ij})(s_i-s_j)\bigr],\quad s_i = \max_h w^\top\varphi_i(h)"
    )
    loss = AveragePrecision()
    order = 40
