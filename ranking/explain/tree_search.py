"""The search of one MidRank ranker for the best order of a sequence, compared with all orders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranking.core import Features, Floats, Ints
from ranking.core.errors import InputError
from ranking.inference.best_permutation import (
    MAX_COMPARED,
    SearchTrees,
    exhaustive_permutations,
    search_trees,
)
from ranking.methods.mid_rank import MidRank


@dataclass(frozen=True, eq=False)
class TreeSearch:
    """The orders that a search visited, and the best of all orders."""

    # all visited orders; the first is that of RankSVM
    trees: SearchTrees
    # (n,) the order of the greatest value, and `best_value` exactly that value; both None for more than
    # MAX_COMPARED samples
    best: Ints | None
    best_value: float | None

    def path_to(self, node: int) -> Ints:
        """Return the nodes from the root of its tree to a node."""
        path = [node]
        while self.trees.parents[path[-1]] >= 0:
            path.append(int(self.trees.parents[path[-1]]))
        return np.array(path[::-1])

    def swapped(self, node: int) -> tuple[int, int] | None:
        """Return the two positions, from 0, whose swap led to a node; None for a root."""
        parent = int(self.trees.parents[node])
        if parent < 0:
            return None
        first, second = np.flatnonzero(self.trees.orders[node] != self.trees.orders[parent])
        return int(first), int(second)


def tree_search(method: MidRank, length: int, features: Features, trees: int) -> TreeSearch:
    """Search for the best order of samples (n, d) with the ranker of one length, as the method predicts."""
    if length not in method.lengths or method.start is None:
        raise InputError("length", f"one of {method.lengths}, which have rankers", length)
    scores = method.window_scores(length, features)
    first: Ints = np.argsort(-(features @ method.start.direction), kind="stable")
    visited = search_trees(scores, first, trees, method.seed)
    n = len(features)
    if n > MAX_COMPARED:
        return TreeSearch(visited, None, None)
    exhaustive = exhaustive_permutations(scores, np.arange(n), np.array([0, n]), first)
    return TreeSearch(visited, exhaustive.orders, float(exhaustive.values[0]))


def shown_nodes(trees: SearchTrees, children: int) -> Ints:
    """Return the nodes to plot: roots, nodes on paths, and their best `children` other children."""
    is_shown = trees.path | (trees.parents < 0)
    order = np.argsort(-trees.values, kind="stable")
    of_parent: dict[int, int] = {}
    for node in order[~is_shown[order]].tolist():
        parent = int(trees.parents[node])
        of_parent[parent] = of_parent.get(parent, 0) + 1
        is_shown[node] = of_parent[parent] <= children
    shown: Ints = np.flatnonzero(is_shown)
    return shown


def places(trees: SearchTrees, nodes: Ints, width: float = 0.7) -> Floats:
    """Return (m,) the horizontal coordinates of `nodes`: trees side by side, one unit per swap."""
    # Other children of a step are spread by value around the child that the path continues with.
    deepest = np.array(
        [
            trees.depths[nodes][trees.trees[nodes] == tree].max(initial=0)
            for tree in range(trees.trees.max() + 1)
        ]
    )
    begins = np.concatenate([[0], np.cumsum(deepest + 1.6)])
    across = begins[trees.trees[nodes]] + trees.depths[nodes].astype(np.float64)
    off_path = ~trees.path[nodes]
    for parent in np.unique(trees.parents[nodes[off_path]]):
        ours = np.flatnonzero(off_path & (trees.parents[nodes] == parent))
        ranked = ours[np.argsort(trees.values[nodes[ours]], kind="stable")]
        across[ranked] += np.linspace(-width / 2, width / 2, len(ours)) if len(ours) > 1 else 0.25
    return across
