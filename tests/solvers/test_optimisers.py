"""The optimisers on risks of their own, without a method around them."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

import numpy as np
import pytest
from kernels import interpret
from scipy.linalg import block_diag

from ranking import ProgressEvent, Query, make_method
from ranking.solvers import Cut, LinearRisk, coordinate_descent, cutting_plane
from ranking.solvers.block import ROWS_AT_ONCE, Block, exact_product
from ranking.solvers.clock import Clock
from ranking.solvers.coordinate_descent import best_length
from ranking.solvers.quasi_newton import quasi_newton
from ranking.solvers.risk import certified

planes_module = sys.modules["ranking.solvers.cutting_plane"]
descent_module = sys.modules["ranking.solvers.coordinate_descent"]


def hinge_risk(seed: int = 0, n: int = 60, d: int = 5, C: float = 0.5, dtype: type = np.float64) -> tuple:
    """A weighted hinge: the risk, labels and costs."""
    rng = np.random.default_rng(seed)
    labels = np.where(rng.uniform(size=n) < 0.4, 1.0, -1.0)
    features = (rng.normal(size=(n, d)) + 0.5 * labels[:, None]).astype(dtype)
    costs = rng.uniform(0.2, 1.0, n) / n

    def oracle(scores: np.ndarray) -> Cut:
        wrong = costs - labels * scores > 0
        return Cut(np.where(wrong, -labels, 0.0), float(costs[wrong].sum()))

    return LinearRisk(Block(features, 2.0), C, oracle), labels, costs


def test_single_steps_of_descent_are_double_precise_on_double_features() -> None:
    """Weights are kept beside dual variables."""
    # What they lose per step must be in the sixteenth digit.
    risk, labels, costs = hinge_risk(4, C=3.0)
    alpha, weights = np.zeros(60), np.zeros(5)
    curvatures = 4.0 * (risk.features.rows**2).sum(axis=1)
    descent_module._descend(
        risk.features.rows, 2.0, np.arange(60), labels, costs, curvatures, 3.0, alpha, weights
    )
    np.testing.assert_allclose(weights, 2.0 * risk.features.rows.T @ (alpha * labels), rtol=1e-12)
    assert alpha.any()


def test_the_interpreted_descent_is_the_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    risk_and_data = hinge_risk(5, n=20)
    compiled = coordinate_descent(*risk_and_data, 1e-4)
    assert interpret(monkeypatch, [descent_module])
    np.testing.assert_allclose(coordinate_descent(*risk_and_data, 1e-4).weights, compiled.weights, rtol=1e-6)


def test_the_length_of_the_weights_is_optimal() -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        weights, margins, costs = rng.normal(size=3), rng.normal(size=30) + seed / 4, rng.uniform(size=30)
        C = 10.0 ** rng.uniform(-2, 2)
        length, least = best_length(weights, margins, costs, C)
        assert length >= 0, seed
        tried = np.concatenate([[length], np.linspace(0, 3 * length + 3, 20_001), costs / np.abs(margins)])
        hinges = np.maximum(0, costs - np.multiply.outer(tried, margins)).sum(axis=-1)
        values = tried**2 * float(weights @ weights) / 2 + C * hinges
        assert least == pytest.approx(values[0], rel=1e-12), seed
        assert least <= values.min() * (1 + 1e-12), seed
    # A direction that is nothing has length one, one that only hurts has length zero.
    assert best_length(np.zeros(2), np.zeros(3), np.full(3, 0.5), 4.0) == (1.0, 6.0)
    assert best_length(np.ones(2), -np.ones(3), np.full(3, 0.5), 4.0) == (0.0, 6.0)


def test_margins_missed_by_single_precision_cost_nothing_at_a_large_C() -> None:
    """Classes that separate: the optimum is the shortest vector that meets all margins, whatever C."""
    for seed in range(3):
        risk, labels, costs = hinge_risk(seed, n=30, d=80, C=1e6, dtype=np.float32)
        solution = coordinate_descent(risk, labels, costs, 1e-3)
        assert solution.certificate.converged, seed
        met = labels * risk.exact_scores(solution.weights) / costs
        # it meets the last margin, and is no longer
        assert met.min() == pytest.approx(1, abs=1e-12), seed


def test_a_small_matrix_in_single_precision_has_exact_products() -> None:
    features = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    block, wide = Block(features, 2.0), Block(features.astype(np.float64), 2.0)
    for vector in (np.linspace(0.1, 1, 4), np.ones(4) / 3):
        assert block.scores(vector).tolist() == wide.scores(vector).tolist()
    assert block.normal(np.ones((2, 5)) / 3).tolist() == wide.normal(np.ones((2, 5)) / 3).tolist()


def test_coordinate_descent_ends_without_progress() -> None:
    """Steps of at most cost/(2 |x|^2) reach a bound C in C times as many of them."""
    risk, labels, costs = hinge_risk(1, n=30, d=2, C=1e6)
    solution = coordinate_descent(risk, labels, costs, 1e-6, max_iterations=5000)
    assert not solution.certificate.converged
    assert solution.certificate.iterations < 5000


def test_cutting_planes_end_when_the_promising_callback_says_so() -> None:
    risk, *_ = hinge_risk(7, d=8, C=20.0)
    seen: list[tuple[int, float]] = []

    def promising(iterations: int, gap: float) -> bool:
        seen.append((iterations, gap))
        return iterations < 3

    solution = cutting_plane(risk, 1e-5, promising=promising)
    assert not solution.certificate.converged
    assert not solution.stopped
    assert [iterations for iterations, _ in seen] == [0, 1, 2, 3]
    assert seen[-1][1] == pytest.approx(solution.certificate.relative_gap, rel=1e-6)


def test_planes_that_carry_no_weight_are_dropped_and_the_end_is_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    risk, *_ = hinge_risk(7, d=8, C=20.0)
    planes: list[int] = []
    expected = cutting_plane(risk, 1e-5)
    monkeypatch.setattr(planes_module, "IDLE_ITERATIONS", 3)
    solution = cutting_plane(risk, 1e-5, on_progress=lambda event: planes.append(event.planes))
    assert min(np.diff(planes)) < 1
    assert solution.certificate.converged
    assert solution.certificate.primal == pytest.approx(expected.certificate.primal, rel=2e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_single_precision_continues_until_the_double_precision_gap_is_closed(
    dtype: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    risk, *_ = hinge_risk(9, C=300.0, dtype=dtype)
    early = cutting_plane(risk, 1e-3, max_iterations=1000).certificate
    refusals = iter([False, False, False])

    def doubt(*arguments: Any) -> Any:
        certificate = certified(*arguments)
        return dataclasses.replace(certificate, converged=next(refusals, certificate.converged))

    monkeypatch.setattr(planes_module, "certified", doubt)
    late = cutting_plane(risk, 1e-3, max_iterations=1000).certificate
    assert next(refusals, None) is None
    assert early.converged
    assert late.converged
    assert late.relative_gap <= 1e-3 / 8
    assert late.iterations > early.iterations


def failing(monkeypatch: pytest.MonkeyPatch, name: str, first: int) -> list[int]:
    """Have the program of that name fail from its so-manieth call on; how many planes each had."""
    solve, calls = getattr(planes_module, name), list[int]()

    def fail(quadratic: np.ndarray, linear: np.ndarray) -> np.ndarray:
        calls.append(len(linear))
        if len(calls) >= first:
            raise ArithmeticError
        return solve(quadratic, linear)

    monkeypatch.setattr(planes_module, name, fail)
    return calls


def test_after_a_failed_simplex_program_interior_points_solve_all_further_programs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And where these fail too, training ends with what was proven."""
    risk, *_ = hinge_risk(12, C=30.0)
    calls = failing(monkeypatch, "solve_simplex_qp", 5)
    solution = cutting_plane(risk, 1e-6)
    assert len(calls) == 5
    assert solution.certificate.converged
    assert solution.certificate.iterations > 5
    calls.clear()
    careful = failing(monkeypatch, "solve_by_interior_point", 2)
    solution = cutting_plane(risk, 1e-6)
    assert (len(calls), len(careful)) == (5, 2)
    assert not solution.certificate.converged
    assert 0 < solution.certificate.dual < solution.certificate.primal
    scores = risk.exact_scores(solution.weights)
    primal = risk.objective(solution.weights, scores, risk.oracle(scores))
    assert solution.certificate.primal == pytest.approx(primal, rel=1e-12)


