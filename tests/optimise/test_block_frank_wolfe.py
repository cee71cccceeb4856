"""Block-coordinate Frank-Wolfe on the risk of HOB-SVM: against the whole program, and against the other optimisers."""

from __future__ import annotations

import itertools
import math
import sys
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from scipy.optimize import linprog

from ranking import ProgressEvent, StopTraining
from ranking.inference import Components, best_labelling
from ranking.losses.weighted_zero_one import misclassification_costs
from ranking.optimise import Cut, LinearRisk, Solution, block_frank_wolfe, coordinate_descent, cutting_plane
from ranking.optimise.block import Block
from ranking.optimise.polish import Onward, polished

module = sys.modules["ranking.optimise.block_frank_wolfe"]
turns = sys.modules["ranking.optimise.block_turns"]

Problem = tuple[LinearRisk, np.ndarray, np.ndarray, Components]


def cliques(sizes: list[int]) -> np.ndarray:
    """All pairs within groups of these sizes, as of boxes in one image."""
    pairs, start = [], 0
    for size in sizes:
        pairs += itertools.combinations(range(start, start + size), 2)
        start += size
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def problem(
    sizes: list[int],
    seed: int = 0,
    C: float = 1.0,
    eta: float = 1.0,
    dtype: type = np.float64,
    edges: np.ndarray | None = None,
    spread: float = 1.0,
) -> Problem:
    """The risk of HOB-SVM on random samples; `spread` tells how far affinities are from 1."""
    rng = np.random.default_rng(seed)
    n, edges = sum(sizes), cliques(sizes) if edges is None else edges
    group = np.repeat(rng.uniform(size=len(sizes)) < 0.5, sizes)
    relevant = np.where(rng.uniform(size=n) < 0.8, group, ~group)
    relevant[:2] = True, False
    order = rng.permutation(n)  # so that neighbours are no rows in a row
    relevant, place = relevant[np.argsort(order)], order
    size = 5 if n <= 8 else 30  # fewer features than samples bend a large problem so that all solvers creep
    features = (rng.normal(size=(n, size)) + 0.6 * relevant[:, None]).astype(dtype)
    edges = place[edges]
    affinity = np.exp(-spread * rng.uniform(size=(len(edges), 3))).astype(dtype)
    return risk_of(features, relevant, edges, affinity, C, eta)


def risk_of(
    features: np.ndarray, relevant: np.ndarray, edges: np.ndarray, affinity: np.ndarray, C: float, eta: float
) -> Problem:
    n, components = len(features), Components.of(len(features), edges)
    costs = misclassification_costs(relevant)
    differ = relevant[edges[:, 0]] != relevant[edges[:, 1]]

    def oracle(scores: np.ndarray) -> Cut:
        augmented = scores[:n] + np.where(relevant, -costs, costs)
        labels, _ = best_labelling(augmented, edges, np.minimum(scores[n:], 0), components)
        changed = labels[edges[:, 0]] != labels[edges[:, 1]]
        coefficients = np.concatenate([1.0 * labels - relevant, 1.0 * changed - differ])
        return Cut(coefficients, float(costs[labels != relevant].sum()))

    risk = LinearRisk(features, C, oracle, math.sqrt(2.0), Block(affinity, eta))
    return risk, relevant, costs, components


