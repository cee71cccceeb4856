"""C-star p@k: core labels interact with each other and with all other labels (c-star, sections 4 and 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ranking.core import LabelSet
from ranking.core.settings import setting
from ranking.methods.core_labels import core_labels
from ranking.methods.label_ranker import LabelRanker
from ranking.methods.registry import METHODS


@METHODS.register("C-star p@k")
@dataclass(kw_only=True, eq=False)
class CStarPrecisionAtK(LabelRanker):
    """The structured SVM on precision at k with f(x, t) = t's + t'Ft (c-star, eq. 6).

    F is symmetric with a zero diagonal, and zero outside the rows and columns of the core, which is chosen by joint
    mutual information. t'Ft runs over ordered pairs, so a pair in the top k counts twice, and eq. 9's 1/2 follows.
    """

    order = 21
    summary: ClassVar[str] = "Ranks the labels of an image; a few core labels attract or repel all others."
    objective: ClassVar[str] = (
        r"\tfrac12\|w\|^2 + \tfrac CM\sum_m\bigl[\max_t \Delta(t, z_m) + f(x_m, t) - f(x_m, \tilde t_m)\bigr],"
        r"\quad f = t^\top s + t^\top F t"
    )

    core_size: int = setting(
        5,
        label="Core labels",
        help="They interact with each other and with all other labels. Each doubles the time. 0: no interactions.",
        formula=r"O(2^C (L + k \log k))",
        minimum=0,
        maximum=12,
    )

    def choose_core(self, label_set: LabelSet) -> list[int]:
        """Return `core_size` labels; all labels where there are fewer."""
        return core_labels(label_set.labels, min(self.core_size, len(label_set.names)))