@pytest.mark.parametrize(("seed", "C", "solver"), [(0, 1e6, "auto"), (1, 1e5, "cutting plane")])
def test_few_features_and_a_large_C_are_trained_to_the_end(seed: int, C: float, solver: str) -> None:
    """The planes nearly cancel: daqp gives up in the first case, and finds no way on in the second."""
    rng = np.random.default_rng(seed)
    features = np.abs(rng.standard_normal((1800, 10))).astype(np.float32)
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    relevance = (rng.random(1800) < 0.1).astype(int)
    method = make_method("SVM", C=C, solver=solver).fit([Query(features, relevance)])
    assert method.certificate.converged


def test_cuts_of_another_problem_are_detected() -> None:
    risk, *_ = hinge_risk(13, C=1.0)
    solution = cutting_plane(risk, 1e-4)
    with pytest.raises(ArithmeticError):
        certified(risk, solution.weights, Cut(np.zeros(60), 100.0), 1e-3, 1, 0.0)


def test_a_gap_within_rounding_proves_nothing() -> None:
    """Scores and losses of 1e12 that cancel to nothing leave a hinge without a correct digit."""
    risk = LinearRisk(Block(np.full((2, 1), 1e12)), 1.0, lambda scores: Cut(np.array([1.0, -1.0]), 1e-6))
    certificate = certified(risk, np.ones(1), Cut(np.zeros(2), 0.5), 1e-3, 1, 0.0)
    assert certificate.primal == pytest.approx(0.5, abs=1e-5)
    assert certificate.relative_gap <= 1e-3
    assert not certificate.converged


