"""Standardised grades as regression targets, for methods that learn from samples one by one."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from ranking.core import Features, Floats, Ints, SequenceSet


class PointTargets(NamedTuple):
    """The samples that occur in a sequence, and their targets."""

    # (k,) of the pool
    rows: Ints
    # (k,) how often each occurs among all members; they add up to 1
    shares: Floats
    # (k,) grades with mean 0 and variance 1 over the members, so that settings mean the same for grades 0 to
    # 4 and for years
    targets: Floats

    @classmethod
    def of(cls, sequences: SequenceSet) -> Self:
        """Return the targets of sequences that hold at least two different grades."""
        rows, counts = np.unique(sequences.members, return_counts=True)
        shares = counts / counts.sum()
        grades = sequences.grades[rows].astype(np.float64)
        centred = grades - shares @ grades
        return cls(rows, shares, centred / np.sqrt(shares @ centred**2))


def with_constant(features: Features) -> Features:
    """Return features (n, d + 1) with a last feature 1, whose weight is the bias."""
    return np.concatenate([features, np.ones((len(features), 1), features.dtype)], axis=1)
