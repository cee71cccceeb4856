"""Certificates against the papers' objectives: recomputed, enumerated, and solved by another solver."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest
import reference
from problems import (
    CONVEX_METHODS,
    EVERY_METHOD,
    LOSS_OF,
    Problem,
    bound_of,
    can_close_the_gap,
    flat,
    outputs_of,
    pairs_of,
    primal_of,
    problem,
    similar,
    similar_problem,
)

from ranking import ProgressEvent, Query, SimilarityGraph, make_method

Settings = dict[str, Any]
CUTTING_PLANES: dict[str, Settings] = {"SVM": {"solver": "cutting plane"}}
LABELLINGS = {"n": 8, "d": 2, "positives": 3}  # 2^8; 6! rankings else
TINY = {"SVM": LABELLINGS, "HOB-SVM": LABELLINGS}


def tiny(name: str, seed: int = 0, make: Problem = problem) -> Query:
    return make(seed, **TINY.get(name, {"n": 6, "d": 2, "positives": 2}))


def connected(query: Query, make: Problem) -> Query:
    """The query, with similar samples where the problem has such."""
    return dataclasses.replace(query, graph=similar(query)) if make is similar_problem else query


@CONVEX_METHODS
def test_bounds_enclose_the_optimum_over_all_outputs(name: str, settings: Settings, problem: Problem) -> None:
    query = tiny(name, make=problem)
    outputs = outputs_of(name, query)
    for C in (0.01, 1.0, 100.0, 1e4):
        events: list[ProgressEvent] = []
        method = make_method(name, C=C, tolerance=1e-6, **settings).fit([query], events.append)
        optimum = reference.one_slack_optimum([outputs], C, bound_of(name, query))
        certificate = method.certificate
        recomputed = reference.one_slack_primal(flat(method.weights), [outputs], C)
        assert certificate.primal == pytest.approx(recomputed, rel=1e-12), C
        assert certificate.converged == (certificate.relative_gap <= 1e-6)
        if can_close_the_gap(settings, C):
            assert certificate.converged, C
            assert certificate.primal == pytest.approx(optimum, rel=2e-6), C
        for bounds in (certificate, *events):
            assert bounds.dual <= optimum * (1 + 1e-7), C
            assert bounds.primal >= optimum * (1 - 1e-7), C


@CONVEX_METHODS
def test_several_queries_share_C(name: str, settings: Settings, problem: Problem) -> None:
    """High-order, eq. 1: the mean over queries."""
    queries = [tiny(name, seed, problem) for seed in (1, 2, 3)]
    method = make_method(name, C=20.0, max_iterations=20_000, tolerance=1e-6, **settings).fit(queries)
    outputs = [outputs_of(name, query) for query in queries]
    recomputed = reference.one_slack_primal(flat(method.weights), outputs, 20.0)
    assert method.certificate.primal == pytest.approx(recomputed, rel=1e-12)
    optimum = reference.one_slack_optimum(outputs, 20.0, bound_of(name, queries[0]))
    assert method.certificate.primal == pytest.approx(optimum, rel=2e-6)


@pytest.mark.parametrize("name", ["SVM", "AP-SVM", "NDCG-SVM"])
def test_shortcuts_of_the_reference_are_its_enumerations(name: str) -> None:
    query, rng = tiny(name), np.random.default_rng(0)
    for scale in (0.1, 1.0, 10.0):
        weights = scale * rng.normal(size=(2, 2) if name == "SVM" else 2)
        enumerated = reference.one_slack_primal(weights, [outputs_of(name, query)], 3.0)
        assert primal_of(name, weights, query, 3.0) == pytest.approx(enumerated, rel=1e-12)


@pytest.mark.parametrize("make", [problem, similar_problem])
@pytest.mark.parametrize("name", ["HOB-SVM", "HOAP-SVM"])
def test_shortcuts_with_similar_samples_are_enumerations_too(name: str, make: Problem) -> None:
    """All labellings of a component are enough, and interleavings of the rankings; eta scales affinities."""
    for seed, scale in enumerate((0.1, 1.0, 10.0)):
        query, rng = tiny(name, seed, make), np.random.default_rng(seed)
        pairs = pairs_of(query)
        weights = scale * rng.normal(size=(2, 2)), -scale * rng.uniform(size=pairs[1].shape[1])
        if name == "HOB-SVM":
            outputs = outputs_of(name, query, eta=0.7)
            enumerated = reference.one_slack_primal(flat(weights), [outputs], 3.0)
        else:
            relevant = query.relevance > 0
            enumerated = reference.hoap_primal(weights, query.features, relevant, pairs, 3.0, eta=0.7)
        assert primal_of(name, weights, query, 3.0, eta=0.7) == pytest.approx(enumerated, rel=1e-12)


@CONVEX_METHODS
def test_certificates_are_recomputed_from_the_definition(
    name: str, settings: Settings, problem: Problem
) -> None:
    for dtype in (np.float32, np.float64):
        query = problem(4, dtype=dtype)
        graph = None if query.graph is None else SimilarityGraph(*pairs_of(query))
        exact = dataclasses.replace(query, features=query.features.astype(float), graph=graph)
        for C in 10.0 ** np.arange(-3, 5):
            method = make_method(name, C=float(C), max_iterations=1000, **settings).fit([query])
            certificate = method.certificate
            recomputed = primal_of(name, method.weights, query, C)
            assert certificate.primal == pytest.approx(recomputed, rel=1e-12), (C, dtype)
            assert certificate.gap == certificate.primal - certificate.dual
            assert certificate.converged == (certificate.gap <= 1e-3 * certificate.primal)
            assert certificate.converged or not can_close_the_gap(settings, C), (C, dtype)
            tight = {"C": float(C), "tolerance": 1e-6, **CUTTING_PLANES.get(name, settings)}
            better = make_method(name, **tight).fit([exact])
            assert better.certificate.converged
            assert certificate.dual <= primal_of(name, better.weights, exact, C) * (1 + 1e-12), (C, dtype)


@CONVEX_METHODS
def test_progress_falls_from_above_and_stays_below(name: str, settings: Settings, problem: Problem) -> None:
    for dtype in (np.float32, np.float64):
        query = problem(5, dtype=dtype)
        events: list[ProgressEvent] = []
        C = 300.0 if name in LOSS_OF else 1.0
        method = make_method(name, C=C, tolerance=1e-5, **settings).fit([query], events.append)
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


def test_both_solvers_of_the_svm_end_at_one_optimum() -> None:
    query = problem(6, n=120, d=10)
    for C in (0.01, 0.1, 1.0):
        found = [
            make_method("SVM", C=C, tolerance=1e-6, solver=s).fit([query])
            for s in ("coordinate descent", "cutting plane")
        ]
        assert found[0].certificate.primal == pytest.approx(found[1].certificate.primal, rel=3e-6)
        np.testing.assert_allclose(
            found[0].weights, found[1].weights, atol=5e-3 * np.abs(found[0].weights).max()
        )


@pytest.mark.parametrize("name", ["AP-SVM", "NDCG-SVM"])
def test_every_algorithm_trains_to_the_same_optimum(name: str) -> None:
    query = problem(7)
    algorithms = ["auto", "greedy", "select", "buckets"] + ["search"] * (name == "AP-SVM")
    primals = [
        make_method(name, C=50.0, tolerance=1e-6, algorithm=algorithm).fit([query]).certificate.primal
        for algorithm in algorithms
    ]
    assert primals == pytest.approx([primals[0]] * len(primals), rel=2e-6)


@CONVEX_METHODS
def test_single_precision_finds_the_optimum_of_double(
    name: str, settings: Settings, problem: Problem
) -> None:
    query = problem(8)
    primals = []
    for dtype in (np.float32, np.float64):
        same = dataclasses.replace(query, features=query.features.astype(dtype))
        primals.append(make_method(name, C=1.0, tolerance=1e-4, **settings).fit([same]).certificate.primal)
    assert primals[0] == pytest.approx(primals[1], rel=2e-4)


@EVERY_METHOD
def test_the_tightest_tolerance_is_reached_in_double(name: str, settings: Settings, problem: Problem) -> None:
    C = 1000.0 if name in LOSS_OF else 1.0
    method = make_method(name, C=C, tolerance=1e-7, **settings).fit([problem(9)])
    assert method.certificate.converged
    assert method.certificate.relative_gap <= 1e-7


@EVERY_METHOD
def test_features_without_information_leave_weights_at_zero(
    name: str, settings: Settings, problem: Problem
) -> None:
    """All zero: the objective is C times the loss of the worst output."""
    query = connected(Query(features=np.zeros((7, 3)), relevance=[1, 0, 1, 0, 0, 0, 0]), problem)
    method = make_method(name, C=10.0, **settings).fit([query])
    assert not flat(method.weights).any()
    labels = name in ("SVM", "HOB-SVM")
    worst = 1.0 if labels else reference.LOSSES[LOSS_OF.get(name, "ap")]([6, 7])
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


@EVERY_METHOD
def test_degenerate_samples_are_trained_on_as_exactly(
    name: str, settings: Settings, problem: Problem
) -> None:
    for kind, alone in DEGENERATE.items():
        query, C = connected(alone, problem), 1e-3 if kind == "large" else 1.0
        method = make_method(name, C=C, tolerance=1e-5, **settings).fit([query])
        recomputed = primal_of(name, method.weights, query, C)
        assert method.certificate.converged, kind
        assert method.certificate.primal == pytest.approx(recomputed, rel=1e-10), kind


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


@EVERY_METHOD
def test_equal_problems_in_other_guises_have_one_solution(
    name: str, settings: Settings, problem: Problem
) -> None:
    """Grades above one count as relevant, and rows of features may lie anywhere in memory."""
    query = problem(10)
    graded = dataclasses.replace(query, relevance=query.relevance * np.arange(1, 41))
    assert graded.relevance.max() > 2
    features = np.asfortranarray(np.repeat(query.features, 2, axis=0))[::2]
    strided = dataclasses.replace(query, features=features)
    plain, of_grades, of_strides = (
        flat(make_method(name, **settings).fit([each]).weights) for each in (query, graded, strided)
    )
    np.testing.assert_array_equal(plain, of_grades)
    np.testing.assert_allclose(plain, of_strides, rtol=1e-9)


def test_the_second_row_of_the_svm_is_the_first_turned_round() -> None:
    query = problem(12)
    method = make_method("SVM").fit([query])
    np.testing.assert_array_equal(method.weights[0], -method.weights[1])
    expected = query.features @ (method.weights[0] - method.weights[1])
    np.testing.assert_allclose(method.score(query), expected, rtol=1e-12)
