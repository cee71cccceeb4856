"""The pairs of different grades within sequences, and how many of them scores violate, by counting.

No pair is ever stored. Positions of a sequence are sorted by grade once, so that the samples of lower grade than a
position's are those from its `lower` to the end. A short sequence compares all of them; a long one sorts its scores
and counts with a tree of sums over the grades, in O(l log l) (Joachims 2006, section 4; Lee and Lin 2014, section 3).
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from ranking.core import Floats, Ints, SequenceSet

# samples: for fewer, comparing every pair is faster than sorting
SHORT = 96

Counts = npt.NDArray[np.int64]


@numba.njit(cache=True, nogil=True)
def _compare(scores, lower, wrong):  # type: ignore[no-untyped-def]
    """Add the counts of `violations` to `wrong` (l,) by comparing all pairs; return how many are violated."""
    total = 0
    for a in range(len(scores)):
        bar, count = scores[a] - 1.0, 0
        for b in range(lower[a], len(scores)):
            near = scores[b] > bar
            count += near
            wrong[b] += near
        wrong[a] -= count
        total += count
    return total


@numba.njit(cache=True, nogil=True)
def _add(tree, key):  # type: ignore[no-untyped-def]
    """Count one more sample under `key` >= 1."""
    while key < len(tree):
        tree[key] += 1
        key += key & -key


@numba.njit(cache=True, nogil=True)
def _sum(tree, key):  # type: ignore[no-untyped-def]
    """Return how many samples are counted under keys up to `key`."""
    total = 0
    while key > 0:
        total += tree[key]
        key -= key & -key
    return total


@numba.njit(cache=True, nogil=True)
def _count(scores, lower, wrong):  # type: ignore[no-untyped-def]
    """Do the same as `_compare` by sorting."""
    # `lower` distinguishes grades: it is larger where the grade is lower.
    length = len(scores)
    order = np.argsort(scores)
    tree = np.zeros(length + 1, np.int64)
    total, position = 0, length - 1
    # from the highest score down: samples of lower grade within the margin
    for x in range(length - 1, -1, -1):
        a = order[x]
        while position >= 0 and scores[order[position]] > scores[a] - 1.0:
            _add(tree, lower[order[position]])
            position -= 1
        count = (length - 1 - position) - _sum(tree, lower[a])
        wrong[a] -= count
        total += count
    tree[:] = 0
    position = 0
    # from the lowest score up: samples of higher grade within the margin
    for b in order:
        while position < length and scores[b] > scores[order[position]] - 1.0:
            _add(tree, lower[order[position]])
            position += 1
        wrong[b] += _sum(tree, lower[b] - 1)
    return total


@numba.njit(cache=True, nogil=True)
def _violations(scores, members, starts, lower, short, wrong):  # type: ignore[no-untyped-def]
    """Add up the counts of all sequences in `wrong` (n,); return how many pairs are violated."""
    longest = 0
    for number in range(len(starts) - 1):
        longest = max(longest, starts[number + 1] - starts[number])
    work, counts = np.empty(longest), np.empty(longest, np.int64)
    total = 0
    for number in range(len(starts) - 1):
        first, last = starts[number], starts[number + 1]
        own, own_counts = work[: last - first], counts[: last - first]
        for k in range(last - first):
            own[k] = scores[members[first + k]]
        own_counts[:] = 0
        if last - first <= short:
            total += _compare(own, lower[first:last], own_counts)
        else:
            total += _count(own, lower[first:last], own_counts)
        for k in range(last - first):
            wrong[members[first + k]] += own_counts[k]
    return total


@numba.njit(cache=True, nogil=True)
def _laplacian(scores, values, members, starts, lower, out):  # type: ignore[no-untyped-def]
    """Add value_a - value_b to a and its negative to b, for the similar pairs and those of `violations`."""
    for number in range(len(starts) - 1):
        first, last = starts[number], starts[number + 1]
        for k in range(first, last):
            a = members[k]
            for j in range(k + 1, first + lower[k]):
                step = values[a] - values[members[j]]
                out[a] += step
                out[members[j]] -= step
            bar = scores[a] - 1.0
            for j in range(first + lower[k], last):
                b = members[j]
                if scores[b] > bar:
                    out[a] += values[a] - values[b]
                    out[b] -= values[a] - values[b]


class GradedPairs:
    """The pairs (i, j) in sequences in which i has the higher grade, and the similar pairs of equal grade."""

    # A pair in two sequences counts twice.

    def __init__(self, sequences: SequenceSet) -> None:
        lengths = np.diff(sequences.starts)
        grades = sequences.grades[sequences.members]
        owner = np.repeat(np.arange(len(lengths)), lengths)
        by_grade = np.lexsort((-grades, owner))
        grades = grades[by_grade]
        self._rows = len(sequences.features)
        # members: (m,) rows of the pool, each sequence from its highest grade down
        self.members, self.starts = sequences.members[by_grade], sequences.starts
        ends = np.flatnonzero((np.diff(grades, append=-1) != 0) | (np.diff(owner, append=-1) != 0)) + 1
        run = np.searchsorted(ends, np.arange(len(grades)), side="right")
        # (m,) within its sequence, the first position whose grade is lower
        self.lower = ends[run] - np.repeat(sequences.starts[:-1], lengths)
        # number, similar: how many pairs of each kind there are
        self.number = int((np.repeat(lengths, lengths) - self.lower).sum())
        self.similar = int((lengths * (lengths - 1) // 2).sum()) - self.number

    def violations(self, scores: Floats, short: int = SHORT) -> tuple[Counts, int]:
        """Count the pairs with score_i - score_j < 1, for scores (n,) of the pool."""
        # Returns counts and number. Counts are (n,) by row: the violated pairs in which it is j, minus those
        # in which it is i. So their losses 1 - (score_i - score_j) add up to number + counts . scores.
        # Sequences of up to `short` samples compare all pairs.
        wrong = np.zeros(self._rows, np.int64)
        total = _violations(scores, self.members, self.starts, self.lower, short, wrong)
        return wrong, int(total)

    def laplacian(self, scores: Floats, values: Floats) -> Floats:
        """Return (n,) sum of (value_i - value_j)(e_i - e_j) over similar and violated pairs."""
        # Compares all pairs of a sequence, however long. The product with `values` is the sum of (value_i -
        # value_j)^2.
        out = np.zeros(self._rows)
        _laplacian(scores, values, self.members, self.starts, self.lower, out)
        return out

    def squares(self, values: Floats) -> float:
        """Return the sum over the pairs of different grades of (value_i - value_j)^2, in one pass."""
        own = values[self.members]
        lengths = np.diff(self.starts)
        runs = np.flatnonzero(np.diff(self.lower + np.repeat(self.starts[:-1], lengths), prepend=-1))
        return _square_differences(own, self.starts[:-1]) - _square_differences(own, runs)


def _square_differences(values: Floats, starts: Ints) -> float:
    """Return the sum over the pairs within each run of their squared difference; runs begin at `starts`."""
    lengths = np.diff(starts, append=len(values))
    centred = values - np.repeat(np.add.reduceat(values, starts) / lengths, lengths)
    return float(lengths @ np.add.reduceat(centred**2, starts))
