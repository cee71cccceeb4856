"""Block-coordinate Frank-Wolfe (Lacoste-Julien et al. 2013) for labellings of connected components.

    min_{v, w2 <= 0}  1/2 ||v||^2 + 1/2 ||w2||^2 + C max_Y [ Delta(Y) + scale (X v).(Y - Y*) + eta (A w2).(D - D*) ]

is the risk of HOB-SVM (high-order, eqs. 4 to 8): Y in {0, 1}^n, D says for each edge whether Y differs at its ends,
and Delta sums the costs of incorrect labels. The maximum is a sum over components. So the dual has, for each of them,
a combination of its labellings with total C; a step computes the most violated labelling of one component and moves
the combination towards it by the best step size. Two things are added.

- The labellings of a component that carry weight are kept: weight moves from the worst of them to the best.
- If eta is large, all edges together determine w2 and no single edge can change it: steps become tiny. In that case w2
  is held near its last value, which is the proximal point method,

      1/2 ||w2||^2 + rho/2 ||w2 - anchor||^2,   rho so large that an edge weighs no more than a sample does,

and the anchor follows w2 (with Nesterov's momentum). The lower bound on the problem itself is read off a copy of the
combination, after one round of steps without the anchor has settled the edges.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ranking.core import Bools, Floats, Ints, OnProgress, StopTraining, relative_gap
from ranking.core.errors import InputError
from ranking.inference import Components, best_labelling
from ranking.solvers.block import Block
from ranking.solvers.block_turns import ENUMERATED, descend, gain, score_positions
from ranking.solvers.clock import Clock, stalled
from ranking.solvers.line import Line, Point
from ranking.solvers.risk import UNKNOWN, Cut, LinearRisk, Solution, certified

# labellings stored per component; beyond that two are merged
SLOTS = 16
# between two measurements of the gap, each of which costs about two
SWEEPS = 4
# how many times less an edge weighs than a sample with the anchor
EASE = 10.0
MOMENTUM = 0.7
# the weights are stretched at most by this factor
LONGEST = 4.0
# oracle calls at most to find that factor
TRIALS = 25
# of the gap: the accuracy of that search
CLOSE = 0.01
# of the allowed gap: the most that skipped components may gain
AT_REST = 0.01
# rounding allowed in the shares of a start
FEASIBLE = 1e-6
# measurements that must halve the gap; otherwise cutting planes are faster
SLOW = 50
# as for cutting planes
SAFETY = 0.9


def block_frank_wolfe(
    risk: LinearRisk,
    relevant: Bools,
    costs: Floats,
    components: Components,
    tolerance: float = 1e-3,
    max_iterations: int = 10_000,
    on_progress: OnProgress | None = None,
    start: Cut | None = None,
    weights: Floats | None = None,
    seed: int = 0,
    coefficients: Floats = UNKNOWN,
) -> Solution:
    """Minimise `risk`, whose oracle labels samples, until primal - dual <= tolerance x primal.

    relevant: (n,) the true labels. costs: (n,) the cost of each incorrect one. components: of the edges that the rows
    of `risk.pairwise` belong to; without a pairwise block no edges. An iteration is one round of `SWEEPS` passes over
    the components that can move. start: the dual combination of another run on the same samples, at the same C or a
    smaller one; from a larger C multiply it by C / that. weights: (d + d2,) the best known, of any run. coefficients:
    (n,) theirs. Ends early where progress stalls. ValueError where shapes differ or `start` is of a larger C.
    """
    clock = Clock(on_progress)
    layout = _Layout.of(risk, relevant, costs, components)
    state = _State.at_start(risk, layout, start)
    generator = np.random.default_rng(seed)
    origin = best = Point.at_start(risk, None)
    if weights is not None:
        best = min(best, Point.at_start(risk, weights, coefficients), key=lambda point: point.objective)
    anchor, bound, proof = _Anchor.of(state), state.bound, state.dual
    iteration = passes = 0
    gaps: list[float] = []
    stopped = False
    try:
        while True:
            scores = risk.exact_scores(state.weights)
            # Near the optimum many margins are missed by little, which a large C makes expensive: stretch the weights.
            close = CLOSE * (best.objective - bound)
            combined = -LONGEST * state.dual.coefficients[: risk.samples]
            ray = Line(risk, origin, LONGEST * state.weights, LONGEST * scores, combined)
            best = min(best, ray.search(1.0 / LONGEST, close, TRIALS)[1], key=lambda point: point.objective)
            active = state.movable(scores, AT_REST * tolerance * best.objective)
            settled = anchor.settled(state, active, generator)
            if settled.bound > bound:
                bound, proof = settled.bound, settled.dual
            passes += 2
            used = int(np.sum(state.used))
            clock.report(iteration, best.objective, bound, passes, used, weights=best.weights)
            gaps.append(best.objective - bound)
            closed = relative_gap(best.objective, bound) <= SAFETY * tolerance
            if closed or stalled(gaps, SLOW) or iteration >= max_iterations:
                break
            for _ in range(SWEEPS):
                state.sweep(generator.permutation(active), anchor)
            state.refresh(anchor)
            anchor.follow(state.weights[risk.free :])
            iteration += 1
            passes += 2 + round(SWEEPS * len(active) / max(len(components), 1))
    except StopTraining:
        # the result so far is returned, with the certificate of its gap
        stopped = True
    certificate = certified(risk, best.weights, proof, tolerance, iteration, clock.seconds)
    return Solution(best.weights, proof, certificate, stopped=stopped, coefficients=best.coefficients)


class _Anchor:
    """Pairwise weights that w2 is held near, and how strongly; with rho = 0 not at all."""

    def __init__(self, weights: Floats, rho: float) -> None:
        self.weights, self.last, self.rho = weights, weights, rho

    @classmethod
    def of(cls, state: _State) -> Self:
        """Return an anchor at the state's weights; by rho an edge weighs `EASE` times less than a sample."""
        samples, edges = (block.lengths() ** 2 for block in state.blocks)
        weight = float(samples.mean()) if len(samples) else 0.0
        heavy = EASE * float(edges.mean()) / weight if len(edges) and weight > 0 else 0.0
        return cls(state.weights[state.risk.free :], max(heavy - 1.0, 0.0))

    def follow(self, weights: Floats) -> None:
        """Move to the latest pairwise weights, and further in the direction from those before."""
        self.weights = np.minimum(weights + MOMENTUM * (weights - self.last), 0.0)
        self.last = weights

    def settled(self, state: _State, active: Ints, generator: np.random.Generator) -> _State:
        """Return the state, its bound valid, after a round without the anchor over components with edges."""
        if self.rho == 0.0:
            return state
        free, copy = _Anchor(self.weights, 0.0), state.copy()
        copy.refresh(free)
        connected = active[state.layout.samples[active] > 1]
        all_connected = np.flatnonzero(state.layout.samples > 1)
        copy.sweep(generator.permutation(connected if len(connected) else all_connected), free)
        copy.refresh(free)
        return copy


