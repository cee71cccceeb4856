"""Which samples of a cut network no smallest change parts: one of them is solved for all of its group.

To flip all samples of a label costs what room a largest flow leaves at their terminals: no smallest change costs
more. Samples that cannot be parted for as little stay together. The flow is a blocking flow on shortest paths from
all sources at once, until no path is left (Dinic). An arc is numbered 2e or 2e + 1, for the directions of edge e.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numba as nb
import numpy as np

from ranking.inference.cuts import Network
from ranking.types import Bools, Ints

UNSEEN, CLOSED = -1, -2
MOST = 1 << 60  # more than any sample's capacities together, so that sums over all samples can stop there


class Flow(NamedTuple):
    """What is left of the capacities under a flow, and the arrays of a search.

    left: (2q,) of each arc. terminal: (p,) from the source where positive, to the sink where negative. heads: (2q,)
    arcs: (2q,) grouped by their tails, first: (p + 1,) where each group begins. level: (p,) steps from a source.
    queue: (p,) samples reached. at: (p,) next arc to try. path: (p,) arcs from the source.
    """

    left: Ints
    terminal: Ints
    heads: Ints
    arcs: Ints
    first: Ints
    level: Ints
    queue: Ints
    at: Ints
    path: Ints


def inseparable(network: Network, labels: Bools) -> Ints:
    """(p,) the first place of each place's group, under the best labelling `labels` (p,)."""
    places = len(network.unary)
    arcs, first = network.arcs()
    flow = Flow(
        left=np.repeat(network.capacities.astype(np.int64), 2),
        terminal=network.unary.astype(np.int64),
        heads=np.ascontiguousarray(network.ends[:, ::-1].ravel()),
        arcs=arcs,
        first=first,
        level=np.empty(places, np.int64),
        queue=np.empty(places, np.int64),
        at=np.empty(places, np.int64),
        path=np.empty(places, np.int64),
    )
    group = np.arange(places)
    _group(flow, labels, network.starts, group)
    return group


@nb.njit(cache=True, nogil=True)
def _group(flow: Flow, labels: Bools, starts: Ints, group: Ints) -> None:
    _send(flow)
    for c in range(len(starts) - 1):
        group[starts[c] : starts[c + 1]] = starts[c] + _inseparable(flow, labels, starts[c], starts[c + 1])


@nb.njit(cache=True, nogil=True)
def _send(flow: Flow) -> None:
    """A largest flow."""
    while True:
        count, depth = _search(flow)
        if not depth:
            return
        flow.at[:] = flow.first[:-1]
        for q in range(count):
            root = flow.queue[q]
            if flow.level[root] > 0:  # the sources come first
                break
            _block(flow, root, depth)


@nb.njit(cache=True, nogil=True)
def _search(flow: Flow) -> tuple[int, int]:
    """Reach samples breadth first, up to the first level with room at the sink; how many, and that level or 0."""
    count, depth, q = 0, 0, 0
    for place in range(len(flow.terminal)):
        flow.level[place] = UNSEEN
        if flow.terminal[place] > 0:
            flow.level[place] = 0
            flow.queue[count] = place
            count += 1
    while q < count:
        tail = flow.queue[q]
        q += 1
        if depth and flow.level[tail] >= depth:
            break
        for a in range(flow.first[tail], flow.first[tail + 1]):
            arc = flow.arcs[a]
            head = flow.heads[arc]
            if flow.level[head] == UNSEEN and flow.left[arc]:
                flow.level[head] = flow.level[tail] + 1
                flow.queue[count] = head
                count += 1
                if not depth and flow.terminal[head] < 0:
                    depth = flow.level[head]
    return count, depth


