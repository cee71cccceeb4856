"""Grades as numbers to be predicted, one for each sample of the pool, for methods that look at samples one by one."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from ranking.core import Features, Floats, Ints, SequenceSet


class PointTargets(NamedTuple):
    """The samples that stand in a sequence: rows (k,) of the pool, shares (k,) of all places, which add up to 1, and
    their targets (k,): grades with mean 0 and variance 1 over the places, so that settings mean the same for grades
    0 to 4 and for years.
    """

    rows: Ints
    shares: Floats
    targets: Floats

    @classmethod
    def of(cls, sequences: SequenceSet) -> Self:
        """The targets of sequences that hold two different grades at least."""
        rows, counts = np.unique(sequences.members, return_counts=True)
        shares = counts / counts.sum()
        grades = sequences.grades[rows].astype(np.float64)
        centred = grades - shares @ grades
        return cls(rows, shares, centred / np.sqrt(shares @ centred**2))


def with_constant(features: Features) -> Features:
    """(n, d + 1) with a last feature 1, whose weight is the bias."""
    return np.concatenate([features, np.ones((len(features), 1), features.dtype)], axis=1)
