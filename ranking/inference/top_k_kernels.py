"""Kernels of the best top k: one configuration of the core after the other, with a selection for each.

One core label changes at a time (a Gray code), so that a configuration costs one addition per label and one
selection, which begins at the value where the last one ended.
"""

from __future__ import annotations

import numba
import numpy as np

# of a selection, before it sorts
MAX_ROUNDS = 40


@numba.njit(cache=True, nogil=True)
def _gather(s, core, F, forced, free, doubled, flips, mutual):  # type: ignore[no-untyped-def]
    """Write the free part of an image's model; return how many labels are free, free and core, inside."""
    # free: numbers of the labels that are neither forced nor of the core. doubled: (c + 1, L) in row 0 their
    # scores with all that is forced inside, in the others what each free core label adds to them. flips: (c,)
    # indices in the core of the free ones. mutual: (c + 1, c) the same for the free core labels. The last
    # value returned is the part of the value that the forced labels determine.
    is_core = np.zeros(len(s), np.bool_)
    for c in core:
        is_core[c] = True
    count = turns = sure = 0
    for i in range(len(s)):
        if not is_core[i] and forced[i] == 0:
            free[count] = i
            doubled[0, count] = s[i]
            count += 1
    for j in range(len(core)):
        if forced[core[j]] == 0:
            flips[turns] = j
            mutual[0, turns] = s[core[j]]
            turns += 1
    value = 0.0
    for i in range(len(s)):
        if forced[i] > 0:
            value += s[i]
            sure += 1
    for j in range(len(core)):
        # its partners that are free
        if forced[core[j]] > 0:
            for x in range(count):
                doubled[0, x] += 2.0 * F[j, free[x]]
            for x in range(turns):
                mutual[0, x] += 2.0 * F[j, core[flips[x]]]
            # its partners that are forced inside: pairs within the core occur twice
            for i in range(len(s)):
                if forced[i] > 0:
                    value += (1.0 if is_core[i] else 2.0) * F[j, i]
    for y in range(turns):
        j = flips[y]
        for x in range(count):
            doubled[1 + y, x] = 2.0 * F[j, free[x]]
        for x in range(turns):
            mutual[1 + y, x] = 2.0 * F[j, core[flips[x]]]
        # labels forced inside that are not in the core: this is their only interaction
        for i in range(len(s)):
            if forced[i] > 0 and not is_core[i]:
                mutual[0, y] += 2.0 * F[j, i]
    return count, turns, sure, value


@numba.njit(cache=True, nogil=True)
def _flip(turn, number, turns, on, scores, doubled, mutual):  # type: ignore[no-untyped-def]
    """Change free core label `turn`; return the change in the number inside and in the core's value."""
    gain = mutual[0, turn]
    for x in range(turns):
        if on[x] and x != turn:
            gain += mutual[1 + turn, x]
    sign = -1.0 if on[turn] else 1.0
    on[turn] = not on[turn]
    row = doubled[1 + turn]
    for x in range(number):
        scores[x] += sign * row[x]
    return (1 if sign > 0 else -1), sign * gain


@numba.njit(cache=True, nogil=True)
def _lowest_bit(number):  # type: ignore[no-untyped-def]
    """Return the index of the lowest 1 of a number > 0: the bit that a Gray code changes at that step."""
    bit = 0
    while not (number >> bit) & 1:
        bit += 1
    return bit