@dataclass(frozen=True, eq=False)
class _Layout:
    """Samples and edges by position: component after component, in each its samples and then its edges."""

    # (c + 1,) first position of each component
    starts: Ints
    # (c,) number of samples
    samples: Ints
    # (n + m,) which score of the risk belongs to each position
    score: Ints
    # (n + m, 2) which samples of its component an edge joins
    ends: Ints
    # (n + m,) the true labels, and whether they differ
    truth: Bools
    # (n + m,) of an incorrect label, 0 at edges
    costs: Floats

    @classmethod
    def of(cls, risk: LinearRisk, relevant: Bools, costs: Floats, components: Components) -> Self:
        n, m = risk.samples, risk.shape[0] - risk.samples
        if risk.highest != 0.0:
            raise InputError(
                "highest of the risk", "pairwise weights <= 0", float(risk.highest), "take cutting planes"
            )
        if (components.samples, len(components.edges)) != (n, m):
            raise InputError(
                "components",
                f"the components of the risk's {n} samples and {m} edges",
                f"{components.samples} samples and {len(components.edges)} edges",
                "take Components.of(n, edges)",
            )
        for name, array in (("relevant", relevant), ("costs", costs)):
            if array.shape != (n,):
                raise InputError(name, f"the shape ({n},), one per sample", array.shape)
        sizes, edges = components.sizes, np.diff(components.edge_starts)
        number = np.arange(len(components))
        component_of = np.concatenate([np.repeat(number, sizes), np.repeat(number, edges)])
        order = np.argsort(component_of, kind="stable")
        first = np.repeat(components.starts[:-1], edges)
        ends = np.concatenate([np.zeros((n, 2), np.int64), components.ends - first[:, None]])
        labels = relevant.astype(bool)
        differ = labels[components.edges[:, 0]] != labels[components.edges[:, 1]]
        score = np.concatenate([components.order, n + components.edge_order])[order]
        return cls(
            starts=np.append(0, np.cumsum(sizes + edges)),
            samples=sizes,
            score=score,
            ends=ends[order],
            truth=np.concatenate([labels, differ])[score],
            costs=np.concatenate([costs, np.zeros(m)])[score],
        )

    @property
    def component(self) -> Ints:
        """(n + m,) number of the component of each position."""
        return np.repeat(np.arange(len(self.samples)), np.diff(self.starts))


