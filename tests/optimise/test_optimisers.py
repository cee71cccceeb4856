"""The optimisers on risks of their own, without a method around them."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest
from checks import case
from numba.core.dispatcher import Dispatcher

from ranking import ProgressEvent, Query, StopTraining, make_method
from ranking.optimise import Cut, LinearRisk, WorkingSet, coordinate_descent, cutting_plane
from ranking.optimise.block import ROWS_AT_ONCE, Block, exact_product
from ranking.optimise.clock import Clock
from ranking.optimise.coordinate_descent import best_length
from ranking.optimise.risk import certified


def hinge_risk(seed: int = 0, n: int = 60, d: int = 5, C: float = 0.5, dtype: type = np.float64) -> tuple:
    """A weighted hinge: the risk, labels and costs."""
    rng = np.random.default_rng(seed)
    labels = np.where(rng.uniform(size=n) < 0.4, 1.0, -1.0)
    features = (rng.normal(size=(n, d)) + 0.5 * labels[:, None]).astype(dtype)
    costs = rng.uniform(0.2, 1.0, n) / n

    def oracle(scores: np.ndarray) -> Cut:
        wrong = costs - labels * scores > 0
        return Cut(np.where(wrong, -labels, 0.0), float(costs[wrong].sum()))

    return LinearRisk(features, C, oracle, scale=2.0), labels, costs


def primal(weights: np.ndarray, risk: LinearRisk, labels: np.ndarray, costs: np.ndarray) -> float:
    margins = labels * (2.0 * risk.features.astype(float) @ weights)
    return float(weights @ weights) / 2 + risk.C * float(np.maximum(0, costs - margins).sum())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_both_optimisers_minimise_the_same_hinge(dtype: type) -> None:
    risk, labels, costs = hinge_risk(dtype=dtype)
    found = [cutting_plane(risk, 1e-6), coordinate_descent(risk, labels, costs, 1e-6)]
    for solution in found:
        recomputed = primal(solution.weights, risk, labels, costs)
        assert solution.certificate.primal == pytest.approx(recomputed, rel=1e-12)
        assert solution.certificate.converged
    assert found[0].certificate.primal == pytest.approx(found[1].certificate.primal, rel=2e-6)
    assert max(s.certificate.dual for s in found) <= min(s.certificate.primal for s in found) * (1 + 1e-12)


def test_the_dual_is_a_feasible_combination_of_cuts() -> None:
    risk, labels, costs = hinge_risk(1)
    solution = coordinate_descent(risk, labels, costs, 1e-5)
    multipliers = -solution.dual.coefficients * labels
    assert multipliers.min() >= 0
    assert multipliers.max() <= risk.C
    assert solution.dual.loss == pytest.approx(float(multipliers @ costs))
    normal = 2.0 * risk.features.T @ solution.dual.coefficients
    assert solution.certificate.dual == pytest.approx(
        solution.dual.loss - float(normal @ normal) / 2, rel=1e-12
    )


def test_seeds_fix_coordinate_descent() -> None:
    risk, labels, costs = hinge_risk(2)
    runs = [coordinate_descent(risk, labels, costs, 1e-3, seed=seed).weights for seed in (0, 0, 1)]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_coordinate_descent_keeps_what_its_last_sweep_found() -> None:
    risk, labels, costs = hinge_risk(3)
    solution = coordinate_descent(risk, labels, costs, 1e-9, max_iterations=1)
    assert solution.certificate.iterations == 1
    assert solution.weights.any()
    assert solution.certificate.primal < risk.C * costs.sum()


def test_single_steps_of_descent_are_double_precise_on_double_features() -> None:
    """Weights are kept along with the dual variables; what they lose a step must be in the sixteenth digit."""
    module = sys.modules["ranking.optimise.coordinate_descent"]
    risk, labels, costs = hinge_risk(4, C=3.0)
    alpha, weights = np.zeros(60), np.zeros(5)
    curvatures = 4.0 * (risk.features**2).sum(axis=1)
    module._descend(risk.features, 2.0, np.arange(60), labels, costs, curvatures, 3.0, alpha, weights)
    np.testing.assert_allclose(weights, 2.0 * risk.features.T @ (alpha * labels), rtol=1e-12)
    assert alpha.any()


def test_the_interpreted_descent_is_the_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["ranking.optimise.coordinate_descent"]
    risk, labels, costs = hinge_risk(5, n=20)
    compiled = coordinate_descent(risk, labels, costs, 1e-4)
    assert isinstance(module._descend, Dispatcher)
    monkeypatch.setattr(module, "_descend", module._descend.py_func)
    interpreted = coordinate_descent(risk, labels, costs, 1e-4)
    np.testing.assert_allclose(interpreted.weights, compiled.weights, rtol=1e-6)
    assert interpreted.certificate.converged


def test_multipliers_beyond_C_are_cut_off_in_a_warm_start() -> None:
    risk, labels, costs = hinge_risk(6, C=0.5)
    large = coordinate_descent(risk, labels, costs, 1e-3)
    smaller, *_ = hinge_risk(6, C=0.05)
    solution = coordinate_descent(smaller, labels, costs, 1e-4, start=large.dual)
    assert solution.certificate.converged
    assert (-solution.dual.coefficients * labels).max() <= 0.05
    cold = coordinate_descent(smaller, labels, costs, 1e-4)
    assert solution.certificate.primal == pytest.approx(cold.certificate.primal, rel=2e-4)


# ---------------------------------------------------------------------------------------------------------
# The best length of a direction
# ---------------------------------------------------------------------------------------------------------


def test_no_other_length_is_better() -> None:
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
        assert met.min() == pytest.approx(1, abs=1e-12), seed  # it meets the last margin, and is no longer


# ---------------------------------------------------------------------------------------------------------
# Cutting planes
# ---------------------------------------------------------------------------------------------------------


def test_planes_that_carry_no_weight_are_dropped_and_the_end_is_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    risk, *_ = hinge_risk(7, d=8, C=20.0)
    planes: list[int] = []
    expected = cutting_plane(risk, 1e-5)
    monkeypatch.setattr(sys.modules["ranking.optimise.cutting_plane"], "IDLE_ITERATIONS", 3)
    solution = cutting_plane(risk, 1e-5, on_progress=lambda event: planes.append(event.planes))
    assert min(np.diff(planes)) < 1
    assert solution.certificate.converged
    assert solution.certificate.primal == pytest.approx(expected.certificate.primal, rel=2e-5)


def test_the_working_set_alone_proves_the_bound() -> None:
    risk, *_ = hinge_risk(8, C=10.0)
    first = cutting_plane(risk, 1e-5)
    assert isinstance(first.working_set, WorkingSet)
    assert len(first.working_set) == len(first.working_set.losses) > 1
    again = cutting_plane(risk, 1e-4, start=first.weights, working_set=first.working_set)
    assert again.certificate.iterations == 0
    assert again.certificate.converged


def test_tolerances_below_the_accuracy_of_a_line_are_reached() -> None:
    """A search that ends at a fixed share of the objective would stand still."""
    for seed in range(4):
        risk, *_ = hinge_risk(seed, C=50.0)
        certificate = cutting_plane(risk, 1e-6, max_iterations=300).certificate
        assert certificate.converged
        assert certificate.relative_gap <= 1e-6


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_single_precision_goes_on_until_the_double_gap_is_closed(
    dtype: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    risk, *_ = hinge_risk(9, C=300.0, dtype=dtype)
    early = cutting_plane(risk, 1e-3, max_iterations=1000).certificate
    assert early.converged
    module = sys.modules["ranking.optimise.cutting_plane"]
    certified, refusals = module.certified, iter([False, False, False])

    def doubt(*arguments: object) -> object:
        certificate = certified(*arguments)
        return dataclasses.replace(certificate, converged=next(refusals, certificate.converged))

    monkeypatch.setattr(module, "certified", doubt)
    late = cutting_plane(risk, 1e-3, max_iterations=1000).certificate
    assert next(refusals, None) is None
    assert late.converged
    assert late.relative_gap <= 1e-3 / 8
    assert late.iterations > early.iterations


def failing(monkeypatch: pytest.MonkeyPatch, name: str, first: int) -> list[int]:
    """Have the program of that name fail from its so-manieth call on; how many planes each had."""
    module = sys.modules["ranking.optimise.cutting_plane"]
    solve, calls = getattr(module, name), list[int]()

    def fail(quadratic: np.ndarray, linear: np.ndarray) -> np.ndarray:
        calls.append(len(linear))
        if len(calls) >= first:
            raise ArithmeticError
        return solve(quadratic, linear)

    monkeypatch.setattr(module, name, fail)
    return calls


def test_a_program_that_is_given_up_on_is_solved_by_interior_points_from_there_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    risk, *_ = hinge_risk(12, C=30.0)
    calls = failing(monkeypatch, "solve_simplex_qp", 5)
    solution = cutting_plane(risk, 1e-6)
    assert len(calls) == 5
    assert solution.certificate.converged
    assert solution.certificate.iterations > 5


def test_a_program_that_cannot_be_solved_ends_training_with_what_was_proven(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    risk, labels, costs = hinge_risk(12, C=30.0)
    calls = failing(monkeypatch, "solve_simplex_qp", 5)
    careful = failing(monkeypatch, "solve_by_interior_point", 2)
    solution = cutting_plane(risk, 1e-6)
    assert (len(calls), len(careful)) == (5, 2)
    assert not solution.certificate.converged
    assert 0 < solution.certificate.dual < solution.certificate.primal
    assert solution.certificate.primal == pytest.approx(
        primal(solution.weights, risk, labels, costs), rel=1e-12
    )


@pytest.mark.parametrize(("seed", "C", "solver"), [(0, 1e6, "auto"), (1, 1e5, "cutting plane")])
def test_few_features_and_a_large_C_are_trained_to_the_end(seed: int, C: float, solver: str) -> None:
    """The planes nearly cancel: daqp gives up in the first case, and finds no way on in the second."""
    rng = np.random.default_rng(seed)
    features = np.abs(rng.standard_normal((1800, 10))).astype(np.float32)
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    relevance = (rng.random(1800) < 0.1).astype(int)
    method = make_method("SVM", C=C, solver=solver).fit([Query(features, relevance)])
    assert method.certificate.converged


def test_cuts_of_another_problem_are_found_out() -> None:
    risk, *_ = hinge_risk(13, C=1.0)
    solution = cutting_plane(risk, 1e-4)
    with pytest.raises(ArithmeticError):
        certified(risk, solution.weights, Cut(np.zeros(60), 100.0), 1e-3, 1, 0.0)


def test_a_gap_within_rounding_proves_nothing() -> None:
    """Scores and losses of 1e12 that cancel to nothing leave a hinge without a correct digit."""
    risk = LinearRisk(np.full((2, 1), 1e12), 1.0, lambda scores: Cut(np.array([1.0, -1.0]), 1e-6))
    certificate = certified(risk, np.ones(1), Cut(np.zeros(2), 0.5), 1e-3, 1, 0.0)
    assert certificate.primal == pytest.approx(0.5, abs=1e-5)
    assert certificate.relative_gap <= 1e-3
    assert not certificate.converged


# ---------------------------------------------------------------------------------------------------------
# Stopping, time, and exact products
# ---------------------------------------------------------------------------------------------------------


def test_stopping_keeps_the_best_weights_so_far() -> None:
    risk, labels, costs = hinge_risk(10, C=30.0)
    events: list[ProgressEvent] = []
    for iteration in (0, 1, 3):

        def stop(event: ProgressEvent, last: int = iteration) -> None:
            events.append(event)
            if event.iteration >= last:
                raise StopTraining

        for solve, given in ((cutting_plane, (risk,)), (coordinate_descent, (risk, labels, costs))):
            solution = solve(*given, 1e-9, on_progress=stop)
            with case(solve, iteration):
                assert not solution.certificate.converged
                assert solution.certificate.iterations == events[-1].iteration == iteration
                assert solution.certificate.primal == pytest.approx(events[-1].primal, rel=1e-9)
                recomputed = primal(solution.weights, risk, labels, costs)
                assert solution.certificate.primal == pytest.approx(recomputed, rel=1e-12)


def test_callbacks_take_no_training_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("ranking.optimise.clock.time.perf_counter", lambda: now[0])
    seen: list[float] = []

    def on_progress(event: ProgressEvent) -> None:
        seen.append(event.seconds)
        now[0] += 1000
        if len(seen) == 3:
            raise StopTraining

    clock = Clock(on_progress)
    for _ in range(2):
        now[0] += 1
        clock.report(0, 1.0, 0.0, 0)
    now[0] += 1
    with pytest.raises(StopTraining):
        clock.report(0, 1.0, 0.0, 0)
    now[0] += 0.5
    assert (seen, clock.seconds) == ([1.0, 2.0, 3.0], 3.5)


def test_an_error_in_a_callback_is_not_swallowed() -> None:
    risk, labels, costs = hinge_risk()

    def fail(event: ProgressEvent) -> None:
        raise KeyError

    with pytest.raises(KeyError):
        cutting_plane(risk, on_progress=fail)
    with pytest.raises(KeyError):
        coordinate_descent(risk, labels, costs, on_progress=fail)


def test_rounding_of_a_normal_that_nearly_cancels_is_not_taken_for_a_false_dual() -> None:
    """Features around 100 that differ by hundredths: X'c loses digits, and the dual may round above the primal."""
    features = [
        [100.0465316772461, 99.86648559570312, 99.96109008789062],
        [99.99772644042969, 99.97247314453125, 100.03337097167969],
        [99.95240020751953, 100.02790069580078, 99.93378448486328],
    ]
    query = Query(np.array(features, np.float32), np.array([1, 0, 0]))
    assert make_method("NDCG-SVM", C=1e5, tolerance=1e-7).fit([query]).certificate is not None


