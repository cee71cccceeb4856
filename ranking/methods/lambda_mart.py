"""LambdaMART: boosted trees along the lambdas of NDCG (Wu, Burges, Svore and Gao 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numba
import numpy as np

from ranking.core import Floats, Ints, SequenceSet
from ranking.methods.boosted import Boosted, Boosting
from ranking.methods.gains import gain_setting, gains_of
from ranking.methods.registry import METHODS

# positions: pairs of samples below it have no lambda, as in LightGBM
TRUNCATION = 30
# added to a difference of scores that divides a lambda, as in LightGBM
NEAR = 0.01


@numba.njit(cache=True, nogil=True)
def _from_top(values, order):  # type: ignore[no-untyped-def]
    """Write to `order` the indices of `values` from the highest down, equal ones in input order."""
    for position in range(len(values)):
        slot = position
        while slot > 0 and values[order[slot - 1]] < values[position]:
            order[slot] = order[slot - 1]
            slot -= 1
        order[slot] = position


@numba.njit(cache=True, nogil=True)
def _dcg(gains, order):  # type: ignore[no-untyped-def]
    """Return the DCG of the first TRUNCATION positions."""
    total = 0.0
    for position in range(min(len(order), TRUNCATION)):
        total += gains[order[position]] / np.log2(2.0 + position)
    return total


@numba.njit(cache=True, nogil=True)
def _pull(scores, gains, order, best, slopes, bends):  # type: ignore[no-untyped-def]
    """Add a sequence's lambdas to slopes (l,), their curvatures to bends; return the sum of their sizes."""
    size, last = 0.0, len(order) - 1
    spread = scores[order[0]] > scores[order[last]]
    for x in range(min(last, TRUNCATION)):
        for y in range(x + 1, last + 1):
            high, low = order[x], order[y]
            if gains[high] == gains[low]:
                continue
            if gains[high] < gains[low]:
                high, low = low, high
            lead = scores[high] - scores[low]
            change = (1.0 / np.log2(2.0 + x) - 1.0 / np.log2(2.0 + y)) * (gains[high] - gains[low]) / best
            if spread:
                change /= NEAR + abs(lead)
            chance = 1.0 / (1.0 + np.exp(lead))
            slopes[high] -= change * chance
            slopes[low] += change * chance
            bends[high] += change * chance * (1.0 - chance)
            bends[low] += change * chance * (1.0 - chance)
            size += 2.0 * change * chance
    return size


@numba.njit(cache=True, nogil=True)
def _lambdas(scores, gains, members, starts, gradient, curvature):  # type: ignore[no-untyped-def]
    """Add up the lambdas and their curvatures by row (n,); return the sum over the sequences of 1 - NDCG."""
    # LightGBM's LambdarankNDCG::GetGradientsForOneQuery, with its normalisations.
    lost = 0.0
    for number in range(len(starts) - 1):
        first, length = starts[number], starts[number + 1] - starts[number]
        own, worth, order = np.empty(length), np.empty(length), np.empty(length, np.int64)
        for position in range(length):
            own[position], worth[position] = (
                scores[members[first + position]],
                gains[members[first + position]],
            )
        _from_top(worth, order)
        best = _dcg(worth, order)
        if best <= 0.0:
            continue
        _from_top(own, order)
        lost += 1.0 - _dcg(worth, order) / best
        slopes, bends = np.zeros(length), np.zeros(length)
        size = _pull(own, worth, order, best, slopes, bends)
        factor = np.log2(1.0 + size) / size if size > 0.0 else 0.0
        for position in range(length):
            gradient[members[first + position]] += factor * slopes[position]
            curvature[members[first + position]] += factor * bends[position]
    return lost


@METHODS.register("LambdaMART")
@dataclass(kw_only=True, eq=False)
class LambdaMART(Boosted):
    """Scores are sums of trees.

    A pair pulls its samples apart by |change of NDCG at a swap| / (1 + exp(s_i - s_j)). The lambdas are those
    of LightGBM's lambdarank. They are summed by sample of the pool, so that a tree uses each sample once,
    however many sequences contain it; if each is in one sequence, the trees are those of LightGBM.
    """

    order = 26
    summary: ClassVar[str] = "Boosted trees; each pair is weighted by how much swapping it would change NDCG."
    objective: ClassVar[str] = (
        r"\lambda_{ij} = \frac{|\Delta\text{NDCG}_{ij}|}{1 + e^{s_i - s_j}},\quad y_i > y_j"
    )

    gain: str = gain_setting()

    def boosting(self, sequences: SequenceSet, rows: Ints) -> Boosting:
        row_of = np.zeros(len(sequences.features), np.int64)
        row_of[rows] = np.arange(len(rows))
        members, gains = row_of[sequences.members], gains_of(sequences.grades[rows], self.gain)
        loss = 0.0

        def lambdas(sums: Floats, _: object) -> tuple[Floats, Floats]:
            nonlocal loss
            gradient, curvature = np.zeros(len(rows)), np.zeros(len(rows))
            loss = _lambdas(sums, gains, members, sequences.starts, gradient, curvature) / len(sequences)
            return gradient, curvature

        return Boosting({"objective": "none"}, {"label": np.zeros(len(rows))}, lambdas, lambda _: loss)

    def scores_of(self, features: Floats) -> Floats:
        return self.outputs(features)
