"""Roof duality: large components with penalties of either sign are doubled and solved by a minimum cut.

A positive penalty is a gain if labels differ; the best labelling is then NP-hard to find (high-order, remark after eq.
6). Give each sample two labels, p_i and q_i. A pair with a penalty <= 0 joins p_i to p_j and q_i to q_j, each for half
of the penalty; a pair with a penalty > 0 joins p_i to q_j and q_i to p_j; scores are halved too. For p = q this is the
original model, so the value of the best p and q is at least that of the best labelling. They are the optimum of the
linear relaxation over the local polytope, at labels (p_i + q_i) / 2 in {0, 1/2, 1} (Hammer, Hansen and Simeone 1984;
Kolmogorov and Rother 2007). With 1 - q in place of q no penalty is positive, and a minimum cut finds the optimum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from ranking.core import Bools, Floats, Ints
from ranking.core.errors import InputError
from ranking.inference.components import Components, PairwiseModel
from ranking.inference.cuts import Network, best_cut, network_of
from ranking.inference.enumeration import LARGEST_ENUMERATED

# samples of a component: their max-marginals take some 15 bytes for each pair, 0.4 GB
LARGEST_DOUBLED = 5_000


@dataclass(frozen=True, eq=False)
class Doubling:
    """Components of more than 12 samples, the first `large` ones, in two copies; all others unchanged."""

    # n samples and m edges become N and M: the first n and m are the given ones (and the first copies), the
    # others the second copies, in the order of their positions.

    original: Components
    # of all N
    components: Components
    large: int
    # position, row: (2, .) position of the first and of the second copy of each doubled sample; the same for
    # each doubled edge
    position: Ints
    row: Ints

    @classmethod
    def of(cls, original: Components) -> Self:
        """Double any components; ValueError where one has more than LARGEST_DOUBLED samples."""
        if original.larger_than(LARGEST_DOUBLED):
            raise InputError(
                "samples in one component",
                f"at most {LARGEST_DOUBLED:,} with pairs of either sign, because memory grows with their square",
                int(original.sizes[0]),
                "choose neighbours of fewer pairs, such as those of one image, or attractive pairs",
            )
        large = original.larger_than(LARGEST_ENUMERATED)
        position, row = _copies(original.starts[: large + 1]), _copies(original.edge_starts[: large + 1])
        samples, edges = position.shape[1], row.shape[1]
        ends = np.empty((len(original.ends) + edges, 2), np.int64)
        for copy in (0, 1):
            ends[row[copy]] = position[copy][original.ends[:edges]]
        ends[2 * edges :] = original.ends[edges:] + samples
        order, edge_order = _ordered(original.order, position), _ordered(original.edge_order, row)
        components = Components(
            edges=_by_number(edge_order, order[ends]),
            order=order,
            starts=np.append(2 * original.starts[:large], original.starts[large:] + samples),
            edge_order=edge_order,
            edge_starts=np.append(2 * original.edge_starts[:large], original.edge_starts[large:] + edges),
            ends=ends,
        )
        return cls(original, components, large, position, row)

    def model(self, original: PairwiseModel) -> PairwiseModel:
        """Return the doubled model: pairs that repel join first to second copies."""
        repels = original.penalty[: self.row.shape[1]] > 0
        ends = self.components.ends.copy()
        first, second = self.row[:, repels]
        ends[first, 1], ends[second, 1] = ends[second, 1], ends[first, 1]
        parts = self.components
        edges = _by_number(parts.edge_order, parts.order[ends])
        crossed = Components(edges, parts.order, parts.starts, parts.edge_order, parts.edge_starts, ends)
        return PairwiseModel(
            crossed, _halved(original.unary, self.position), _halved(original.penalty, self.row)
        )

    def network(self, model: PairwiseModel) -> Network:
        """Return the doubled components as capacities; for second copies the source means label 0."""
        unary = model.unary.copy()
        unary[self.position[1]] *= -1.0
        return network_of(PairwiseModel(model.components, unary, -np.abs(model.penalty)), self.large)

    def best(self, network: Network) -> Bools:
        """Return (2p,) the best p and q of the doubled components, by position."""
        labels = best_cut(network)
        labels[self.position[1]] ^= True
        return labels

    def expanded(self, unary: Floats, penalty: Floats) -> tuple[Floats, Floats]:
        """Return (n,) scores and (m,) penalties as those of the N samples and M edges."""
        parts = self.original
        return (
            _with_halves(unary, parts.order[: self.position.shape[1]]),
            _with_halves(penalty, parts.edge_order[: self.row.shape[1]]),
        )

    def collapsed(self, samples: Floats, edges: Floats) -> tuple[Floats, Floats]:
        """Apply the transpose of `expanded`: labels, and where they differ, become means of both copies."""
        parts = self.original
        return (
            _mean_of_copies(samples, parts.order[: self.position.shape[1]]),
            _mean_of_copies(edges, parts.edge_order[: self.row.shape[1]]),
        )

    @property
    def second(self) -> Ints:
        """(n,) number of the second copy of each sample; of a sample that is not doubled, its own."""
        numbers = np.arange(self.original.samples)
        doubled = self.position.shape[1]
        numbers[self.original.order[:doubled]] = self.original.samples + np.arange(doubled)
        return numbers


def forced_labellings(part: Network, labels: Bools) -> Iterator[Bools]:
    """Yield (2s,) p and q of a doubled component, best where y_i = 1, for each sample i, then y_i = 0."""
    # labels: (2s,) the best p and q. Each cut starts from the flow of the one before (Kohli and Torr 2005).
    nodes, size = np.arange(len(labels)), len(labels) // 2
    graph = part.graph()
    graph.maxflow()
    for label in (True, False):
        for i in range(size):
            if labels[i] == labels[i + size] == label:
                yield labels
                continue
            forces = ((i, part.force[i], label), (i + size, part.force[i + size], not label))
            for node, force, source in forces:
                graph.add_tedge(node, force if source else 0.0, 0.0 if source else force)
                graph.mark_node(node)
            graph.maxflow(reuse_trees=True)
            labelling: Bools = ~graph.get_grid_segments(nodes)
            labelling[size:] ^= True
            yield labelling
            # equal on both sides: a constant
            for node, force, source in forces:
                graph.add_tedge(node, 0.0 if source else force, force if source else 0.0)
                graph.mark_node(node)


def _copies(starts: Ints) -> Ints:
    """Return (2, .) positions of both copies of each entry, per component all first copies first."""
    sizes = np.diff(starts)
    first = np.arange(starts[-1]) + np.repeat(starts[:-1], sizes)
    return np.stack([first, first + np.repeat(sizes, sizes)])


def _ordered(order: Ints, position: Ints) -> Ints:
    doubled = position.shape[1]
    extended = np.empty(len(order) + doubled, np.int64)
    extended[position[0]], extended[position[1]] = order[:doubled], len(order) + np.arange(doubled)
    extended[2 * doubled :] = order[doubled:]
    return extended


def _by_number(edge_order: Ints, ends: Ints) -> Ints:
    edges = np.empty_like(ends)
    edges[edge_order] = ends
    return edges


def _halved(values: Floats, position: Ints) -> Floats:
    """Return values by position, with doubled ones halved at both copies."""
    doubled = position.shape[1]
    extended = np.empty(len(values) + doubled)
    extended[position] = 0.5 * values[:doubled]
    extended[2 * doubled :] = values[doubled:]
    return extended


def _with_halves(values: Floats, doubled: Ints) -> Floats:
    extended = np.append(values, 0.5 * values[doubled])
    extended[doubled] *= 0.5
    return extended


def _mean_of_copies(values: Floats, doubled: Ints) -> Floats:
    means = values[: len(values) - len(doubled)].copy()
    means[doubled] = 0.5 * (means[doubled] + values[len(means) :])
    return means
