"""Slow, obvious twins of the fast algorithms, written from the definitions alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

# ---------------------------------------------------------------------------------------------------------
# Metrics: a list of grades from the top of a ranking to its end; the worst of all orders that scores allow
# ---------------------------------------------------------------------------------------------------------


def allowed_orders(scores: Sequence[float]) -> Iterator[tuple[int, ...]]:
    """Every order of the samples in which no score is followed by a higher one."""
    for order in itertools.permutations(range(len(scores))):
        if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order)):
            yield order


def worst(metric: Callable[[list[int]], float], relevance: Sequence[int], scores: Sequence[float]) -> float:
    """The least value of `metric` over all orders that the scores allow."""
    return min(metric([relevance[row] for row in order]) for order in allowed_orders(scores))


def precision_of(ranked: Sequence[int], k: int) -> float:
    return sum(grade > 0 for grade in ranked[:k]) / k


def average_precision_of(ranked: Sequence[int]) -> float:
    places = [place for place, grade in enumerate(ranked, start=1) if grade > 0]
    return sum(precision_of(ranked, place) for place in places) / len(places)


def ndcg_of(ranked: Sequence[int], k: int, exponential: bool = False) -> float:
    def dcg(grades: Sequence[int]) -> float:
        gains = [2.0**grade - 1 if exponential else grade for grade in grades]
        return sum(gain / math.log2(1 + place) for place, gain in enumerate(gains[:k], start=1))

    return dcg(ranked) / dcg(sorted(ranked, reverse=True))


def right_and_wrong_pairs(relevance: Sequence[int], scores: Sequence[float]) -> tuple[int, int]:
    """Pairs of different grades with the more relevant sample strictly higher, and the other ones."""
    right = wrong = 0
    for a, b in itertools.permutations(range(len(relevance)), 2):
        if relevance[a] > relevance[b]:
            right += scores[a] > scores[b]
            wrong += scores[a] <= scores[b]
    return right, wrong
