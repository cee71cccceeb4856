"""The sequences of an image set and a criterion, for sequence ranking (midrank, sections 5.1 to 5.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from ranking.core import Features, ImageSet, Ints, SequenceSet
from ranking.core.errors import InputError
from ranking.core.settings import Settings, check_settings, setting
from ranking.datasets.pair_chains import sequences_of_pairs

LENGTH_1, AS_THEY_ARE = "length 1", "as they are"
HIGHEST, LOWEST = "highest number", "lowest number"
ANY, ONE_EACH, GROUPS = "any samples", "one of each group", "whole groups"
# the criterion of samples that are graded for a query; their group is the query
GRADE = "grade"
# of all sequences of a split
MAX_MEMBERS = 10_000_000
SHORTEN = "choose a shorter length"
# in which sequences of equal grades are sampled again
ROUNDS = 100

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Drawing:
    """How sequences are sampled."""

    # Any samples: `length` different samples of a split. One of each group: one sample from each of `length`
    # groups, such as one image each of eight public figures. Whole groups: each group is a sequence that is
    # used once, such as the documents of one query; `length` has no effect.

    name: ClassVar[str] = "Sequences"

    first: str = setting(
        HIGHEST,
        label="Order",
        help="Which end of the criterion ranks first. For years, the highest is the newest.",
        choices=(HIGHEST, LOWEST),
    )
    of: str = setting(
        ANY,
        label="Samples of a sequence",
        help="Any samples; one sample per group, such as one image of each person; or whole groups, such as all "
        "documents of one query.",
        choices=(ANY, ONE_EACH, GROUPS),
    )
    length: int = setting(
        8,
        label="Length",
        help="Number of samples per sequence. Whole groups keep their own length.",
        minimum=2,
        maximum=500,
    )
    train: int = setting(
        1000,
        label="Training sequences",
        help="How many sequences are sampled from the training images; for whole groups, at most this many.",
        minimum=1,
        maximum=100_000,
    )
    test: int = setting(
        1000,
        label="Test sequences",
        help="How many sequences are sampled from the test images; for whole groups, at most this many.",
        minimum=1,
        maximum=100_000,
    )
    pairs: int = setting(
        0,
        label="Known pairs",
        help="0: the full order of the training images is known, and sequences are sampled from it. Otherwise only "
        "this many randomly chosen training pairs are known, and training sequences are chains of these pairs by "
        "transitivity. Test sequences do not change.",
        minimum=0,
        maximum=1_000_000,
        advanced=True,
    )
    scale: str = setting(
        AS_THEY_ARE,
        label="Feature scaling",
        help="As they are: features of images have length 1, given features are scaled per column. Length 1: each row "
        "is divided by its length once more, which matters after a projection.",
        choices=(AS_THEY_ARE, LENGTH_1),
        advanced=True,
    )
    seed: int = setting(
        0,
        label="Seed of the sequences",
        help="Seed for sampling sequences. The same seed gives the same sequences.",
        minimum=0,
        advanced=True,
    )

    @property
    def tested_on(self) -> tuple[str, str, int, int, int]:
        """Return the settings that determine the test sequences.

        >>> Drawing(train=10, scale="length 1").tested_on == Drawing().tested_on
        True
        """
        # If they are equal, scores on one image set can be compared.
        return self.first, self.of, self.length, self.test, self.seed


class SampledSequences(NamedTuple):
    """Sequences over a pool, and (n,) the sample of the image set in each row of the pool."""

    sequences: SequenceSet
    samples: Rows


def usual_drawing(image_set: ImageSet, criterion: str) -> Settings:
    """Return the settings of `Drawing` that suit a criterion: queries are the sequences where samples are graded for
    them."""
    of_queries = criterion == GRADE and len(np.unique(image_set.groups)) < len(image_set)
    return {"of": GROUPS} if of_queries else {}


def draw_sequences(
    image_set: ImageSet, features: Features, criterion: str, drawing: Drawing | None = None
) -> tuple[SampledSequences, SampledSequences]:
    """Return training sequences and test sequences, each over the pool of its split."""
    # The two share no image. features: (n, d) of the samples, from `ranking.features.load_features`. Samples
    # with an unknown value are in no pool. Grades are the dense ranks of the known values in the whole set,
    # from 0, so that they mean the same in both splits; in chains of pairs, the grade is the length of the
    # longest chain below. The highest grade is the first. Every sequence has at least two different grades,
    # because otherwise there is no order to learn or to evaluate: sequences without are sampled again, and
    # such whole groups are dropped.
    # ValueError for another criterion, features of other samples, or a split with too few samples, groups or
    # different values.
    drawing = drawing or Drawing()
    check_settings(drawing)
    if drawing.pairs and drawing.of == GROUPS:
        remedy = f"choose {ANY!r}, or set pairs to 0"
        raise InputError("pairs", f"0 for sequences of {GROUPS}", drawing.pairs, remedy)
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
        made.append(SampledSequences(sequences, samples))
    return made[0], made[1]


def dense_ranks(numbers: npt.ArrayLike) -> Rows:
    """Return (n,) how many different smaller numbers there are.

    >>> dense_ranks([1957, 1920, 1957, 1999]).tolist()
    [1, 0, 1, 2]
    """
    return np.unique(np.asarray(numbers), return_inverse=True)[1].astype(np.int64).ravel()


def unit_rows(features: Features) -> Features:
    """Return rows divided by their lengths; rows of zeros do not change.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    scaled: Features = np.divide(features, lengths, out=np.zeros_like(features), where=lengths > 0)
    return scaled


