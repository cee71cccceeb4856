"""Scores that are hard on sorting, on binning and on rounding, and the relevant samples among them."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import ranking.inference  # noqa: F401  its modules are looked up by name

Case = tuple[np.ndarray, np.ndarray]


def median_of_three_killer(n: int) -> np.ndarray:
    """Musser's permutation: every median of first, middle and last is next to an extreme."""
    half = n // 2
    values = np.arange(n, dtype=float)
    first = np.arange(half)
    values[first] = np.where(first % 2 == 0, first + 1, half + first + first % 2)
    values[half : 2 * half] = 2.0 * (first + 1)
    return values


@cache
def quicksort_killer(n: int) -> np.ndarray:
    """McIlroy's adversary (1999) played against the pivots of `select`: every split takes off a sliver."""
    # A score is decided only when it must be: until then it is above all that is decided.
    kernels = sys.modules["ranking.inference.interleaving"]
    pivot, partition, median = (getattr(kernels, name) for name in ("_pivot", "_partition", "_median"))
    values = np.full(n, np.inf)
    decided = itertools.count()
    undecided = [_Undecided(values, sample, decided) for sample in range(n)]
    scores, numbers, start, end = np.array(undecided, dtype=object), np.arange(n), 0, n
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "_median", python_of(median))
        while end - start > 1:
            first, last = python_of(partition)(
                scores, numbers, start, end, python_of(pivot)(scores, start, end)
            )
            start, end = (start, first) if first - start > end - last else (last, end)
    values[np.isinf(values)] = n
    return values


class _Undecided:
    """A score that is the least possible whenever two undecided ones are compared."""

    candidate: int | None = None

    def __init__(self, values: np.ndarray, sample: int, decided: Iterator[int]) -> None:
        self.values, self.sample, self.decided = values, sample, decided

    def __gt__(self, other: _Undecided) -> bool:
        values, pair = self.values, (self.sample, other.sample)
        if values[pair[0]] == values[pair[1]] == np.inf and self.sample != other.sample:
            frozen = self.sample if _Undecided.candidate == self.sample else other.sample
            values[frozen] = next(self.decided)
        _Undecided.candidate = next((sample for sample in pair if np.isinf(values[sample])), None)
        return bool(values[self.sample] > values[other.sample])

    def __lt__(self, other: _Undecided) -> bool:
        return other > self


def python_of(kernel: Any) -> Any:
    """The Python that a kernel is compiled from."""
    return getattr(kernel, "py_func", kernel)


def last_bits(n: int, rng: np.random.Generator) -> np.ndarray:
    return 1.0 + rng.integers(0, 5, n) * np.finfo(float).eps


FAMILIES: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "gaussian": lambda n, rng: rng.normal(size=n),
    "cauchy": lambda n, rng: rng.standard_cauchy(n),
    "powers of ten": lambda n, rng: rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-12, 12, n),
    "outlier": lambda n, rng: np.append(rng.normal(size=n - 1), 1e12 * rng.choice([-1, 1])),
    "all equal": lambda n, rng: np.full(n, 0.3),
    "two values": lambda n, rng: rng.integers(0, 2, n).astype(float),
    "signed zeros": lambda n, rng: rng.choice([0.0, -0.0], n),
    "few integers": lambda n, rng: rng.integers(-3, 4, n).astype(float),
    "ascending": lambda n, rng: np.linspace(-1, 1, n),
    "descending": lambda n, rng: np.linspace(1, -1, n),
    "median-of-three killer": lambda n, rng: median_of_three_killer(n) / n,
    "quicksort killer": lambda n, rng: 10.0 * np.resize(quicksort_killer(min(n, 300)), n),
    "tiny": lambda n, rng: 1e-300 * rng.normal(size=n),
    "denormal": lambda n, rng: 5e-324 * rng.integers(-9, 10, n),
    "huge": lambda n, rng: 1e300 * rng.normal(size=n),
    "tiny and huge": lambda n, rng: rng.choice([1e-300, -1e-300, 1e300, -1e300, 1.0], n),
    "last bits": last_bits,
    "crowded bin": lambda n, rng: np.where(
        rng.uniform(size=n) < 0.9, 1e-7 * rng.normal(size=n), rng.normal(size=n)
    ),
    "two clusters": lambda n, rng: rng.choice([0.0, 1e-3], n) + 1e-9 * rng.normal(size=n),
    "separated": lambda n, rng: np.where(np.arange(n) % 7 == 0, 2.0, -2.0) + rng.normal(size=n),
}


def relevant_of(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n,) bool: one relevant sample, one irrelevant, a tenth, four fifths, the first tenth, the best half."""
    mask = np.zeros(n, bool)
    if kind in ("one relevant", "one irrelevant"):
        mask[rng.integers(n)] = True
        return mask if kind == "one relevant" else ~mask
    share = {"a tenth": 0.1, "most": 0.8, "first": 0.1}[kind]
    chosen = np.arange(n) if kind == "first" else rng.permutation(n)
    mask[chosen[: max(1, int(share * n))]] = True
    return mask


MIXTURES = ("one relevant", "one irrelevant", "a tenth", "most", "first")


def hard_case(family: str, mixture: str, n: int, seed: int = 0) -> Case:
    rng = np.random.default_rng([seed, n])
    return FAMILIES[family](n, rng), relevant_of(mixture, n, rng)
