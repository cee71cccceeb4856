"""From an image set and a criterion to sequences that are to be put in order (midrank, sections 5.1 to 5.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from ranking.core import Features, ImageSet, Ints, SequenceSet
from ranking.core.errors import InputError
from ranking.core.settings import check_settings, setting
from ranking.datasets.pair_chains import sequences_of_pairs

LENGTH_1, AS_THEY_ARE = "length 1", "as they are"
HIGHEST, LOWEST = "highest number", "lowest number"
ANY, ONE_EACH, GROUPS = "any samples", "one of each group", "whole groups"
MOST_MEMBERS = 10_000_000  # of all sequences of a split
SHORTEN = "choose a shorter length"
ROUNDS = 100  # in which sequences without order are drawn again

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Drawing:
    """How sequences are drawn. Any samples: `length` different ones of a split. One of each group: a sample each of
    `length` groups, as one picture each of eight public figures. Whole groups: each group is a sequence, as the answers
    to a query, and is drawn once, whatever `length` says.
    """

    name: ClassVar[str] = "Sequences"

    first: str = setting(
        HIGHEST,
        label="What comes first",
        help="Which end of the criterion begins a sequence: of years, the highest is the newest.",
        choices=(HIGHEST, LOWEST),
    )
    of: str = setting(
        ANY,
        label="Drawn from",
        help="Any samples; or one sample of each group, as one picture of each person; or whole groups, as the answers "
        "to one query.",
        choices=(ANY, ONE_EACH, GROUPS),
    )
    length: int = setting(
        8,
        label="Length",
        help="How many samples a sequence has. Whole groups are as long as they are.",
        minimum=2,
        maximum=500,
    )
    train: int = setting(
        1000,
        label="Sequences to train on",
        help="How many are drawn of training images; of whole groups, at most so many.",
        minimum=1,
        maximum=100_000,
    )
    test: int = setting(
        1000,
        label="Sequences to test on",
        help="How many are drawn of test images; of whole groups, at most so many.",
        minimum=1,
        maximum=100_000,
    )
    pairs: int = setting(
        0,
        label="Pairs that are known",
        help="0: the whole order of the training images is known, and sequences are drawn from it. Else only so many "
        "pairs of training images are known, drawn at random, and training sequences are chains of pairs, by "
        "transitivity, as long as these make them. Test sequences are as without.",
        minimum=0,
        maximum=1_000_000,
        advanced=True,
    )
    scale: str = setting(
        LENGTH_1,
        label="Features are scaled to",
        help="Vectors of length 1, as the MidRank paper has them; or left as they are, which trees prefer.",
        choices=(LENGTH_1, AS_THEY_ARE),
        advanced=True,
    )
    seed: int = setting(
        0,
        label="Seed of the sequences",
        help="Which sequences are drawn. The same seed draws the same ones.",
        minimum=0,
        advanced=True,
    )

    @property
    def tested_on(self) -> tuple[str, str, int, int, int]:
        """What decides the test sequences: equal in two drawings of one set, their scores can be compared.

        >>> Drawing(train=10, scale="as they are").tested_on == Drawing().tested_on
        True
        """
        return self.first, self.of, self.length, self.test, self.seed


class Drawn(NamedTuple):
    """Sequences over a pool, and (n,) which sample of the image set each row of the pool is."""

    sequences: SequenceSet
    samples: Rows


def draw_sequences(
    image_set: ImageSet, features: Features, criterion: str, drawing: Drawing | None = None
) -> tuple[Drawn, Drawn]:
    """Sequences to train on and to test on, each over a pool of its own split: the two share no image.

    features: (n, d) of the samples, as `ranking.features.load_features` gives them. Samples whose number is unknown are
    in no pool. Grades are the dense ranks of the numbers known in the whole set, from 0, so that they mean the same in
    both splits; of chains of pairs, how long a chain can follow. The highest goes first. Every sequence has two
    different grades at least, for without there is no order to learn or to measure: those that have not are drawn
    again, and whole groups that have not are left out.

    ValueError for another criterion, features of other samples, and where a split has too few samples, groups or
    different numbers.
    """
    drawing = drawing or Drawing()
    check_settings(drawing)
    if drawing.pairs and drawing.of == GROUPS:
        remedy = f"choose {ANY!r}, or set pairs to 0"
        raise InputError("pairs", f"0 where {GROUPS} are drawn", drawing.pairs, remedy)
    numbers = image_set.numbers_of(criterion)
    if features.ndim != 2 or len(features) != len(image_set):
        raise InputError("features", f"shape ({len(image_set)}, d), one row per sample", features.shape)
    known = ~np.isnan(numbers)
    grades = np.full(len(numbers), -1, np.int64)
    grades[known] = dense_ranks(numbers[known] if drawing.first == HIGHEST else -numbers[known])
    made = []
    for place, split in enumerate(("train", "test")):
        samples = np.flatnonzero(known & (image_set.test == (split == "test")))
        pool = Pool(grades[samples], image_set.groups[samples], f"the {split} split of {image_set.title}")
        count = drawing.test if split == "test" else drawing.train
        random = np.random.default_rng([drawing.seed, place])
        scaled = unit_rows(features[samples]) if drawing.scale == LENGTH_1 else features[samples]
        if split == "train" and drawing.pairs:
            known_pairs = pool.pairs(drawing.pairs, criterion, random)
            sequences = sequences_of_pairs(scaled, known_pairs, count, "sampled", drawing.seed)
        else:
            sequences = SequenceSet(scaled, pool.grades, *pool.draw(drawing, count, criterion, random))
        made.append(Drawn(sequences, samples))
    return made[0], made[1]


def dense_ranks(numbers: npt.ArrayLike) -> Rows:
    """(n,) how many different smaller numbers there are.

    >>> dense_ranks([1957, 1920, 1957, 1999]).tolist()
    [1, 0, 1, 2]
    """
    return np.unique(np.asarray(numbers), return_inverse=True)[1].astype(np.int64).ravel()


def unit_rows(features: Features) -> Features:
    """Rows divided by their lengths; rows of zeros stay as they are."""
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    scaled: Features = np.divide(features, lengths, out=np.zeros_like(features), where=lengths > 0)
    return scaled


class Pool(NamedTuple):
    """The samples of a split whose numbers are known: their grades (n,), their groups (n,), and what it is called."""

    grades: Rows
    groups: Ints
    called: str

    def draw(
        self, drawing: Drawing, count: int, criterion: str, random: np.random.Generator
    ) -> tuple[Rows, Rows]:
        """Members and starts of a SequenceSet."""
        self._check_order(criterion)
        if drawing.of == GROUPS:
            return self._whole_groups(count, random)
        if count * drawing.length > MOST_MEMBERS:
            expected = f"at most {MOST_MEMBERS:,} of them times their length"
            raise InputError("sequences", expected, f"{count:,} times {drawing.length}")
        rows = self._ordered_rows(drawing, count, random)
        return rows.ravel(), np.arange(count + 1, dtype=np.int64) * drawing.length

    def pairs(self, count: int, criterion: str, random: np.random.Generator) -> Rows:
        """(m, 2) samples of different grades, the higher one first: those of `count` drawn pairs that are any."""
        self._check_order(criterion)
        drawn = random.integers(len(self.grades), size=(count, 2))
        graded = self.grades[drawn]
        drawn[graded[:, 0] < graded[:, 1]] = drawn[graded[:, 0] < graded[:, 1], ::-1]
        ordered: Rows = drawn[graded[:, 0] != graded[:, 1]]
        if not len(ordered):
            came = f"none of {count:,}"
            raise InputError(self.called, "a pair of different numbers", came, "draw more pairs")
        return ordered

    def _check_order(self, criterion: str) -> None:
        if len(np.unique(self.grades)) < 2:
            raise InputError(
                self.called,
                f"at least two different numbers of {criterion!r}",
                f"{len(np.unique(self.grades))} of them in {len(self.grades):,} samples",
                "import the set with another split, or choose another criterion",
            )

    def _ordered_rows(self, drawing: Drawing, count: int, random: np.random.Generator) -> Rows:
        """(count, length); sequences of equal grades are drawn again."""
        draw = self._any if drawing.of == ANY else self._one_of_each
        rows = draw(drawing.length, count, random)
        for _ in range(ROUNDS):
            graded = self.grades[rows]
            tied = np.flatnonzero((graded == graded[:, :1]).all(axis=1))
            if not len(tied):
                return rows
            rows[tied] = draw(drawing.length, len(tied), random)
        came = f"equal numbers only, {ROUNDS} times in a row"
        remedy = f"choose a length above {drawing.length}"
        raise InputError(self.called, "different numbers in each sequence", came, remedy)

    def _any(self, length: int, count: int, random: np.random.Generator) -> Rows:
        if len(self.grades) < length:
            came = f"{len(self.grades):,} whose number is known"
            raise InputError(self.called, f"{length} samples per sequence", came, SHORTEN)
        return _different(len(self.grades), length, count, random)

    def _one_of_each(self, length: int, count: int, random: np.random.Generator) -> Rows:
        by_group, sizes = self._by_group()
        if len(sizes) < length:
            raise InputError(self.called, f"{length} groups per sequence", len(sizes), SHORTEN)
        groups = _different(len(sizes), length, count, random)
        within = (random.random(groups.shape) * sizes[groups]).astype(np.int64)
        starts: Rows = np.cumsum(sizes) - sizes
        chosen: Rows = by_group[starts[groups] + within]
        return chosen

    def _whole_groups(self, count: int, random: np.random.Generator) -> tuple[Rows, Rows]:
        by_group, sizes = self._by_group()
        whole = np.split(by_group, np.cumsum(sizes)[:-1])
        ordered = [rows for rows in whole if len(np.unique(self.grades[rows])) > 1]
        if not ordered:
            remedy = f"choose {ANY!r} instead"
            raise InputError(self.called, "a group with two different numbers", "none", remedy)
        if len(ordered) > count:
            ordered = [ordered[place] for place in np.sort(random.choice(len(ordered), count, replace=False))]
        starts = np.cumsum([0, *map(len, ordered)], dtype=np.int64)
        return np.concatenate(ordered), starts

    def _by_group(self) -> tuple[Rows, Rows]:
        """The rows of the pool, group after group, and how many each group has."""
        sizes = np.unique(self.groups, return_counts=True)[1]
        return np.argsort(self.groups, kind="stable"), sizes.astype(np.int64)


def _different(n: int, length: int, count: int, random: np.random.Generator) -> Rows:
    """(count, length), each row different numbers below `n`."""
    return np.stack([random.choice(n, length, replace=False) for _ in range(count)])
