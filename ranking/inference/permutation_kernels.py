"""Kernels of the best permutation: swaps whose gains cost only the windows that they change.

A sequence of n samples and a ranker of length L make n - L + 1 windows. placed: (n, L), row p what the sample now at
place p gives at each place of a window; sums: (n - L + 1,) of the windows; roots: their signed square roots, whose
total is the value of the order (midrank, eq. 3). pooled: (d,) weights of max-pooled differences of the features of
`rows` (n,), empty for the other representations: only those have windows that a swap changes in O(1).
"""

from __future__ import annotations

import math

import numba
import numpy as np

ROUNDING = 1e-12  # of the sum of sizes of all windows: what a swap must gain at least
DRAWS = 50  # of another start, before all permutations count as seen


@numba.njit(cache=True, nogil=True)
def signed_root(value):  # type: ignore[no-untyped-def]
    return math.copysign(math.sqrt(abs(value)), value)


@numba.njit(cache=True, nogil=True)
def _window(w, order, placed, offset, rows, features, pooled):  # type: ignore[no-untyped-def]
    """The sum of window w, from the definition."""
    length = placed.shape[1]
    total = offset
    for k in range(length):
        total += placed[w + k, k]
    for c in range(len(pooled)):
        highest, best = features[rows[order[w]], c], -np.inf
        for k in range(1, length):
            value = features[rows[order[w + k]], c]
            best = max(best, highest - value)
            highest = max(highest, value)
        total += pooled[c] * best
    return total


@numba.njit(cache=True, nogil=True)
def _swap(a, b, order, placed):  # type: ignore[no-untyped-def]
    order[a], order[b] = order[b], order[a]
    for k in range(placed.shape[1]):
        placed[a, k], placed[b, k] = placed[b, k], placed[a, k]


@numba.njit(cache=True, nogil=True)
def _gain(a, b, order, placed, sums, roots, offset, rows, features, pooled):  # type: ignore[no-untyped-def]
    """By how much the value grows when the samples at places a < b change places."""
    length, last = placed.shape[1], len(sums) - 1
    gain = 0.0
    if len(pooled):
        _swap(a, b, order, placed)
        for w in range(max(0, a - length + 1), min(a, last) + 1):
            gain += signed_root(_window(w, order, placed, offset, rows, features, pooled)) - roots[w]
        for w in range(max(a, b - length, -1) + 1, min(b, last) + 1):
            gain += signed_root(_window(w, order, placed, offset, rows, features, pooled)) - roots[w]
        _swap(a, b, order, placed)
        return gain
    for w in range(max(0, a - length + 1), min(a, b - length, last) + 1):  # windows that hold a alone
        gain += signed_root(sums[w] - placed[a, a - w] + placed[b, a - w]) - roots[w]
    for w in range(max(0, b - length + 1), min(a, last) + 1):  # both
        change = placed[b, a - w] - placed[a, a - w] + placed[a, b - w] - placed[b, b - w]
        gain += signed_root(sums[w] + change) - roots[w]
    for w in range(max(a, b - length) + 1, min(b, last) + 1):  # b alone
        gain += signed_root(sums[w] - placed[b, b - w] + placed[a, b - w]) - roots[w]
    return gain


@numba.njit(cache=True, nogil=True)
def _best_of_row(a, gains, partners, order, placed, sums, roots, offset, rows, features, pooled):  # type: ignore[no-untyped-def]
    """Fill in the best partner of place a among the later places: of equal gains the first."""
    best, partner = -np.inf, a + 1
    for b in range(a + 1, len(order)):
        gain = _gain(a, b, order, placed, sums, roots, offset, rows, features, pooled)
        if gain > best:
            best, partner = gain, b
    gains[a], partners[a] = best, partner


@numba.njit(cache=True, nogil=True)
def _next_of_row(a, gains, partners, order, placed, sums, roots, offset, rows, features, pooled):  # type: ignore[no-untyped-def]
    """The same among the swaps that come after the one filled in."""
    above, after = gains[a], partners[a]
    best, partner = -np.inf, after
    for b in range(a + 1, len(order)):
        gain = _gain(a, b, order, placed, sums, roots, offset, rows, features, pooled)
        if (gain < above or (gain == above and b > after)) and gain > best:
            best, partner = gain, b
    gains[a], partners[a] = best, partner


