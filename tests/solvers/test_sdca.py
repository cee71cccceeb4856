"""SDCA on indices into a pool against the same problem written out, solved by another solver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import reference
from kernels import interpret
from problems import Heard

from ranking.explain.programs import planes_primal
from ranking.methods.subsequence_maps import LINEAR, blocks
from ranking.solvers import sdca as module
from ranking.solvers.sdca import PositionHinges, sdca


def problem(
    representation: str = "stacked difference", columns: int = 4, constant: float = 0.5, mu: float = 2.0
) -> tuple[PositionHinges, np.ndarray]:
    """Random hinges, and psi (m, D) of each."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(25, columns)).astype(np.float32)
    rows = np.stack([rng.permutation(25)[:4] for _ in range(60)])
    deltas, costs = rng.choice([-1.0, -0.4, 1.0], 60), rng.uniform(0.2, 2.0, 60)
    hinges = PositionHinges(features, rows, blocks(representation, 4), deltas, costs, mu, constant)
    samples = features.astype(np.float64)
    return hinges, np.stack([reference.psi_of(representation, samples[row]) for row in rows])


@pytest.mark.parametrize("representation", LINEAR)
# more samples than features, and fewer
@pytest.mark.parametrize("columns", [4, 40])
def test_the_optimum_is_that_of_a_quadratic_program(representation: str, columns: int) -> None:
    hinges, psis = problem(representation, columns)
    rows = hinges.deltas[:, None] * np.column_stack([psis, np.full(len(psis), hinges.constant)])
    planes = [(-cost * row[None], np.array([cost])) for cost, row in zip(hinges.costs, rows, strict=True)]
    # a slack for each hinge
    best = hinges.mu * planes_primal(planes, len(planes) / hinges.mu).value
    solution = sdca(hinges, 1e-6, 5000)
    assert solution.certificate.converged
    assert solution.certificate.primal == pytest.approx(best, rel=2e-6)
    assert solution.certificate.dual <= best * (1 + 1e-7)
    arguments = psis, hinges.deltas, hinges.costs, hinges.mu, hinges.constant
    primal = reference.subsequence_primal(solution.theta.ravel(), solution.level, *arguments)
    assert solution.certificate.primal == pytest.approx(primal, rel=1e-10)


def test_progress_bounds_the_optimum_and_a_stopped_run_has_the_best_weights_so_far() -> None:
    events = Heard()
    hinges, _ = problem(mu=0.01)
    best = sdca(hinges, 1e-5, on_progress=events).certificate.primal
    assert len(events) > 3
    assert all(event.dual <= best * (1 + 1e-9) and event.primal >= best * (1 - 1e-5) for event in events)
    assert (np.diff([(-event.primal, event.dual) for event in events], axis=0) >= -1e-12 * best).all()
    stopped = sdca(hinges, 1e-5, on_progress=Heard(lambda heard: heard[-1].iteration == 2))
    assert stopped.stopped
    assert not stopped.certificate.converged
    assert stopped.certificate.primal <= events[2].primal * (1 + 1e-9)
    assert not sdca(hinges, 1e-9, 1).certificate.converged


def test_with_few_weights_cutting_planes_end_what_steps_of_single_variables_leave_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Bounds never step back where the second solver takes over, and who stops it gets the best so far."""
    hinges, _ = problem(columns=2, mu=1e-6)
    events = Heard()
    solution = sdca(hinges, 1e-6, 1000, events)
    assert solution.certificate.converged
    assert any(event.planes for event in events)
    assert solution.certificate.iterations == events[-1].iteration
    rounding = 1e-12 * solution.certificate.primal
    assert (np.diff([(-event.primal, event.dual) for event in events], axis=0) >= -rounding).all()
    stopped = sdca(hinges, 1e-6, 1000, Heard(lambda heard: heard[-1].planes > 2))
    assert stopped.stopped
    assert not stopped.certificate.converged
    assert stopped.certificate.primal >= solution.certificate.dual
    monkeypatch.setattr(module, "FEW_WEIGHTS", 0)
    assert not sdca(hinges, 1e-6, 1000).certificate.converged


def test_subsequences_without_features_reach_no_margin() -> None:
    hinges, _ = problem(constant=0.0)
    solution = sdca(replace(hinges, features=np.zeros((25, 4))))
    assert (solution.theta == 0).all()
    assert solution.certificate.primal == pytest.approx(hinges.costs.sum())
    assert solution.certificate.gap == pytest.approx(0)


def test_compiled_and_interpreted_kernels_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    hinges, _ = problem(mu=5.0)
    compiled = sdca(hinges, 1e-4)
    assert interpret(monkeypatch, [module])
    np.testing.assert_allclose(sdca(hinges, 1e-4).theta, compiled.theta, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("columns", "mu"), [(4, 2.0), (40, 2.0), (2, 1e-6)])
def test_the_weights_of_a_report_have_the_primal_that_it_reports(columns: int, mu: float) -> None:
    """With more samples than features, with fewer, and where cutting planes take over."""
    hinges, psis = problem(columns=columns, mu=mu)
    arguments = psis, hinges.deltas, hinges.costs, hinges.mu, hinges.constant
    events = Heard()
    solution = sdca(hinges, 1e-5, 1000, events)
    assert len(events) > 3
    assert any(event.planes for event in events) == (columns == 2)
    for event in events:
        assert event.weights is not None
        primal = reference.subsequence_primal(event.weights[:-1], float(event.weights[-1]), *arguments)
        assert event.primal == pytest.approx(primal, rel=1e-6), event.iteration
    np.testing.assert_allclose(events[-1].weights[:-1], solution.theta.ravel(), rtol=1e-9, atol=1e-12)
