"""Small components: the values of all labellings, and the best one for each label of each sample.

A labelling of s samples is a number below 2^s whose bit k is the label of the k-th sample. Values are filled in by
doubling, sample by sample, and max-marginals are found by halving again: 2^s steps each instead of s 2^s.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from ranking.core import Bools, Floats, Ints
from ranking.core.errors import InputError
from ranking.inference.components import PairwiseModel

# samples: larger components take longer than a cut for each sample
LARGEST_ENUMERATED = 12


def enumerate_labellings(
    model: PairwiseModel, first: int, last: int, labels: Bools, words: Ints, flips: Ints
) -> None:
    """Write the max-marginal labellings of components first ... last - 1, of at most LARGEST_ENUMERATED."""
    # labels: (n,) by position, the best labelling is written. flips: uint64, of which words[p] belongs to
    # position p, is written: bit i is 1 if the label at p flips when the i-th sample of the component is
    # forced to the label that it does not have in the best labelling.
    parts = model.components
    _check_size(model, first, last)
    _enumerate(
        model.unary, model.penalty, parts.ends, parts.starts, parts.edge_starts, first, last, labels, words, flips
    )  # fmt: skip


def enumerate_best(model: PairwiseModel, first: int, last: int, labels: Bools) -> None:
    """Write the best labellings only."""
    parts = model.components
    _check_size(model, first, last)
    _best(model.unary, model.penalty, parts.ends, parts.starts, parts.edge_starts, first, last, labels)


def _check_size(model: PairwiseModel, first: int, last: int) -> None:
    largest = int(model.components.sizes[first:last].max(initial=0))
    if largest > LARGEST_ENUMERATED:
        raise InputError(
            "samples in one component",
            f"at most {LARGEST_ENUMERATED} where they are enumerated",
            largest,
            'use algorithm="auto" or "dynamic-cut"',
        )


@nb.njit(cache=True, nogil=True)
def _enumerate(
    unary: Floats,
    penalty: Floats,
    ends: Ints,
    starts: Ints,
    edge_starts: Ints,
    first: int,
    last: int,
    labels: Bools,
    words: Ints,
    flips: Ints,
) -> None:
    values, numbers = np.empty(1 << LARGEST_ENUMERATED), np.empty(1 << LARGEST_ENUMERATED, np.int64)
    buffer = np.empty(1 << LARGEST_ENUMERATED)
    for c in range(first, last):
        start, size = starts[c], starts[c + 1] - starts[c]
        edges = slice(edge_starts[c], edge_starts[c + 1])
        _fill_values(unary[start : start + size], penalty[edges], ends[edges] - start, values, buffer)
        best, best_with = _halve(size, values, numbers)
        own = flips[words[start] : words[start + size]]
        own[:] = 0
        for i in range(size):
            labels[start + i] = (best >> i) & 1
            changed = best ^ best_with[i, 1 - ((best >> i) & 1)]
            for k in range(size):
                own[k] |= np.uint64((changed >> k) & 1) << np.uint64(i)


@nb.njit(cache=True, nogil=True)
def _best(
    unary: Floats,
    penalty: Floats,
    ends: Ints,
    starts: Ints,
    edge_starts: Ints,
    first: int,
    last: int,
    labels: Bools,
) -> None:
    values, buffer = np.empty(1 << LARGEST_ENUMERATED), np.empty(1 << LARGEST_ENUMERATED)
    for c in range(first, last):
        start, size = starts[c], starts[c + 1] - starts[c]
        edges = slice(edge_starts[c], edge_starts[c + 1])
        _fill_values(unary[start : start + size], penalty[edges], ends[edges] - start, values, buffer)
        best = _last_of_largest(values[: 1 << size])
        for i in range(size):
            labels[start + i] = (best >> i) & 1


@nb.njit(cache=True, nogil=True)
def _fill_values(unary: Floats, penalty: Floats, ends: Ints, values: Floats, buffer: Floats) -> None:
    """Write the value of every labelling."""
    # It is sum_i y_i (unary_i + sum_e penalty_e) - 2 sum_e penalty_e y_i y_j.
    size = len(unary)
    alone = unary.copy()
    together = np.zeros((size, size))
    for e in range(len(ends)):
        i, j = ends[e, 0], ends[e, 1]
        alone[i] += penalty[e]
        alone[j] += penalty[e]
        together[max(i, j), min(i, j)] = -2 * penalty[e]
    values[0] = 0.0
    for k in range(size):
        # what label 1 of sample k adds to each labelling of those before it
        buffer[0] = alone[k]
        for j in range(k):
            half = 1 << j
            lower, upper, added = buffer[:half], buffer[half : 2 * half], together[k, j]
            for number in range(half):
                upper[number] = lower[number] + added
        half = 1 << k
        lower, upper = values[:half], values[half : 2 * half]
        for number in range(half):
            upper[number] = lower[number] + buffer[number]


@nb.njit(cache=True, nogil=True)
def _halve(size: int, values: Floats, numbers: Ints) -> tuple[int, Ints]:
    """Return the best labelling, and (size, 2) the best with each label of each sample."""
    # From the last sample on, the better of its two labels is kept for each labelling of the samples before
    # it, in `values`, which is overwritten. If values tie exactly, the larger number is kept, which is the
    # labelling with the most ones.
    best = np.empty((size, 2), np.int64)
    for number in range(1 << size):
        numbers[number] = number
    for k in range(size - 1, -1, -1):
        half = 1 << k
        lower, upper = values[:half], values[half : 2 * half]
        best[k, 0] = numbers[_last_of_largest(lower)]
        best[k, 1] = numbers[half + _last_of_largest(upper)]
        for number in range(half):
            if upper[number] >= lower[number]:
                lower[number], numbers[number] = upper[number], numbers[half + number]
    return numbers[0], best


@nb.njit(cache=True, nogil=True)
def _last_of_largest(values: Floats) -> int:
    best = 0
    for number in range(1, len(values)):
        if values[number] >= values[best]:
            best = number
    return best
