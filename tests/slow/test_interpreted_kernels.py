"""The compiled kernels run as the Python that they are: subscripts checked, lines counted, results equal."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from block_problems import agree, problem
from block_problems import cliques as all_pairs
from checks import LOSSES, PAIRS
from hard_scores import hard_case, quicksort_killer
from kernels import interpret
from pairwise_models import random_case
from test_best_top_k import star
from test_graded_pairs import random_sequences

from ranking.inference import (
    best_labelling,
    best_top_ks,
    bounded_max_marginals,
    interleaving,
    max_marginals,
    most_violated_ranking,
    top_k_max_marginals,
)
from ranking.inference.best_permutation import WindowScores, best_permutations, exhaustive_permutations
from ranking.inference.cliques import Cliques
from ranking.inference.graded_pairs import GradedPairs
from ranking.inference.rank_fusion import weighted_votes
from ranking.optimise import block_frank_wolfe

CASES = [
    ("gaussian", "a tenth", 400),
    ("gaussian", "most", 90),
    ("crowded bin", "a tenth", 500),
    ("two clusters", "a tenth", 300),
    ("cauchy", "first", 300),
    ("few integers", "a tenth", 200),
    ("quicksort killer", "a tenth", 700),
    ("all equal", "a tenth", 60),
    ("separated", "one relevant", 60),
]
MODULES = [module for name, module in sys.modules.items() if name.startswith("ranking.inference.")]
Results = Callable[[], list[Any]]


def check_interpreted(monkeypatch: pytest.MonkeyPatch, results: Results, rtol: float = 1e-12) -> None:
    """`results` are the same from compiled and from interpreted kernels."""
    compiled = results()
    interpret(monkeypatch, MODULES)
    for expected, interpreted in zip(compiled, results(), strict=True):
        np.testing.assert_allclose(interpreted, expected, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize(("family", "mixture", "n"), CASES)
def test_compiled_and_interpreted_kernels_agree(
    family: str, mixture: str, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores, relevant = hard_case(family, mixture, n)
    compiled = [most_violated_ranking(scores, relevant, LOSSES[loss], name) for loss, name in PAIRS]
    interpret(monkeypatch, MODULES)
    for (loss, name), expected in zip(PAIRS, compiled, strict=True):
        found = most_violated_ranking(scores, relevant, LOSSES[loss], name)
        np.testing.assert_array_equal(found.interleaving_ranks, expected.interleaving_ranks)
        np.testing.assert_allclose(found.coefficients, expected.coefficients, rtol=1e-15)
        assert found.loss == pytest.approx(expected.loss, rel=1e-14)


@pytest.mark.parametrize(("n", "m"), [(7, 6), (70, 90)])
def test_compiled_and_interpreted_labellings_agree(n: int, m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    case = random_case(np.random.default_rng(n), n, m, 0.7, whole=False)
    other, weights = np.arange(n) % 3 == 0, np.linspace(-1, 1, n)

    def everything() -> list[Any]:
        found, (labels, value) = max_marginals(*case), best_labelling(*case)
        return [found.positive, found.difference, found.map, *found.sums(other, weights), labels, value]

    check_interpreted(monkeypatch, everything)


def test_compiled_and_interpreted_bounds_and_cliques_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(4)
    case = random_case(generator, 20, 40, 1.0, whole=False)
    either = case._replace(penalty=case.penalty * generator.choice([-1.0, 1.0], 40))
    cliques = Cliques.of(20, [np.arange(15), np.arange(13, 20), np.array([3, 18])])

    def everything() -> list[Any]:
        bounds = bounded_max_marginals(*either)
        found = cliques.max_marginals(case.unary, [-3.0, 0.0, -1.0])
        both = [found.positive, found.negative, *found.sums(case.unary > 0, case.unary)]
        return [bounds.positive, bounds.negative, bounds.excess, bounds.map, *both]

    check_interpreted(monkeypatch, everything)


@pytest.mark.parametrize("size", [0, 3])
def test_compiled_and_interpreted_top_ks_agree(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(size)
    _, core, interactions = star(rng, 12, size)
    forced = np.where(rng.random((4, 12)) < 0.2, rng.choice([-1, 1], (4, 12)), 0)
    model = (rng.normal(size=(4, 12)), core, interactions, 5, forced)

    def everything() -> list[Any]:
        return [*best_top_ks(*model), *top_k_max_marginals(*model)]

    check_interpreted(monkeypatch, everything)


@pytest.mark.parametrize(("n", "length", "pooled"), [(5, 3, 0), (5, 5, 0), (12, 2, 0), (5, 3, 2)])
def test_compiled_and_interpreted_orders_agree(
    n: int, length: int, pooled: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(n)
    weights = rng.normal(size=pooled)
    scores = WindowScores(rng.normal(size=(9, length)), 0.3, rng.normal(size=(9, pooled)), weights)
    members, starts = rng.integers(0, 9, 2 * n), np.array([0, n, 2 * n])
    given = members, starts, np.concatenate([rng.permutation(n), rng.permutation(n)])

    def everything() -> list[Any]:
        found = best_permutations(scores, *given, trees=3)
        fused = weighted_votes(np.stack([found.orders, given[2]]), np.stack([found.values] * 2), starts)
        every = exhaustive_permutations(scores, *given) if n < 9 else found
        return [found.orders, found.values, every.orders, every.values, fused]

    with np.errstate(over="ignore"):  # the random numbers of the starts are those that overflow
        check_interpreted(monkeypatch, everything)


def test_compiled_and_interpreted_pairs_of_sequences_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    def everything() -> list[Any]:
        counted = []
        for seed, short in itertools.product(range(20), (0, 100)):
            sequences = random_sequences(seed)
            scores = np.random.default_rng(seed).normal(size=len(sequences.features))
            counted += GradedPairs(sequences).violations(scores, short)
        return counted

    check_interpreted(monkeypatch, everything)


def test_splits_that_go_wrong_end_in_a_sort(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the adversary would make select quadratic."""
    negatives = 10.0 * quicksort_killer(600)
    positives = np.linspace(0.5, negatives.max() + 0.5, 12)
    scores, relevant = np.append(negatives, positives), np.repeat([False, True], [600, 12])
    expected = most_violated_ranking(scores, relevant, "ap", "greedy")
    sort_descending = interpret(monkeypatch, MODULES)["_sort_descending"]
    sides: list[int] = []

    def spy(scores: np.ndarray, numbers: np.ndarray) -> None:
        sides.append(len(scores))
        sort_descending(scores, numbers)

    monkeypatch.setattr(interleaving, "_sort_descending", spy)
    found = most_violated_ranking(scores, relevant, "ap", "select")
    np.testing.assert_array_equal(found.interleaving_ranks, expected.interleaving_ranks)
    assert sides
    assert max(sides) > 300


def test_compiled_and_interpreted_block_frank_wolfe_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """With planes that find no slot, components that are enumerated and such that are cut."""
    modules = [sys.modules[f"ranking.optimise.{name}"] for name in ("block_frank_wolfe", "block_turns")]
    monkeypatch.setattr(modules[0], "SLOTS", 3)
    for module in modules:
        monkeypatch.setattr(module, "ENUMERATED", 4)
    edges = np.concatenate([np.array([(i, i + 1) for i in range(5)]), all_pairs([1] * 6 + [4, 3])])
    risk, *rest = problem([6, 4, 3, 1, 1], 17, 3.0, 2.0, edges=edges)
    with monkeypatch.context() as patch:
        assert interpret(patch, modules)
        interpreted = block_frank_wolfe(risk, *rest, tolerance=1e-3)
    agree(interpreted, block_frank_wolfe(risk, *rest, tolerance=1e-3))
