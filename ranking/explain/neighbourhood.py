"""What its neighbours did to each sample: its rank with and without them, and what its score is made of."""

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
    """A model of n samples in two splits, each ranked by max-marginals; `Neighbourhood.of` makes it.

    potentials: what neighbours pay. relevant, test: (n,) bool. unary: (n,) score of each sample by itself. penalty:
    (m,) of each edge of `components.edges`, summed over the terms that it lies in. rank: (n,) its place from 1 in the
    ranking of its split; alone: (n,) the place that it has by `unary`, with the edges off. helped: (n,) how many
    samples of its split, relevant ones for an irrelevant one and the other way round, stand on the right side of it
    thanks to the edges, less those that do not because of them. unary_part, pairwise_part: (n,) what the unary scores
    and what the penalties make of its score: sums over the labelling with y_i = 1 minus those over the one with y_i =
    0 (high-order, eqs. 9 to 11).
    """

    potentials: Potentials
    relevant: Bools
    test: Bools
    unary: Floats
    penalty: Floats
    marginals: MaxMarginals
    rank: Ints
    alone: Ints
    helped: Ints
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
        """The model of unary scores (n,) and of a penalty for each of the t terms of `potentials`, (t,).
        ValueError where there is no such model, or an edge joins the splits.

        >>> from ranking.inference import AttractivePairs
        >>> relevant, test = np.array([True, False, False]), np.zeros(3, bool)
        >>> model = Neighbourhood.of([-1.0, 3.0, 1.0], AttractivePairs(3, [[0, 1]]), [-2.5], relevant, test)
        >>> model.alone, model.rank, model.rise
        (array([3, 1, 2]), array([2, 1, 3]), array([ 1,  0, -1]))
        """
        scores, costs = np.asarray(unary, np.float64), np.asarray(penalty, np.float64)
        n = potentials.components.samples
        if not n == len(scores) == len(relevant) == len(test):
            raise InputError(
                "unary, relevant and test",
                f"one entry per sample of the {n} that the potentials join",
                f"{len(scores)}, {len(relevant)} and {len(test)}",
                "make all four of the same samples",
            )
        ends = test[potentials.components.edges]
        if (ends[:, 0] != ends[:, 1]).any():
            raise InputError(
                "edges",
                "pairs within the training samples or within the test samples",
                f"{np.count_nonzero(ends[:, 0] != ends[:, 1]):,} between them",
                "make the graph of each split alone",
            )
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
        """The connected components of the samples."""
        return self.potentials.components

    @property
    def score(self) -> Floats:
        """(n,) the difference of max-marginals; unary_part + pairwise_part but for rounding."""
        return self.marginals.difference

    @property
    def rise(self) -> Ints:
        """(n,) how many places higher a sample stands than it would by itself."""
        return self.alone - self.rank

    @cached_property
    def component_of(self) -> Ints:
        """(n,) number of the component of each sample, the largest first."""
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
        """The samples of one split by score, or, `alone`, by what each scores by itself."""
        rows = np.flatnonzero(self.test == test)
        scores = self.unary if alone else self.score
        return Ranking.of(rows, self.relevant[rows].astype(np.int64), scores[rows])

    def turning(self, i: int) -> Bools:
        """(n,) which samples change their label with sample i: those in which its two labellings differ."""
        differs: Bools = self.marginals.labelling(i, True) != self.marginals.labelling(i, False)
        return differs

    def members(self, number: int) -> Ints:
        """The samples of a component, ascending. number: its place in `components`, the largest first."""
        return np.sort(
            self.components.order[self.components.starts[number] : self.components.starts[number + 1]]
        )

    def edges_of(self, number: int) -> Ints:
        """Which edges lie in a component: row numbers of `components.edges`."""
        starts = self.components.edge_starts
        return self.components.edge_order[starts[number] : starts[number + 1]]

    def around(self, i: int, limit: int) -> Ints:
        """At most `limit` samples of the component of i, ascending: i and those that the fewest edges lead to.

        Of equally near ones, those that a strong penalty ties to a nearer one come first.
        """
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


def _placed(relevant: Bools, scores: Floats, test: Bools) -> tuple[Ints, Ints]:
    """(n,) place from 1 of each sample in the ranking of its split, and how many of the other kind stand on the wrong
    side of it."""
    ranks, wrong = np.empty(len(scores), np.int64), np.empty(len(scores), np.int64)
    for split in (False, True):
        rows = np.flatnonzero(test == split)
        grades = relevant[rows].astype(np.int64)
        ranks[rows] = own = ranks_of(grades, scores[rows])
        above = np.cumsum(grades[np.argsort(own)])[own - 1]  # relevant ones from the top down to each
        wrong[rows] = np.where(relevant[rows], own - above, grades.sum() - above)
    return ranks, wrong
