"""Pairs of images whose order several criteria explain, and a sequence that only one criterion explains."""

from __future__ import annotations

import io
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageStat

from pages.parts.app import cache
from pages.parts.app.home import SOME, of_home
from ranking.core import Floats, Ints

CUES = ("the more colourful image ranks first", "the brighter image ranks first")
TRIES = 20_000
# sampled sequences, of which one is chosen
DRAWS = 50
# least difference of the images of a pair in every cue, in standard deviations
APART = 0.5
# samples among which the pairs are chosen
MAX_SEARCHED = 1000


class Examples(NamedTuple):
    """Samples in the true order."""

    # (m, 2)
    pairs: Ints
    # (n,)
    sequence: Ints
    # (c,) the number of pairs that each cue explains, averaged over all sampled sequences.
    usual: Floats


def cues_of(webp: bytes) -> tuple[float, float]:
    """Return the mean saturation and the mean brightness of an image, each from 0 to 255."""
    _, saturation, value = ImageStat.Stat(Image.open(io.BytesIO(webp)).convert("HSV")).mean
    return saturation, value


def find_examples(numbers: Floats, cues: Floats, pairs: int = 3, length: int = 7, seed: int = 0) -> Examples:
    """Choose pairs and a sequence of samples with numbers (n,), from the highest, and with cues (n, c)."""
    # Each pair is in the true order by its numbers and by every cue; no sample is in two pairs. The sequence
    # has different numbers, spread over the whole range. Of the sampled sequences it is the one that the cues
    # explain least in either direction: for the cue that is farthest from half of the pairs, this distance is
    # smallest. ValueError if there are too few such samples.
    random = np.random.default_rng(seed)
    distinct = np.unique(numbers)
    if len(distinct) < length:
        raise ValueError(f"expected {length} different numbers at least, got {len(distinct)}")
    sampled = random.integers(len(numbers), size=(TRIES, 2))
    apart = (numbers[sampled[:, 0]] - numbers[sampled[:, 1]]) > (distinct[-1] - distinct[0]) / 4
    alike = (cues[sampled[:, 0]] - cues[sampled[:, 1]] > APART * cues.std(axis=0)).all(axis=1)
    chosen: list[list[int]] = []
    for first, second in sampled[apart & alike].tolist():
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
    """Count the pairs of samples (n,), given in the true order, whose first sample has the greater cue.

    >>> explained(np.array([0, 1, 2]), np.array([5.0, 7.0, 1.0]))
    2
    """
    first, second = np.triu_indices(len(rows), 1)
    return int((cue[rows[first]] > cue[rows[second]]).sum())


@of_home(entries=SOME, spinner="Looking for pairs …")
def pair_examples(key: str, criterion: str) -> tuple[Examples, Floats]:
    """Return pairs and a sequence of training samples for the lesson, and the cues (n, 2) of all samples."""
    # Cues are NaN for samples that are not searched. Gone if the image set has no such pairs.
    images, thumbnails = cache.image_set(key), cache.thumbnails(key)
    numbers = images.numbers_of(criterion)
    rows = np.flatnonzero(~np.isnan(numbers) & ~images.test)[:MAX_SEARCHED]
    cues = np.full((len(images), 2), np.nan)
    cues[rows] = [cues_of(thumbnails.crop(row)) for row in rows.tolist()]
    try:
        examples = find_examples(numbers[rows], cues[rows])
    except ValueError as error:
        raise ValueError(
            f"this image set is not suitable for the lesson: {error}; choose another image set"
        ) from error
    return Examples(rows[examples.pairs], rows[examples.sequence], examples.usual), cues
