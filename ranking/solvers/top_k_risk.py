"""The bound on the precision-at-k loss of c-star models (c-star, eqs. 1, 2 and 6), as a risk in its weights.

    min_w  1/2 ||w||^2 + C/M sum_m { max_t [ Delta(t, z_m) + f(x_m, t) ] - f(x_m, t~_m) },
    f(x, t) = t's + t'Ft,   Delta(t, z) = t'(1 - z) / k,   t with k_m ones,

where s_i = w_i'x + a_i y_i is linear in features x that all labels share and in one feature y_i per label. w contains
all w_i, all a_i, and each F_ij of an unordered pair once. The dual has, for each image, a combination of
outputs with shares alpha >= 0 that sum to 1:

    max_alpha  C/M sum_m sum_t alpha_mt Delta(t, z_m) - 1/2 ||w||^2,
    w = -C/M sum_m sum_t alpha_mt [psi(x_m, t) - psi(x_m, t~_m)].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ranking.core import Bools, Certificate, Floats, Ints
from ranking.inference import BestTopKs, best_top_ks
from ranking.solvers.risk import Cut

# of the summands of both bounds
ROUNDING = 2.0**-40
# times the objective at weights 0: with a smaller gain there is nothing to learn
MIN_GAIN = 1e-7


class TopKWeights(NamedTuple):
    """shared: (L, p) of the features x; own: (L,) of the features y; interactions: (c, L) = F[core]."""

    shared: Floats
    own: Floats
    interactions: Floats

    def unary(self, shared: Floats, own: Floats) -> Floats:
        """Return (M, L) the scores s of images with features (M, p) and (M, L)."""
        return shared @ self.shared.T + own * self.own

    def combined(self, target: TopKWeights, share: float) -> TopKWeights:
        """Return (1 - share) of these weights plus `share` of `target`."""
        return TopKWeights(*(a + share * (b - a) for a, b in zip(self, target, strict=True)))


@dataclass(frozen=True, eq=False)
class TopKRisk:
    """The problem above."""

    # With k = 0 or L there is one output: such an image adds only a constant.

    # (M, p) features, float64
    shared: Floats
    # (M, L) features, float64
    own: Floats
    # (M, L) z
    labels: Bools
    # (M, L) t~, an output of the least loss
    truth: Bools
    # (M,) the size of `truth`
    k: Ints
    # (c,)
    core: Ints
    C: float

    @property
    def scale(self) -> float:
        """C / M, the weight of one image."""
        return self.C / len(self.labels)

    @cached_property
    def costs(self) -> Floats:
        """(M, L) what each label adds to the loss of an output that holds it: (1 - z) / k."""
        return ~self.labels / np.maximum(self.k, 1)[:, None]

    @cached_property
    def once(self) -> Floats:
        """(c, L) the weight of each entry of F[core] in ||w||^2: pairs inside the core occur twice."""
        counts = np.ones((len(self.core), self.labels.shape[1]))
        counts[:, self.core] = 0.5
        counts[np.arange(len(self.core)), self.core] = 0.0
        return counts

    @property
    def least_loss(self) -> float:
        """C/M times the sum of the losses of t~, a lower bound on the objective."""
        return self.scale * float(self.costs[self.truth].sum())

    @cached_property
    def at_zero(self) -> float:
        """The objective at weights 0, which rank nothing."""
        return self.objective(self.zero())

    def openness(self, primal: float, dual: float) -> float:
        """Return primal - dual as a share of the objective or, if less, of the most to gain over 0."""
        # If labels are hard to predict, the optimum is only slightly below the objective at 0. A gap that is
        # small compared with the objective may then be as large as the whole possible gain.
        return max(primal - dual, 0.0) / self.measure(primal, dual)

    def measure(self, primal: float, dual: float) -> float:
        """Return the value that `openness` divides the gap by."""
        gain = max(self.at_zero - dual, MIN_GAIN * self.at_zero)
        return max(min(primal, gain), 1e-300)

    def zero(self) -> TopKWeights:
        labels = self.labels.shape[1]
        return TopKWeights(
            np.zeros((labels, self.shared.shape[1])), np.zeros(labels), np.zeros(self.once.shape)
        )

    def square(self, weights: TopKWeights) -> float:
        """Return ||w||^2, with each pair of labels once."""
        shared, own, pairs = weights
        return float(np.vdot(shared, shared) + own @ own + np.vdot(self.once, pairs * pairs))

    @cached_property
    def pairs_once(self) -> Bools:
        """(c, L) marks each pair of labels once, with the core label first."""
        marks: Bools = self.once == 1.0
        marks[:, self.core] = np.triu(np.ones((len(self.core), len(self.core)), bool), 1)
        return marks

    def flat(self, weights: TopKWeights) -> Floats:
        """Return the weights as one vector with the same norm."""
        return np.concatenate([weights.shared.ravel(), weights.own, weights.interactions[self.pairs_once]])

    def shaped(self, flat: Floats) -> TopKWeights:
        """Return the weights of which `flat` makes that vector."""
        shared, own, pairs = self.zero()
        shared_part, own_part, pairs_part = np.split(flat, np.cumsum([shared.size, own.size]))
        pairs[self.pairs_once] = pairs_part
        pairs[:, self.core] += pairs[:, self.core].T
        return TopKWeights(shared_part.reshape(shared.shape), own_part, pairs)

    def hinge(self, weights: TopKWeights) -> Cut:
        """Return the most violated outputs of all images as one cut in `flat` weights, C included."""
        worst = self.most_violated(weights).members
        descent = self.least(worst.astype(np.float64), self.pairs(worst))
        return Cut(-self.flat(descent), self.scale * float(self.costs[worst].sum()))

    def most_violated(self, weights: TopKWeights, rows: Ints | slice = slice(None)) -> BestTopKs:
        """Return the outputs that maximise loss + score, of some images or all (c-star, eq. 3)."""
        unary = weights.unary(self.shared[rows], self.own[rows]) + self.costs[rows]
        return best_top_ks(unary, self.core, weights.interactions, self.k[rows])

    def objective(self, weights: TopKWeights, violated: BestTopKs | None = None) -> float:
        """Return the objective at `weights`; their most violated outputs may be passed in."""
        worst = self.most_violated(weights) if violated is None else violated
        unary = weights.unary(self.shared, self.own)
        right = np.sum(unary * self.truth) + np.vdot(self.once, weights.interactions * self.pairs(self.truth))
        return 0.5 * self.square(weights) + self.scale * float(worst.values.sum() - right)

    def pairs(self, outputs: Bools, shares: Floats | None = None) -> Floats:
        """Return (c, L) the sum over outputs (n, L) of 2 t_c t_i times its share."""
        # It is the factor of F[core] in t'Ft.
        marks = outputs.astype(np.float64)
        weighted = marks[:, self.core] if shares is None else shares[:, None] * marks[:, self.core]
        sums = 2.0 * weighted.T @ marks
        # a matrix product may round the two differently
        sums[:, self.core] += sums[:, self.core].T
        sums[:, self.core] *= 0.5
        sums[np.arange(len(self.core)), self.core] = 0.0
        return sums

    def least(self, mean: Floats, pairs: Floats) -> TopKWeights:
        """Return the weights that a dual combination implies."""
        # mean: (M, L) sum_t alpha t of each image. pairs: (c, L) `pairs` of all outputs that carry a share.
        excess = mean - self.truth
        return TopKWeights(
            -self.scale * excess.T @ self.shared,
            -self.scale * np.einsum("ml,ml->l", excess, self.own),
            -self.scale * (pairs - self.pairs(self.truth)),
        )

    def certified(
        self, weights: TopKWeights, dual: float, tolerance: float, iterations: int, seconds: float
    ) -> Certificate:
        """Return the certificate of `weights` and a dual value; converged by `openness`."""
        # The primal is recomputed. ArithmeticError where the dual exceeds it by more than rounding.
        primal = self.objective(weights)
        rounding = ROUNDING * (
            abs(primal) + self.scale * float(np.abs(weights.unary(self.shared, self.own)).sum())
        )
        if dual - primal > rounding:
            raise ArithmeticError(
                f"the lower bound {dual:g} lies above the objective {primal:g}: it belongs to another problem"
            )
        converged = self.openness(primal, dual) <= tolerance
        return Certificate(primal, dual, primal - dual, iterations, seconds, converged)


@dataclass(frozen=True, eq=False)
class TopKSolution:
    """Weights and their certificate."""

    weights: TopKWeights
    certificate: Certificate
    # whether a callback stopped training
    stopped: bool = False
