"""Greedy, SEARCH and SELECT in readable form (quicksort, Algorithms 1 to 3), and all four algorithms by name.

The compiled forms are in `ranking.inference.interleaving`. Both take the same sums in the same order, but for the
median, which is exact here as in the paper and an estimate there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key

import numpy as np

from ranking.core import Ints
from ranking.core.errors import InputError
from ranking.explain.inference_steps.buckets import bucket_steps
from ranking.explain.inference_steps.problem import InferenceProblem
from ranking.explain.inference_steps.selecting import select
from ranking.explain.inference_steps.trace import Bound, Step, Trace


def greedy_steps(problem: InferenceProblem) -> Trace:
    """Evaluate every rank of every irrelevant sample, after sorting (Yue et al. 2007)."""
    steps = []
    for position, score in enumerate(problem.irrelevant.tolist()):
        rank, probes = problem.best_rank(position + 1, score, 1, problem.highest)
        steps.append(_settled(position, score, problem.highest, probes, rank))
    return _after_sorting("greedy", problem, steps)


def search_steps(problem: InferenceProblem) -> Trace:
    """Find the mode of f_j on 1 ... min(|P| + 1, j) by bisection, evaluate the ranks above (Algorithm 3)."""
    if problem.unimodal_to(1) is None:
        raise InputError("loss of search", "a unimodal one such as ap", problem.loss.name)
    steps = []
    for position, score in enumerate(problem.irrelevant.tolist()):
        j, probes = position + 1, list[int]()
        low, high = 1, min(problem.highest, j)
        while low < high:
            middle = (low + high) // 2
            probes.append(middle)
            if problem.derivative(j, middle, score) >= 0.0:
                low = middle + 1
            else:
                high = middle
        if j < problem.highest:
            low, further_probes = problem.best_rank(j, score, low, problem.highest)
            probes += further_probes
        steps.append(_settled(position, score, problem.highest, tuple(probes), low))
    return _after_sorting("search", problem, steps)


def select_steps(problem: InferenceProblem) -> Trace:
    """Bound the ranks of both halves by the rank of the median, without sorting (Algorithms 1 and 2)."""
    numbers = np.flatnonzero(~problem.is_relevant)
    scores = problem.scores[numbers].tolist()
    ranks = np.zeros(len(scores), np.int64)
    steps: list[Step] = []
    select(problem, scores, Bound(0, len(scores), 1, problem.highest), steps, ranks, parent=-1)
    return Trace("select", tuple(steps), ranks)


def _settled(position: int, score: float, highest: int, probes: tuple[int, ...], rank: int) -> Step:
    run, bound = Bound(position, position + 1, 1, highest), Bound(position, position + 1, rank, rank)
    return Step("sample", run, position, score, probes, rank, 0, (bound,), -1)


def _after_sorting(algorithm: str, problem: InferenceProblem, steps: list[Step]) -> Trace:
    ranks: Ints = np.array([step.rank for step in steps], np.int64)
    return Trace(algorithm, tuple(steps), ranks, before=sorting_comparisons(problem))


def sorting_comparisons(problem: InferenceProblem) -> int:
    """Return how many comparisons Python's merge sort takes for the irrelevant scores."""
    count = 0

    def compare(left: float, right: float) -> int:
        nonlocal count
        count += 1
        return int(left < right) - int(left > right)

    sorted(problem.scores[~problem.is_relevant].tolist(), key=cmp_to_key(compare))
    return count


TRACED: dict[str, Callable[[InferenceProblem], Trace]] = {
    "greedy": greedy_steps,
    "search": search_steps,
    "select": select_steps,
    "buckets": lambda problem: bucket_steps(problem) or select_steps(problem),
}


def trace_of(problem: InferenceProblem, algorithm: str) -> Trace:
    """Return the trace of an algorithm of TRACED.

    ValueError for another one, and for search with a loss besides AP.

    Where no grid can separate the scores, the trace of "buckets" is that of "select", as in the compiled form.
    """
    if algorithm not in TRACED:
        raise InputError("algorithm", f"one of: {', '.join(TRACED)}", algorithm)
    return TRACED[algorithm](problem)
