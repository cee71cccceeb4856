"""Descending scores by counting, which is faster than comparing them unless a few lie far from all others."""

from __future__ import annotations

import numba as nb
import numpy as np

from ranking.core import Floats, Ints

FEW = 128  # scores: fewer are sorted by comparisons
BITS = 11  # of a digit; a key has two: 4 million bins, so that scores rarely share one
SIZE = 1 << BITS
MOVES = 2  # per score, within bins: with more, comparisons are faster
NARROWEST = 1e-290  # range of scores that bins can divide


def descending(scores: Floats) -> tuple[Ints, Floats]:
    """Return the order of `scores` (n,) from the highest one down, and the scores in that order.

    Equal scores keep their order; scores that are not finite have any.

    >>> descending(np.array([1.0, 3.0, 2.0, 3.0]))
    (array([1, 3, 2, 0]), array([3., 3., 2., 1.]))
    """
    if len(scores) >= FEW:
        order, in_order, is_sorted = _count(scores)
        if is_sorted:
            return order, in_order
    order = np.argsort(-scores, kind="stable")
    return order, scores[order]


@nb.njit(cache=True, nogil=True)
def _count(scores: Floats) -> tuple[Ints, Floats, bool]:
    """Sort by radix: keys number equal bins of the range of scores. Then sort within bins by insertion.

    Returns order, scores and False, with neither of use, where that would take more than MOVES per score.
    """
    n, one, mask, bits = len(scores), np.uint32(1), np.uint32(SIZE - 1), np.uint32(BITS)
    order, in_order = np.empty(n, np.int32), np.empty(n)
    low, high = np.inf, -np.inf
    for score in scores:
        low, high = min(low, score), max(high, score)
    if 0.0 < high - low < NARROWEST:
        return order, in_order, False
    scale = (SIZE * SIZE - 1) / (high - low) if high > low else 0.0
    keys, lower, upper = np.empty(n, np.uint32), np.zeros(SIZE + 1, np.uint32), np.zeros(SIZE + 1, np.uint32)
    for k in range(n):
        keys[k] = np.int32((high - scores[k]) * scale) & (SIZE * SIZE - 1)
    for k in range(n):
        lower[(keys[k] & mask) + one] += one
        upper[(keys[k] >> bits) + one] += one
    for digit in range(1, SIZE + 1):
        lower[digit] += lower[digit - 1]
        upper[digit] += upper[digit - 1]
    by_lower = np.empty(n, np.uint32)
    for k in range(n):
        digit = keys[k] & mask
        by_lower[lower[digit]] = k
        lower[digit] += one
    for k in by_lower:
        digit = keys[k] >> bits
        order[upper[digit]], in_order[upper[digit]] = k, scores[k]
        upper[digit] += one
    moves = MOVES * n
    for k in range(1, n):
        score, number, slot = in_order[k], order[k], k
        while slot and in_order[slot - 1] < score:
            in_order[slot], order[slot] = in_order[slot - 1], order[slot - 1]
            slot -= 1
        in_order[slot], order[slot] = score, number
        moves -= k - slot
        if moves < 0:
            return order, in_order, False
    return order, in_order, True
