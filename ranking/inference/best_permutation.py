"""The best order of a sequence by windows of one length (midrank, eq. 3 and section 4).

    value(Y) = sum_w z(w),  z = sign(s) |s|^(1/2),  s = theta.psi of the L samples in window w = 1 ... n - L + 1.

Every representation that is linear in the stacked samples gives each sample a score for each position of a window, so
that s is a sum of L scores and a swap changes at most 2 L windows, each in O(1).

The search is a heuristic. It begins at a given order and makes the best of all swaps as long as the value grows, n
times at most. Further trees begin at orders that no earlier tree has visited: the second at the best order without
roots, which is a linear assignment problem (and the best order where there is only one window), the others at random
orders. Best gains are kept per position and recomputed where a swap changed them, in O(n L) memory. The paper removes
permutations that were visited; here the paths of the earlier trees determine these exactly, so that no set is kept.
`exhaustive_permutations` is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ranking.core import Bools, Floats, Ints
from ranking.core.errors import InputError
from ranking.inference import threads
from ranking.inference.swap_kernels import WindowModel, fill_best, fill_exhaustive, new_paths, search

# samples: pages and ablations compare all 40,320 orders, as Fig. 6b does
MAX_COMPARED = 8
# samples: 3.6 million permutations
MAX_EXHAUSTIVE = 10
# window entries that `values` holds at a time
BATCH = 2_000_000
# sequences: fewer are not worth another thread
MIN_PART = 200


@dataclass(frozen=True, eq=False)
class WindowScores:
    """The scores of a ranker of one length for samples."""

    # (n, L) what each sample adds at each position of a window, L >= 2
    table: Floats
    # added to every window
    offset: float = 0.0
    # (n, d) the samples, empty (n, 0) for representations other than max-pooled differences
    features: Floats = field(default_factory=lambda: np.empty((0, 0)))
    # (d,) the weights of the max-pooled differences of `features`, empty (0,) for other representations
    pooled: Floats = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        if self.table.ndim != 2 or self.table.shape[1] < 2:
            raise InputError("table", "the shape (n, L) with L at least 2", self.table.shape)
        if not np.isfinite(self.table).all() or not np.isfinite(self.offset):
            raise InputError("table", "finite scores", remedy="scale the features, or take a smaller C")
        if len(self.pooled) and self.features.shape != (len(self.table), len(self.pooled)):
            expected = (len(self.table), len(self.pooled))
            raise InputError("features", f"the shape {expected} for these weights", self.features.shape)
        object.__setattr__(self, "table", np.ascontiguousarray(self.table, np.float64))
        object.__setattr__(self, "features", np.ascontiguousarray(self.features, np.float64))

    @property
    def length(self) -> int:
        """L, the number of samples in a window."""
        return int(self.table.shape[1])

    @property
    def model(self) -> WindowModel:
        """The same as a tuple for the kernels."""
        return WindowModel(self.table, float(self.offset), self.features, self.pooled)

    def windows(self, orders: Ints) -> Floats:
        """Return (m, n - L + 1) s of each window of m orders (m, n) of rows of `table`, by definition."""
        # (m, windows, L)
        spans = np.lib.stride_tricks.sliding_window_view(orders, self.length, axis=1)
        sums: Floats = self.offset + self.table[spans, np.arange(self.length)].sum(axis=2)
        if len(self.pooled):
            # (m, windows, L, d)
            samples = self.features[spans]
            highest = np.maximum.accumulate(samples, axis=2)
            sums = sums + (highest[:, :, :-1] - samples[:, :, 1:]).max(axis=2) @ self.pooled
        return sums

    def values(self, orders: Ints) -> Floats:
        """Return (m,) eq. 3 of m orders, given as (m, n) rows of `table`, from the definition."""
        # Works on part of the orders at a time: a search visits thousands, and max-pooling takes a vector per
        # sample and window.
        values = np.empty(len(orders))
        size = orders.shape[1] * self.length * max(1, len(self.pooled))
        step = max(1, BATCH // size)
        for start in range(0, len(orders), step):
            sums = self.windows(orders[start : start + step])
            values[start : start + step] = np.copysign(np.sqrt(np.abs(sums)), sums).sum(axis=1)
        return values


@dataclass(frozen=True, eq=False)
class BestPermutations:
    """The best orders of m sequences."""

    # (N,) concatenated, each from 0 to the length of its sequence
    orders: Ints
    # (m,)
    values: Floats


@dataclass(frozen=True, eq=False)
class SearchTrees:
    """All orders that a search visited, in the order of the visits."""

    # (m, n) rows of the samples from the first position
    orders: Ints
    # (m,) eq. 3
    values: Floats
    # (m,) the node that each was swapped from, -1 at a root
    parents: Ints
    # (m,) swaps from the root
    depths: Ints
    # (m,) from 0
    trees: Ints
    # (m,) whether the search moved there
    path: Bools
    # the node of greatest value on a path
    best: int


def best_permutations(
    scores: WindowScores, members: Ints, starts: Ints, first: Ints, trees: int = 3, seed: int = 0
) -> BestPermutations:
    """Search for the best orders of m sequences over one pool."""
    # members: (N,) rows of `scores`; sequence i is members[starts[i]:starts[i + 1]], as in a SequenceSet.
    # first: (N,) the order that each search begins with, from 0 to the sequence's length.
    _check(scores, starts, first)
    if trees < 1:
        raise InputError("trees", "at least 1", trees)
    orders, values = np.empty(len(members), np.int64), np.empty(len(starts) - 1)

    def work(part: slice) -> None:
        ends = starts[part.start : part.stop + 1]
        fill_best(scores.model, members, ends, first, trees, seed, orders, values[part])

    threads.each(work, threads.rows(len(values), MIN_PART))
    return BestPermutations(orders, values)


def exhaustive_permutations(
    scores: WindowScores, members: Ints, starts: Ints, first: Ints
) -> BestPermutations:
    """Return the best of all orders of at most MAX_EXHAUSTIVE samples; arguments as `best_permutations`."""
    _check(scores, starts, first)
    if len(starts) > 1 and np.diff(starts).max() > MAX_EXHAUSTIVE:
        raise InputError(
            "samples of a sequence",
            f"at most {MAX_EXHAUSTIVE}, because all orders are tried",
            int(np.diff(starts).max()),
            "use best_permutations",
        )
    orders, values = np.empty(len(members), np.int64), np.empty(len(starts) - 1)

    def work(part: slice) -> None:
        ends = starts[part.start : part.stop + 1]
        fill_exhaustive(scores.model, members, ends, first, orders, values[part])

    threads.each(work, threads.rows(len(values), MIN_PART))
    return BestPermutations(orders, values)


def as_good(values: npt.ArrayLike, best: npt.ArrayLike) -> Bools:
    """Return whether values of orders equal the best values up to rounding."""
    return np.isclose(values, best, rtol=1e-9, atol=1e-12)


def search_trees(scores: WindowScores, first: Ints, trees: int = 3, seed: int = 0) -> SearchTrees:
    """Run the same search on one sequence, the rows of `scores`, and record all visited orders.

    >>> search = search_trees(WindowScores(np.array([[0.0, 1.0], [1.0, 0.0]])), np.array([0, 1]), trees=1)
    >>> search.orders.tolist(), search.values.tolist(), search.parents.tolist()
    ([[0, 1], [1, 0]], [0.0, 1.4142135623730951], [-1, 0])
    """
    # O(n^3) per tree.
    n = len(scores.table)
    _check(scores, np.array([0, n]), first)
    paths = new_paths(trees, n)
    grown = search(scores.model, np.arange(n), first, seed, paths)
    record = _Record(scores)
    for tree in range(grown):
        node = record.visit(paths.starts[tree][None], -1, 0, tree)
        for depth in range(paths.depths[tree] + 1):
            order = record.orders[node].copy()
            record.path.add(node)
            last = depth == paths.depths[tree]
            if not last or paths.complete[tree]:
                record.visit(_swapped(order), node, depth + 1, tree)
            if not last:
                a, b = paths.swaps[tree, depth]
                order[[a, b]] = order[[b, a]]
                node = record.known[order.tobytes()]
    return record.trees()


class _Record:
    """The visited orders, each once."""

    def __init__(self, scores: WindowScores) -> None:
        self.scores = scores
        self.known: dict[bytes, int] = {}
        self.orders: list[Ints] = []
        # parent, depth, tree
        self.rows: list[tuple[int, int, int]] = []
        self.path: set[int] = set()

    def visit(self, orders: Ints, parent: int, depth: int, tree: int) -> int:
        """Record those of `orders` that are new as children of a node; return the number of the last."""
        for order in orders:
            if self.known.setdefault(order.tobytes(), len(self.orders)) == len(self.orders):
                self.orders.append(order)
                self.rows.append((parent, depth, tree))
        return len(self.orders) - 1

    def trees(self) -> SearchTrees:
        orders = np.stack(self.orders)
        values = self.scores.values(orders)
        parents, depths, trees = np.array(self.rows).T
        path = np.isin(np.arange(len(orders)), list(self.path))
        best = int(np.argmax(np.where(path, values, -np.inf)))
        return SearchTrees(orders, values, parents, depths, trees, path, best)


def _swapped(order: Ints) -> Ints:
    """Return (n (n - 1) / 2, n) the order with two positions swapped, for all pairs of positions."""
    a, b = np.triu_indices(len(order), 1)
    orders = np.repeat(order[None], len(a), axis=0)
    rows = np.arange(len(a))
    orders[rows, a], orders[rows, b] = order[b], order[a]
    return orders


def _check(scores: WindowScores, starts: Ints, first: Ints) -> None:
    """Raise ValueError unless every sequence fills a window and `first` orders each."""
    lengths = np.diff(starts)
    if len(lengths) and lengths.min() < scores.length:
        raise InputError(
            "samples of a sequence",
            f"at least {scores.length}, the length of a window",
            int(lengths.min()),
            "use a shorter ranker",
        )
    offsets = np.repeat(starts[:-1], lengths)
    if len(first) != len(offsets) or (np.sort(first + offsets) != np.arange(len(offsets))).any():
        raise InputError(
            "first", "the numbers from 0 to its length for each sequence", remedy="use np.argsort"
        )
