"""Which row of a file is of which sample: by ids that people can know, or by order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ranking.core import ImageSet, Ints, Problem
from ranking.core.spreadsheets import guarded
from ranking.core.text import counted, readable
from ranking.files.files import image_name
from ranking.files.tree import base, stem
from ranking.formats.tree_source import bare, is_image

MOST_ROWS = 200  # of a table of what is wrong
BY_ORDER = "by order"
LIST = "the list of samples (CSV) tells ids and order"
SAMPLE, IMAGE, STEM = "sample", "image", "image without folder and ending"


class Refused(Exception):
    """Why vectors cannot be those of the samples: a sentence, the first rows of a table, and how many there are."""

    def __init__(self, sentence: str, problems: Sequence[Problem] = (), count: int = 0) -> None:
        super().__init__(sentence)
        self.sentence, self.problems, self.count = sentence, list(problems), max(count, len(problems))


@dataclass(frozen=True, eq=False)
class Match:
    """rows: (n,) the row of each sample; None where they are in the order of the samples. words: for people.
    problems: rows of the table about what was left out."""

    rows: Ints | None
    words: str
    problems: Sequence[Problem] = ()


def by_order(images: ImageSet, count: int) -> Match:
    """Row i is sample i; Refused where there are not as many."""
    if count != len(images):
        which = f"{counted(len(images), 'sample')} in {counted(len(images.image_names), 'image')}"
        of_images = (
            "; one row an image is not enough, since samples are boxes in images"
            if count == len(images.image_names)
            else ""
        )
        raise Refused(
            f"expected one row a sample, {len(images):,}, got {count:,}: {images.title} has {which}{of_images}. Bring "
            f"ids beside the vectors, or rows in the order of the samples; {LIST}"
        )
    return Match(None, BY_ORDER)


def by_ids(images: ImageSet, ids: Sequence[str], column: str) -> Match:
    """The row of each sample by what `ids` (m,) name: samples, or images that have one sample each.

    Refused where a sample has no row or two.
    """
    called, rows_of = _best(images, ids)
    if not rows_of:
        told = ", ".join(map(readable, map(str, images.ids[:2])))
        came = ", ".join(readable(text, 40) for text in ids[:2])
        raise Refused(
            f"none of the {len(ids):,} ids in “{column}” is of a sample of {images.title}: expected ids such as "
            f"{told}, got {came}; {LIST}"
        )
    rows = np.full(len(images), -1, np.int64)
    unknown: list[tuple[int, str]] = []
    twice: list[Problem] = []
    for row, text in enumerate(ids):
        sample = rows_of.get(called.key(text))
        if sample is None:
            unknown.append((row, text))
        elif rows[sample] >= 0:
            came = f"{readable(text)} in rows {rows[sample] + 1:,} and {row + 1:,}"
            twice.append(Problem(f"row {row + 1}", "every id once", came, "nothing is kept"))
        else:
            rows[sample] = row
    if twice:
        raise Refused(f"{counted(len(twice), 'id')} in “{column}” came before", twice[:MOST_ROWS], len(twice))
    _check_all_there(images, rows, called)
    return Match(rows, f"by {called.words} in “{column}”", _left_out(unknown))


def count_known(images: ImageSet, ids: Sequence[str]) -> int:
    """How many of the ids name a sample."""
    called, rows_of = _best(images, ids)
    return sum(called.key(text) in rows_of for text in ids)


@dataclass(frozen=True)
class Called:
    """A way to name samples. key: what names are compared by."""

    words: str
    key: Callable[[str], str]


# The ending of an image first: else what follows the last point of "a.1" was one, and "a.1" and "a.2" the same.
WAYS = (
    Called(SAMPLE, lambda text: text.strip()),
    Called(IMAGE, lambda text: image_name(text)),
    Called(STEM, lambda text: image_name(_without_ending(base(text.replace("\\", "/"))))),
    Called(
        STEM, lambda text: image_name(stem(base(text.replace("\\", "/"))))
    ),  # a file of features for each image
)


def _without_ending(name: str) -> str:
    """
    >>> _without_ending("a.1.jpg"), _without_ending("a.1")
    ('a.1', 'a.1')
    """
    return bare(name) if is_image(name) else name


def _best(images: ImageSet, ids: Sequence[str]) -> tuple[Called, dict[str, int]]:
    """The way in which the most ids name samples, the strictest of those; and the samples by what they are called."""
    found = []
    for called in WAYS:
        rows_of = _names(images, called)
        found.append((sum(called.key(text) in rows_of for text in ids), called, rows_of))
    count, called, rows_of = max(found, key=lambda one: one[0])
    return called, rows_of if count else {}


def _names(images: ImageSet, called: Called) -> dict[str, int]:
    """Samples by name; an image names a sample where it has one, and where no other image has its name."""
    if called.words == SAMPLE:
        names = {str(name): row for row, name in enumerate(images.ids)}
        return {guarded(name): row for name, row in names.items()} | names
    alone = np.bincount(images.image_of, minlength=len(images.image_names))[images.image_of] == 1
    told: dict[str, int] = {}
    twice = set()
    for row in np.flatnonzero(alone).tolist():
        name = called.key(str(images.image_names[images.image_of[row]]))
        if name in told:
            twice.add(name)
        told[name] = row
    return {name: row for name, row in told.items() if name not in twice}


def _check_all_there(images: ImageSet, rows: Ints, called: Called) -> None:
    missing = np.flatnonzero(rows < 0)
    if not len(missing):
        return
    samples = [str(images.ids[row]) for row in missing[:MOST_ROWS]]
    raise Refused(
        f"{len(missing):,} of {counted(len(rows), 'sample')} of {images.title} have no row, matched by {called.words}: "
        f"expected one row a sample. Bring a file with all of them; {LIST}",
        [Problem(readable(name, 255), "one row a sample", "no row", "nothing is kept") for name in samples],
        len(missing),
    )


def _left_out(unknown: Sequence[tuple[int, str]]) -> list[Problem]:
    """Rows of ids that name no sample: a few by themselves, the rest as one."""
    told = [
        Problem(f"row {row + 1}", "the id of a sample of the set", readable(text) or "nothing", "left out")
        for row, text in unknown[:MOST_ROWS]
    ]
    if len(unknown) > MOST_ROWS:
        rest = f"{len(unknown) - MOST_ROWS:,} more such rows"
        told.append(Problem(rest, "the id of a sample of the set", "other ids", "left out"))
    return told
