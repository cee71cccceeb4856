"""What MidRank learns from: subsequences in the right order and scrambled ones (midrank, section 3.2).

Every subsequence of a correctly ordered sequence is correctly ordered. Samples of one grade have no order, so that a
subsequence holds at most one of each grade: a sequence with fewer different grades than the length gives none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranking.errors import InputError
from ranking.settings import check_choice
from ranking.types import Bools, Floats, Ints, SequenceSet

DRAWN = ("any", "consecutive")
SCRAMBLED = ("any order", "one swap", "reversed")
DISAGREEMENTS = ("zero-one", "Kendall tau", "NDCG")


@dataclass(frozen=True, eq=False)
class Subsequences:
    """rows: (m, L) of the pool, from the first place. right: (m,) whether a subsequence is in the right order."""

    rows: Ints
    right: Bools

    def __len__(self) -> int:
        return len(self.rows)


def longest_chain(sequences: SequenceSet) -> int:
    """The most different grades that one sequence holds: no subsequence is longer."""
    return int(_Levels.of(sequences).counts.max(initial=0))


def training_subsequences(
    sequences: SequenceSet,
    length: int,
    number: int,
    drawn: str = "any",
    scrambled: str = "any order",
    seed: int = 0,
) -> Subsequences:
    """`number` subsequences of grades that fall strictly, then as many others that are scrambled.

    drawn: "any" of the sequence's different grades, or "consecutive" ones; of equal grades a sample by chance.
    scrambled: to "any order" but the right one, by "one swap", or "reversed". The same sequence gives many, each
    sequence with enough grades with the same chance. ValueError where none has so many different grades.
    """
    check_choice("drawn", drawn, DRAWN)
    check_choice("scrambled", scrambled, SCRAMBLED)
    for name, value, least in (("length", length, 2), ("number", number, 1)):
        if value < least:
            raise InputError(name, f"at least {least}", value)
    levels = _Levels.of(sequences)
    eligible = np.flatnonzero(levels.counts >= length)
    if not len(eligible):
        longest = levels.counts.max(initial=0)
        expected = f"at most {longest}, the most different grades that a sequence has"
        raise InputError("length", expected, length, "choose a shorter length, or longer sequences")
    generator = np.random.default_rng(seed)
    chosen = eligible[generator.integers(len(eligible), size=2 * number)]
    choose = _any if drawn == "any" else _consecutive
    places = choose(levels.counts[chosen], length, generator)
    rows = levels.members(chosen, places, generator)
    rows[number:] = _scrambled(rows[number:], scrambled, generator)
    return Subsequences(rows, np.arange(2 * number) < number)


# ---------------------------------------------------------------------------------------------------------
# Subsequences
# ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Levels:
    """Members sorted by sequence and falling grade; level l holds sorted[starts[l]:starts[l + 1]], one grade.

    first: (sequences,) the number of each sequence's first level; counts: (sequences,) how many it has.
    """

    sorted: Ints
    starts: Ints
    first: Ints
    counts: Ints

    @classmethod
    def of(cls, sequences: SequenceSet) -> _Levels:
        owner = np.repeat(np.arange(len(sequences)), np.diff(sequences.starts))
        grades = sequences.grades[sequences.members]
        order = np.lexsort((-grades, owner))
        owner, grades = owner[order], grades[order]
        new = np.ones(len(order), np.bool_)
        new[1:] = (owner[1:] != owner[:-1]) | (grades[1:] != grades[:-1])
        counts = np.bincount(owner[new], minlength=len(sequences))
        starts = np.append(np.flatnonzero(new), len(order))
        return cls(sequences.members[order], starts, np.cumsum(counts) - counts, counts)

    def members(self, chosen: Ints, places: Ints, generator: np.random.Generator) -> Ints:
        """(m, L) a row of the pool for each level `places` (m, L) of the sequences `chosen` (m,)."""
        level = self.first[chosen][:, None] + places
        begin, size = self.starts[level], self.starts[level + 1] - self.starts[level]
        rows: Ints = self.sorted[begin + np.floor(generator.random(level.shape) * size).astype(np.int64)]
        return rows


def _consecutive(counts: Ints, length: int, generator: np.random.Generator) -> Ints:
    """(m, L) neighbouring numbers below each count."""
    start = np.floor(generator.random(len(counts)) * (counts - length + 1)).astype(np.int64)
    return start[:, None] + np.arange(length)


def _any(counts: Ints, length: int, generator: np.random.Generator) -> Ints:
    """(m, L) rising numbers below each count, every choice with the same chance (Floyd's algorithm)."""
    chosen = np.full((len(counts), length), -1)
    for place in range(length):
        top = counts - length + place
        drawn = np.floor(generator.random(len(counts)) * (top + 1)).astype(np.int64)
        known = (chosen == drawn[:, None]).any(axis=1)
        chosen[:, place] = np.where(known, top, drawn)
    return np.sort(chosen, axis=1)


def _scrambled(rows: Ints, how: str, generator: np.random.Generator) -> Ints:
    """(m, L) each row in another order than it had."""
    if how == "reversed":
        return rows[:, ::-1]
    count, length = rows.shape
    order = np.tile(np.arange(length), (count, 1))
    if how == "one swap":
        pair = _any(np.full(count, length), 2, generator)
        np.put_along_axis(order, pair, pair[:, ::-1].copy(), axis=1)
        return np.take_along_axis(rows, order, axis=1)
    left = np.arange(count)
    while len(left):
        order[left] = np.argsort(generator.random((len(left), length)), axis=1)
        left = left[(order[left] == np.arange(length)).all(axis=1)]
    return np.take_along_axis(rows, order, axis=1)


# ---------------------------------------------------------------------------------------------------------
# Disagreement
# ---------------------------------------------------------------------------------------------------------


def deltas(grades: Ints, disagreement: str) -> Floats:
    """(m,) delta of eq. 4 of subsequences whose samples have the grades (m, L), different in each row.

    1 where the grades fall. Elsewhere minus the size of the disagreement with the right order: 1 for "zero-one"; the
    share of pairs in the wrong order, (1 - tau) / 2, for "Kendall tau"; for "NDCG" the loss 1 - NDCG with linear gains
    L - 1, ..., 0, over that of the reversed order. So the reversed order has -1 under all three.

    >>> deltas(np.array([[5, 3, 1], [3, 5, 1], [1, 3, 5]]), "Kendall tau").round(3)
    array([ 1.   , -0.333, -1.   ])
    """
    check_choice("disagreement", disagreement, DISAGREEMENTS)
    length = grades.shape[1]
    gains = np.argsort(np.argsort(grades, axis=1), axis=1)  # L - 1 for the best sample
    right = (np.diff(grades, axis=1) < 0).all(axis=1)
    if disagreement == "zero-one":
        sizes = np.ones(len(grades))
    elif disagreement == "Kendall tau":
        first, second = np.triu_indices(length, 1)
        sizes = (gains[:, first] < gains[:, second]).mean(axis=1)
    else:
        lost = _dcg(np.arange(length)[::-1]) - _dcg(gains)
        sizes = lost / (_dcg(np.arange(length)[::-1]) - _dcg(np.arange(length)))
    return np.where(right, 1.0, -sizes)


def _dcg(gains: Ints) -> Floats:
    summed: Floats = gains @ (1.0 / np.log2(2.0 + np.arange(gains.shape[-1])))
    return summed
