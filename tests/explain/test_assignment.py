"""Rankings as assignments: each form against its measure's definition, each solver against all rankings."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
import reference
from small_models import star

from ranking.core.errors import InputError
from ranking.explain.assignment import (
    ENUMERATION,
    EXACT,
    HEURISTICS,
    LINEAR,
    all_orders,
    ap_assignment,
    average_precision,
    c_star_assignment,
    permutation_matrix,
    precision_assignment,
    precision_rows,
    solutions,
)


def cases() -> Iterator[tuple[np.ndarray, np.ndarray, np.random.Generator]]:
    """Scores, relevant and a source of chance: random, tied, all alike; one sample relevant, some, all."""
    for seed, n in itertools.product(range(6), (1, 2, 4, 5)):
        rng = np.random.default_rng(seed)
        scores = (rng.normal(size=n), rng.integers(0, 2, n).astype(float), np.zeros(n))[seed % 3]
        relevant = np.arange(n) < (1, (n + 1) // 2, n)[seed // 2]
        yield scores, rng.permutation(relevant), rng


def ranked(relevant: np.ndarray, positions: np.ndarray) -> list[int]:
    return [int(mark) for mark in relevant[np.argsort(positions)]]


def test_ap_is_a_quadratic_form() -> None:
    for _, relevant, _ in cases():
        for positions in all_orders(len(relevant)):
            marks = ranked(relevant, positions)
            assert average_precision(relevant, positions) == pytest.approx(
                reference.average_precision_of(marks)
            )
            at_each = precision_rows(len(marks)) @ permutation_matrix(positions).T @ relevant
            expected = [reference.precision_of(marks, k) for k in range(1, len(marks) + 1)]
            assert at_each == pytest.approx(expected)


@pytest.mark.parametrize("violated", [False, True])
def test_values_are_score_plus_loss(violated: bool) -> None:
    for scores, relevant, rng in cases():
        n = len(scores)
        k = int(rng.integers(1, n + 1))
        _, core, interactions = star(rng, n, min(2, n))
        F = reference.whole(core, interactions)
        orders = all_orders(n)
        forms = (
            precision_assignment(scores, relevant, k, violated),
            c_star_assignment(scores, relevant, k, core, interactions, violated),
            ap_assignment(scores, relevant, violated),
        )
        for positions, *values in zip(orders, *(form.values(orders) for form in forms), strict=True):
            marks = ranked(relevant, positions)
            top = sum(scores[i] for i in range(n) if positions[i] < k)
            missed = violated * (1 - reference.precision_of(marks, k))
            pairs = sum(F[i, j] * abs(positions[i] - positions[j]) for i in range(n) for j in range(n))
            by_rank = sum(scores[i] / (positions[i] + 1) for i in range(n))
            lost = violated * (1 - reference.average_precision_of(marks))
            assert values == pytest.approx([top + missed, top + missed + pairs, by_rank + lost])
            models = [form.constant + form.model.value(positions) for form in forms]
            assert values == pytest.approx(models), "the product's own form is the same problem"


@pytest.mark.parametrize("violated", [False, True])
def test_exact_solvers_find_the_best_and_heuristics_no_more(violated: bool) -> None:
    for scores, relevant, rng in cases():
        n = len(scores)
        _, core, interactions = star(rng, n, min(2, n))
        for form in (
            precision_assignment(scores, relevant, 1, violated),
            c_star_assignment(scores, relevant, n, core, interactions, violated),
            ap_assignment(scores, relevant, violated),
        ):
            by_solver = {solution.solver: solution for solution in solutions(form, seed=1)}
            best = form.values(all_orders(n)).max()
            assert (LINEAR in by_solver) == form.is_linear
            assert {ENUMERATION, EXACT, *HEURISTICS} <= set(by_solver)
            for name, solution in by_solver.items():
                assert sorted(solution.positions.tolist()) == list(range(n))
                assert solution.value == pytest.approx(form.values(solution.positions[None])[0])
                assert solution.value <= best + 1e-9
                assert solution.exact == (name not in HEURISTICS)
                if solution.exact:
                    assert solution.value == pytest.approx(best), name


def test_a_heuristic_misses_the_best_somewhere() -> None:
    """The page says that it can: here each does."""
    rng, gaps = np.random.default_rng(0), dict.fromkeys(HEURISTICS, 0.0)
    for _ in range(20):
        scores, core, interactions = star(rng, 6, 2)
        by_solver = solutions(
            c_star_assignment(scores, np.arange(6) < 3, 2, core, interactions, violated=True)
        )
        for solution in by_solver:
            if not solution.exact:
                gaps[solution.solver] = max(gaps[solution.solver], by_solver[0].value - solution.value)
    assert min(gaps.values()) > 1e-3


def test_problems_without_relevant_samples_or_with_too_large_k_are_refused() -> None:
    with pytest.raises(InputError, match="relevant"):
        ap_assignment(np.zeros(3), [False] * 3, violated=True)
    with pytest.raises(InputError, match="k"):
        precision_assignment(np.zeros(3), [True] * 3, 4, violated=True)
    with pytest.raises(InputError, match="samples"):
        all_orders(8)
