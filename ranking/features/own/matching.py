"""Which row of a file is of which sample: by ids that people can know, or by order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ranking.core import ImageSet, Ints, Problem
from ranking.core.spreadsheets import guarded
from ranking.core.text import counted, readable
from ranking.files.files import image_name
from ranking.files.tree import base
from ranking.formats.tree_source import bare, is_image

MOST_ROWS = 200  # of a table of what is wrong
BY_ORDER = "by order"
LIST = "the list of samples (CSV) tells ids and order"
IDS = "ids of samples, or names of images with one sample"


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
    names = _names(images)
    named = [_row_of(text, names) for text in ids]
    if not any(row is not None for row in named):
        told = ", ".join(map(readable, map(str, images.ids[:2])))
        came = ", ".join(readable(text, 40) for text in ids[:2])
        raise Refused(
            f"none of the {len(ids):,} ids in “{column}” is of a sample of {images.title}: expected ids such as "
            f"{told}, got {came}; {LIST}"
        )
    rows = np.full(len(images), -1, np.int64)
    unknown: list[tuple[int, str]] = []
    twice: list[Problem] = []
    for row, (text, sample) in enumerate(zip(ids, named, strict=True)):
        if sample is None:
            unknown.append((row, text))
        elif rows[sample] >= 0:
            came = f"{readable(text)} in rows {rows[sample] + 1:,} and {row + 1:,}"
            twice.append(Problem(f"row {row + 1}", "every id once", came, "nothing is kept"))
        else:
            rows[sample] = row
    if twice:
        raise Refused(f"{counted(len(twice), 'id')} in “{column}” came before", twice[:MOST_ROWS], len(twice))
    _check_all_there(images, rows)
    return Match(rows, f"by “{column}”: {IDS}", _left_out(unknown))


def _without_ending(name: str) -> str:
    """
    >>> _without_ending("a.1.jpg"), _without_ending("a.1")
    ('a.1', 'a.1')
    """
    return bare(name) if is_image(name) else name


def _row_of(text: str, names: dict[str, int]) -> int | None:
    """The sample that an id names; the image's ending goes and not what follows another point: "a.1" is not "a.2"."""
    for name in (text.strip(), image_name(text), _stem(text)):
        if name in names:
            return names[name]
    return None


def _stem(text: str) -> str:
    """An image's name without folder and ending."""
    return image_name(_without_ending(base(text.replace("\\", "/"))))


def _names(images: ImageSet) -> dict[str, int]:
    """Samples by their ids; and by the name of an image, with folder and ending or without, where it has one sample
    and no other image has its name."""
    ids = {str(name): row for row, name in enumerate(images.ids)}
    alone = np.bincount(images.image_of, minlength=len(images.image_names))[images.image_of] == 1
    rows_of: dict[str, set[int]] = {}
    for row in np.flatnonzero(alone).tolist():
        name = str(images.image_names[images.image_of[row]])
        for one in (image_name(name), _stem(name)):
            rows_of.setdefault(one, set()).add(row)
    of_images = {name: min(rows) for name, rows in rows_of.items() if len(rows) == 1}
    return of_images | {guarded(name): row for name, row in ids.items()} | ids


def _check_all_there(images: ImageSet, rows: Ints) -> None:
    missing = np.flatnonzero(rows < 0)
    if not len(missing):
        return
    samples = [str(images.ids[row]) for row in missing[:MOST_ROWS]]
    raise Refused(
        f"{len(missing):,} of {counted(len(rows), 'sample')} of {images.title} have no row, matched by {IDS}: "
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
