"""Dynamic cuts: one flow for the best labelling, and from it a small search for each sample's other label.

After the cut, a sample of label 0 that has to take label 1 becomes a source without end. What it can send on from
the flow that is there, through samples of label 0 to sinks that are not full, is what the change costs; the samples
that it still reaches in the end change with it (Kohli and Torr 2005). A sample of label 1 becomes a sink in the same
way, everything reversed. Then what was sent is taken back, exactly, and it is the next sample's turn. The work is
that of the samples around, where penalties are weak.

Flow is sent by blocking flows on shortest paths (Dinic). An arc is numbered 2e or 2e + 1, for the two directions of
edge e. Searching backwards from a sink, an arc has the room of the opposite one.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numba as nb
import numpy as np

from ranking.inference.cuts import Network
from ranking.types import Bools, Ints

UNSEEN, CLOSED = -1, -2
FAR = 1 << 40
PATIENCE = 4  # steps more than at first, until paths are searched from the root again


class Flow(NamedTuple):
    """What is left of the capacities under a flow, and the arrays of a search.

    left: (2q,) of each arc. terminal: (p,) from the source where positive, to the sink where negative. heads: (2q,)
    arcs: (2q,) grouped by their tails, first: (p + 1,) where each group begins. level: (p,) steps from the root.
    queue: (p,) samples reached. at: (p,) next arc to try. path: (p,) arcs from the root. kept_left, kept_terminal:
    what they were before the first change since the last `_take_back`; changed: the edges and samples that have one.
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
    kept_left: Ints
    kept_terminal: Ints
    changed_edges: Ints
    changed_samples: Ints
    is_changed_edge: Bools
    is_changed_sample: Bools
    steps_left: Ints  # (p,) to the next terminal with room, a lower bound
    kept_steps: Ints
    counts: Ints  # how many changed_edges, changed_samples


