"""Roof duality: large components with penalties of either sign as twice as large ones, whose best is a minimum cut.

A positive penalty is gained where labels differ; then the best labelling is NP-hard to find (high-order, remark after
eq. 6). Give each sample two labels, p_i and q_i. A pair with a penalty <= 0 joins p_i to p_j and q_i to q_j, each for
half of the penalty; one with a penalty > 0 joins p_i to q_j and q_i to p_j; scores are halved too. Where p = q that is
the model itself, so the best p and q are worth as much as the best labelling or more. They are the optimum of the
linear relaxation over the local polytope, at labels (p_i + q_i) / 2 in {0, 1/2, 1} (Hammer, Hansen and Simeone 1984;
Kolmogorov and Rother 2007). With 1 - q in place of q no penalty is positive, and a minimum cut finds it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from ranking.core import Bools, Floats, Ints
from ranking.core.errors import InputError
from ranking.inference.components import Components, Model
from ranking.inference.cuts import Network, best_cut, network_of
from ranking.inference.enumeration import LARGEST_ENUMERATED

LARGEST_DOUBLED = (
    5_000  # samples of a component: their max-marginals take some 15 bytes for each pair, 0.4 GB
)


@dataclass(frozen=True, eq=False)
class Doubling:
    """The components of more than 12 samples, which are the first `large` ones, in two copies; others as they are.

    Of n samples and m edges come N and M: the first n and m are those given (and the first copies), the others the
    second copies, in the order of their places. components: of all N. place, row: (2, .) place of the first and of
    the second copy of each doubled sample; the same of each doubled edge.
    """

    given: Components
    components: Components
    large: int
    place: Ints
    row: Ints

    @classmethod
    def of(cls, given: Components) -> Self:
        """Of any components; ValueError where one has more than LARGEST_DOUBLED samples."""
        if given.larger_than(LARGEST_DOUBLED):
            raise InputError(
                "samples in one component",
                f"at most {LARGEST_DOUBLED:,} with pairs of either sign, because memory grows with their square",
                int(given.sizes[0]),
                "choose neighbours of fewer pairs, such as those of one image, or attractive pairs",
            )
        large = given.larger_than(LARGEST_ENUMERATED)
        place, row = _copies(given.starts[: large + 1]), _copies(given.edge_starts[: large + 1])
        samples, edges = place.shape[1], row.shape[1]
        ends = np.empty((len(given.ends) + edges, 2), np.int64)
        for copy in (0, 1):
            ends[row[copy]] = place[copy][given.ends[:edges]]
        ends[2 * edges :] = given.ends[edges:] + samples
        order, edge_order = _ordered(given.order, place), _ordered(given.edge_order, row)
        components = Components(
            edges=_by_number(edge_order, order[ends]),
            order=order,
            starts=np.append(2 * given.starts[:large], given.starts[large:] + samples),
            edge_order=edge_order,
            edge_starts=np.append(2 * given.edge_starts[:large], given.edge_starts[large:] + edges),
            ends=ends,
        )
        return cls(given, components, large, place, row)

    def model(self, given: Model) -> Model:
        """`given`, doubled: pairs that repel join first to second copies."""
        repels = given.penalty[: self.row.shape[1]] > 0
        ends = self.components.ends.copy()
        first, second = self.row[:, repels]
        ends[first, 1], ends[second, 1] = ends[second, 1], ends[first, 1]
        parts = self.components
        edges = _by_number(parts.edge_order, parts.order[ends])
        crossed = Components(edges, parts.order, parts.starts, parts.edge_order, parts.edge_starts, ends)
        return Model(crossed, _halved(given.unary, self.place), _halved(given.penalty, self.row))

    def network(self, model: Model) -> Network:
        """The doubled components of `model`, as capacities; at second copies the source means label 0."""
        unary = model.unary.copy()
        unary[self.place[1]] *= -1.0
        return network_of(Model(model.components, unary, -np.abs(model.penalty)), self.large)

    def best(self, network: Network) -> Bools:
        """(2p,) the best p and q of the doubled components, by place."""
        labels = best_cut(network)
        labels[self.place[1]] ^= True
        return labels

    def expanded(self, unary: Floats, penalty: Floats) -> tuple[Floats, Floats]:
        """(n,) scores and (m,) penalties as those of the N samples and M edges."""
        parts = self.given
        return (
            _with_halves(unary, parts.order[: self.place.shape[1]]),
            _with_halves(penalty, parts.edge_order[: self.row.shape[1]]),
        )

    def collapsed(self, samples: Floats, edges: Floats) -> tuple[Floats, Floats]:
        """The transpose of `expanded`: of labels 0 and 1, and of where they differ, the means of both copies."""
        parts = self.given
        return (
            _mean_of_copies(samples, parts.order[: self.place.shape[1]]),
            _mean_of_copies(edges, parts.edge_order[: self.row.shape[1]]),
        )

    @property
    def second(self) -> Ints:
        """(n,) number of the second copy of each sample; of one that is not doubled its own."""
        numbers = np.arange(self.given.samples)
        doubled = self.place.shape[1]
        numbers[self.given.order[:doubled]] = self.given.samples + np.arange(doubled)
        return numbers


def forced_labellings(part: Network, labels: Bools) -> Iterator[Bools]:
    """(2s,) p and q of one doubled component, best where y_i = 1, for each sample i; then best where y_i = 0.

    labels: (2s,) the best p and q. Each cut goes on from the flow of the one before (Kohli and Torr 2005).
    """
    places, size = np.arange(len(labels)), len(labels) // 2
    graph = part.graph()
    graph.maxflow()
    for wanted in (True, False):
        for i in range(size):
            if labels[i] == labels[i + size] == wanted:
                yield labels
                continue
            forces = ((i, part.force[i], wanted), (i + size, part.force[i + size], not wanted))
            for place, force, source in forces:
                graph.add_tedge(place, force if source else 0.0, 0.0 if source else force)
                graph.mark_node(place)
            graph.maxflow(reuse_trees=True)
            found: Bools = ~graph.get_grid_segments(places)
            found[size:] ^= True
            yield found
            for place, force, source in forces:  # both sides alike are a constant
                graph.add_tedge(place, 0.0 if source else force, force if source else 0.0)
                graph.mark_node(place)


def _copies(starts: Ints) -> Ints:
    """(2, .) where the first and the second copy of what each component has stand, all first copies first."""
    sizes = np.diff(starts)
    first = np.arange(starts[-1]) + np.repeat(starts[:-1], sizes)
    return np.stack([first, first + np.repeat(sizes, sizes)])


def _ordered(order: Ints, place: Ints) -> Ints:
    doubled = place.shape[1]
    found = np.empty(len(order) + doubled, np.int64)
    found[place[0]], found[place[1]] = order[:doubled], len(order) + np.arange(doubled)
    found[2 * doubled :] = order[doubled:]
    return found


def _by_number(edge_order: Ints, ends: Ints) -> Ints:
    edges = np.empty_like(ends)
    edges[edge_order] = ends
    return edges


def _halved(values: Floats, place: Ints) -> Floats:
    """Values by place, those of doubled ones halved at both copies."""
    doubled = place.shape[1]
    found = np.empty(len(values) + doubled)
    found[place] = 0.5 * values[:doubled]
    found[2 * doubled :] = values[doubled:]
    return found


def _with_halves(values: Floats, doubled: Ints) -> Floats:
    found = np.append(values, 0.5 * values[doubled])
    found[doubled] *= 0.5
    return found


def _mean_of_copies(values: Floats, doubled: Ints) -> Floats:
    found = values[: len(values) - len(doubled)].copy()
    found[doubled] = 0.5 * (found[doubled] + values[len(found) :])
    return found
