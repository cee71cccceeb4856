"""Certificates against the papers' objectives: recomputed, enumerated, and solved by another solver."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
import reference
from contract_cases import CONVEX, EVERY_SOLVER, RanksSamples
from problems import LOSS_OF, bound_of, flat, outputs_of, pairs_of, primal_of, problem, similar

from ranking import ProgressEvent, Query, SimilarityGraph, make_method


def connected(query: Query, case: RanksSamples) -> Query:
    """The query, with similar samples where the problems of the case have such."""
    return dataclasses.replace(query, graph=similar(query)) if case.graph else query


@CONVEX
def test_bounds_enclose_the_optimum_over_all_outputs(case: RanksSamples) -> None:
    query, name = case.tiny(), case.name
    outputs = outputs_of(name, query)
    for C in (0.01, 1.0, 100.0, 1e4):
        events: list[ProgressEvent] = []
        method = case.make(C=C, tolerance=1e-6).fit([query], events.append)
        optimum = reference.one_slack_optimum([outputs], C, bound_of(name, query))
        certificate = method.certificate
        recomputed = reference.one_slack_primal(flat(method.weights), [outputs], C)
        assert certificate.primal == pytest.approx(recomputed, rel=1e-12), C
        assert certificate.converged == (certificate.relative_gap <= 1e-6)
        if case.closes_the_gap(C):
            assert certificate.converged, C
            assert certificate.primal == pytest.approx(optimum, rel=2e-6), C
        for bounds in (certificate, *events):
            assert bounds.dual <= optimum * (1 + 1e-7), C
            assert bounds.primal >= optimum * (1 - 1e-7), C


@CONVEX
def test_several_queries_share_C(case: RanksSamples) -> None:
    """High-order, eq. 1: the mean over queries."""
    queries = [case.tiny(seed) for seed in (1, 2, 3)]
    method = case.make(C=20.0, max_iterations=20_000, tolerance=1e-6).fit(queries)
    outputs = [outputs_of(case.name, query) for query in queries]
    recomputed = reference.one_slack_primal(flat(method.weights), outputs, 20.0)
    assert method.certificate.primal == pytest.approx(recomputed, rel=1e-12)
    optimum = reference.one_slack_optimum(outputs, 20.0, bound_of(case.name, queries[0]))
    assert method.certificate.primal == pytest.approx(optimum, rel=2e-6)


@pytest.mark.parametrize("name", ["SVM", "AP-SVM", "NDCG-SVM"])
def test_shortcuts_of_the_reference_are_its_enumerations(name: str) -> None:
    query, rng = RanksSamples(name).tiny(), np.random.default_rng(0)
    for scale in (0.1, 1.0, 10.0):
        weights = scale * rng.normal(size=(2, 2) if name == "SVM" else 2)
        enumerated = reference.one_slack_primal(weights, [outputs_of(name, query)], 3.0)
        assert primal_of(name, weights, query, 3.0) == pytest.approx(enumerated, rel=1e-12)


@pytest.mark.parametrize("name", ["HOB-SVM", "HOAP-SVM"])
def test_shortcuts_with_similar_samples_are_enumerations_too(name: str) -> None:
    """All labellings of a component are enough, and interleavings of the rankings; eta scales affinities."""
    for graph, (seed, scale) in itertools.product((False, True), enumerate((0.1, 1.0, 10.0))):
        query, rng = RanksSamples(name, graph).tiny(seed), np.random.default_rng(seed)
        pairs = pairs_of(query)
        weights = scale * rng.normal(size=(2, 2)), -scale * rng.uniform(size=pairs[1].shape[1])
        if name == "HOB-SVM":
            outputs = outputs_of(name, query, eta=0.7)
            enumerated = reference.one_slack_primal(flat(weights), [outputs], 3.0)
        else:
            relevant = query.relevance > 0
            enumerated = reference.hoap_primal(weights, query.features, relevant, pairs, 3.0, eta=0.7)
        assert primal_of(name, weights, query, 3.0, eta=0.7) == pytest.approx(enumerated, rel=1e-12), graph


@CONVEX
def test_certificates_are_recomputed_from_the_definition(case: RanksSamples) -> None:
    for dtype in (np.float32, np.float64):
        query = case.query(4, dtype=dtype)
        graph = None if query.graph is None else SimilarityGraph(*pairs_of(query))
        exact = dataclasses.replace(query, features=query.features.astype(float), graph=graph)
        for C in (1e-3, 0.1, 1.0, 100.0, 1e4):
            method = case.make(C=C, max_iterations=1000).fit([query])
            certificate = method.certificate
            assert certificate.primal == pytest.approx(case.primal(method, query), rel=1e-12), (C, dtype)
            assert certificate.gap == certificate.primal - certificate.dual
            assert certificate.converged == (certificate.gap <= 1e-3 * certificate.primal)
            assert certificate.converged or not case.closes_the_gap(C), (C, dtype)
            solver = {"solver": "cutting plane"} if case.name == "SVM" else {}
            better = make_method(case.name, C=C, tolerance=1e-6, **solver).fit([exact])
            assert better.certificate.converged
            assert certificate.dual <= case.primal(better, exact) * (1 + 1e-12), (C, dtype)


@CONVEX
def test_progress_falls_from_above_and_stays_below(case: RanksSamples) -> None:
    for dtype in (np.float32, np.float64):
        events: list[ProgressEvent] = []
        C = 300.0 if case.name in LOSS_OF else 1.0
        method = case.make(C=C, tolerance=1e-5).fit([case.query(5, dtype=dtype)], events.append)
        assert len(events) > 2
        assert (np.diff([event.primal for event in events]) <= 0).all()
        assert max(event.dual for event in events) <= method.certificate.primal * (1 + 1e-6)
        assert (np.diff([event.passes for event in events]) >= 0).all()
        assert (np.diff([event.seconds for event in events]) >= 0).all()
        # An iteration more, or the hand-over to another solver.
        steps = np.diff([event.iteration for event in events])
        assert set(steps) <= {0, 1}
        assert (steps == 0).sum() <= 1
        assert events[-1].relative_gap <= 1e-5
        assert all(event.gap == event.primal - event.dual for event in events)


@pytest.mark.parametrize("name", ["AP-SVM", "NDCG-SVM"])
def test_every_algorithm_trains_to_the_same_optimum(name: str) -> None:
    query = problem(7)
    algorithms = ["auto", "greedy", "select", "buckets"] + ["search"] * (name == "AP-SVM")
    primals = [
        make_method(name, C=50.0, tolerance=1e-6, algorithm=algorithm).fit([query]).certificate.primal
        for algorithm in algorithms
    ]
    assert primals == pytest.approx([primals[0]] * len(primals), rel=2e-6)


@EVERY_SOLVER
def test_the_tightest_tolerance_is_reached_in_double(case: RanksSamples) -> None:
    C = 1000.0 if case.name in LOSS_OF else 1.0
    method = case.make(C=C, tolerance=1e-7).fit([case.query(9)])
    assert method.certificate.converged
    assert method.certificate.relative_gap <= 1e-7


@EVERY_SOLVER
def test_features_without_information_leave_weights_at_zero(case: RanksSamples) -> None:
    """All zero: the objective is C times the loss of the worst output."""
    query = connected(Query(features=np.zeros((7, 3)), relevance=[1, 0, 1, 0, 0, 0, 0]), case)
    method = case.make(C=10.0).fit([query])
    assert not flat(method.weights).any()
    labels = case.name in ("SVM", "HOB-SVM")
    worst = 1.0 if labels else reference.LOSSES[LOSS_OF.get(case.name, "ap")]([6, 7])
    assert method.certificate.primal == pytest.approx(10 * worst)
    assert method.certificate.dual == pytest.approx(10 * worst)
    assert method.certificate.converged
    assert method.score(query).tolist() == [0.0] * 7


def random_features(n: int, d: int, scale: float = 1.0) -> np.ndarray:
    return scale * np.random.default_rng(n).normal(size=(n, d))


DEGENERATE = {
    "one feature": Query(features=np.linspace(-1, 1, 9)[:, None], relevance=[0, 0, 1, 0, 0, 1, 0, 1, 1]),
    "duplicates": Query(features=np.repeat(random_features(6, 3), 5, axis=0), relevance=[0, 1, 1] * 10),
    "one of each": Query(features=np.eye(2), relevance=[0, 1]),
    "all alike": Query(features=np.ones((5, 2)), relevance=[0, 1, 0, 0, 1]),
    "some without features": Query(features=np.eye(9)[:, :4], relevance=[1, 0, 0, 1, 0, 0, 0, 1, 0]),
    "large": Query(features=random_features(20, 3, 100.0), relevance=[0, 1] * 10),
    "small": Query(features=random_features(20, 3, 1e-6), relevance=[0, 1] * 10),
    "one irrelevant": Query(features=random_features(8, 30), relevance=[1] * 7 + [0]),
}


@EVERY_SOLVER
def test_degenerate_samples_are_trained_on_as_exactly(case: RanksSamples) -> None:
    for kind, alone in DEGENERATE.items():
        query = connected(alone, case)
        method = case.make(C=1e-3 if kind == "large" else 1.0, tolerance=1e-5).fit([query])
        assert method.certificate.converged, kind
        assert method.certificate.primal == pytest.approx(case.primal(method, query), rel=1e-10), kind


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_where_coordinate_descent_is_slow_cutting_planes_go_on(C: float) -> None:
    """Classes that overlap and a large C: one training, whose counts and bounds never step back."""
    events: list[ProgressEvent] = []
    query = problem(4)
    slow = make_method("SVM", C=C, solver="coordinate descent", max_iterations=400).fit([query])
    method = make_method("SVM", C=C).fit([query], events.append)
    assert method.certificate.converged
    assert method.certificate.primal <= slow.certificate.primal * (1 + 1e-3)
    assert method.certificate.primal == pytest.approx(primal_of("SVM", method.weights, query, C), rel=1e-10)
    for earlier, later in itertools.pairwise(events):
        assert later.iteration >= earlier.iteration
        assert later.seconds >= earlier.seconds
        assert later.primal <= earlier.primal
        assert later.dual >= earlier.dual


@EVERY_SOLVER
def test_equal_problems_in_other_guises_have_one_solution(case: RanksSamples) -> None:
    """Grades above one count as relevant, and rows of features may lie anywhere in memory."""
    query = case.query(10)
    graded = dataclasses.replace(query, relevance=query.relevance * np.arange(1, 41))
    assert graded.relevance.max() > 2
    features = np.asfortranarray(np.repeat(query.features, 2, axis=0))[::2]
    strided = dataclasses.replace(query, features=features)
    plain, of_grades, of_strides = (
        flat(case.make().fit([each]).weights) for each in (query, graded, strided)
    )
    np.testing.assert_array_equal(plain, of_grades)
    np.testing.assert_allclose(plain, of_strides, rtol=1e-9)


def test_the_second_row_of_the_svm_is_the_first_turned_round() -> None:
    query = problem(12)
    method = make_method("SVM").fit([query])
    np.testing.assert_array_equal(method.weights[0], -method.weights[1])
    expected = query.features @ (method.weights[0] - method.weights[1])
    np.testing.assert_allclose(method.score(query), expected, rtol=1e-12)
