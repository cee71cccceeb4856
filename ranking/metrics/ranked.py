"""A ranking: samples from the top down, and what follows from the ranks of the relevant ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ranking.core import Floats, Ints
from ranking.core.errors import InputError
from ranking.metrics import average_precision, ndcg, precision_recall_curve, ranking_order


@dataclass(frozen=True, eq=False)
class Ranking:
    """Samples sorted by a method's scores, highest first; `Ranking.of` sorts them."""

    # (n,) rows of the image set
    samples: Ints
    # relevance, scores: (n,) in this order. ValueError where lengths differ, or where a score is higher than
    # the one before.
    relevance: Ints
    scores: Floats

    def __post_init__(self) -> None:
        shapes = [np.shape(column) for column in (self.samples, self.relevance, self.scores)]
        if len(shapes[0]) != 1 or len(set(shapes)) != 1:
            got = ", ".join(map(str, shapes))
            raise InputError("samples, relevance and scores", "shape (n,) each", f"shapes {got}")
        rises = np.flatnonzero(self.scores[1:] > self.scores[:-1])
        if len(rises):
            got = f"a higher score after rank {rises[0] + 1:,}"
            raise InputError("scores", "scores that do not rise from the top", got, "use Ranking.of")

    @classmethod
    def of(cls, samples: Ints, relevance: Ints, scores: Floats) -> Ranking:
        """Return samples (n,) with their relevance (n,) and scores (n,) in `metrics.ranking_order`.

        >>> Ranking.of(np.array([7, 8, 9]), np.array([1, 0, 1]), np.array([0.5, 0.5, 0.9])).samples
        array([9, 8, 7])
        """
        order = ranking_order(relevance, scores)
        return cls(samples[order], relevance[order], scores[order])

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def positives(self) -> int:
        return int(np.count_nonzero(self.relevance))

    @cached_property
    def average_precision(self) -> float:
        return average_precision(self.relevance, self.scores)

    @cached_property
    def ndcg(self) -> float:
        return ndcg(self.relevance, self.scores)

    @cached_property
    def curve(self) -> tuple[Floats, Floats]:
        """Precision (n,) and recall (n,) at every k; ValueError where nothing is relevant."""
        precision, recall, _ = precision_recall_curve(self.relevance, self.scores)
        return precision, recall


def ranks_of(relevance: Ints, scores: Floats) -> Ints:
    """Return (n,) the rank of each sample, from 1, in `metrics.ranking_order`: ties are pessimistic.

    >>> ranks_of(np.array([1, 0, 1]), np.array([0.5, 0.5, 0.9]))
    array([3, 2, 1])
    """
    order = ranking_order(relevance, scores)
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks


def first_irrelevant(relevance: Ints) -> int | None:
    """Return the rank, from 1, of the first irrelevant sample in relevance (n,) from the top, or None.

    >>> first_irrelevant(np.array([1, 0, 1])), first_irrelevant(np.array([1]))
    (2, None)
    """
    rows = np.flatnonzero(relevance == 0)
    return int(rows[0]) + 1 if len(rows) else None


def first_mistake(relevance: Ints) -> int | None:
    """Return the rank, from 1, of the first error, or None: an irrelevant sample above a relevant one.

    >>> first_mistake(np.array([1, 0, 1])), first_mistake(np.array([1, 0]))
    (2, None)
    """
    first = first_irrelevant(relevance)
    return first if first is not None and (relevance[first:] > 0).any() else None


def precision_terms(relevance: Ints) -> list[tuple[int, int]]:
    """Return (relevant samples so far, rank) for each relevant sample of (n,) from the top.

    >>> precision_terms(np.array([1, 0, 1, 0, 1]))
    [(1, 1), (2, 3), (3, 5)]
    """
    # AP is the mean quotient.
    return [(count, int(row) + 1) for count, row in enumerate(np.flatnonzero(relevance), start=1)]


def zero_one_at_cut(relevance: Ints) -> float:
    """Return the share of incorrect labels where exactly the first |P| of (n,) are labelled relevant.

    >>> zero_one_at_cut(np.array([1, 0, 1, 0]))
    0.5
    """
    predicted = np.arange(len(relevance)) < np.count_nonzero(relevance)
    return float(np.mean(predicted != (relevance > 0)))
