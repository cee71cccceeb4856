"""Rank fusion: one order from several rankers, by weighted majority vote or value (midrank, section 3.4)."""

from __future__ import annotations

import numba
import numpy as np

from ranking.core import Floats, Ints
from ranking.core.errors import InputError
from ranking.core.settings import check_choice

REMAINING, EXACT, KEPT = "remaining order", "exact position", "kept"
VOTES = (REMAINING, EXACT, KEPT)


def weighted_votes(orders: Ints, values: Floats, starts: Ints, votes: str = REMAINING) -> Ints:
    """Return (N,) the fused orders of m sequences by weighted majority vote (midrank, section 3.4).

    >>> weighted_votes(np.array([[0, 1, 2], [1, 0, 2], [1, 2, 0]]), np.array([[3.0], [2.0], [2.0]]), np.array([0, 3]))
    array([1, 0, 2])
    """
    # orders: (r, N) of r rankers, each sequence from 0 to its length. values: (r, m) of the orders, NaN where
    # a ranker has none. Position by position from the first, each ranker votes with the value of its order,
    # and the sample with the most votes takes the position. `votes` says for which sample a ranker votes once
    # others have been placed:
    # "remaining order": for the first of its order that has no position yet. The paper says "we eliminate
    # this image from the subsequence comparisons and continue iteratively"; this reads it as removing it from
    # every order, so that the samples behind it move up.
    # "exact position": for the sample that its order has at this very position, even if that has been placed
    # already. Where no other sample has a vote, the ranker has no influence on this position.
    # "kept": for all samples of its order up to this position. This is not in the paper.
    # Values below 0 have no vote; where no value is above 0, all votes have the same weight. Where votes are
    # equal the sample with the least weighted mean position comes first, then that with the lower number.
    check_choice("votes", votes, VOTES)
    if np.isnan(values).all(axis=0).any():
        raise InputError(
            "values", "one ranker or more for every sequence", remedy="omit sequences without a ranker"
        )
    weights = np.where(np.isnan(values), 0.0, np.maximum(values, 0.0))
    none = (weights == 0.0).all(axis=0)
    weights[:, none] = ~np.isnan(values[:, none])
    fused = np.empty(orders.shape[1], np.int64)
    _fill_votes(
        np.ascontiguousarray(orders), np.ascontiguousarray(weights), starts, VOTES.index(votes), fused
    )
    return fused


def winner_takes_all(orders: Ints, values: Floats, starts: Ints) -> Ints:
    """Return (N,) for each sequence the order with the greatest value, of equal ones the first."""
    # Arguments as for `weighted_votes`.
    winner = np.argmax(np.where(np.isnan(values), -np.inf, values), axis=0)
    lengths = np.diff(starts)
    chosen: Ints = orders[np.repeat(winner, lengths), np.arange(orders.shape[1])]
    return chosen


@numba.njit(cache=True, nogil=True)
def _fill_votes(orders, weights, starts, rule, fused):  # type: ignore[no-untyped-def]
    """Write the fused orders."""
    # rule: the index in VOTES.
    for number in range(len(starts) - 1):
        begin, end = starts[number], starts[number + 1]
        n = end - begin
        mean_positions, votes, unplaced = np.zeros(n), np.zeros(n), np.ones(n, np.bool_)
        # index in each order of the first sample that is not placed
        next_unplaced = np.zeros(len(orders), np.int64)
        for r in range(len(orders)):
            for p in range(n if weights[r, number] > 0.0 else 0):
                mean_positions[orders[r, begin + p]] += weights[r, number] * p
        for p in range(n):
            if rule < 2:
                votes[:] = 0.0
            for r in range(len(orders)):
                if weights[r, number] > 0.0:
                    while rule == 0 and not unplaced[orders[r, begin + next_unplaced[r]]]:
                        next_unplaced[r] += 1
                    position = next_unplaced[r] if rule == 0 else p
                    votes[orders[r, begin + position]] += weights[r, number]
            best = -1
            for i in range(n):
                if unplaced[i] and (
                    best < 0
                    or votes[i] > votes[best]
                    or (votes[i] == votes[best] and mean_positions[i] < mean_positions[best])
                ):
                    best = i
            fused[begin + p], unplaced[best] = best, False
