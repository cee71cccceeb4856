"""Which samples flip with which, packed into words of bits, and kernels that sum over them.

A position in a component of s samples has s bits: bit i says whether it flips with the i-th sample.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from ranking.core import Bools, Floats, Ints
from ranking.inference.components import Components

WORD = 64


def words_of(parts: Components) -> Ints:
    """Return (n + 1,) where the words of each position begin; each has a bit per sample of its component."""
    return np.append(0, np.cumsum(np.repeat((parts.sizes + WORD - 1) // WORD, parts.sizes)))


def pack(flipped: Bools) -> Ints:
    """Return the words of all positions from (rounds, positions): bit i is that of the i-th round."""
    rounds, positions = flipped.shape
    bits = np.zeros(((rounds + WORD - 1) // WORD * WORD, positions), bool)
    bits[:rounds] = flipped
    octets = np.packbits(bits, axis=0, bitorder="little")
    words: Ints = np.ascontiguousarray(octets.T).view("<u8").ravel()
    return words


@nb.njit(cache=True, nogil=True)
def gain_flips(
    unary: Floats,
    penalty: Floats,
    labels: Bools,
    words: Ints,
    flips: Ints,
    starts: Ints,
    edge_starts: Ints,
    ends: Ints,
    gains: Floats,
) -> None:
    """Add to `gains` what the flips of each position add to the value of `labels`."""
    for c in range(len(starts) - 1):
        first, size = starts[c], starts[c + 1] - starts[c]
        own = gains[first : first + size]
        for position in range(first, first + size):
            change = -unary[position] if labels[position] else unary[position]
            for word in range(words[position + 1] - words[position]):
                _add(change, flips[words[position] + word], own[WORD * word :])
        for edge in range(edge_starts[c], edge_starts[c + 1]):
            a, b = ends[edge, 0], ends[edge, 1]
            change = -penalty[edge] if labels[a] != labels[b] else penalty[edge]
            for word in range(words[a + 1] - words[a]):
                _add(change, flips[words[a] + word] ^ flips[words[b] + word], own[WORD * word :])


@nb.njit(cache=True, nogil=True)
def _add(change: float, bits: np.uint64, sums: Floats) -> None:
    """Add `change` where `bits` has ones."""
    i = 0
    while bits:
        if bits & np.uint64(0xFF):
            if bits & np.uint64(1):
                sums[i] += change
            bits >>= np.uint64(1)
            i += 1
        else:
            bits >>= np.uint64(8)
            i += 8


@nb.njit(cache=True, nogil=True)
def settle_flips(members: Ints, starts: Ints, pairs: Ints, labels: Bools, words: Ints, flips: Ints) -> None:
    """Write labels and flips of the auxiliary `pairs` (g, 2): all members, any member of each group."""
    ones = ~np.uint64(0)
    for group in range(len(pairs)):
        all_position, any_position = pairs[group]
        if all_position < 0:
            continue
        own = members[starts[group] : starts[group + 1]]
        labels[all_position], labels[any_position] = labels[own].all(), labels[own].any()
        for word in range(words[all_position + 1] - words[all_position]):
            all_bits, any_bits = ones, np.uint64(0)
            for position in own:
                bits = flips[words[position] + word] ^ (ones if labels[position] else np.uint64(0))
                all_bits &= bits
                any_bits |= bits
            flips[words[all_position] + word] = all_bits ^ (ones if labels[all_position] else np.uint64(0))
            flips[words[any_position] + word] = any_bits ^ (ones if labels[any_position] else np.uint64(0))


@nb.njit(cache=True, nogil=True)
def sum_flips(
    weights: Floats,
    flipped: Bools,
    labels: Bools,
    words: Ints,
    flips: Ints,
    starts: Ints,
    edge_starts: Ints,
    ends: Ints,
    samples: Floats,
    edges: Floats,
) -> None:
    """Write the weighted sums of `MaxMarginals.sums`, all by position and `edge_order`."""
    for c in range(len(starts) - 1):
        first, size = starts[c], starts[c + 1] - starts[c]
        weight = weights[first : first + size]
        total = weight.sum()
        mask = np.zeros(words[first + 1] - words[first], np.uint64)
        for i in range(size):
            mask[i // WORD] |= np.uint64(flipped[first + i]) << np.uint64(i % WORD)
        for position in range(first, first + size):
            moved = 0.0
            for word in range(len(mask)):
                moved += _picked(weight[WORD * word :], flips[words[position] + word] & mask[word])
            samples[position] = total - moved if labels[position] else moved
        for edge in range(edge_starts[c], edge_starts[c + 1]):
            a, b = ends[edge, 0], ends[edge, 1]
            moved = 0.0
            for word in range(len(mask)):
                bits = (flips[words[a] + word] ^ flips[words[b] + word]) & mask[word]
                moved += _picked(weight[WORD * word :], bits)
            edges[edge] = total - moved if labels[a] != labels[b] else moved


@nb.njit(cache=True, nogil=True)
def _picked(weights: Floats, bits: np.uint64) -> float:
    """Return the sum of the weights where `bits` has ones."""
    total, i = 0.0, 0
    while bits:
        if bits & np.uint64(0xFF):
            if bits & np.uint64(1):
                total += weights[i]
            bits >>= np.uint64(1)
            i += 1
        else:
            bits >>= np.uint64(8)
            i += 8
    return total