@nb.njit(cache=True, nogil=True)
def _block(flow: Flow, root: int, depth: int) -> None:
    """Send from the root along shortest paths until each is blocked or nothing is left."""
    place, steps = root, 0
    while flow.terminal[root] > 0:
        if steps == depth and flow.terminal[place] < 0:
            room = min(flow.terminal[root], -flow.terminal[place])
            for step in range(steps):
                room = min(room, flow.left[flow.path[step]])
            flow.terminal[root] -= room
            flow.terminal[place] += room
            blocked = steps
            for step in range(steps - 1, -1, -1):
                arc = flow.path[step]
                flow.left[arc] -= room
                flow.left[arc ^ 1] += room
                if not flow.left[arc]:
                    blocked = step
            if blocked < steps:
                steps = blocked
                place = flow.heads[flow.path[steps] ^ 1]
            continue
        stepped = False
        while steps < depth and flow.at[place] < flow.first[place + 1]:
            arc = flow.arcs[flow.at[place]]
            head = flow.heads[arc]
            if flow.left[arc] and flow.level[head] == steps + 1:
                flow.path[steps] = arc
                place, steps, stepped = head, steps + 1, True
                break
            flow.at[place] += 1
        if not stepped:
            if not steps:
                return
            flow.level[place] = CLOSED
            steps -= 1
            place = flow.heads[flow.path[steps] ^ 1]


@nb.njit(cache=True, nogil=True)
def _inseparable(flow: Flow, labels: Bools, start: int, stop: int) -> Ints:
    """Groups of samples, by the number of one of them, of which no smallest change flips only some.

    To flip all samples of a label costs what room their terminals have left: no smallest change costs more. Samples
    that cannot be parted for as little stay together. Such pairs are found by orders of maximum adjacency
    (Nagamochi and Ibaraki 1992): the weight that a sample has to those before it, once an edge is added, bounds from
    below what it costs to part the edge's ends. Groups are merged into one sample each until no more are found.
    """
    size = stop - start
    most, weight = np.zeros(2, np.int64), np.zeros(size, np.int64)
    for place in range(start, stop):
        label = int(labels[place])
        most[label] = min(MOST, most[label] + abs(flow.terminal[place]))
        for a in range(flow.first[place], flow.first[place + 1]):
            weight[place - start] += _bond(flow, labels, flow.arcs[a])
    group, before = np.arange(size), size + 1
    few = 0
    for place in range(start, stop):
        few += weight[place - start] > most[int(labels[place])]
    groups = size if few else 0
    while groups < before and groups:
        before = groups
        groups = size - _merge(flow, labels, start, most, group)
    return group


@nb.njit(cache=True, nogil=True)
def _bond(flow: Flow, labels: Bools, arc: int) -> int:
    """What it costs at least to part the ends of an arc, whichever of them flips."""
    if labels[flow.heads[arc]] != labels[flow.heads[arc ^ 1]]:
        return 0
    least: int = min(flow.left[arc], flow.left[arc ^ 1])
    return least


@nb.njit(cache=True, nogil=True)
def _merge(flow: Flow, labels: Bools, start: int, most: Ints, group: Ints) -> int:
    """Merge groups along one order of maximum adjacency; how many samples are not the first of their group."""
    size = len(group)
    members = np.argsort(group, kind="mergesort")
    first = np.searchsorted(group[members], np.arange(size + 1))
    weight, done, merged = np.zeros(size, np.int64), np.zeros(size, np.bool_), np.arange(size)
    for begin in range(size):
        if group[begin] != begin or done[begin]:
            continue
        heap = [(0, begin)]
        while heap:
            _, own = heappop(heap)
            if done[own]:
                continue
            done[own] = True
            for member in members[first[own] : first[own + 1]]:
                place = start + member
                for a in range(flow.first[place], flow.first[place + 1]):
                    arc = flow.arcs[a]
                    other = group[flow.heads[arc] - start]
                    bond = _bond(flow, labels, arc)
                    if bond and not done[other]:
                        weight[other] += bond
                        heappush(heap, (-weight[other], other))
                        if weight[other] > most[int(labels[place])]:
                            _unite(merged, own, other)
    found = 0
    for i in range(size):
        group[i] = _root_of(merged, group[i])
        found += group[i] != i
    return found


@nb.njit(cache=True, nogil=True)
def _unite(merged: Ints, a: int, b: int) -> None:
    a, b = _root_of(merged, a), _root_of(merged, b)
    merged[max(a, b)] = min(a, b)


@nb.njit(cache=True, nogil=True)
def _root_of(merged: Ints, i: int) -> int:
    while merged[i] != i:
        merged[i] = merged[merged[i]]
        i = merged[i]
    return i
