"""Optimal interleaving ranks by counting instead of comparing.

One pass counts the scores into equal-width bins. The optimal rank falls with the score and rises with the
number of samples above, so the best ranks at a bin's two edges bound the rank of every sample inside; they
are found by divide and conquer over the edges. A bin whose bounds meet is settled. The samples of the other
bins (a few in a hundred on ordinary scores) are counted once more on a grid sixteen times as fine, and what
is then still open, bin by bin, goes to `select`: where scores are adversarial, with nearly all samples in one
bin, that is the whole work. There is no comparison sort, so the paper's lower bound for comparison-based
algorithms (quicksort, Proposition 4) does not apply.

The passes over all samples are bound by memory, so there are two and no more, with vector instructions where
a loop has neither branches nor signed subscripts.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

from ranking.inference.interleaving import Derivative, select
from ranking.types import Floats, Ints

SAMPLES_A_BIN = 8
MOST_BINS = 1 << 16  # what a bin's number in 16 bits allows
FINER = 16  # a power of two: a sample's fine bin then lies in its coarse bin, to the last bit
ROUNDING = 2.0**-48  # of the largest score: far above what the arithmetic of a bin's edge can lose


class Grid(NamedTuple):
    """Bin b holds the scores in (top - (b + 1) / scale, top - b / scale], the outermost bins all beyond.

    slack: how far rounding may move an edge.
    """

    bins: int
    top: float
    scale: float
    slack: float


class Bins(NamedTuple):
    """What is known of each bin: irrelevant samples in all bins before it, and bounds on its samples' ranks."""

    starts: Ints
    lower: Ints
    upper: Ints


