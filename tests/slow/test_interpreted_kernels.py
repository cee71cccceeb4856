"""The compiled kernels run as the Python that they are: subscripts checked, lines counted, results equal."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np
import pytest
from block_problems import agree, problem
from block_problems import cliques as all_pairs
from checks import LOSSES, PAIRS
from hard_scores import hard_case, quicksort_killer
from kernels import interpret
from pairwise_models import random_case
from small_models import random_sequences, star

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
from ranking.solvers import block_frank_wolfe

MODULES = [module for name, module in sys.modules.items() if name.startswith("ranking.inference.")]


def violated(family: str, mixture: str, n: int) -> list[Any]:
    scores, relevant = hard_case(family, mixture, n)
    every = [most_violated_ranking(scores, relevant, LOSSES[loss], name) for loss, name in PAIRS]
    return [
        part for ranking in every for part in (ranking.interleaving_ranks, ranking.coefficients, ranking.loss)
    ]


def labellings(n: int, m: int) -> list[Any]:
    case = random_case(np.random.default_rng(n), n, m, 0.7, whole=False)
    marginals, (labels, value) = max_marginals(*case), best_labelling(*case)
    sums = marginals.sums(np.arange(n) % 3 == 0, np.linspace(-1, 1, n))
    return [marginals.positive, marginals.difference, marginals.map, *sums, labels, value]


def bounds_and_cliques() -> list[Any]:
    generator = np.random.default_rng(4)
    case = random_case(generator, 20, 40, 1.0, whole=False)
    bounds = bounded_max_marginals(*case._replace(penalty=case.penalty * generator.choice([-1.0, 1.0], 40)))
    cliques = Cliques.of(20, [np.arange(15), np.arange(13, 20), np.array([3, 18])])
    marginals = cliques.max_marginals(case.unary, [-3.0, 0.0, -1.0])
    both = [marginals.positive, marginals.negative, *marginals.sums(case.unary > 0, case.unary)]
    return [bounds.positive, bounds.negative, bounds.excess, bounds.map, *both]


def top_ks(size: int) -> list[Any]:
    rng = np.random.default_rng(size)
    _, core, interactions = star(rng, 12, size)
    forced = np.where(rng.random((4, 12)) < 0.2, rng.choice([-1, 1], (4, 12)), 0)
    model = (rng.normal(size=(4, 12)), core, interactions, 5, forced)
    return [*best_top_ks(*model), *top_k_max_marginals(*model)]


def orders(n: int, length: int, pooled: int) -> list[Any]:
    rng = np.random.default_rng(n)
    weights = rng.normal(size=pooled)
    scores = WindowScores(rng.normal(size=(9, length)), 0.3, rng.normal(size=(9, pooled)), weights)
    members, starts = rng.integers(0, 9, 2 * n), np.array([0, n, 2 * n])
    given = members, starts, np.concatenate([rng.permutation(n), rng.permutation(n)])
    # the random numbers of the starts are those that overflow
    with np.errstate(over="ignore"):
        permutations = best_permutations(scores, *given, trees=3)
        every = exhaustive_permutations(scores, *given) if n < 9 else permutations
    fused = weighted_votes(
        np.stack([permutations.orders, given[2]]), np.stack([permutations.values] * 2), starts
    )
    return [permutations.orders, permutations.values, every.orders, every.values, fused]


def pairs_of_sequences() -> list[Any]:
    counted = []
    for seed, short in itertools.product(range(20), (0, 100)):
        sequences = random_sequences(seed)
        scores = np.random.default_rng(seed).normal(size=len(sequences.features))
        counted += GradedPairs(sequences).violations(scores, short)
    return counted


@pytest.mark.parametrize(
    ("results", "of"),
    [
        (violated, ("gaussian", "a tenth", 400)),
        (violated, ("gaussian", "most", 90)),
        (violated, ("crowded bin", "a tenth", 500)),
        (violated, ("two clusters", "a tenth", 300)),
        (violated, ("cauchy", "first", 300)),
        (violated, ("few integers", "a tenth", 200)),
        (violated, ("quicksort killer", "a tenth", 700)),
        (violated, ("all equal", "a tenth", 60)),
        (violated, ("separated", "one relevant", 60)),
        (labellings, (7, 6)),
        (labellings, (70, 90)),
        (bounds_and_cliques, ()),
        (top_ks, (0,)),
        (top_ks, (3,)),
        (orders, (5, 3, 0)),
        (orders, (5, 5, 0)),
        (orders, (12, 2, 0)),
        (orders, (5, 3, 2)),
        (pairs_of_sequences, ()),
    ],
)
def test_compiled_and_interpreted_kernels_agree(results, of, monkeypatch):
    compiled = results(*of)
    interpret(monkeypatch, MODULES)
    for expected, interpreted in zip(compiled, results(*of), strict=True):
        np.testing.assert_allclose(interpreted, expected, rtol=1e-12, atol=1e-12)


def test_unbalanced_splits_end_in_a_sort(monkeypatch):
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
    ranking = most_violated_ranking(scores, relevant, "ap", "select")
    np.testing.assert_array_equal(ranking.interleaving_ranks, expected.interleaving_ranks)
    assert sides
    assert max(sides) > 300


def test_compiled_and_interpreted_block_frank_wolfe_agree(monkeypatch):
    """With planes that find no slot, components that are enumerated and such that are cut."""
    modules = [sys.modules[f"ranking.solvers.{name}"] for name in ("block_frank_wolfe", "block_turns")]
    monkeypatch.setattr(modules[0], "SLOTS", 3)
    for module in modules:
        monkeypatch.setattr(module, "ENUMERATED", 4)
    edges = np.concatenate([np.array([(i, i + 1) for i in range(5)]), all_pairs([1] * 6 + [4, 3])])
    risk, *rest = problem([6, 4, 3, 1, 1], 17, 3.0, 2.0, edges=edges)
    with monkeypatch.context() as patch:
        assert interpret(patch, modules)
        interpreted = block_frank_wolfe(risk, *rest, tolerance=1e-3)
    agree(interpreted, block_frank_wolfe(risk, *rest, tolerance=1e-3))
