"""NDCG-SVM: the rank SVM with the NDCG loss."""

from __future__ import annotations

from dataclasses import dataclass

from ranking.methods.registry import METHODS
from ranking.methods.structured_rank_svm import StructuredRankSVM


@METHODS.register("NDCG-SVM")
@dataclass(kw_only=True, eq=False)
class NDCGSVM(StructuredRankSVM):
    """Minimises an upper bound on one minus the NDCG, discount 1/log2(1 + position) (quicksort, eq. 4)."""

    loss = "ndcg"
    order = 2
