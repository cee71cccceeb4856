"""A solver with a duality gap for the convex form: planes per image, pairwise Frank-Wolfe steps.

A round computes the most violated output of every image, in a few threads, which also measures the gap exactly; the
outputs are kept as planes. Sweeps over the images then move shares from the worst plane with a share to the best,
each by the best step size: block-coordinate Frank-Wolfe (Lacoste-Julien et al. 2013) with pairwise steps, whose
oracle chooses among the stored planes. Before the round ends, the outputs of one batch of images after the other are
computed at the weights of that moment, and its shares moved. Where progress stalls because C is large, and there are
few weights, one-slack cutting planes finish the run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from ranking.core import Bools, Floats, Ints, ProgressEvent, StopTraining
from ranking.solvers.clock import Clock, stalled
from ranking.solvers.top_k_risk import TopKRisk, TopKSolution, TopKWeights
from ranking.solvers.weight_space import FEW_WEIGHTS, SLOW, planes_of_weights

# planes per image at first
SLOTS = 6
# over the stored planes, per round
MAX_SWEEPS = 20
# of the gap: sweeps end when the stored planes promise less
CLOSE = 0.3
# per round for the second outputs of all images, each at the weights of that moment
BATCHES = 16
# of shares at most per image and sweep
MOVES = 20
# of the promise of the first move: moves that promise less wait for the next sweep
ENOUGH = 0.1
# times the tolerance, because the gap is recomputed
SAFETY = 0.9
# rounds without a change of either bound: the rest of the gap is rounding
STANDSTILL = 30


@dataclass(eq=False)
class Planes:
    """The outputs of each image and their shares."""

    # (M, S, L)
    outputs: Bools
    # (M, S), rows sum to 1
    shares: Floats
    # (M,)
    used: Ints

    @classmethod
    def at_truth(cls, risk: TopKRisk) -> Planes:
        """Return all shares on the outputs of least loss, which imply weights 0."""
        images, labels = risk.truth.shape
        outputs = np.zeros((images, SLOTS, labels), np.bool_)
        outputs[:, 0] = risk.truth
        shares = np.zeros((images, SLOTS))
        shares[:, 0] = 1.0
        return cls(outputs, shares, np.ones(images, np.int64))

    def add(self, rows: Ints, outputs: Bools) -> None:
        """Store outputs (n, L) of the images `rows` where they are new, in more slots if none is free."""
        while _store(rows, outputs, self.outputs, self.shares, self.used):
            self.outputs = np.concatenate([self.outputs, np.zeros_like(self.outputs)], axis=1)
            self.shares = np.concatenate([self.shares, np.zeros_like(self.shares)], axis=1)

    def sweep(self, risk: TopKRisk, weights: TopKWeights, order: Ints) -> float:
        """Move each image's shares in `order`, update the weights; return what the first moves promised."""
        squares = np.einsum("mp,mp->m", risk.shared, risk.shared)
        promise = _sweep(
            order, risk.shared, risk.own, squares, risk.costs, risk.core, risk.once, risk.scale, *weights,
            self.outputs, self.shares, self.used,
        )  # fmt: skip
        return risk.scale * float(promise)

    def settle(self, risk: TopKRisk) -> tuple[TopKWeights, float]:
        """Return the weights that the shares imply, and the dual there, both from their definitions."""
        self.shares /= self.shares.sum(axis=1, keepdims=True)
        mean = np.einsum("ms,msl->ml", self.shares, self.outputs)
        held = self.shares > 0.0
        weights = risk.least(mean, risk.pairs(self.outputs[held], self.shares[held]))
        return weights, risk.scale * float(np.vdot(risk.costs, mean)) - 0.5 * risk.square(weights)


def top_k_planes(
    risk: TopKRisk,
    tolerance: float = 1e-3,
    max_iterations: int = 1000,
    clock: Clock | None = None,
    start: TopKWeights | None = None,
    planes: Planes | None = None,
    number: int = 0,
) -> TopKSolution:
    """Minimise `risk` until its `openness` is at most `tolerance`."""
    # The gap is recomputed from its definition at the end. start: weights at which outputs are computed
    # first. planes: of another risk on the same images, whatever its C and truth; they are changed in place.
    # An iteration is one round. number: of the round of CCCP, for the clock.
    clock = clock or Clock(None)
    planes = planes or Planes.at_truth(risk)
    few = risk.flat(risk.zero()).size <= FEW_WEIGHTS
    slow = SLOW if few else max_iterations
    solution = _by_shares(risk, tolerance, max_iterations, slow, clock, start, planes, number)
    left = max_iterations - solution.certificate.iterations
    if few and left > 0 and not (solution.certificate.converged or solution.stopped):
        return _by_one_slack(risk, solution, tolerance, left, clock, number)
    return solution


