"""A CSV with an image a row and numbers to put it in order by, and the folder that the images lie in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ranking.core import SourceBox
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.core.text import readable
from ranking.datasets.folder import MAX_CRITERIA
from ranking.datasets.registry import SOURCES
from ranking.formats.image_csv import ImageCsv, ReadBox
from ranking.formats.table_cells import number


@SOURCES.register("Numbers CSV")
@dataclass
class NumberCsv(ImageCsv):
    """An `ImageCsv` with a column of numbers for each criterion, such as "year" or "interestingness".

    An empty cell, NA or ? is a number that is not known. A column `group` says which images belong together, where
    there is one.
    """

    tells: ClassVar[str] = "numbers"

    file: str = setting(
        "",
        label="CSV file",
        help="A file on the computer that runs this app, its first line the names of the columns: image, then one for "
        "each thing to order images by (year, price), with numbers; and group and split (train or test), if you like.",
    )

    def reader(self, columns: Mapping[str, int], where: str) -> ReadBox:
        grouped = next((place for name, place in columns.items() if name.lower() == "group"), None)
        criteria = {name: place for name, place in columns.items() if place != grouped}
        if not 0 < len(criteria) <= MAX_CRITERIA:
            raise InputError(where, f"1 to {MAX_CRITERIA} columns of numbers", len(criteria))

        def read(cells: Sequence[str]) -> SourceBox:
            numbers = {name: number(name, cells[place]) for name, place in criteria.items()}
            group = readable(cells[grouped]) if grouped is not None else ""
            return SourceBox(None, (), group or None, numbers=numbers)

        return read
