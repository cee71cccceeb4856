"""NDCG-SVM: the rank SVM with the NDCG loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ranking.losses import NDCG
from ranking.methods.registry import METHODS
from ranking.methods.structured_rank_svm import StructuredRankSVM


@METHODS.register("NDCG-SVM")
@dataclass(kw_only=True, eq=False)
class NDCGSVM(StructuredRankSVM):
    """Minimises an upper bound on one minus the NDCG, discount 1/log2(1 + position) (quicksort, eq. 4)."""

    summary: ClassVar[str] = (
        "Minimises a bound on 1 − NDCG: the weight of a rank decreases slowly from the top."
    )
    objective: ClassVar[str] = (
        r"\tfrac12\|w\|^2 + C\max_R\bigl[\Delta_{\text{NDCG}}(R) - w^\top(\Psi(R^*)-\Psi(R))\bigr]"
    )
    loss = NDCG()
    order = 5
