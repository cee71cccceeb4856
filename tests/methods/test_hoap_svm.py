"""HOAP-SVM against eq. 14 of high-order by enumeration: its bound, its rounds, its start, its end."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference
from problems import Problem, pairs_of, primal_of, problem, similar_problem, value_of

from ranking import ProgressEvent, Query, StopTraining, make_method
from ranking.methods import hoap_svm
from ranking.methods.hoap_svm import HOAPSVM, STARTS, Surrogate
from ranking.methods.oracles import by_query, ranking_cut
from ranking.methods.training_set import TrainingSet
from ranking.optimise import UpperBound, WorkingSet

KINDS = pytest.mark.parametrize("problem_of", [problem, similar_problem])


def bound_of(queries: list[Query], C: float = 10.0, eta: float = 0.7) -> Surrogate:
    """What `solve` makes of its samples."""
    method, samples = HOAPSVM(C=C, eta=eta), TrainingSet.of(queries)
    ranking = by_query(lambda scores, relevant: ranking_cut(scores, relevant, "ap"), samples)
    return Surrogate(method.risk_of(samples, ranking), method.neighbours(samples), ranking)


def rows_of(weights: np.ndarray, columns: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Unary rows and pairwise weights of what the solver calls weights, w_1 = v / sqrt 2 = -w_0."""
    direction = weights[:columns] / np.sqrt(2.0)
    return np.stack([direction, -direction]), weights[columns:]


def objective(weights: np.ndarray, queries: list[Query], C: float = 10.0, eta: float = 0.7) -> float:
    """Eq. 14, the mean over queries: the shortcut that test_optimality compares with the full enumeration."""
    values = [primal_of("HOAP-SVM", rows_of(weights), query, C, eta) for query in queries]
    return float(np.mean(values))


