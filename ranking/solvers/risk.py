"""A regularised structured risk that is linear in the scores of the samples, and exact bounds on it.

    min_w  1/2 ||w||^2 + C max_R [ Delta(R) + scale (X w) . delta(R) ]

Every output R is a `Cut`: a vector delta(R) over the samples and its loss. For a ranking delta is the
coefficients of Psi(X, R) - Psi(X, R*) (quicksort, eq. 4); for a labelling it is +1 or -1 at each sample
labelled wrongly. The maximum is the hinge, and it is never negative because R = R* gives 0. Its dual is

    max_alpha  sum_R alpha_R Delta(R) - 1/2 || scale X' sum_R alpha_R delta(R) ||^2,  alpha >= 0, sum <= C,

so that a combination of cuts is all that a lower bound needs, whatever solver found it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ranking.core import Certificate, Floats, relative_gap
from ranking.solvers.block import Block, FeatureMatrix

# times the summands of a hinge, whose products are sums over all features
ROUNDING = 2.0**-46
# coefficients of weights of another run that are not known; all that they are mixed with is not known either
UNKNOWN: Floats = np.array(np.nan)


class Cut(NamedTuple):
    """One output: delta(R), (n,), and its loss.

    A non-negative combination of cuts has the same form.
    """

    coefficients: Floats
    loss: float


@dataclass(frozen=True, eq=False)
class LinearRisk:
    """The problem above.

    features: the matrix scale X of the samples. oracle: scores to the maximising Cut.

    pairwise: a block of (m, d2) rows >= 0, one for each pair of similar samples, whose weights are bound to be <=
    `highest`: 0 (high-order, eq. 8), or infinity where they may have either sign. Scores and coefficients are then (n
    + m,) and weights (d + d2,), first those of the samples. The dual bound holds with the least weights that the
    bound allows, min(highest, .) of the pairwise ones.

    offset: the largest number that the oracle, or that of an earlier bound with the same cuts, adds to a score. Cuts
    have it in their losses, where it may cancel.
    """

    features: FeatureMatrix
    C: float
    oracle: Callable[[Floats], Cut]
    pairwise: Block | None = None
    highest: float = 0.0
    offset: float = 0.0

    @property
    def blocks(self) -> tuple[FeatureMatrix, ...]:
        return (self.features,) if self.pairwise is None else (self.features, self.pairwise)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of scores and the number of weights."""
        shapes = [block.shape for block in self.blocks]
        return sum(rows for rows, _ in shapes), sum(columns for _, columns in shapes)

    @property
    def free(self) -> int:
        """The number of weights, the first ones, that may have either sign."""
        return self.columns if self.highest == 0.0 else self.shape[1]

    @property
    def samples(self) -> int:
        """The number of scores, the first ones, that belong to samples."""
        return int(self.features.shape[0])

    @property
    def columns(self) -> int:
        """The number of weights, the first ones, that belong to samples."""
        return int(self.features.shape[1])

    def scores(self, weights: Floats) -> Floats:
        """Return the scores in the features' own precision: one pass over them."""
        return self._by_block(weights, self.columns, lambda block, part: block.scores(part))

    def exact_scores(self, weights: Floats) -> Floats:
        """Return the scores in float64."""
        return self._by_block(weights, self.columns, lambda block, part: block.exact_scores(part))

    def normal(self, coefficients: Floats) -> Floats:
        """Return the coefficients' sum of rows, in the features' own precision: one pass over them.

        Coefficients (k, n) of several cuts give (k, d).
        """
        return self._by_block(coefficients, self.samples, lambda block, part: block.normal(part))

    def exact_normal(self, coefficients: Floats) -> Floats:
        """Return the coefficients' sum of rows in float64."""
        return self._by_block(coefficients, self.samples, lambda block, part: block.exact_normal(part))

    def total_length(self, coefficients: Floats) -> float:
        """Return the total length of the rows that `normal` adds up."""
        lengths = np.concatenate([block.lengths() for block in self.blocks])
        return float(lengths @ np.abs(coefficients))

    def _by_block(
        self, values: Floats, first: int, product: Callable[[FeatureMatrix, Floats], Floats]
    ) -> Floats:
        """Return each block's product with its part of `values`, concatenated; the first has `first`."""
        if self.pairwise is None:
            return product(self.blocks[0], values)
        parts = zip(self.blocks, np.split(values, [first], axis=-1), strict=True)
        return np.concatenate([product(block, part) for block, part in parts], axis=-1)

    def least(self, normal: Floats) -> Floats:
        """Return the allowed weights that minimise 1/2 ||w||^2 + w.normal."""
        weights = -normal
        if self.pairwise is not None:
            np.minimum(weights[self.columns :], self.highest, out=weights[self.columns :])
        return weights

    def objective(self, weights: Floats, scores: Floats, cut: Cut) -> float:
        """Return the primal objective at `weights`, given their scores and maximising cut."""
        hinge = cut.loss + float(scores @ cut.coefficients)
        return 0.5 * float(weights @ weights) + self.C * max(hinge, 0.0)

    def certify(self, weights: Floats, dual: Cut) -> tuple[float, float, float]:
        """Return the primal at `weights`, the dual at combined cuts, and a bound on their rounding error.

        Both are computed from their definitions in float64. A loss and scores that nearly cancel lose digits, which C
        then magnifies: the third figure allows for that.
        """
        scores = self.exact_scores(weights)
        normal = self.exact_normal(dual.coefficients)
        cut = self.oracle(scores)
        primal = self.objective(weights, scores, cut)
        summands = self.C * (cut.loss + float(np.abs(scores) @ np.abs(cut.coefficients)))
        length = float(np.linalg.norm(self.least(normal)))
        # The normal is a sum of rows that may nearly cancel: its error scales with their lengths.
        summands += length * self.total_length(dual.coefficients)
        both = self.C * np.abs(cut.coefficients).sum() + np.abs(dual.coefficients).sum()
        summands += self.offset * float(both)
        return primal, dual.loss - 0.5 * length**2, ROUNDING * summands


