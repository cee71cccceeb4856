"""Random pairwise binary models for the tests of labellings."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    unary: np.ndarray
    edges: np.ndarray
    penalty: np.ndarray


def worth(labels: np.ndarray, case: Case) -> float:
    """reference.value_of_labelling, for many samples."""
    differs = labels[case.edges[:, 0]] != labels[case.edges[:, 1]]
    return float(labels @ case.unary + differs @ case.penalty)


def check_sums_and_values(
    marginals: Any, component_of: np.ndarray, terms: list[np.ndarray], generator: np.random.Generator
) -> None:
    """`sums` and `values` are those of the labellings, with random labels, weights and models."""
    # The labelling of each sample's component. terms: the samples of each edge or clique, which costs once
    # where their labels differ.
    n, m = len(component_of), len(terms)
    labels, weights = generator.random(n) < 0.5, generator.standard_normal(n)
    unary, penalty = generator.standard_normal(n), generator.standard_normal(m)
    samples, broken, values = np.zeros(n), np.zeros(m), np.zeros(n)
    for i in range(n):
        inside = component_of == component_of[i]
        labelling = marginals.labelling(i, labels[i])
        differ = np.array([inside[term[0]] and len(set(labelling[term])) > 1 for term in terms], bool)
        samples += weights[i] * (labelling & inside)
        broken += weights[i] * differ
        values[i] = unary[labelling & inside].sum() + penalty[differ].sum()
    sums = marginals.sums(labels, weights)
    np.testing.assert_allclose(sums[0], samples, atol=1e-12)
    np.testing.assert_allclose(sums[1], broken, atol=1e-12)
    np.testing.assert_allclose(marginals.values(labels, unary, penalty), values, rtol=1e-9, atol=1e-12)


def random_edges(generator: np.random.Generator, n: int, m: int) -> np.ndarray:
    """`m` different pairs of `n` samples, in any order and direction."""
    pairs = np.array(list(itertools.combinations(range(n), 2)), int).reshape(-1, 2)
    chosen = pairs[generator.permutation(len(pairs))[:m]]
    return generator.permuted(chosen, axis=1)


def random_case(generator: np.random.Generator, n: int, m: int, strength: float, whole: bool) -> Case:
    """Scores around one and penalties around `strength`, a fifth of them 0; small integers, which tie, if `whole`."""
    edges = random_edges(generator, n, m)
    if whole:
        unary = generator.integers(-2, 3, n).astype(float)
        return Case(unary, edges, -generator.integers(0, 3, len(edges)).astype(float))
    penalty = -strength * generator.random(len(edges)) * (generator.random(len(edges)) < 0.8)
    return Case(generator.standard_normal(n), edges, penalty)


def small_cases() -> Iterator[Case]:
    """Models of 1 to 8 samples, from no edge to all pairs, weak to strong, with and without ties."""
    for seed in range(120):
        generator = np.random.default_rng(seed)
        n = int(generator.integers(1, 9))
        m = int(generator.integers(0, n * (n - 1) // 2 + 1))
        yield random_case(generator, n, m, 10.0 ** generator.integers(-3, 4), whole=seed % 3 == 0)


def boxes_of_images(generator: np.random.Generator, images: int, most: int) -> np.ndarray:
    """Edges between all boxes of an image, each of which has 1 to `most`."""
    counts = generator.integers(1, most + 1, images)
    starts = np.append(0, np.cumsum(counts))
    pairs = [
        pair
        for image in range(images)
        for pair in itertools.combinations(range(*starts[image : image + 2]), 2)
    ]
    return np.array(pairs, int).reshape(-1, 2)