def _by_one_slack(
    risk: TopKRisk, solution: TopKSolution, tolerance: float, max_iterations: int, clock: Clock, number: int
) -> TopKSolution:
    """Minimise by one-slack cutting planes, starting from the result of moving shares."""
    before = solution.certificate
    # The gap that `openness` requires, as a share of the objective; the possible gain is at least the present one.
    share = risk.measure(before.primal, before.primal) / max(before.primal, 1e-300)

    def report(event: ProgressEvent) -> None:
        bounds = min(before.primal, event.primal), max(before.dual, event.dual)
        clock.report(before.iterations + event.iteration, *bounds, event.passes, event.planes, number)

    ended = planes_of_weights(
        lambda flat: risk.hinge(risk.shaped(flat)),
        risk.flat(solution.weights),
        1.0,
        tolerance * share,
        max_iterations,
        report,
    )
    iterations = before.iterations + ended.certificate.iterations
    bound = max(before.dual, ended.certificate.dual)
    weights = risk.shaped(ended.weights)
    certificate = risk.certified(weights, bound, tolerance, iterations, clock.seconds)
    return TopKSolution(weights, certificate, ended.stopped)


def _by_shares(
    risk: TopKRisk,
    tolerance: float,
    max_iterations: int,
    slow: int,
    clock: Clock,
    start: TopKWeights | None,
    planes: Planes,
    number: int,
) -> TopKSolution:
    """Minimise by moving shares, which ends early where `slow` rounds have not halved the gap."""
    generator = np.random.default_rng(0)
    weights, dual = planes.settle(risk)
    best, best_value, bound = weights, np.inf, dual
    iteration = still = passes = 0
    stopped = False
    gaps: list[float] = []
    point = weights if start is None else start
    try:
        while True:
            violated = risk.most_violated(point)
            value, before = risk.objective(point, violated), (best_value, bound)
            if value < best_value:
                best, best_value = TopKWeights(*(part.copy() for part in point)), value
            bound = max(bound, dual)
            passes += 2
            clock.report(iteration, best_value, bound, passes, int(planes.used.sum()), number)
            still = still + 1 if (best_value, bound) == before else 0
            closed = risk.openness(best_value, bound) <= SAFETY * tolerance and (
                iteration or start is not None
            )
            gaps.append(best_value - bound)
            if closed or iteration >= max_iterations or still >= STANDSTILL or stalled(gaps, slow):
                break
            sweeps = _move_shares(
                risk, planes, weights, violated.members, CLOSE * (best_value - bound), generator
            )
            weights, dual = planes.settle(risk)
            point = weights
            iteration += 1
            passes += 2 * sweeps + 3
    except StopTraining:
        # the result so far is returned, with the certificate of its gap
        stopped = True
    certificate = risk.certified(best, bound, tolerance, iteration, clock.seconds)
    return TopKSolution(best, certificate, stopped)


def _move_shares(
    risk: TopKRisk,
    planes: Planes,
    weights: TopKWeights,
    members: Bools,
    close: float,
    generator: np.random.Generator,
) -> int:
    """Add the most violated outputs of all images, and sweep until a sweep promises less than `close`; then once more,
    with new outputs before each part of the images. Return the number of sweeps before that."""
    images = np.arange(len(planes.used))
    planes.add(images, members)
    sweeps = 0
    promise = np.inf
    while sweeps < MAX_SWEEPS and promise > close:
        promise = planes.sweep(risk, weights, generator.permutation(images))
        sweeps += 1
    for rows in np.array_split(generator.permutation(images), BATCHES):
        planes.add(rows, risk.most_violated(weights, rows).members)
        planes.sweep(risk, weights, rows)
    return sweeps


# ---------------------------------------------------------------------------------------------------------
# Kernels
# ---------------------------------------------------------------------------------------------------------


