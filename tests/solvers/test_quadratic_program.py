"""The program over the planes against the same program in CVXPY."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np
import pytest
import reference
from checks import case

from ranking.explain.programs import planes_dual
from ranking.solvers.simplex_qp import (
    best_step,
    solve_bound_simplex_qp,
    solve_by_interior_point,
    solve_simplex_qp,
)


def value(x: np.ndarray, quadratic: np.ndarray, linear: np.ndarray) -> float:
    return float(linear @ x - x @ quadratic @ x / 2)


def test_the_optimum_is_that_of_cvxpy() -> None:
    for planes, rank, scale in itertools.product([1, 2, 5, 30], [1, 3, 40], [1e-3, 1.0, 30.0]):
        rng = np.random.default_rng([planes, rank])
        root, linear = scale * rng.normal(size=(rank, planes)), rng.uniform(size=planes)
        best = planes_dual(root.T, linear, 1.0).value
        for solve in (solve_simplex_qp, solve_by_interior_point):
            x = solve(root.T @ root, linear)
            with case(planes, rank, scale, solve):
                assert x.min() >= 0
                assert x.sum() <= 1 + 1e-15
                assert value(x, root.T @ root, linear) == pytest.approx(best, rel=1e-6, abs=1e-9)


def test_constant_planes_reduce_to_the_largest_loss_and_useless_planes_have_multiplier_0() -> None:
    for noise in (0.0, 1e-33, 1e-17):
        root = np.sqrt(noise) * np.random.default_rng(0).normal(size=(2, 3))
        x = solve_simplex_qp(root.T @ root, np.array([0.2, 0.7, 0.1]))
        np.testing.assert_allclose(x, [0, 1, 0], atol=1e-9, err_msg=str(noise))
    for linear in (np.zeros(3), np.array([-1.0, 0.0, 0.0]), np.full(3, 1e-320)):
        assert not solve_simplex_qp(np.eye(3), linear).any()
    assert not solve_by_interior_point(np.eye(2), np.zeros(2)).any()


def test_planes_that_nearly_cancel_are_weighed_by_interior_points() -> None:
    """Long planes of which a combination is nought, as where few features are trained with a large C."""
    for seed in range(50):
        rng = np.random.default_rng(seed)
        root, shares = 1e4 * rng.normal(size=(3, 8)), rng.dirichlet(np.ones(8))
        root -= (root @ shares)[:, None]
        linear = rng.uniform(0.1, 1, 8)
        x = solve_by_interior_point(root.T @ root, linear)
        best = planes_dual(root.T, linear, 1.0).value
        assert value(x, root.T @ root, linear) >= (1 - 1e-5) * best, seed
        assert best > 0.1


def test_planes_of_very_different_lengths_are_solved() -> None:
    """As with a large edge weight, or a large C."""
    # At one scale for all, five of these were given up.
    for seed in range(100):
        rng = np.random.default_rng(seed)
        root = rng.normal(size=(20, 20)) * 10.0 ** rng.uniform(-2, 4, 20)
        linear = 10.0 ** rng.uniform(-3, 0, 20)
        x = solve_simplex_qp(root.T @ root, linear)
        slopes = linear - root.T @ (root @ x)
        # no feasible x is better by more
        above = max(float(slopes.max()), 0.0) - float(slopes @ x)
        assert above <= 1e-4 * value(x, root.T @ root, linear), seed


def test_a_program_that_is_given_up_on_is_tried_with_stronger_proximal_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = sys.modules["ranking.solvers.simplex_qp"]
    solve, weights = module._daqp, list[float]()

    def refuse(*program: Any) -> tuple[np.ndarray, int]:
        weights.append(program[-1])
        return solve(*program) if len(weights) == 2 else (np.zeros(2), -4)

    monkeypatch.setattr(module, "_daqp", refuse)
    program = np.diag([4e4, 2e4]), np.array([0.1, 0.2])
    np.testing.assert_allclose(solve_simplex_qp(*program), [2.5e-6, 1e-5], rtol=1e-4)
    assert weights == [module.PROXIMAL, module.STRONGER]
    with pytest.raises(ArithmeticError):
        solve_simplex_qp(*program)


def test_small_multipliers_are_as_exact_as_large_ones() -> None:
    """Where classes separate, C is large and the multipliers' sum is far below it."""
    for height in (1e-6, 1e-3, 1.0):
        rng = np.random.default_rng(3)
        root, linear = rng.normal(size=(60, 40)) + 3.0, height * rng.uniform(0.5, 1, 40)
        quadratic = 1e3 * root.T @ root
        x = solve_simplex_qp(quadratic, linear)
        assert 0 < x.sum() < 1, height
        # at the optimum: zero where x is positive, not positive elsewhere
        slopes = linear - quadratic @ x
        assert np.abs(slopes[x > 0]).max() <= 1e-8 * height, height
        assert slopes.max() <= 1e-8 * height, height


def bound_value(x: np.ndarray, root: np.ndarray, linear: np.ndarray, rows: np.ndarray) -> float:
    over = np.maximum(x @ rows, 0)
    return float(linear @ x - ((root @ x) ** 2).sum() / 2 - over @ over / 2)


def test_the_optimum_of_bound_weights_is_that_of_cvxpy() -> None:
    sizes = itertools.product([1, 2, 6, 25], [1, 4, 30], [1e-2, 1.0, 20.0], range(3))
    for planes, bound, scale, seed in sizes:
        rng = np.random.default_rng([planes, bound, seed])
        root, linear = scale * rng.normal(size=(3, planes)), rng.uniform(size=planes)
        rows = scale * rng.normal(size=(planes, bound))
        outputs = list(zip(np.hstack([root.T, rows]), linear, strict=True))
        # the primal program
        best = reference.one_slack_optimum([outputs], 1.0, bound)
        for first in (np.zeros(planes), rng.dirichlet(np.ones(planes))):
            x = solve_bound_simplex_qp(root.T @ root, linear, rows, first)
            with case(planes, bound, scale, seed, first):
                assert x.min() >= 0
                assert x.sum() <= 1 + 1e-12
                assert bound_value(x, root, linear, rows) == pytest.approx(best, rel=1e-6, abs=1e-9)
                assert bound_value(x, root, linear, rows) >= bound_value(first, root, linear, rows)


def test_the_step_length_is_optimal() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, bound = rng.integers(1, 6), rng.integers(1, 9)
        root, linear, rows = rng.normal(size=(2, n)), rng.normal(size=n), rng.normal(size=(n, bound))
        x, way = rng.dirichlet(np.ones(n)), rng.normal(size=n) * 10.0 ** rng.integers(-1, 2)
        ahead = root @ way
        step = best_step(linear @ way - (root @ x) @ ahead, ahead @ ahead, x @ rows, way @ rows)
        assert 0 <= step <= 1
        best = bound_value(x + step * way, root, linear, rows)
        values = [bound_value(x + t * way, root, linear, rows) for t in np.linspace(0, 1, 501)]
        assert best >= max(values) - 1e-9 * max(1.0, abs(best)), seed
