"""The algorithm "buckets", which counts instead of comparing; compiled in `ranking.inference.buckets`.

One pass counts the scores into equal-width bins. The best ranks at a bin's two edges bound those of all its samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranking.core import Floats, Ints
from ranking.explain.inference_steps.problem import InferenceProblem
from ranking.explain.inference_steps.selecting import select
from ranking.explain.inference_steps.trace import Bound, Step, Trace
from ranking.inference.bins import ROUNDING, Grid, bin_grid


@dataclass(frozen=True, eq=False)
class Bins:
    """The irrelevant samples in the bins of a grid.

    starts: (bins + 1,) number of irrelevant samples in all bins before each, and in all. scores: (|N|,) bin by bin,
    the bin of the highest scores first, within a bin in input order.
    """

    grid: Grid
    starts: Ints
    scores: Floats

    def edge(self, number: int) -> float:
        """Return the score between bin `number` - 1 and bin `number`."""
        return self.grid.top - number / self.grid.scale


def bins_of(problem: InferenceProblem) -> Bins | None:
    """Return the irrelevant samples in bins; None where no grid can separate the scores."""
    grid = bin_grid(problem.scores)
    if grid is None:
        return None
    scores = problem.scores[~problem.is_relevant]
    numbers = np.clip((grid.top - scores) * grid.scale, 0, grid.bins - 1).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=grid.bins))])
    return Bins(grid, starts, scores[np.argsort(numbers, kind="stable")])


def bucket_steps(problem: InferenceProblem) -> Trace | None:
    """Bound the bins by divide and conquer over edges, then rank those that remain; None as `bins_of`."""
    # Those remain whose bounds differ.
    bins = bins_of(problem)
    if bins is None:
        return None
    steps: list[Step] = []
    low, high = np.ones(bins.grid.bins, np.int64), np.full(bins.grid.bins, problem.highest, np.int64)
    _bound_bins(problem, bins, Bound(1, bins.grid.bins, 1, problem.highest), (low, high), steps, -1)
    ranks, scores = np.zeros(len(bins.scores), np.int64), bins.scores.tolist()
    for number in range(bins.grid.bins):
        start, end = int(bins.starts[number]), int(bins.starts[number + 1])
        inside = Bound(start, end, int(low[number]), int(high[number]))
        if inside.low == inside.high or start == end:
            ranks[start:end] = inside.low
        elif inside.high == inside.low + 1:
            _decide_by_sign(problem, scores, inside, steps, ranks)
        else:
            select(problem, scores, inside, steps, ranks, parent=-1)
    return Trace("buckets", tuple(steps), ranks, counted=len(problem.scores))


def _bound_bins(
    problem: InferenceProblem,
    bins: Bins,
    edges: Bound,
    ranks: tuple[Ints, Ints],
    steps: list[Step],
    parent: int,
) -> None:
    """Bound the ranks of the bins from edges.start - 1 to edges.end: a step per edge, the middle first."""
    start, end, low, high = edges
    lowest, highest = ranks
    lowest[start - 1 : end], highest[start - 1 : end] = low, high
    if low == high or start >= end:
        return
    edge = (start + end) // 2
    position, score = int(bins.starts[edge]), bins.edge(edge)
    above, below = _interval(problem, position + 1, score, bins.grid.slack, low, high)
    first, last = int(bins.starts[start - 1]), int(bins.starts[end])
    bounds = (Bound(first, position, low, below), Bound(position, last, above, high))
    number = len(steps)
    run, probes = Bound(first, last, low, high), tuple(range(low, high))
    steps.append(Step("edge", run, position, score, probes, above, 0, bounds, parent))
    _bound_bins(problem, bins, Bound(start, edge, low, below), ranks, steps, number)
    _bound_bins(problem, bins, Bound(edge + 1, end, above, high), ranks, steps, number)


def _interval(
    problem: InferenceProblem, j: int, score: float, slack: float, low: int, high: int
) -> tuple[int, int]:
    """Return the best ranks at score + slack and score - slack by one sum."""
    # Rounding may have moved the edge.
    values, best, ranks = [0.0, 0.0], [0.0, 0.0], [low, low]
    for i in range(low, high):
        drop = float(problem.half_gains[i - 1]) * float(problem.steps[i + j - 2])
        difference = float(problem.relevant[i - 1]) - score
        for side, moved in enumerate((difference - slack, difference + slack)):
            values[side] += moved - drop
            if values[side] >= best[side]:
                best[side], ranks[side] = values[side], i + 1
    return ranks[0], ranks[1]


def _decide_by_sign(
    problem: InferenceProblem, scores: list[float], inside: Bound, steps: list[Step], ranks: Ints
) -> None:
    """Rank the samples of a bin with two possible ranks by the sign of the derivative."""
    # The derivative is bounded with the most and the fewest samples above that the bin allows. Samples whose
    # sign remains unknown are ranked by `select`.
    start, end, low, high = inside
    base = float(problem.relevant[low - 1])
    largest_drop, smallest_drop = (
        float(problem.half_gains[low - 1]) * float(problem.steps[low - 1 + above])
        for above in (start, end - 1)
    )
    slack = ROUNDING * (abs(base) + largest_drop)
    surely_high, surely_low = base - largest_drop - slack, base - smallest_drop + slack
    run = scores[start:end]
    firsts = [score for score in run if score > surely_low]
    doubtful = [score for score in run if surely_high < score <= surely_low]
    lasts = [score for score in run if score <= surely_high]
    scores[start:end] = [*firsts, *doubtful, *lasts]
    first, last = start + len(firsts), end - len(lasts)
    ranks[start:first], ranks[last:end] = low, high
    sides = [Bound(start, first, low, low), Bound(first, last, low, high), Bound(last, end, high, high)]
    bounds = tuple(side for side in sides if side.start < side.end)
    number, comparisons = len(steps), 2 * len(run)
    steps.append(Step("bin", inside, start, surely_high, (low, low), low, comparisons, bounds, -1))
    if first < last:
        select(problem, scores, Bound(first, last, low, high), steps, ranks, number)
