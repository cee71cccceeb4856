"""A CSV with an image a row and its labels, and the folder that the images lie in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ranking.core import SourceBox
from ranking.core.settings import setting
from ranking.datasets.registry import SOURCES
from ranking.formats.image_csv import ImageCsv, ReadBox
from ranking.formats.table_cells import listed_labels, marked_labels

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
        return lambda cells: SourceBox(
            None, marked_labels((label, cells[place]) for label, place in columns.items())
        )
