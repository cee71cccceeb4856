"""CCCP on differences of convex functions of one weight whose minima are known in closed form."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from checks import case

from ranking import ProgressEvent, StopTraining
from ranking.optimise import Cut, LinearRisk, Point, UpperBound, WorkingSet, cccp, cutting_plane
from ranking.optimise.clock import Clock


def touching(risk: LinearRisk, weights: np.ndarray) -> UpperBound:
    return UpperBound(risk, Point.of(risk, weights, risk.exact_scores(weights)))


def value(risk: LinearRisk, w: float) -> float:
    weights = np.array([w])
    return Point.of(risk, weights, risk.exact_scores(weights)).objective


def steps(weights: np.ndarray) -> UpperBound:
    """1/2 w^2 + 20 max(0, 4 - w^2/4) from above, by w^2/4 >= a w/2 - a^2/4: least at |w| = 4, with 8.

    The bound that touches at a is least at 8/a + a/2: each round is a step of Newton towards the root of 16.
    """
    a = float(weights[0])

    def oracle(scores: np.ndarray) -> Cut:
        wrong = 4.0 + a * a / 4.0 - a / 2.0 * scores[0] > 0
        return Cut(np.array([-a / 2.0 if wrong else 0.0]), 4.0 + a * a / 4.0 if wrong else 0.0)

    return touching(LinearRisk(np.ones((1, 1)), 20.0, oracle), weights)


def smooth(w: float) -> float:
    return w * w / 2 + 20 * max(0.0, 4 - w * w / 4)


@pytest.mark.parametrize(("start", "end"), [(1.0, 4.0), (-1.0, -4.0), (9.0, 4.0), (-9.0, -4.0)])
def test_every_round_begins_where_the_last_one_ended_and_none_rises(start: float, end: float) -> None:
    begun: dict[int, float] = {}
    visited: list[float] = []

    def remember(weights: np.ndarray) -> UpperBound:
        visited.append(float(weights[0]))
        return steps(weights)

    def see(event: ProgressEvent) -> None:
        begun.setdefault(event.round, visited[-1])

    solution = cccp(remember, np.array([start]), tolerance=1e-6, clock=Clock(see))
    assert solution.weights == pytest.approx([end], abs=1e-3)
    assert solution.certificate.converged
    assert solution.certificate.primal == pytest.approx(smooth(float(solution.weights[0])), rel=1e-12)
    assert solution.certificate.primal == pytest.approx(8.0, rel=1e-4)
    path = [begun[number] for number in sorted(begun)]
    assert path[0] == start
    assert len(path) >= 3
    assert (np.diff([smooth(w) for w in path]) <= 0).all()
    for a, b in itertools.pairwise(path):
        risk = steps(np.array([a])).risk
        gained, least = smooth(a) - value(risk, b), value(risk, 8 / a + a / 2)
        assert gained >= value(risk, b) - least  # each round gains as much as it leaves, at the least


def test_a_start_where_the_slope_is_nothing_stays_there() -> None:
    """At w = 0 the objective is largest around, but no bound that touches there is lower elsewhere."""
    certificate = cccp(steps, np.array([0.0])).certificate
    assert (certificate.primal, certificate.converged) == (80.0, True)


def test_the_bounds_of_these_tests_touch_and_lie_above() -> None:
    for a, w in itertools.product(np.linspace(-6, 8, 15), repeat=2):
        assert value(steps(np.array([a])).risk, w) >= smooth(w) - 1e-12
        assert steps(np.array([w])).point.objective == pytest.approx(smooth(w), rel=1e-12)


def test_iterations_of_all_rounds_together_are_counted() -> None:
    for most in range(7):
        solution = cccp(steps, np.array([1.0]), tolerance=1e-7, max_iterations=most)
        assert (solution.certificate.iterations, solution.stopped) == (most, False)
        assert solution.certificate.dual <= solution.certificate.primal


def test_training_can_be_stopped_in_any_round() -> None:
    for number in (1, 2, 3):
        events: list[ProgressEvent] = []

        def stop(event: ProgressEvent, seen: list[ProgressEvent] = events, last: int = number) -> None:
            seen.append(event)
            if event.round == last:
                raise StopTraining

        solution = cccp(steps, np.array([1.0]), tolerance=1e-7, clock=Clock(stop))
        with case(number):
            assert (solution.stopped, solution.certificate.converged) == (True, False)
            assert [event.round for event in events].count(number) == 1
            assert events[-1].round == number
            assert solution.certificate.iterations == events[-1].iteration


def test_progress_of_all_rounds_is_that_of_one_training() -> None:
    events: list[ProgressEvent] = []
    solution = cccp(steps, np.array([1.0]), tolerance=1e-7, clock=Clock(events.append))
    for earlier, later in itertools.pairwise(events):
        assert later.iteration >= earlier.iteration
        assert later.seconds >= earlier.seconds
        assert later.passes >= earlier.passes
        assert later.primal <= earlier.primal
        assert later.round in (earlier.round, earlier.round + 1)
    assert events[0].round == 1
    assert events[-1].round > 2
    assert solution.certificate.seconds >= events[-1].seconds


class Folded:
    """1/2 ||w||^2 + 3 max(0, max_k [loss_k + a_k.w] - |u.w|): the bound that touches has u.w with its sign of there.

    A cut takes one a_k less u, whatever the sign: planes of one bound are planes of each.
    """

    def __init__(self, seed: int, keeps: bool) -> None:
        rng = np.random.default_rng(seed)
        self.rows, self.losses, self.u = (
            rng.normal(size=(40, 8)),
            rng.uniform(1, 2, 40),
            2 * rng.normal(size=8),
        )
        self.keeps, self.visited = keeps, [np.full(8, 0.1)]
        self.offered: list[WorkingSet] = []

    def __call__(self, weights: np.ndarray) -> UpperBound:
        sign = 1.0 if self.u @ weights >= 0 else -1.0

        def oracle(scores: np.ndarray) -> Cut:
            k = int(np.argmax(self.losses + scores[:40]))
            wrong = float(self.losses[k] + scores[k] - scores[40] > 0)
            return Cut(wrong * (np.eye(41)[k] - np.eye(41)[40]), wrong * self.losses[k])

        risk = LinearRisk(np.vstack([self.rows, sign * self.u]), 3.0, oracle)

        def adopt(planes: WorkingSet) -> WorkingSet:
            self.offered.append(planes)
            return WorkingSet(planes.coefficients, planes.losses, risk.normal(planes.coefficients))

        bound = touching(risk, weights)
        return UpperBound(risk, bound.point, adopt) if self.keeps else bound

    def objective(self, w: np.ndarray) -> float:
        hinge = float((self.losses + self.rows @ w).max()) - abs(float(self.u @ w))
        return float(w @ w) / 2 + 3 * max(0.0, hinge)


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_rounds_gain_as_much_as_they_leave_and_keep_planes_that_hold(seed: int, keeps: bool) -> None:
    folded, events = Folded(seed, keeps), list[ProgressEvent]()
    solution = cccp(folded, np.full(8, 0.1), 1e-5, clock=Clock(events.append))
    certificate, end = solution.certificate, folded(solution.weights)
    assert certificate.converged
    assert certificate.primal == pytest.approx(folded.objective(solution.weights), rel=1e-12)
    least = cutting_plane(end.risk, 1e-9).certificate
    assert certificate.dual <= least.primal * (1 + 1e-12)
    assert certificate.primal - least.dual <= 1e-5 * certificate.primal * (1 + 1e-6)
    first = {event.round: event for event in reversed(events)}
    last = {event.round: event for event in events}
    assert len(first) >= 3
    for number in range(1, len(first)):
        gained = first[number].primal - last[number].primal
        assert gained >= last[number].primal - last[number].dual
        before = [event for event in events if event.round == number][:-1]
        assert all(first[number].primal - e.primal < e.primal - e.dual for e in before)  # and go no further
    kept = [first[number].planes for number in range(2, len(first) + 1)]
    assert len(folded.offered) == keeps * len(kept)
    assert (max(kept) > 1) == keeps
    assert kept == [len(planes) + 1 for planes in folded.offered] or not keeps


def test_planes_of_another_run_prove_what_it_proved() -> None:
    first = cccp(Folded(0, True), np.full(8, 0.1), 1e-5)
    again = cccp(Folded(0, True), first.weights, 1e-5, working_set=first.working_set)
    assert again.certificate.iterations == 0 < first.certificate.iterations
    assert again.certificate.converged


def test_a_round_that_leads_to_nothing_better_is_not_followed() -> None:
    """Where the exact objective disagrees with what the search saw, training stays and proves what it can."""

    def worse(weights: np.ndarray) -> UpperBound:
        bound = folded(weights)
        seen.append(weights)
        extra = 0.0 if len(seen) == 1 else 100.0
        return UpperBound(
            bound.risk, dataclasses.replace(bound.point, objective=bound.point.objective + extra)
        )

    folded, seen, start = Folded(1, False), list[np.ndarray](), np.full(8, 0.1)
    solution = cccp(worse, start, 1e-5, max_iterations=1000)
    assert (
        len(seen) == 3
    )  # one where it began, one when it had gained enough, one when there was no more to gain
    np.testing.assert_array_equal(solution.weights, start)
    assert solution.certificate.primal == pytest.approx(folded.objective(start), rel=1e-12)
    least = cutting_plane(folded(start).risk, 1e-9).certificate
    assert solution.certificate.dual == pytest.approx(least.dual, rel=1e-4)
    assert not solution.certificate.converged


@dataclasses.dataclass(frozen=True, eq=False)
class Hiding(LinearRisk):
    """A risk of whose gap single precision hides a share of the objective; it remembers who asked for the exact one."""

    share: float = dataclasses.field(kw_only=True)
    asked: list[float] = dataclasses.field(default_factory=list, kw_only=True)

    def certify(self, weights: np.ndarray, dual: Cut) -> tuple[float, float, float]:
        primal, bound, _ = super().certify(weights, dual)
        self.asked.append(float((primal - bound) / primal))
        return primal, bound, self.share * primal


def asked_on_the_way(tolerance: float, share: float) -> list[float]:
    """The gaps at which the exact one was asked for, in a round that begins at its end and proves that it is one."""
    end = cccp(Folded(5, True), np.full(8, 0.1), 1e-9).weights
    folded, asked = Folded(5, False), list[float]()

    def hiding(weights: np.ndarray) -> UpperBound:
        bound = folded(weights)
        risk = Hiding(bound.risk.features, bound.risk.C, bound.risk.oracle, share=share, asked=asked)
        return UpperBound(risk, bound.point)

    events: list[ProgressEvent] = []
    solution = cccp(hiding, end, tolerance, clock=Clock(events.append))
    assert solution.certificate.converged
    gaps = [float(1.0 - event.dual / solution.certificate.primal) for event in events]
    assert gaps[:3] == pytest.approx([1.0, 0.827, 0.542], abs=1e-3), "what the tolerances below lie between"
    return asked


def test_the_exact_gap_is_asked_for_once_where_rounding_hides_little_of_it() -> None:
    """Right below the tolerance a little of the gap that single precision hides would be too much."""
    asked = asked_on_the_way(tolerance=0.83, share=0.01)
    assert asked == pytest.approx([0.542], abs=1e-3)


def test_the_exact_gap_is_not_asked_for_at_every_step_where_rounding_hides_much_of_it() -> None:
    """After a gap of 0.827 that did not do one of 0.542 is not tried; that at the end is."""
    asked = asked_on_the_way(tolerance=0.95, share=0.8)
    assert asked == pytest.approx([0.827, 0.015], abs=1e-3)