@numba.njit(cache=True, nogil=True)
def _top(values, n, m, guess, work):  # type: ignore[no-untyped-def]
    """Return the sum of the m greatest of the first n values, and the least of these, 0 < m <= n."""
    # Quickselect in which no step depends on a predicted branch: values go to either side by counting. guess:
    # a value near the result, such as that of the last configuration; it splits first. work: (4, >= n)
    # working memory. Where splits go wrong it ends in a sort, so that no values make it quadratic.
    above = below = equal = 0
    high, low = work[0], work[1]
    for x in range(n):
        value = values[x]
        high[above] = value
        low[below] = value
        above += value > guess
        below += value < guess
        equal += value == guess
    total, source, rounds = 0.0, 0, 0
    pivot, size = guess, n
    while True:
        if above >= m:
            if above == m:
                return total + _sum(work[source], m), _least(work[source], m)
            size = above
        else:
            total += _sum(work[source], above)
            m -= above
            if equal >= m:
                return total + m * pivot, pivot
            total += equal * pivot
            m -= equal
            source, size = source + 1, below
        source_values, rounds = work[source], rounds + 1
        if rounds > MAX_ROUNDS:
            ordered = np.sort(source_values[:size])
            return total + _sum(ordered[size - m :], m), ordered[size - m]
        a, b, c = source_values[0], source_values[size >> 1], source_values[size - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        target = 2 if source < 2 else 0
        high, low = work[target], work[target + 1]
        above = below = equal = 0
        for x in range(size):
            value = source_values[x]
            high[above] = value
            low[below] = value
            above += value > pivot
            below += value < pivot
            equal += value == pivot
        source = target


@numba.njit(cache=True, nogil=True)
def _first_outside(values, n, m, last):  # type: ignore[no-untyped-def]
    """Return the greatest of the first n values outside the m greatest, whose least is `last`; else -inf."""
    within, first = 0, -np.inf
    for x in range(n):
        within += values[x] >= last
        first = max(first, values[x] if values[x] < last else -np.inf)
    return last if within > m else first


@numba.njit(cache=True, nogil=True)
def _sum(values, n):  # type: ignore[no-untyped-def]
    total = 0.0
    for x in range(n):
        total += values[x]
    return total


@numba.njit(cache=True, nogil=True)
def _least(values, n):  # type: ignore[no-untyped-def]
    least = values[0]
    for x in range(1, n):
        least = min(least, values[x])
    return least


@numba.njit(cache=True, nogil=True)
def fill_best(unary, core, F, k, forced, members, values):  # type: ignore[no-untyped-def]
    """Write members (M, L) and values (M,)."""
    L, C = unary.shape[1], len(core)
    free, flips = np.empty(L, np.int64), np.empty(C, np.int64)
    doubled, mutual = np.empty((C + 1, L)), np.empty((C + 1, C))
    scores, work, on = np.empty(L), np.empty((4, L + 1)), np.zeros(C, np.bool_)
    best_on, best_scores = np.zeros(C, np.bool_), np.empty(L)
    for image in range(len(unary)):
        n, turns, sure, base = _gather(unary[image], core, F, forced[image], free, doubled, flips, mutual)
        scores[:n] = doubled[0, :n]
        on[:] = False
        value, remaining, best, last, chosen = base, k[image] - sure, -np.inf, 0.0, 0
        for step in range(1 << turns):
            if step:
                change, gain = _flip(_lowest_bit(step), n, turns, on, scores, doubled, mutual)
                remaining -= change
                value += gain
            if remaining < 0 or remaining > n:
                continue
            total = value
            if remaining > 0:
                gain, last = _top(scores, n, remaining, last, work)
                total += gain
            if total > best:
                best, chosen = total, remaining
                best_on[:turns] = on[:turns]
                best_scores[:n] = scores[:n]
        _mark(image, core, forced, free, n, flips, turns, best_on, best_scores, work, chosen, members)
        values[image] = _value(unary[image], core, F, members[image])


@numba.njit(cache=True, nogil=True)
def _mark(image, core, forced, free, n, flips, turns, on, scores, work, remaining, members):  # type: ignore[no-untyped-def]
    """Write the members of the best configuration: of equal scores the labels with the lower numbers."""
    for i in range(members.shape[1]):
        members[image, i] = forced[image, i] > 0
    for x in range(turns):
        members[image, core[flips[x]]] = on[x]
    if remaining == 0:
        return
    _, last = _top(scores, n, remaining, scores[0], work)
    above = 0
    for x in range(n):
        above += scores[x] > last
    equal = remaining - above
    for x in range(n):
        if scores[x] > last or (scores[x] == last and equal > 0):
            equal -= scores[x] == last
            members[image, free[x]] = True


@numba.njit(cache=True, nogil=True)
def _value(s, core, F, t):  # type: ignore[no-untyped-def]
    """Return t's + t'Ft from its definition."""
    total = 0.0
    for i in range(len(s)):
        if t[i]:
            total += s[i]
    for j in range(len(core)):
        if t[core[j]]:
            for i in range(len(s)):
                if t[i]:
                    total += 2.0 * F[j, i]
            # these pairs occur once from either end
            for i in core:
                if t[i]:
                    total -= F[j, i]
    return total


@numba.njit(cache=True, nogil=True)
def fill_max_marginals(unary, core, F, k, forced, inside, outside):  # type: ignore[no-untyped-def]
    """Raise inside and outside (M, L), -inf at first, to the best values."""
    L, C = unary.shape[1], len(core)
    free, flips = np.empty(L, np.int64), np.empty(C, np.int64)
    doubled, mutual = np.empty((C + 1, L)), np.empty((C + 1, C))
    scores, work, on = np.empty(L), np.empty((4, L + 1)), np.zeros(C, np.bool_)
    for image in range(len(unary)):
        n, turns, sure, base = _gather(unary[image], core, F, forced[image], free, doubled, flips, mutual)
        scores[:n] = doubled[0, :n]
        on[:] = False
        value, remaining, best, guess = base, k[image] - sure, -np.inf, 0.0
        within, without = inside[image], outside[image]
        for step in range(1 << turns):
            if step:
                change, gain = _flip(_lowest_bit(step), n, turns, on, scores, doubled, mutual)
                remaining -= change
                value += gain
            if remaining < 0 or remaining > n:
                continue
            total, last = value, np.inf
            if remaining > 0:
                gain, last = _top(scores, n, remaining, guess, work)
                guess = last
                total += gain
            first = _first_outside(scores, n, remaining, last)
            best = max(best, total)
            for x in range(turns):
                side = within if on[x] else without
                side[core[flips[x]]] = max(side[core[flips[x]]], total)
            for x in range(n):
                i = free[x]
                if remaining > 0:
                    within[i] = max(within[i], total + min(0.0, scores[x] - last))
                if remaining < n:
                    without[i] = max(without[i], total - max(0.0, scores[x] - first))
        for i in range(L):
            if forced[image, i] > 0:
                within[i] = best
            elif forced[image, i] < 0:
                without[i] = best
