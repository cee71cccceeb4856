"""SDCA on indices into a pool against the same problem written out, solved by another solver."""

from __future__ import annotations

import itertools

import cvxpy
import numpy as np
import pytest
import reference
from checks import case

from ranking.methods.subsequence_maps import LINEAR, blocks
from ranking.optimise import sdca as module
from ranking.optimise.sdca import PlaceHinges, sdca
from ranking.types import ProgressEvent, StopTraining


def problem(
    representation: str = "stacked difference",
    columns: int = 4,
    seed: int = 0,
    constant: float = 0.5,
    mu: float = 2.0,
    dtype: type = np.float64,
) -> tuple[PlaceHinges, np.ndarray]:
    """Random hinges, and psi (m, D) of each."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(25, columns)).astype(dtype)
    rows = np.stack([rng.permutation(25)[:4] for _ in range(60)])
    deltas = rng.choice([-1.0, -0.4, 1.0], 60)
    hinges = PlaceHinges(
        features, rows, blocks(representation, 4), deltas, rng.uniform(0.2, 2.0, 60), mu, constant
    )
    return hinges, np.stack(
        [reference.psi_of(representation, features[row].astype(np.float64)) for row in rows]
    )


@pytest.mark.parametrize("representation", LINEAR)
@pytest.mark.parametrize("columns", [4, 40])  # more samples than features, and fewer
def test_the_optimum_is_that_of_a_quadratic_program(representation: str, columns: int) -> None:
    hinges, psis = problem(representation, columns)
    theta, level = cvxpy.Variable(psis.shape[1]), cvxpy.Variable()
    margins = cvxpy.multiply(hinges.deltas, psis @ theta + hinges.constant * level)
    objective = hinges.mu / 2 * (cvxpy.sum_squares(theta) + level**2) + hinges.costs @ cvxpy.pos(1 - margins)
    best = cvxpy.Problem(cvxpy.Minimize(objective)).solve(solver=cvxpy.CLARABEL)
    found = sdca(hinges, 1e-6, 5000)
    assert found.certificate.converged
    assert found.certificate.primal == pytest.approx(best, rel=2e-6)
    assert found.certificate.dual <= best * (1 + 1e-7)


def test_the_certificate_is_of_the_definition() -> None:
    for mu, dtype in itertools.product([0.1, 1.0, 1e3], [np.float32, np.float64]):
        hinges, psis = problem(mu=mu, dtype=dtype, columns=3)
        result = sdca(hinges, 1e-2)
        flat, given = result.theta.ravel(), (psis, hinges.deltas, hinges.costs, mu, hinges.constant)
        primal = reference.subsequence_primal(flat, result.level, *given)
        signed = np.append(psis, np.full((60, 1), hinges.constant), axis=1).T @ (result.alpha * hinges.deltas)
        bound = result.alpha.sum() - float(signed @ signed) / (2 * mu)
        with case(mu, dtype):
            assert result.certificate.primal == pytest.approx(primal, rel=1e-10)
            assert (result.alpha >= 0).all()
            assert (result.alpha <= hinges.costs).all()
            assert bound <= result.certificate.dual + 1e-9
            assert 0 <= result.certificate.relative_gap <= 1e-2
            assert result.certificate.converged


def test_progress_bounds_the_optimum_and_one_who_stops_gets_the_best_so_far() -> None:
    events: list[ProgressEvent] = []
    hinges, _ = problem(mu=0.01)
    full = sdca(hinges, 1e-5, on_progress=events.append)
    best = full.certificate.primal
    assert len(events) > 3
    assert all(event.dual <= best * (1 + 1e-9) and event.primal >= best * (1 - 1e-5) for event in events)
    assert [e.primal for e in events] == sorted((e.primal for e in events), reverse=True)
    assert [e.dual for e in events] == sorted(e.dual for e in events)

    def stop(event: ProgressEvent) -> None:
        if event.iteration == 2:
            raise StopTraining

    stopped = sdca(hinges, 1e-5, on_progress=stop)
    assert stopped.stopped
    assert not stopped.certificate.converged
    assert stopped.certificate.primal <= events[2].primal * (1 + 1e-9)


def test_too_few_iterations_are_said_and_a_seed_fixes_all() -> None:
    hinges, _ = problem(mu=1e-3)
    assert not sdca(hinges, 1e-9, 1).certificate.converged
    first, second = sdca(hinges, 1e-3, seed=4), sdca(hinges, 1e-3, seed=4)
    assert (first.theta == second.theta).all()


def test_subsequences_without_features_reach_no_margin() -> None:
    hinges, _ = problem(constant=0.0)
    none = PlaceHinges(np.zeros((25, 4)), hinges.rows, hinges.blocks, hinges.deltas, hinges.costs, hinges.mu)
    found = sdca(none)
    assert (found.theta == 0).all()
    assert found.certificate.primal == pytest.approx(hinges.costs.sum())
    assert found.certificate.gap == pytest.approx(0)


def test_compiled_and_interpreted_kernels_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    hinges, _ = problem(mu=5.0)
    compiled = sdca(hinges, 1e-4)
    for name in ("_ascend", "_square_lengths"):
        monkeypatch.setattr(module, name, getattr(module, name).py_func)
    np.testing.assert_allclose(sdca(hinges, 1e-4).theta, compiled.theta, rtol=1e-9, atol=1e-12)
