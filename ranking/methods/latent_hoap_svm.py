"""Latent HOAP-SVM: images with unknown windows whose neighbours tend to share their label (high-order, section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import ClassVar, Self

import numpy as np

from ranking.core import BagSet, Bools, Floats, Ints, OnProgress
from ranking.core.settings import setting
from ranking.inference import AttractivePairs
from ranking.inference.best_windows import best_windows
from ranking.methods.high_order import Neighbours
from ranking.methods.hoap_svm import FixedRisk, Surrogate
from ranking.methods.latent_ap_svm import LatentAPSVM
from ranking.methods.registry import METHODS
from ranking.solvers import Cut, LinearRisk, Point, UpperBound, cccp
from ranking.solvers.block import Block
from ranking.solvers.clock import Clock
from ranking.solvers.relay import JoinedProgress


@METHODS.register("Latent HOAP-SVM")
@dataclass(kw_only=True, eq=False)
class LatentHOAPSVM(LatentAPSVM):
    """min 1/2 ||w||^2 + 1/2 w2^2 + C max_R [Delta(R*, R) - S(X, R*) + S(X, R)], w2 <= 0.

    S is that of AP-SVM for the differences of max-marginals (high-order, eqs. 11 and 12) of labellings Y with

        sum_i y_i s_i(w) + eta w2 (pairs of images of one group with y_i != y_j),  s_i = max_h w.phi_i(h),

    so that unary(1) is the score of the best window and unary(0) is 0: an image that does not show the object needs no
    window. A max-marginal is a maximum over labellings and windows of what is linear in the weights, hence convex;
    CCCP fixes both where the objective has it with a minus, the labelling of a sample's true class. With w2 = 0 the
    objective is that of Latent AP-SVM, whose weights are the start, so training never ends above it.
    """

    summary: ClassVar[str] = (
        "Minimises a bound on 1 − average precision like Latent AP-SVM, and encourages images of one group to share a "
        "label."
    )
    objective: ClassVar[str] = (
        r"\tfrac12\|w\|^2 + C\max_R\bigl[\Delta_{\text{AP}}(R) - S(R^*;w) + S(R;w)\bigr],\quad w_2\le0,\ "
        r"\Psi_1(x_i, 1) = \max_h w^\top\varphi_i(h),\ \Psi_1(x_i, 0) = 0"
    )
    order = 43

    size_bonus: ClassVar[float] = 0.0  # type: ignore[misc]  # a bonus would move labellings, too: no setting here
    eta: float = setting(
        1.0,
        label="η: edge weight",
        help="Scales the affinity of images of one group. Small: neighbours have almost no effect.",
        formula=r"\eta\,[y_i\ne y_j],\quad i, j\text{ in one group}",
        minimum=1e-6,
        maximum=1e6,
        log=True,
        usual=(1e-4, 1e4),
    )
    pair_weight: float = field(default=0.0, init=False, repr=False)  # w2, at most 0

    def fit(
        self,
        bag_sets: Sequence[BagSet],
        on_progress: OnProgress | None = None,
        warm_start: Self | None = None,
    ) -> Self:
        """Train as `BagMethod.fit` does; `groups` of the bag set say which images are neighbours."""
        problem = self.problem(bag_sets)
        [bags] = bag_sets
        upper = LatentSurrogate.of(self, bags, problem.relevant)
        at_zero = problem.at(np.zeros(bags.windows.shape[1])).objective
        progress = JoinedProgress(on_progress)
        if warm_start is None:
            settings = {item.name: getattr(self, item.name) for item in fields(LatentAPSVM) if item.init}
            settings.pop("size_bonus")
            first = LatentAPSVM(**settings).fit(bag_sets, progress.report)
            assert first.weights is not None
            begin = np.append(first.weights, 0.0)
        else:
            begin = np.append(self._weights_of(warm_start, bags), warm_start.pair_weight)
        progress.begin()
        left = 0 if progress.stopped else self.max_iterations
        solution = cccp(upper.touching, begin, self.tolerance, left, Clock(progress.report))
        self.weights, self.pair_weight = solution.weights[:-1], min(float(solution.weights[-1]), 0.0)
        seconds = solution.certificate.seconds + progress.before.seconds
        self.certificate = replace(solution.certificate, seconds=seconds)
        self.learned = self.certificate.primal < (1.0 - self.tolerance) * at_zero
        return self

    def window_scores(self, bags: BagSet, weights: Floats | None = None) -> Floats:
        return super().window_scores(bags, None if weights is None else weights[: bags.windows.shape[1]])

    def image_scores(self, bags: BagSet, scores: Floats, weights: Floats | None = None) -> Floats:
        """Return (n,) the difference of max-marginals of every image (high-order, eq. 11)."""
        pairs, pair_weight = pairs_of(bags), self.pair_weight
        if weights is not None:  # without w2 in the first part of training
            pair_weight = min(float(weights[bags.windows.shape[1] :].sum()), 0.0)
        penalty = np.full(len(pairs), self.eta * pair_weight)
        unary = scores[best_windows(scores, bags.starts)]
        return AttractivePairs(len(bags), pairs).max_marginals(unary, penalty).difference

    def _more(self) -> dict[str, float]:
        return {"pair_weight": self.pair_weight}


def pairs_of(bags: BagSet) -> Ints:
    """Return (m, 2) all pairs of images of one group, which is many where a group is large."""
    order = np.argsort(bags.groups, kind="stable")
    _, sizes = np.unique(bags.groups, return_counts=True)
    ends = np.cumsum(sizes)
    pairs = [
        order[end - size + np.stack(np.triu_indices(size, 1), axis=1)]
        for end, size in zip(ends, sizes, strict=True)
    ]
    return np.concatenate(pairs) if pairs else np.empty((0, 2), np.int64)


@dataclass(frozen=True, eq=False)
class LatentSurrogate(Surrogate):
    """Convex risks above the objective, of scores of windows and pairs: labellings and their windows are fixed.

    starts: (n + 1,) where the windows of each image begin, as in `BagSet`.
    """

    starts: Ints

    @classmethod
    def of(cls, method: LatentHOAPSVM, bags: BagSet, relevant: Bools) -> LatentSurrogate:
        """Return the risks of a method on a bag set. Windows below the smallest one are ignored."""
        usable, pairs = method.bonus(bags) > -np.inf, pairs_of(bags)
        windows = bags.windows if usable.all() else bags.windows[usable]
        if windows.dtype == np.float16:
            windows = windows.astype(np.float32)
        starts = np.append(0, np.cumsum(usable))[bags.starts]

        def ranking(scores: Floats) -> Cut:
            return method.cut(scores, relevant)

        risk = LinearRisk(Block(windows), method.C, ranking, Block(np.ones((len(pairs), 1)), method.eta))
        return cls(risk, Neighbours(AttractivePairs(len(bags), pairs), relevant), ranking, starts)

    def touching(self, weights: Floats) -> UpperBound:
        scores = self.risk.exact_scores(weights)
        rows, of_images = self._pool(scores)
        risk = FixedWindowsRisk(
            self.risk.features,
            self.risk.C,
            self._most_violated,
            self.risk.pairwise,
            self.risk.highest,
            fixed=self.neighbours.max_marginals(of_images),
            neighbours=self.neighbours,
            rows=rows,
        )
        return UpperBound(risk, Point.of(risk, weights, risk.with_fixed(scores)), risk.adopt)

    def _most_violated(self, scores: Floats) -> Cut:
        best, of_images = self._pool(scores)
        cut = super()._most_violated(of_images)
        coefficients = np.zeros(len(scores))
        coefficients[best] = cut.coefficients[: len(best)]
        coefficients[self.starts[-1] :] = cut.coefficients[len(best) :]
        return Cut(coefficients, cut.loss)

    def _pool(self, scores: Floats) -> tuple[Ints, Floats]:
        """Return the best windows (n,), and scores with those of the images in place of those of all windows."""
        best = best_windows(scores[: self.starts[-1]], self.starts)
        return best, np.concatenate([scores[best], scores[self.starts[-1] :]])


@dataclass(frozen=True, eq=False)
class FixedWindowsRisk(FixedRisk):
    """A `FixedRisk` of windows (R + m + n): the fixed labelling of each image has the windows `rows` (n,)."""

    rows: Ints = field(kw_only=True)

    @property
    def shape(self) -> tuple[int, int]:
        scores, columns = LinearRisk.shape.fget(self)  # type: ignore[attr-defined]
        return scores + len(self.rows), columns

    def with_fixed(self, scores: Floats) -> Floats:
        penalty = scores[self.samples :]
        return np.append(scores, -self.fixed.values(self.neighbours.relevant, scores[self.rows], penalty))

    def _without_fixed(self, coefficients: Floats) -> Floats:
        if coefficients.ndim == 2:
            return np.stack([self._without_fixed(row) for row in coefficients])
        own, weights = np.split(coefficients, [-len(self.rows)])
        of_images, of_pairs = self.fixed.sums(self.neighbours.relevant, weights)
        own = own.copy()
        own[self.rows] -= of_images
        own[self.samples :] -= of_pairs
        return own
