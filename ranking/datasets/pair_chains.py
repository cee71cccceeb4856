"""Ordered sequences from pairs, by transitivity (midrank, section 1): who has only pairs can train MidRank on them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ranking.core import Features, Ints, SequenceSet
from ranking.core.errors import InputError
from ranking.core.settings import check_choice

CHAINS = ("longest", "sampled")


def sequences_of_pairs(
    features: Features,
    pairs: npt.ArrayLike,
    number: int,
    chains: str = "longest",
    seed: int = 0,
) -> SequenceSet:
    """Ordered sequences from pairs (m, 2) of rows, the better one first, by transitivity (midrank, section 1).

    A sequence is a path of pairs. "longest": from each of `number` samples, those with the longest paths below them
    first, a longest path down. "sampled": from samples that no pair puts below another, at random, a random path to the
    end. Grades are the lengths of the longest paths below. Where several samples would do, the seed decides.
    InputError for pairs that form a cycle, which it names.
    """
    check_choice("chains", chains, CHAINS)
    given = np.asarray(pairs)
    if given.ndim != 2 or given.shape[1] != 2 or not np.issubdtype(given.dtype, np.integer) or not len(given):
        expected = "whole numbers of shape (m, 2), at least one pair"
        raise InputError("pairs", expected, f"{given.dtype} of shape {given.shape}")
    if given.min() < 0 or given.max() >= len(features):
        came = f"{given.min()} to {given.max()}"
        raise InputError("pairs", f"rows of the features, 0 to {len(features) - 1}", came)
    if number < 1:
        raise InputError("number", "at least 1", number)
    edges = np.unique(given, axis=0)
    below = np.split(edges[:, 1], np.searchsorted(edges[:, 0], np.arange(1, len(features))))
    grades = _grades(below)
    generator = np.random.default_rng(seed)
    walk = _longest_paths if chains == "longest" else _sampled_paths
    paths = list(walk(below, grades, np.unique(edges[:, 1]), number, generator))
    starts = np.concatenate([[0], np.cumsum([len(path) for path in paths])])
    return SequenceSet(features, grades, np.concatenate(paths), starts)


def _grades(below: list[Ints]) -> Ints:
    """(n,) pairs on the longest path down from each sample; InputError that names a cycle."""
    above = np.bincount(np.concatenate(below), minlength=len(below))
    order: list[int] = []
    ready = np.flatnonzero(above == 0).tolist()
    while ready:
        order.append(ready.pop())
        for sample in below[order[-1]].tolist():
            above[sample] -= 1
            if above[sample] == 0:
                ready.append(sample)
    if len(order) < len(below):
        circle = " > ".join(map(str, _circle(below, above)))
        raise InputError("pairs", "pairs that some order fulfils", f"the cycle {circle}", "omit one of them")
    grades = np.zeros(len(below), np.int64)
    for sample in reversed(order):
        grades[sample] = (grades[below[sample]] + 1).max(initial=0)
    return grades


def _circle(below: list[Ints], above: Ints) -> list[int]:
    """A path that ends where it began, among samples of which each is below another that is left."""
    parents = {}
    for sample in np.flatnonzero(above > 0).tolist():
        parents.update({int(lower): sample for lower in below[sample] if above[lower] > 0})
    path = [next(iter(parents))]
    while path[-1] not in path[:-1]:
        path.append(parents[path[-1]])
    return path[path.index(path[-1]) :][::-1]


def _longest_paths(
    below: list[Ints], grades: Ints, _: Ints, number: int, generator: np.random.Generator
) -> Iterator[Ints]:
    """The samples with the highest grades, of equal ones by chance, and from each a path that loses no grade."""
    heads = np.lexsort((generator.random(len(grades)), -grades))
    for head in heads[: min(number, np.count_nonzero(grades))]:
        path = [int(head)]
        while grades[path[-1]]:
            next_samples = below[path[-1]]
            path.append(int(generator.choice(next_samples[grades[next_samples] == grades[path[-1]] - 1])))
        yield np.array(path)


def _sampled_paths(
    below: list[Ints], grades: Ints, lower: Ints, number: int, generator: np.random.Generator
) -> Iterator[Ints]:
    """Paths from samples that are below none to samples that have none below."""
    heads = np.setdiff1d(np.flatnonzero(grades), lower)
    for head in generator.choice(heads, number):
        path = [int(head)]
        while len(below[path[-1]]):
            path.append(int(generator.choice(below[path[-1]])))
        yield np.array(path)
