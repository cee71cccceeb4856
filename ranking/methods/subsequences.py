"""MidRank's training examples: subsequences in the correct order and scrambled ones (midrank, section 3.2).

Every subsequence of a correctly ordered sequence is correctly ordered. The paper does not say how samples of equal
grades are treated; there are two readings. "equal": a subsequence holds any samples of its sequence, of at least two
grades, and is correctly ordered if no grade rises. "forbidden": a subsequence holds at most one sample of each grade,
so that a sequence with fewer different grades than the length gives none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranking.core import Bools, Floats, Ints, SequenceSet
from ranking.core.errors import InputError
from ranking.core.settings import check_choice

SPACINGS = ("any", "consecutive")
SCRAMBLED = ("any order", "one swap", "reversed")
DISAGREEMENTS = ("zero-one", "Kendall tau", "NDCG")
EQUAL, FORBIDDEN = "equal", "forbidden"
TIES = (EQUAL, FORBIDDEN)


@dataclass(frozen=True, eq=False)
class Subsequences:
    """Sampled subsequences, in the correct order and scrambled."""

    # (m, L) of the pool, from the first position
    rows: Ints
    # (m,) whether a subsequence is in the correct order
    right: Bools

    def __len__(self) -> int:
        return len(self.rows)


def longest_subsequence(sequences: SequenceSet, ties: str) -> int:
    """Return the length of the longest training subsequence."""
    # That is the most samples of a sequence with at least two grades, or the most different grades where ties
    # are forbidden.
    levels = _Levels.of(sequences)
    return int(levels.longest(ties).max(initial=0))


def training_subsequences(
    sequences: SequenceSet,
    length: int,
    number: int,
    spacing: str = "any",
    scrambled: str = "any order",
    seed: int = 0,
    ties: str = EQUAL,
) -> Subsequences:
    """Sample `number` subsequences in which no grade increases, then as many scrambled subsequences."""
    # spacing: "any" samples of the sequence, or "consecutive" samples. scrambled: "any order" in which a
    # grade increases, "one swap" of two different grades, or "reversed". ties: with "equal", samples of the
    # same grade are in random order, and if all samples have the same grade, one of them is replaced by a
    # sample of another grade; with "forbidden", all samples have different grades. Each sequence that is long
    # enough is chosen with the same probability.
    for name, chosen, choices in (
        ("drawn", spacing, SPACINGS),
        ("scrambled", scrambled, SCRAMBLED),
        ("ties", ties, TIES),
    ):
        check_choice(name, chosen, choices)
    for name, value, least in (("length", length, 2), ("number", number, 1)):
        if value < least:
            raise InputError(name, f"at least {least}", value)
    generator = np.random.default_rng(seed)
    levels = _Levels.of(sequences, generator if ties == EQUAL else None)
    eligible = np.flatnonzero(levels.longest(ties) >= length)
    if not len(eligible):
        raise _too_long(levels, length, ties)
    owners = eligible[generator.integers(len(eligible), size=2 * number)]
    if ties == EQUAL:
        rows = _any_grades(levels, owners, length, spacing, generator)
    else:
        choose = _any if spacing == "any" else _consecutive
        rows = levels.members(owners, choose(levels.counts[owners], length, generator), generator)
    rows[number:] = _scrambled(rows[number:], sequences.grades, scrambled, generator)
    return Subsequences(rows, np.arange(2 * number) < number)


def _too_long(levels: _Levels, length: int, ties: str) -> InputError:
    longest = levels.longest(ties).max(initial=0)
    unit = "samples" if ties == EQUAL else "different grades"
    return InputError(
        "length",
        f"at most {longest}, the most {unit} that a sequence has",
        length,
        "choose a shorter length, or longer sequences",
    )


# ---------------------------------------------------------------------------------------------------------
# Subsequences
# ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Levels:
    """Members sorted by sequence and falling grade: level l holds sorted[starts[l]:starts[l + 1]]."""

    # Members of a level have one grade.

    sorted: Ints
    # (N,) of each sorted member
    level: Ints
    starts: Ints
    # (sequences,) the number of each sequence's first level
    first: Ints
    # (sequences,) the number of its levels
    counts: Ints
    # begin, sizes: (sequences,) where its members begin, and how many it has
    begin: Ints
    sizes: Ints

    @classmethod
    def of(cls, sequences: SequenceSet, generator: np.random.Generator | None = None) -> _Levels:
        """Return the levels of `sequences`."""
        # Equal grades are in random order with a generator, else in member order.
        sizes = np.diff(sequences.starts)
        owner = np.repeat(np.arange(len(sequences)), sizes)
        grades = sequences.grades[sequences.members]
        tie = np.arange(len(grades)) if generator is None else generator.permutation(len(grades))
        order = np.lexsort((tie, -grades, owner))
        owner, grades = owner[order], grades[order]
        new = np.ones(len(order), np.bool_)
        new[1:] = (owner[1:] != owner[:-1]) | (grades[1:] != grades[:-1])
        counts = np.bincount(owner[new], minlength=len(sequences))
        starts = np.append(np.flatnonzero(new), len(order))
        level = np.cumsum(new) - 1
        first = np.cumsum(counts) - counts
        return cls(sequences.members[order], level, starts, first, counts, sequences.starts[:-1], sizes)

    def longest(self, ties: str) -> Ints:
        """Return (sequences,) the length of the longest subsequence of each."""
        longest: Ints = np.where(self.counts > 1, self.sizes, 1) if ties == EQUAL else self.counts
        return longest

    def members(self, chosen: Ints, numbers: Ints, generator: np.random.Generator) -> Ints:
        """Return (m, L) a random row of the pool for each level `numbers` of the sequences `chosen`."""
        # numbers: (m, L). chosen: (m,).
        level = self.first[chosen][:, None] + numbers
        begin, size = self.starts[level], self.starts[level + 1] - self.starts[level]
        rows: Ints = self.sorted[begin + np.floor(generator.random(level.shape) * size).astype(np.int64)]
        return rows

    def with_two_grades(self, chosen: Ints, positions: Ints, generator: np.random.Generator) -> Ints:
        """Return (m, L) the sorted members `positions` of the sequences `chosen`, of at least two grades."""
        # positions: (m, L). Where all have one grade, one of them is replaced by a sample of another grade of
        # the sequence.
        level = self.level[positions]
        alone = np.flatnonzero((level == level[:, :1]).all(axis=1))
        own, single_level = chosen[alone], level[alone, 0]
        size = self.starts[single_level + 1] - self.starts[single_level]
        replacement = self.begin[own] + _below(self.sizes[own] - size, generator)
        replaced, column = positions.copy(), generator.integers(positions.shape[1], size=len(alone))
        replaced[alone, column] = np.where(
            replacement < self.starts[single_level], replacement, replacement + size
        )
        return replaced

    def windows(self, chosen: Ints, length: int, generator: np.random.Generator) -> Ints:
        """Return (m, L) neighbouring sorted members of the sequences `chosen`, of two grades at least."""
        owner = np.repeat(np.arange(len(self.sizes)), self.sizes)
        last = np.arange(len(owner)) + length - 1
        inside = last < (self.begin + self.sizes)[owner]
        usable = np.flatnonzero(inside & (self.level != self.level[np.minimum(last, len(owner) - 1)]))
        counts = np.bincount(owner[usable], minlength=len(self.sizes))
        first = np.cumsum(counts) - counts
        start: Ints = usable[first[chosen] + _below(counts[chosen], generator)]
        return start[:, None] + np.arange(length)


def _any_grades(
    levels: _Levels, chosen: Ints, length: int, spacing: str, generator: np.random.Generator
) -> Ints:
    """Return (m, L) samples of sequences `chosen` (m,) with falling grades, equal ones in random order."""
    if spacing == "any":
        start = levels.begin[chosen][:, None] + _any(levels.sizes[chosen], length, generator)
        positions = levels.with_two_grades(chosen, start, generator)
    else:
        positions = levels.windows(chosen, length, generator)
    order = np.argsort(levels.level[positions] + generator.random(positions.shape), axis=1)
    rows: Ints = levels.sorted[np.take_along_axis(positions, order, axis=1)]
    return rows


def _below(counts: Ints, generator: np.random.Generator) -> Ints:
    """Return (m,) a random number below each count."""
    return np.floor(generator.random(len(counts)) * counts).astype(np.int64)


def _consecutive(counts: Ints, length: int, generator: np.random.Generator) -> Ints:
    """Return (m, L) neighbouring numbers below each count."""
    start = np.floor(generator.random(len(counts)) * (counts - length + 1)).astype(np.int64)
    return start[:, None] + np.arange(length)


def _any(counts: Ints, length: int, generator: np.random.Generator) -> Ints:
    """Return (m, L) rising numbers below each count, all choices equally likely (Floyd's algorithm)."""
    chosen = np.full((len(counts), length), -1)
    for column in range(length):
        top = counts - length + column
        candidate = np.floor(generator.random(len(counts)) * (top + 1)).astype(np.int64)
        is_taken = (chosen == candidate[:, None]).any(axis=1)
        chosen[:, column] = np.where(is_taken, top, candidate)
    return np.sort(chosen, axis=1)


def _scrambled(rows: Ints, grades: Ints, kind: str, generator: np.random.Generator) -> Ints:
    """Return (m, L) each row in an order in which a grade rises; `grades` (n,) of the pool."""
    if kind == "reversed":
        return rows[:, ::-1]
    scrambled = rows.copy()
    left = np.arange(len(rows))
    while len(left):
        order = _orders(len(left), rows.shape[1], kind, generator)
        scrambled[left] = np.take_along_axis(rows[left], order, axis=1)
        left = left[in_order(grades[scrambled[left]])]
    return scrambled


def _orders(count: int, length: int, kind: str, generator: np.random.Generator) -> Ints:
    """Return (count, L) random orders: any, or one swap away from the rising one."""
    if kind == "any order":
        return np.argsort(generator.random((count, length)), axis=1)
    order = np.tile(np.arange(length), (count, 1))
    pair = _any(np.full(count, length), 2, generator)
    np.put_along_axis(order, pair, pair[:, ::-1].copy(), axis=1)
    return order


# ---------------------------------------------------------------------------------------------------------
# Disagreement
# ---------------------------------------------------------------------------------------------------------


def in_order(grades: Ints) -> Bools:
    """Return (m,) whether no grade rises in each of the rows (m, L)."""
    falling: Bools = np.all(grades[:, 1:] <= grades[:, :-1], axis=1)
    return falling


def deltas(grades: Ints, disagreement: str) -> Floats:
    """Return (m,) delta of eq. 4 for subsequences with grades (m, L), of at least two grades in each row.

    >>> deltas(np.array([[5, 3, 1], [3, 5, 1], [1, 3, 5]]), "Kendall tau").round(3)
    array([ 1.   , -0.333, -1.   ])
    """
    # 1 where no grade rises. Elsewhere minus the size of the disagreement with the correct order: 1 for
    # "zero-one"; the share of incorrect ones among the pairs of different grades, (1 - tau) / 2, for "Kendall
    # tau"; for "NDCG" the loss 1 - NDCG over that of the reversed order, where the gain of a sample is the
    # number of samples of lower grades. So the reversed order has -1 for all three.
    check_choice("disagreement", disagreement, DISAGREEMENTS)
    length = grades.shape[1]
    if disagreement == "zero-one":
        sizes = np.ones(len(grades))
    elif disagreement == "Kendall tau":
        first, second = np.triu_indices(length, 1)
        higher, lower = grades[:, first], grades[:, second]
        sizes = (higher < lower).sum(axis=1) / (higher != lower).sum(axis=1)
    else:
        gains = np.stack([(grades < grades[:, [i]]).sum(axis=1) for i in range(length)], axis=1)
        rising = np.sort(gains, axis=1)
        sizes = (_dcg(rising[:, ::-1]) - _dcg(gains)) / (_dcg(rising[:, ::-1]) - _dcg(rising))
    return np.where(in_order(grades), 1.0, -sizes)


def _dcg(gains: Ints) -> Floats:
    summed: Floats = gains @ (1.0 / np.log2(2.0 + np.arange(gains.shape[-1])))
    return summed
