"""The objective of latent structured SVMs on bags of windows, and convex bounds (quicksort, section 6.2).

With the best score of each image, s_i(w) = max_h w.phi_i(h) + b_h over its windows h, the objective is

    f(w) = 1/2 ||w||^2 + C max_R [ Delta(R) + sum_i c_i(R) s_i(w) ].

An output R is a cut over the images, for a ranking the coefficients of Psi(X, R) - Psi(X, R*) (quicksort, eq. 4). c_i
is at most 0 for an image that shows the object and at least 0 for one that does not, in every output. That is why the
problem of Behl, Jawahar and Kumar (2014), in which windows and rankings are chosen against each other, is that of the
best scores: an image that shows the object takes its best window whatever the ranking is, and so does one that does
not in the most violated output.

f is not convex only because images that show the object choose their windows. With one window fixed for each of
them it is a convex upper bound, which touches f where they are the best. A cut of one bound is a cut of the next with
its coefficients moved to the new windows. b is a fixed bonus of windows, -inf for a window that is ignored; a cut's
loss includes c_i b_h of the windows that it takes, so it changes where a coefficient is moved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ranking.core import Bools, Features, Floats, Ints, as_floats
from ranking.inference.best_windows import best_windows, k_best_windows
from ranking.solvers.block import Block, exact_product
from ranking.solvers.risk import Cut, LinearRisk


@dataclass(frozen=True, eq=False)
class Place:
    """Weights (d,), and what follows from them."""

    # The scores of all windows are (rows,), the best window of each image (n,), and f is in float64.

    weights: Floats
    scores: Floats
    best: Ints
    objective: float

    @property
    def image_scores(self) -> Floats:
        """The best score of each image, (n,)."""
        return self.scores[self.best]


@dataclass(frozen=True, eq=False)
class BagProblem:
    """The problem above."""

    # (rows, d)
    windows: Features
    # (n + 1,) as in `BagSet`
    starts: Ints
    # (rows,)
    bonus: Floats
    # (n,)
    relevant: Bools
    C: float
    # scores (n,) and relevant (n,) to the maximising output, whose coefficients have the signs above
    cut: Callable[[Floats, Bools], Cut]

    @cached_property
    def irrelevant_rows(self) -> Bools:
        """Which windows belong to images that do not show the object, (rows,)."""
        return np.repeat(~self.relevant, np.diff(self.starts))

    @cached_property
    def _largest_bonus(self) -> float:
        """The largest absolute bonus of a window that is not ignored."""
        return float(np.abs(self.bonus[np.isfinite(self.bonus)]).max(initial=0.0))

    def at(self, weights: Floats) -> Place:
        """Return the place at `weights`: one pass over all windows, unless all weights are 0."""
        scores = self.bonus + (exact_product(self.windows, weights) if weights.any() else 0.0)
        best = best_windows(scores, self.starts)
        return Place(weights, scores, best, self._value(weights, scores[best]))

    def bound_at(self, place: Place, fixed: Ints) -> float:
        """Return at a place the bound with the windows `fixed` (n,) for the images that show the object."""
        return self._value(place.weights, place.scores[np.where(self.relevant, fixed, place.best)])

    def _value(self, weights: Floats, image_scores: Floats) -> float:
        cut = self.cut(image_scores, self.relevant)
        hinge = cut.loss + float(image_scores @ cut.coefficients)
        return 0.5 * float(weights @ weights) + self.C * max(hinge, 0.0)

    def rows_of(self, fixed: Ints, rows: Ints) -> Ints:
        """Return the windows `fixed` of images that show the object and the `rows` of others, ascending."""
        return np.union1d(fixed[self.relevant], rows[self.irrelevant_rows[rows]])

    def highest(self, place: Place, k: int) -> Ints:
        """Return the rows of the k best windows of each image at a place."""
        return k_best_windows(place.scores, self.starts, k)

    def bound(self, rows: Ints) -> LinearRisk:
        """Return the convex bound over `rows`, ascending, one window of each image that shows the object."""
        # If windows of the other images are missing, it is not above f, but its cuts are cuts of the whole
        # bound. Its scores are those of the rows, without bonus.
        starts, bonus = np.searchsorted(rows, self.starts), self.bonus[rows]

        def oracle(scores: Floats) -> Cut:
            scores = scores + bonus
            best = best_windows(scores, starts)
            cut = self.cut(scores[best], self.relevant)
            coefficients = np.zeros(len(rows))
            coefficients[best] = cut.coefficients
            return Cut(coefficients, cut.loss + float(cut.coefficients @ bonus[best]))

        windows = self.windows[rows]
        half = windows.dtype == np.float16
        block = Block(windows.astype(np.float32) if half else as_floats(windows))
        return LinearRisk(block, self.C, oracle, offset=self._largest_bonus)

    def moved(self, coefficients: Floats, losses: Floats, rows: Ints, to: Ints) -> tuple[Floats, Floats]:
        """Return cuts (m, k) of the bound over `rows`, with losses (m,), as cuts of the bound over `to`."""
        # Coefficients of images that show the object move to their windows there; `to` has the other rows
        # that carry any.
        used = np.flatnonzero(coefficients.any(axis=0))
        rows, coefficients = rows[used], coefficients[:, used]
        first = self.starts[np.searchsorted(self.starts, rows, side="right") - 1]
        where = np.searchsorted(to, np.where(self.irrelevant_rows[rows], rows, first))
        moved = np.zeros((len(coefficients), len(to)))
        moved[:, where] = coefficients
        return moved, losses + coefficients @ (self.bonus[to[where]] - self.bonus[rows])

    def among(self, images: Ints) -> BagProblem:
        """Return the problem of some `images` only, over the same windows."""

        def cut(scores: Floats, relevant: Bools) -> Cut:
            part, coefficients = self.cut(scores[images], relevant[images]), np.zeros(len(scores))
            coefficients[images] = part.coefficients
            return Cut(coefficients, part.loss)

        return replace(self, cut=cut)