@dataclass(eq=False)
class _State:
    """The dual: for each component its planes and their multipliers, and the weights that they imply."""

    risk: LinearRisk
    layout: _Layout
    # (SLOTS, n + m) by position, labelling - truth
    planes: Floats
    # losses, shares: (SLOTS, c) the loss and the multiplier of each plane
    losses: Floats
    shares: Floats
    # (c,) how many slots hold planes
    used: Ints

    @classmethod
    def at_start(cls, risk: LinearRisk, layout: _Layout, start: Cut | None) -> Self:
        """Return all weight on the true labels or on the combination `start`, a plane per component."""
        positions, count = len(layout.score), len(layout.samples)
        planes = np.zeros((SLOTS, positions))
        losses, shares = np.zeros((SLOTS, count)), np.zeros((SLOTS, count))
        shares[0] = risk.C
        state = cls(risk, layout, planes, losses, shares, np.ones(count, np.int64))
        if start is not None:
            planes[1] = _checked_plane(risk, layout, start)
            losses[1] = np.bincount(layout.component, layout.costs * np.abs(planes[1]), count)
            state.used[:] = 2
            shares[:2] = shares[1::-1]
        state.refresh(None)
        return state

    def copy(self) -> _State:
        """Return the same multipliers in new arrays; `refresh` computes its weights."""
        return replace(
            self,
            planes=self.planes.copy(),
            losses=self.losses.copy(),
            shares=self.shares.copy(),
            used=self.used.copy(),
        )

    @property
    def blocks(self) -> tuple[Block, Block]:
        """The risk's blocks; the second is empty where there is none."""
        # (d,) v
        unary = Block(self.risk.features.rows, self.risk.features.scale)
        return unary, Block(unary.rows[:0, :0]) if self.risk.pairwise is None else self.risk.pairwise

    @property
    def weights(self) -> Floats:
        return np.concatenate([self.unary, self.pairwise])

    def sweep(self, order: Ints, anchor: _Anchor) -> None:
        """Make the steps of each component in `order`; weights are updated incrementally until `refresh`."""
        self._hold(anchor)
        # pairwise: (d2,) w2
        layout, (unary, pairwise) = self.layout, self.blocks
        labels = np.zeros(len(layout.score), np.bool_)
        large = layout.samples[order] > ENUMERATED
        pull, shrink = anchor.rho * anchor.weights, 1.0 / (1.0 + anchor.rho)
        for turn in (*order[large][:, None], order[~large]):
            for number in turn[layout.samples[turn] > ENUMERATED]:
                self._label(number, labels)
            descend(
                turn, unary.features, pairwise.features, unary.scale, pairwise.scale,
                layout.starts, layout.samples, layout.score, layout.ends, layout.truth, layout.costs, labels,
                self.planes, self.losses, self.shares, self.used,
                self.unary, self.bare, self.pairwise, pull, shrink,
            )  # fmt: skip

    def _label(self, number: int, labels: Bools) -> None:
        """Write the most violated labelling of one large component, and where it differs."""
        layout, (unary, pairwise) = self.layout, self.blocks
        positions = slice(layout.starts[number], layout.starts[number + 1])
        size = layout.samples[number]
        scores = np.empty(positions.stop - positions.start)
        score_positions(
            layout.score[positions], unary.features, pairwise.features, unary.scale, pairwise.scale,
            self.unary, self.pairwise, scores,
        )  # fmt: skip
        ends, truth, costs = (
            layout.ends[positions][size:],
            layout.truth[positions][:size],
            layout.costs[positions][:size],
        )
        augmented = scores[:size] + np.where(truth, -costs, costs)
        best, _ = best_labelling(augmented, ends, np.minimum(scores[size:], 0.0))
        labels[positions] = np.concatenate([best, best[ends[:, 0]] != best[ends[:, 1]]])

    def refresh(self, anchor: _Anchor | None) -> None:
        """Compute the weights and the bound from the multipliers, so that rounding does not accumulate."""
        component, score = self.layout.component, self.layout.score
        coefficients = np.empty(len(score))
        coefficients[score] = np.einsum("jn,jn->n", self.shares[:, component], self.planes)
        self.dual = Cut(coefficients, float((self.shares * self.losses).sum()))
        unary, pairwise = self.blocks
        samples = self.risk.samples
        self.unary = -unary.exact_normal(coefficients[:samples])
        # (d2,) w2 before its bound applies
        self.bare = -pairwise.exact_normal(coefficients[samples:])
        self._hold(anchor)
        least = np.minimum(self.bare, 0.0)
        self.bound = self.dual.loss - 0.5 * float(self.unary @ self.unary) - 0.5 * float(least @ least)

    def _hold(self, anchor: _Anchor | None) -> None:
        rho = 0.0 if anchor is None else anchor.rho
        pull = 0.0 if anchor is None else rho * anchor.weights
        self.pairwise = np.minimum((self.bare + pull) / (1.0 + rho), 0.0)

    def movable(self, scores: Floats, allowed: float) -> Ints:
        """Return the components that can still gain; all others together gain less than `allowed`."""
        layout = self.layout
        worst = self.risk.oracle(scores).coefficients[layout.score]
        gains = np.empty(len(self.used))
        gain(
            scores[layout.score], worst, layout.costs, layout.starts,
            self.planes, self.losses, self.shares, self.used, gains,
        )  # fmt: skip
        return np.flatnonzero(self.risk.C * gains * len(gains) > allowed)


