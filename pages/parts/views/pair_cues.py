"""Pairs of pictures that several criteria explain alike, and a sequence that only one explains."""

from __future__ import annotations

import io
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageStat

from pages.parts.app import cache
from pages.parts.app.home import SOME, of_home
from ranking.core import Floats, Ints

CUES = ("the more colourful one goes first", "the brighter one goes first")
TRIES = 20_000
DRAWS = 50  # of the sequence
APART = 0.5  # of a standard deviation, by which the pictures of a pair differ in every cue
MOST_LOOKED_AT = 1000  # samples among which the pairs are looked for


class Examples(NamedTuple):
    """pairs: (m, 2) samples and sequence: (n,) samples, each in the right order. usual: (c,) how many pairs each cue
    explains, the mean over all sequences from which this one is chosen."""

    pairs: Ints
    sequence: Ints
    usual: Floats


def cues_of(webp: bytes) -> tuple[float, float]:
    """How colourful a picture is (its mean saturation) and how bright, each from 0 to 255."""
    _, saturation, value = ImageStat.Stat(Image.open(io.BytesIO(webp)).convert("HSV")).mean
    return saturation, value


def find_examples(numbers: Floats, cues: Floats, pairs: int = 3, length: int = 7, seed: int = 0) -> Examples:
    """Of samples whose numbers (n,) are known, the highest first, with cues (n, c).

    Each pair is in the right order by its numbers and by every cue; no sample is in two. The sequence has different
    numbers, spread over all, and is the one of many drawn in which the cues tell least, neither as they are nor turned
    around: that which tells most is nearest to half of the pairs. ValueError where there are too few such samples.
    """
    random = np.random.default_rng(seed)
    distinct = np.unique(numbers)
    if len(distinct) < length:
        raise ValueError(f"expected {length} different numbers at least, got {len(distinct)}")
    drawn = random.integers(len(numbers), size=(TRIES, 2))
    apart = (numbers[drawn[:, 0]] - numbers[drawn[:, 1]]) > (distinct[-1] - distinct[0]) / 4
    alike = (cues[drawn[:, 0]] - cues[drawn[:, 1]] > APART * cues.std(axis=0)).all(axis=1)
    chosen: list[list[int]] = []
    for first, second in drawn[apart & alike].tolist():
        if len(chosen) < pairs and not {first, second} & {sample for pair in chosen for sample in pair}:
            chosen.append([first, second])
    if len(chosen) < pairs:
        raise ValueError(f"expected {pairs} pairs that every cue explains, got {len(chosen)}")
    parts = np.array_split(distinct[::-1], length)
    draws = [
        np.array([random.choice(np.flatnonzero(np.isin(numbers, part))) for part in parts])
        for _ in range(DRAWS)
    ]
    half = length * (length - 1) / 4
    explains = np.array([[explained(rows, cue) for cue in cues.T] for rows in draws])
    least = int(np.abs(explains - half).max(axis=1).argmin())
    return Examples(np.array(chosen), draws[least], explains.mean(axis=0))


def explained(rows: Ints, cue: Floats) -> int:
    """How many pairs of samples (n,) in the right order have the greater cue first.

    >>> explained(np.array([0, 1, 2]), np.array([5.0, 7.0, 1.0]))
    2
    """
    first, second = np.triu_indices(len(rows), 1)
    return int((cue[rows[first]] > cue[rows[second]]).sum())


@of_home(entries=SOME, spinner="Looking for pairs …")
def pair_examples(key: str, criterion: str) -> tuple[Examples, Floats]:
    """Pairs and a sequence of training samples for the lesson about pairs, and (n, 2) the cues of all samples, NaN of
    those that are not looked at; Gone where a set has no such pairs."""
    images, thumbnails = cache.image_set(key), cache.thumbnails(key)
    numbers = images.numbers_of(criterion)
    rows = np.flatnonzero(~np.isnan(numbers) & ~images.test)[:MOST_LOOKED_AT]
    cues = np.full((len(images), 2), np.nan)
    cues[rows] = [cues_of(thumbnails.crop(row)) for row in rows.tolist()]
    try:
        examples = find_examples(numbers[rows], cues[rows])
    except ValueError as error:
        raise ValueError(
            f"the lesson needs other pictures than these: {error}; choose another set"
        ) from error
    return Examples(rows[examples.pairs], rows[examples.sequence], examples.usual), cues
