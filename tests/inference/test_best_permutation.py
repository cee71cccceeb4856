"""The search for the best order against all orders, and against section 4 read literally."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import reference
from scipy.optimize import linear_sum_assignment
from small_models import alone

from ranking.inference import best_permutation
from ranking.inference.best_permutation import (
    WindowScores,
    best_permutations,
    exhaustive_permutations,
    search_trees,
)
from ranking.methods.subsequence_maps import REPRESENTATIONS, blocks


def ranker(
    representation: str, n: int, length: int, seed: int
) -> tuple[WindowScores, reference.Callable[[reference.Order], float]]:
    """What a random ranker says of n random samples, and eq. 3 from their features."""
    rng = np.random.default_rng(seed)
    samples, offset = rng.normal(size=(n, 3)), float(rng.normal())
    theta = rng.normal(size=len(reference.psi_of(representation, samples[:length])))
    if representation == "max-pooled difference":
        scores = WindowScores(np.zeros((n, length)), offset, samples, theta)
    else:
        position_weights = blocks(representation, length).T @ theta.reshape(-1, 3)
        scores = WindowScores(samples @ position_weights.T, offset)
    return scores, lambda order: reference.value_of_order(
        order, samples, theta, length, representation, offset
    )


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_exhaustive_search_finds_the_best_of_all_orders(representation: str) -> None:
    for n, length in [(5, 2), (6, 3), (5, 5), (6, 4)]:
        scores, value = ranker(representation, n, length, n + length)
        result = exhaustive_permutations(scores, *alone(n))
        expected = pytest.approx(reference.best_of_all_orders(value, n), abs=1e-10)
        worth = result.values[0], value(tuple(result.orders)), scores.values(result.orders[None])[0]
        assert worth == (expected, expected, expected), (n, length)


@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize(("n", "length", "seed"), [(5, 3, 0), (6, 2, 1), (7, 4, 2), (7, 7, 3), (4, 3, 4)])
def test_trees_are_those_of_the_paper(representation: str, n: int, length: int, seed: int) -> None:
    """Each path, each visited order and its value, with a set of visited orders."""
    # The search does not keep that set.
    scores, value = ranker(representation, n, length, seed)
    record = search_trees(scores, np.arange(n), trees=4, seed=seed)
    visited: set[reference.Order] = set()
    for tree in range(record.trees.max() + 1):
        own = record.trees == tree
        path = [tuple(order) for order in record.orders[own & record.path].tolist()]
        assert path[0] not in visited
        assert path == reference.climb_of(value, path[0], visited)
    assert {tuple(order) for order in record.orders.tolist()} == visited
    assert len(record.orders) == len(visited)
    best = best_permutations(scores, *alone(n), trees=4, seed=seed)
    assert best.orders.tolist() == record.orders[record.best].tolist()
    assert best.values[0] == pytest.approx(record.values[record.best], abs=1e-10)
    assert record.values[-1] == pytest.approx(value(tuple(record.orders[-1])), abs=1e-10)
    for node in np.flatnonzero(record.parents >= 0):
        parent = record.parents[node]
        assert (record.orders[node] != record.orders[parent]).sum() == 2
        assert record.depths[node] == record.depths[parent] + 1
        assert record.path[parent]


@pytest.mark.parametrize(("n", "length"), [(30, 3), (40, 8), (25, 2)])
def test_best_gains_that_are_kept_are_those_of_all_swaps(n: int, length: int) -> None:
    """Long sequences, where most gains outlive a swap: each step of the path is the best of all swaps."""
    scores, _ = ranker("stacked", n, length, n)
    record = search_trees(scores, np.arange(n), trees=2)
    for node in np.flatnonzero(record.path):
        children = record.parents == node
        onward = children & record.path
        if onward.any():
            assert record.values[onward][0] == pytest.approx(record.values[children].max(), rel=1e-12)
        else:
            assert record.values[children].max(initial=-np.inf) <= record.values[node] + 1e-9
    assert record.path.sum() > 10


@pytest.mark.parametrize(("n", "length"), [(8, 8), (9, 3), (40, 8), (12, 2), (15, 6)])
def test_the_second_tree_begins_at_the_best_order_without_roots(n: int, length: int) -> None:
    compared = 0
    for seed in range(6):
        scores = WindowScores(np.random.default_rng(seed).normal(size=(n, length)))
        worth = np.zeros((n, n))
        for window in range(n - length + 1):
            worth[:, window : window + length] += scores.table
        best = worth[linear_sum_assignment(worth, maximize=True)].sum()
        record = search_trees(scores, np.random.default_rng(seed).permutation(n), trees=2)
        totals = scores.windows(record.orders).sum(axis=1)
        # else the first tree may have seen it
        if (totals[record.trees == 0] < best - 1e-9).all():
            assert totals[record.trees == 1][0] == pytest.approx(best)
            compared += 1
    assert compared


def test_sequences_of_a_batch_are_searched_independently() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.integers(3, 12, 700)
    starts = np.append(0, np.cumsum(sizes))
    scores, members = WindowScores(rng.normal(size=(50, 3))), rng.integers(0, 50, starts[-1])
    first = np.concatenate([rng.permutation(size) for size in sizes])
    best = best_permutations(scores, members, starts, first, trees=2, seed=3)
    for number in rng.integers(len(sizes), size=40):
        span = slice(starts[number], starts[number + 1])
        own = WindowScores(scores.table[members[span]])
        again = best_permutations(own, *alone(sizes[number])[:2], first[span], trees=2, seed=3)
        assert best.orders[span].tolist() == again.orders.tolist()
        assert best.values[number] == again.values[0] == pytest.approx(own.values(again.orders[None])[0])


def test_the_search_ends_when_every_order_was_evaluated() -> None:
    record = search_trees(WindowScores(np.array([[0.0, 1.0], [2.0, 0.0]])), np.array([0, 1]), trees=5)
    assert record.trees.max() == 0
    assert sorted(record.orders.tolist()) == [[0, 1], [1, 0]]


def test_equal_samples_stay_where_they_are() -> None:
    scores = WindowScores(np.ones((6, 3)))
    best = best_permutations(scores, np.arange(6), np.array([0, 6]), np.array([3, 1, 0, 2, 5, 4]), trees=1)
    assert best.orders.tolist() == [3, 1, 0, 2, 5, 4]


def test_an_empty_batch_of_sequences_has_no_orders() -> None:
    nothing = best_permutations(WindowScores(np.zeros((3, 3))), np.arange(0), np.array([0]), np.arange(0))
    assert len(nothing.values) == 0


def test_values_of_many_orders_are_taken_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search visits thousands of orders."""
    # Each window of max-pooled ones holds vectors: together they fill any memory.
    scores, value = ranker("max-pooled difference", 6, 3, 4)
    orders = np.array(list(itertools.permutations(range(6)))[:50])
    parts, windows = list[int](), WindowScores.windows
    monkeypatch.setattr(
        WindowScores, "windows", lambda self, some: parts.append(len(some)) or windows(self, some)
    )
    monkeypatch.setattr(best_permutation, "BATCH", 8 * 6 * 3 * 3)
    best = scores.values(orders)
    assert parts == [8] * 6 + [2]
    np.testing.assert_allclose(best, [value(tuple(order)) for order in orders.tolist()], atol=1e-10)
