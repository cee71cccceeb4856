"""Best labellings of large components by minimum cut (Boykov and Kolmogorov), with penalties <= 0.

Label 1 is the source side. A cut costs, for each sample, the gain of the label that it does not get and, for each edge
between the sides, its penalty. Capacities are whole multiples of one unit per component, as floats below
2^53: their sums and differences are exact, so that added flow can be removed without a trace, equal cuts stay equal,
and of equal ones the cut with the most samples at the source is found. Nodes are samples by position.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from maxflow import GraphFloat

from ranking.core import Bools, Floats, Ints
from ranking.inference.components import PairwiseModel

# of a sample's total penalty in units; the capacities at a sample sum to at most eight times that
BITS = 49


class Network(NamedTuple):
    """The first components of a model, as capacities."""

    # (c + 1,) first node of each
    starts: Ints
    # (p,) to the source where positive, to the sink where negative
    unary: Floats
    # (q, 2) nodes that edges join
    ends: Ints
    # (q,)
    capacities: Floats
    # (p,) more than all that holds a sample's label
    force: Floats

    def part(self, number: int, edge_starts: Ints) -> Network:
        """Return component `number` as a separate network."""
        nodes = slice(self.starts[number], self.starts[number + 1])
        edges = slice(edge_starts[number], edge_starts[number + 1])
        ends = self.ends[edges] - nodes.start
        starts = np.array([0, nodes.stop - nodes.start])
        return Network(starts, self.unary[nodes], ends, self.capacities[edges], self.force[nodes])

    def graph(self) -> GraphFloat:
        """Return a new graph, not cut yet."""
        graph = GraphFloat(len(self.unary), len(self.ends))
        nodes = graph.add_grid_nodes(len(self.unary))
        graph.add_grid_tedges(nodes, np.maximum(self.unary, 0), np.maximum(-self.unary, 0))
        graph.add_edges(self.ends[:, 0], self.ends[:, 1], self.capacities, self.capacities)
        return graph


def network_of(model: PairwiseModel, last: int) -> Network:
    """Return the components before `last`, each in its own unit."""
    # The unit is 2^-49 of the largest sum of penalties at a sample. A score larger than all penalties of its
    # sample together cannot be outvoted, so what exceeds them is dropped. Others are rounded away from zero,
    # so that none loses its sign.
    parts = model.components
    starts = parts.starts[: last + 1]
    ends, penalty = parts.ends[: parts.edge_starts[last]], -model.penalty[: parts.edge_starts[last]]
    exponents = BITS - np.frexp(np.maximum.reduceat(_touching(ends, penalty, starts[-1]), starts[:-1]))[1]
    edges_of = np.diff(parts.edge_starts[: last + 1])
    capacities = np.rint(np.ldexp(penalty, np.repeat(exponents, edges_of)))
    holding = _touching(ends, capacities, starts[-1])
    unary = model.unary[: starts[-1]]
    # infinite values are reduced too
    with np.errstate(over="ignore"):
        units = np.ceil(np.ldexp(np.abs(unary), np.repeat(exponents, np.diff(starts))))
    most = 2 * holding + 1
    return Network(starts, np.copysign(np.minimum(units, most), unary), ends, capacities, most + holding + 1)


def _touching(ends: Ints, weights: Floats, nodes: int) -> Floats:
    """Return (nodes,) the sum of the weights of each sample's edges."""
    return np.bincount(ends.ravel(), np.repeat(weights, 2), minlength=nodes).astype(np.float64, copy=False)


def best_cut(network: Network) -> Bools:
    """Return (p,) the best labelling."""
    graph = network.graph()
    graph.maxflow()
    return _labels(graph, np.arange(len(network.unary)))


def forced_cut(network: Network, node: int, label: bool) -> Bools:
    """Return (p,) the best labelling in which a node has `label`, by a cut of a new graph."""
    graph = network.graph()
    _force(graph, node, network.force[node], label)
    graph.maxflow()
    return _labels(graph, np.arange(len(network.unary)))


def cold_flips(network: Network, edge_starts: Ints) -> Iterator[Bools]:
    """Yield max-marginal labellings by eqs. 9 and 10 of high-order directly: two new graphs per sample."""
    # For i = 0, 1, ...: where the two labellings of the i-th sample differ, in each component of more than i
    # samples, by position up to the end of these components.
    sizes = np.diff(network.starts)
    parts = [network.part(number, edge_starts) for number in range(len(sizes))]
    for i in range(sizes[0]):
        active = parts[: np.count_nonzero(sizes > i)]
        yield np.concatenate([forced_cut(part, i, True) ^ forced_cut(part, i, False) for part in active])


def _labels(graph: GraphFloat, nodes: Ints) -> Bools:
    """Return the labels of a graph that is cut; PyMaxflow chooses the source where both are possible."""
    at_sink: Bools = graph.get_grid_segments(nodes)
    return ~at_sink


def _force(graph: GraphFloat, node: int, force: float, label: bool) -> None:
    graph.add_tedge(node, force if label else 0.0, 0.0 if label else force)