@numba.njit(cache=True, nogil=True)
def _store(rows, outputs_of_rows, outputs, shares, used):  # type: ignore[no-untyped-def]
    """Write new outputs of `rows` into slots that are free or have no share; return how many had no room."""
    _, slots, labels = outputs.shape
    full = 0
    for n in range(len(rows)):
        m, is_known, free = rows[n], False, -1
        for r in range(used[m]):
            equal = True
            for i in range(labels):
                if outputs[m, r, i] != outputs_of_rows[n, i]:
                    equal = False
                    break
            is_known = is_known or equal
            if shares[m, r] == 0.0 and free < 0:
                free = r
        if is_known:
            continue
        if used[m] < slots:
            free = used[m]
            used[m] += 1
        if free < 0:
            full += 1
        else:
            outputs[m, free] = outputs_of_rows[n]
    return full


@numba.njit(cache=True, nogil=True)
def _value(s, core, once, F, t):  # type: ignore[no-untyped-def]
    """Return t's + t'Ft."""
    total = 0.0
    for i in range(len(s)):
        if t[i]:
            total += s[i]
    for j in range(len(core)):
        if t[core[j]]:
            for i in range(len(s)):
                if t[i]:
                    total += 2.0 * once[j, i] * F[j, i]
    return total


@numba.njit(cache=True, nogil=True)
def _curvature(square, y, core, once, to, off):  # type: ignore[no-untyped-def]
    """Return ||psi(to) - psi(off)||^2 of an image; square: the squared length of its features, y: (L,)."""
    total = 0.0
    for i in range(len(y)):
        if to[i] != off[i]:
            total += square + y[i] * y[i]
    for j in range(len(core)):
        if to[core[j]] or off[core[j]]:
            for i in range(len(y)):
                if (to[core[j]] and to[i]) != (off[core[j]] and off[i]):
                    total += 4.0 * once[j, i]
    return total


@numba.njit(cache=True, nogil=True)
def _move(step, x, y, square, core, once, to, off, W, a, F, s):  # type: ignore[no-untyped-def]
    """Subtract step x [psi(to) - psi(off)] from the weights, and from the scores s of this image."""
    for i in range(len(y)):
        if to[i] != off[i]:
            change = step if to[i] else -step
            for p in range(len(x)):
                W[i, p] -= change * x[p]
            a[i] -= change * y[i]
            s[i] -= change * (square + y[i] * y[i])
    for j in range(len(core)):
        if to[core[j]] or off[core[j]]:
            for i in range(len(y)):
                if once[j, i] > 0.0:
                    together = (1.0 if to[core[j]] and to[i] else 0.0) - (
                        1.0 if off[core[j]] and off[i] else 0.0
                    )
                    F[j, i] -= 2.0 * step * together


@numba.njit(cache=True, nogil=True)
def _sweep(order, X, Y, squares, costs, core, once, scale, W, a, F, outputs, shares, used):  # type: ignore[no-untyped-def]
    """Make pairwise Frank-Wolfe steps for each image in `order`; return the sum of their first gains."""
    promised = 0.0
    values = np.empty(outputs.shape[1])
    for m in order:
        if used[m] < 2:
            continue
        s = np.dot(W, X[m])
        for i in range(len(s)):
            s[i] += a[i] * Y[m, i] + costs[m, i]
        first = 0.0
        for turn in range(MOVES):
            to, off = 0, -1
            for r in range(used[m]):
                values[r] = _value(s, core, once, F, outputs[m, r])
                if values[r] > values[to]:
                    to = r
                if shares[m, r] > 0.0 and (off < 0 or values[r] < values[off]):
                    off = r
            promise = values[to] - values[off]
            if turn == 0:
                promised += promise
            first = max(first, promise)
            if (promise <= ENOUGH * first and turn > 0) or promise <= 0.0:
                break
            curvature = _curvature(squares[m], Y[m], core, once, outputs[m, to], outputs[m, off])
            step, limit = promise / (scale * curvature), shares[m, off]
            if step >= limit:
                step = limit
                shares[m, off] = 0.0
            else:
                shares[m, off] -= step
            shares[m, to] += step
            _move(
                scale * step, X[m], Y[m], squares[m], core, once, outputs[m, to], outputs[m, off], W, a, F, s
            )
    return promised