@numba.njit(cache=True, nogil=True)
def _refresh(a, b, stale, gains, partners, order, placed, sums, roots, offset, rows, features, pooled):  # type: ignore[no-untyped-def]
    """After a swap of a and b: the windows that hold them, and the best partners that this may change.

    A gain changes only where one of its two places shares a window with a or b.
    """
    n, length = len(order), placed.shape[1]
    for w in range(max(0, a - length + 1), min(b, len(sums) - 1) + 1):
        if w <= a or w > b - length:
            sums[w] = _window(w, order, placed, offset, rows, features, pooled)
            roots[w] = signed_root(sums[w])
    for c in range(n - 1):
        near = abs(c - a) < length or abs(c - b) < length
        near_partner = abs(partners[c] - a) < length or abs(partners[c] - b) < length
        if near or near_partner or stale[c]:
            stale[c] = False
            _best_of_row(c, gains, partners, order, placed, sums, roots, offset, rows, features, pooled)
            continue
        for d in range(max(c + 1, a - length + 1), min(n, b + length)):
            if d >= a + length and d <= b - length:
                continue
            gain = _gain(c, d, order, placed, sums, roots, offset, rows, features, pooled)
            if gain > gains[c] or (gain == gains[c] and d < partners[c]):
                gains[c], partners[c] = gain, d


@numba.njit(cache=True, nogil=True)
def _seen(order, a, b, trees, starts, swaps, depths, complete, walked):  # type: ignore[no-untyped-def]
    """Whether an earlier tree visited `order` with places a and b swapped (a = b: as it is).

    A tree visited the orders of its path, and all that lie one swap from one of them that it expanded: every one but
    the last where it ended for its depth. So the path is walked and the places counted that differ: none or two.
    """
    n = len(order)
    for tree in range(trees):
        differ = 0
        for p in range(n):
            walked[p] = starts[tree, p]
            here = order[b] if p == a else (order[a] if p == b else order[p])
            differ += walked[p] != here
        for step in range(depths[tree] + 1):
            if step:
                for end in range(2):
                    p = swaps[tree, step - 1, end]
                    here = order[b] if p == a else (order[a] if p == b else order[p])
                    q = swaps[tree, step - 1, 1 - end]
                    differ += (walked[q] != here) - (walked[p] != here)
                p, q = swaps[tree, step - 1, 0], swaps[tree, step - 1, 1]
                walked[p], walked[q] = walked[q], walked[p]
            if differ == 0 or (differ == 2 and (step < depths[tree] or complete[tree])):
                return True
    return False


@numba.njit(cache=True, nogil=True)
def _climb(
    tree, order, placed, sums, roots, offset, rows, features, pooled, starts, swaps, depths, complete, walked
):  # type: ignore[no-untyped-def]
    """Best swap after best swap while the value grows, n of them at most; `order` becomes what was reached.

    Orders that this tree itself has visited need no test: none has a greater value than the present one, which was
    the best of them when it was chosen.
    """
    n = len(order)
    size = 0.0
    for w in range(len(sums)):
        sums[w] = _window(w, order, placed, offset, rows, features, pooled)
        roots[w] = signed_root(sums[w])
        size += abs(roots[w])
    gains, partners, stale = np.empty(n - 1), np.empty(n - 1, np.int64), np.zeros(n - 1, np.bool_)
    for a in range(n - 1):
        _best_of_row(a, gains, partners, order, placed, sums, roots, offset, rows, features, pooled)
    depths[tree], complete[tree] = 0, False
    while depths[tree] < n:
        a = np.argmax(gains)
        while gains[a] > ROUNDING * size and _seen(
            order, a, partners[a], tree, starts, swaps, depths, complete, walked
        ):
            _next_of_row(a, gains, partners, order, placed, sums, roots, offset, rows, features, pooled)
            stale[a] = True
            a = np.argmax(gains)
        if gains[a] <= ROUNDING * size:
            complete[tree] = True
            break
        b = partners[a]
        swaps[tree, depths[tree], 0], swaps[tree, depths[tree], 1] = a, b
        depths[tree] += 1
        _swap(a, b, order, placed)
        _refresh(a, b, stale, gains, partners, order, placed, sums, roots, offset, rows, features, pooled)
    value = 0.0
    for w in range(len(sums)):
        value += roots[w]
    return value


