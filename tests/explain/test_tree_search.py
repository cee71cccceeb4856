"""What the page MidRank search shows is the search that MidRank's prediction does."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from refusals import refused

from ranking.core import SequenceSet
from ranking.explain.tree_search import places, shown_nodes, tree_search
from ranking.inference.best_permutation import MAX_COMPARED
from ranking.methods.mid_rank import MidRank


@pytest.fixture(scope="module")
def method():
    generator = np.random.default_rng(0)
    features = generator.standard_normal((60, 5))
    grades = np.argsort(np.argsort(features @ generator.standard_normal(5) + generator.standard_normal(60)))
    members = np.stack([generator.choice(60, 6, replace=False) for _ in range(40)])
    sequences = SequenceSet(features, grades, members.ravel(), np.arange(41) * 6)
    return MidRank(longest=4, subsequences=100, trees=2).fit(sequences)


def samples(n: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, 5))


def test_the_search_is_that_of_the_prediction(method):
    for length, seed in product((3, 4), range(5)):
        features = samples(7, seed)
        search = tree_search(method, length, features, method.trees)
        alone = SequenceSet(features, np.zeros(7, np.int64), np.arange(7), np.array([0, 7]))
        rankings = method.rankings(alone)
        row, best = rankings.lengths.index(length), search.trees.best
        np.testing.assert_array_equal(search.trees.orders[0], rankings.first)
        np.testing.assert_array_equal(search.trees.orders[best], rankings.orders[row])
        assert search.trees.values[best] == pytest.approx(rankings.values[row, 0]), (length, seed)


def test_the_best_order_is_the_best_of_all_permutations(method):
    for seed in range(3):
        features = samples(6, seed)
        search = tree_search(method, 3, features, 2)
        scores = method.window_scores(3, features)
        highest = scores.values(np.array(list(permutations(range(6))))).max()
        assert search.best_value == pytest.approx(highest)
        assert scores.values(search.best[None])[0] == pytest.approx(highest)
    result = tree_search(method, 3, samples(MAX_COMPARED + 1), 1)
    assert (result.best, result.best_value) == (None, None), "too many orders"


def test_paths_and_swaps(method):
    result = tree_search(method, 3, samples(6), 2)
    trees = result.trees
    for node in range(len(trees.values)):
        path = result.path_to(node)
        assert path[-1] == node
        assert trees.parents[path[0]] == -1
        assert len(path) == trees.depths[node] + 1
        swap = result.swapped(node)
        if swap is None:
            assert trees.depths[node] == 0
            continue
        order = trees.orders[trees.parents[node]].copy()
        order[list(swap)] = order[list(swap)][::-1]
        np.testing.assert_array_equal(order, trees.orders[node])


def test_the_shown_nodes_are_the_paths_and_the_best_children_beside_them(method):
    trees = tree_search(method, 3, samples(7), 2).trees
    shown = shown_nodes(trees, children=2)
    assert np.isin(np.flatnonzero(trees.path | (trees.parents < 0)), shown).all()
    for parent in np.unique(trees.parents[shown]):
        off_path = [node for node in shown if trees.parents[node] == parent and not trees.path[node]]
        left_out = np.setdiff1d(np.flatnonzero((trees.parents == parent) & ~trees.path), shown)
        if parent >= 0:
            assert len(off_path) <= 2
            assert not len(left_out) or trees.values[left_out].max() <= trees.values[off_path].min()
    np.testing.assert_array_equal(shown_nodes(trees, 10_000), np.arange(len(trees.values)))


def test_positions_separate_trees_and_order_steps(method):
    trees = tree_search(method, 3, samples(7), 3).trees
    nodes = shown_nodes(trees, children=3)
    across = places(trees, nodes)
    for tree in range(1, int(trees.trees.max()) + 1):
        assert across[trees.trees[nodes] < tree].max() < across[trees.trees[nodes] == tree].min()
    main = trees.path[nodes] & (trees.trees[nodes] == 0)
    assert (np.diff(across[main][np.argsort(trees.depths[nodes[main]])]) == 1).all()


def test_lengths_without_a_ranker_or_a_window_are_refused(method):
    with refused("length", 5):
        tree_search(method, 5, samples(7), 1)
    with refused("samples of a sequence", 3):
        tree_search(method, 4, samples(3), 1)