def flow_of(network: Network) -> Flow:
    """No flow yet."""
    places, arcs = len(network.unary), 2 * len(network.ends)
    tails, heads = network.ends.ravel(), network.ends[:, ::-1].ravel()
    left = np.repeat(network.capacities.astype(np.int64), 2)
    terminal = network.unary.astype(np.int64)
    return Flow(
        left=left,
        terminal=terminal,
        heads=np.ascontiguousarray(heads),
        arcs=np.argsort(tails, kind="stable"),
        first=np.append(0, np.cumsum(np.bincount(tails, minlength=places))),
        level=np.full(places, UNSEEN),
        queue=np.empty(places, np.int64),
        at=np.empty(places, np.int64),
        path=np.empty(places, np.int64),
        kept_left=left.copy(),
        kept_terminal=terminal.copy(),
        changed_edges=np.empty(arcs // 2, np.int64),
        changed_samples=np.empty(places, np.int64),
        is_changed_edge=np.zeros(arcs // 2, bool),
        is_changed_sample=np.zeros(places, bool),
        steps_left=np.full(places, FAR),
        kept_steps=np.full(places, FAR),
        counts=np.zeros(2, np.int64),
    )


def dynamic_flips(network: Network, labels: Bools, words: Ints, flips: Ints) -> None:
    """Max-marginal labellings of a network.

    labels: (p,) by place, the best labelling, is written; of equal ones that with the most ones. flips: uint64,
    zero, of which words[k] is the first of place k, is written: bit i says whether its label changes once the i-th
    sample of its component has to take its other label; of equal changes the one of the fewest samples.
    """
    flow = flow_of(network)
    _cut(flow, labels)
    _flip_all(flow, labels, network.starts, words, flips)


@nb.njit(cache=True, nogil=True)
def _cut(flow: Flow, labels: Bools) -> None:
    """The largest flow, and labels: zeros at the samples that reach a sink which is not full."""
    labels[:] = True
    for sink in range(len(labels)):
        if flow.terminal[sink] < 0 and labels[sink]:
            count = _send(flow, labels, sink, -1, -flow.terminal[sink])
            for q in range(count):
                labels[flow.queue[q]] = False  # no later path enters: nothing flows there any more


@nb.njit(cache=True, nogil=True)
def _flip_all(flow: Flow, labels: Bools, starts: Ints, words: Ints, flips: Ints) -> None:
    _measure(flow, labels)
    _keep(flow)
    for c in range(len(starts) - 1):
        start = starts[c]
        group = _inseparable(flow, labels, start, starts[c + 1])
        count, last = 0, -1
        for i in np.argsort(group, kind="mergesort"):
            root = start + i
            if group[i] != last:
                side = -1 if labels[root] else 1
                _send_along(flow, labels, root, side)
                count, last = _send(flow, labels, root, side, -1), group[i]
                _take_back(flow)
            word, bit = i // 64, np.uint64(1) << np.uint64(i % 64)
            for q in range(count):
                flips[words[flow.queue[q]] + word] |= bit


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
        most[int(labels[place])] += abs(flow.terminal[place])
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


@nb.njit(cache=True, nogil=True)
def _send(flow: Flow, labels: Bools, root: int, side: int, amount: int) -> int:
    """Send `amount`, or what there is room for if it is -1, from the root to sinks (side 1) or sources to it (-1).

    Through samples of the root's label alone. Returned: 0 once the amount is sent, and `terminal` of the root is
    less by it; else how many samples the root still reaches, which are written to the queue.
    """
    unbounded = amount < 0
    while unbounded or amount > 0:
        count, depth = _search(flow, labels, root, side)
        if depth:
            for q in range(count):
                flow.at[flow.queue[q]] = flow.first[flow.queue[q]]
            sent = _block(flow, root, side, depth, -1 if unbounded else amount)
            if not unbounded:
                amount -= sent
                flow.terminal[root] -= side * sent
        for q in range(count):
            flow.level[flow.queue[q]] = UNSEEN
        if not depth:
            return count
    return 0


@nb.njit(cache=True, nogil=True)
def _search(flow: Flow, labels: Bools, root: int, side: int) -> tuple[int, int]:
    """Reach samples breadth first, up to the first level with room at the terminal; that level, or 0."""
    backwards = side < 0
    flow.queue[0], flow.level[root] = root, 0
    count, depth, q = 1, 0, 0
    while q < count:
        tail = flow.queue[q]
        q += 1
        if depth and flow.level[tail] >= depth:
            break
        for a in range(flow.first[tail], flow.first[tail + 1]):
            arc = flow.arcs[a]
            head = flow.heads[arc]
            if flow.level[head] == UNSEEN and flow.left[arc ^ backwards] and labels[head] == labels[root]:
                flow.level[head] = flow.level[tail] + 1
                flow.queue[count] = head
                count += 1
                if not depth and side * flow.terminal[head] < 0:
                    depth = flow.level[head]
    return count, depth


@nb.njit(cache=True, nogil=True)
def _block(flow: Flow, root: int, side: int, depth: int, amount: int) -> int:
    """Send along shortest paths until each is blocked or, unless it is -1, the amount is sent; what was sent."""
    backwards = side < 0
    place, steps = root, 0
    sent: int = 0
    while True:
        if steps == depth and side * flow.terminal[place] < 0:
            room: int = -side * flow.terminal[place]
            if amount >= 0:
                room = min(room, amount - sent)
            for step in range(steps):
                room = min(room, flow.left[flow.path[step] ^ backwards])
            _change_terminal(flow, place, side * room)
            blocked = steps
            for step in range(steps - 1, -1, -1):
                _change_arc(flow, flow.path[step] ^ backwards, room)
                if not flow.left[flow.path[step] ^ backwards]:
                    blocked = step
            sent += room
            if sent == amount:
                return sent
            if blocked < steps:
                steps = blocked
                place = flow.heads[flow.path[steps] ^ 1]
            continue
        stepped = False
        if steps < depth:
            while flow.at[place] < flow.first[place + 1]:
                arc = flow.arcs[flow.at[place]]
                head = flow.heads[arc]
                if flow.left[arc ^ backwards] and flow.level[head] == steps + 1:
                    flow.path[steps] = arc
                    place, steps, stepped = head, steps + 1, True
                    break
                flow.at[place] += 1
        if not stepped:
            if not steps:
                return sent
            flow.level[place] = CLOSED
            steps -= 1
            place = flow.heads[flow.path[steps] ^ 1]


@nb.njit(cache=True, nogil=True)
def _measure(flow: Flow, labels: Bools) -> None:
    """Write the steps from each sample of label 0 to a sink with room, and to each of label 1 from a source."""
    count = 0
    for place in range(len(labels)):
        if flow.terminal[place] > 0 if labels[place] else flow.terminal[place] < 0:
            flow.steps_left[place] = 0
            flow.queue[count] = place
            count += 1
    q = 0
    while q < count:
        head = flow.queue[q]
        q += 1
        backwards = labels[head]
        for a in range(flow.first[head], flow.first[head + 1]):
            arc = flow.arcs[a] ^ 1  # from its tail to this head
            tail = flow.heads[arc ^ 1]
            if flow.steps_left[tail] == FAR and flow.left[arc ^ backwards] and labels[tail] == labels[head]:
                flow.steps_left[tail] = flow.steps_left[head] + 1
                flow.queue[count] = tail
                count += 1


@nb.njit(cache=True, nogil=True)
def _send_along(flow: Flow, labels: Bools, root: int, side: int) -> None:
    """Send much of what can be sent: down the steps that are left, which rise where the way is blocked."""
    backwards = side < 0
    most = flow.steps_left[root] + PATIENCE
    place, steps = root, 0
    while flow.steps_left[root] < FAR:
        if steps and side * flow.terminal[place] < 0:
            room = -side * flow.terminal[place]
            for step in range(steps):
                room = min(room, flow.left[flow.path[step] ^ backwards])
            _change_terminal(flow, place, side * room)
            blocked = steps
            for step in range(steps - 1, -1, -1):
                _change_arc(flow, flow.path[step] ^ backwards, room)
                if not flow.left[flow.path[step] ^ backwards]:
                    blocked = step
            if blocked < steps:
                steps = blocked
                place = flow.heads[flow.path[steps] ^ 1]
            continue
        nearest, chosen = FAR, -1
        for a in range(flow.first[place], flow.first[place + 1]):
            arc = flow.arcs[a]
            head = flow.heads[arc]
            if (
                flow.left[arc ^ backwards]
                and labels[head] == labels[root]
                and flow.steps_left[head] < nearest
            ):
                nearest, chosen = flow.steps_left[head], arc
                if nearest < flow.steps_left[place]:
                    break
        if chosen >= 0 and nearest < flow.steps_left[place]:
            flow.path[steps] = chosen
            place, steps = flow.heads[chosen], steps + 1
        else:
            _change_terminal(flow, place, 0)
            flow.steps_left[place] = nearest + 1 if nearest < most else FAR
            if steps:
                steps -= 1
                place = flow.heads[flow.path[steps] ^ 1]


@nb.njit(cache=True, nogil=True)
def _change_arc(flow: Flow, arc: int, amount: int) -> None:
    edge = arc >> 1
    if not flow.is_changed_edge[edge]:
        flow.is_changed_edge[edge] = True
        flow.changed_edges[flow.counts[0]] = edge
        flow.counts[0] += 1
    flow.left[arc] -= amount
    flow.left[arc ^ 1] += amount


@nb.njit(cache=True, nogil=True)
def _change_terminal(flow: Flow, place: int, amount: int) -> None:
    if not flow.is_changed_sample[place]:
        flow.is_changed_sample[place] = True
        flow.changed_samples[flow.counts[1]] = place
        flow.counts[1] += 1
    flow.terminal[place] += amount


@nb.njit(cache=True, nogil=True)
def _keep(flow: Flow) -> None:
    """What is left now is what `_take_back` goes back to."""
    flow.kept_left[:], flow.kept_terminal[:] = flow.left, flow.terminal
    flow.kept_steps[:] = flow.steps_left
    flow.is_changed_edge[:], flow.is_changed_sample[:] = False, False
    flow.counts[:] = 0


@nb.njit(cache=True, nogil=True)
def _take_back(flow: Flow) -> None:
    for number in range(flow.counts[0]):
        edge = flow.changed_edges[number]
        flow.left[2 * edge] = flow.kept_left[2 * edge]
        flow.left[2 * edge + 1] = flow.kept_left[2 * edge + 1]
        flow.is_changed_edge[edge] = False
    for number in range(flow.counts[1]):
        place = flow.changed_samples[number]
        flow.terminal[place] = flow.kept_terminal[place]
        flow.steps_left[place] = flow.kept_steps[place]
        flow.is_changed_sample[place] = False
    flow.counts[:] = 0
