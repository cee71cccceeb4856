"""Starting from another run: the same optimum, sooner."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from problems import CONVEX_METHODS, EVERY_METHOD, Problem, convex, primal_of, problem

from ranking import ProgressEvent, Query, StopTraining, make_method
from ranking.methods.training_set import TrainingSet


@CONVEX_METHODS
def test_cuts_of_another_C_lead_to_the_same_optimum(
    name: str, settings: dict[str, Any], problem: Problem
) -> None:
    query = problem(0)
    for before, after in ((0.1, 1.0), (1.0, 0.1)):
        first = make_method(name, C=before, tolerance=1e-5, **settings).fit([query])
        warm = make_method(name, C=after, tolerance=1e-5, **settings).fit([query], warm_start=first)
        cold = make_method(name, C=after, tolerance=1e-5, **settings).fit([query])
        assert warm.certificate.converged
        assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=2e-5)
        assert warm.certificate.primal == pytest.approx(
            primal_of(name, warm.weights, query, after), rel=1e-12
        )


@EVERY_METHOD
def test_continuing_a_finished_run_takes_next_to_nothing(
    name: str, settings: dict[str, Any], problem: Problem
) -> None:
    query = problem(1)
    first = make_method(name, C=1.0, tolerance=1e-4, **settings).fit([query])
    again = make_method(name, C=1.0, tolerance=1e-4, **settings).fit([query], warm_start=first)
    assert again.certificate.converged
    assert again.certificate.primal <= first.certificate.primal * (1 + 1e-12)
    if first.solution.working_set is None:  # Frank-Wolfe and coordinate descent keep none
        assert again.certificate.iterations < first.certificate.iterations
    else:
        assert again.certificate.iterations <= 1 < first.certificate.iterations


@CONVEX_METHODS
def test_continuing_a_stopped_run_keeps_what_it_had(
    name: str, settings: dict[str, Any], problem: Problem
) -> None:
    query = problem(2)

    def stop(event: ProgressEvent) -> None:
        if event.iteration == 3:
            raise StopTraining

    stopped = make_method(name, C=1.0, tolerance=1e-5, **settings).fit([query], stop)
    events: list[ProgressEvent] = []
    make_method(name, C=1.0, tolerance=1e-5, **settings).fit([query], events.append, warm_start=stopped)
    assert events[0].dual >= stopped.certificate.dual * (1 - 1e-6)
    assert events[-1].relative_gap <= 1e-5


@EVERY_METHOD
def test_weights_of_other_samples_are_a_start(name: str, settings: dict[str, Any], problem: Problem) -> None:
    if name == "SVM" and settings["solver"] != "cutting plane":
        return  # its start is its dual, which other samples do not have: the next test
    other, query = problem(3), problem(4)
    first = make_method(name, C=10.0, **settings).fit([other])
    events: list[ProgressEvent] = []
    warm = make_method(name, C=10.0, tolerance=1e-5, **settings).fit([query], events.append, warm_start=first)
    cold = make_method(name, C=10.0, tolerance=1e-5, **settings).fit([query])
    at_first = min(primal_of(name, first.weights, query, 10.0), 10.0)  # that of weights 0
    assert events[0].primal <= at_first * (1 + 1e-9)
    assert warm.certificate.converged
    if convex(name, problem):
        assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=2e-5)


def test_coordinate_descent_trains_on_other_samples_as_from_nothing() -> None:
    first = make_method("SVM").fit([problem(3)])
    warm = make_method("SVM").fit([problem(4)], warm_start=first)
    assert warm.certificate.converged
    np.testing.assert_array_equal(warm.weights, make_method("SVM").fit([problem(4)]).weights)


def test_solvers_of_the_svm_start_from_each_other() -> None:
    query = problem(5)
    solvers = ("coordinate descent", "cutting plane")
    for one, other in (solvers, solvers[::-1]):
        first = make_method("SVM", C=1.0, tolerance=1e-5, solver=one).fit([query])
        second = make_method("SVM", C=1.0, tolerance=1e-5, solver=other).fit([query], warm_start=first)
        assert second.certificate.converged
        assert second.certificate.primal == pytest.approx(first.certificate.primal, rel=2e-5)


@CONVEX_METHODS
def test_cuts_of_the_same_samples_in_other_queries_prove_nothing(
    name: str, settings: dict[str, Any], problem: Problem
) -> None:
    """The samples of two queries under each other are not one query: its outputs are others."""
    parts = [problem(seed, n=20, positives=positives) for seed, positives in ((6, 3), (7, 12))]
    features = np.concatenate([part.features for part in parts])
    graph = TrainingSet.of(parts).graph
    whole = Query(features, np.concatenate([part.relevance for part in parts]), graph)
    for before, after in (([whole], parts), (parts, [whole])):
        first = make_method(name, C=1.0, tolerance=1e-5, **settings).fit(before)
        warm = make_method(name, C=1.0, tolerance=1e-5, **settings).fit(after, warm_start=first)
        cold = make_method(name, C=1.0, tolerance=1e-5, **settings).fit(after)
        assert warm.certificate.dual <= cold.certificate.primal
        assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=2e-5)


@EVERY_METHOD
def test_other_labels_on_the_same_features_are_other_samples(
    name: str, settings: dict[str, Any], problem: Problem
) -> None:
    query = problem(8)
    turned = dataclasses.replace(query, relevance=1 - query.relevance)
    first = make_method(name, C=1.0, tolerance=1e-5, **settings).fit([query])
    warm = make_method(name, C=1.0, tolerance=1e-5, **settings).fit([turned], warm_start=first)
    cold = make_method(name, C=1.0, tolerance=1e-5, **settings).fit([turned])
    assert warm.certificate.primal == pytest.approx(primal_of(name, warm.weights, turned, 1.0), rel=1e-12)
    if convex(name, problem):
        assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=2e-5)
