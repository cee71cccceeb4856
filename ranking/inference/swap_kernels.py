"""Kernels of the best permutation; the gain of a swap costs only the windows that it changes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from ranking.core import Bools, Floats, Ints

# times the total size of all windows: the least gain of a swap
ROUNDING = 1e-12
# of a new start, before all permutations count as visited
DRAWS = 50


class WindowModel(NamedTuple):
    """A ranker of windows of L samples, see WindowScores."""

    # (pool, L)
    table: Floats
    offset: float
    # (pool, d)
    features: Floats
    # (d,)
    pooled: Floats


class SearchState(NamedTuple):
    """The current order of a search in a sequence of n samples, the rows (n,) of the pool."""

    model: WindowModel
    rows: Ints
    # (n,) the samples by position
    order: Ints
    # (n, L) rows of the table in that order
    placed: Floats
    # sums, roots: (n - L + 1,) of the windows; the roots sum to the value of the order (midrank, eq. 3)
    sums: Floats
    roots: Floats


class Partners(NamedTuple):
    """The best swap of each position with a later one."""

    # (n - 1,) each: gain, later position, and whether they are outdated.

    gains: Floats
    positions: Ints
    stale: Bools


class Paths(NamedTuple):
    """The paths of search trees."""

    # (trees, n)
    starts: Ints
    # (trees, n, 2) positions
    swaps: Ints
    # (trees,) of swaps
    depths: Ints
    # (trees,) whether the swaps of the last order were evaluated too
    complete: Bools
    # (trees,) of the last order
    values: Floats
    # (n,) working memory
    walked: Ints


@numba.njit(cache=True, nogil=True)
def new_paths(trees, n):  # type: ignore[no-untyped-def]
    return Paths(
        np.zeros((trees, n), np.int64),
        np.zeros((trees, n, 2), np.int64),
        np.zeros(trees, np.int64),
        np.zeros(trees, np.bool_),
        np.zeros(trees),
        np.zeros(n, np.int64),
    )


@numba.njit(cache=True, nogil=True)
def _new_standing(model, rows):  # type: ignore[no-untyped-def]
    n, length = len(rows), model.table.shape[1]
    sums, roots = np.empty(n - length + 1), np.empty(n - length + 1)
    return SearchState(model, rows, np.empty(n, np.int64), np.empty((n, length)), sums, roots)


# ---------------------------------------------------------------------------------------------------------
# Windows and swaps
# ---------------------------------------------------------------------------------------------------------


@numba.njit(cache=True, nogil=True)
def _root(value):  # type: ignore[no-untyped-def]
    return math.copysign(math.sqrt(abs(value)), value)


@numba.njit(cache=True, nogil=True)
def _window(w, state):  # type: ignore[no-untyped-def]
    """Return the sum of window w from the definition."""
    # Max-pooled differences take one pass with the largest value.
    length = state.placed.shape[1]
    total = state.model.offset
    for k in range(length):
        total += state.placed[w + k, k]
    for c in range(len(state.model.pooled)):
        highest, best = state.model.features[state.rows[state.order[w]], c], -np.inf
        for k in range(1, length):
            value = state.model.features[state.rows[state.order[w + k]], c]
            best = max(best, highest - value)
            highest = max(highest, value)
        total += state.model.pooled[c] * best
    return total


@numba.njit(cache=True, nogil=True)
def _swap(a, b, state):  # type: ignore[no-untyped-def]
    state.order[a], state.order[b] = state.order[b], state.order[a]
    for k in range(state.placed.shape[1]):
        state.placed[a, k], state.placed[b, k] = state.placed[b, k], state.placed[a, k]


@numba.njit(cache=True, nogil=True)
def _gain(a, b, state):  # type: ignore[no-untyped-def]
    """Return the growth of the value when the samples at positions a < b are swapped."""
    if len(state.model.pooled):
        return _gain_pooled(a, b, state)
    placed, sums, roots = state.placed, state.sums, state.roots
    length, last = placed.shape[1], len(sums) - 1
    gain = 0.0
    # windows that hold a alone
    for w in range(max(0, a - length + 1), min(a, b - length, last) + 1):
        gain += _root(sums[w] - placed[a, a - w] + placed[b, a - w]) - roots[w]
    # both
    for w in range(max(0, b - length + 1), min(a, last) + 1):
        change = placed[b, a - w] - placed[a, a - w] + placed[a, b - w] - placed[b, b - w]
        gain += _root(sums[w] + change) - roots[w]
    # b alone
    for w in range(max(a, b - length) + 1, min(b, last) + 1):
        gain += _root(sums[w] - placed[b, b - w] + placed[a, b - w]) - roots[w]
    return gain


@numba.njit(cache=True, nogil=True)
def _gain_pooled(a, b, state):  # type: ignore[no-untyped-def]
    """Return the same where windows are no sums over samples: each window that changes is recomputed."""
    length, last = state.placed.shape[1], len(state.sums) - 1
    gain = 0.0
    _swap(a, b, state)
    for w in range(max(0, a - length + 1), min(b, last) + 1):
        if w <= a or w > b - length:
            gain += _root(_window(w, state)) - state.roots[w]
    _swap(a, b, state)
    return gain


@numba.njit(cache=True, nogil=True)
def _best_partner(a, partners, state, above=np.inf, after=-1):  # type: ignore[no-untyped-def]
    """Write the best partner of position a, of equal gains the first."""
    # With `above` and `after`, the next best one.
    gains, positions, stale = partners
    gains[a], positions[a], stale[a] = -np.inf, a + 1, False
    for b in range(a + 1, len(state.order)):
        gain = _gain(a, b, state)
        if gain > gains[a] and (gain < above or (gain == above and b > after)):
            gains[a], positions[a] = gain, b


@numba.njit(cache=True, nogil=True)
def _swap_and_refresh(a, b, partners, state):  # type: ignore[no-untyped-def]
    """Swap a and b; recompute the windows that hold them, and the best partners that this may change."""
    # A gain changes only where one of its two positions shares a window with a or b.
    gains, positions, stale = partners
    n, length = len(state.order), state.placed.shape[1]
    _swap(a, b, state)
    for w in range(max(0, a - length + 1), min(b, len(state.sums) - 1) + 1):
        if w <= a or w > b - length:
            state.sums[w] = _window(w, state)
            state.roots[w] = _root(state.sums[w])
    for c in range(n - 1):
        near = abs(c - a) < length or abs(c - b) < length
        near_partner = abs(positions[c] - a) < length or abs(positions[c] - b) < length
        if near or near_partner or stale[c]:
            _best_partner(c, partners, state)
            continue
        for d in range(max(c + 1, a - length + 1), min(n, b + length)):
            if d < a + length or d > b - length:
                gain = _gain(c, d, state)
                if gain > gains[c] or (gain == gains[c] and d < positions[c]):
                    gains[c], positions[c] = gain, d


# ---------------------------------------------------------------------------------------------------------
# Trees
# ---------------------------------------------------------------------------------------------------------


@numba.njit(cache=True, nogil=True)
def _after_swap(p, order, a, b):  # type: ignore[no-untyped-def]
    """Return the sample at position p of `order` with a and b swapped."""
    return order[b] if p == a else (order[a] if p == b else order[p])


@numba.njit(cache=True, nogil=True)
def _seen(order, a, b, trees, paths):  # type: ignore[no-untyped-def]
    """Return whether one of the first trees visited `order` with a and b swapped (a = b: no swap)."""
    # A tree visited the orders on its path, and all orders one swap away from an expanded order. All orders
    # on the path are expanded, except the last one if the tree reached its maximum depth. So the function
    # follows the path and counts the positions that differ: none or two.
    walked = paths.walked
    for tree in range(trees):
        differ = 0
        for p in range(len(order)):
            walked[p] = paths.starts[tree, p]
            differ += walked[p] != _after_swap(p, order, a, b)
        for step in range(paths.depths[tree] + 1):
            if step:
                p, q = paths.swaps[tree, step - 1, 0], paths.swaps[tree, step - 1, 1]
                sample_p, sample_q = _after_swap(p, order, a, b), _after_swap(q, order, a, b)
                differ -= (walked[p] != sample_p) + (walked[q] != sample_q)
                walked[p], walked[q] = walked[q], walked[p]
                differ += (walked[p] != sample_p) + (walked[q] != sample_q)
            if differ == 0 or (differ == 2 and (step < paths.depths[tree] or paths.complete[tree])):
                return True
    return False


@numba.njit(cache=True, nogil=True)
def _climb(tree, state, paths):  # type: ignore[no-untyped-def]
    """From a start, make the best swap as long as the value grows, n times at most."""
    # Orders that this tree has visited need no test: none has a greater value than the current order, which
    # was the best of them when it was chosen.
    n = len(state.order)
    state.order[:] = paths.starts[tree]
    for p in range(n):
        state.placed[p] = state.model.table[state.rows[state.order[p]]]
    threshold = 0.0
    for w in range(len(state.sums)):
        state.sums[w] = _window(w, state)
        state.roots[w] = _root(state.sums[w])
        threshold += ROUNDING * abs(state.roots[w])
    partners = Partners(np.empty(n - 1), np.empty(n - 1, np.int64), np.zeros(n - 1, np.bool_))
    for p in range(n - 1):
        _best_partner(p, partners, state)
    paths.depths[tree], paths.complete[tree] = 0, False
    while paths.depths[tree] < n:
        a = np.argmax(partners.gains)
        while partners.gains[a] > threshold and _seen(state.order, a, partners.positions[a], tree, paths):
            _best_partner(a, partners, state, partners.gains[a], partners.positions[a])
            partners.stale[a] = True
            a = np.argmax(partners.gains)
        if partners.gains[a] <= threshold:
            paths.complete[tree] = True
            break
        b, depth = partners.positions[a], paths.depths[tree]
        paths.swaps[tree, depth, 0], paths.swaps[tree, depth, 1] = a, b
        paths.depths[tree] += 1
        _swap_and_refresh(a, b, partners, state)
    paths.values[tree] = state.roots.sum()


@numba.njit(cache=True, nogil=True)
def _random(random_state):  # type: ignore[no-untyped-def]
    """Return the next state of splitmix64, and its number."""
    random_state = random_state + np.uint64(0x9E3779B97F4A7C15)
    mixed = (random_state ^ (random_state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return random_state, mixed ^ (mixed >> np.uint64(31))


@numba.njit(cache=True, nogil=True)
def _assign(model, rows, first, order):  # type: ignore[no-untyped-def]
    """Write the order with the greatest sum over windows without roots: linear assignment (Kuhn, Munkres)."""
    # The contribution of a sample at position p of the order is a sum over the positions that p can have in a
    # window, a difference of cumulative sums, so that no matrix is stored. Samples are added one by one in
    # the order `first`, each by a shortest path. Positions far from both ends are equivalent, so that for
    # long sequences only the ends are determined.
    n, length = len(rows), model.table.shape[1]
    cumulated = np.zeros((n, length + 1))
    for i in range(n):
        for k in range(length):
            cumulated[i, k + 1] = cumulated[i, k] + model.table[rows[first[i]], k]
    prices, samples, before = np.zeros(n + 1), np.full(n + 1, -1), np.zeros(n + 1, np.int64)
    worths = np.zeros(n)
    for i in range(n):
        # position n stands for none
        samples[n], p = i, n
        cheapest, settled = np.full(n, np.inf), np.zeros(n + 1, np.bool_)
        while samples[p] >= 0:
            settled[p], sample, step, following = True, samples[p], np.inf, 0
            for q in range(n):
                if not settled[q]:
                    low, high = max(0, q - (n - length)), min(length - 1, q)
                    worth = cumulated[sample, high + 1] - cumulated[sample, low]
                    cost = -worth - worths[sample] - prices[q]
                    if cost < cheapest[q]:
                        cheapest[q], before[q] = cost, p
                    if cheapest[q] < step:
                        step, following = cheapest[q], q
            for q in range(n + 1):
                if settled[q]:
                    worths[samples[q]] += step
                    prices[q] -= step
                elif q < n:
                    cheapest[q] -= step
            p = following
        while p != n:
            samples[p], p = samples[before[p]], before[p]
    order[:] = first[samples[:n]]


@numba.njit(cache=True, nogil=True)
def _new_start(tree, model, rows, first, random_state, paths):  # type: ignore[no-untyped-def]
    """Write the start of a tree, an order that no tree visited; return the random state and if one exists."""
    # `first`, then the best order without roots where windows are sums over samples, then random orders.
    order = paths.starts[tree]
    order[:] = first
    if tree == 0:
        return random_state, True
    if tree == 1 and len(model.pooled) == 0:
        _assign(model, rows, first, order)
        if not _seen(order, 0, 0, tree, paths):
            return random_state, True
        order[:] = first
    for _ in range(DRAWS):
        for p in range(len(order) - 1, 0, -1):
            random_state, number = _random(random_state)
            q = np.int64(number % np.uint64(p + 1))
            order[p], order[q] = order[q], order[p]
        if not _seen(order, 0, 0, tree, paths):
            return random_state, True
    return random_state, False


@numba.njit(cache=True, nogil=True)
def search(model, rows, first, seed, paths):  # type: ignore[no-untyped-def]
    """Fill `paths` with trees from `first` (n,) and from orders not yet visited; return how many."""
    # rows: (n,) of the pool. Random orders depend on the seed and `first` only.
    state, random_state = _new_standing(model, rows), np.uint64(seed)
    for tree in range(len(paths.values)):
        random_state, has_start = _new_start(tree, model, rows, first, random_state, paths)
        if not has_start:
            return tree
        _climb(tree, state, paths)
    return len(paths.values)


# ---------------------------------------------------------------------------------------------------------
# Many sequences
# ---------------------------------------------------------------------------------------------------------


@numba.njit(cache=True, nogil=True)
def fill_best(model, members, ends, first, trees, seed, orders, values):  # type: ignore[no-untyped-def]
    """Write orders (N,) and values (m,) of m sequences."""
    # ends: (m + 1,). first, orders: positions within each sequence.
    for number in range(len(values)):
        begin, end = ends[number], ends[number + 1]
        paths = new_paths(trees, end - begin)
        grown = search(model, members[begin:end], first[begin:end], seed, paths)
        best = np.argmax(paths.values[:grown])
        order = orders[begin:end]
        order[:] = paths.starts[best]
        for step in range(paths.depths[best]):
            a, b = paths.swaps[best, step]
            order[a], order[b] = order[b], order[a]
        values[number] = paths.values[best]


@numba.njit(cache=True, nogil=True)
def fill_exhaustive(model, members, ends, first, orders, values):  # type: ignore[no-untyped-def]
    """Write the same from all permutations of `first`, in turn; of equal values the earlier."""
    length = model.table.shape[1]
    for number in range(len(values)):
        begin, end = ends[number], ends[number + 1]
        n = end - begin
        state, numbers = _new_standing(model, members[begin:end]), np.arange(n)
        # of the windows that end before a position
        totals = np.zeros(n + 1)
        best, changed = -np.inf, 0
        while changed >= 0:
            for p in range(changed, n):
                state.order[p] = first[begin + numbers[p]]
                state.placed[p] = model.table[state.rows[state.order[p]]]
                totals[p + 1] = totals[p]
                if p + 1 >= length:
                    totals[p + 1] += _root(_window(p + 1 - length, state))
            if totals[n] > best:
                best = totals[n]
                orders[begin:end] = state.order
            changed = _next_permutation(numbers)
        values[number] = best


@numba.njit(cache=True, nogil=True)
def _next_permutation(numbers):  # type: ignore[no-untyped-def]
    """Turn `numbers` into the next in lexicographic order; return the first changed position, else -1."""
    p, q = len(numbers) - 2, len(numbers) - 1
    while p >= 0 and numbers[p] > numbers[p + 1]:
        p -= 1
    if p < 0:
        return -1
    while numbers[q] < numbers[p]:
        q -= 1
    numbers[p], numbers[q] = numbers[q], numbers[p]
    numbers[p + 1 :] = numbers[p + 1 :][::-1].copy()
    return p
