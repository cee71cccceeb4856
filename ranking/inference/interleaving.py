"""Optimal interleaving ranks of the irrelevant samples: algorithms on plain arrays.

With the relevant scores s+ sorted from the top, the j-th irrelevant sample from the top adds f_j(r) to the
objective when r - 1 relevant samples stand above it (quicksort, Observation 3), and

    f_j(i + 1) - f_j(i) = 2 (s+_i - s_j) / (|P||N|) - gain_i step_{i + j - 1}.

Everywhere below that derivative is multiplied by |P||N|/2; `half_gains` is gain |P||N|/2. Ranks live on
1 ... |P| + 1 (the paper's eqs. 8-9 stop at |P|). Of several best ranks the highest is taken, so that the
ranks of a sorted sequence never fall (Observation 4).

`scores` are those of the irrelevant samples, `numbers` name them, and ranks are written by number. `greedy`, `search`
and `halve` take scores in descending order; `select` takes any order, and rearranges scores and numbers together.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

from ranking.core import Floats, Ints
from ranking.inference.sorting import sort_descending

# of a score: sums over all samples stay finite
LARGEST = 1e301


class Derivative(NamedTuple):
    """The terms of the derivative of every f_j."""

    # (|P|,) scores of the relevant samples, descending
    relevant: Floats
    # (|P|,)
    half_gains: Floats
    # (|P| + |N|,)
    steps: Floats


@nb.njit(cache=True, nogil=True)
def best_rank(j: int, score: float, low: int, high: int, derivative: Derivative) -> int:
    """Return the highest maximiser of f_j on low ... high, by one sum over the derivative."""
    relevant, half_gains, steps = derivative
    value, best, rank = 0.0, 0.0, low
    for i in range(low - 1, high - 1):
        value += (relevant[i] - score) - half_gains[i] * steps[i + j - 1]
        if value >= best:
            best, rank = value, i + 2
    return rank


@nb.njit(cache=True, nogil=True)
def coefficient_line(positives: int, negatives: int) -> tuple[float, float]:
    """Return a, b with c = a + b r for an irrelevant sample of rank r: (|P| + 2 - 2r) / (|P||N|)."""
    # Quicksort, Lemma 6, with |P| and |N| corrected.
    unit = 1.0 / (float(positives) * float(negatives))
    return (positives + 2) * unit, -2.0 * unit


@nb.njit(cache=True, nogil=True)
def greedy(scores: Floats, numbers: Ints, derivative: Derivative, ranks: Ints) -> None:
    """Evaluate every rank of every irrelevant sample: O(|N||P|) after sorting (Yue et al. 2007)."""
    top = len(derivative.relevant) + 1
    for j in range(1, len(scores) + 1):
        ranks[numbers[j - 1]] = best_rank(j, scores[j - 1], 1, top, derivative)


@nb.njit(cache=True, nogil=True)
def search(scores: Floats, numbers: Ints, derivative: Derivative, ranks: Ints) -> None:
    """Find the ranks by Algorithm 3, for unimodal losses such as AP."""
    # f_j is unimodal on 1 ... min(|P| + 1, j). There the derivative falls with the rank (Proposition 5), so
    # its last non-negative value is found by bisection; the ranks above j, which only the first |P|
    # irrelevant samples have, are evaluated one by one.
    relevant, half_gains, steps = derivative
    top = len(relevant) + 1
    for j in range(1, len(scores) + 1):
        score = scores[j - 1]
        unimodal = min(top, j)
        low, high = 1, unimodal
        while low < high:
            # does the next rank after `middle` gain?
            middle = (low + high) // 2
            i = middle - 1
            if (relevant[i] - score) - half_gains[i] * steps[i + j - 1] >= 0.0:
                low = middle + 1
            else:
                high = middle
        # From the mode on, one sum finds whether a rank above `unimodal` is better.
        ranks[numbers[j - 1]] = low if unimodal == top else best_rank(j, score, low, top, derivative)


@nb.njit(cache=True, nogil=True)
def halve(
    scores: Floats, numbers: Ints, before: int, low: int, high: int, derivative: Derivative, ranks: Ints
) -> None:
    """Do what `select` does with a run in descending order: split it in the middle, without rearranging."""
    # a side is at most half as long as the run it is split from
    stack = np.empty((66, 4), np.int64)
    stack[0] = 0, len(scores), low, high
    waiting = 1
    while waiting:
        waiting -= 1
        start, end, low, high = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3]
        while start < end and low < high:
            middle = (start + end) // 2
            rank = best_rank(before + middle + 1, scores[middle], low, high, derivative)
            ranks[numbers[middle]] = rank
            row = stack[waiting]
            row[0], row[1], row[2], row[3] = middle + 1, end, rank, high
            waiting += 1
            end, high = middle, rank
        for k in range(start, end):
            ranks[numbers[k]] = low


@nb.njit(cache=True, nogil=True)
def select(
    scores: Floats, numbers: Ints, before: int, low: int, high: int, derivative: Derivative, ranks: Ints
) -> None:
    """Rank a run of irrelevant samples whose ranks are known to lie on low ... high, by Algorithm 2."""
    # `before` irrelevant samples score higher than all of the run. The run is split at a pivot (an estimate
    # of its median), the pivot's best rank bounds both sides, and a side whose bounds are equal is finished.
    # Samples with exactly the pivot's score form a third side, which needs no more rearranging. A side that
    # is split badly too often is sorted, so that no input is quadratic.
    depth_limit = 2 * int(np.log2(len(scores) + 1.0)) + 8
    # Every split pops one side and pushes at most two, so the depth bounds the stack.
    stack = np.empty((depth_limit + 8, 5), np.int64)
    _push(stack, 0, 0, len(scores), low, high, 0)
    waiting = 1
    while waiting:
        waiting -= 1
        row = stack[waiting]
        start, end, low, high, depth = row[0], row[1], row[2], row[3], row[4]
        if start >= end:
            continue
        if low == high:
            for k in range(start, end):
                ranks[numbers[k]] = low
            continue
        if depth > depth_limit:
            side = slice(start, end)
            _sort_descending(scores[side], numbers[side])
            halve(scores[side], numbers[side], before + start, low, high, derivative, ranks)
            continue
        first, last = _partition(scores, numbers, start, end, _pivot(scores, start, end))
        score = scores[first]
        upper = best_rank(before + first + 1, score, low, high, derivative)
        lower = upper
        if last - first > 1:
            lower = best_rank(before + last, score, upper, high, derivative)
            same = slice(first + 1, last - 1)
            halve(scores[same], numbers[same], before + first + 1, upper, lower, derivative, ranks)
        ranks[numbers[first]] = upper
        ranks[numbers[last - 1]] = lower
        _push(stack, waiting, start, first, low, upper, depth + 1)
        _push(stack, waiting + 1, last, end, lower, high, depth + 1)
        waiting += 2


@nb.njit(cache=True, nogil=True)
def _push(stack: Ints, top: int, start: int, end: int, low: int, high: int, depth: int) -> None:
    row = stack[top]
    row[0], row[1], row[2], row[3], row[4] = start, end, low, high, depth


@nb.njit(cache=True, nogil=True)
def _pivot(scores: Floats, start: int, end: int) -> float:
    """Return the median of three, or of three medians of three in long runs."""
    middle = (start + end) // 2
    if end - start < 64:
        return _median(scores[start], scores[middle], scores[end - 1])
    third = (end - start) // 8
    return _median(
        _median(scores[start], scores[start + third], scores[start + 2 * third]),
        _median(scores[middle - third], scores[middle], scores[middle + third]),
        _median(scores[end - 1 - 2 * third], scores[end - 1 - third], scores[end - 1]),
    )


@nb.njit(cache=True, nogil=True)
def _median(a: float, b: float, c: float) -> float:
    return max(min(a, b), min(max(a, b), c))


@nb.njit(cache=True, nogil=True)
def _partition(scores: Floats, numbers: Ints, start: int, end: int, pivot: float) -> tuple[int, int]:
    """Rearrange start ... end into higher, equal and lower than `pivot`; return the bounds of the equal."""
    higher, k, lower = start, start, end
    while k < lower:
        score = scores[k]
        if score > pivot:
            scores[k], scores[higher] = scores[higher], score
            numbers[k], numbers[higher] = numbers[higher], numbers[k]
            higher += 1
            k += 1
        elif score < pivot:
            lower -= 1
            scores[k], scores[lower] = scores[lower], score
            numbers[k], numbers[lower] = numbers[lower], numbers[k]
        else:
            k += 1
    return higher, lower


@nb.njit(cache=True, nogil=True)
def _sort_descending(scores: Floats, numbers: Ints) -> None:
    order, in_order = np.empty(len(scores), np.int32), np.empty(len(scores))
    sort_descending(scores, order, in_order)
    scores[:], numbers[:] = in_order, numbers[order]
