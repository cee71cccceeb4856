"""Pairwise binary models, and the connected components of their graph.

A model's value is a sum over components, so each is solved independently. Arrays "by position" have the samples in
the order of `Components.order`: component after component, the largest first, so that all components of more than s
samples are one slice at the front, and the samples without an edge one at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ranking.core import Floats, Ints, is_real
from ranking.core.errors import InputError

# of a score or penalty: sums over all of them stay finite
LARGEST = 1e150


@dataclass(frozen=True, eq=False)
class Components:
    """Connected components of a graph of n samples and m edges; `Components.of(n, edges)` finds them.

    edges: (m, 2) as given. order: (n,) the samples by position. starts: (c + 1,) first position of each component.
    edge_order: (m,) the edges, component after component. edge_starts: (c + 1,). ends: (m, 2) the positions that the
    edges in `edge_order` join.
    """

    edges: Ints
    order: Ints
    starts: Ints
    edge_order: Ints
    edge_starts: Ints
    ends: Ints

    @classmethod
    def of(cls, n: int, edges: npt.ArrayLike) -> Self:
        """Return the components of `edges` (m, 2), each unordered pair once, over samples 0 ... n - 1.

        They can be shared by all models of that graph. ValueError for other edges.

        >>> components = Components.of(4, [[1, 3]])
        >>> components.order, components.starts
        (array([1, 3, 0, 2]), array([0, 2, 3, 4]))
        """
        pairs = _checked_edges(n, edges)
        graph = coo_array((np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
        labels = connected_components(graph, directed=False)[1] if len(pairs) else np.arange(n)
        sizes = np.bincount(labels)
        rank = np.empty(len(sizes), np.int64)
        from_largest = np.argsort(-sizes, kind="stable")
        rank[from_largest] = np.arange(len(sizes))
        component = rank[labels]
        order = np.argsort(component, kind="stable")
        position_of = np.empty(n, np.int64)
        position_of[order] = np.arange(n)
        of_edge = component[pairs[:, 0]]
        edge_order = np.argsort(of_edge, kind="stable")
        return cls(
            edges=pairs,
            order=order,
            starts=np.append(0, np.cumsum(sizes[from_largest])),
            edge_order=edge_order,
            edge_starts=np.append(0, np.cumsum(np.bincount(of_edge, minlength=len(sizes)))),
            ends=position_of[pairs[edge_order]],
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def samples(self) -> int:
        return len(self.order)

    @property
    def sizes(self) -> Ints:
        """(c,) number of samples of each component, descending."""
        return np.diff(self.starts)

    @property
    def of_score(self) -> Ints:
        """(n + m,) number of the component of each sample, then of each edge."""
        number = np.empty(self.samples, np.int64)
        number[self.order] = np.repeat(np.arange(len(self)), self.sizes)
        return np.append(number, number[self.edges[:, 0]])

    def larger_than(self, size: int) -> int:
        """Return how many components have more samples than `size`; they are the first ones."""
        return int(np.searchsorted(-self.sizes, -size))

    @property
    def component_of(self) -> Ints:
        """(n,) number of the component of each sample, in sample order."""
        numbers = np.empty(self.samples, np.int64)
        numbers[self.order] = np.repeat(np.arange(len(self)), self.sizes)
        return numbers


class PairwiseModel(NamedTuple):
    """sum_i y_i unary_i + sum_e penalty_e [y_i != y_j]."""

    # unary: (n,) by position. penalty: (m,) by `edge_order`.

    components: Components
    unary: Floats
    penalty: Floats


def checked_model(
    unary: npt.ArrayLike,
    edges: npt.ArrayLike,
    penalty: npt.ArrayLike,
    components: Components | None,
    highest: float = 0.0,
) -> PairwiseModel:
    """Return the model of the arguments; InputError if they are invalid."""
    # Penalties are <= `highest`.
    scores, costs = np.asarray(unary), np.asarray(penalty)
    if scores.ndim != 1:
        raise InputError("unary", "the shape (n,), one number per sample", scores.shape)
    if components is None:
        components = Components.of(len(scores), edges)
    elif components.samples != len(scores) or not np.array_equal(components.edges, _pairs(edges)):
        raise InputError(
            "components",
            f"the components of {len(scores)} samples and the given edges",
            "the components of another graph",
            "use Components.of(n, edges)",
        )
    if costs.shape != (len(components.edges),):
        raise InputError("penalty", f"the shape ({len(components.edges)},), one number per edge", costs.shape)
    scores, costs = _checked_numbers("unary", scores), _checked_numbers("penalty", costs)
    if costs.max(initial=0.0) > highest:
        first = int(np.argmax(costs > 0))
        raise InputError(
            "penalty",
            "at most 0, so that a minimum cut finds the best labelling",
            f"{costs[first]:g} at edge {first}",
            "keep the pairwise weights <= 0, or clip with np.minimum(penalty, 0)",
        )
    return PairwiseModel(components, scores[components.order], costs[components.edge_order])


def _checked_numbers(name: str, values: npt.NDArray[np.generic]) -> Floats:
    if not is_real(values):
        raise InputError(name, "real numbers", str(values.dtype))
    numbers = values.astype(np.float64)
    # NaN is not
    usable = np.abs(numbers) <= LARGEST
    if not usable.all():
        bad = np.flatnonzero(~usable)
        raise InputError(
            name, f"numbers from {-LARGEST:g} to {LARGEST:g}", f"{len(bad)} others, the first at {bad[0]}"
        )
    return numbers


def _pairs(edges: npt.ArrayLike) -> npt.NDArray[np.generic]:
    pairs = np.asarray(edges)
    return pairs.reshape(0, 2).astype(np.int64) if pairs.size == 0 and pairs.ndim in (1, 2) else pairs


def _checked_edges(n: int, edges: npt.ArrayLike) -> npt.NDArray[np.int64]:
    array = _pairs(edges)
    if array.ndim != 2 or array.shape[1] != 2 or not np.issubdtype(array.dtype, np.integer):
        raise InputError("edges", "integers of shape (m, 2)", f"{array.dtype} of shape {array.shape}")
    pairs = array.astype(np.int64)
    if not len(pairs):
        return pairs
    outside = np.flatnonzero((pairs.min(axis=1) < 0) | (pairs.max(axis=1) >= n))
    if len(outside):
        raise InputError(
            "edges", f"samples 0 to {n - 1}", f"{pairs[outside[0]].tolist()} at edge {outside[0]}"
        )
    loops = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(loops):
        raise InputError(
            "edges",
            "two different samples each",
            f"{pairs[loops[0]].tolist()} at edge {loops[0]}",
            "remove it",
        )
    keys = np.sort(pairs.min(axis=1) * n + pairs.max(axis=1))
    if (keys[1:] == keys[:-1]).any():
        twice = int(keys[1:][keys[1:] == keys[:-1]][0])
        raise InputError(
            "edges",
            "each unordered pair once",
            f"{[twice // n, twice % n]} twice",
            "remove the duplicates, adding their penalties",
        )
    return pairs
