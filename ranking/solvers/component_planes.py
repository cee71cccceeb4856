"""Cutting planes for each connected component of samples, where one-slack cutting planes have one for all.

The risk of HOB-SVM (high-order, eq. 8) is a sum over components: each has its own slack, and a call of the oracle
gives a plane for each. So the model fits the risk after far fewer calls, at the price of a quadratic program with
thousands of planes,

    max_alpha  sum_j alpha_j Delta_j - 1/2 ||N1' alpha||^2 - 1/2 ||max(0, N2' alpha)||^2,
    alpha >= 0,  sum of alpha over the planes of a component <= C.

It is solved only as far as the current gap requires: by steps within one component at a time, which find the planes
that carry weight, and by Newton steps over those.
"""

from __future__ import annotations

import numba as nb
import numpy as np
from scipy import linalg, sparse

from ranking.core import Bools, Features, Floats, Ints, OnProgress, StopTraining
from ranking.inference import Components
from ranking.solvers.clock import Clock, stalled
from ranking.solvers.line import Line, Point
from ranking.solvers.risk import UNKNOWN, Cut, LinearRisk, Solution, certified
from ranking.solvers.simplex_qp import best_step

# slacks at most; more components share them
GROUPS = 1000
# of the gap: the accuracy of the program over the planes
CLOSE = 0.1
# of steps in the program at most, before new planes are added
ROUNDS = 50
# over the groups, between two Newton steps; twice as many where those gain little
SWEEPS = 5
MAX_SWEEPS = 100
# oracle calls on a line at most
TRIALS = 5
# as for cutting planes
SAFETY = 0.9
# times its loss: by how much a new plane must exceed the existing ones
MARGIN = 1e-9
# iterations that must halve the gap; where planes nearly cancel, one-slack cutting planes are faster
SLOW = 8
# Newton steps at a time; after each, planes leave or groups reach C
NEWTON = 10
# times C: a group with less left has reached C
ROUNDING = 1e-9
# of the curvature, which makes a Newton step definite
RIDGE = 1e-12


def component_planes(
    risk: LinearRisk,
    costs: Floats,
    components: Components,
    tolerance: float = 1e-3,
    max_iterations: int = 10_000,
    on_progress: OnProgress | None = None,
    weights: Floats | None = None,
    coefficients: Floats = UNKNOWN,
) -> Solution:
    """Minimise `risk`, whose oracle labels samples, until primal - dual <= tolerance x primal.

    costs: (n,) the cost of each incorrect label. components: of the edges that the rows of `risk.pairwise` belong to.
    weights: (d + d2,) to begin at, 0 by default; of any run. coefficients: (n,) theirs. Ends early where progress
    stalls.
    """
    clock = Clock(on_progress)
    planes = _Planes(risk, costs, components.of_score % GROUPS)
    size = risk.shape[1]
    origin = np.zeros(size) if weights is None else weights
    known = np.zeros(risk.samples) if weights is None else coefficients
    best = Point.of(risk, origin, risk.exact_scores(origin), known)
    planes.add(best.cut.coefficients, best.scores)
    iteration, stopped = 0, False
    gaps: list[float] = []
    try:
        while True:
            clock.report(
                iteration,
                best.objective,
                planes.bound,
                2 * iteration,
                len(planes.losses),
                weights=best.weights,
            )
            gaps.append(best.objective - planes.bound)
            closed = gaps[-1] <= SAFETY * tolerance * best.objective and (
                iteration > 0 or weights is not None
            )
            if closed or stalled(gaps, SLOW) or iteration >= max_iterations:
                break
            planes.solve(CLOSE * gaps[-1])
            scores = risk.exact_scores(planes.weights)
            line = Line(risk, best, planes.weights, scores, -planes.dual.coefficients[: risk.samples])
            _, best = line.search(1.0, 0.05 * (best.objective - planes.bound), TRIALS)
            planes.add(risk.oracle(scores).coefficients, scores)
            iteration += 1
    except StopTraining:
        # the result so far is returned, with the certificate of its gap
        stopped = True
    certificate = certified(risk, best.weights, planes.dual, tolerance, iteration, clock.seconds)
    return Solution(best.weights, planes.dual, certificate, stopped=stopped, coefficients=best.coefficients)


