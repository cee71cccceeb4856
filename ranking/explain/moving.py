"""How measures change as one relevant image moves through a small ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ranking import metrics
from ranking.core import Ints
from ranking.core.errors import InputError
from ranking.metrics.ranked import Ranking, zero_one_at_cut


def small_ranking(ranked: Ranking, fixed: Ints, rank: int) -> Ranking:
    """Return samples of `ranked` in the order `with_image_at(fixed, rank)`."""
    # The moving image is the highest-ranked relevant sample; the others of each kind keep their order.
    relevance = with_image_at(fixed, rank)
    right, wrong = (iter(ranked.samples[kind]) for kind in (ranked.relevance > 0, ranked.relevance == 0))
    mover = next(right)
    rest = [next(right if relevant else wrong) for relevant in fixed]
    samples = np.insert(np.array(rest), rank - 1, mover)
    return Ranking(samples, relevance, -np.arange(len(samples), dtype=np.float64))


@dataclass(frozen=True)
class Measures:
    """Four measures of one ranking."""

    # Larger is better, but for `zero_one`, the error rate at the cutoff |P|.

    average_precision: float
    precision: float
    ndcg: float
    zero_one: float


def with_image_at(fixed: Ints, rank: int) -> Ints:
    """Return the relevance (n,) from the top with a relevant image at `rank`, from 1, in `fixed` (n - 1,).

    >>> with_image_at(np.array([0, 1, 0]), 3).tolist()
    [0, 1, 1, 0]
    """
    if not 1 <= rank <= len(fixed) + 1:
        raise InputError("rank", f"1 to {len(fixed) + 1:,}", rank)
    return np.insert(fixed, rank - 1, 1)


def measures(relevance: Ints, k: int) -> Measures:
    """Return the measures of a ranking whose relevance (n,) is listed from the top."""
    scores = -np.arange(len(relevance), dtype=np.float64)
    return Measures(
        metrics.average_precision(relevance, scores),
        metrics.precision_at_k(relevance, scores, k),
        metrics.ndcg(relevance, scores),
        zero_one_at_cut(relevance),
    )


def changes(values: Sequence[float]) -> list[int]:
    """Return the ranks, from 1, at which moving one rank down changes a measure, given (n,) by rank.

    >>> changes([1.0, 0.5, 0.5, 0.25])
    [1, 3]
    """
    return [int(rank) + 1 for rank in np.flatnonzero(np.diff(values))]


def measures_by_rank(fixed: Ints, k: int) -> list[Measures]:
    """Return the measures with the moving image at rank 1, 2, ..., n."""
    return [measures(with_image_at(fixed, rank), k) for rank in range(1, len(fixed) + 2)]