def test_an_error_in_a_callback_is_not_swallowed() -> None:
    def fail(event: ProgressEvent) -> None:
        raise KeyError

    risk_and_data = hinge_risk()
    for solve in (cutting_plane, coordinate_descent):
        with pytest.raises(KeyError):
            solve(*risk_and_data[: 1 if solve is cutting_plane else 3], on_progress=fail)


def test_rounding_of_a_normal_that_nearly_cancels_is_not_taken_for_a_false_dual() -> None:
    """X'c loses digits."""
    # Features around 100 differ by hundredths, and the dual may round above the primal.
    features = [
        [100.0465316772461, 99.86648559570312, 99.96109008789062],
        [99.99772644042969, 99.97247314453125, 100.03337097167969],
        [99.95240020751953, 100.02790069580078, 99.93378448486328],
    ]
    query = Query(np.array(features, np.float32), np.array([1, 0, 0]))
    assert make_method("NDCG-SVM", C=1e5, tolerance=1e-7).fit([query]).certificate is not None


def risk_of_two_blocks(dtype: type) -> tuple[LinearRisk, np.ndarray]:
    """Over more rows than are turned into doubles at once; and the matrix of both blocks as it is written."""
    rng = np.random.default_rng(20)
    features = rng.normal(size=(ROWS_AT_ONCE + 9, 3)).astype(dtype)
    affinity = rng.uniform(size=(ROWS_AT_ONCE + 50, 2)).astype(dtype)
    matrix = block_diag(2.0 * features.astype(float), 0.3 * affinity.astype(float))
    nothing = Cut(np.zeros(len(matrix)), 0.0)
    return LinearRisk(Block(features, 2.0), 1.0, lambda scores: nothing, Block(affinity, 0.3)), matrix


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_two_blocks_are_one_matrix(dtype: type) -> None:
    risk, matrix = risk_of_two_blocks(dtype)
    rng = np.random.default_rng(21)
    weights, coefficients = rng.normal(size=5), rng.normal(size=len(matrix))
    scores, normal = matrix @ weights, matrix.T @ coefficients
    assert risk.shape == matrix.shape
    loose = 1e-13 if dtype is np.float64 else 1e-4
    np.testing.assert_allclose(risk.exact_scores(weights), scores, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(risk.exact_normal(coefficients), normal, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(risk.scores(weights), scores, rtol=loose, atol=20 * loose)
    np.testing.assert_allclose(risk.normal(coefficients), normal, rtol=loose, atol=200 * loose)
    assert risk.scores(weights).dtype == risk.normal(coefficients).dtype == np.float64
    assert exact_product(risk.features.rows[:0], weights[:3]).shape == (0,)
    lengths = np.concatenate([block.lengths() for block in risk.blocks])
    np.testing.assert_allclose(lengths, np.linalg.norm(matrix, axis=1), rtol=1e-12)


def test_the_dual_holds_with_the_least_weights_that_are_allowed() -> None:
    """min 1/2 |w|^2 + w.normal over w2 <= 0, where w2 is bound and where it is not."""
    bound, matrix = risk_of_two_blocks(np.float64)
    free = dataclasses.replace(bound, highest=np.inf)
    assert (bound.free, free.free, free.columns) == (3, 5, 3)
    normal = np.array([0.5, -1.0, 0.0, 0.75, -0.25])
    assert bound.least(normal).tolist() == [-0.5, 1.0, 0.0, -0.75, 0.0]
    assert free.least(normal).tolist() == (-normal).tolist() == [-0.5, 1.0, 0.0, -0.75, 0.25]
    dual = Cut(0.1 * np.random.default_rng(22).normal(size=len(matrix)), 0.7)
    total = -matrix.T @ dual.coefficients
    for risk, least in ((free, total), (bound, np.append(total[:3], np.minimum(total[3:], 0)))):
        assert risk.certify(np.zeros(5), dual)[1] == pytest.approx(0.7 - least @ least / 2, rel=1e-12)


def test_smooth_searches_leave_the_start_and_end_at_the_optimum() -> None:
    """Scores that shall be 1, by ridge regression: the start is good enough at once, and is left even so."""
    features = np.random.default_rng(14).random((20, 4))

    def objective(point: np.ndarray) -> tuple[float, np.ndarray]:
        missed = features @ point - 1
        return 0.5 * float(point @ point + missed @ missed), point + features.T @ missed

    def curvature(_: np.ndarray, values: np.ndarray) -> np.ndarray:
        return values + features.T @ (features @ values)

    optimum = np.linalg.solve(np.eye(4) + features.T @ features, features.sum(axis=0))
    for second in (None, curvature):
        arguments = objective, np.zeros(4)
        once = quasi_newton(*arguments, lambda _: True, lambda _: 0.0, 10, Clock(None), second)
        assert once.iterations == 1
        assert once.value < objective(np.zeros(4))[0]
        best = quasi_newton(
            *arguments, lambda best: abs(best.gradient).max() < 1e-9, lambda _: 0.0, 100, Clock(None), second
        )
        np.testing.assert_allclose(best.point, optimum, rtol=1e-8)
