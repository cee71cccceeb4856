"""Stochastic dual coordinate ascent (Shalev-Shwartz and Zhang 2013) for hinges of samples (midrank, eq. 4).

    min_theta  mu/2 ||theta||^2 + sum_i cost_i max(0, 1 - delta_i theta.psi_i),   psi_i = M (x_i1, ..., x_iL)

Subsequence i names L rows of one pool of features, and the (p, L) matrix M, the same for all, makes its p blocks of
psi from them (midrank, section 3.3), so that no psi is ever stored. The dual has one variable 0 <= alpha_i <= cost_i
per subsequence, theta = 1/mu sum_i alpha_i delta_i psi_i, and the bound sum_i alpha_i - mu/2 ||theta||^2. The ascent
keeps the weights of positions W = M'theta: (L, d).
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np

from ranking.core import (
    Certificate,
    Features,
    Floats,
    Ints,
    OnProgress,
    ProgressEvent,
    StopTraining,
    relative_gap,
)
from ranking.solvers.clock import Clock, stalled
from ranking.solvers.coordinate_descent import best_length
from ranking.solvers.risk import Cut
from ranking.solvers.weight_space import FEW_WEIGHTS, SLOW, planes_of_weights

# as for cutting planes
SAFETY = 0.9
# between two measurements of the gap
SWEEPS = 4


@dataclass(frozen=True, eq=False)
class PositionHinges:
    """The problem above."""

    # (n, d)
    features: Features
    # (m, L)
    rows: Ints
    # (p, L) M
    blocks: Floats
    # deltas, costs: (m,), costs > 0
    deltas: Floats
    costs: Floats
    mu: float
    # one more component of every psi, the same number for all; 0 for none. Its weight is regularised.
    constant: float = 0.0

    def margins(self, position_weights: Floats, level: float) -> Floats:
        """Return (m,) delta_i theta.psi_i, for weights of positions (L, d) and `level` of the constant."""
        table = self.features @ position_weights.T
        scores = table[self.rows, np.arange(self.rows.shape[1])].sum(axis=1)
        margins: Floats = self.deltas * (scores + self.constant * level)
        return margins

    def weights(self, alpha: Floats) -> tuple[Floats, float]:
        """Return theta (p, d) and the weight of the constant for dual variables, in float64."""
        table = np.zeros((len(self.features), self.rows.shape[1]))
        for position in range(self.rows.shape[1]):
            table[:, position] = np.bincount(self.rows[:, position], alpha * self.deltas, len(table))
        stacked = table.T @ self.features.astype(np.float64)
        return self.blocks @ stacked / self.mu, self.constant * float(alpha @ self.deltas) / self.mu

    def primal(self, theta: Floats, level: float) -> float:
        """Return the objective in float64, from the definition."""
        hinges = np.maximum(0.0, 1.0 - self.margins(self.blocks.T @ theta, level))
        return 0.5 * self.mu * (float(np.vdot(theta, theta)) + level**2) + float(self.costs @ hinges)

    def dual(self, alpha: Floats) -> float:
        """Return the lower bound for 0 <= alpha <= costs."""
        return self.bound(alpha, *self.weights(alpha))

    def bound(self, alpha: Floats, theta: Floats, level: float) -> float:
        """Return `dual` where the weights of alpha are known."""
        return float(alpha.sum()) - 0.5 * self.mu * (float(np.vdot(theta, theta)) + level**2)


@dataclass(frozen=True, eq=False)
class PositionWeights:
    """The weights of `PositionHinges`, and how training ended."""

    # (p, d)
    theta: Floats
    # the weight of the constant
    level: float
    certificate: Certificate
    # whether a callback stopped training
    stopped: bool


def sdca(
    problem: PositionHinges,
    tolerance: float = 1e-2,
    max_iterations: int = 1000,
    on_progress: OnProgress | None = None,
    seed: int = 0,
) -> PositionWeights:
    """Minimise `problem` to a relative gap, which is recomputed in float64 from the definition at the end."""
    # An iteration is SWEEPS passes over the subsequences that are not known to be at a bound. A small mu with
    # examples that cannot be separated takes many iterations: with few weights, cutting planes then take
    # over; with many, the certificate says whether the iterations were enough.
    clock = Clock(on_progress)
    few = problem.blocks.shape[0] * problem.features.shape[1] < FEW_WEIGHTS
    ascended = _ascended(problem, tolerance, max_iterations, SLOW if few else max_iterations, clock, seed)
    left = max_iterations - ascended.certificate.iterations
    if few and left > 0 and not (ascended.certificate.converged or ascended.stopped):
        return _by_planes(problem, ascended, tolerance, left, clock)
    return ascended


def _ascended(
    problem: PositionHinges, tolerance: float, max_iterations: int, slow: int, clock: Clock, seed: int
) -> PositionWeights:
    """Minimise by ascent, which ends early where `slow` iterations have not halved the gap."""
    work = problem if len(problem.features) >= problem.features.shape[1] else _turned(problem)
    ascent = _Ascent(work)
    generator = np.random.default_rng(seed)
    best, best_primal, bound = ascent.alpha, np.inf, -np.inf
    # theta, and the level of the constant
    weights = np.zeros(problem.blocks.shape[0] * problem.features.shape[1] + 1)
    iteration = passes = 0
    stopped = False
    gaps: list[float] = []
    try:
        while True:
            theta, level = work.weights(ascent.alpha)
            margins = work.margins(work.blocks.T @ theta, level)
            bound = max(bound, work.bound(ascent.alpha, theta, level))
            length, primal = _best_length(work, theta, level, margins)
            if primal < best_primal:
                best, best_primal = ascent.alpha.copy(), primal
                own = (theta, level) if work is problem else problem.weights(best)
                weights = length * _flat(*own)
            passes += 1
            clock.report(iteration, best_primal, bound, passes, weights=weights)
            gaps.append(best_primal - bound)
            closed = relative_gap(best_primal, bound) <= SAFETY * tolerance
            if closed or iteration >= max_iterations or stalled(gaps, slow):
                break
            passes += ascent.sweep(theta, level, margins, generator)
            iteration += 1
    except StopTraining:
        # what was reached so far is the result, and its certificate says how far that is
        stopped = True
    theta, level = weights[:-1].reshape(len(problem.blocks), -1), float(weights[-1])
    primal = problem.primal(theta, level)
    # they may cross by rounding
    dual = min(primal, max(problem.dual(ascent.alpha), problem.dual(best)))
    converged = relative_gap(primal, dual) <= tolerance
    certificate = Certificate(primal, dual, primal - dual, iteration, clock.seconds, converged)
    return PositionWeights(theta, level, certificate, stopped)


def _by_planes(
    problem: PositionHinges, ascended: PositionWeights, tolerance: float, max_iterations: int, clock: Clock
) -> PositionWeights:
    """Minimise by cutting planes, starting from the result of the ascent."""
    mu, before = problem.mu, ascended.certificate

    def split(weights: Floats) -> tuple[Floats, float]:
        return weights[:-1].reshape(ascended.theta.shape), float(weights[-1])

    def hinges(weights: Floats) -> Cut:
        theta, level = split(weights)
        missed = problem.costs * (problem.margins(problem.blocks.T @ theta, level) < 1.0)
        return Cut(-mu * _flat(*problem.weights(missed)), float(missed.sum()))

    def report(event: ProgressEvent) -> None:
        bounds = min(before.primal, mu * event.primal), max(before.dual, mu * event.dual)
        iteration = before.iterations + event.iteration
        clock.report(iteration, *bounds, event.passes, event.planes, weights=event.weights)

    start = _flat(ascended.theta, ascended.level)
    ended = planes_of_weights(hinges, start, 1.0 / mu, tolerance, max_iterations, report)
    theta, level = split(ended.weights)
    primal = problem.primal(theta, level)
    dual = min(primal, max(before.dual, mu * ended.certificate.dual))
    iterations = before.iterations + ended.certificate.iterations
    converged = relative_gap(primal, dual) <= tolerance
    certificate = Certificate(primal, dual, primal - dual, iterations, clock.seconds, converged)
    return PositionWeights(theta, level, certificate, ended.stopped)


def _flat(theta: Floats, level: float) -> Floats:
    return np.append(theta.ravel(), level)


def _best_length(
    problem: PositionHinges, theta: Floats, level: float, margins: Floats
) -> tuple[float, float]:
    """Return the t >= 0 with the least primal at t theta, and that primal."""
    length, value = best_length(_flat(theta, level), problem.costs * margins, problem.costs, 1.0 / problem.mu)
    return length, problem.mu * value


def _turned(problem: PositionHinges) -> PositionHinges:
    """Return the same problem for fewer samples than features, in coordinates of the space that they span."""
    # X = (QR)'. Inner products, and with them all dual variables, do not change; a pass costs L n instead of
    # L d.
    triangle: Floats = np.linalg.qr(problem.features.T.astype(np.float64), mode="r")  # type: ignore[assignment]
    return PositionHinges(
        np.ascontiguousarray(triangle.T),
        problem.rows,
        problem.blocks,
        problem.deltas,
        problem.costs,
        problem.mu,
        problem.constant,
    )


class _Ascent:
    """The dual variables, and one round of ascent."""

    def __init__(self, problem: PositionHinges) -> None:
        self.problem = problem
        self.features = np.ascontiguousarray(problem.features, np.float64)
        # K = M'M
        self.mixing = problem.blocks.T @ problem.blocks
        squares = _square_lengths(self.features, problem.rows, self.mixing) + problem.constant**2
        self.curvatures = problem.deltas**2 * squares / problem.mu
        # without features no margin is reached
        self.alpha = np.where(self.curvatures > 0, 0.0, problem.costs)

    def sweep(self, theta: Floats, level: float, margins: Floats, generator: np.random.Generator) -> int:
        """Ascend over the subsequences that can move, SWEEPS times in random order; return the passes."""
        problem = self.problem
        movable = (self.alpha > 0) | (margins < 1.0)
        movable &= (self.alpha < problem.costs) | (margins > 1.0)
        active = np.flatnonzero(movable & (self.curvatures > 0))
        position_weights, levels = np.ascontiguousarray(problem.blocks.T @ theta), np.array([level])
        for _ in range(SWEEPS):
            _ascend(
                self.features,
                problem.rows,
                generator.permutation(active),
                self.mixing,
                problem.deltas,
                problem.costs,
                self.curvatures,
                problem.mu,
                problem.constant,
                self.alpha,
                position_weights,
                levels,
            )
        return 1 + round(SWEEPS * len(active) / len(self.alpha))


@nb.njit(cache=True, nogil=True)
def _square_lengths(features: Floats, rows: Ints, mixing: Floats) -> Floats:
    """Return (m,) ||psi||^2 = sum_jk K_jk x_j.x_k."""
    lengths = np.zeros(len(rows))
    for i in range(len(rows)):
        for j in range(rows.shape[1]):
            for k in range(j + 1):
                if mixing[j, k] != 0.0:
                    product = 0.0
                    for c in range(features.shape[1]):
                        product += features[rows[i, j], c] * features[rows[i, k], c]
                    lengths[i] += (1.0 if j == k else 2.0) * mixing[j, k] * product
    return np.maximum(lengths, 0.0)


@nb.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _ascend(
    features: Floats,
    rows: Ints,
    order: Ints,
    mixing: Floats,
    deltas: Floats,
    costs: Floats,
    curvatures: Floats,
    mu: float,
    constant: float,
    alpha: Floats,
    position_weights: Floats,
    levels: Floats,
) -> None:
    """Maximise the dual along one variable after the other, and keep the weights up to date."""
    # They are the weights of positions and of the constant.
    length, columns = position_weights.shape
    for i in order:
        score = constant * levels[0]
        for k in range(length):
            row = rows[i, k]
            for c in range(columns):
                score += position_weights[k, c] * features[row, c]
        step = (1.0 - deltas[i] * score) / curvatures[i]
        updated = min(max(alpha[i] + step, 0.0), costs[i])
        change = (updated - alpha[i]) * deltas[i] / mu
        if change != 0.0:
            alpha[i] = updated
            levels[0] += change * constant
            for k in range(length):
                for j in range(length):
                    if mixing[k, j] != 0.0:
                        weight, row = change * mixing[k, j], rows[i, j]
                        for c in range(columns):
                            position_weights[k, c] += weight * features[row, c]