@dataclass(frozen=True, eq=False)
class WorkingSet:
    """Cuts that a solver holds: coefficients (m, n), losses (m,), normals (m, d)."""

    coefficients: Floats
    losses: Floats
    normals: Floats

    def __len__(self) -> int:
        return len(self.losses)


@dataclass(frozen=True, eq=False)
class Solution:
    """Weights (d,), the combination of cuts that proves them, and what a later run can start from.

    stopped: whether a callback stopped training. coefficients: (n,) c of the samples, with weights scale X' c; those of
    the dual differ unless the gap is 0. They are `UNKNOWN`, or not numbers, if training began at such weights.
    """

    weights: Floats
    dual: Cut
    certificate: Certificate
    working_set: WorkingSet | None = None
    stopped: bool = False
    coefficients: Floats = field(default_factory=lambda: UNKNOWN)


def certified(
    risk: LinearRisk, weights: Floats, dual: Cut, tolerance: float, iterations: int, seconds: float
) -> Certificate:
    """Return the certificate of `weights`; converged where the exact gap plus rounding is small enough."""
    # Raises ArithmeticError if the dual exceeds the primal by more than rounding: then the cuts are not cuts
    # of this risk, and nothing is proven.
    primal, bound, rounding = risk.certify(weights, dual)
    if bound - primal > rounding + ROUNDING * abs(bound):
        raise ArithmeticError(
            f"the lower bound {bound:g} lies above the objective {primal:g}: the cuts belong to another problem; "
            "train again without a warm start"
        )
    converged = relative_gap(primal, min(bound, primal)) + rounding / max(abs(primal), 1e-300) <= tolerance
    return Certificate(primal, bound, primal - bound, iterations, seconds, converged)
