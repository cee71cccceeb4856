"""Several rankings of the same samples: where each sample stands in each, and what a move is worth."""

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
    """r rankings of the same n samples; `Comparison.of` checks that.

    samples (n,) rows of the image set, ascending; relevance (n,) of them; scores and places (r, n) of each in each
    ranking, places from 1.
    """

    rankings: tuple[Ranking, ...]
    samples: Ints
    relevance: Ints
    scores: Floats
    ranks: Ints

    @classmethod
    def of(cls, rankings: Sequence[Ranking]) -> Comparison:
        """ValueError where there is no ranking, or two are not of the same samples with the same relevance.

        >>> one = Ranking(np.array([7, 8]), np.array([1, 0]), np.array([2.0, 1.0]))
        >>> other = Ranking(np.array([8, 7]), np.array([0, 1]), np.array([5.0, 1.0]))
        >>> Comparison.of([one, other]).ranks
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
        ranks = np.array([sort + 1 for sort in sorts])  # a ranking stands in the order of its places
        return cls(tuple(rankings), samples, relevance, scores, ranks)

    def __len__(self) -> int:
        return len(self.rankings)

    @cached_property
    def precisions(self) -> Floats:
        """(r, n) the precision at the place of each relevant sample, whose mean is AP; 0 of the others."""
        precisions = np.zeros(self.ranks.shape)
        for number, ranks in enumerate(self.ranks):
            relevant = np.flatnonzero(self.relevance)
            from_top = relevant[np.argsort(ranks[relevant])]
            precisions[number, from_top] = np.arange(1, len(from_top) + 1) / ranks[from_top]
        return precisions

    def risen(self, first: int, second: int) -> Ints:
        """(n,) by how many places each sample stands higher in ranking `second` than in ranking `first`."""
        risen: Ints = self.ranks[first] - self.ranks[second]
        return risen

    def gains(self, first: int, second: int) -> Floats:
        """(n,) what each relevant sample adds to the AP of ranking `second` minus that of `first`: the difference
        of the precisions at its places over |P|. Their sum is that difference; 0 of irrelevant samples.

        ValueError where nothing is relevant, for then there is no AP.
        """
        positives = np.count_nonzero(self.relevance)
        if not positives:
            raise InputError("relevance", "at least one relevant sample", "none", "choose another split")
        gains: Floats = (self.precisions[second] - self.precisions[first]) / positives
        return gains


def largest(values: Floats | Ints, count: int) -> Ints:
    """The numbers of at most `count` of the largest `values` (n,) above 0, the largest first; of equal ones the first.

    >>> largest(np.array([1, 0, 3, -2, 3]), 2)
    array([2, 4])
    """
    order = np.argsort(-values, kind="stable")[:count]
    chosen: Ints = order[values[order] > 0]
    return chosen