@numba.njit(cache=True, nogil=True)
def _random(state):  # type: ignore[no-untyped-def]
    """The next number of splitmix64, and its state."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state, mixed ^ (mixed >> np.uint64(31))


@numba.njit(cache=True, nogil=True)
def search(table, offset, rows, features, pooled, first, seed, starts, swaps, depths, complete, values):  # type: ignore[no-untyped-def]
    """Grow trees from `first` (n,) and from random orders that no earlier tree saw; how many there were.

    table: (pool, L); rows: (n,) of the pool. Fills starts (trees, n), swaps (trees, n, 2), depths, complete and values
    (trees,). Random orders follow from the seed, n and `first` alone.
    """
    n, length = len(rows), table.shape[1]
    order, walked = np.empty(n, np.int64), np.empty(n, np.int64)
    placed = np.empty((n, length))
    sums, roots = np.empty(n - length + 1), np.empty(n - length + 1)
    state = np.uint64(seed)
    for tree in range(len(values)):
        order[:] = first
        for _ in range(DRAWS if tree else 0):
            for p in range(n - 1, 0, -1):
                state, number = _random(state)
                q = np.int64(number % np.uint64(p + 1))
                order[p], order[q] = order[q], order[p]
            if not _seen(order, 0, 0, tree, starts, swaps, depths, complete, walked):
                break
        else:
            if tree:
                return tree
        starts[tree] = order
        for p in range(n):
            placed[p] = table[rows[order[p]]]
        values[tree] = _climb(
            tree, order, placed, sums, roots, offset, rows, features, pooled,
            starts, swaps, depths, complete, walked,
        )  # fmt: skip
    return len(values)


@numba.njit(cache=True, nogil=True)
def fill_best(table, offset, features, pooled, members, ends, first, trees, seed, orders, values):  # type: ignore[no-untyped-def]
    """Fill orders (N,) and values (m,) of m sequences: ends (m + 1,), first and orders within each sequence."""
    for number in range(len(values)):
        begin, end = ends[number], ends[number + 1]
        n = end - begin
        starts, swaps = np.empty((trees, n), np.int64), np.empty((trees, n, 2), np.int64)
        depths, complete, reached = np.empty(trees, np.int64), np.empty(trees, np.bool_), np.empty(trees)
        grown = search(
            table, offset, members[begin:end], features, pooled, first[begin:end], seed,
            starts, swaps, depths, complete, reached,
        )  # fmt: skip
        best = np.argmax(reached[:grown])
        order = orders[begin:end]
        order[:] = starts[best]
        for step in range(depths[best]):
            a, b = swaps[best, step, 0], swaps[best, step, 1]
            order[a], order[b] = order[b], order[a]
        values[number] = reached[best]


@numba.njit(cache=True, nogil=True)
def fill_exhaustive(table, offset, features, pooled, members, ends, first, orders, values):  # type: ignore[no-untyped-def]
    """The same from all permutations of `first`, one after the other, of equal values the earlier."""
    for number in range(len(values)):
        begin, end = ends[number], ends[number + 1]
        rows, n, length = members[begin:end], end - begin, table.shape[1]
        numbers, order = np.arange(n), first[begin:end].copy()
        placed, totals = np.empty((n, length)), np.zeros(n + 1)  # of the windows that end before a place
        best, changed = -np.inf, 0
        while changed >= 0:
            for p in range(changed, n):
                order[p] = first[begin + numbers[p]]
                placed[p] = table[rows[order[p]]]
                totals[p + 1] = totals[p]
                if p + 1 >= length:
                    total = _window(p + 1 - length, order, placed, offset, rows, features, pooled)
                    totals[p + 1] += signed_root(total)
            if totals[n] > best:
                best = totals[n]
                orders[begin:end] = order
            changed = _next_permutation(numbers)
        values[number] = best


@numba.njit(cache=True, nogil=True)
def _next_permutation(numbers):  # type: ignore[no-untyped-def]
    """Turn `numbers` into the next in lexicographic order; the first place that changed, -1 after the last."""
    p = len(numbers) - 2
    while p >= 0 and numbers[p] > numbers[p + 1]:
        p -= 1
    if p < 0:
        return -1
    q = len(numbers) - 1
    while numbers[q] < numbers[p]:
        q -= 1
    numbers[p], numbers[q] = numbers[q], numbers[p]
    numbers[p + 1 :] = numbers[p + 1 :][::-1].copy()
    return p
