"""SELECT on one block of irrelevant samples (quicksort, Algorithm 2)."""

from __future__ import annotations

from ranking.core import Ints
from ranking.explain.inference_steps.problem import InferenceProblem
from ranking.explain.inference_steps.trace import Bound, Step


def select(
    problem: InferenceProblem, scores: list[float], block: Bound, steps: list[Step], ranks: Ints, parent: int
) -> None:
    """Write the ranks of the block of `scores` (|N|,), which is rearranged."""
    # No other score lies inside the range of the block. One step per median. Samples with the score of the
    # median have ranks between those of its first and its last copy.
    start, end, low, high = block
    if low == high:
        ranks[start:end] = low
        return
    first, last, comparisons = split_at_median(scores, start, end)
    score = scores[first]
    upper, probes = problem.best_rank(first + 1, score, low, high)
    lower = upper
    if last - first > 1:
        lower, lower_probes = problem.best_rank(last, score, upper, high)
        probes += lower_probes
    ranks[first], ranks[last - 1] = upper, lower
    sides = [
        Bound(start, first, low, upper),
        # samples with the score of the median
        Bound(first + 1, last - 1, upper, lower),
        Bound(last, end, lower, high),
    ]
    sides = [side for side in sides if side.start < side.end]
    ends = (Bound(first, first + 1, upper, upper), Bound(last - 1, last, lower, lower))
    number = len(steps)
    steps.append(Step("median", block, first, score, probes, upper, comparisons, (*ends, *sides), parent))
    for side in sides:
        select(problem, scores, side, steps, ranks, number)


def split_at_median(scores: list[float], start: int, end: int) -> tuple[int, int, int]:
    """Rearrange a run into scores above, equal to and below its median."""
    # MEDIAN and SELECT of the paper in one. Returns where the equal ones begin and end, and the number of
    # comparisons.
    middle, low, high, comparisons = (start + end) // 2, start, end, 0
    while True:
        run = scores[low:high]
        pivot = sorted((run[0], run[len(run) // 2], run[-1]))[1]
        above = [score for score in run if score > pivot]
        below = [score for score in run if score < pivot]
        equal = len(run) - len(above) - len(below)
        scores[low:high] = [*above, *[pivot] * equal, *below]
        comparisons += len(run)
        if middle < low + len(above):
            high = low + len(above)
        elif middle >= low + len(above) + equal:
            low += len(above) + equal
        else:
            return low + len(above), low + len(above) + equal, comparisons
