"""Several rankings of the same samples: the ranks of each sample, and what a change of rank adds to AP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ranking.core import Floats, Ints
from ranking.core.errors import InputError
from ranking.metrics.ranked import Ranking


@dataclass(frozen=True, eq=False)
class Comparison:
    """r rankings of the same n samples; `Comparison.of` checks that."""

    rankings: tuple[Ranking, ...]
    # (n,) rows of the image set, ascending
    samples: Ints
    # (n,)
    relevance: Ints
    # scores, ranks: (r, n) of each sample in each ranking; ranks count from 1
    scores: Floats
    ranks: Ints

    @classmethod
    def of(cls, rankings: Sequence[Ranking]) -> Comparison:
        """Compare rankings; ValueError where there is none, or where samples or their relevance differ.

        >>> first = Ranking(np.array([7, 8]), np.array([1, 0]), np.array([2.0, 1.0]))
        >>> second = Ranking(np.array([8, 7]), np.array([0, 1]), np.array([5.0, 1.0]))
        >>> Comparison.of([first, second]).ranks
        array([[1, 2],
               [2, 1]])
        """
        if not rankings:
            raise InputError("rankings", "at least one ranking", "none")
        sorts = [np.argsort(ranking.samples) for ranking in rankings]
        samples, relevance = rankings[0].samples[sorts[0]], rankings[0].relevance[sorts[0]]
        for ranking, sort in zip(rankings, sorts, strict=True):
            if not np.array_equal(ranking.samples[sort], samples) or not np.array_equal(
                ranking.relevance[sort], relevance
            ):
                raise InputError(
                    "rankings",
                    "the same samples with the same relevance in each",
                    "other samples or another relevance in some",
                    "compare training runs of one image set and one query",
                )
        scores = np.array([ranking.scores[sort] for ranking, sort in zip(rankings, sorts, strict=True)])
        # a ranking is sorted by rank
        ranks = np.array([sort + 1 for sort in sorts])
        return cls(tuple(rankings), samples, relevance, scores, ranks)

    def __len__(self) -> int:
        return len(self.rankings)

    @cached_property
    def precisions(self) -> Floats:
        """(r, n) the precision at each relevant sample's rank, whose mean is AP; 0 for irrelevant ones."""
        precisions = np.zeros(self.ranks.shape)
        for number, ranks in enumerate(self.ranks):
            relevant = np.flatnonzero(self.relevance)
            from_top = relevant[np.argsort(ranks[relevant])]
            precisions[number, from_top] = np.arange(1, len(from_top) + 1) / ranks[from_top]
        return precisions

    def risen(self, first: int, second: int) -> Ints:
        """Return (n,) by how many ranks each sample is higher in ranking `second` than in ranking `first`."""
        risen: Ints = self.ranks[first] - self.ranks[second]
        return risen

    def gains(self, first: int, second: int) -> Floats:
        """Return (n,) what each relevant sample adds to the AP of `second` minus the AP of `first`."""
        # That is the difference of the precisions at its ranks over |P|; 0 for irrelevant samples. ValueError
        # where nothing is relevant, because AP is then not defined.
        positives = np.count_nonzero(self.relevance)
        if not positives:
            raise InputError("relevance", "at least one relevant sample", "none", "choose another split")
        gains: Floats = (self.precisions[second] - self.precisions[first]) / positives
        return gains


def largest(values: Floats | Ints, count: int) -> Ints:
    """Return the indices of at most `count` largest `values` (n,) above 0, largest first, ties by index.

    >>> largest(np.array([1, 0, 3, -2, 3]), 2)
    array([2, 4])
    """
    order = np.argsort(-values, kind="stable")[:count]
    chosen: Ints = order[values[order] > 0]
    return chosen