# ---------------------------------------------------------------------------------------------------------
# A second block, whose weights are bound
# ---------------------------------------------------------------------------------------------------------


def risk_of_two_blocks(dtype: type) -> tuple[LinearRisk, np.ndarray]:
    """Over more rows than are turned into doubles at once; and the matrix of both blocks as it is written."""
    rng = np.random.default_rng(20)
    features, affinity = rng.normal(size=(ROWS_AT_ONCE + 9, 3)), rng.uniform(size=(ROWS_AT_ONCE + 50, 2))
    features, affinity = features.astype(dtype), affinity.astype(dtype)
    matrix = np.zeros((len(features) + len(affinity), 5))
    matrix[: len(features), :3], matrix[len(features) :, 3:] = (
        2.0 * features.astype(float),
        0.3 * affinity.astype(float),
    )
    risk = LinearRisk(
        features, 1.0, lambda scores: Cut(np.zeros(len(matrix)), 0.0), 2.0, Block(affinity, 0.3)
    )
    return risk, matrix


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_two_blocks_are_one_matrix(dtype: type) -> None:
    risk, matrix = risk_of_two_blocks(dtype)
    rng = np.random.default_rng(21)
    weights, coefficients = rng.normal(size=5), rng.normal(size=len(matrix))
    assert risk.shape == matrix.shape
    assert risk.free == 3
    loose = 1e-13 if dtype is np.float64 else 1e-4
    exact = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(risk.exact_scores(weights), matrix @ weights, **exact)
    np.testing.assert_allclose(risk.exact_normal(coefficients), matrix.T @ coefficients, **exact)
    np.testing.assert_allclose(risk.scores(weights), matrix @ weights, rtol=loose, atol=20 * loose)
    np.testing.assert_allclose(
        risk.normal(coefficients), matrix.T @ coefficients, rtol=loose, atol=200 * loose
    )
    assert risk.scores(weights).dtype == risk.normal(coefficients).dtype == np.float64
    assert exact_product(risk.features[:0], weights[:3]).shape == (0,)
    lengths = np.concatenate([block.lengths() for block in risk.blocks])
    np.testing.assert_allclose(lengths, np.linalg.norm(matrix, axis=1), rtol=1e-12)


