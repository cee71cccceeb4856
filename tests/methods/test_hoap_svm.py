"""HOAP-SVM against eq. 14 of high-order by enumeration: its bound, its rounds, its start, its end."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import reference
from problems import Heard, Problem, knotted_problem, pairs_of, primal_of, problem, similar_problem, value_of

from ranking import ProgressEvent, Query, make_method
from ranking.inference import PairsOfEitherSign
from ranking.methods import hoap_svm
from ranking.methods.hoap_svm import BOTH, HOAPSVM, STARTS, Surrogate
from ranking.methods.oracles import by_query, ranking_cut
from ranking.methods.training_set import TrainingSet
from ranking.solvers import UpperBound, WorkingSet

KINDS = pytest.mark.parametrize("problem_of", [problem, similar_problem])


def bound_of(queries: list[Query], **settings: Any) -> Surrogate:
    """What `solve` makes of its samples."""
    method, samples = HOAPSVM(**{"C": 10.0, "eta": 0.7, **settings}), TrainingSet.of(queries)
    ranking = by_query(lambda scores, relevant: ranking_cut(scores, relevant, "ap"), samples)
    neighbours = method.neighbours(samples)
    return Surrogate(method.risk_of(samples, ranking, neighbours), neighbours, ranking)


def objective(weights: np.ndarray, queries: list[Query], C: float = 10.0) -> float:
    """Eq. 14, the mean over queries, for the weights of the solver."""
    # It calls w_1 = v / sqrt 2 = -w_0 weights, in the first six.
    direction = weights[:6] / np.sqrt(2.0)
    rows = np.stack([direction, -direction]), weights[6:]
    return float(np.mean([primal_of("HOAP-SVM", rows, query, C, 0.7) for query in queries]))


def random_weights(seed: int, size: int, scale: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng([seed, 7])
    pairwise = -rng.uniform(size=size - 6) * (rng.uniform(size=size - 6) < 0.7)
    return scale * np.append(rng.normal(size=6), pairwise)


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
        upper, above = bound_of(queries), []
        size = upper.risk.shape[1]
        for seed in range(6):
            here = random_weights(seed, size)
            bound = upper.touching(here)
            assert bound.point.objective == value_of(bound.risk, here)
            assert bound.point.objective == pytest.approx(objective(here, queries), rel=1e-12)
            for step_seed in range(12):
                there = random_weights(100 + step_seed, size, 10.0 ** (step_seed % 3 - 1))
                above.append(value_of(bound.risk, there) / objective(there, queries))
        assert min(above) >= 1 - 1e-12
        assert (max(above) > 1.01) == (problem_of is similar_problem)


def test_bounds_of_pairs_of_either_sign_are_touched_and_never_crossed() -> None:
    """Where the max-marginals are bounds themselves, the objective is the one of these."""
    upper = bound_of([knotted_problem(5)], potentials=PairsOfEitherSign.name)
    generator, halves = np.random.default_rng(5), 0
    points = [generator.standard_normal(upper.risk.shape[1]) for _ in range(4)]
    for here in points:
        value = upper.touching(here).point.objective
        marginals = upper.neighbours.max_marginals(upper.risk.exact_scores(here))
        most_violated = upper.ranking(marginals.difference)
        hinge = most_violated.loss + marginals.difference @ most_violated.coefficients
        assert value == pytest.approx(0.5 * here @ here + 10.0 * hinge, rel=1e-9)
        assert all(value_of(upper.touching(there).risk, here) >= value * (1 - 1e-9) for there in points)
        halves += np.count_nonzero(marginals.excess)
    assert halves


@KINDS
def test_planes_of_one_bound_are_planes_of_another(problem_of: Problem) -> None:
    upper = bound_of([problem_of(seed, n=16) for seed in (3, 4)])
    size = upper.risk.shape[1]
    first, second = (upper.touching(random_weights(seed, size)) for seed in (0, 1))
    cuts = [first.risk.oracle(first.risk.exact_scores(random_weights(seed, size))) for seed in range(5)]
    coefficients, losses = np.stack([cut.coefficients for cut in cuts]), np.array([cut.loss for cut in cuts])
    planes = WorkingSet(coefficients, losses, first.risk.normal(coefficients))
    for bound in (first, second):
        translated = bound.translate(planes)
        assert translated is not None
        np.testing.assert_array_equal(translated.coefficients, coefficients)
        np.testing.assert_array_equal(translated.losses, losses)
        for seed in range(12):
            weights = random_weights(50 + seed, size, 10.0 ** (seed % 3 - 1))
            scores = bound.risk.exact_scores(weights)
            best = bound.risk.oracle(scores)
            np.testing.assert_allclose(
                translated.normals @ weights, coefficients @ scores, rtol=1e-9, atol=1e-12
            )
            hinge = best.loss + scores @ best.coefficients
            assert (losses + translated.normals @ weights).max() <= hinge + 1e-12 * max(1.0, abs(hinge))
        if bound is second:
            assert np.allclose(translated.normals, planes.normals) == (problem_of is problem)


def test_no_other_length_of_the_first_weights_is_better() -> None:
    queries = [similar_problem(seed, n=16) for seed in (7, 8)]
    relevant = queries[0].relevance > 0
    towards = queries[0].features[relevant].mean(axis=0) - queries[0].features[~relevant].mean(axis=0)
    upper, helpful = bound_of(queries, C=3.0), np.append(towards, np.zeros(7))
    for seed, scale in enumerate((1e-3, 1.0, 1e3)):
        weights = scale * (5.0 * helpful + random_weights(seed, 13))
        stretched, _ = upper.best_length(weights)
        np.testing.assert_allclose(stretched / np.linalg.norm(stretched), weights / np.linalg.norm(weights))
        least = objective(stretched, queries, C=3.0)
        assert least < objective(weights, queries, C=3.0)
        for t in [*np.linspace(0.0, 3.0, 61), 1.001, 0.999]:
            assert least <= objective(t * stretched, queries, C=3.0) * (1 + 2e-6)
        assert objective(upper.best_length(stretched)[0], queries, C=3.0) <= least
    for useless in (-helpful, np.zeros(13)):
        assert not upper.best_length(useless)[0].any()
    reports = Heard()
    assert not upper.best_length(helpful, reports)[1]
    heard = Heard(lambda events: len(events) == 1)
    assert upper.best_length(helpful, heard)[1]
    assert len(heard) == 1 < len(reports), "a stop is heard in between"


@pytest.mark.parametrize("start", STARTS)
@KINDS
def test_the_objective_never_rises_from_round_to_round(
    problem_of: Problem, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    visited, touching = list[np.ndarray](), Surrogate.touching

    def remember(upper: Surrogate, weights: np.ndarray) -> UpperBound:
        visited.append(weights)
        return touching(upper, weights)

    begun: dict[int, np.ndarray] = {}
    events: list[ProgressEvent] = []

    def listen(event: ProgressEvent) -> None:
        events.append(event)
        if event.round:
            begun.setdefault(event.round, visited[-1])

    monkeypatch.setattr(Surrogate, "touching", remember)
    queries = [problem_of(seed, n=24) for seed in (10, 11)]
    method = make_method("HOAP-SVM", C=20.0, eta=0.7, start=start).fit(queries, listen)
    values = [objective(weights, queries, C=20.0) for weights in begun.values()]
    at_optimum = (problem_of, start) == (problem, "AP-SVM")
    assert len(values) >= (1 if at_optimum else 2)
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    assert (np.diff([event.primal for event in events]) <= 0).all()
    reached = [objective(event.weights, queries, C=20.0) for event in events if event.weights is not None]
    assert method.certificate.primal <= min(reached) * (1 + 1e-12), (
        "it ends at the best weights that were reported"
    )
    if not at_optimum:
        assert values[-1] < 0.99 * values[0]
    assert method.certificate.primal == pytest.approx(values[-1], rel=1e-12)
    assert events[0].round == (1 if start == "zero" else 0)
    nothing = objective(np.zeros(6 + method.weights.pairwise.size), queries, C=20.0)
    assert events[0].primal == pytest.approx(nothing, rel=1e-12)


def test_time_before_the_first_round_is_training_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("ranking.solvers.clock.time.perf_counter", lambda: now[0])
    first = HOAPSVM._first_weights

    def slow(*arguments: Any) -> Any:
        now[0] += 5.0
        return first(*arguments)

    monkeypatch.setattr(HOAPSVM, "_first_weights", slow)
    seconds: list[float] = []
    method = make_method("HOAP-SVM").fit([similar_problem(0)], lambda event: seconds.append(event.seconds))
    assert set(seconds) == {5.0}
    assert method.certificate.seconds == 5.0


@pytest.mark.parametrize("start", ["HOB-SVM", "AP-SVM"])
@pytest.mark.parametrize("after", [1, 4])
def test_a_stop_of_the_warm_start_ends_training_before_the_first_round(start: str, after: int) -> None:
    """The certificate is of the weights of then."""
    query, events = similar_problem(14), Heard(lambda heard: len(heard) == after)
    method = make_method("HOAP-SVM", C=30.0, start=start, start_C=100.0, unit="paper").fit([query], events)
    certificate = method.certificate
    assert (len(events), events[-1].round, certificate.iterations) == (after, 0, 0)
    assert (method.solution.stopped, certificate.converged) == (True, False)
    assert certificate.primal == pytest.approx(primal_of("HOAP-SVM", method.weights, query, 30.0), rel=1e-12)
    assert certificate.dual < certificate.primal <= events[-1].primal * (1 + 1e-9)


def test_a_stop_at_any_time_leaves_a_certificate_of_the_current_weights() -> None:
    query, events = similar_problem(14), Heard()
    make_method("HOAP-SVM", C=30.0, start=BOTH, start_C=100.0).fit([query], events)
    assert {event.round for event in events} > {0, 1}
    for after in range(1, len(events), 3):
        heard = Heard(lambda heard: len(heard) == after)  # noqa: B023
        method = make_method("HOAP-SVM", C=30.0, start=BOTH, start_C=100.0).fit([query], heard)
        certificate = method.certificate
        assert (len(heard), method.solution.stopped) == (after, True)
        assert certificate.primal == pytest.approx(
            primal_of("HOAP-SVM", method.weights, query, 30.0), rel=1e-12
        )
        assert certificate.dual < certificate.primal


def test_first_weights_are_those_of_the_method_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    query, seen = similar_problem(17), list[np.ndarray]()

    def no_rounds(convexify: Any, first: np.ndarray, *rest: Any) -> Any:
        seen.append(first)
        raise StopIteration

    monkeypatch.setattr(hoap_svm, "cccp", no_rounds)
    for start in STARTS:
        with pytest.raises(StopIteration):
            make_method("HOAP-SVM", C=5.0, eta=0.7, start=start, start_C=2.0, unit="paper").fit([query])
    loosely = {"tolerance": hoap_svm.START_TOLERANCE}
    hob = make_method("HOB-SVM", C=2.0, eta=0.7, unit="paper", **loosely).fit([query]).solution.weights
    ap = np.append(make_method("AP-SVM", C=10.0).fit([query]).solution.weights, np.zeros(7))
    # of both, AP-SVM first
    for expected, warm_start in zip((hob, ap, ap), seen, strict=False):
        cosine = expected @ warm_start / np.linalg.norm(expected) / np.linalg.norm(warm_start)
        assert cosine == pytest.approx(1.0, abs=1e-12)
    assert not seen[3].any()


def test_from_both_starts_training_never_ends_above_what_w2_of_0_gives() -> None:
    """AP-SVM at 2 C is HOAP-SVM with w2 = 0."""
    # From HOB-SVM alone, training sometimes ends above its objective.
    above = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 9])
        query = similar_problem(seed, n=int(rng.integers(12, 40)), positives=int(rng.integers(3, 9)))
        C, eta = 10.0 ** rng.uniform(-1, 3), 10.0 ** rng.uniform(-2, 1)
        alone = make_method("AP-SVM", C=2.0 * C).fit([query]).weights / 2.0
        rows = np.stack([alone, -alone]), np.zeros(query.features.shape[1] + 1)
        least = primal_of("HOAP-SVM", rows, query, C, eta)
        ends = {
            start: make_method("HOAP-SVM", C=C, eta=eta, start=start).fit([query]).certificate
            for start in (BOTH, "HOB-SVM", "AP-SVM")
        }
        lowest = min(ends["HOB-SVM"].primal, ends["AP-SVM"].primal)
        assert ends[BOTH].primal <= least * (1 + 1e-12), seed
        # other planes lead to another point within the gap
        assert ends[BOTH].primal <= lowest * (1 + 2e-3), seed
        assert ends[BOTH].converged, seed
        above += ends["HOB-SVM"].primal > least * (1 + 1e-3)
    assert above
