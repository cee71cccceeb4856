"""Optimal interleaving ranks by counting instead of comparing.

One pass counts the scores into equal-width bins. The optimal rank falls with the score and rises with the number of
samples above, so the best ranks at a bin's two edges bound the rank of every sample inside; they are found by divide
and conquer over the edges. A bin whose bounds are equal is settled. If they differ by one (in a few percent of the
bins for ordinary scores), the sign of the derivative decides each sample; it is evaluated with the most and the fewest
samples that the bin allows above it. `select` ranks the samples that are still undecided, and the bins with more than
two possible ranks, bin by bin; for adversarial scores, with nearly all samples in one bin, this is all of the work.
There is no comparison sort, so the paper's lower bound for comparison-based algorithms (quicksort, Proposition 4) does
not apply.

Memory bounds the time: the scores are read twice and the results written once, in blocks that fit the first cache,
shared among a few threads where there are enough.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

from ranking.core import Floats, Ints
from ranking.inference.bins import Grid, Plan, count, plan_ranks
from ranking.inference.interleaving import Derivative, best_rank, coefficient_line, select
from ranking.inference.threads import Part, each, split

# samples whose scores, ranks and coefficients fit the first cache together
SEGMENT = 2048


class Output(NamedTuple):
    """The arrays that are written."""

    # An irrelevant sample of rank r has the coefficient level + slope r.

    # of irrelevant samples
    ranks: Ints
    # of all samples
    coefficients: Floats
    # number of samples per rank
    rank_counts: Ints
    level: float
    slope: float


def buckets(
    scores: Floats, positives: Ints, derivative: Derivative, grid: Grid, ranks: Ints, coefficients: Floats
) -> tuple[Ints, float] | None:
    """Write the ranks (|N|,) and coefficients of the irrelevant among all `scores`."""
    # positives: (|P|,) ascending numbers of the relevant samples, whose scores are skipped. Returns how many
    # samples have each rank, (|P| + 2,), and the irrelevant samples' share of scores @ coefficients; None,
    # with nothing written, where a score is not finite or above LARGEST.
    bin_of: Ints = np.empty(len(scores), np.uint16 if grid.bins <= 1 << 16 else np.uint32)
    parts = split(len(scores), positives)
    counted = each(lambda part: count(scores[part.samples], grid, bin_of[part.samples]), parts)
    if not all(usable for _, usable in counted):
        return None
    counts = np.sum([counts_of_part for counts_of_part, _ in counted], axis=0)
    before, plan, rank_counts = plan_ranks(counts, bin_of[positives], grid, derivative)
    line = coefficient_line(len(positives), len(ranks))

    def settle(part: Part) -> tuple[float, Ints, Ints, Ints]:
        own_counts = np.zeros_like(rank_counts)
        written = Output(ranks[part.irrelevant], coefficients[part.samples], own_counts, *line)
        own_positives = positives[part.positives] - part.samples.start
        product, higher, doubtful = _settle(
            scores[part.samples], bin_of[part.samples], own_positives, plan, written
        )
        return product, own_counts, higher, doubtful + part.samples.start

    products, part_counts, highers, doubtful = zip(*each(settle, parts), strict=True)
    written = Output(ranks, coefficients, rank_counts + sum(part_counts), *line)
    before += sum(highers)
    product = _rank_doubtful(
        scores, positives, np.concatenate(doubtful), bin_of, before, plan, derivative, written
    )
    return written.rank_counts, product + sum(products)


@nb.njit(cache=True, nogil=True)
def _settle(
    scores: Floats, bin_of: Ints, positives: Ints, plan: Plan, written: Output
) -> tuple[float, Ints, Ints]:
    """Write ranks and coefficients wherever the plan decides them, and count the ranks in open bins."""
    # Returns the irrelevant samples' share of scores @ coefficients, with rank 0 for the doubtful ones; for
    # each open bin, the samples that score above its doubtful ones; the doubtful samples, ascending.
    product, passed, doubtful_count = 0.0, 0, 0
    higher = np.zeros(len(plan.bins), np.int64)
    doubtful = np.empty(len(scores), np.uint32)
    buffer, list_buffer = np.empty(SEGMENT, np.int32), np.empty(SEGMENT + 1, np.uint16)
    for first in range(0, len(scores), SEGMENT):
        last = min(first + SEGMENT, len(scores))
        segment = scores[first:last]
        coefficients = written.coefficients[first:last]
        entries = buffer[: last - first]
        _read_entries(bin_of[first:last], plan.entry, entries)
        upto = passed
        while upto < len(positives) and positives[upto] < last:
            entries[positives[upto] - first] = 0
            upto += 1
        _write_line(entries, written.level, written.slope, coefficients)
        opened = _list_open(entries, list_buffer)
        doubts = _decide(
            segment,
            opened,
            plan,
            written.slope,
            entries,
            coefficients,
            written.rank_counts,
            higher,
            doubtful[doubtful_count:],
        )
        for d in range(doubtful_count, doubtful_count + doubts):
            doubtful[d] += np.uint32(first)
        product += _copy_irrelevant(
            segment,
            coefficients,
            entries,
            positives[passed:upto] - first,
            written.ranks[first - passed : last - upto],
        )
        doubtful_count, passed = doubtful_count + doubts, upto
    return product, higher, doubtful[:doubtful_count].astype(np.int64)


@nb.njit(cache=True, nogil=True)
def _read_entries(bin_of: Ints, entry: Ints, entries: Ints) -> None:
    for k in range(len(bin_of)):
        entries[k] = entry[bin_of[k]]


@nb.njit(cache=True, nogil=True)
def _write_line(entries: Ints, level: float, slope: float, coefficients: Floats) -> None:
    """Write the coefficients, with rank 0 in open bins."""
    for k in range(len(entries)):
        coefficients[k] = level + slope * max(entries[k], 0)


@nb.njit(cache=True, nogil=True)
def _list_open(entries: Ints, buffer: Ints) -> Ints:
    """Return the samples in open bins, ascending."""
    count = np.uint64(0)
    for k in range(len(entries)):
        buffer[count] = k
        count += np.uint64(entries[k] < 0)
    return buffer[:count]


@nb.njit(cache=True, nogil=True)
def _decide(
    scores: Floats,
    opened: Ints,
    plan: Plan,
    slope: float,
    entries: Ints,
    coefficients: Floats,
    rank_counts: Ints,
    higher: Ints,
    doubtful: Ints,
) -> int:
    """Rank the samples in open bins by the edges, doubtful ones by 0 for now; return how many are."""
    # Without branches, which the processor would mispredict every other time.

    # unsigned: numba then skips the test for negative indices
    count = np.uint64(0)
    for k in opened:
        o, score, level = np.uint32(~entries[k]), scores[k], coefficients[k]
        is_highest, is_lowest = score <= plan.edges[o, 0], score > plan.edges[o, 1]
        rank = np.uint32((plan.lowest[o] + is_highest) * (is_highest | is_lowest))
        entries[k] = rank
        coefficients[k] = level + slope * rank
        rank_counts[rank] += 1
        higher[o] += is_lowest
        doubtful[count] = k
        count += np.uint64(not (is_highest | is_lowest))
    return int(count)


# lets the sum be vectorised
@nb.njit(cache=True, nogil=True, fastmath={"reassoc"})
def _copy_irrelevant(
    scores: Floats, coefficients: Floats, entries: Ints, positives: Ints, ranks: Ints
) -> float:
    """Copy the entries of the irrelevant samples; return their share of scores @ coefficients."""
    product, start = 0.0, 0
    for p in range(len(positives) + 1):
        end = positives[p] if p < len(positives) else len(entries)
        source, target = entries[start:end], ranks[start - p : end - p]
        score, coefficient = scores[start:end], coefficients[start:end]
        for k in range(len(source)):
            target[k] = source[k]
            product += score[k] * coefficient[k]
        start = end + 1
    return product


@nb.njit(cache=True, nogil=True)
def _rank_doubtful(
    scores: Floats,
    positives: Ints,
    doubtful: Ints,
    bin_of: Ints,
    before: Ints,
    plan: Plan,
    derivative: Derivative,
    written: Output,
) -> float:
    """Rank the `doubtful` samples by `select`; return their share of scores @ coefficients beyond `level`."""
    # before: for each open bin, the irrelevant samples that score above its doubtful ones.
    ends = np.zeros(len(plan.bins) + 1, np.int64)
    for sample in doubtful:
        ends[-plan.entry[bin_of[sample]]] += 1
    ends = np.cumsum(ends)
    slot = ends.copy()
    samples, numbers = np.empty(len(doubtful), np.int64), np.empty(len(doubtful), np.int64)
    # relevant samples before this one
    passed = 0
    for sample in doubtful:
        while passed < len(positives) and positives[passed] < sample:
            passed += 1
        o = -1 - plan.entry[bin_of[sample]]
        samples[slot[o]], numbers[slot[o]] = sample, sample - passed
        slot[o] += 1
    for o in range(len(plan.bins)):
        group = slice(ends[o], ends[o + 1])
        low, high = plan.lowest[o], plan.highest[o]
        # as in most bins with two possible ranks
        if ends[o + 1] - ends[o] == 1:
            score = scores[samples[ends[o]]]
            written.ranks[numbers[ends[o]]] = best_rank(before[o] + 1, score, low, high, derivative)
        elif ends[o + 1] > ends[o]:
            scores_of_group, numbers_of_group = scores[samples[group]], numbers[group].copy()
            select(scores_of_group, numbers_of_group, before[o], low, high, derivative, written.ranks)
    product = 0.0
    for k in range(len(samples)):
        sample, number = samples[k], numbers[k]
        rank = written.ranks[number]
        written.coefficients[sample] = written.level + written.slope * rank
        product += written.slope * rank * scores[sample]
        written.rank_counts[rank] += 1
    # the rank that doubtful samples had for now
    written.rank_counts[0] = 0
    return product
