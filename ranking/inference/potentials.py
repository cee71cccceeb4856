"""Pairwise potentials: pairs that attract, pairs of either sign, or cliques, behind one interface.

    value(Y) = sum_i y_i unary_i + sum_t penalty_t broken_t(Y)

over the terms t of a graph of n samples and m edges. `POTENTIALS` holds them by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array

from ranking.core import Bools, Features, Floats, Ints
from ranking.inference.cliques import Cliques, maximal_cliques
from ranking.inference.components import Components
from ranking.inference.doubling import Doubling
from ranking.inference.enumeration import LARGEST_ENUMERATED
from ranking.inference.flips import MaxMarginals
from ranking.inference.max_marginals import best_labelling, max_marginals
from ranking.inference.roof_duality import bounded_labelling, bounded_max_marginals

PAIRS = r"\Psi_2(X, Y) = \eta \sum_{(i,j)\in\mathcal E,\, y_i\ne y_j} \Phi(x_i, x_j)"


class Potentials(ABC):
    """The terms of a graph of n samples; subclasses define them.

    edges: (m, 2), each unordered pair once. highest: largest allowed penalty. bounded: whether max-marginals
    may be upper bounds instead of exact. constraint: the constraint on the pairwise weights, the terms that
    they multiply, and the allowed labellings, as LaTeX. pays: the meaning of the penalty p of a term, in
    markdown. width: the meaning of an edge's penalty (`of_edges`), in markdown.
    """

    name: ClassVar[str]
    highest: ClassVar[float] = 0.0
    bounded: ClassVar[bool] = False
    constraint: ClassVar[str]
    pays: ClassVar[str]
    width: ClassVar[str]

    def __init__(self, n: int, edges: npt.ArrayLike) -> None:
        self.components = Components.of(n, edges)

    @abstractmethod
    def features(self, affinity: Features) -> Features:
        """Return (t, d2) the features of each term, from the affinities (m, d2) of the edges."""

    @abstractmethod
    def best(self, unary: Floats, penalty: Floats) -> tuple[Floats, Floats]:
        """Return the best labelling (n,) and how far it breaks each term (t,), all in [0, 1]."""

    @abstractmethod
    def broken(self, labels: Bools) -> Floats:
        """Return (t,) 1 where a labelling (n,) breaks a term, else 0."""

    @abstractmethod
    def max_marginals(self, unary: Floats, penalty: Floats) -> MaxMarginals:
        """Return the max-marginals of the model, whose sums over edges are over terms."""

    def of_edges(self, penalty: Floats) -> Floats:
        """Return (m,) the sum of the penalties of the terms that each edge belongs to."""
        return penalty


class AttractivePairs(Potentials):
    """One term per edge, exact: its penalty <= 0 is added if its labels differ (high-order, eq. 5)."""

    name = "attractive pairs"
    constraint = rf"w_2 \le 0,\quad {PAIRS}"
    pays = r"$p\le0$: penalty of a pair whose labels differ"
    width = "the learned penalty of the pair"

    def features(self, affinity: Features) -> Features:
        return affinity

    def best(self, unary: Floats, penalty: Floats) -> tuple[Floats, Floats]:
        labels, _ = best_labelling(unary, self.components.edges, penalty, self.components)
        return labels.astype(np.float64), self.broken(labels)

    def broken(self, labels: Bools) -> Floats:
        edges = self.components.edges
        differs: Bools = labels[edges[:, 0]] != labels[edges[:, 1]]
        return differs.astype(np.float64)

    def max_marginals(self, unary: Floats, penalty: Floats) -> MaxMarginals:
        return max_marginals(unary, self.components.edges, penalty, components=self.components)


class PairsOfEitherSign(AttractivePairs):
    """The same with penalties of either sign.

    It is exact in components of at most 12 samples, bounded in larger ones.
    """

    name = "pairs of either sign"
    highest = np.inf
    bounded = True
    constraint = (
        rf"w_2 \in \mathbb R^{{d_2}},\quad {PAIRS},\quad "
        r"y_i \in \{0, \tfrac12, 1\} \text{ in components of more than "
        rf"{LARGEST_ENUMERATED}"
        r"}"
    )
    pays = "$p$: the cost of a pair whose labels differ, or its gain if $p>0$"
    width = "the cost or gain of the pair if its labels differ"

    def __init__(self, n: int, edges: npt.ArrayLike) -> None:
        super().__init__(n, edges)
        self.doubling = Doubling.of(self.components)

    def best(self, unary: Floats, penalty: Floats) -> tuple[Floats, Floats]:
        labelling = bounded_labelling(unary, self.components.edges, penalty, self.doubling)
        return labelling.labels, labelling.differs

    def max_marginals(self, unary: Floats, penalty: Floats) -> MaxMarginals:
        return bounded_max_marginals(unary, self.components.edges, penalty, self.doubling)


class PottsCliques(Potentials):
    """One term per maximal clique, exact: its penalty <= 0 is added unless its labels agree (P^n Potts).

    Its affinity is the mean of its edges'. A group in which all samples are similar is one clique, whose penalty does
    not grow with its size; where no three samples are similar, cliques are pairs.
    """

    name = "P^n Potts cliques"
    constraint = (
        r"w_2 \le 0,\quad \Psi_2(X, Y) = \eta \sum_c \bar\Phi_c [y_i \ne y_j \text{ for some } i, j \in c]"
    )
    pays = (
        r"$p\le0$: penalty of a clique of mutually similar samples if its labels are not all equal; the sum is over "
        "cliques"
    )
    width = "the learned penalties of the cliques that the pair lies in"

    def __init__(self, n: int, edges: npt.ArrayLike) -> None:
        super().__init__(n, edges)
        self.cliques = Cliques.of(n, maximal_cliques(n, self.components.edges))
        self.inside = _inside(self.cliques, self.components.edges)

    def features(self, affinity: Features) -> Features:
        means: Features = (self.inside @ affinity) / self.inside.sum(axis=1)[:, None]
        return means.astype(affinity.dtype)

    def best(self, unary: Floats, penalty: Floats) -> tuple[Floats, Floats]:
        labels = self.cliques.best_labelling(unary, penalty)
        return labels.astype(np.float64), self.broken(labels)

    def broken(self, labels: Bools) -> Floats:
        return self.cliques.broken(labels).astype(np.float64)

    def max_marginals(self, unary: Floats, penalty: Floats) -> MaxMarginals:
        return self.cliques.max_marginals(unary, penalty)

    def of_edges(self, penalty: Floats) -> Floats:
        sums: Floats = self.inside.T @ penalty
        return sums


def _inside(cliques: Cliques, edges: Ints) -> csr_array:
    """Return (t, m) 1 where an edge lies in a clique, whose members ascend."""
    keys = np.sort(edges, axis=1) @ np.array([cliques.n, 1])
    order = np.argsort(keys)
    rows, columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for number, members in enumerate(np.split(cliques.members, cliques.starts[1:-1])):
        first, second = np.triu_indices(len(members), 1)
        columns.append(
            order[np.searchsorted(keys, members[first] * cliques.n + members[second], sorter=order)]
        )
        rows.append(np.full(len(first), number))
    entries = np.concatenate(rows), np.concatenate(columns)
    return csr_array(coo_array((np.ones(len(entries[0])), entries), shape=(len(cliques), len(edges))))


POTENTIALS: dict[str, type[Potentials]] = {
    kind.name: kind for kind in (AttractivePairs, PairsOfEitherSign, PottsCliques)
}
