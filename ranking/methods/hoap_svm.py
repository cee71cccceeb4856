"""HOAP-SVM: AP-SVM with the similarity graph (high-order, section 4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from ranking.core import Floats, OnProgress, ProgressEvent
from ranking.core.settings import GivenSettings, setting
from ranking.inference import AttractivePairs, MaxMarginals
from ranking.losses import AveragePrecision
from ranking.methods.ap_svm import APSVM
from ranking.methods.common_settings import cost_unit
from ranking.methods.high_order import SCALE, HighOrderMethod, Neighbours
from ranking.methods.hob_svm import HOBSVM
from ranking.methods.linear import Start
from ranking.methods.oracles import by_query, ranking_cut
from ranking.methods.registry import METHODS
from ranking.methods.training_set import TrainingSet
from ranking.solvers import Cut, LinearRisk, Point, Solution, UpperBound, WorkingSet, cccp, cutting_plane
from ranking.solvers.block import Block
from ranking.solvers.clock import Clock

BOTH = "HOB-SVM and AP-SVM"
STARTS = ("HOB-SVM", "AP-SVM", BOTH, "zero")
# of the method that gives the first weights
START_TOLERANCE = 1e-2
# of the objective: the accuracy of their length
RAY_TOLERANCE = 1e-6
# at most for that; a few are enough unless rounding prevents progress
RAY_STEPS = 50


@METHODS.register("HOAP-SVM")
@dataclass(kw_only=True, eq=False)
class HOAPSVM(HighOrderMethod):
    """min 1/2 ||w||^2 + C xi, S(X, R*; w) - S(X, R; w) >= Delta(R*, R) - xi for all R, w2 <= 0 (eq. 14).

    S sums differences of max-marginals (eq. 12), which are not convex in w; CCCP descends until no round gains more
    than the tolerance (Algorithm 1). Nothing else is proven: if labellings tie, the bound of one of them is known to go
    no lower, but the bound of another one may.

    Max-marginals are those of a sample's own connected component: the others' share cancels in the objective, and
    without it the bound of eq. 17 is tighter. Without similar samples the bound is the objective itself, that of
    AP-SVM at 2 C, whose weights come in two rows.

    With the start from HOB-SVM, as in the paper, training can end above the objective at w2 = 0; with both starts it
    cannot. However, a lower objective does not give a better ranking: all starts rank the training samples almost
    perfectly, and penalties become twice as strong as those of HOB-SVM (benchmarks/RESULTS.md, "Why HOAP-SVM is not
    better").

    With pairs of either sign max-marginals may be upper bounds: the objective is then one of the differences of
    those, which need not lie on one side of that of eq. 14.
    """

    order = 4
    summary: ClassVar[str] = (
        "Minimises a bound on 1 − average precision like AP-SVM, and encourages neighbours to share a label."
    )
    objective: ClassVar[str] = (
        r"\tfrac12\|w\|^2 + C\max_R\bigl[\Delta_{\text{AP}}(R) - S(R^*;w) + S(R;w)\bigr],\quad "
        + AttractivePairs.constraint
    )

    start: str = setting(
        "HOB-SVM",
        label="Start from",
        help="The objective is not convex, so the result depends on the start. HOB-SVM is the paper's choice. HOB-SVM "
        "and AP-SVM is not in the paper: it trains from both and keeps the lower objective, which is at most that of "
        "AP-SVM with w2 = 0. It did not improve rankings: test AP −.006 on generated figures, +.005 on cards, .000 on "
        "helmets. The start is first scaled to the length with the lowest objective.",
        formula=r"w_0",
        choices=STARTS,
        advanced=True,
    )
    start_C: float = setting(
        1000.0,
        label="C of the HOB-SVM start",
        help="The cost of a misclassified image in the HOB-SVM that gives the first weights. Experiments use the same "
        "C for both, as in the paper, unless a grid contains this setting: that gave test AP +.012 (p = .10) on "
        "generated figures, +.001 on cards and .000 on helmets, for three times as many training runs.",
        formula=r"C_0",
        minimum=1e-8,
        maximum=1e8,
        log=True,
        usual=(1e-4, 1e6),
        advanced=True,
    )

    unit: str = cost_unit("the C of HOB-SVM")

    @classmethod
    def is_convex(cls, settings: GivenSettings) -> bool:
        return False

    def solve(self, samples: TrainingSet, on_progress: OnProgress | None, start: Start) -> Solution:
        ranking = by_query(
            lambda scores, relevant: ranking_cut(scores, relevant, AveragePrecision()), samples
        )
        neighbours = self.neighbours(samples)
        risk = self.risk_of(samples, ranking, neighbours)
        upper, clock = Surrogate(risk, neighbours, ranking), Clock(on_progress)
        objective_at_zero = risk.C * risk.oracle(np.zeros(len(samples.relevant))).loss

        def wait(_: ProgressEvent) -> None:
            clock.report(0, objective_at_zero, 0.0, 0)

        def descend(first: Floats, clock: Clock, left: int, alternative: Solution | None = None) -> Solution:
            planes = start.working_set if alternative is None else alternative.working_set
            weights = None if alternative is None else alternative.weights
            begin, stopped = upper.best_length(first, wait if left and start.weights is None else None)
            solution = cccp(
                upper.touching, begin, self.tolerance, 0 if stopped else left, clock, planes, weights
            )
            return replace(solution, stopped=stopped or solution.stopped)

        first, stopped, alternative = start.weights, False, None
        if first is None:
            first, stopped = self._first_weights(samples, wait, risk.shape[1])
        if self.start == BOTH and not stopped:
            unary, stopped = self._ap_weights(samples, wait, risk.shape[1])
            alternative = descend(unary, Clock(wait), 0 if stopped else self.max_iterations)
            stopped = alternative.stopped or stopped
        solution = descend(first, clock, 0 if stopped else self.max_iterations, alternative)
        return replace(solution, stopped=stopped or solution.stopped)

    def _first_weights(self, samples: TrainingSet, wait: OnProgress, size: int) -> tuple[Floats, bool]:
        """Return the first weights (size,), and whether a callback stopped training."""
        if self.start == "zero":
            return np.zeros(size), False
        if self.start == "AP-SVM":
            return self._ap_weights(samples, wait, size)
        hob = HOBSVM(
            C=self.start_C,
            unit=self.unit,
            eta=self.eta,
            potentials=self.potentials,
            tolerance=START_TOLERANCE,
            max_iterations=self.max_iterations,
        )
        solution = hob.solve(samples, wait, Start())
        return solution.weights, solution.stopped

    def _ap_weights(self, samples: TrainingSet, wait: OnProgress, size: int) -> tuple[Floats, bool]:
        """Return the weights (size,) of AP-SVM with w2 = 0, and whether a callback stopped training."""
        # With w2 = 0 no objective is lower by more than the tolerance.
        ap = APSVM(C=2.0 * self.C, tolerance=self.tolerance, max_iterations=self.max_iterations)
        solution, weights = ap.solve(samples, wait, Start()), np.zeros(size)
        weights[: len(solution.weights)] = solution.weights / SCALE
        return weights, solution.stopped


@dataclass(frozen=True, eq=False)
class Surrogate:
    """Convex risks above eq. 14 (Propositions 3 to 5)."""

    risk: LinearRisk
    neighbours: Neighbours
    # scores to the most violated ranking as a cut
    ranking: Callable[[Floats], Cut]

    def touching(self, weights: Floats) -> UpperBound:
        """Return the bound that touches at `weights`: the labellings of g are fixed there (Proposition 4)."""
        scores = self.risk.exact_scores(weights)
        fixed = self.neighbours.max_marginals(scores)
        risk = FixedRisk(
            self.risk.features,
            self.risk.C,
            self._most_violated,
            self.risk.pairwise,
            self.risk.highest,
            fixed=fixed,
            neighbours=self.neighbours,
        )
        return UpperBound(risk, Point.of(risk, weights, risk.with_fixed(scores)), risk.translate)

    def best_length(self, weights: Floats, wait: OnProgress | None = None) -> tuple[Floats, bool]:
        """Return t w for the t >= 0 with the least objective, and whether a callback stopped training."""
        # A convex problem of one weight, as s(t w) = t s(w). The search begins at t = 1, so that the
        # objective does not rise, and ends after RAY_STEPS where rounding prevents progress. wait: is called
        # in between.
        length = float(np.linalg.norm(weights))
        if length == 0.0:
            return weights, False
        along = self.neighbours.max_marginals(self.risk.exact_scores(weights)).difference / length
        ray = LinearRisk(Block(along[:, np.newaxis]), self.risk.C, self.ranking)
        solution = cutting_plane(ray, RAY_TOLERANCE, RAY_STEPS, wait, start=np.array([length]))
        return (max(float(solution.weights[0]), 0.0) / length) * weights, solution.stopped

    def _most_violated(self, scores: Floats) -> Cut:
        """Return the most violated ranking of the upper bounds (Proposition 5), with labellings, as a cut."""
        # The score of a sample is the best value with its incorrect class minus the value of the fixed
        # labelling of its true class.
        scores, fixed = np.split(scores, [len(scores) - len(self.neighbours.relevant)])
        unary, penalty = self.neighbours.split(scores)
        relevant = self.neighbours.relevant
        marginals = self.neighbours.max_marginals(scores)
        excess = marginals.values(~relevant, unary, penalty) + fixed
        cut = self.ranking(np.where(relevant, -excess, excess))
        weights = np.abs(cut.coefficients)
        return Cut(np.concatenate([*marginals.sums(~relevant, weights), weights]), cut.loss)


@dataclass(frozen=True, eq=False)
class FixedRisk(LinearRisk):
    """A bound on eq. 14 with one more score per sample: minus the value of the fixed labelling."""

    # The fixed labelling is that of the sample's true class. Scores and coefficients are (n + m + n,):
    # samples, edges, and samples again. So a cut, a ranking with labellings of the incorrect classes, is one
    # of every bound: only the meaning of the last scores differs.

    fixed: MaxMarginals = field(kw_only=True)
    neighbours: Neighbours = field(kw_only=True)

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = super().shape
        return rows + self.samples, columns

    def scores(self, weights: Floats) -> Floats:
        return self.with_fixed(super().scores(weights))

    def exact_scores(self, weights: Floats) -> Floats:
        return self.with_fixed(super().exact_scores(weights))

    def normal(self, coefficients: Floats) -> Floats:
        return super().normal(self._without_fixed(coefficients))

    def exact_normal(self, coefficients: Floats) -> Floats:
        return super().exact_normal(self._without_fixed(coefficients))

    def total_length(self, coefficients: Floats) -> float:
        return super().total_length(self._without_fixed(coefficients))

    def translate(self, planes: WorkingSet) -> WorkingSet:
        """Return planes of another bound as planes of this one."""
        return WorkingSet(planes.coefficients, planes.losses, self.normal(planes.coefficients))

    def with_fixed(self, scores: Floats) -> Floats:
        """Return scores (n + m,) of samples and edges, followed by those of the fixed labellings."""
        unary, penalty = np.split(scores, [self.samples])
        return np.append(scores, -self.fixed.values(self.neighbours.relevant, unary, penalty))

    def _without_fixed(self, coefficients: Floats) -> Floats:
        """Return coefficients (n + m,) of samples and edges only, or a row for each row of coefficients."""
        if coefficients.ndim == 2:
            return np.stack([self._without_fixed(row) for row in coefficients])
        own, weights = np.split(coefficients, [-self.samples])
        difference: Floats = own - np.concatenate(self.fixed.sums(self.neighbours.relevant, weights))
        return difference
