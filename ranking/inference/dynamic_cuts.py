"""Dynamic cuts: one cut for the best labelling, and from its flow and search trees each sample's other label.

A sample is forced to the label that it does not have by a capacity above all that holds its own. To undo that, as
much is added on the other side: both together are a constant, so the graph is the same function again, exactly, as
capacities are whole numbers, though its flow is another one that is largest too (Kohli and Torr 2005). So what a
sample needed stays where it was sent, next to the samples that need it next: these are its neighbours, as the order
is depth first. Samples that no smallest change parts (see `inseparable`) are cut once.

The samples that flip hang together, so they are found from the forced one outwards.
"""

from __future__ import annotations

import numba as nb
import numpy as np
from maxflow import GraphFloat

from ranking.inference.cuts import Network, labels_of
from ranking.inference.inseparable import inseparable
from ranking.types import Bools, Ints

FEW = 16  # samples that flip, from which on the labels of all are read at once
WORD = 64


def dynamic_flips(network: Network, labels: Bools, words: Ints, flips: Ints) -> None:
    """Max-marginal labellings of a network.

    labels: (p,) by place, the best labelling, is written; of equal ones that with the most ones. flips: uint64,
    zero, of which words[k] is the first of place k, is written: bit i says whether its label changes once the i-th
    sample of its component has to take its other label; of equal changes that to the most ones.
    """
    places = np.arange(len(network.unary))
    graph = network.graph()
    graph.maxflow()
    labels[:] = labels_of(graph, places)
    group = inseparable(network, labels)
    sizes = np.diff(network.starts)
    starts, stops = np.repeat(network.starts[:-1], sizes), np.repeat(network.starts[1:], sizes)
    word, bit = (places - starts) // WORD, np.uint64(1) << ((places - starts) % WORD).astype(np.uint64)
    flips[words[: len(places)] + word] = bit  # each flips with itself
    arcs, first = network.arcs()
    heads = network.ends[:, ::-1].ravel()[arcs]
    order = _depth_first(heads, first, labels)
    reading = _Reading(graph, labels, heads, first)
    force, label = network.force.tolist(), labels.tolist()
    for root in order[group[order] == order].tolist():
        to_source, to_sink = (0.0, force[root]) if label[root] else (force[root], 0.0)
        graph.add_tedge(root, to_source, to_sink)
        graph.mark_node(root)
        graph.maxflow(reuse_trees=True)
        flipped = reading.flipped(root, starts[root], stops[root])
        if len(flipped) > 1:
            flips[words[flipped] + word[root]] |= bit[root]
        graph.add_tedge(root, to_sink, to_source)
        graph.mark_node(root)
    _share(group, starts, stops, words, flips)


class _Reading:
    """Which samples have another label in a cut graph than in `labels`."""

    def __init__(self, graph: GraphFloat, labels: Bools, heads: Ints, first: Ints) -> None:
        self.graph, self.labels, self.label = graph, labels, labels.tolist()
        self.heads, self.first = heads.tolist(), first.tolist()

    def flipped(self, root: int, start: int, stop: int) -> Ints | list[int]:
        """Those of the component start ... stop - 1, where all of them hang together with the root."""
        segment, label, heads, first = self.graph.get_segment, self.label, self.heads, self.first
        found, seen = [root], {root}
        for place in found:
            for head in heads[first[place] : first[place + 1]]:
                if segment(head) == label[head] and head not in seen:  # segment 1 is the sink's, label 0
                    found.append(head)
                    seen.add(head)
            if len(found) > FEW:
                places = np.arange(start, stop)
                return places[labels_of(self.graph, places) != self.labels[start:stop]]
        return found


def _share(group: Ints, starts: Ints, stops: Ints, words: Ints, flips: Ints) -> None:
    """Let each sample flip what the first of its group flips."""
    for root in np.unique(group[group != np.arange(len(group))]):
        start, stop = starts[root], stops[root]
        members = np.zeros(WORD * (words[start + 1] - words[start]), bool)
        members[: stop - start] = group[start:stop] == root
        mask = np.packbits(members, bitorder="little").view("<u8")
        word, bit = divmod(int(root - start), WORD)
        own = words[start:stop]
        flipped = own[(flips[own + word] >> np.uint64(bit)) & np.uint64(1) == 1]
        flips[flipped[:, None] + np.arange(len(mask))] |= mask


@nb.njit(cache=True, nogil=True)
def _depth_first(heads: Ints, first: Ints, labels: Bools) -> Ints:
    """(p,) all places, neighbours of one label after each other."""
    at = first[:-1].copy()
    seen = np.zeros(len(labels), np.bool_)
    order, path = np.empty(len(labels), np.int64), np.empty(len(labels), np.int64)
    count = 0
    for root in range(len(labels)):
        if seen[root]:
            continue
        path[0], steps = root, 1
        seen[root], order[count] = True, root
        count += 1
        while steps:
            place = path[steps - 1]
            if at[place] == first[place + 1]:
                steps -= 1
                continue
            head = heads[at[place]]
            at[place] += 1
            if not seen[head] and labels[head] == labels[place]:
                path[steps], steps = head, steps + 1
                seen[head], order[count] = True, head
                count += 1
    return order
