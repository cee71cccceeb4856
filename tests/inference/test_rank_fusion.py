"""Votes of rankers, counted one by one."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from refusals import refused

from ranking.inference.rank_fusion import VOTES, weighted_votes, winner_takes_all


@pytest.mark.parametrize("votes", VOTES)
def test_votes_are_counted_as_the_paper_says(votes: str) -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 8, 30)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        orders = np.stack([np.concatenate([rng.permutation(size) for size in sizes]) for _ in range(4)])
        values = rng.integers(-2, 4, (4, 30)).astype(float)
        values[rng.random(values.shape) < 0.3] = np.nan
        values[0] = np.where(np.isnan(values).all(axis=0), 1.0, values[0])
        fused = weighted_votes(orders, values, starts, votes)
        for number in range(30):
            span, there = slice(starts[number], starts[number + 1]), ~np.isnan(values[:, number])
            own = [tuple(order) for order in orders[there, span].tolist()]
            expected = reference.votes_of(own, values[there, number].tolist(), votes)
            assert fused[span].tolist() == expected, (seed, number)


def test_a_sample_that_was_passed_over_is_placed_as_the_votes_say() -> None:
    """All rankers agree on 0."""
    # Then the second ranker's vote for 2 is joined by the third, whose first it is, or is not.
    orders = np.array([[0, 1, 2, 3], [0, 2, 3, 1], [2, 1, 3, 0]])
    values, starts = np.array([[4.0], [3.0], [2.0]]), np.array([0, 4])
    expected = {"remaining order": [0, 2, 1, 3], "exact position": [0, 1, 3, 2], "kept": [0, 1, 2, 3]}
    for votes, order in expected.items():
        assert weighted_votes(orders, values, starts, votes).tolist() == order, votes
    with refused("votes", "'all'"):
        weighted_votes(orders, values, starts, "all")


def test_the_winner_is_the_greatest_value() -> None:
    orders = np.array([[0, 1, 0, 1], [1, 0, 1, 0]])
    values = np.array([[2.0, np.nan], [1.0, -3.0]])
    assert winner_takes_all(orders, values, np.array([0, 2, 4])).tolist() == [0, 1, 1, 0]
