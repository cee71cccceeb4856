"""Dynamic cuts: a largest flow for the best labelling, and a small flow for each sample's other label.

After the cut, a sample of label 0 that is forced to label 1 becomes an unlimited source. The cost of the change is the
flow that it can still send, through samples of label 0, to sinks with spare capacity. The samples that it still reaches
in the end flip with it (Kohli and Torr 2005). A sample of label 1 becomes a sink in the same way, with all directions
reversed. To undo the change, the same amount is added on the other side. Both amounts together are a constant, so the
network is exactly the same as before, with another maximum flow, and the amount sent is capacity at the sample. The
next sample can use that capacity, because samples are forced in depth-first order, neighbours one after the other.

The cost of changing a sample is at least the cost of changing any sample that flips with it. Once that much flow is
sent, both share their labelling, and no further search is necessary.

Flow is sent by blocking flows on shortest paths (Dinic), which are searched from both ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

from ranking.core import Bools, Ints
from ranking.inference.cuts import Network

UNSEEN, CLOSED = -1, -2
# more than can be sent
FAR = 1 << 62


class Flow(NamedTuple):
    """The residual capacities under a flow, and the working arrays of a search."""

    # (2q,) of each arc, arcs grouped by their tails
    left: Ints
    # (2q,)
    heads: Ints
    # (2q,) the same edge's other arc
    opposite: Ints
    # (p + 1,) where each group begins
    first: Ints
    # (p,) the flow still to be sent if positive, spare capacity if negative
    terminal: Ints
    # (p,) sinks with spare capacity, and some that had it before
    open_sinks: Ints
    # (1,) the number of `open_sinks`
    open_sink_count: Ints
    # (p,) whether a node is among `open_sinks`
    is_open_sink: Bools
    # (p,) steps from a root
    level: Ints
    # (p,) steps to an open sink
    steps_left: Ints
    # queue, ends: (p,) nodes reached from the roots and from the open sinks
    queue: Ints
    ends: Ints
    # (p,) next arc to try
    at: Ints
    # (p,) arcs from the root
    path: Ints


def flow_of(network: Network) -> Flow:
    """Return the empty flow, from the sinks to the sources; edges are the same both ways."""
    nodes, tails = len(network.unary), network.ends.ravel()
    by_tail = np.argsort(tails, kind="stable")
    rank = np.empty_like(by_tail)
    rank[by_tail] = np.arange(len(tails))
    return Flow(
        left=np.repeat(network.capacities.astype(np.int64), 2)[by_tail],
        heads=network.ends[:, ::-1].ravel()[by_tail],
        opposite=rank[by_tail ^ 1],
        first=np.append(0, np.cumsum(np.bincount(tails, minlength=nodes))),
        terminal=-network.unary.astype(np.int64),
        open_sinks=np.empty(nodes, np.int64),
        open_sink_count=np.zeros(1, np.int64),
        is_open_sink=np.zeros(nodes, bool),
        level=np.full(nodes, UNSEEN),
        steps_left=np.full(nodes, UNSEEN),
        queue=np.empty(nodes, np.int64),
        ends=np.empty(nodes, np.int64),
        at=np.empty(nodes, np.int64),
        path=np.empty(nodes, np.int64),
    )


def dynamic_flips(network: Network, labels: Bools, words: Ints, flips: Ints) -> None:
    """Write the max-marginal labellings of a network."""
    # labels: (p,) by position, the best labelling is written; of equal ones that with the most ones. flips:
    # uint64, zero; words[k] is the first word of node k; is written: bit i says whether the node's label
    # changes once the i-th sample of its component is forced to its other label.
    flow = flow_of(network)
    _cut(flow, labels)
    _flip_all(flow, labels, network.starts, words, flips)


@nb.njit(cache=True, nogil=True)
def _cut(flow: Flow, labels: Bools) -> None:
    """Send a largest flow, and write labels: zeros at the nodes that reach a sink with spare capacity."""
    # Arcs between different labels are then closed, and the flow among zeros is reversed, so that the cost of
    # changing a node, whatever its label, is the flow that can be sent from it.
    _list_open_sinks(flow, np.arange(len(labels)))
    while True:
        roots = 0
        for node in range(len(labels)):
            if flow.terminal[node] > 0:
                flow.queue[roots] = node
                roots += 1
        count, reached, depth = _search(flow, roots)
        if not depth:
            break
        for q in range(roots):
            root = flow.queue[q]
            flow.terminal[root] -= _block(flow, root, depth, flow.terminal[root])
        _forget(flow, count, reached)
    labels[:] = flow.level == UNSEEN
    _forget(flow, count, reached)
    for tail in range(len(labels)):
        if not labels[tail]:
            flow.terminal[tail] = -flow.terminal[tail]
        for arc in range(flow.first[tail], flow.first[tail + 1]):
            head, opposite = flow.heads[arc], flow.opposite[arc]
            if labels[head] != labels[tail]:
                flow.left[arc] = 0
            elif not labels[tail] and arc < opposite:
                flow.left[arc], flow.left[opposite] = flow.left[opposite], flow.left[arc]


@nb.njit(cache=True, nogil=True)
def _flip_all(flow: Flow, labels: Bools, starts: Ints, words: Ints, flips: Ints) -> None:
    # What each sample's change costs at most, and the sample whose change costs that.
    cost_limit, same_cost_as = np.full(len(labels), FAR), np.arange(len(labels))
    for c in range(len(starts) - 1):
        start = starts[c]
        for order in _depth_first(flow, labels, start, starts[c + 1]):
            _list_open_sinks(flow, order)
            for root in order:
                count, cost = _send(flow, root, cost_limit[root])
                if not count:
                    continue
                same_cost_as[root] = root
                word, bit = (root - start) // 64, np.uint64(1) << np.uint64((root - start) % 64)
                for node in flow.queue[:count]:
                    flips[words[node] + word] |= bit
                    if cost < cost_limit[node]:
                        cost_limit[node], same_cost_as[node] = cost, root
        _share(same_cost_as[start : starts[c + 1]] - start, words[start : starts[c + 1]], flips)


@nb.njit(cache=True, nogil=True)
def _share(same_cost_as: Ints, words: Ints, flips: Ints) -> None:
    """Copy to each sample of a component the flips of the sample with the same cost."""
    shared = np.flatnonzero(same_cost_as != np.arange(len(same_cost_as)))
    for own in words:
        for i in shared:
            flipped = (flips[own + same_cost_as[i] // 64] >> np.uint64(same_cost_as[i] % 64)) & np.uint64(1)
            flips[own + i // 64] |= flipped << np.uint64(i % 64)


@nb.njit(cache=True, nogil=True)
def _depth_first(flow: Flow, labels: Bools, start: int, stop: int) -> tuple[Ints, Ints]:
    """Return the nodes of a component in depth-first order: those of label 0, and those of label 1."""
    order = np.empty(stop - start, np.int64)
    count = zeros = 0
    flow.at[start:stop] = flow.first[start:stop]
    visited = np.zeros(stop - start, np.bool_)
    for label in (False, True):
        zeros = count if label else 0
        for root in range(start, stop):
            if visited[root - start] or labels[root] != label:
                continue
            steps, flow.path[0], visited[root - start] = 1, root, True
            order[count] = root
            count += 1
            while steps:
                node = flow.path[steps - 1]
                if flow.at[node] == flow.first[node + 1]:
                    steps -= 1
                    continue
                head = flow.heads[flow.at[node]]
                flow.at[node] += 1
                if not visited[head - start] and labels[head] == label:
                    flow.path[steps], visited[head - start] = head, True
                    steps += 1
                    order[count] = head
                    count += 1
    return order[:zeros], order[zeros:]


@nb.njit(cache=True, nogil=True)
def _send(flow: Flow, root: int, limit: int) -> tuple[int, int]:
    """Send from the root what sinks can take, up to `limit` with its own spare capacity."""
    # The spare capacity of the root becomes the amount. Returns how many nodes it still reaches, which are
    # written to the queue, or 0 where `limit` is sent; and the spare capacity.
    spare: int = -flow.terminal[root]
    count, depth = 0, 1
    while depth and spare < limit:
        flow.queue[0] = root
        count, reached, depth = _search(flow, 1)
        if depth:
            spare += _block(flow, root, depth, limit - spare)
        _forget(flow, count, reached)
    flow.terminal[root] = -spare
    if spare and not flow.is_open_sink[root]:
        flow.open_sinks[flow.open_sink_count[0]], flow.is_open_sink[root] = root, True
        flow.open_sink_count[0] += 1
    return 0 if depth else count, spare


@nb.njit(cache=True, nogil=True)
def _list_open_sinks(flow: Flow, nodes: Ints) -> None:
    for node in flow.open_sinks[: flow.open_sink_count[0]]:
        flow.is_open_sink[node] = False
    flow.open_sink_count[0] = 0
    for node in nodes:
        if flow.terminal[node] < 0:
            flow.open_sinks[flow.open_sink_count[0]], flow.is_open_sink[node] = node, True
            flow.open_sink_count[0] += 1


@nb.njit(cache=True, nogil=True)
def _search(flow: Flow, count: int) -> tuple[int, int, int]:
    """Return the sizes of the queue and of `ends`, and the steps from the roots to the nearest open sink."""
    # The first `count` nodes in the queue are the roots; the steps are 0 if no open sink is reachable.
    # Searches from the roots and from all open sinks, one level at a time, on the side with fewer nodes.
    # `level` is correct on all shortest paths.
    flow.level[flow.queue[:count]] = 0
    begin, reached, begin_ends = 0, 0, 0
    steps = steps_back = 0
    met = backwards = False
    while begin < count and not met:
        waiting = reached - begin_ends if backwards else flow.open_sink_count[0]
        if waiting and waiting < count - begin:
            if not backwards:
                backwards, reached = True, _start_at_open_sinks(flow)
                continue
            begin_ends, reached, met = _step_back(flow, begin_ends, reached, steps_back + 1)
            steps_back += 1
        else:
            begin, count, met = _step(flow, begin, count, steps + 1, backwards)
            steps += 1
    if not met:
        return count, reached, 0
    for node in flow.queue[:count]:
        flow.at[node] = flow.first[node]
        if backwards and flow.level[node] == steps and flow.steps_left[node] == UNSEEN:
            flow.level[node] = CLOSED
    for node in flow.ends[:reached]:
        flow.at[node] = flow.first[node]
        if flow.level[node] == UNSEEN:
            flow.level[node] = steps + steps_back - flow.steps_left[node]
    return count, reached, steps + steps_back


@nb.njit(cache=True, nogil=True)
def _start_at_open_sinks(flow: Flow) -> int:
    """Write the open sinks to `ends` and remove those without from the list; return how many there are."""
    listed = reached = 0
    for node in flow.open_sinks[: flow.open_sink_count[0]]:
        flow.is_open_sink[node] = flow.terminal[node] < 0
        if flow.is_open_sink[node]:
            flow.open_sinks[listed] = node
            listed += 1
            # otherwise it is the root
            if flow.level[node] == UNSEEN:
                flow.ends[reached], flow.steps_left[node] = node, 0
                reached += 1
    flow.open_sink_count[0] = listed
    return reached


@nb.njit(cache=True, nogil=True)
def _step(flow: Flow, begin: int, count: int, level: int, backwards: bool) -> tuple[int, int, bool]:
    """Extend queue[begin:count] by a level; return its bounds, and whether it meets `ends` or a sink."""
    met, end = False, count
    for tail in flow.queue[begin:end]:
        for arc in range(flow.first[tail], flow.first[tail + 1]):
            head = flow.heads[arc]
            if flow.left[arc] and flow.level[head] == UNSEEN:
                flow.level[head], flow.queue[count] = level, head
                count += 1
                met |= flow.steps_left[head] != UNSEEN if backwards else flow.terminal[head] < 0
    return end, count, met


@nb.njit(cache=True, nogil=True)
def _step_back(flow: Flow, begin: int, count: int, steps_left: int) -> tuple[int, int, bool]:
    """Extend ends[begin:count] back by a level; return its bounds, and whether it meets the queue."""
    met, end = False, count
    for head in flow.ends[begin:end]:
        for arc in range(flow.first[head], flow.first[head + 1]):
            tail = flow.heads[arc]
            if flow.steps_left[tail] == UNSEEN and flow.left[flow.opposite[arc]]:
                flow.steps_left[tail], flow.ends[count] = steps_left, tail
                count += 1
                met |= flow.level[tail] != UNSEEN
    return end, count, met


@nb.njit(cache=True, nogil=True)
def _forget(flow: Flow, count: int, reached: int) -> None:
    for node in flow.queue[:count]:
        flow.level[node] = UNSEEN
    for node in flow.ends[:reached]:
        flow.level[node] = flow.steps_left[node] = UNSEEN


@nb.njit(cache=True, nogil=True)
def _block(flow: Flow, root: int, depth: int, amount: int) -> int:
    """Send along shortest paths until each is blocked or the amount is sent; return what was sent."""
    node, steps = root, 0
    sent: int = 0
    while sent < amount:
        if steps == depth and flow.terminal[node] < 0:
            spare: int = min(-flow.terminal[node], amount - sent)
            for step in range(steps):
                spare = min(spare, flow.left[flow.path[step]])
            flow.terminal[node] += spare
            blocked = steps
            for step in range(steps - 1, -1, -1):
                arc = flow.path[step]
                flow.left[arc] -= spare
                flow.left[flow.opposite[arc]] += spare
                if not flow.left[arc]:
                    blocked = step
            sent += spare
            if blocked < steps:
                steps = blocked
                node = flow.heads[flow.opposite[flow.path[steps]]]
            continue
        stepped = False
        while steps < depth and flow.at[node] < flow.first[node + 1]:
            arc = flow.at[node]
            head = flow.heads[arc]
            if flow.left[arc] and flow.level[head] == steps + 1:
                flow.path[steps] = arc
                node, steps, stepped = head, steps + 1, True
                break
            flow.at[node] += 1
        if not stepped:
            if not steps:
                break
            flow.level[node] = CLOSED
            steps -= 1
            node = flow.heads[flow.opposite[flow.path[steps]]]
    return sent
