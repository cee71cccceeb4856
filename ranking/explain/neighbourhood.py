"""The effect of the similarity graph on each sample: ranks with and without edges, parts of scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from ranking.core import Bools, Floats, Ints
from ranking.core.errors import InputError
from ranking.inference import Components, MaxMarginals, Potentials
from ranking.metrics.ranked import Ranking, ranks_of


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """A model of n samples in two splits, each ranked by max-marginals; `Neighbourhood.of` makes it."""

    # the pairwise terms
    potentials: Potentials
    # relevant, test: (n,) bool
    relevant: Bools
    test: Bools
    # (n,) unary scores
    unary: Floats
    # (m,) of each edge of `components.edges`, summed over the terms that it belongs to
    penalty: Floats
    marginals: MaxMarginals
    # (n,) from 1 in the ranking of the sample's split
    rank: Ints
    # (n,) the rank by `unary`, with edges off
    alone: Ints
    # (n,) how many samples of the split and of the other relevance the edges move to the correct side of the
    # sample, minus those that they move to the incorrect side
    helped: Ints
    # unary_part, pairwise_part: (n,) the parts of the score due to unary scores and to penalties: sums over
    # the labelling with y_i = 1 minus those over the one with y_i = 0 (high-order, eqs. 9 to 11)
    unary_part: Floats
    pairwise_part: Floats

    @classmethod
    def of(
        cls,
        unary: npt.ArrayLike,
        potentials: Potentials,
        penalty: npt.ArrayLike,
        relevant: Bools,
        test: Bools,
    ) -> Self:
        """Return the model of unary scores (n,) and of penalties (t,) of the terms of `potentials`.

        >>> from ranking.inference import AttractivePairs
        >>> relevant, test = np.array([True, False, False]), np.zeros(3, bool)
        >>> model = Neighbourhood.of([-1.0, 3.0, 1.0], AttractivePairs(3, [[0, 1]]), [-2.5], relevant, test)
        >>> model.alone, model.rank, model.rise
        (array([3, 1, 2]), array([2, 1, 3]), array([ 1,  0, -1]))
        """
        # ValueError where shapes do not fit, or where an edge joins the splits.
        scores, costs = np.asarray(unary, np.float64), np.asarray(penalty, np.float64)
        _check(potentials.components, scores, relevant, test)
        marginals = potentials.max_marginals(scores, costs)
        ones, zeros = np.ones(len(scores), bool), np.zeros(len(scores), bool)
        no_scores, no_costs = np.zeros_like(scores), np.zeros_like(costs)
        rank, wrong = _placed(relevant, marginals.difference, test)
        alone, wrong_alone = _placed(relevant, scores, test)
        return cls(
            potentials=potentials,
            relevant=relevant,
            test=test,
            unary=scores,
            penalty=potentials.of_edges(costs),
            marginals=marginals,
            rank=rank,
            alone=alone,
            helped=wrong_alone - wrong,
            unary_part=marginals.values(ones, scores, no_costs) - marginals.values(zeros, scores, no_costs),
            pairwise_part=marginals.values(ones, no_scores, costs)
            - marginals.values(zeros, no_scores, costs),
        )

    @property
    def components(self) -> Components:
        """The connected components of the graph."""
        return self.potentials.components

    @property
    def score(self) -> Floats:
        """(n,) the difference of max-marginals, equal to unary_part + pairwise_part up to rounding."""
        return self.marginals.difference

    @property
    def rise(self) -> Ints:
        """(n,) by how many ranks the edges move a sample up."""
        return self.alone - self.rank

    @cached_property
    def component_of(self) -> Ints:
        """(n,) number of the component of each sample, the largest component first."""
        return self.components.component_of

    @cached_property
    def component_helped(self) -> Ints:
        """(c,) the sum of `helped` over the samples of each component."""
        sums = np.zeros(len(self.components), np.int64)
        np.add.at(sums, self.component_of, self.helped)
        return sums

    @cached_property
    def cut(self) -> Bools:
        """(m,) whether the ends of an edge differ in the best labelling."""
        ends = self.marginals.map[self.components.edges]
        differs: Bools = ends[:, 0] != ends[:, 1]
        return differs

    def ranking(self, test: bool, alone: bool = False) -> Ranking:
        """Return the ranking of one split by score, or with `alone` by unary score."""
        rows = np.flatnonzero(self.test == test)
        scores = self.unary if alone else self.score
        return Ranking.of(rows, self.relevant[rows].astype(np.int64), scores[rows])

    def turning(self, i: int) -> Bools:
        """Return (n,) whether a sample flips with sample i."""
        # It does if its label differs between the two labellings of i.
        differs: Bools = self.marginals.labelling(i, True) != self.marginals.labelling(i, False)
        return differs

    def members(self, number: int) -> Ints:
        """Return the samples of component `number`, ascending; the largest component is 0."""
        return np.sort(
            self.components.order[self.components.starts[number] : self.components.starts[number + 1]]
        )

    def edges_of(self, number: int) -> Ints:
        """Return the rows of `components.edges` that belong to component `number`."""
        starts = self.components.edge_starts
        return self.components.edge_order[starts[number] : starts[number + 1]]

    def around(self, i: int, limit: int) -> Ints:
        """Return at most `limit` samples of the component of i, ascending: those nearest to i by edges."""
        # At equal distance, samples with a stronger penalty to a nearer sample come first.
        number = int(self.component_of[i])
        members = self.members(number)
        if len(members) <= limit:
            return members
        chosen = self.edges_of(number)
        edges, strengths = self.components.edges[chosen], -self.penalty[chosen]
        reached = np.zeros(len(self.unary), bool)
        reached[i], count = True, 1
        while count < limit:
            ties = np.zeros(len(reached))
            leads = reached[edges]
            for end in (0, 1):
                outwards = leads[:, 1 - end] & ~leads[:, end]
                np.maximum.at(ties, edges[outwards, end], 1.0 + strengths[outwards])
            ring = np.argsort(-ties, kind="stable")[: min(limit - count, np.count_nonzero(ties))]
            reached[ring] = True
            count += len(ring)
        return np.flatnonzero(reached)


def _check(components: Components, scores: Floats, relevant: Bools, test: Bools) -> None:
    """Raise ValueError where shapes do not fit, or where an edge joins the splits."""
    n = components.samples
    if not n == len(scores) == len(relevant) == len(test):
        raise InputError(
            "unary, relevant and test",
            f"one entry per sample of the {n} that the potentials join",
            f"{len(scores)}, {len(relevant)} and {len(test)}",
            "pass values for the same samples",
        )
    ends = test[components.edges]
    if (ends[:, 0] != ends[:, 1]).any():
        raise InputError(
            "edges",
            "pairs within the training samples or within the test samples",
            f"{np.count_nonzero(ends[:, 0] != ends[:, 1]):,} between them",
            "make the graph of each split alone",
        )


def _placed(relevant: Bools, scores: Floats, test: Bools) -> tuple[Ints, Ints]:
    """Return (n,) ranks within the split, and (n,) how many of the other relevance are misplaced."""
    # Misplaced: on the incorrect side of the sample.
    ranks, wrong = np.empty(len(scores), np.int64), np.empty(len(scores), np.int64)
    for split in (False, True):
        rows = np.flatnonzero(test == split)
        grades = relevant[rows].astype(np.int64)
        ranks[rows] = own = ranks_of(grades, scores[rows])
        # number of relevant samples down to each
        above = np.cumsum(grades[np.argsort(own)])[own - 1]
        wrong[rows] = np.where(relevant[rows], own - above, grades.sum() - above)
    return ranks, wrong
