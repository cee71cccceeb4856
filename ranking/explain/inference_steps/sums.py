"""The best rank of one irrelevant sample by a sum over the derivative of f."""

from __future__ import annotations

from ranking.explain.inference_steps.problem import Problem


def best_rank(problem: Problem, j: int, score: float, low: int, high: int) -> tuple[int, tuple[int, ...]]:
    """The highest maximiser of f_j on low ... high for a sample of that score, and the ranks that were tried."""
    value, best, rank = 0.0, 0.0, low
    for i in range(low, high):
        value += problem.derivative(j, i, score)
        if value >= best:
            best, rank = value, i + 1
    return rank, tuple(range(low, high))
