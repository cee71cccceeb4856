"""Ranks of samples as the penalties of a pairwise model are weakened or strengthened by a factor t."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ranking.core import Bools, Floats, Ints
from ranking.core.errors import InputError
from ranking.explain.neighbourhood import Neighbourhood
from ranking.inference import AttractivePairs, Components, max_marginals
from ranking.metrics import average_precision
from ranking.metrics.ranked import ranks_of

# the strength of the learned penalties
LEARNED = 1.0
OFF = 0.0


@dataclass(frozen=True, eq=False)
class EdgeStrengthCurve:
    """The ranks of n samples at s edge strengths; `edge_strength_curve` makes it."""

    # (s,), rising, including 0 (edges off) and 1 (learned)
    strengths: Floats
    # relevance, image_of: (n,) of the samples
    relevance: Ints
    image_of: Ints
    # (s, n), from 1
    ranks: Ints
    # (s,)
    average_precision: Floats

    def at(self, strength: float) -> int:
        """Return the row of the nearest strength."""
        return int(np.abs(self.strengths - strength).argmin())

    @cached_property
    def rise(self) -> Ints:
        """(n,) by how many ranks each sample is higher with the learned penalties than with edges off."""
        lifted: Ints = self.ranks[self.at(OFF)] - self.ranks[self.at(LEARNED)]
        return lifted

    def precision_at(self, strength: float) -> float:
        """Return the average precision at the nearest strength."""
        return float(self.average_precision[self.at(strength)])

    def most_raised(self) -> int | None:
        """Return the relevant sample that relevant neighbours move up furthest; None without one."""
        # One of the neighbours ranks above it with edges off. Furthest is by the ratio of its ranks, because
        # AP counts those.
        return self._furthest(self.relevance > 0, up=True)

    def most_lowered(self) -> int | None:
        """Return the irrelevant sample that irrelevant neighbours move down furthest; None without one."""
        # One of the neighbours ranks below it with edges off.
        return self._furthest(self.relevance == 0, up=False)

    def _furthest(self, among: Bools, up: bool) -> int | None:
        off, learned = self.ranks[self.at(OFF)], self.ranks[self.at(LEARNED)]
        moved = np.log(off / learned) if up else np.log(learned / off)
        for sample in np.argsort(-moved, kind="stable"):
            if moved[sample] <= 0:
                break
            alike = self.of_image(int(self.image_of[sample]))
            ahead = off[alike] < off[sample] if up else off[alike] > off[sample]
            if among[sample] and (ahead & among[alike]).any():
                return int(sample)
        return None

    def most_misled(self) -> Ints | None:
        """Return the samples of the image that neighbours mislead most; None without such an image."""
        # Candidates are images of two samples or more, all irrelevant and all moved up. Of those the one
        # whose lowest sample ranks highest with the learned penalties.
        misled: Ints | None = None
        for image in np.unique(self.image_of):
            rows = self.of_image(int(image))
            wrongly = not self.relevance[rows].any() and len(rows) > 1 and (self.rise[rows] > 0).all()
            if wrongly and (misled is None or self._last(rows) < self._last(misled)):
                misled = rows
        return misled

    def of_image(self, image: int) -> Ints:
        """Return the samples of an image."""
        return np.flatnonzero(self.image_of == image)

    def _last(self, rows: Ints) -> int:
        return int(self.ranks[self.at(LEARNED), rows].max())


def edge_strength_curve(
    model: Neighbourhood, test: bool, image_of: Ints, strengths: Sequence[float]
) -> EdgeStrengthCurve:
    """Rank the n samples of a split by max-marginals (high-order, eq. 11) with t x penalty, for each t.

    >>> relevant, test = np.array([True, False, False]), np.zeros(3, bool)
    >>> model = Neighbourhood.of([-1.0, 3.0, 1.0], AttractivePairs(3, [[0, 1]]), [-2.5], relevant, test)
    >>> curve = edge_strength_curve(model, False, np.array([7, 7, 8]), [0.0, 1.0])
    >>> curve.ranks.tolist(), curve.rise.tolist()
    ([[3, 1, 2], [2, 1, 3]], [1, 0, -1])
    """
    # image_of: of all samples of the model. At strengths 0 and 1 the ranks are the model's `alone` and
    # `rank`.
    if not {OFF, LEARNED} <= set(strengths):
        expected = f"{OFF:g} (edges off) and {LEARNED:g} (as learned) among them"
        raise InputError("strengths", expected, list(strengths))
    if type(model.potentials) is not AttractivePairs:
        raise InputError("potentials", AttractivePairs.name, model.potentials.name, "train with those")
    in_split, edges = model.test == test, model.components.edges
    # no edge joins the splits
    edge_in_split = in_split[edges[:, 0]]
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
