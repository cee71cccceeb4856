"""Independent p@k: labels are scored independently (c-star, section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ranking.core import LabelSet
from ranking.methods.label_ranker import LabelRanker
from ranking.methods.registry import METHODS


@METHODS.register("Independent p@k")
@dataclass(kw_only=True, eq=False)
class IndependentPrecisionAtK(LabelRanker):
    """The structured SVM on precision at k without interactions: f(x, t) = t's (c-star, eq. 6 with F = 0).

    It is `CStarPrecisionAtK` with an empty core.
    """

    order = 20
    summary: ClassVar[str] = "Ranks the labels of an image by independent scores."
    objective: ClassVar[str] = (
        r"\tfrac12\|w\|^2 + \tfrac CM\sum_m\bigl[\max_t \Delta(t, z_m) + t^\top s(x_m) - \tilde t_m^\top s(x_m)\bigr]"
    )

    def choose_core(self, label_set: LabelSet) -> list[int]:
        return []
