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

from typing import NamedTuple

import numba as nb
import numpy as np

from ranking.inference.cuts import Network
from ranking.types import Bools, Ints

UNSEEN, CLOSED = -1, -2


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
    _keep(flow)
    for c in range(len(starts) - 1):
        for i in range(starts[c + 1] - starts[c]):
            root = starts[c] + i
            count = _send(flow, labels, root, -1 if labels[root] else 1, -1)
            word, bit = i // 64, np.uint64(1) << np.uint64(i % 64)
            for q in range(count):
                flips[words[flow.queue[q]] + word] |= bit
            _take_back(flow)


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
    place, steps, sent = root, 0, 0
    while True:
        if steps == depth and side * flow.terminal[place] < 0:
            room = -side * flow.terminal[place]
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
        flow.is_changed_sample[place] = False
    flow.counts[:] = 0