def random_weights(seed: int, pairwise: int, scale: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng([seed, 7])
    return scale * np.append(
        rng.normal(size=6), -rng.uniform(size=pairwise) * (rng.uniform(size=pairwise) < 0.7)
    )


# ---------------------------------------------------------------------------------------------------------
# The certificate and the convex bound
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", STARTS)
def test_the_certificate_is_the_objective_over_all_labellings_and_rankings(start: str) -> None:
    for dtype, (seed, C) in itertools.product((np.float32, np.float64), enumerate((0.3, 3.0, 100.0))):
        query = similar_problem(seed, n=7, d=3, positives=2 + seed % 2, dtype=dtype)
        method = make_method("HOAP-SVM", C=C, eta=0.7, start=start).fit([query])
        features, relevant = query.features.astype(float), query.relevance > 0
        expected = reference.hoap_primal(method.weights, features, relevant, pairs_of(query), C, 0.7)
        assert method.certificate.primal == pytest.approx(expected, rel=1e-12), (dtype, seed)
        assert method.certificate.converged
        assert 0 <= method.certificate.gap <= 1e-3 * expected


@KINDS
def test_the_bound_touches_the_objective_and_lies_nowhere_below(problem_of: Problem) -> None:
    """Propositions 3 to 5."""
    for number in (1, 3):
        queries = [problem_of(seed, n=16) for seed in range(number)]
        upper = bound_of(queries)
        pairwise = upper.risk.shape[1] - 6
        above = []
        for seed in range(6):
            here = random_weights(seed, pairwise)
            bound = upper.touching(here)
            risk = bound.risk
            assert bound.point.objective == value_of(risk, here)
            assert value_of(risk, here) == pytest.approx(objective(here, queries), rel=1e-12)
            for other in range(12):
                there = random_weights(100 + other, pairwise, 10.0 ** (other % 3 - 1))
                above.append(value_of(risk, there) / objective(there, queries))
        assert min(above) >= 1 - 1e-12
        assert (max(above) > 1.01) == (problem_of is similar_problem)


@KINDS
def test_cuts_are_subgradients_of_the_bound(problem_of: Problem) -> None:
    queries = [problem_of(seed, n=16) for seed in (3, 4)]
    upper = bound_of(queries)
    pairwise = upper.risk.shape[1] - 6
    risk = upper.touching(random_weights(0, pairwise)).risk
    for seed in range(6):
        scores = risk.exact_scores(random_weights(seed, pairwise))
        cut = risk.oracle(scores)
        hinge = cut.loss + scores @ cut.coefficients
        assert risk.C * len(queries) == 10.0
        assert hinge >= 0
        for other in range(12):
            elsewhere = risk.exact_scores(random_weights(50 + other, pairwise, 10.0 ** (other % 3 - 1)))
            best = risk.oracle(elsewhere)
            here, there = cut.loss + elsewhere @ cut.coefficients, best.loss + elsewhere @ best.coefficients
            assert there >= here - 1e-12 * max(1.0, abs(there))


@KINDS
def test_planes_of_one_bound_are_planes_of_another(problem_of: Problem) -> None:
    queries = [problem_of(seed, n=16) for seed in (3, 4)]
    upper = bound_of(queries)
    pairwise = upper.risk.shape[1] - 6
    first, second = (upper.touching(random_weights(seed, pairwise)) for seed in (0, 1))
    cuts = [first.risk.oracle(first.risk.exact_scores(random_weights(seed, pairwise))) for seed in range(5)]
    coefficients, losses = np.stack([cut.coefficients for cut in cuts]), np.array([cut.loss for cut in cuts])
    planes = WorkingSet(coefficients, losses, first.risk.normal(coefficients))
    adopted = second.adopt(planes)
    assert adopted is not None
    np.testing.assert_array_equal(adopted.coefficients, coefficients)
    np.testing.assert_array_equal(adopted.losses, losses)
    for seed in range(12):
        weights = random_weights(50 + seed, pairwise, 10.0 ** (seed % 3 - 1))
        scores = second.risk.exact_scores(weights)
        best = second.risk.oracle(scores)
        np.testing.assert_allclose(adopted.normals @ weights, coefficients @ scores, rtol=1e-9, atol=1e-12)
        hinge = best.loss + scores @ best.coefficients
        assert (losses + adopted.normals @ weights).max() <= hinge + 1e-12 * max(1.0, abs(hinge))
    assert np.allclose(adopted.normals, planes.normals) == (problem_of is problem)


def test_weights_of_zero_are_a_start() -> None:
    query = similar_problem(6)
    upper = bound_of([query])
    nothing = np.zeros(13)
    assert upper.best_length(nothing).tolist() == nothing.tolist()
    assert upper.touching(nothing).point.objective == pytest.approx(objective(nothing, [query]), rel=1e-12)
    method = make_method("HOAP-SVM", C=10.0, start="zero").fit([query])
    assert method.certificate.converged
    assert method.certificate.primal < objective(nothing, [query])


# ---------------------------------------------------------------------------------------------------------
# The length of the first weights
# ---------------------------------------------------------------------------------------------------------


def direction_of(query: Query) -> np.ndarray:
    """From the mean of one class to that of the other."""
    relevant = query.relevance > 0
    mean: np.ndarray = query.features[relevant].mean(axis=0) - query.features[~relevant].mean(axis=0)
    return mean


def test_no_other_length_of_the_first_weights_is_better() -> None:
    queries = [similar_problem(seed, n=16) for seed in (7, 8)]
    upper, towards = bound_of(queries, C=3.0), np.append(direction_of(queries[0]), np.zeros(7))
    for seed, scale in enumerate((1e-3, 1.0, 1e3)):
        weights = scale * (5.0 * towards + random_weights(seed, 7))
        found = upper.best_length(weights)
        assert np.linalg.norm(found) > 0
        np.testing.assert_allclose(found / np.linalg.norm(found), weights / np.linalg.norm(weights))
        least = objective(found, queries, C=3.0)
        assert least < objective(weights, queries, C=3.0)
        for t in [*np.linspace(0.0, 3.0, 61), 1.001, 0.999]:
            assert least <= objective(t * found, queries, C=3.0) * (1 + 2e-6)


def test_weights_that_only_hurt_get_length_zero_and_the_best_stay() -> None:
    query = problem(9)
    upper = bound_of([query])
    towards = direction_of(query)
    assert upper.best_length(-towards).tolist() == [0.0] * 6
    best = upper.best_length(towards)
    again = upper.best_length(best)
    assert objective(again, [query]) <= objective(best, [query])


# ---------------------------------------------------------------------------------------------------------
# Rounds
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", STARTS)
@KINDS
def test_the_objective_never_rises_from_round_to_round(
    problem_of: Problem, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    visited: list[np.ndarray] = []
    touching = Surrogate.touching

    def remember(upper: Surrogate, weights: np.ndarray) -> UpperBound:
        visited.append(weights)
        return touching(upper, weights)

    monkeypatch.setattr(Surrogate, "touching", remember)
    queries = [problem_of(seed, n=24) for seed in (10, 11)]
    begun: dict[int, int] = {}
    events: list[ProgressEvent] = []

    def listen(event: ProgressEvent) -> None:
        events.append(event)
        begun.setdefault(event.round, len(visited))

    method = make_method("HOAP-SVM", C=20.0, eta=0.7, start=start).fit(queries, listen)
    rounds = [visited[number - 1] for number in (begun[key] for key in sorted(begun) if key)]
    values = [objective(weights, queries, C=20.0) for weights in rounds]
    assert len(values) >= 2
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    if (problem_of, start) != (problem, "AP-SVM"):  # which begins at the optimum
        assert values[-1] < 0.99 * values[0]
    certificate = method.certificate
    assert certificate.primal == pytest.approx(values[-1], rel=1e-12)
    for earlier, later in itertools.pairwise(events):
        assert later.iteration >= earlier.iteration
        assert later.seconds >= earlier.seconds
        assert later.primal <= earlier.primal
        assert later.round in (earlier.round, earlier.round + 1)
        assert later.round == earlier.round or later.passes >= earlier.passes
    nothing = objective(np.zeros(6 + method.weights.pairwise.size), queries, C=20.0)
    assert events[0].round == (1 if start == "zero" else 0)
    assert events[0].primal == pytest.approx(nothing, rel=1e-12)
    assert all(event.dual <= event.primal * (1 + 1e-9) for event in events if event.round)
    assert events[-1].primal == pytest.approx(certificate.primal, rel=2e-3)
    assert certificate.seconds >= events[-1].seconds
    assert certificate.iterations >= events[-1].iteration > 0


def test_time_before_the_first_round_is_training_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("ranking.optimise.clock.time.perf_counter", lambda: now[0])
    first = HOAPSVM._first_weights

    def slow(*arguments: Any) -> Any:
        now[0] += 5.0
        return first(*arguments)

    monkeypatch.setattr(HOAPSVM, "_first_weights", slow)
    seconds: list[float] = []
    method = make_method("HOAP-SVM").fit([similar_problem(0)], lambda event: seconds.append(event.seconds))
    assert set(seconds) == {5.0}
    assert method.certificate.seconds == 5.0


# ---------------------------------------------------------------------------------------------------------
# Ending early
# ---------------------------------------------------------------------------------------------------------


def stopped_at(
    last: Callable[[list[ProgressEvent]], bool], **settings: Any
) -> tuple[Any, list[ProgressEvent]]:
    """A training that a callback stopped, and what it heard: the certificate is of the weights of then."""
    events: list[ProgressEvent] = []
    query = similar_problem(14)

    def listen(event: ProgressEvent) -> None:
        events.append(event)
        if last(events):
            raise StopTraining

    method = make_method("HOAP-SVM", C=30.0, **settings).fit([query], listen)
    certificate = method.certificate
    assert not certificate.converged
    assert certificate.primal == pytest.approx(primal_of("HOAP-SVM", method.weights, query, 30.0), rel=1e-12)
    assert certificate.primal <= events[-1].primal * (1 + 1e-9)
    return method, events


@pytest.mark.parametrize("start", ["HOB-SVM", "AP-SVM"])
def test_one_stop_ends_training_before_its_first_round(start: str) -> None:
    for after in (1, 2, 4):
        method, events = stopped_at(lambda heard: len(heard) == after, start=start, start_C=100.0)  # noqa: B023
        assert len(events) == after
        assert {event.round for event in events} == {0}
        assert method.certificate.iterations == 0
        assert method.certificate.dual < method.certificate.primal
        assert method.solution.stopped


def test_one_stop_ends_training_in_a_round() -> None:
    for number, more in itertools.product((1, 2), (0, 2)):

        def last(heard: list[ProgressEvent], number: int = number, more: int = more) -> bool:
            return [event.round for event in heard].count(number) == 1 + more

        method, events = stopped_at(last, tolerance=1e-6)
        assert events[-1].round == number
        assert method.certificate.iterations == events[-1].iteration
        assert method.solution.stopped


def test_iterations_end_at_their_limit() -> None:
    for most in (1, 3, 8, 20):
        method, events = stopped_at(lambda _: False, tolerance=1e-6, max_iterations=most)
        assert method.certificate.iterations == most
        assert sum(event.round == 0 for event in events) <= most + 1  # the method that it begins with, too
        assert not method.solution.stopped


def test_first_weights_are_those_of_the_method_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    query, seen = similar_problem(17), {}

    def no_rounds(convexify: Any, first: np.ndarray, *rest: Any) -> Any:
        seen["first"] = first
        raise StopIteration

    monkeypatch.setattr(hoap_svm, "cccp", no_rounds)
    for start in STARTS:
        with pytest.raises(StopIteration):
            make_method("HOAP-SVM", C=5.0, eta=0.7, start=start, start_C=2.0).fit([query])
        if start == "zero":
            assert not seen["first"].any()
            continue
        loosely = {"tolerance": hoap_svm.START_TOLERANCE}
        own = {"C": 2.0, "eta": 0.7} if start == "HOB-SVM" else {"C": 10.0}
        expected = make_method(start, **own, **loosely).fit([query])
        whole = expected.solution.weights
        whole = np.append(whole, np.zeros(13 - len(whole)))
        cosine = whole @ seen["first"] / np.linalg.norm(whole) / np.linalg.norm(seen["first"])
        assert cosine == pytest.approx(1.0, abs=1e-12)
