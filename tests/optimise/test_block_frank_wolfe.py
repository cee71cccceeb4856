"""Block-coordinate Frank-Wolfe on the risk of HOB-SVM: against the whole program, and against the other optimisers."""

from __future__ import annotations

import itertools
import sys
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from block_problems import agree, cliques, problem
from checks import case
from refusals import ANYTHING, refused
from scipy.optimize import linprog

from ranking import ProgressEvent, StopTraining
from ranking.inference import Components
from ranking.optimise import Cut, LinearRisk, block_frank_wolfe, coordinate_descent, cutting_plane
from ranking.optimise.polish import Onward, polished

module = sys.modules["ranking.optimise.block_frank_wolfe"]
turns = sys.modules["ranking.optimise.block_turns"]


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


# ---------------------------------------------------------------------------------------------------------
# The optimum
# ---------------------------------------------------------------------------------------------------------


def test_the_optimum_is_that_of_the_whole_program() -> None:
    for C, eta, dtype in itertools.product([0.05, 5.0], [0.01, 1.0, 100.0], [np.float32, np.float64]):
        risk, relevant, costs, components = problem([4, 3, 1], 3, C, eta, dtype)
        coefficients, losses = planes(relevant, costs, components.edges)
        weights, slack = cp.Variable(8), cp.Variable()
        constraints = [slack >= losses + (coefficients @ rows(risk)) @ weights, weights[5:] <= 0]
        cvx = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(weights) + C * slack), constraints)
        cvx.solve(cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
        solution = block_frank_wolfe(risk, relevant, costs, components, 1e-5)
        with case(C, eta, dtype):
            assert solution.certificate.converged
            assert solution.certificate.primal == pytest.approx(cvx.value, rel=1.1e-5)
            assert solution.certificate.dual == pytest.approx(cvx.value, rel=1.1e-5)
            assert (solution.weights[5:] <= 0).all()


def test_both_bounds_follow_from_their_definitions() -> None:
    for seed, eta in itertools.product(range(3), [0.1, 10.0]):
        risk, relevant, costs, components = problem([3, 3, 1], seed, 2.0, eta)
        solution = block_frank_wolfe(risk, relevant, costs, components, 1e-4)
        w, dual = solution.weights, solution.dual
        coefficients, losses = planes(relevant, costs, components.edges)
        matrix = rows(risk)
        primal = w @ w / 2 + risk.C * (losses + coefficients @ (matrix @ w)).max()
        assert solution.certificate.primal == pytest.approx(primal, rel=1e-12), (seed, eta)
        normal = dual.coefficients @ matrix
        normal[5:] = np.maximum(normal[5:], 0)
        bound = dual.loss - normal @ normal / 2
        assert solution.certificate.dual == pytest.approx(bound, rel=1e-9), (seed, eta)
        # The dual is a combination of labellings of total C.
        equal = np.vstack([coefficients.T, np.ones(len(losses)), losses])
        wanted = np.concatenate([dual.coefficients / risk.C, [1.0, dual.loss / risk.C]])
        assert linprog(np.zeros(len(losses)), A_eq=equal, b_eq=wanted).success, (seed, eta)


def test_cutting_planes_end_at_the_same_optimum() -> None:
    for C, eta in itertools.product([0.1, 10.0], [0.01, 1.0, 100.0]):
        risk, *rest = problem([1] * 10 + [2] * 8 + [3] * 5 + [5, 6], 1, C, eta)
        with case(C, eta):
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


def test_components_too_large_to_enumerate_are_cut() -> None:
    size = module.ENUMERATED + 5
    chain = np.array([(i, i + 1) for i in range(size - 1)])
    two_hubs = np.array([(hub, i) for hub in (0, 1) for i in range(2, size)])
    for edges, eta in itertools.product([chain, two_hubs], [0.3, 30.0]):
        risk, *rest = problem([size, 1, 1], 4, 2.0, eta, edges=edges)
        with case(edges, eta):
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


def test_a_warm_start_begins_with_what_was_proven() -> None:
    for eta in (0.05, 30.0):
        risk, *rest = problem([1] * 10 + [3] * 8, 9, 2.0, eta)
        cold = block_frank_wolfe(risk, *rest, tolerance=1e-4)
        warm = block_frank_wolfe(risk, *rest, tolerance=1e-4, start=cold.dual, max_iterations=0)
        assert warm.certificate.dual >= cold.certificate.dual * (1 - 1e-9), eta
        onward = block_frank_wolfe(risk, *rest, tolerance=1e-6, start=cold.dual)
        agree(onward, cold)
        assert onward.certificate.dual >= cold.certificate.dual, eta


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
    with refused("start") as caught:
        block_frank_wolfe(smaller, *rest, start=large.dual)
    assert "0.0002" in caught.value.expected


def test_what_does_not_fit_is_refused() -> None:
    risk, relevant, costs, components = problem([3, 3, 1], 12)
    same = relevant[components.edges[0]]
    apart = np.zeros(
        13
    )  # the first edge's labels differ where those of its samples do not, or the other way round
    apart[7] = risk.C * (1.0 if not same.any() else -1.0)

    def fit(start: Cut | None = None, **parts: Any) -> object:
        given = {"risk": risk, "relevant": relevant, "costs": costs, "components": components, **parts}
        return block_frank_wolfe(**given, start=start)

    for subject, came, parts in [
        ("components", "7 samples and 0 edges", {"components": Components.of(7, [])}),
        ("costs", (6,), {"costs": costs[1:]}),
        ("start", (7,), {"start": Cut(np.zeros(7), 0.0)}),
        ("start", None, {"start": Cut(apart, 0.0)}),
        ("highest of the risk", ANYTHING, {"risk": replace(risk, highest=np.inf)}),
    ]:
        with case(subject, came), refused(subject, came):
            fit(**parts)


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


def test_no_other_step_is_better() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        bare, way, pull = rng.normal(size=(3, 6))
        rise, curvature = rng.uniform(0, 5), rng.choice([0.0, rng.uniform(0, 2)])
        shrink, most = rng.uniform(0.1, 1.0), rng.uniform(0.2, 3.0)
        step = turns._best_step(rise, curvature, bare, way, pull, shrink, most)
        assert 0 <= step <= most, seed
        tried = np.append(step, np.linspace(0, most, 10_001))
        bent = np.minimum(0.0, bare + pull + np.multiply.outer(tried, way))
        values = rise * tried - curvature * tried**2 / 2 - shrink * (bent**2).sum(axis=-1) / 2
        assert values[0] >= values.max() - 1e-12, seed


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
