"""Certificates against the papers' objectives: recomputed, enumerated, and solved by another solver."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import reference
from contract_cases import CONVEX, EVERY_SOLVER, RanksSamples
from problems import LOSS_OF, Heard, bound_of, flat, outputs_of, primal_of, problem, similar

from ranking import Query, make_method, method_class


@CONVEX
@pytest.mark.parametrize(
    ("seeds", "penalties", "dtype"),
    [
        ([0], (0.01, 1.0, 100.0, 1e4), np.float64),
        ([1, 2, 3], (20.0,), np.float64),
        ([4], (0.1, 1e4), np.float32),
    ],
)
def test_bounds_enclose_the_optimum_over_all_outputs(
    case: RanksSamples, seeds: list[int], penalties: tuple[float, ...], dtype: Any
) -> None:
    """Of several queries the objective is the mean (high-order, eq. 1)."""
    queries = [case.tiny(seed, dtype) for seed in seeds]
    outputs = [outputs_of(case.name, query) for query in queries]
    for C in penalties:
        events = Heard()
        method = case.make(C=C, tolerance=1e-6).fit(queries, events)
        optimum = reference.one_slack_optimum(outputs, C, bound_of(case.name, queries[0]))
        certificate = method.certificate
        recomputed = reference.one_slack_primal(flat(method.weights), outputs, C)
        assert certificate.primal == pytest.approx(recomputed, rel=1e-12), C
        assert certificate.converged == (certificate.relative_gap <= 1e-6)
        assert certificate.converged, C
        assert certificate.primal == pytest.approx(optimum, rel=2e-6), C
        for bounds in (certificate, *events):
            assert bounds.dual <= optimum * (1 + 1e-7), C
            assert bounds.primal >= optimum * (1 - 1e-7), C


@CONVEX
def test_progress_falls_from_above_and_stays_below(case: RanksSamples) -> None:
    for dtype in (np.float32, np.float64):
        events = Heard()
        C = 300.0 if case.name in LOSS_OF else 1.0
        method = case.make(C=C, tolerance=1e-7).fit([case.query(5, dtype=dtype)], events)
        assert method.certificate.converged
        assert len(events) > 2
        assert (np.diff([event.primal for event in events]) <= 0).all()
        assert max(event.dual for event in events) <= method.certificate.primal * (1 + 1e-6)
        assert (np.diff([(event.passes, event.seconds) for event in events], axis=0) >= 0).all()
        # An iteration more, or the hand-over to another solver: HOB-SVM has four of them.
        steps = np.diff([event.iteration for event in events])
        assert set(steps) <= {0, 1}
        assert (steps == 0).sum() <= 3


@pytest.mark.parametrize("name", ["AP-SVM", "NDCG-SVM"])
def test_every_algorithm_trains_to_the_same_optimum(name: str) -> None:
    query = problem(7)
    algorithms = ["auto", "greedy", "select", "buckets"] + ["search"] * (name == "AP-SVM")
    primals = [
        make_method(name, C=50.0, tolerance=1e-6, algorithm=algorithm).fit([query]).certificate.primal
        for algorithm in algorithms
    ]
    assert primals == pytest.approx([primals[0]] * len(primals), rel=2e-6)


RANDOM = np.random.default_rng(8)
DEGENERATE = {
    "one feature": Query(features=np.linspace(-1, 1, 9)[:, None], relevance=[0, 0, 1, 0, 0, 1, 0, 1, 1]),
    "duplicates": Query(features=np.repeat(RANDOM.normal(size=(6, 3)), 5, axis=0), relevance=[0, 1, 1] * 10),
    "one of each": Query(features=np.eye(2), relevance=[0, 1]),
    "all alike": Query(features=np.ones((5, 2)), relevance=[0, 1, 0, 0, 1]),
    "some without features": Query(features=np.eye(9)[:, :4], relevance=[1, 0, 0, 1, 0, 0, 0, 1, 0]),
    "large": Query(features=RANDOM.normal(size=(20, 3)) * 100, relevance=[0, 1] * 10),
    "small": Query(features=RANDOM.normal(size=(20, 3)) * 1e-6, relevance=[0, 1] * 10),
    "without information": Query(features=np.zeros((7, 3)), relevance=[1, 0, 1, 0, 0, 0, 0]),
    "one irrelevant": Query(features=RANDOM.normal(size=(8, 30)), relevance=[1] * 7 + [0]),
}


@EVERY_SOLVER
def test_degenerate_samples_are_trained_on_as_exactly(case: RanksSamples) -> None:
    for kind, alone in DEGENERATE.items():
        query = dataclasses.replace(alone, graph=similar(alone)) if case.graph else alone
        method = case.make(C=1e-3 if kind == "large" else 1.0, tolerance=1e-5).fit([query])
        assert method.certificate.converged, kind
        assert method.certificate.primal == pytest.approx(case.primal(method, query), rel=1e-10), kind


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_cutting_planes_continue_where_coordinate_descent_is_slow(C: float) -> None:
    """Classes that overlap and a large C: one training, whose counts and bounds never step back."""
    query, events = problem(4), Heard()
    slow = make_method("SVM", C=C, unit="paper", solver="coordinate descent", max_iterations=400).fit([query])
    method = make_method("SVM", C=C, unit="paper").fit([query], events)
    assert method.certificate.converged
    assert method.certificate.primal <= slow.certificate.primal * (1 + 1e-3)
    assert method.certificate.primal == pytest.approx(primal_of("SVM", method.weights, query, C), rel=1e-10)
    rising = [(event.iteration, event.seconds, -event.primal, event.dual) for event in events]
    assert (np.diff(rising, axis=0) >= 0).all()


@EVERY_SOLVER
def test_equal_problems_in_other_guises_have_one_solution(case: RanksSamples) -> None:
    """Grades above one count as relevant, and rows of features may lie anywhere in memory."""
    query = case.query(10)
    graded = dataclasses.replace(query, relevance=query.relevance * np.arange(1, 41))
    features = np.asfortranarray(np.repeat(query.features, 2, axis=0))[::2]
    strided = dataclasses.replace(query, features=features)
    plain, of_grades, of_strides = (
        flat(case.make().fit([each]).weights) for each in (query, graded, strided)
    )
    np.testing.assert_array_equal(plain, of_grades)
    np.testing.assert_allclose(plain, of_strides, rtol=1e-9)


def test_C_has_the_unit_of_ranking_losses_or_the_papers():
    """Four times as many samples of each kind: a margin is a quarter, C of the paper a sixteenth."""
    few, many = problem(2, n=10, positives=3), problem(3, n=40, positives=12)
    for name in ("SVM", "HOB-SVM"):
        for queries, shares in (([few], [4 * 3 * 7]), ([few, many], [4 * 3 * 7, 4 * 12 * 28])):
            paper = 50.0 * float(np.mean([1 / share for share in shares]))
            in_ranking_unit = make_method(name, C=50.0, tolerance=1e-6).fit(queries)
            in_paper_unit = make_method(name, C=paper, tolerance=1e-6, unit="paper").fit(queries)
            assert in_ranking_unit.certificate.primal == pytest.approx(
                in_paper_unit.certificate.primal, rel=2e-6
            )
    assert "4" in method_class("SVM").objective_of({"unit": "ranking"})
    paper = method_class("SVM").objective_of({"unit": "paper"})
    assert paper.startswith(r"\tfrac12\|w\|^2 + C\max_Y")


def test_a_warm_start_with_another_unit_of_C_does_not_overstate_the_bound():
    query, events = problem(2), Heard()
    first = make_method("SVM", C=1.0, unit="paper", tolerance=1e-5).fit([query])
    again = make_method("SVM", C=4.0 * 10 * 30, tolerance=1e-5).fit([query], events, warm_start=first)
    assert again.certificate.primal == pytest.approx(first.certificate.primal, rel=2e-5)
    assert events[0].dual == pytest.approx(first.certificate.dual, rel=1e-9), (
        "equal problems: the proof holds"
    )
    warm = make_method("SVM", C=400.0, tolerance=1e-5).fit([query], warm_start=first)
    cold = make_method("SVM", C=400.0, tolerance=1e-5).fit([query])
    assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=2e-5)
