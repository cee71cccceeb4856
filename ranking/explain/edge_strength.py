"""How far samples lean on their neighbours: their ranks as the penalties of a pairwise model are weakened or
strengthened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ranking.core import Floats, Ints
from ranking.core.errors import InputError
from ranking.explain.neighbourhood import Neighbourhood
from ranking.inference import AttractivePairs, Components, max_marginals
from ranking.metrics import average_precision
from ranking.metrics.ranked import ranks_of

LEARNT = 1.0  # the strength at which penalties are those that were learnt
OFF = 0.0


@dataclass(frozen=True, eq=False)
class EdgeStrengthCurve:
    """n samples ranked at each of s strengths; `edge_strength_curve` makes it.

    strengths: (s,), rising, OFF and LEARNT among them. relevance, image_of: (n,) of each sample its grade and its
    image. places: (s, n) the rank of each sample from 1. average_precision: (s,).
    """

    strengths: Floats
    relevance: Ints
    image_of: Ints
    ranks: Ints
    average_precision: Floats

    def at(self, strength: float) -> int:
        """The row of the strength nearest to this one."""
        return int(np.abs(self.strengths - strength).argmin())

    @cached_property
    def rise(self) -> Ints:
        """(n,) by how many places each sample stands higher with its learnt neighbours than without any."""
        lifted: Ints = self.ranks[self.at(OFF)] - self.ranks[self.at(LEARNT)]
        return lifted

    def precision_at(self, strength: float) -> float:
        """The average precision at a strength."""
        return float(self.average_precision[self.at(strength)])

    def most_lifted(self) -> int | None:
        """The relevant sample that neighbours lift by most places; None where they lift none."""
        gains = np.where(self.relevance > 0, self.rise, 0)
        return int(gains.argmax()) if gains.max(initial=0) > 0 else None

    def most_misled(self) -> Ints | None:
        """The samples of the image that shows nothing relevant, whose every sample rises, and whose last one then
        stands highest; None where there is no such image of two samples or more."""
        misled: Ints | None = None
        for image in np.unique(self.image_of):
            rows = self.of_image(int(image))
            wrongly = not self.relevance[rows].any() and len(rows) > 1 and (self.rise[rows] > 0).all()
            if wrongly and (misled is None or self._last(rows) < self._last(misled)):
                misled = rows
        return misled

    def of_image(self, image: int) -> Ints:
        """The samples that lie in an image."""
        return np.flatnonzero(self.image_of == image)

    def _last(self, rows: Ints) -> int:
        return int(self.ranks[self.at(LEARNT), rows].max())


def edge_strength_curve(
    model: Neighbourhood, test: bool, image_of: Ints, strengths: Sequence[float]
) -> EdgeStrengthCurve:
    """Rank the n samples of one split by max-marginals (high-order, eq. 11) with t x penalty, for each strength t.

    image_of: of all samples of the model. ValueError unless OFF and LEARNT are among the strengths: there the places
    are the model's `alone` and `rank`; and unless its neighbours are attractive pairs.

    >>> relevant, test = np.array([True, False, False]), np.zeros(3, bool)
    >>> model = Neighbourhood.of([-1.0, 3.0, 1.0], AttractivePairs(3, [[0, 1]]), [-2.5], relevant, test)
    >>> curve = edge_strength_curve(model, False, np.array([7, 7, 8]), [0.0, 1.0])
    >>> curve.ranks.tolist(), curve.most_lifted()
    ([[3, 1, 2], [2, 1, 3]], 0)
    """
    if not {OFF, LEARNT} <= set(strengths):
        expected = f"{OFF:g} (edges off) and {LEARNT:g} (as learned) among them"
        raise InputError("strengths", expected, list(strengths))
    if type(model.potentials) is not AttractivePairs:
        raise InputError("potentials", AttractivePairs.name, model.potentials.name, "train with those")
    in_split, edges = model.test == test, model.components.edges
    edge_in_split = in_split[edges[:, 0]]  # no edge joins the splits
    number = np.cumsum(in_split) - 1
    edges, penalty, unary = number[edges[edge_in_split]], model.penalty[edge_in_split], model.unary[in_split]
    components = Components.of(len(unary), edges)
    scores = [
        max_marginals(unary, edges, strength * penalty, components=components).difference
        for strength in strengths
    ]
    relevance = model.relevant[in_split].astype(np.int64)
    return EdgeStrengthCurve(
        np.asarray(strengths, np.float64),
        relevance,
        image_of[in_split],
        np.stack([ranks_of(relevance, scores_at_strength) for scores_at_strength in scores]),
        np.array([average_precision(relevance, scores_at_strength) for scores_at_strength in scores]),
    )
