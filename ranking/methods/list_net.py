"""ListNet: the probability that each sample ranks first, by grades and by scores (Cao et al. 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numba
import numpy as np

from ranking.core import Floats, SequenceSet
from ranking.methods.list_wise import ListWise
from ranking.methods.registry import METHODS
from ranking.solvers.smooth import Loss


@numba.njit(cache=True, nogil=True)
def _cross_entropy(scores, grades, members, starts, slope):  # type: ignore[no-untyped-def]
    """Return the sum over the sequences of their loss, and add its slope in the scores to `slope`."""
    total = 0.0
    for number in range(len(starts) - 1):
        rows = members[starts[number] : starts[number + 1]]
        highest, best = scores[rows].max(), grades[rows].max()
        mass = worth = 0.0
        for i in rows:
            mass += np.exp(scores[i] - highest)
            worth += np.exp(grades[i] - best)
        for i in rows:
            target = np.exp(grades[i] - best) / worth
            total += target * (np.log(mass) + highest - scores[i])
            slope[i] += np.exp(scores[i] - highest) / mass - target
    return total


@METHODS.register("ListNet")
@dataclass(kw_only=True, eq=False)
class ListNet(ListWise):
    """The top-one cross entropy -sum_i P_y(i) log P_s(i) of the softmax of grades and of scores.

    P_y is the softmax of grades, P_s that of scores.

    This is the loss of Cao et al. with phi = exp and k = 1. If grades differ much, P_y is nearly 1 for the sample with
    the highest grade.
    """

    order = 27
    summary: ClassVar[str] = (
        "Matches the probability that each image ranks first, by score and by grade (cross entropy)."
    )
    objective: ClassVar[str] = (
        r"\tfrac12\|w\|^2 + \frac Cm\sum_q -\sum_i \frac{e^{y_i}}{\sum_j e^{y_j}}\,\log\frac{e^{s_i}}{\sum_j e^{s_j}}"
    )

    def loss(self, sequences: SequenceSet) -> Loss:
        grades = sequences.grades.astype(np.float64)

        def mean(scores: Floats) -> tuple[float, Floats]:
            slope = np.zeros(len(scores))
            total = _cross_entropy(scores, grades, sequences.members, sequences.starts, slope)
            return total / len(sequences), slope / len(sequences)

        return mean
