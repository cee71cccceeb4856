"""Ordered sequences from pairs, by transitivity (midrank, section 1).

MidRank can then train on pairs alone.
"""

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
    """Return ordered sequences from pairs (m, 2) of rows, the better row first."""
    # By transitivity (midrank, section 1): a sequence is a path of pairs. "longest": a longest path down from
    # each of the `number` samples with the longest paths below them. "sampled": random paths to the end, from
    # random samples that are not below another sample. The grade of a sample is the length of the longest
    # path below it. The seed decides between equal candidates. InputError names a cycle if the pairs form
    # one.
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
    """Return (n,) the number of pairs on the longest path down from each sample; InputError names a cycle."""
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
    """Return a cycle among the remaining samples, each of which is below another of them."""
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
    """Return paths that lose one grade per step, from the highest grades; ties are random."""
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
    """Return random paths from samples that are below no sample to samples with no sample below."""
    heads = np.setdiff1d(np.flatnonzero(grades), lower)
    for head in generator.choice(heads, number):
        path = [int(head)]
        while len(below[path[-1]]):
            path.append(int(generator.choice(below[path[-1]])))
        yield np.array(path)
