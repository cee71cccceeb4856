"""ListMLE: the Plackett-Luce likelihood of the order (Xia et al. 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numba
import numpy as np

from ranking.core import Floats, SequenceSet
from ranking.inference.graded_pairs import GradedPairs
from ranking.methods.list_wise import ListWise
from ranking.methods.registry import METHODS
from ranking.solvers.smooth import Loss


@numba.njit(cache=True, nogil=True)
def _likelihood(scores, members, starts, lower, slope):  # type: ignore[no-untyped-def]
    """Return the sum over the sequences of their loss, and add its slope in the scores to `slope`."""
    # Sums of exponentials are kept as logarithms: those of the positions from one to the end, and of the
    # inverse denominators over the positions that a sample is compared with. So a sequence takes O(l).
    total = 0.0
    for number in range(len(starts) - 1):
        rows, first_lower = (
            members[starts[number] : starts[number + 1]],
            lower[starts[number] : starts[number + 1]],
        )
        length = len(rows)
        tails = np.full(length + 1, -np.inf)
        for a in range(length - 1, -1, -1):
            tails[a] = np.logaddexp(tails[a + 1], scores[rows[a]])
        # of the positions whose lower grades have begun
        inverse, begun = -np.inf, 0
        for b in range(length):
            while begun < b and first_lower[begun] <= b:
                inverse = np.logaddexp(inverse, -np.logaddexp(scores[rows[begun]], tails[first_lower[begun]]))
                begun += 1
            own = scores[rows[b]]
            denominator = np.logaddexp(own, tails[first_lower[b]])
            total += denominator - own
            slope[rows[b]] += np.exp(own + inverse) + np.exp(own - denominator) - 1.0
    return total


@METHODS.register("ListMLE")
@dataclass(kw_only=True, eq=False)
class ListMLE(ListWise):
    """The negative log likelihood of a sequence: sum_i log( exp s_i + sum over lower grades exp s_j ) - s_i.

    Without equal grades it is Xia et al.'s, section 4.3: the best sample is drawn first, then the second best among
    the rest. Equal grades have no order, so that samples of one grade do not compete with each other.
    """

    order = 28
    summary: ClassVar[str] = (
        "Maximises the likelihood of the true order when images are sampled in turn according to their scores."
    )
    objective: ClassVar[str] = (
        r"\tfrac12\|w\|^2 - \frac Cm\sum_q\sum_i\log\frac{e^{s_i}}{e^{s_i} + \sum_{j:\,y_j < y_i} e^{s_j}}"
    )

    def loss(self, sequences: SequenceSet) -> Loss:
        pairs = GradedPairs(sequences)

        def mean(scores: Floats) -> tuple[float, Floats]:
            slope = np.zeros(len(scores))
            total = _likelihood(scores, pairs.members, pairs.starts, pairs.lower, slope)
            return total / len(sequences), slope / len(sequences)

        return mean