def planes(relevant: np.ndarray, costs: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and losses of all 2^n labellings, by their definitions."""
    labels = np.array(list(itertools.product([0, 1], repeat=len(relevant))))
    differ = labels[:, edges[:, 0]] != labels[:, edges[:, 1]]
    truth = relevant[edges[:, 0]] != relevant[edges[:, 1]]
    wrong = labels != relevant
    return np.hstack([labels - 1.0 * relevant, 1.0 * differ - truth]), wrong @ costs


def rows(risk: LinearRisk) -> np.ndarray:
    """All features as one float64 matrix: scores = rows @ weights."""
    (n, d), (m, d2) = risk.features.shape, risk.pairwise.features.shape
    matrix = np.zeros((n + m, d + d2))
    matrix[:n, :d] = risk.scale * risk.features.astype(float)
    matrix[n:, d:] = risk.pairwise.scale * risk.pairwise.features.astype(float)
    return matrix


def agree(found: Solution, other: Solution) -> None:
    """The first is optimal, and no bound of one contradicts the other, which may have stopped before its end."""
    for one, two in ((found, other), (other, found)):
        assert one.certificate.dual <= two.certificate.primal * (1 + 1e-9)
    assert found.certificate.converged
    assert other.certificate.relative_gap <= 0.02


# ---------------------------------------------------------------------------------------------------------
# The optimum
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("eta", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("C", [0.05, 5.0])
def test_the_optimum_is_that_of_the_whole_program(C: float, eta: float, dtype: type) -> None:
    risk, relevant, costs, components = problem([4, 3, 1], 3, C, eta, dtype)
    coefficients, losses = planes(relevant, costs, components.edges)
    weights, slack = cp.Variable(8), cp.Variable()
    constraints = [slack >= losses + (coefficients @ rows(risk)) @ weights, weights[5:] <= 0]
    cvx = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(weights) + C * slack), constraints)
    cvx.solve(cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    found = block_frank_wolfe(risk, relevant, costs, components, 1e-5)
    assert found.certificate.converged
    assert found.certificate.primal == pytest.approx(cvx.value, rel=1.1e-5)
    assert found.certificate.dual == pytest.approx(cvx.value, rel=1.1e-5)
    assert (found.weights[5:] <= 0).all()


@pytest.mark.parametrize("eta", [0.1, 10.0])
@pytest.mark.parametrize("seed", range(3))
def test_both_bounds_follow_from_their_definitions(seed: int, eta: float) -> None:
    risk, relevant, costs, components = problem([3, 3, 1], seed, 2.0, eta)
    found = block_frank_wolfe(risk, relevant, costs, components, 1e-4)
    coefficients, losses = planes(relevant, costs, components.edges)
    matrix = rows(risk)
    hinge = (losses + coefficients @ (matrix @ found.weights)).max()
    primal = found.weights @ found.weights / 2 + risk.C * hinge
    assert found.certificate.primal == pytest.approx(primal, rel=1e-12)
    normal = found.dual.coefficients @ matrix
    normal[5:] = np.maximum(normal[5:], 0)
    assert found.certificate.dual == pytest.approx(found.dual.loss - normal @ normal / 2, rel=1e-9)
    # The dual is a combination of labellings of total C.
    equal = np.vstack([coefficients.T, np.ones(len(losses)), losses])
    wanted = np.concatenate([found.dual.coefficients / risk.C, [1.0, found.dual.loss / risk.C]])
    assert linprog(np.zeros(len(losses)), A_eq=equal, b_eq=wanted).success


@pytest.mark.parametrize("eta", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_cutting_planes_end_at_the_same_optimum(C: float, eta: float) -> None:
    risk, *rest = problem([1] * 10 + [2] * 8 + [3] * 5 + [5, 6], 1, C, eta)
    agree(block_frank_wolfe(risk, *rest, tolerance=1e-4), cutting_plane(risk, 2e-3))


@pytest.mark.parametrize("block", ["none", "empty"])
def test_without_edges_it_is_the_binary_svm(block: str) -> None:
    with_edges, relevant, costs, components = problem([1] * 40, 2, 0.1)
    pairwise = None if block == "none" else with_edges.pairwise
    n = len(relevant)

    def oracle(scores: np.ndarray) -> Cut:
        return with_edges.oracle(scores[:n])

    risk = LinearRisk(with_edges.features, 0.1, oracle, with_edges.scale, pairwise)
    found = block_frank_wolfe(risk, relevant, costs, components, 1e-6)
    svm = LinearRisk(with_edges.features, 0.1, oracle, with_edges.scale)
    agree(found, coordinate_descent(svm, np.where(relevant, 1.0, -1.0), costs, 1e-6))
    assert found.weights.shape == (30 if block == "none" else 33,)


@pytest.mark.parametrize("eta", [0.3, 30.0])
@pytest.mark.parametrize("shape", ["chain", "two hubs"])
def test_components_too_large_to_enumerate_are_cut(shape: str, eta: float) -> None:
    size = module.ENUMERATED + 5
    edges = {
        "chain": np.array([(i, i + 1) for i in range(size - 1)]),
        "two hubs": np.array([(hub, i) for hub in (0, 1) for i in range(2, size)]),
    }[shape]
    risk, *rest = problem([size, 1, 1], 4, 2.0, eta, edges=edges)
    agree(block_frank_wolfe(risk, *rest, tolerance=1e-4), cutting_plane(risk, 2e-3))


def test_planes_that_find_no_slot_become_one(monkeypatch: pytest.MonkeyPatch) -> None:
    risk, *rest = problem([6, 5, 5, 4, 1], 5, 0.5, 3.0)
    few: list[ProgressEvent] = []
    many: list[ProgressEvent] = []
    wide = block_frank_wolfe(risk, *rest, tolerance=1e-4, on_progress=many.append)
    monkeypatch.setattr(module, "SLOTS", 3)
    narrow = block_frank_wolfe(risk, *rest, tolerance=1e-2, on_progress=few.append)
    agree(narrow, wide)
    assert few[-1].planes <= 3 * 5 < many[-1].planes


def test_samples_and_edges_without_features() -> None:
    """What has no features can reach no margin: it costs what it costs."""
    risk, relevant, costs, components = problem([3, 3, 1, 1], 6, 2.0)
    risk.features[::2] = 0.0
    risk.pairwise.features[::2] = 0.0
    agree(block_frank_wolfe(risk, relevant, costs, components, 1e-5), cutting_plane(risk, 2e-3))


def test_affinities_near_one_and_a_large_eta_take_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """All edges pull in one direction. Without the anchor no component can move alone."""
    risk, *rest = problem([2] * 8 + [3] * 4 + [1] * 4, 7, 0.05, 100.0, spread=1e-3)
    found = block_frank_wolfe(risk, *rest, tolerance=1e-3, max_iterations=100)
    assert found.certificate.converged
    # What was proven along the way is that of the problem without the anchor.
    early = block_frank_wolfe(risk, *rest, tolerance=1e-3, max_iterations=1)
    assert early.certificate.dual > 0.5 * found.certificate.primal
    monkeypatch.setattr(module, "EASE", 0.0)
    held_by_nothing = block_frank_wolfe(risk, *rest, tolerance=1e-3, max_iterations=100)
    assert not held_by_nothing.certificate.converged
    assert held_by_nothing.certificate.dual <= found.certificate.primal


# ---------------------------------------------------------------------------------------------------------
# A run: seeds, the start, the end
# ---------------------------------------------------------------------------------------------------------


def test_seeds_fix_the_run_and_all_end_at_one_optimum() -> None:
    risk, *rest = problem([1] * 10 + [3] * 8, 8, 2.0, 3.0)
    runs = [block_frank_wolfe(risk, *rest, tolerance=1e-4, seed=seed) for seed in (0, 0, 1, 2)]
    np.testing.assert_array_equal(runs[0].weights, runs[1].weights)
    assert not np.array_equal(runs[0].weights, runs[2].weights)
    for run in runs[1:]:
        agree(runs[0], run)


@pytest.mark.parametrize("eta", [0.05, 30.0])
def test_a_warm_start_begins_with_what_was_proven(eta: float) -> None:
    risk, *rest = problem([1] * 10 + [3] * 8, 9, 2.0, eta)
    cold = block_frank_wolfe(risk, *rest, tolerance=1e-4)
    warm = block_frank_wolfe(risk, *rest, tolerance=1e-4, start=cold.dual, max_iterations=0)
    assert warm.certificate.dual >= cold.certificate.dual * (1 - 1e-9)
    onward = block_frank_wolfe(risk, *rest, tolerance=1e-6, start=cold.dual)
    agree(onward, cold)
    assert onward.certificate.dual >= cold.certificate.dual


def test_a_warm_start_from_another_C() -> None:
    risk, *rest = problem([1] * 10 + [3] * 8, 10, 2.0, 3.0)
    large = block_frank_wolfe(risk, *rest, tolerance=1e-4)
    for C in (0.02, 200.0):
        other, *_ = problem([1] * 10 + [3] * 8, 10, C, 3.0)
        share = min(1.0, C / 2.0)
        start = Cut(share * large.dual.coefficients, share * large.dual.loss)
        found = block_frank_wolfe(other, *rest, tolerance=1e-4, start=start)
        agree(found, block_frank_wolfe(other, *rest, tolerance=1e-4))
    smaller, *_ = problem([1] * 10 + [3] * 8, 10, 0.0002, 3.0)
    with pytest.raises(
        ValueError, match=r"no combination of labellings of total C = 0\.0002 (.|\n)*multiplied by"
    ):
        block_frank_wolfe(smaller, *rest, start=large.dual)


def test_a_start_whose_edges_differ_where_its_samples_do_not_is_refused() -> None:
    risk, *rest = problem([3, 3, 1], 11)
    coefficients = np.zeros(13)
    coefficients[7] = risk.C * (1.0 if not rest[0][rest[2].edges[0]].any() else -1.0)
    with pytest.raises(ValueError, match="no combination of labellings"):
        block_frank_wolfe(risk, *rest, start=Cut(coefficients, 0.0))


def test_what_does_not_fit_is_refused() -> None:
    risk, relevant, costs, components = problem([3, 3, 1], 12)
    with pytest.raises(ValueError, match="risk's 7 samples and 6 edges, these have 7 and 0"):
        block_frank_wolfe(risk, relevant, costs, Components.of(7, []))
    with pytest.raises(ValueError, match=r"costs must be \(7,\), one a sample, got shape \(6,\)"):
        block_frank_wolfe(risk, relevant, costs[1:], components)
    with pytest.raises(ValueError, match=r"13 coefficients.*got shape \(7,\)"):
        block_frank_wolfe(risk, relevant, costs, components, start=Cut(np.zeros(7), 0.0))


@pytest.mark.parametrize("iteration", [0, 1, 3])
def test_stopping_keeps_the_best_so_far(iteration: int) -> None:
    events: list[ProgressEvent] = []

    def on_progress(event: ProgressEvent) -> None:
        events.append(event)
        if event.iteration == iteration:
            raise StopTraining

    risk, *rest = problem([1] * 10 + [3] * 8, 13, 5.0, 10.0)
    found = block_frank_wolfe(risk, *rest, tolerance=1e-9, on_progress=on_progress)
    assert found.stopped
    assert not found.certificate.converged
    assert found.certificate.iterations == iteration
    assert found.certificate.primal == pytest.approx(events[-1].primal, rel=1e-9)
    assert found.certificate.dual == pytest.approx(events[-1].dual, rel=1e-6, abs=1e-12)


def test_bounds_never_step_back() -> None:
    events: list[ProgressEvent] = []
    risk, *rest = problem([1] * 10 + [3] * 8, 14, 5.0, 10.0)
    block_frank_wolfe(risk, *rest, tolerance=1e-5, on_progress=events.append)
    primals, duals = [event.primal for event in events], [event.dual for event in events]
    assert len(events) > 3
    assert primals == sorted(primals, reverse=True)
    assert duals == sorted(duals)
    assert all(one.passes < two.passes for one, two in itertools.pairwise(events))


def test_a_gap_that_rounding_hides_is_not_called_closed() -> None:
    risk, *rest = problem([1] * 5 + [3] * 3, 15, 5.0, 10.0)
    found = block_frank_wolfe(risk, *rest, tolerance=1e-17, max_iterations=5000)
    assert not found.certificate.converged
    assert found.certificate.iterations < 5000
    assert found.certificate.relative_gap < 1e-6


def test_cutting_planes_go_on_where_it_ends() -> None:
    risk, *rest = problem([1] * 10 + [3] * 8, 16, 5.0, 10.0)
    events: list[ProgressEvent] = []
    onward = Onward(events.append)
    first = block_frank_wolfe(risk, *rest, tolerance=1e-3, max_iterations=2, on_progress=onward)
    assert not first.certificate.converged
    found = polished(risk, first, 1e-3, 1000, onward)
    agree(found, block_frank_wolfe(risk, *rest, tolerance=1e-3))
    # They begin with all that was proven, as a plane of theirs.
    assert events[3].iteration == 2
    assert events[3].planes == 2
    assert found.working_set is not None
    assert polished(risk, first, 1e-3, 2, onward) is first
    assert polished(risk, found, 1e-3, 1000, onward) is found


# ---------------------------------------------------------------------------------------------------------
# Kernels
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_no_other_step_is_better(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bare, way, pull = rng.normal(size=(3, 6))
    rise, curvature = rng.uniform(0, 5), rng.choice([0.0, rng.uniform(0, 2)])
    shrink, most = rng.uniform(0.1, 1.0), rng.uniform(0.2, 3.0)

    def value(step: np.ndarray) -> np.ndarray:
        bent = np.minimum(0.0, bare + pull + np.multiply.outer(step, way))
        return rise * step - curvature * step**2 / 2 - shrink * (bent**2).sum(axis=-1) / 2

    step = turns._best_step(rise, curvature, bare, way, pull, shrink, most)
    assert 0 <= step <= most
    assert value(np.array(step)) >= value(np.linspace(0, most, 10_001)).max() - 1e-12


@pytest.mark.parametrize("samples", [1, 2, 5, 8])
def test_enumeration_finds_the_most_violated_labelling(samples: int) -> None:
    rng = np.random.default_rng(samples)
    pairs = cliques([samples])
    pairs = pairs[rng.uniform(size=len(pairs)) < 0.7]
    relevant = rng.uniform(size=samples) < 0.5
    costs, scores = rng.uniform(size=samples), rng.normal(size=samples)
    penalty = -rng.uniform(size=len(pairs))
    values, losses = planes(relevant, costs, pairs)
    most = (losses + values @ np.concatenate([scores, penalty])).max()
    truth = np.concatenate([relevant, relevant[pairs[:, 0]] != relevant[pairs[:, 1]]])
    labels = np.zeros(len(truth), bool)
    places = np.concatenate([np.zeros((samples, 2), np.int64), pairs])
    padded = np.concatenate([costs, np.zeros(len(pairs))])
    turns._enumerate(np.concatenate([scores, penalty]), samples, places, truth, padded, labels)
    found = padded @ (labels != truth) + np.concatenate([scores, penalty]) @ (1.0 * labels - truth)
    assert found == pytest.approx(most, rel=1e-12)
    np.testing.assert_array_equal(labels[samples:], labels[pairs[:, 0]] != labels[pairs[:, 1]])


def test_the_interpreted_kernels_are_the_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Coverage cannot see inside compiled code; interpreted, subscripts are checked too."""
    monkeypatch.setattr(module, "SLOTS", 3)
    monkeypatch.setattr(module, "ENUMERATED", 4)
    monkeypatch.setattr(turns, "ENUMERATED", 4)
    chain = np.array([(i, i + 1) for i in range(5)])
    edges = np.concatenate([chain, cliques([1] * 6 + [4, 3])])
    risk, *rest = problem([6, 4, 3, 1, 1], 17, 3.0, 2.0, edges=edges)
    kernels = {
        (place, name): kernel
        for place in (module, turns)
        for name, kernel in vars(place).items()
        if isinstance(kernel, Dispatcher)
    }
    assert len(kernels) >= 12
    for (place, name), kernel in kernels.items():
        monkeypatch.setattr(place, name, kernel.py_func)
    interpreted = block_frank_wolfe(risk, *rest, tolerance=1e-3)
    for (place, name), kernel in kernels.items():
        monkeypatch.setattr(place, name, kernel)
    compiled = block_frank_wolfe(risk, *rest, tolerance=1e-3)
    agree(interpreted, compiled)


def test_weights_without_a_sign_are_refused() -> None:
    risk, *rest = problem([3, 3, 1], 0, 2.0)
    with pytest.raises(ValueError, match=r"needs pairwise weights <= 0, .* take cutting planes"):
        block_frank_wolfe(replace(risk, highest=np.inf), *rest)
