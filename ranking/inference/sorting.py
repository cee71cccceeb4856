"""Descending scores by counting, which is faster than comparing them unless a few lie far from all others."""

from __future__ import annotations

import numba as nb
import numpy as np

from ranking.core import Floats, Ints

# scores: fewer are sorted by insertion only
FEW = 64
# of a digit; a key has two: 4 million bins, so that scores rarely share one
BITS = 11
SIZE = 1 << BITS
# per score, within bins: with more, comparisons are faster
MOVES = 2
# range of scores that bins can divide
NARROWEST = 1e-290


@nb.njit(cache=True, nogil=True)
def sort_descending(scores: Floats, order: Ints, in_order: Floats) -> None:
    """Write the order of `scores` (n,) from the highest one down, and the scores in that order.

    >>> scores, order, in_order = np.array([1.0, 3.0, 2.0, 3.0]), np.empty(4, np.int32), np.empty(4)
    >>> sort_descending(scores, order, in_order)
    >>> order, in_order
    (array([1, 3, 2, 0], dtype=int32), array([3., 3., 2., 1.]))
    """
    # Equal scores keep their order. Scores that are not finite have any order. It returns no arrays, because
    # Numba 0.68 cannot give them to Python if it loads both this kernel and one that calls it from their
    # caches.
    n = len(scores)
    if n < FEW:
        order[:], in_order[:] = np.arange(n), scores
        is_sorted = _insert(order, in_order, n * n)
    else:
        is_sorted = _count(scores, order, in_order) and _insert(order, in_order, MOVES * n)
    if not is_sorted:
        order[:] = np.argsort(-scores, kind="mergesort")
        in_order[:] = scores[order]


@nb.njit(cache=True, nogil=True)
def _count(scores: Floats, order: Ints, in_order: Floats) -> bool:
    """Sort by radix: the key of a score is the number of its bin, of equal width over the range of scores."""
    # Scores in one bin keep their order. Returns False where the range is too narrow for bins.
    one, mask, bits = np.uint32(1), np.uint32(SIZE - 1), np.uint32(BITS)
    low, high = np.inf, -np.inf
    for score in scores:
        low, high = min(low, score), max(high, score)
    if 0.0 < high - low < NARROWEST:
        return False
    scale = (SIZE * SIZE - 1) / (high - low) if high > low else 0.0
    keys = np.empty(len(scores), np.uint32)
    for k in range(len(scores)):
        keys[k] = np.int32((high - scores[k]) * scale) & (SIZE * SIZE - 1)
    lower, upper = np.zeros(SIZE + 1, np.uint32), np.zeros(SIZE + 1, np.uint32)
    for key in keys:
        lower[(key & mask) + one] += one
        upper[(key >> bits) + one] += one
    for b in range(1, SIZE + 1):
        lower[b] += lower[b - 1]
        upper[b] += upper[b - 1]
    by_lower = np.empty(len(scores), np.uint32)
    for k in range(len(scores)):
        digit = keys[k] & mask
        by_lower[lower[digit]] = k
        lower[digit] += one
    for sample in by_lower:
        digit = keys[sample] >> bits
        order[upper[digit]], in_order[upper[digit]] = sample, scores[sample]
        upper[digit] += one
    return True


@nb.njit(cache=True, nogil=True)
def _insert(order: Ints, in_order: Floats, moves: int) -> bool:
    """Sort by insertion; return False where that takes more moves, with neither array of use."""
    for k in range(1, len(order)):
        score, number, slot = in_order[k], order[k], k
        while slot and in_order[slot - 1] < score:
            in_order[slot], order[slot] = in_order[slot - 1], order[slot - 1]
            slot -= 1
        in_order[slot], order[slot] = score, number
        moves -= k - slot
        if moves < 0:
            return False
    return True
