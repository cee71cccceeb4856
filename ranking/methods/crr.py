"""CRR: combined regression and ranking by stochastic gradient descent (Sculley 2010)."""

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import numba
import numpy as np

from ranking.core import Ints, OnProgress, SequenceSet, StopTraining
from ranking.core.settings import setting
from ranking.inference.graded_pairs import GradedPairs
from ranking.methods.common_settings import penalty
from ranking.methods.linear_order import LinearOrder
from ranking.methods.order_method import Grid
from ranking.methods.point_targets import PointTargets, with_constant
from ranking.methods.registry import METHODS
from ranking.solvers.clock import Clock

# of progress per training run
REPORTS = 50


@numba.njit(cache=True, nogil=True)
def _descend(weights, features, targets, first, second, shrink, delay, taken):  # type: ignore[no-untyped-def]
    """Make the steps for the pairs (first, second), or for single samples where second is -1."""
    # taken: earlier steps.
    for step in range(len(first)):
        i, j = first[step], second[step]
        error = -targets[i] if j < 0 else targets[j] - targets[i]
        for c in range(len(weights)):
            error += weights[c] * (features[i, c] if j < 0 else features[i, c] - features[j, c])
        rate = 1.0 / (shrink * (taken + step + delay))
        for c in range(len(weights)):
            x = features[i, c] if j < 0 else features[i, c] - features[j, c]
            weights[c] -= rate * (shrink * weights[c] + error * x)


@METHODS.register("CRR")
@dataclass(kw_only=True, eq=False)
class CRR(LinearOrder):
    """Regression and ranking combined: squared errors of targets and of differences of pairs.

    min 1/2 ||w||^2 + C [ a/2 mean_i (w.x_i - t_i)^2 + (1 - a)/2 mean_(i,j) (w.(x_i - x_j) - (t_i - t_j))^2 ].

    The combined objective of Sculley's section 3 with squared loss and lambda = 1/C: i runs over all members of
    sequences, (i, j) over the pairs of different grades within a sequence, t are standardised grades. A step takes
    one sample with probability a, else one pair, and has length 1/(lambda (t + t0)); t0 limits the first steps to what
    the curvature of one sample allows. The last weights are the result, without a certificate. One weight is the bias.
    """

    order = 24
    summary: ClassVar[str] = "Regresses grades and grade differences together by stochastic gradient descent."
    objective: ClassVar[str] = (
        r"\tfrac12\|w\|^2 + C\Bigl[\tfrac\alpha2\,\overline{(w^\top x_i - t_i)^2}"
        r" + \tfrac{1-\alpha}2\,\overline{(w^\top(x_i - x_j) - (t_i - t_j))^2}\Bigr]"
    )
    grid: ClassVar[Grid] = Grid("C", (1.0, 10.0, 100.0, 1e3, 1e4, 1e5))

    C: float = penalty(1000.0, "squared error")
    alpha: float = setting(
        0.5,
        label="alpha: share of steps on single samples",
        help="1: regression only. 0: pairs only.",
        formula=r"\alpha",
        minimum=0.0,
        maximum=1.0,
    )
    steps: int = setting(
        100_000,
        label="Steps",
        help="The number of stochastic gradient steps, each on one sample or one pair.",
        minimum=1,
        maximum=100_000_000,
    )
    seed: int = setting(
        0, label="Seed", help="Seed for sampling samples and pairs.", minimum=0, advanced=True
    )

    def learn(self, sequences: SequenceSet, on_progress: OnProgress | None) -> None:
        clock, generator = Clock(on_progress), np.random.default_rng(self.seed)
        pairs, samples = GradedPairs(sequences), PointTargets.of(sequences)
        features = with_constant(sequences.features.astype(np.float64, copy=False))
        targets, shares = np.zeros(len(features)), np.zeros(len(features))
        targets[samples.rows], shares[samples.rows] = samples.targets, samples.shares
        weights = np.zeros(features.shape[1])
        delay = 4.0 * self.C * float(np.square(features[samples.rows]).sum(axis=1).max()) + 1.0
        edges = np.linspace(0, self.steps, min(REPORTS, self.steps) + 1).astype(np.int64)

        def objective() -> float:
            errors = features @ weights - targets
            single, paired = shares @ errors**2, pairs.squares(errors) / pairs.number
            loss = 0.5 * (self.alpha * single + (1.0 - self.alpha) * paired)
            return float(0.5 * weights @ weights + self.C * loss)

        # the weights so far are the result
        with suppress(StopTraining):
            for taken, after in itertools.pairwise(edges.tolist()):
                clock.report(taken, objective(), -np.inf, 0)
                first, second = self._sampled_pairs(pairs, after - taken, generator)
                _descend(weights, features, targets, first, second, 1.0 / self.C, delay, taken)
            clock.report(self.steps, objective(), -np.inf, 0)
        self.direction = weights[:-1]

    def _sampled_pairs(
        self, pairs: GradedPairs, count: int, generator: np.random.Generator
    ) -> tuple[Ints, Ints]:
        """Return (count,) rows of samples and of partners, -1 without."""
        # Samples have the same chance, and so have pairs.
        lengths = np.diff(pairs.starts)
        owner_start, length = np.repeat(pairs.starts[:-1], lengths), np.repeat(lengths, lengths)
        # samples of lower grade in the same sequence
        worse = length - pairs.lower
        number = generator.integers(0, pairs.number, count)
        ends = np.cumsum(worse)
        position = np.searchsorted(ends, number, side="right")
        partner = owner_start[position] + length[position] - (ends[position] - number)
        is_single = generator.random(count) < self.alpha
        position = np.where(is_single, generator.integers(0, len(pairs.members), count), position)
        return pairs.members[position], np.where(is_single, -1, pairs.members[partner])