def bin_grid(scores: Floats) -> Grid | None:
    """A grid over most of the `scores`; None where they are too alike or too far apart for one.

    It spans a sample of the scores, cut at five interquartile ranges outside the quartiles: heavy tails cost
    a little, and cannot flatten the middle.
    """
    n = len(scores)
    bins = min(MOST_BINS, 1 << max(5, (n // SAMPLES_A_BIN).bit_length() - 1))
    sample = np.sort(scores[:: 1 + n // max(128, min(1024, n // 512))])
    quarter = len(sample) // 4
    q1, q3 = float(sample[quarter]), float(sample[-1 - quarter])
    reach = 5.0 * (q3 - q1)
    low, top = max(float(sample[0]), q1 - reach), min(float(sample[-1]), q3 + reach)
    if not 1e-300 < top - low < 1e300:
        return None
    return Grid(bins, top, bins / (top - low), ROUNDING * (abs(low) + abs(top)))


def buckets(
    scores: Floats, positives: Ints, derivative: Derivative, grid: Grid, ranks: Ints, coefficients: Floats
) -> Ints:
    """Write the ranks (|N|,) and coefficients of the irrelevant among all `scores`; how many have each rank.

    positives: (|P|,) ascending numbers of the relevant samples, whose scores are skipped.
    """
    bin_of = np.empty(len(scores), np.uint16)
    counts = _count(scores, positives, grid, bin_of)
    rank_counts = np.zeros(len(positives) + 2, np.int64)
    bins, rank_of_bin, open_bins, unsettled = _bound_all(counts, grid, derivative, rank_counts)
    samples = np.empty(unsettled + 1, np.uint32)
    _settle(bin_of, rank_of_bin, positives, ranks, coefficients, samples)
    _refine(
        scores,
        positives,
        samples[:-1],
        bin_of,
        open_bins,
        bins,
        grid,
        derivative,
        ranks,
        coefficients,
        rank_counts,
    )
    return rank_counts


@nb.njit(cache=True, nogil=True)
def _count(scores: Floats, positives: Ints, grid: Grid, bin_of: Ints) -> Ints:
    """Write the bin of every sample; how many irrelevant samples each bin has."""
    top, scale, last = grid.top, grid.scale, float(grid.bins - 1)
    for k in range(len(scores)):
        x = (top - scores[k]) * scale
        x = x if x > 0.0 else 0.0
        x = x if x < last else last
        bin_of[k] = np.uint16(np.int32(x))
    counts = np.zeros(grid.bins, np.int32)
    for k in range(len(bin_of)):
        counts[bin_of[k]] += 1
    for p in positives:
        counts[bin_of[p]] -= 1
    return counts


@nb.njit(cache=True, nogil=True)
def _bound_all(
    counts: Ints, grid: Grid, derivative: Derivative, rank_counts: Ints
) -> tuple[Bins, Ints, Ints, int]:
    """What is known of every bin, the rank of each settled one (else 0), the open ones, and their samples."""
    bins = Bins(np.empty(grid.bins, np.int64), np.empty(grid.bins, np.int32), np.empty(grid.bins, np.int32))
    above = 0
    for b in range(grid.bins):
        bins.starts[b] = above
        above += counts[b]
    _bound(bins, 0.0, grid, derivative, 1, len(derivative.relevant) + 1)
    rank_of_bin, open_bins = np.empty(grid.bins, np.int32), np.empty(grid.bins, np.int32)
    opened, unsettled = 0, 0
    for b in range(grid.bins):
        rank = bins.lower[b]
        if rank == bins.upper[b]:
            rank_of_bin[b] = rank
            rank_counts[rank] += counts[b]
        else:
            rank_of_bin[b] = 0
            if counts[b]:
                open_bins[opened] = b
                opened += 1
                unsettled += counts[b]
    return bins, rank_of_bin, open_bins[:opened], unsettled


@nb.njit(cache=True, nogil=True)
def _bound(bins: Bins, first: float, grid: Grid, derivative: Derivative, low: int, high: int) -> None:
    """Fill the lowest and highest rank of each bin, within low ... high; edge e is edge first + e of the grid."""
    starts, lower, upper = bins
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
            score = grid.top - (first + edge) / grid.scale
            above, below = _rank_interval(starts[edge] + 1, score, grid.slack, low, high, derivative)
            lower[edge], upper[edge - 1] = above, below
            _push(stack, waiting, start, edge, low, below)
            _push(stack, waiting + 1, edge + 1, end, above, high)
            waiting += 2


@nb.njit(cache=True, nogil=True)
def _push(stack: Ints, place: int, start: int, end: int, low: int, high: int) -> None:
    stack[place, 0], stack[place, 1], stack[place, 2], stack[place, 3] = start, end, low, high


@nb.njit(cache=True, nogil=True)
def _rank_interval(
    j: int, score: float, slack: float, low: int, high: int, derivative: Derivative
) -> tuple[int, int]:
    """`best_rank` at score + slack and at score - slack, in one sum."""
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


@nb.njit(cache=True, nogil=True)
def coefficient_line(positives: int, negatives: int) -> tuple[float, float]:
    """a, b with c = a + b r for an irrelevant sample of rank r: (|P| + 2 - 2r) / (|P||N|).

    Quicksort, Lemma 6, with |P| and |N| put right.
    """
    unit = 1.0 / (float(positives) * float(negatives))
    return (positives + 2) * unit, -2.0 * unit


@nb.njit(cache=True, nogil=True)
def _settle(
    bin_of: Ints, rank_of_bin: Ints, positives: Ints, ranks: Ints, coefficients: Floats, samples: Ints
) -> None:
    """Write ranks and coefficients of settled bins, and list the irrelevant samples of open ones, ascending."""
    level, slope = coefficient_line(len(positives), len(ranks))
    found, start = np.uint64(0), 0
    for p in range(len(positives) + 1):
        end = positives[p] if p < len(positives) else len(bin_of)
        source, target, coefficient = bin_of[start:end], ranks[start - p : end - p], coefficients[start:end]
        for k in range(len(source)):
            rank = rank_of_bin[source[k]]
            target[k] = rank
            coefficient[k] = level + slope * rank
            samples[found] = start + k
            found += np.uint64(rank == 0)
        start = end + 1


@nb.njit(cache=True, nogil=True)
def _refine(
    scores: Floats,
    positives: Ints,
    samples: Ints,
    bin_of: Ints,
    open_bins: Ints,
    bins: Bins,
    grid: Grid,
    derivative: Derivative,
    ranks: Ints,
    coefficients: Floats,
    rank_counts: Ints,
) -> None:
    """Rank the `samples` of open bins on the finer grid, and by `select` where that is not fine enough."""
    fine_of, counts = _count_finer(scores, samples, bin_of, open_bins, grid)
    fine = _bound_finer(counts, open_bins, bins, grid, derivative)
    slot = np.empty(len(counts), np.int64)  # where the samples of a fine bin that stays open come together
    left = 0
    for f in range(len(counts)):
        slot[f] = left
        if fine.lower[f] != fine.upper[f]:
            left += counts[f]
    group_scores, group_samples = np.empty(left), np.empty(left, np.int64)
    group_numbers, group_ranks = np.empty(left, np.int64), np.empty(left, np.int64)
    level, slope = coefficient_line(len(positives), len(ranks))
    passed = 0  # relevant samples before this one
    for u in range(len(samples)):
        f, sample = fine_of[u], samples[u]
        while passed < len(positives) and positives[passed] < sample:
            passed += 1
        if fine.lower[f] == fine.upper[f]:
            rank = fine.lower[f]
            ranks[sample - passed] = rank
            coefficients[sample] = level + slope * rank
            rank_counts[rank] += 1
        else:
            group_scores[slot[f]] = scores[sample]
            group_samples[slot[f]] = sample
            group_numbers[slot[f]] = sample - passed
            slot[f] += 1
    places = np.arange(left)
    for f in range(len(counts)):
        if fine.lower[f] != fine.upper[f] and counts[f]:
            group = slice(slot[f] - counts[f], slot[f])
            select(
                group_scores[group],
                places[group],
                fine.starts[f],
                fine.lower[f],
                fine.upper[f],
                derivative,
                group_ranks,
            )
    for g in range(left):
        ranks[group_numbers[g]] = group_ranks[g]
        coefficients[group_samples[g]] = level + slope * group_ranks[g]
        rank_counts[group_ranks[g]] += 1


@nb.njit(cache=True, nogil=True)
def _count_finer(
    scores: Floats, samples: Ints, bin_of: Ints, open_bins: Ints, grid: Grid
) -> tuple[Ints, Ints]:
    """The fine bin of each of `samples`, numbered through the open bins, and how many each fine bin has."""
    first = np.empty(grid.bins, np.int64)  # of an open bin b: the number of its first fine bin, less 16 b
    for o in range(len(open_bins)):
        first[open_bins[o]] = FINER * (o - open_bins[o])
    counts = np.zeros(FINER * len(open_bins), np.int32)
    fine_of = np.empty(len(samples), np.int32)
    last = float(FINER * grid.bins - 1)
    for u in range(len(samples)):
        x = (grid.top - scores[samples[u]]) * grid.scale * FINER
        x = x if x > 0.0 else 0.0
        fine = int(x if x < last else last) + first[bin_of[samples[u]]]
        fine_of[u] = fine
        counts[fine] += 1
    return fine_of, counts


@nb.njit(cache=True, nogil=True)
def _bound_finer(counts: Ints, open_bins: Ints, bins: Bins, grid: Grid, derivative: Derivative) -> Bins:
    """Bounds on the ranks in each fine bin, within those of its coarse bin."""
    finer = Grid(grid.bins * FINER, grid.top, grid.scale * FINER, grid.slack)
    fine = Bins(
        np.empty(len(counts) + 1, np.int64), np.empty(len(counts), np.int32), np.empty(len(counts), np.int32)
    )
    for o in range(len(open_bins)):
        b, begin, end = open_bins[o], FINER * o, FINER * o + FINER
        fine.starts[begin] = bins.starts[b]
        for f in range(begin, end - 1):
            fine.starts[f + 1] = fine.starts[f] + counts[f]
        here = Bins(fine.starts[begin:end], fine.lower[begin:end], fine.upper[begin:end])
        _bound(here, float(FINER * b), finer, derivative, bins.lower[b], bins.upper[b])
    return fine
