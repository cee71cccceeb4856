"""One order from those of several rankers: weighted majority voting and its rivals (midrank, section 3.4)."""

from __future__ import annotations

import numba
import numpy as np

from ranking.errors import InputError
from ranking.types import Floats, Ints


def weighted_votes(orders: Ints, values: Floats, starts: Ints) -> Ints:
    """(N,) the fused orders of m sequences by weighted majority vote (midrank, section 3.4).

    orders: (r, N) of r rankers, each sequence from 0 to its length; values: (r, m) of them, NaN where a ranker has
    none. From the first place on, each ranker gives the sample that it has there a vote of its value, and the sample
    with the most votes, of those not yet placed, takes the place. A sample that was passed over keeps its votes for
    the places that follow: the paper does not say what becomes of it, and without them it would stand behind all that
    a ranker has at its place, up to the end. Values below 0 have no vote; where no value is above 0, all votes weigh
    alike. Where votes are equal the sample with the least weighted mean place goes first, then that with the lower
    number. Where no ranker has an order: ValueError.

    >>> weighted_votes(np.array([[0, 1, 2], [1, 0, 2], [1, 2, 0]]), np.array([[3.0], [2.0], [2.0]]), np.array([0, 3]))
    array([1, 0, 2])
    """
    if np.isnan(values).all(axis=0).any():
        raise InputError(
            "values", "one ranker or more for every sequence", remedy="omit sequences without a ranker"
        )
    weights = np.where(np.isnan(values), 0.0, np.maximum(values, 0.0))
    none = (weights == 0.0).all(axis=0)
    weights[:, none] = ~np.isnan(values[:, none])
    fused = np.empty(orders.shape[1], np.int64)
    _fill_votes(np.ascontiguousarray(orders), np.ascontiguousarray(weights), starts, fused)
    return fused


def winner_takes_all(orders: Ints, values: Floats, starts: Ints) -> Ints:
    """(N,) for each sequence the order with the greatest value, of equal ones the first. Arguments as above."""
    winner = np.argmax(np.where(np.isnan(values), -np.inf, values), axis=0)
    lengths = np.diff(starts)
    chosen: Ints = orders[np.repeat(winner, lengths), np.arange(orders.shape[1])]
    return chosen


@numba.njit(cache=True, nogil=True)
def _fill_votes(orders, weights, starts, fused):  # type: ignore[no-untyped-def]
    for number in range(len(starts) - 1):
        begin, end = starts[number], starts[number + 1]
        n = end - begin
        places, votes, left = np.zeros(n), np.zeros(n), np.ones(n, np.bool_)
        for r in range(len(orders)):
            for p in range(n if weights[r, number] > 0.0 else 0):
                places[orders[r, begin + p]] += weights[r, number] * p
        for p in range(n):
            for r in range(len(orders)):
                if weights[r, number] > 0.0:
                    votes[orders[r, begin + p]] += weights[r, number]
            best = -1
            for i in range(n):
                if left[i] and (
                    best < 0
                    or votes[i] > votes[best]
                    or (votes[i] == votes[best] and places[i] < places[best])
                ):
                    best = i
            fused[begin + p], left[best] = best, False
