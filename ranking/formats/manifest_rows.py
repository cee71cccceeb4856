"""The rows of a manifest: which image each is of, and what it says of it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ranking.core import SourceBox
from ranking.core.text import readable
from ranking.datasets.splits import PARTS
from ranking.files import Unusable
from ranking.files.tree import parent
from ranking.formats.image_names import ImageNames
from ranking.formats.manifest_columns import Columns, box_numbers
from ranking.formats.manifest_names import EXTENT, MIDDLE, SHARES
from ranking.formats.table_cells import listed_labels, marked_labels, number
from ranking.formats.table_file import Table
from ranking.formats.tree_source import Grouped, part_of, part_told

LEFT_OUT = "row left out"
SIDE = re.compile(r"0*([1-9][0-9]{0,8})(?:\.0*)?", re.ASCII)


@dataclass
class Listed:
    """An image as its rows tell it. part: None where nothing says. rows: how many there were. labels: of the whole."""

    part: str | None
    size: tuple[int, int] | None
    boxes: list[SourceBox] = field(default_factory=list)
    rows: int = 0
    labels: dict[str, None] = field(default_factory=dict)

    def add_whole(self, one: SourceBox) -> None:
        """What one more row says of the whole image: its labels, and the numbers that were not known before. Unusable
        where it says something else than an earlier row."""
        if not self.boxes:
            self.boxes.append(one)
        first = self.boxes[0]
        other = [name for name, told in first.numbers.items() if _differ(told, one.numbers[name])]
        if other or first.group != one.group:
            expected = "rows of one image with one group, and one number of a kind"
            raise Unusable(expected, f"another {other[0] if other else 'group'}")
        numbers = {
            name: one.numbers[name] if math.isnan(told) else told for name, told in first.numbers.items()
        }
        self.boxes[0] = replace(first, numbers=numbers)
        self.labels.update(dict.fromkeys(one.classes))

    def all_boxes(self) -> tuple[SourceBox, ...]:
        """The boxes, or the one of the whole image with all of its labels."""
        return tuple(
            replace(box, classes=tuple(self.labels)) if box.box is None else box for box in self.boxes
        )


@dataclass
class Gathered:
    """Images by their names in the tree, and what is wrong with rows."""

    images: dict[str, Listed] = field(default_factory=dict)
    problems: Grouped = field(default_factory=Grouped)


def gather(name: str, table: Table, columns: Columns, index: ImageNames, told: Gathered) -> None:
    """Add the rows of the table of that name to `told`, up to where it is damaged: Unusable tells that."""
    shown, found = readable(name, 255), dict[str, str | Unusable]()
    for place, cells in table.rows():
        try:
            if len(cells) != len(table.header):
                raise Unusable(f"{len(table.header)} columns", f"{len(cells)}")
            row = dict(zip(table.header, (cell.strip() for cell in cells), strict=True))
            image = _find(row[columns.image], name, index, found)
            _add(row, image, name, columns, told)
        except Unusable as error:
            told.problems.add(shown, error.expected, f"{table.counts} {place}: {error.came}", LEFT_OUT)


def _find(told: str, table: str, index: ImageNames, found: dict[str, str | Unusable]) -> str:
    """The image of that name; `found` keeps what was looked up before."""
    if told not in found:
        try:
            found[told] = index.find(told, parent(table), part_told(table))
        except Unusable as error:
            found[told] = error
    image = found[told]
    if isinstance(image, Unusable):
        raise Unusable(image.expected, image.came)
    return image


def _add(row: Mapping[str, str], image: str, table: str, columns: Columns, told: Gathered) -> None:
    """What a row says becomes a box of its image, or all that is said of the whole of it."""
    part, size = _part(row, image, table, columns), _size(row, columns)
    listed = told.images.setdefault(image, Listed(part, size))
    listed.rows += 1
    box = _box(row, columns)
    labels, numbers = _labels(row, columns), {name: number(name, row[name]) for name in columns.numbers}
    if columns.box and box is None and not labels:
        return  # an image on which nothing is
    if columns.box and box is None:
        raise Unusable(f"four numbers, {columns.form}", "none")
    group = (readable(row[columns.group], 255) or None) if columns.group is not None else None
    one = SourceBox(box, labels, group, listed.rows, numbers, columns.unit == SHARES)
    if (listed.part, listed.size) != (part, size):
        raise Unusable("rows of one image with one split and one size", f"another for {image}")
    if box is None:
        listed.add_whole(one)
    else:
        listed.boxes.append(one)


def _differ(one: float, other: float) -> bool:
    """Whether both numbers are known, and not the same."""
    return one != other and not math.isnan(one) and not math.isnan(other)


def _part(row: Mapping[str, str], image: str, table: str, columns: Columns) -> str | None:
    if columns.split is None:
        return part_told(table) or part_of(image)
    part = PARTS.get(row[columns.split].lower())
    if part is None:
        raise Unusable("split train, val or test", readable(row[columns.split]) or "an empty cell")
    return part


def _size(row: Mapping[str, str], columns: Columns) -> tuple[int, int] | None:
    sides = [SIDE.fullmatch(row[name]) for name in columns.size]
    whole = [int(side[1]) for side in sides if side is not None]
    if len(whole) < len(sides):
        raise Unusable(
            "the image's width and height in pixels", ", ".join(row[name] for name in columns.size)
        )
    return (whole[0], whole[1]) if whole else None


def _box(row: Mapping[str, str], columns: Columns) -> tuple[float, float, float, float] | None:
    """The edges; None where the row has no box. Numbers that make no box inside the image are the builder's."""
    cells = [row[name] for name in columns.box]
    if not any(cells):
        return None
    told = box_numbers(cells)
    if told is None:
        raise Unusable(f"four numbers, {columns.form}", ", ".join(cells))
    left, top, right, bottom = told
    if columns.form == EXTENT:
        return left, top, left + right, top + bottom
    if columns.form == MIDDLE:
        return left - right / 2, top - bottom / 2, left + right / 2, top + bottom / 2
    return left, top, right, bottom


def _labels(row: Mapping[str, str], columns: Columns) -> tuple[str, ...]:
    if columns.label is not None:
        return listed_labels(row[columns.label])
    return marked_labels((name, row[name]) for name in columns.marks)
