"""Representations psi of a subsequence in order (midrank, section 3.3 and Fig. 5).

All but max-pooling are linear in the stacked samples: psi = M (x_1, ..., x_L) with an (p, L) matrix M that depends on
the length only; each of its rows gives a block of psi. Then theta.psi = sum_k (M'theta)_k . x_k, so that the result of
training is weights by position, (L, d), and a sample has a score for each position.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ranking.core import Features, Floats, Ints
from ranking.core.errors import InputError

MAX_POOLED = "max-pooled difference"


def _pairs(length: int) -> Floats:
    """Return (L (L - 1) / 2, L) x_i - x_j for all i < j."""
    first, second = np.triu_indices(length, 1)
    identity: Floats = np.eye(length)
    return identity[first] - identity[second]


def _mean(length: int) -> Floats:
    mean: Floats = _pairs(length).mean(axis=0, keepdims=True)
    return mean


def _neighbours(length: int) -> Floats:
    identity: Floats = np.eye(length)
    return identity[:-1] - identity[1:]


LINEAR: dict[str, Callable[[int], Floats]] = {
    "stacked difference": _neighbours,
    "stacked": np.eye,
    "full stacked difference": _pairs,
    "mean pairwise difference": _mean,
}
REPRESENTATIONS = (*LINEAR, MAX_POOLED)


def blocks(representation: str, length: int) -> Floats:
    """Return (p, L) M of a linear representation.

    >>> blocks("stacked difference", 3)
    array([[ 1., -1.,  0.],
           [ 0.,  1., -1.]])
    """
    if representation not in LINEAR:
        raise InputError(
            "representation", f"a linear one: {', '.join(map(repr, LINEAR))}", repr(representation)
        )
    return LINEAR[representation](length)


def max_pooled(features: Features, rows: Ints) -> Floats:
    """Return (m, d) the largest of x_i - x_j over i < j, feature by feature, of subsequences (m, L) in order.

    >>> max_pooled(np.array([[3.0], [1.0], [2.0]]), np.array([[0, 1, 2]]))
    array([[2.]])
    """
    highest: Floats = features[rows[:, 0]].astype(np.float64)
    best: Floats = np.full(highest.shape, -np.inf)
    for position in range(1, rows.shape[1]):
        values = features[rows[:, position]]
        best = np.maximum(best, highest - values)
        highest = np.maximum(highest, values)
    return best
