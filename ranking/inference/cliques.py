"""Cliques of any size with the P^n Potts form, as pairs (Kohli, Kumar and Torr 2007).

    value(Y) = sum_i y_i unary_i + sum_c penalty_c [the labels of clique c are not all equal],  penalty <= 0

For a clique of k > 2 samples, two auxiliary samples, all and any, are added. Each has an edge to every member with
half of the penalty, and a unary score: (k / 2 - 1) penalty for all, the opposite for any. In the best labelling all =
1 only if all members have label 1, and any = 0 only if no member has. The sum of these terms is then the term of the
clique: 0 if the members agree, otherwise the penalty. So minimum cuts find best labellings and max-marginals exactly.

If the penalty of a clique is 0, its auxiliary samples are free. They are set from the labels of its members, so that
the cost of a labelling is one penalty for each broken clique, for any other penalties too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array

from ranking.core import Bools, Floats, Ints
from ranking.core.errors import InputError
from ranking.inference.components import Components
from ranking.inference.flips import PairwiseMaxMarginals, finite
from ranking.inference.max_marginals import best_labelling, max_marginals

# for a graph with fewer edges
MAX_CLIQUES = 10_000


def maximal_cliques(n: int, edges: Ints) -> list[Ints]:
    """Return all maximal sets of two or more samples that are joined pair by pair, in ascending order.

    >>> maximal_cliques(5, np.array([[0, 1], [1, 2], [2, 0], [2, 3]]))
    [array([0, 1, 2]), array([2, 3])]
    """
    # By Bron and Kerbosch with pivots. Graphs of nearest neighbours and of groups have at most about as many
    # cliques as edges, other graphs exponentially many: ValueError if there are more than both the edges and
    # MAX_CLIQUES.
    neighbours: list[set[int]] = [set() for _ in range(n)]
    for i, j in edges.tolist():
        neighbours[i].add(j)
        neighbours[j].add(i)
    cliques: list[list[int]] = []
    limit = max(MAX_CLIQUES, len(edges))
    for clique in _grown(neighbours):
        if len(clique) > 1:
            cliques.append(sorted(clique))
        if len(cliques) > limit:
            raise InputError(
                "cliques of similar samples",
                f"at most {limit:,} of {len(edges):,} pairs",
                "more cliques",
                "choose other pairs, or potentials of pairs instead of cliques",
            )
    return [np.array(clique) for clique in sorted(cliques)]


def _grown(neighbours: list[set[int]]) -> Iterator[list[int]]:
    stack: list[tuple[list[int], set[int], set[int]]] = [([], set(range(len(neighbours))), set())]
    while stack:
        clique, candidates, excluded = stack.pop()
        if not candidates:
            if not excluded:
                yield clique
            continue
        degrees = {i: len(candidates & neighbours[i]) for i in candidates | excluded}
        # they are a clique, which would be slow to grow sample by sample
        if all(degrees[i] == len(candidates) - 1 for i in candidates):
            if all(degrees[i] < len(candidates) for i in excluded):
                yield [*clique, *candidates]
            continue
        pivot = max(degrees, key=degrees.__getitem__)
        for i in sorted(candidates - neighbours[pivot]):
            stack.append(([*clique, i], candidates & neighbours[i], excluded & neighbours[i]))
            candidates.remove(i)
            excluded.add(i)


@dataclass(frozen=True, eq=False)
class Cliques:
    """n samples and c cliques as a pairwise model of N samples and M edges; `Cliques.of` makes it."""

    n: int
    # (k,) the samples of all cliques, clique after clique
    members: Ints
    # (c + 1,) where each begins
    starts: Ints
    # of the N samples, of which the first n are the given ones
    components: Components
    # (c,) number of the auxiliary sample "all members have label 1"; -1 for a clique of two, which is a pair
    every: Ints
    # (N + M, n + c), maps scores and penalties of cliques to those of pairs
    matrix: csr_array

    @classmethod
    def of(cls, n: int, cliques: list[Ints]) -> Self:
        """Return the model of cliques (k,) of two or more different samples below n; they may overlap."""
        sizes = np.array([len(clique) for clique in cliques], np.int64)
        members = np.concatenate([np.empty(0, np.int64), *cliques])
        bad = [clique.tolist() for clique in cliques if len(np.unique(clique)) < max(2, len(clique))]
        if bad:
            raise InputError("clique", "two or more samples, all different", bad[0], "omit it")
        large = sizes > 2
        # of each member's clique
        number = np.repeat(np.arange(len(sizes)), sizes)
        aux = np.where(large, n + 2 * (np.cumsum(large) - 1), -1)
        inside = large[number]
        spokes = [np.stack([members[inside], aux[number[inside]] + k], axis=1) for k in (0, 1)]
        edges = np.concatenate([members[~inside].reshape(-1, 2), *spokes])
        of_edge = np.concatenate([np.flatnonzero(~large), *2 * [number[inside]]])
        total, weight = n + 2 * int(large.sum()), 0.5 * sizes[large] - 1.0
        rows = [np.arange(n), aux[large], aux[large] + 1, total + np.arange(len(edges))]
        columns = [np.arange(n), *2 * [n + np.flatnonzero(large)], n + of_edge]
        shares = [np.ones(n), weight, -weight, np.where(large[of_edge], 0.5, 1.0)]
        entries = np.concatenate(shares), (np.concatenate(rows), np.concatenate(columns))
        matrix = csr_array(coo_array(entries, shape=(total + len(edges), n + len(sizes))))
        starts = np.append(0, np.cumsum(sizes))
        return cls(n, members, starts, Components.of(total, edges), aux, matrix)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def broken(self, labels: npt.ArrayLike) -> Bools:
        """Return (c,) whether the labels (n,) bool of the members of each clique differ."""
        if not len(self):
            return np.zeros(0, bool)
        ones = np.add.reduceat(np.asarray(labels, np.int64)[self.members], self.starts[:-1])
        differ: Bools = (ones > 0) & (ones < np.diff(self.starts))
        return differ

    def best_labelling(self, unary: npt.ArrayLike, penalty: npt.ArrayLike) -> Bools:
        """Return (n,) the best labelling for unary scores (n,) and penalties (c,) <= 0.

        >>> Cliques.of(3, [np.arange(3)]).best_labelling([1.0, 1.0, -1.5], [-2.0])
        array([ True,  True,  True])
        """
        scores, costs = self._expanded(unary, penalty)
        return best_labelling(scores, self.components.edges, costs, self.components)[0][: self.n]

    def max_marginals(self, unary: npt.ArrayLike, penalty: npt.ArrayLike) -> CliqueMaxMarginals:
        """Return the max-marginals of the same model."""
        scores, costs = self._expanded(unary, penalty)
        marginals = max_marginals(scores, self.components.edges, costs, components=self.components)
        return CliqueMaxMarginals(self, marginals.settled(self.members, self.starts, self.every))

    def _expanded(self, unary: npt.ArrayLike, penalty: npt.ArrayLike) -> tuple[Floats, Floats]:
        costs = finite("penalty", penalty, len(self), "per clique")
        return self.expanded(finite("unary", unary, self.n), costs)

    def expanded(self, unary: Floats, penalty: Floats) -> tuple[Floats, Floats]:
        """Return scores (n,) and penalties (c,) as those of the N samples and M edges."""
        combined = self.matrix @ np.concatenate([unary, penalty])
        samples, pairs = np.split(combined, [self.components.samples])
        return samples, pairs

    def collapsed(self, samples: Floats, edges: Floats) -> tuple[Floats, Floats]:
        """Apply the transpose of `expanded`."""
        combined = self.matrix.T @ np.concatenate([samples, edges])
        own, cliques = np.split(combined, [self.n])
        return own, cliques


@dataclass(frozen=True, eq=False)
class CliqueMaxMarginals:
    """`MaxMarginals` of a model of cliques, exact; its penalties are one per clique."""

    _cliques: Cliques
    _pairs: PairwiseMaxMarginals

    @cached_property
    def positive(self) -> Floats:
        return self._pairs.positive[: self._cliques.n]

    @cached_property
    def negative(self) -> Floats:
        return self._pairs.negative[: self._cliques.n]

    @cached_property
    def difference(self) -> Floats:
        return self._pairs.difference[: self._cliques.n]

    @cached_property
    def map(self) -> Bools:
        return self._pairs.map[: self._cliques.n]

    @property
    def excess(self) -> Floats:
        return np.zeros(self._cliques.n)

    @property
    def relaxed(self) -> Bools:
        return np.zeros(self._cliques.n, bool)

    def labelling(self, i: int, label: bool) -> Bools:
        if not 0 <= i < self._cliques.n:
            raise InputError("sample", f"0 to {self._cliques.n - 1}", i)
        return self._pairs.labelling(i, label)[: self._cliques.n]

    def sums(self, labels: npt.ArrayLike, weights: npt.ArrayLike) -> tuple[Floats, Floats]:
        zeros = np.zeros(self._cliques.components.samples - self._cliques.n)
        weight = np.append(finite("weights", weights, self._cliques.n), zeros)
        return self._cliques.collapsed(*self._pairs.sums(self._all_labels(labels), weight))

    def values(self, labels: npt.ArrayLike, unary: npt.ArrayLike, penalty: npt.ArrayLike) -> Floats:
        scores = finite("unary", unary, self._cliques.n)
        costs = finite("penalty", penalty, len(self._cliques), "per clique")
        expanded = self._cliques.expanded(scores, costs)
        return self._pairs.values(self._all_labels(labels), *expanded)[: self._cliques.n]

    def _all_labels(self, labels: npt.ArrayLike) -> Bools:
        """Return (N,) labels; those of auxiliary samples do not count."""
        extended = self._pairs.map.copy()
        extended[: self._cliques.n] = finite("labels", labels, self._cliques.n) != 0
        return extended