class _Planes:
    """The planes so far, their multipliers, and the bound that these prove."""

    def __init__(self, risk: LinearRisk, costs: Floats, group: Ints) -> None:
        samples, size = risk.shape
        # group: (n + m,) of each score
        self.risk, self.group = risk, group
        self.costs = np.append(costs, np.zeros(samples - len(costs)))
        # (p, n + m) of labels, sparse
        self.changes = sparse.csr_array((0, samples))
        # losses, owner, shares: (p,) the loss, the group and the multiplier of each plane
        self.losses, self.shares = np.empty(0), np.empty(0)
        self.owner = np.empty(0, np.int64)
        # free, bound_part: (p, d) and (p, d2) its normal
        self.free, self.bound_part = np.empty((0, risk.free)), np.empty((0, size - risk.free))
        # which bound weights are below their bound
        self.counted = np.zeros(size - risk.free, bool)
        # of the normals, of their bound parts the counted columns
        self.gram = np.empty((0, 0))
        self.settle()

    @property
    def weights(self) -> Floats:
        return self.risk.least(np.concatenate([self.shares @ self.free, self.shares @ self.bound_part]))

    @property
    def dual(self) -> Cut:
        """The combination of cuts that attains the bound."""
        return Cut(self.changes.T @ self.shares, float(self.shares @ self.losses))

    def settle(self) -> None:
        """Compute the bound and which columns count at the multipliers, and update the Gram matrix."""
        weights = self.weights
        self.bound = float(self.shares @ self.losses) - 0.5 * float(weights @ weights)
        counted = weights[self.risk.free :] < 0.0
        for columns, sign in ((counted & ~self.counted, 1.0), (self.counted & ~counted, -1.0)):
            if columns.any():
                part = self.bound_part[:, columns]
                self.gram += sign * (part @ part.T)
        self.counted = counted

    def add(self, coefficients: Floats, scores: Floats) -> None:
        """Add the plane of each group in which the labelling loses more at `scores` than any plane so far."""
        rows = self.risk.shape[0]
        nonzero = np.flatnonzero(coefficients)
        owners, row = np.unique(self.group[nonzero], return_inverse=True)
        changes = sparse.csr_array((coefficients[nonzero], (row, nonzero)), shape=(len(owners), rows))
        losses = abs(changes) @ self.costs
        new = (
            losses + changes @ scores
            > self._highest(self.losses - self.gram @ self.shares)[owners] + MARGIN * losses
        )
        changes, owners = changes[np.flatnonzero(new)], owners[new]
        count = self.risk.samples
        dense = [_rows(changes[:, :count], self.risk.features.rows, self.risk.features.scale)]
        if self.risk.pairwise is not None:
            dense.append(_rows(changes[:, count:], self.risk.pairwise.features, self.risk.pairwise.scale))
        normals = np.hstack(dense)
        free, bound = normals[:, : self.risk.free], normals[:, self.risk.free :]
        counted = bound * self.counted
        across = self.free @ free.T + self.bound_part @ counted.T
        inside = free @ free.T + bound @ counted.T
        self.gram = np.block([[self.gram, across], [across.T, inside]])
        self.changes = sparse.vstack([self.changes, changes], format="csr")
        self.losses = np.append(self.losses, losses[new])
        self.owner = np.append(self.owner, owners)
        self.shares = np.append(self.shares, np.zeros(len(owners)))
        self.free, self.bound_part = np.vstack([self.free, free]), np.vstack([self.bound_part, bound])

    def solve(self, close: float) -> None:
        """Raise the bound until the program gains at most `close`; drop the planes without weight."""
        sweeps, missing = SWEEPS, np.inf
        for _ in range(ROUNDS):
            slopes = self.losses - self.gram @ self.shares
            before, missing = missing, self._missing(slopes)
            if missing <= close:
                break
            sweeps = min(2 * sweeps, MAX_SWEEPS) if missing > 0.5 * before else SWEEPS
            shares = self.shares.copy()
            starts, order = self._by_group()
            _ascend(self.gram, slopes, shares, order, starts, self.risk.C, sweeps)
            self._move(shares)
            self._move(self._newton())
        self._restrict(self.shares > 0)

    def _missing(self, slopes: Floats) -> float:
        """Return the gap of the program: the model's primal objective minus the bound."""
        return float(self.risk.C * self._highest(slopes).sum() - slopes @ self.shares)

    def _highest(self, slopes: Floats) -> Floats:
        highest = np.zeros(GROUPS)
        np.maximum.at(highest, self.owner, slopes)
        return highest

    def _by_group(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.owner, kind="stable")
        return np.append(0, np.cumsum(np.bincount(self.owner, minlength=GROUPS))), order

    def _move(self, shares: Floats) -> None:
        """Move to the best point on the way to `shares`, also where other columns begin to count on it."""
        direction = shares - self.shares
        current, change = self.shares @ self.free, direction @ self.free
        slope = float(self.losses @ direction - current @ change)
        step = best_step(
            slope, float(change @ change), self.shares @ self.bound_part, direction @ self.bound_part
        )
        self.shares = np.maximum(self.shares + step * direction, 0.0)
        self.settle()

    def _newton(self) -> Floats:
        """Return the optimum over the planes with weight, without those of a negative multiplier."""
        # Planes that would get a negative multiplier are dropped. Groups that use all of C continue to use
        # it, as do groups that would use more.
        C = self.risk.C
        active = self.shares > 0
        full = np.bincount(self.owner, self.shares, GROUPS) >= C * (1.0 - ROUNDING)
        for _ in range(NEWTON):
            shares = _face_optimum(
                self.gram, self.losses, self.shares, active, full[self.owner], self.owner, C
            )
            over = np.bincount(self.owner, shares, GROUPS) > C * (1.0 + ROUNDING)
            if not (shares < 0).any() and not over.any():
                break
            active &= shares >= 0
            full |= over
        shares = np.maximum(shares, 0.0)
        return shares / np.maximum(np.bincount(self.owner, shares, GROUPS) / C, 1.0)[self.owner]

    def _restrict(self, kept: Bools) -> None:
        if not kept.all():
            self.changes, self.gram = self.changes[np.flatnonzero(kept)], self.gram[np.ix_(kept, kept)]
            self.losses, self.shares, self.owner = self.losses[kept], self.shares[kept], self.owner[kept]
            self.free, self.bound_part = self.free[kept], self.bound_part[kept]


