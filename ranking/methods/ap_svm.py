"""AP-SVM: the rank SVM with the average precision loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ranking.losses import AveragePrecision
from ranking.methods.registry import METHODS
from ranking.methods.structured_rank_svm import StructuredRankSVM


@METHODS.register("AP-SVM")
@dataclass(kw_only=True, eq=False)
class APSVM(StructuredRankSVM):
    """Minimises an upper bound on one minus the average precision (high-order, eq. 3; quicksort, eq. 4)."""

    summary: ClassVar[str] = "Minimises a bound on 1 − average precision: the top ranks matter most."
    objective: ClassVar[str] = (
        r"\tfrac12\|w\|^2 + C\max_R\bigl[\Delta_{\text{AP}}(R) - w^\top(\Psi(R^*)-\Psi(R))\bigr]"
    )
    loss = AveragePrecision()
    order = 1
