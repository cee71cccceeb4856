"""CCCP on a difference of convex functions, where each bound is known."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from problems import Heard

from ranking.solvers import Cut, LinearRisk, Point, UpperBound, WorkingSet, cccp, cutting_plane
from ranking.solvers.block import Block
from ranking.solvers.clock import Clock


class Folded:
    """1/2 ||w||^2 + 3 max(0, max_k [loss_k + a_k.w] - |u.w|); its convex bound has u.w with a fixed sign."""

    def __init__(self, seed: int, translates: bool) -> None:
        rng = np.random.default_rng(seed)
        self.rows, self.losses = rng.normal(size=(40, 8)), rng.uniform(1, 2, 40)
        self.u, self.translates = 2 * rng.normal(size=8), translates
        self.offered: list[WorkingSet] = []

    # A cut takes one a_k minus u, whatever the sign: planes of one bound are planes of each.
    def __call__(self, weights: np.ndarray) -> UpperBound:
        sign = 1.0 if self.u @ weights >= 0 else -1.0

        def oracle(scores: np.ndarray) -> Cut:
            k = int(np.argmax(self.losses + scores[:40]))
            wrong = float(self.losses[k] + scores[k] - scores[40] > 0)
            return Cut(wrong * (np.eye(41)[k] - np.eye(41)[40]), wrong * self.losses[k])

        risk = LinearRisk(Block(np.vstack([self.rows, sign * self.u])), 3.0, oracle)
        point = Point.of(risk, weights, risk.exact_scores(weights))

        def translate(planes: WorkingSet) -> WorkingSet:
            self.offered.append(planes)
            return WorkingSet(planes.coefficients, planes.losses, risk.normal(planes.coefficients))

        return UpperBound(risk, point, translate) if self.translates else UpperBound(risk, point)

    def objective(self, w: np.ndarray) -> float:
        hinge = float((self.losses + self.rows @ w).max()) - abs(float(self.u @ w))
        return float(w @ w) / 2 + 3 * max(0.0, hinge)


START = np.full(8, 0.1)


@pytest.mark.parametrize("translates", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_rounds_gain_as_much_as_they_leave_and_reuse_planes_that_hold(seed: int, translates: bool) -> None:
    folded, events = Folded(seed, translates), Heard()
    solution = cccp(folded, START, 1e-5, clock=Clock(events))
    certificate, end = solution.certificate, folded(solution.weights)
    assert certificate.converged
    assert certificate.primal == pytest.approx(folded.objective(solution.weights), rel=1e-12)
    least = cutting_plane(end.risk, 1e-9).certificate
    assert certificate.dual <= least.primal * (1 + 1e-12)
    assert certificate.primal - least.dual <= 1e-5 * certificate.primal * (1 + 1e-6)
    first = {event.round: event for event in reversed(events)}
    last = {event.round: event for event in events}
    assert list(last) == list(range(1, len(last) + 1))
    assert len(last) >= 3
    for number in range(1, len(first)):
        gained = first[number].primal - last[number].primal
        assert gained >= last[number].primal - last[number].dual
        before = [event for event in events if event.round == number][:-1]
        # and go no further
        assert all(first[number].primal - e.primal < e.primal - e.dual for e in before)
    # Rounds are told as one training.
    rising = [(event.iteration, event.seconds, event.passes, -event.primal) for event in events]
    assert (np.diff(rising, axis=0) >= 0).all()
    assert (certificate.iterations, events[0].iteration) == (events[-1].iteration, 0)
    kept = [first[number].planes for number in range(2, len(first) + 1)]
    assert len(folded.offered) == translates * len(kept)
    assert (max(kept) > 1) == translates
    assert kept == [len(planes) + 1 for planes in folded.offered] or not translates


@pytest.mark.parametrize("translates", [False, True])
def test_the_end_is_the_best_point_that_was_reported_however_training_ends(translates: bool) -> None:
    """It begins near the optimum, so that a round proves that no more is gained before it gains much."""
    for seed in range(6):
        near = 1.03 * cccp(Folded(seed, True), START, 1e-9).weights
        events = Heard()
        solutions = [(events, cccp(Folded(seed, translates), near, 0.3, clock=Clock(events)))]
        for number in range(1, len(events)):
            stopped = Heard(lambda heard: len(heard) == number)  # noqa: B023
            solutions.append((stopped, cccp(Folded(seed, translates), near, 0.3, clock=Clock(stopped))))
            few = Heard()
            solutions.append((few, cccp(Folded(seed, translates), near, 0.3, number, Clock(few))))
        for reported, solution in solutions:
            folded = Folded(seed, translates)
            reached = min(folded.objective(event.weights) for event in reported if event.weights is not None)
            assert folded.objective(solution.weights) <= reached * (1 + 1e-12), seed
            assert solution.certificate.primal == pytest.approx(folded.objective(solution.weights), rel=1e-12)


def test_training_ends_in_any_round_where_it_is_stopped_or_its_iterations_run_out() -> None:
    for number in (1, 2, 3):
        events = Heard(lambda heard: heard[-1].round == number)  # noqa: B023
        solution = cccp(Folded(0, True), START, 1e-5, clock=Clock(events))
        assert (solution.stopped, solution.certificate.converged) == (True, False)
        assert [event.round for event in events].count(number) == 1
        assert solution.certificate.iterations == events[-1].iteration
    for most in range(5):
        solution = cccp(Folded(0, False), START, 1e-7, max_iterations=most)
        assert (solution.certificate.iterations, solution.stopped) == (most, False)
        assert solution.certificate.dual <= solution.certificate.primal


def test_the_descent_continues_from_other_weights_where_they_are_better_than_its_end() -> None:
    jumps = 0
    for seed in range(8):
        folded = Folded(seed, True)
        low, high = sorted(
            (cccp(folded, start, 1e-5) for start in (START, -START)), key=lambda end: end.certificate.primal
        )
        unequal = low.certificate.primal < high.certificate.primal * (1 - 1e-3)
        jumps += unequal
        first = START if np.array_equal(high.weights, cccp(folded, START, 1e-5).weights) else -START
        for begin, alternative in ((first, low.weights), (-first, high.weights)):
            events = Heard()
            solution = cccp(folded, begin, 1e-5, clock=Clock(events), alternative=alternative)
            assert solution.certificate.converged
            assert solution.certificate.primal == pytest.approx(folded.objective(solution.weights), rel=1e-12)
            assert solution.certificate.primal <= low.certificate.primal * (1 + 2e-5), seed
            assert solution.certificate.iterations == events[-1].iteration
            assert (np.diff([event.primal for event in events]) <= 0).all()
        at_once = cccp(folded, first, 1e-5, max_iterations=0, alternative=low.weights)
        assert at_once.certificate.primal <= low.certificate.primal, "even without iterations"
    assert jumps >= 2


def test_planes_of_another_run_prove_what_it_proved() -> None:
    first = cccp(Folded(0, True), START, 1e-5)
    again = cccp(Folded(0, True), first.weights, 1e-5, working_set=first.working_set)
    assert again.certificate.iterations == 0 < first.certificate.iterations
    assert again.certificate.converged


def test_a_round_that_leads_to_nothing_better_is_not_followed() -> None:
    """Where the exact objective disagrees with what the search saw, training stays and proves what it can."""
    folded, seen = Folded(1, False), list[np.ndarray]()

    def worse(weights: np.ndarray) -> UpperBound:
        bound, extra = folded(weights), 100.0 * bool(seen)
        seen.append(weights)
        point = dataclasses.replace(bound.point, objective=bound.point.objective + extra)
        return UpperBound(bound.risk, point)

    solution = cccp(worse, START, 1e-5, max_iterations=1000)
    # One where it began, one when it had gained enough, one when there was no more to gain.
    assert len(seen) == 3
    np.testing.assert_array_equal(solution.weights, START)
    assert solution.certificate.primal == pytest.approx(folded.objective(START), rel=1e-12)
    least = cutting_plane(folded(START).risk, 1e-9).certificate
    assert solution.certificate.dual == pytest.approx(least.dual, rel=1e-4)
    assert not solution.certificate.converged


@dataclasses.dataclass(frozen=True, eq=False)
class Hiding(LinearRisk):
    """A risk of whose gap single precision hides a share of the objective; it remembers who asked for the exact one."""

    share: float = dataclasses.field(kw_only=True)
    exact_gaps: list[float] = dataclasses.field(kw_only=True)

    def certify(self, weights: np.ndarray, dual: Cut) -> tuple[float, float, float]:
        primal, bound, _ = super().certify(weights, dual)
        self.exact_gaps.append(float((primal - bound) / primal))
        return primal, bound, self.share * primal


@pytest.mark.parametrize(
    ("tolerance", "share", "expected"),
    [
        # right below the tolerance a little that is hidden would be too much
        (0.83, 0.01, [0.542]),
        # after one that did not do it is not asked for at every step
        (0.95, 0.8, [0.827, 0.015]),
    ],
)
def test_the_exact_gap_is_computed_if_rounding_may_hide_little_enough_of_it(
    tolerance: float, share: float, expected: list[float]
) -> None:
    """In a round that begins at its end, and proves that it is one."""
    end = cccp(Folded(5, True), START, 1e-9).weights
    folded, exact_calls, events = Folded(5, False), list[float](), Heard()

    def hiding(weights: np.ndarray) -> UpperBound:
        bound = folded(weights)
        risk = Hiding(
            bound.risk.features, bound.risk.C, bound.risk.oracle, share=share, exact_gaps=exact_calls
        )
        return UpperBound(risk, bound.point)

    solution = cccp(hiding, end, tolerance, clock=Clock(events))
    assert solution.certificate.converged
    gaps = [float(1.0 - event.dual / solution.certificate.primal) for event in events]
    assert gaps[:3] == pytest.approx([1.0, 0.827, 0.542], abs=1e-3), "what the tolerances lie between"
    assert exact_calls == pytest.approx(expected, abs=1e-3)
