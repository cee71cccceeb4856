"""Votes of rankers, counted one by one."""

from __future__ import annotations

import numpy as np
import reference

from ranking.inference.rank_fusion import weighted_votes, winner_takes_all


def test_votes_are_counted_as_the_paper_says() -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 8, 30)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        orders = np.stack([np.concatenate([rng.permutation(size) for size in sizes]) for _ in range(4)])
        values = rng.integers(-2, 4, (4, 30)).astype(float)
        values[rng.random(values.shape) < 0.3] = np.nan
        values[0] = np.where(np.isnan(values).all(axis=0), 1.0, values[0])
        fused = weighted_votes(orders, values, starts)
        for number in range(30):
            span, there = slice(starts[number], starts[number + 1]), ~np.isnan(values[:, number])
            own = [tuple(order) for order in orders[there, span].tolist()]
            expected = reference.votes_of(own, values[there, number].tolist())
            assert fused[span].tolist() == expected, (seed, number)


def test_the_winner_is_the_greatest_value() -> None:
    orders = np.array([[0, 1, 0, 1], [1, 0, 1, 0]])
    values = np.array([[2.0, np.nan], [1.0, -3.0]])
    assert winner_takes_all(orders, values, np.array([0, 2, 4])).tolist() == [0, 1, 1, 0]
