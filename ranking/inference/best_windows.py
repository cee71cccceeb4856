"""The best windows of images: what a latent method completes its labels with (quicksort, section 6.2)."""

from __future__ import annotations

import numpy as np

from ranking.core import Floats, Ints


def best_windows(scores: Floats, starts: Ints) -> Ints:
    """Return (n,) the row of the highest score of each image, the first of equal ones.

    >>> best_windows(np.array([1.0, 3.0, 3.0, 0.0]), np.array([0, 3, 4]))
    array([1, 3])
    """
    # scores: (rows,), image after image; those of image i are scores[starts[i]:starts[i + 1]], at least one.
    highest = np.maximum.reduceat(scores, starts[:-1]) if len(starts) > 1 else scores
    attained = np.flatnonzero(scores == np.repeat(highest, np.diff(starts)))
    first: Ints = attained[np.searchsorted(attained, starts[:-1])]
    return first


def k_best_windows(scores: Floats, starts: Ints, k: int) -> Ints:
    """Return the rows of the k highest scores of each image, or of all where it has fewer, ascending.

    >>> k_best_windows(np.array([1.0, 3.0, 3.0, -np.inf]), np.array([0, 3, 4]), 2)
    array([1, 2])
    """
    # Of equal scores the first ones; none whose score is -inf.
    sizes = np.diff(starts)
    order = np.lexsort((-scores, np.repeat(np.arange(len(sizes)), sizes)))
    place = np.arange(len(scores)) - np.repeat(starts[:-1], sizes)
    rows: Ints = np.sort(order[place < k])
    return rows[scores[rows] > -np.inf]
