"""Cutting planes per component on the risk of HOB-SVM: against the whole program, and one-slack planes."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
import reference
from block_problems import agree, problem
from checks import case

from ranking import ProgressEvent, StopTraining
from ranking.solvers import Solution, component_planes, cutting_plane

module = sys.modules["ranking.solvers.component_planes"]
SIZES = [1] * 10 + [2] * 8 + [3] * 5 + [5, 6]


def solved(instance: tuple, tolerance: float = 1e-5, **options) -> Solution:
    risk, _, costs, components = instance
    return component_planes(risk, costs, components, tolerance, **options)


def test_the_optimum_is_that_of_the_whole_program() -> None:
    for C, eta, dtype in itertools.product([0.05, 5.0, 500.0], [0.01, 1.0], [np.float32, np.float64]):
        instance = risk, relevant, _, components = problem([4, 3, 1], 3, C, eta, dtype)
        pairs = components.edges, risk.pairwise.features.astype(float)
        outputs = reference.labelling_outputs(risk.features.rows.astype(float), relevant, pairs, eta)
        optimum = reference.one_slack_optimum([outputs], C, bound=3)
        solution = solved(instance)
        with case(C, eta, dtype):
            assert solution.certificate.converged
            assert solution.certificate.primal == pytest.approx(optimum, rel=1.1e-5)
            assert solution.certificate.dual == pytest.approx(optimum, rel=1.1e-5)
            assert (solution.weights[5:] <= 0).all()


def test_one_slack_planes_end_at_the_same_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where components share a slack, and of what has no features, which costs what it costs."""
    for C, eta in itertools.product([0.1, 10.0, 1000.0], [0.01, 1.0, 10.0]):
        with case(C, eta):
            instance = problem(SIZES, 1, C, eta)
            agree(solved(instance, 1e-4), cutting_plane(instance[0], 1e-3))
    bare = problem([3, 3, 1, 1], 6, 2.0)
    bare[0].features.rows[::2] = 0.0
    bare[0].pairwise.features[::2] = 0.0
    agree(solved(bare, 1e-4), cutting_plane(bare[0], 1e-3))
    monkeypatch.setattr(module, "GROUPS", 3)
    instance = problem(SIZES, 2, 10.0, 1.0)
    agree(solved(instance, 1e-4), cutting_plane(instance[0], 1e-3))


def test_component_planes_need_fewer_iterations_than_one_slack_planes() -> None:
    instance = problem(SIZES, 1, 100.0, 0.1)
    assert (
        3 * solved(instance, 1e-3).certificate.iterations < cutting_plane(instance[0]).certificate.iterations
    )


def test_at_the_optimum_one_evaluation_suffices() -> None:
    instance = problem(SIZES, 3, 1.0, 1.0)
    first = solved(instance)
    assert solved(instance, 1e-3, weights=first.weights).certificate.iterations < first.certificate.iterations
    assert solved(instance, max_iterations=0).certificate.primal == pytest.approx(instance[0].C, rel=1e-9)


def test_bounds_are_monotone_and_a_callback_ends_training() -> None:
    instance = problem(SIZES, 4, 30.0, 1.0)
    events: list[ProgressEvent] = []

    def third(event: ProgressEvent) -> None:
        events.append(event)
        if event.iteration == 3:
            raise StopTraining

    solution = solved(instance, on_progress=third)
    assert solution.stopped
    assert not solution.certificate.converged
    for before, after in itertools.pairwise(events):
        assert after.primal <= before.primal
        assert after.dual >= before.dual
    assert solution.certificate.primal == pytest.approx(events[-1].primal, rel=1e-9)
    assert solution.certificate.dual == pytest.approx(events[-1].dual, rel=1e-9)


def test_training_ends_when_rounding_prevents_progress() -> None:
    solution = solved(problem(SIZES, 5, 5.0, 10.0), 1e-17, max_iterations=5000)
    assert not solution.certificate.converged
    assert solution.certificate.iterations < 100
    assert solution.certificate.relative_gap < 1e-4