def test_the_dual_holds_with_the_least_weights_that_are_allowed() -> None:
    """min 1/2 |w|^2 + w.normal over w2 <= 0, against a grid."""
    risk, matrix = risk_of_two_blocks(np.float64)
    normal = np.array([0.5, -1.0, 0.0, 0.75, -0.25])
    least = risk.least(normal)
    assert least.tolist() == [-0.5, 1.0, 0.0, -0.75, 0.0]
    assert normal.tolist() == [0.5, -1.0, 0.0, 0.75, -0.25]
    rng = np.random.default_rng(22)
    others = rng.normal(size=(2000, 5))
    others[:, 3:] = -np.abs(others[:, 3:])
    values = (others**2).sum(axis=1) / 2 + others @ normal
    assert values.min() >= least @ least / 2 + least @ normal
    signed = dataclasses.replace(risk, highest=np.inf)
    np.testing.assert_array_equal(signed.least(normal), -normal)
    assert (risk.free, signed.free, signed.columns) == (3, 5, 3)
    dual = Cut(0.1 * rng.normal(size=len(matrix)), 0.7)
    total = matrix.T @ dual.coefficients
    assert signed.certify(np.zeros(5), dual)[1] == pytest.approx(0.7 - total @ total / 2, rel=1e-12)
    bound = 0.7 + (np.append(-total[:3], np.minimum(-total[3:], 0)) ** 2).sum() / -2
    assert risk.certify(np.zeros(5), dual)[1] == pytest.approx(bound, rel=1e-12)