def _checked_plane(risk: LinearRisk, layout: _Layout, start: Cut) -> Floats:
    """Return `start` / C by position; ValueError unless it combines labellings of total C per component."""
    # Checked are conditions on the shares with which a sample has label 1 and an edge differs: the share of
    # an edge lies between the difference of its samples' shares and what their sum allows.
    if start.coefficients.shape != layout.score.shape:
        raise InputError(
            "start",
            f"{len(layout.score)} coefficients, one per sample and one per edge",
            start.coefficients.shape,
            "start only from a run on the same samples",
        )
    plane = start.coefficients[layout.score] / risk.C
    share = plane + layout.truth
    first = np.repeat(layout.starts[:-1], np.diff(layout.starts))
    edge = np.arange(len(plane)) - first >= np.repeat(layout.samples, np.diff(layout.starts))
    left, right = (share[first[edge] + layout.ends[edge, k]] for k in (0, 1))
    violations = [
        -share,
        share - 1.0,
        np.abs(left - right) - share[edge],
        share[edge] - np.minimum(left + right, 2 - left - right),
    ]
    if max(float(part.max(initial=0.0)) for part in violations) > FEASIBLE:
        raise InputError(
            "start",
            f"a combination of labellings of total C = {risk.C:g} for each component",
            remedy="multiply that of a larger C by C / that, and start only from a run on the same samples",
        )
    return plane