def _face_optimum(
    gram: Floats, losses: Floats, shares: Floats, active: Bools, full: Bools, owner: Ints, C: float
) -> Floats:
    """Return the best multipliers, of either sign, of active planes, where full groups use all of C."""
    # In a full group the plane with the largest share takes the remainder.
    heaviest = np.full(GROUPS, -1)
    rising = np.argsort(np.where(active, shares, -1.0), kind="stable")
    heaviest[owner[rising]] = rising
    rest = full & active & (heaviest[owner] == np.arange(len(owner)))
    best = np.where(rest, C, 0.0)
    moving = np.flatnonzero(active & ~rest)
    if not len(moving):
        return best
    tied = full[moving]
    opposite = heaviest[owner[moving]]
    slopes = losses - gram[:, rest] @ best[rest]
    cross = gram[np.ix_(moving, opposite)] * tied
    square = gram[np.ix_(moving, moving)] - cross - cross.T
    square += gram[np.ix_(opposite, opposite)] * np.outer(tied, tied)
    square.flat[:: len(moving) + 1] += RIDGE * float(square.diagonal().max()) + np.finfo(float).tiny
    rise = slopes[moving] - slopes[opposite] * tied
    try:
        step = linalg.cho_solve(linalg.cho_factor(square, check_finite=False), rise, check_finite=False)
    except linalg.LinAlgError:
        # planes cancel up to rounding: leave it to the steps within groups
        return shares
    best[moving] = step
    np.subtract.at(best, opposite[tied], step[tied])
    return best


@nb.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _ascend(
    gram: Floats, slopes: Floats, shares: Floats, order: Ints, starts: Ints, C: float, sweeps: int
) -> None:
    """Move weight in each group from its worst plane with weight to its best; changes shares and slopes."""
    # The worst and the best have the least and the largest slope; the true labels count as a plane of slope
    # 0.
    for _ in range(sweeps):
        for group in range(len(starts) - 1):
            begin, end = starts[group], starts[group + 1]
            for _ in range(2 * (end - begin)):
                left = C
                for k in order[begin:end]:
                    left -= shares[k]
                # -1: the true labels, whose slope is 0
                up, down, highest = -1, -1, 0.0
                lowest = 0.0 if left > 1e-12 * C else np.inf
                for k in order[begin:end]:
                    if slopes[k] > highest:
                        up, highest = k, slopes[k]
                    if shares[k] > 0.0 and slopes[k] < lowest:
                        down, lowest = k, slopes[k]
                if up == down or highest - lowest <= 0.0:
                    break
                curvature = 0.0
                if up >= 0:
                    curvature += gram[up, up]
                if down >= 0:
                    curvature += gram[down, down]
                if up >= 0 and down >= 0:
                    curvature -= 2.0 * gram[up, down]
                spare = left if down < 0 else shares[down]
                step = spare
                if curvature * spare > highest - lowest:
                    step = (highest - lowest) / curvature
                if step <= 0.0:
                    break
                if up >= 0:
                    shares[up] += step
                    slopes -= step * gram[up]
                if down >= 0:
                    shares[down] = 0.0 if step == spare else shares[down] - step
                    slopes += step * gram[down]


def _rows(changes: sparse.csr_array, features: Features, scale: float) -> Floats:
    """Return scale x changes x features in float64."""
    used = np.unique(changes.indices)
    product: Floats = scale * (changes[:, used] @ features[used].astype(np.float64, copy=False))
    return product
