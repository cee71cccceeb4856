"""The best set of k labels where a few core labels interact with all others (c-star, section 4).

    value(t) = t's + t'Ft,   t in {0, 1}^L with k ones,

F symmetric with a zero diagonal, and zero outside the rows and columns of the core; t'Ft runs over ordered pairs,
so a pair in the top k counts twice. For each of the 2^C configurations of the core the other labels count by
themselves, s_i + 2 sum_c t_c F_ci, and the best of them are selected: O(2^C (L + k log k)), here O(2^C L), since
nothing needs an order. One core label changes at a time (a Gray code), so that a configuration costs one addition for
each label and one selection.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from ranking.inference import threads
from ranking.types import Bools, Floats, Ints

MOST_CORE = 20  # labels in a core: twice the time for each
MOST_ROUNDS = 40  # of a selection, before it ends in a sort
A_PART = 500_000  # labels times configurations, below which another thread is not worth waking


@dataclass(frozen=True, eq=False)
class BestTopK:
    """members: (k,) the labels of the best top k, ascending. value: t's + t'Ft of them."""

    members: Ints
    value: float


class BestTopKs(NamedTuple):
    """Of M images: members (M, L) bool, which labels are in the best top k; values (M,)."""

    members: Bools
    values: Floats


class TopKMaxMarginals(NamedTuple):
    """For each image and label the best value with the label in the top k, and with it outside, (M, L) each.

    -inf where there is no such set, as of a label that is forced to the other side.
    """

    inside: Floats
    outside: Floats

    @property
    def difference(self) -> Floats:
        """(M, L) inside - outside: labels of the best top k have >= 0, all others <= 0."""
        return self.inside - self.outside


def best_top_k(
    unary: npt.ArrayLike,
    core: npt.ArrayLike,
    interactions: npt.ArrayLike,
    k: int,
    inside: Iterable[int] = (),
    outside: Iterable[int] = (),
) -> BestTopK:
    """The k labels with the greatest t's + t'Ft, exactly; where several sets are best, always the same one.

    unary: (L,) scores s; core: (c,) the core labels; interactions: (c, L) = F[core]; inside, outside: labels forced
    into the top k and out of it. For loss-augmented inference give s + (1 - z) / k. ValueError for what is no such
    model, and where no set of k labels fulfils what is forced.

    >>> best = best_top_k([3.0, 2.0, 1.0], core=[2], interactions=[[0.0, 2.0, 0.0]], k=2)
    >>> best.members.tolist(), best.value
    ([1, 2], 7.0)
    """
    scores = np.asarray(unary, np.float64)
    if scores.ndim != 1:
        raise ValueError(f"unary must be (L,), one score a label, got shape {scores.shape}")
    forced = np.zeros(scores.shape, np.int8)
    for labels, mark in ((inside, 1), (outside, -1)):
        chosen = _labels(list(labels), len(scores), "inside" if mark > 0 else "outside")
        if (forced[chosen] == -mark).any():
            label = chosen[forced[chosen] == -mark][0]
            raise ValueError(f"label {label} cannot be forced inside and outside at once; leave one away")
        forced[chosen] = mark
    found = best_top_ks(scores[None], core, interactions, k, forced[None])
    return BestTopK(np.flatnonzero(found.members[0]), float(found.values[0]))


def best_top_ks(
    unary: npt.ArrayLike,
    core: npt.ArrayLike,
    interactions: npt.ArrayLike,
    k: npt.ArrayLike,
    forced: npt.ArrayLike | None = None,
) -> BestTopKs:
    """`best_top_k` of many images, in a few threads.

    unary: (M, L); k: a number, or (M,) one an image; forced: (M, L) of 1 inside, -1 outside, 0 free.
    """
    model = _Model.of(unary, core, interactions, k, forced)
    members, values = np.zeros(model.unary.shape, np.bool_), np.empty(len(model.unary))

    def work(rows: slice) -> None:
        _best(*model.part(rows), members[rows], values[rows])

    threads.each(work, model.parts())
    return BestTopKs(members, values)


def top_k_max_marginals(
    unary: npt.ArrayLike,
    core: npt.ArrayLike,
    interactions: npt.ArrayLike,
    k: npt.ArrayLike,
    forced: npt.ArrayLike | None = None,
) -> TopKMaxMarginals:
    """The best values with each label forced inside and outside (c-star, section 5), all labels at the cost of one.

    Given a configuration of the core, a label that is forced inside takes the place of the last one selected, and
    one forced outside leaves its place to the first that was not. Arguments as of `best_top_ks`.

    >>> found = top_k_max_marginals([[3.0, 2.0, 1.0]], [], np.empty((0, 3)), 1)
    >>> found.inside.tolist(), found.outside.tolist()
    ([[3.0, 2.0, 1.0]], [[2.0, 3.0, 3.0]])
    """
    model = _Model.of(unary, core, interactions, k, forced)
    inside, outside = (np.full(model.unary.shape, -np.inf) for _ in range(2))

    def work(rows: slice) -> None:
        _max_marginals(*model.part(rows), inside[rows], outside[rows])

    threads.each(work, model.parts())
    return TopKMaxMarginals(inside, outside)


@dataclass(frozen=True, eq=False)
class _Model:
    """Checked and complete: unary (M, L), core (c,), interactions (c, L), k (M,), forced (M, L)."""

    unary: Floats
    core: Ints
    interactions: Floats
    k: Ints
    forced: npt.NDArray[np.int8]

    @classmethod
    def of(
        cls,
        unary: npt.ArrayLike,
        core: npt.ArrayLike,
        interactions: npt.ArrayLike,
        k: npt.ArrayLike,
        forced: npt.ArrayLike | None,
    ) -> _Model:
        scores = np.ascontiguousarray(unary, np.float64)
        if scores.ndim != 2:
            raise ValueError(f"unary must be (M, L), one score an image and label, got shape {scores.shape}")
        if not np.isfinite(scores).all():
            raise ValueError("unary must be finite; to force labels use inside and outside")
        labels = _labels(core, scores.shape[1], "core")
        marks = np.zeros(scores.shape, np.int8) if forced is None else np.ascontiguousarray(forced, np.int8)
        if marks.shape != scores.shape:
            raise ValueError(f"forced must be {scores.shape} as unary is, got shape {marks.shape}")
        weights = check_interactions(interactions, labels, scores.shape[1])
        return cls(scores, labels, weights, _places(k, marks), marks)

    def part(self, rows: slice) -> tuple[Floats, Ints, Floats, Ints, npt.NDArray[np.int8]]:
        """What a kernel is given of some images."""
        return self.unary[rows], self.core, self.interactions, self.k[rows], self.forced[rows]

    def parts(self) -> list[slice]:
        """The images in as many parts as are worth a thread."""
        images, labels = self.unary.shape
        return threads.rows(images, 1 + A_PART // max(1, labels << len(self.core)))


def check_interactions(interactions: npt.ArrayLike, core: Ints, count: int) -> Floats:
    """`interactions` as F[core] (c, L), or a ValueError unless F can be symmetric with a zero diagonal."""
    weights = np.ascontiguousarray(interactions, np.float64)
    if weights.shape != (len(core), count):
        raise ValueError(
            f"interactions must be F[core], shape ({len(core)}, {count}), got shape {weights.shape}"
        )
    if not np.isfinite(weights).all():
        raise ValueError("interactions must be finite")
    among = weights[:, core]
    if (among != among.T).any() or np.diagonal(among).any():
        raise ValueError(
            "interactions among core labels must be symmetric with a zero diagonal: t'Ft counts each pair twice, "
            "half in either order; give (F + F') / 2 and add the diagonal to unary"
        )
    return weights


def _labels(labels: npt.ArrayLike, count: int, name: str) -> npt.NDArray[np.int64]:
    """`labels` as different numbers below `count`, or a ValueError."""
    given = np.asarray(labels)
    if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
        raise ValueError(f"{name} must be whole numbers of labels, got {given.dtype} of shape {given.shape}")
    chosen = given.astype(np.int64)
    if chosen.size and not 0 <= chosen.min() <= chosen.max() < count:
        raise ValueError(f"{name} must name labels 0 to {count - 1}, got {chosen.tolist()}")
    if len(np.unique(chosen)) != len(chosen):
        raise ValueError(f"{name} must name different labels, got {chosen.tolist()}")
    if name == "core" and len(chosen) > MOST_CORE:
        raise ValueError(
            f"a core of {len(chosen)} labels has 2^{len(chosen)} configurations; {MOST_CORE} at most"
        )
    return chosen


def _places(k: npt.ArrayLike, forced: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
    """(M,) how many labels each top k holds, or a ValueError where what is forced leaves no such set."""
    given, (images, labels) = np.asarray(k), forced.shape
    if given.shape not in ((), (images,)) or not np.issubdtype(given.dtype, np.integer):
        raise ValueError(f"k must be a whole number, or ({images},) of them, got {given.dtype} {given.shape}")
    places = np.broadcast_to(given.astype(np.int64), (images,)).copy()
    least, most = (forced > 0).sum(axis=1), labels - (forced < 0).sum(axis=1)
    wrong = np.flatnonzero((places < least) | (places > most))
    if len(wrong):
        row = wrong[0]
        raise ValueError(
            f"k must be between {least[row]}, the labels forced inside, and {most[row]}, those not forced outside, "
            f"got {places[row]} (image {row})"
        )
    return places


# ---------------------------------------------------------------------------------------------------------
# Kernels
# ---------------------------------------------------------------------------------------------------------


@numba.njit(cache=True, nogil=True)
def _gather(s, core, F, forced, free, doubled, flips, mutual):  # type: ignore[no-untyped-def]
    """What is left to decide of an image; counts of free labels, of free core labels, and of labels set inside.

    free: numbers of the labels that are neither forced nor of the core. doubled: (c + 1, L) in row 0 their scores
    with all that is forced inside, in the others what each free core label adds to them. flips: (c,) places in the
    core of those that are free. mutual: (c + 1, c) the same for the free core labels; the value is what is sure.
    """
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
        if forced[core[j]] > 0:  # its partners that are free
            for x in range(count):
                doubled[0, x] += 2.0 * F[j, free[x]]
            for x in range(turns):
                mutual[0, x] += 2.0 * F[j, core[flips[x]]]
            for i in range(
                len(s)
            ):  # its partners that are inside for certain: pairs in the core come up twice
                if forced[i] > 0:
                    value += (1.0 if is_core[i] else 2.0) * F[j, i]
    for y in range(turns):
        j = flips[y]
        for x in range(count):
            doubled[1 + y, x] = 2.0 * F[j, free[x]]
        for x in range(turns):
            mutual[1 + y, x] = 2.0 * F[j, core[flips[x]]]
        for i in range(len(s)):  # what is forced inside and not of the core: it knows the core only from here
            if forced[i] > 0 and not is_core[i]:
                mutual[0, y] += 2.0 * F[j, i]
    return count, turns, sure, value


@numba.njit(cache=True, nogil=True)
def _flip(turn, number, turns, on, scores, doubled, mutual):  # type: ignore[no-untyped-def]
    """Change free core label `turn`; how many more are inside, and what the core gained among itself."""
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
    """The place of the lowest 1 of a number > 0: which bit a Gray code changes at that step."""
    place = 0
    while not (number >> place) & 1:
        place += 1
    return place


@numba.njit(cache=True, nogil=True)
def _top(values, n, m, guess, room):  # type: ignore[no-untyped-def]
    """The sum of the m greatest of the first n values, and the least of these, 0 < m <= n.

    Quickselect in which no step depends on a guessed branch: values go to either side by counting. guess: a value near
    the one sought, such as that of the last configuration: it splits first. room: (4, >= n) to work in. Where splits
    go wrong it ends in a sort, so that no values make it quadratic.
    """
    above = below = equal = 0
    high, low = room[0], room[1]
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
                return total + _sum(room[source], m), _least(room[source], m)
            size = above
        else:
            total += _sum(room[source], above)
            m -= above
            if equal >= m:
                return total + m * pivot, pivot
            total += equal * pivot
            m -= equal
            source, size = source + 1, below
        given, rounds = room[source], rounds + 1
        if rounds > MOST_ROUNDS:
            ordered = np.sort(given[:size])
            return total + _sum(ordered[size - m :], m), ordered[size - m]
        a, b, c = given[0], given[size >> 1], given[size - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        target = 2 if source < 2 else 0
        high, low = room[target], room[target + 1]
        above = below = equal = 0
        for x in range(size):
            value = given[x]
            high[above] = value
            low[below] = value
            above += value > pivot
            below += value < pivot
            equal += value == pivot
        source = target


@numba.njit(cache=True, nogil=True)
def _first_outside(values, n, m, last):  # type: ignore[no-untyped-def]
    """The greatest of the first n values that is not among the m greatest, whose least is `last`; else -inf."""
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
def _best(unary, core, F, k, forced, members, values):  # type: ignore[no-untyped-def]
    """Fill members (M, L) and values (M,)."""
    L, C = unary.shape[1], len(core)
    free, flips = np.empty(L, np.int64), np.empty(C, np.int64)
    doubled, mutual = np.empty((C + 1, L)), np.empty((C + 1, C))
    scores, room, on = np.empty(L), np.empty((4, L + 1)), np.zeros(C, np.bool_)
    best_on, best_scores = np.zeros(C, np.bool_), np.empty(L)
    for image in range(len(unary)):
        n, turns, sure, base = _gather(unary[image], core, F, forced[image], free, doubled, flips, mutual)
        scores[:n] = doubled[0, :n]
        on[:] = False
        value, places, best, last, chosen = base, k[image] - sure, -np.inf, 0.0, 0
        for step in range(1 << turns):
            if step:
                change, gain = _flip(_lowest_bit(step), n, turns, on, scores, doubled, mutual)
                places -= change
                value += gain
            if places < 0 or places > n:
                continue
            total = value
            if places > 0:
                gain, last = _top(scores, n, places, last, room)
                total += gain
            if total > best:
                best, chosen = total, places
                best_on[:turns] = on[:turns]
                best_scores[:n] = scores[:n]
        _mark(image, core, forced, free, n, flips, turns, best_on, best_scores, room, chosen, members)
        values[image] = _value(unary[image], core, F, members[image])


@numba.njit(cache=True, nogil=True)
def _mark(image, core, forced, free, n, flips, turns, on, scores, room, places, members):  # type: ignore[no-untyped-def]
    """Write the members of the best configuration: of equal scores the labels with the lower numbers."""
    for i in range(members.shape[1]):
        members[image, i] = forced[image, i] > 0
    for x in range(turns):
        members[image, core[flips[x]]] = on[x]
    if places == 0:
        return
    _, last = _top(scores, n, places, scores[0], room)
    above = 0
    for x in range(n):
        above += scores[x] > last
    equal = places - above
    for x in range(n):
        if scores[x] > last or (scores[x] == last and equal > 0):
            equal -= scores[x] == last
            members[image, free[x]] = True


@numba.njit(cache=True, nogil=True)
def _value(s, core, F, t):  # type: ignore[no-untyped-def]
    """t's + t'Ft from its definition."""
    total = 0.0
    for i in range(len(s)):
        if t[i]:
            total += s[i]
    for j in range(len(core)):
        if t[core[j]]:
            for i in range(len(s)):
                if t[i]:
                    total += 2.0 * F[j, i]
            for i in core:  # these pairs come up once from either end
                if t[i]:
                    total -= F[j, i]
    return total


@numba.njit(cache=True, nogil=True)
def _max_marginals(unary, core, F, k, forced, inside, outside):  # type: ignore[no-untyped-def]
    """Raise inside and outside (M, L), -inf at first, to the best values."""
    L, C = unary.shape[1], len(core)
    free, flips = np.empty(L, np.int64), np.empty(C, np.int64)
    doubled, mutual = np.empty((C + 1, L)), np.empty((C + 1, C))
    scores, room, on = np.empty(L), np.empty((4, L + 1)), np.zeros(C, np.bool_)
    for image in range(len(unary)):
        n, turns, sure, base = _gather(unary[image], core, F, forced[image], free, doubled, flips, mutual)
        scores[:n] = doubled[0, :n]
        on[:] = False
        value, places, best, guess = base, k[image] - sure, -np.inf, 0.0
        within, without = inside[image], outside[image]
        for step in range(1 << turns):
            if step:
                change, gain = _flip(_lowest_bit(step), n, turns, on, scores, doubled, mutual)
                places -= change
                value += gain
            if places < 0 or places > n:
                continue
            total, last = value, np.inf
            if places > 0:
                gain, last = _top(scores, n, places, guess, room)
                guess = last
                total += gain
            first = _first_outside(scores, n, places, last)
            best = max(best, total)
            for x in range(turns):
                side = within if on[x] else without
                side[core[flips[x]]] = max(side[core[flips[x]]], total)
            for x in range(n):
                i = free[x]
                if places > 0:
                    within[i] = max(within[i], total + min(0.0, scores[x] - last))
                if places < n:
                    without[i] = max(without[i], total - max(0.0, scores[x] - first))
        for i in range(L):
            if forced[image, i] > 0:
                within[i] = best
            elif forced[image, i] < 0:
                without[i] = best
