"""The orders of MidRank's rankers, one per length, before rank fusion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ranking.core import Floats, Ints, SequenceSet
from ranking.metrics import kendall_tau


class Rankings(NamedTuple):
    """The orders of m sequences by r rankers."""

    # of the rankers
    lengths: tuple[int, ...]
    # (N,) the orders of RankSVM, each sequence from 0 to its length
    first: Ints
    # (r, N) the best orders found, `first` where a sequence is shorter than the ranker
    orders: Ints
    # (r, m) eq. 3 of the orders, NaN there
    values: Floats


def scores_of_orders(orders: Ints, starts: Ints) -> Floats:
    """Return (N,) how many samples come after each in its sequence, for orders from 0 to its length.

    >>> scores_of_orders(np.array([1, 2, 0]), np.array([0, 3]))
    array([0., 2., 1.])
    """
    sizes = np.diff(starts)
    begin = np.repeat(starts[:-1], sizes)
    scores = np.empty(len(orders))
    scores[orders + begin] = np.repeat(starts[1:], sizes) - 1 - np.arange(len(orders))
    return scores


def taus_of(sequences: SequenceSet, rankings: Rankings) -> list[Floats]:
    """Return for sequences with two grades (r,) the Kendall tau of each ranker, NaN without an order."""
    scores = [scores_of_orders(orders, sequences.starts) for orders in rankings.orders]
    taus_by_sequence = []
    for number in range(len(sequences)):
        span = slice(sequences.starts[number], sequences.starts[number + 1])
        grades = sequences.grades[sequences.members[span]]
        if (grades != grades[0]).any():
            taus = np.array([kendall_tau(grades, row[span]) for row in scores])
            taus_by_sequence.append(np.where(np.isnan(rankings.values[:, number]), np.nan, taus))
    return taus_by_sequence