class Pool(NamedTuple):
    """The samples of a split with known values: grades (n,), groups (n,), and the name of the split."""

    grades: Rows
    groups: Ints
    display_name: str

    def draw(
        self, drawing: Drawing, count: int, criterion: str, random: np.random.Generator
    ) -> tuple[Rows, Rows]:
        """Return the members and starts of a SequenceSet."""
        self._check_order(criterion)
        if drawing.of == GROUPS:
            return self._whole_groups(count, random)
        if count * drawing.length > MAX_MEMBERS:
            expected = f"at most {MAX_MEMBERS:,} samples in all sequences"
            raise InputError("sequences", expected, f"{count:,} times {drawing.length}")
        rows = self._ordered_rows(drawing, count, random)
        return rows.ravel(), np.arange(count + 1, dtype=np.int64) * drawing.length

    def pairs(self, count: int, criterion: str, random: np.random.Generator) -> Rows:
        """Return (m, 2) those of `count` random pairs with different grades, the higher grade first."""
        self._check_order(criterion)
        pairs = random.integers(len(self.grades), size=(count, 2))
        graded = self.grades[pairs]
        pairs[graded[:, 0] < graded[:, 1]] = pairs[graded[:, 0] < graded[:, 1], ::-1]
        ordered: Rows = pairs[graded[:, 0] != graded[:, 1]]
        if not len(ordered):
            came = f"none of {count:,}"
            raise InputError(self.display_name, "a pair with different values", came, "use more pairs")
        return ordered

    def _check_order(self, criterion: str) -> None:
        if len(np.unique(self.grades)) < 2:
            raise InputError(
                self.display_name,
                f"at least two different values of {criterion!r}",
                f"{len(np.unique(self.grades))} in {len(self.grades):,} samples",
                "import the set with another split, or choose another criterion",
            )

    def _ordered_rows(self, drawing: Drawing, count: int, random: np.random.Generator) -> Rows:
        """Return (count, length) rows; sequences of equal grades are sampled again."""
        draw = self._any if drawing.of == ANY else self._one_of_each
        rows = draw(drawing.length, count, random)
        for _ in range(ROUNDS):
            graded = self.grades[rows]
            tied = np.flatnonzero((graded == graded[:, :1]).all(axis=1))
            if not len(tied):
                return rows
            rows[tied] = draw(drawing.length, len(tied), random)
        came = f"equal values only, {ROUNDS} times in a row"
        remedy = f"choose a length above {drawing.length}"
        raise InputError(self.display_name, "different values in each sequence", came, remedy)

    def _any(self, length: int, count: int, random: np.random.Generator) -> Rows:
        if len(self.grades) < length:
            came = f"{len(self.grades):,} with a known value"
            raise InputError(self.display_name, f"{length} samples per sequence", came, SHORTEN)
        return _different(len(self.grades), length, count, random)

    def _one_of_each(self, length: int, count: int, random: np.random.Generator) -> Rows:
        by_group, sizes = self._by_group()
        if len(sizes) < length:
            raise InputError(self.display_name, f"{length} groups per sequence", len(sizes), SHORTEN)
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
            raise InputError(self.display_name, "a group with two different values", "none", remedy)
        if len(ordered) > count:
            ordered = [ordered[place] for place in np.sort(random.choice(len(ordered), count, replace=False))]
        starts = np.cumsum([0, *map(len, ordered)], dtype=np.int64)
        return np.concatenate(ordered), starts

    def _by_group(self) -> tuple[Rows, Rows]:
        """Return the rows of the pool, group after group, and the size of each group."""
        sizes = np.unique(self.groups, return_counts=True)[1]
        return np.argsort(self.groups, kind="stable"), sizes.astype(np.int64)


def _different(n: int, length: int, count: int, random: np.random.Generator) -> Rows:
    """Return (count, length) rows, each of different numbers below `n`."""
    return np.stack([random.choice(n, length, replace=False) for _ in range(count)])
