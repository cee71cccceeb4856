"""A CSV with an image a row and its labels, and the folder that the images lie in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ranking.datasets.image_csv import ImageCsv, ReadBox, Unexpected
from ranking.datasets.registry import SOURCES
from ranking.settings import setting
from ranking.text import readable
from ranking.types import SourceBox

LABEL_COLUMNS = ("labels", "tags", "label", "classes", "concepts")


@SOURCES.register("Multi-label CSV")
@dataclass
class LabelCsv(ImageCsv):
    """An `ImageCsv` whose labels stand in a column `labels`, separated by ; or |, or else in a column each, with 1
    or 0."""

    tells: ClassVar[str] = "labels"

    file: str = setting(
        "",
        label="CSV file",
        help="A file on the computer that runs this app, its first line the names of the columns: image, then labels "
        "(separated by ; or |), or a column of 0 and 1 for each label; and split (train or test), if you like.",
    )

    def reader(self, columns: Mapping[str, int], where: str) -> ReadBox:
        lower = {name.lower(): place for name, place in columns.items()}
        together = next((lower[name] for name in LABEL_COLUMNS if name in lower), None)
        if together is not None:
            return lambda cells: SourceBox(None, listed_labels(cells[together]))
        return lambda cells: SourceBox(None, _marked(cells, columns))


def listed_labels(cell: str) -> tuple[str, ...]:
    """The labels of a cell, each once.

    >>> listed_labels("sea; sun|sea")
    ('sea', 'sun')
    """
    told = [label for label in map(readable, cell.replace("|", ";").split(";")) if label]
    return tuple(dict.fromkeys(told))


def _marked(cells: Sequence[str], columns: Mapping[str, int]) -> tuple[str, ...]:
    marks = {label: cells[place].strip() for label, place in columns.items()}
    wrong = next((f"{label}: {mark!r:.20}" for label, mark in marks.items() if mark not in ("0", "1")), None)
    if wrong is not None:
        raise Unexpected("labels marked 0 or 1", readable(wrong))
    return tuple(label for label, mark in marks.items() if mark == "1")
