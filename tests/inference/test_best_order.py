"""The general form of section 3 against all orders; the top k as one case of it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import reference
from small_models import order_model, star

from ranking.inference import best_top_k
from ranking.inference.best_order import OrderModel, approximate_order, best_order


def test_the_best_of_all_orders() -> None:
    for seed, size in itertools.product(range(6), range(4)):
        model = order_model(seed, size)
        F = reference.whole(model.core, model.interactions)
        result = best_order(model)
        expected = reference.best_order_of(model.unary, model.design, F, model.pair_design)
        assert result.value == pytest.approx(expected, abs=1e-12), (seed, size)
        assert model.value(result.positions) == pytest.approx(result.value, abs=1e-12)
        assert sorted(result.positions.tolist()) == list(range(5))


def test_the_best_top_k_begins_the_best_order() -> None:
    """With c and D of 1 at the first k positions and 0 elsewhere."""
    # The value of an order is then that of its first k items.
    first = (np.arange(6) < 3).astype(float)
    for seed in range(10):
        unary, core, interactions = star(np.random.default_rng(seed), 6, 2)
        order = best_order(OrderModel(unary, first, core, interactions, np.outer(first, first)))
        top = best_top_k(unary, core, interactions, 3)
        assert top.value == pytest.approx(order.value, abs=1e-12), seed
        assert top.members.tolist() == np.flatnonzero(order.positions < 3).tolist()


@pytest.mark.parametrize("method", ["faq", "2opt"])
def test_the_approximate_order_is_no_better_than_the_exact_one(method: str) -> None:
    gaps = []
    for seed in range(12):
        model = order_model(seed, 2)
        exact, result = best_order(model), approximate_order(model, method, seed)
        assert result.value == pytest.approx(model.value(result.positions))
        gaps.append(exact.value - result.value)
    assert min(gaps) > -1e-9
    # The linear part was given too: chance finds the best 1 in 120.
    assert sum(gap < 1e-9 for gap in gaps) >= 3
