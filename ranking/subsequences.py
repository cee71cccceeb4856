"""What MidRank learns from: subsequences in the right order and scrambled ones (midrank, section 3.2).

Every subsequence of a correctly ordered sequence is correctly ordered. Samples of one grade have no order, so that a
subsequence holds at most one of each grade: a sequence with fewer different grades than the length gives none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ranking.types import Bools, Features, Floats, Ints, SequenceSet

DRAWN = ("any", "consecutive")
SCRAMBLED = ("any order", "one swap", "reversed")
DISAGREEMENTS = ("zero-one", "Kendall tau", "NDCG")
CHAINS = ("longest", "sampled")


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
    _check_choice("drawn", drawn, DRAWN)
    _check_choice("scrambled", scrambled, SCRAMBLED)
    if length < 2 or number < 1:
        raise ValueError(
            f"expected a length of at least 2 and a number of at least 1, got {length} and {number}"
        )
    levels = _Levels.of(sequences)
    eligible = np.flatnonzero(levels.counts >= length)
    if not len(eligible):
        raise ValueError(
            f"no sequence holds {length} different grades, {levels.counts.max(initial=0)} at most; "
            "choose a shorter length, or longer sequences"
        )
    generator = np.random.default_rng(seed)
    chosen = eligible[generator.integers(len(eligible), size=2 * number)]
    choose = _any if drawn == "any" else _consecutive
    places = choose(levels.counts[chosen], length, generator)
    rows = levels.members(chosen, places, generator)
    rows[number:] = _scrambled(rows[number:], scrambled, generator)
    return Subsequences(rows, np.arange(2 * number) < number)


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
    ValueError for pairs that go round in a circle, which it names.
    """
    _check_choice("chains", chains, CHAINS)
    given = np.asarray(pairs)
    if given.ndim != 2 or given.shape[1] != 2 or not np.issubdtype(given.dtype, np.integer) or not len(given):
        raise ValueError(
            f"pairs must be (m, 2) whole numbers, at least one pair, got {given.dtype} {given.shape}"
        )
    if given.min() < 0 or given.max() >= len(features):
        raise ValueError(f"pairs must name rows of the features, 0 to {len(features) - 1}")
    if number < 1:
        raise ValueError(f"number must be at least 1, got {number}")
    edges = np.unique(given, axis=0)
    below = np.split(edges[:, 1], np.searchsorted(edges[:, 0], np.arange(1, len(features))))
    grades = _grades(below)
    generator = np.random.default_rng(seed)
    walk = _longest_paths if chains == "longest" else _sampled_paths
    paths = list(walk(below, grades, np.unique(edges[:, 1]), number, generator))
    starts = np.concatenate([[0], np.cumsum([len(path) for path in paths])])
    return SequenceSet(features, grades, np.concatenate(paths), starts)


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


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


# ---------------------------------------------------------------------------------------------------------
# Paths of pairs
# ---------------------------------------------------------------------------------------------------------


def _grades(below: list[Ints]) -> Ints:
    """(n,) pairs on the longest path down from each sample; ValueError that names a circle."""
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
        raise ValueError(
            f"the pairs go round in a circle, {circle}: no order fulfils them; leave one of them out"
        )
    grades = np.zeros(len(below), np.int64)
    for sample in reversed(order):
        grades[sample] = (grades[below[sample]] + 1).max(initial=0)
    return grades


def _circle(below: list[Ints], above: Ints) -> list[int]:
    """A path that ends where it began, among samples of which each is below another that is left."""
    parents = {}
    for sample in np.flatnonzero(above > 0).tolist():
        parents.update({int(other): sample for other in below[sample] if above[other] > 0})
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
            others = below[path[-1]]
            path.append(int(generator.choice(others[grades[others] == grades[path[-1]] - 1])))
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
    _check_choice("disagreement", disagreement, DISAGREEMENTS)
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
