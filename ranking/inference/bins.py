"""Bounds on optimal ranks from a grid over the scores.

The optimal rank falls with the score and rises with the number of samples above, so the best ranks at a bin's two
edges bound the rank of every sample inside; they are found by divide and conquer over the edges.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

from ranking.core import Floats, Ints
from ranking.inference.interleaving import LARGEST, Derivative

SAMPLES_PER_BIN = 8
# their counts fit the second cache
MAX_BINS = 1 << 18
# times the largest score: far above the rounding error of a bin's edge
ROUNDING = 2.0**-48
# samples: the next ones are fetched while these are counted
BLOCK = 64


class Grid(NamedTuple):
    """A grid of scores in which bin b holds those in (top - (b + 1) / scale, top - b / scale]."""

    # The outermost bins hold all scores beyond them.

    bins: int
    top: float
    scale: float
    # how far rounding may move an edge
    slack: float


class Bins(NamedTuple):
    """Per bin: the irrelevant samples in all bins before it, and bounds on its samples' ranks."""

    starts: Ints
    lower: Ints
    upper: Ints


class Plan(NamedTuple):
    """How a sample's rank follows from its bin and its score."""

    # (bins,) the rank, or -1 - o in the o-th open bin, whose rank is not settled
    entry: Ints
    # the numbers of the open bins
    bins: Ints
    # lowest, highest: the bounds of the ranks of the samples of each open bin
    lowest: Ints
    highest: Ints
    # (open, 2): a score at or below the first has the highest rank, one above the second the lowest. NaN,
    # which decides nothing, where more than two ranks are possible.
    edges: Floats


def bin_grid(scores: Floats) -> Grid | None:
    """Return a grid over most `scores`; None where they are too alike, too far apart, or not finite."""
    # It spans a sample of the scores, cut at five interquartile ranges outside the quartiles, so that heavy
    # tails cost little and cannot flatten the middle.
    n = len(scores)
    bins = min(MAX_BINS, 1 << max(5, (n // SAMPLES_PER_BIN).bit_length() - 1))
    sample = np.sort(scores[:: 1 + n // max(128, min(1024, n // 512))])
    quarter = len(sample) // 4
    q1, q3 = float(sample[quarter]), float(sample[-1 - quarter])
    reach = 5.0 * (q3 - q1)
    low, top = max(float(sample[0]), q1 - reach), min(float(sample[-1]), q3 + reach)
    if not 1e-300 < top - low < 1e300:
        return None
    return Grid(bins, top, bins / (top - low), ROUNDING * (abs(low) + abs(top)))


@nb.njit(cache=True, nogil=True)
def count(scores: Floats, grid: Grid, bin_of: Ints) -> tuple[Ints, bool]:
    """Write the bin of every sample; return how many each bin has, and whether all scores are usable."""
    top, scale, last = grid.top, grid.scale, float(grid.bins - 1)
    counts = np.zeros(grid.bins, np.int32)
    unusable = 0
    for start in range(0, len(scores), BLOCK):
        source, target = scores[start : start + BLOCK], bin_of[start : start + BLOCK]
        for k in range(len(source)):
            score = source[k]
            # NaN as well
            unusable += not abs(score) <= LARGEST
            x = (top - score) * scale
            x = x if x > 0.0 else 0.0
            x = x if x < last else last
            target[k] = np.int32(x)
        for k in range(len(target)):
            counts[target[k]] += 1
    return counts, unusable == 0


@nb.njit(cache=True, nogil=True)
def plan_ranks(
    counts: Ints, bins_of_relevant: Ints, grid: Grid, derivative: Derivative
) -> tuple[Ints, Plan, Ints]:
    """Return the irrelevant samples before each open bin, the plan, and how many samples have each rank."""
    # counts: (bins,) of all samples; the relevant ones are subtracted here.
    relevant, half_gains, steps = derivative
    for b in bins_of_relevant:
        counts[b] -= 1
    bins = Bins(np.empty(grid.bins, np.int64), np.empty(grid.bins, np.int32), np.empty(grid.bins, np.int32))
    above = 0
    for b in range(grid.bins):
        bins.starts[b] = above
        above += counts[b]
    _bound(bins, grid, derivative)
    rank_counts = np.zeros(len(relevant) + 2, np.int64)
    entry, open_bins = bins.lower.copy(), np.empty(grid.bins, np.int32)
    opened = 0
    for b in range(grid.bins):
        if bins.lower[b] == bins.upper[b]:
            rank_counts[bins.lower[b]] += counts[b]
        elif counts[b]:
            entry[b] = -1 - opened
            open_bins[opened] = b
            opened += 1
    open_bins = open_bins[:opened]
    plan = Plan(entry, open_bins, bins.lower[open_bins], bins.upper[open_bins], np.full((opened, 2), np.nan))
    for o in range(opened):
        if plan.highest[o] == plan.lowest[o] + 1:
            i, b = plan.lowest[o] - 1, open_bins[o]
            most = half_gains[i] * steps[i + bins.starts[b]]
            least = half_gains[i] * steps[i + bins.starts[b] + counts[b] - 1]
            slack = ROUNDING * (abs(relevant[i]) + most)
            plan.edges[o, 0] = relevant[i] - most - slack
            plan.edges[o, 1] = relevant[i] - least + slack
    return bins.starts[open_bins], plan, rank_counts


@nb.njit(cache=True, nogil=True)
def _bound(bins: Bins, grid: Grid, derivative: Derivative) -> None:
    """Write the lowest and the highest rank of each bin."""
    starts, lower, upper = bins
    low, high = 1, len(derivative.relevant) + 1
    lower[0], upper[-1] = low, high
    stack = np.empty((24, 4), np.int64)
    _push(stack, 0, 1, len(lower), low, high)
    waiting = 1
    while waiting:
        waiting -= 1
        start, end, low, high = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3]
        if low == high:
            upper[start - 1 : end - 1] = low
            lower[start:end] = low
        elif start < end:
            edge = (start + end) // 2
            score = grid.top - edge / grid.scale
            above, below = _rank_interval(starts[edge] + 1, score, grid.slack, low, high, derivative)
            lower[edge], upper[edge - 1] = above, below
            _push(stack, waiting, start, edge, low, below)
            _push(stack, waiting + 1, edge + 1, end, above, high)
            waiting += 2


@nb.njit(cache=True, nogil=True)
def _push(stack: Ints, row: int, start: int, end: int, low: int, high: int) -> None:
    stack[row, 0], stack[row, 1], stack[row, 2], stack[row, 3] = start, end, low, high


@nb.njit(cache=True, nogil=True)
def _rank_interval(
    j: int, score: float, slack: float, low: int, high: int, derivative: Derivative
) -> tuple[int, int]:
    """Return `best_rank` at score + slack and at score - slack, by one sum."""
    relevant, half_gains, steps = derivative
    value_above, best_above, above = 0.0, 0.0, low
    value_below, best_below, below = 0.0, 0.0, low
    for i in range(low - 1, high - 1):
        drop = half_gains[i] * steps[i + j - 1]
        difference = relevant[i] - score
        value_above += (difference - slack) - drop
        value_below += (difference + slack) - drop
        if value_above >= best_above:
            best_above, above = value_above, i + 2
        if value_below >= best_below:
            best_below, below = value_below, i + 2
    return above, below
