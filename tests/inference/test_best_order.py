"""The general form of section 3 against all orders; the top k as one case of it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import reference
from small_models import order_model, star

from ranking.inference import best_top_k
from ranking.inference.best_order import (
    LinearLoss,
    approximate_order,
    best_order,
    precision_at_k,
    reciprocal_rank,
    top_k_model,
    winner_takes_all,
)


def some_loss(seed: int) -> LinearLoss:
    one = np.arange(5) == seed % 5
    return (winner_takes_all(one), reciprocal_rank(one), precision_at_k([1, 0, 1, 0, 0], 2))[seed % 3]


def test_the_best_of_all_orders() -> None:
    for seed, size in itertools.product(range(6), range(4)):
        given = order_model(seed, size)
        F = reference.whole(given.core, given.interactions)
        for loss in (None, some_loss(seed)):
            result = best_order(given, loss)
            added = np.zeros((5, 5)) if loss is None else loss.matrix
            expected = reference.best_order_of(given.unary, given.design, F, given.pair_design, added)
            assert result.value == pytest.approx(expected, abs=1e-12), (seed, size, loss)
            lost = added[np.arange(5), result.places].sum()
            assert given.value(result.places) + lost == pytest.approx(result.value, abs=1e-12)
            assert sorted(result.places.tolist()) == list(range(5))


def test_the_best_top_k_begins_the_best_order() -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        unary, core, interactions = star(rng, 6, 2)
        relevant = rng.random(6) < 0.5
        order = best_order(top_k_model(unary, core, interactions, 3), precision_at_k(relevant, 3))
        top = best_top_k(unary + (1.0 - relevant) / 3, core, interactions, 3)
        assert top.value == pytest.approx(order.value, abs=1e-12), seed
        assert top.members.tolist() == np.flatnonzero(order.places < 3).tolist()


@pytest.mark.parametrize("method", ["faq", "2opt"])
def test_the_approximate_order_is_no_better_than_the_exact_one(method: str) -> None:
    gaps = []
    for seed in range(12):
        given = order_model(seed, 2)
        exact, result = best_order(given), approximate_order(given, method, seed)
        assert result.value == pytest.approx(given.value(result.places))
        gaps.append(exact.value - result.value)
    assert min(gaps) > -1e-9
    # The linear part was given too: chance finds the best 1 in 120.
    assert sum(gap < 1e-9 for gap in gaps) >= 3


def test_losses_are_what_their_names_say() -> None:
    relevant = [False, True, False]
    for places in ([0, 1, 2], [1, 0, 2], [2, 1, 0], [0, 2, 1]):
        place = places[1]
        for loss, expected in (
            (winner_takes_all(relevant), float(place != 0)),
            (reciprocal_rank(relevant), 1 - 1 / (place + 1)),
            (precision_at_k(relevant, 2), 1 - (place < 2) / 2),
        ):
            assert loss.matrix[np.arange(3), places].sum() == pytest.approx(expected)
