"""A table of images in a folder or a ZIP file: one row per image or per box."""

from __future__ import annotations

import io
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

from PIL import Image

from ranking.core import Decision, SourceBox
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.core.text import counted, listed, readable
from ranking.datasets.registry import SOURCES
from ranking.files import FileTree, Limits, Unusable
from ranking.files.archive_names import ENCODINGS
from ranking.files.tree import suffix
from ranking.formats.file_names import part_of_annotations
from ranking.formats.image_names import ImageNames
from ranking.formats.listed_images import Entry, ListedImages
from ranking.formats.parquet_images import with_table_images
from ranking.formats.table_columns import (
    FORMS,
    FROM_FILE,
    HEADER,
    MIDDLE,
    NO_HEADER,
    PIXELS,
    SHARES,
    Cells,
    Columns,
    SizeOf,
    box_numbers,
    class_names,
    part_in_cell,
    role_setting,
    stated_parts,
)
from ranking.formats.table_file import (
    EXTENT,
    SEPARATORS,
    YES,
    Table,
    listed_labels,
    number,
    read_table,
    table_names,
    unknown_mark,
)
from ranking.formats.tree_source import Recognised

# of the first bytes of an image, which contain its size
HEAD = 2**17
MARKS, UNKNOWN_MARK = "labels marked 0 or 1", "unknown, and no label"
MAX_TABLES = 50
SIDE = re.compile(r"0*([1-9][0-9]{0,8})(?:\.0*)?", re.ASCII)


class Tables(NamedTuple):
    """What the tables of a tree state, by their names. images: those that describe images. parts: of the
    data set, by image. classes: the name of each label. reasons: why each of the others is not read."""

    images: dict[str, Columns]
    parts: dict[str, dict[str, str | None]]
    classes: dict[str, str]
    reasons: dict[str, Unusable]


@SOURCES.register("Table of images")
@dataclass
class TableOfImages(ListedImages):
    """Tables of spreadsheets and data frames, as published by Roboflow, OpenImages and Kaggle in many forms.

    The rows of an image are its boxes, or all describe the whole image. Tables with the same columns as the first, such
    as train.csv and test.csv, are read too. What a column is, all rows decide. An image is found by its name, with or
    without suffix; the name is never used as a path. Boxes count pixels from 0 and are half open. Images with a common
    group are on the same side of a random split.
    """

    kind: ClassVar[str] = "a table"
    layout: ClassVar[str] = "images and a table of them (CSV, TSV, Parquet, JSON lines, Excel)"

    table: str = setting(
        "",
        label="Table",
        help="The name of the table in the folder or ZIP file. Empty: the first table that names images, and all "
        "tables with the same columns.",
        advanced=True,
    )
    encoding: str = setting(
        FROM_FILE,
        label="Encoding of tables",
        help="The encoding of tables that are not in UTF-8. As found: the one that gives readable text.",
        choices=(FROM_FILE, *ENCODINGS),
        advanced=True,
    )
    first_row: str = setting(
        FROM_FILE,
        label="First row",
        help="Whether the first row names the columns. As found: unless it names an image.",
        choices=(FROM_FILE, HEADER, NO_HEADER),
        advanced=True,
    )
    image_column: str = role_setting("image", "The name of the image.")
    box_columns: str = role_setting("box", "Four columns, or one column with four numbers per cell.")
    box_form: str = setting(
        FROM_FILE,
        label="Box format",
        help="The meaning of the four numbers. As found: from the names of the columns, or from the numbers.",
        choices=(FROM_FILE, *FORMS),
        advanced=True,
    )
    box_unit: str = setting(
        FROM_FILE,
        label="Box unit",
        help="The unit of the four numbers. As found: shares of the image if no number exceeds 1.",
        choices=(FROM_FILE, PIXELS, SHARES),
        advanced=True,
    )
    label_columns: str = role_setting(
        "labels", "One column with the labels of the image, or one column of marks (0 and 1) per label."
    )
    separator: str = setting(
        FROM_FILE,
        label="Separator of labels",
        help="What separates the labels in a cell. As found: from all cells.",
        choices=(FROM_FILE, *SEPARATORS),
        advanced=True,
    )
    number_columns: str = role_setting("numbers", "One column per criterion by which images can be ordered.")
    group_column: str = role_setting(
        "group", "The group of the image or box, which stays on one side of the split."
    )
    split_column: str = role_setting("split", "train, val or test.")
    size_columns: str = role_setting(
        "size", "The width and height of the image, which are compared with the real size."
    )

    @classmethod
    def files(cls, tree: FileTree) -> list[str]:
        return table_names(tree.names)

    @classmethod
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """Recognise a table with a column that names images of the tree, and a column that describes them."""
        limits, tree = Limits.from_environment(), with_table_images(tree)
        index = ImageNames(tree)
        for name in cls.files(tree)[:MAX_TABLES]:
            try:
                columns = Columns(read_table(tree, name, limits), index, vars(cls()), _sizes(tree, index))
            except Unusable:
                # the import reports the reason; here it is only not recognised
                continue
            # text files of other formats also name images
            sure = 0.3 if suffix(name) == ".txt" else 0.8
            return Recognised(sure, f"in {readable(name, 255)}, {columns.in_words()}")
        return None

    @cached_property
    def _tree(self) -> FileTree:
        return with_table_images(super()._tree)

    _needs: ClassVar[str] = "a row for every image"

    # --------------------------------------------------------------------------------------------- Tables

    @cached_property
    def _files(self) -> list[str]:
        return [*self._tables.images, *self._tables.parts, *self._tables.reasons]

    @cached_property
    def _tables(self) -> Tables:
        limits, found, read = Limits.from_environment(), Tables({}, {}, {}, {}), dict[str, Table]()
        names = [name for name in self.files(self._tree) if self.table.strip() in ("", name)]
        if len(names) > MAX_TABLES:
            expected = f"at most {MAX_TABLES} tables"
            raise InputError(self._shown_place(), expected, len(names), "name one of them")
        for name in names:
            try:
                table = read[name] = read_table(self._tree, name, limits, self.encoding)
                for decision in table.decisions:
                    self._decide(decision)
                found.images[name] = self._columns_of(found.images, name, table)
            except Unusable as error:
                found.reasons[name] = error
        for name, table in read.items() if found.images else ():
            if name in found.reasons and self._adds_to_others(found, name, table):
                del found.reasons[name]
        return found

    def _columns_of(self, images: Mapping[str, Columns], name: str, table: Table) -> Columns:
        """Return the columns of a table that describes images, all of which have boxes or none has; Unusable if it does
        not."""
        first = next(iter(images.values()), None)
        # a further part of the same table may have no header either
        for part in (table, table.without_header()):
            if first is not None and part.header == first.table.header:
                columns = copy(first)
                columns.table = part
                return columns
        columns = Columns(table, self._index, vars(self), _sizes(self._tree, self._index))
        if first is None:
            for decision in columns.decisions:
                self._decide(decision)
        elif (bool(columns.box), bool(columns.labels)) != (bool(first.box), bool(first.labels)):
            raise Unusable("boxes and labels as in the first table", ", ".join(table.header))
        else:
            why = "they differ from those of the first table"
            self._decide(Decision(f"columns of {readable(name, 255)}", columns.in_words(), why))
        return columns

    def _adds_to_others(self, found: Tables, name: str, table: Table) -> bool:
        """Add what a table states about the images or labels of others; return whether it does."""
        columns = next(iter(found.images.values()))
        if not columns.split and (parts := stated_parts(table, self._index)):
            found.parts[name] = parts
            return True
        if found.classes or columns.no or len(columns.labels) != 1:
            return False
        tables = (each.table for each in found.images.values())
        labels = {cell for table in tables for cell in Cells(table).known(columns.labels[0])}
        found.classes.update(class_names(table, labels, self._index))
        if found.classes:
            evidence = f"{readable(name, 255)} has a name for each of {counted(len(labels), 'label')}"
            self._decide(Decision("names of classes", listed(list(found.classes.values())), evidence))
        return bool(found.classes)

    # ----------------------------------------------------------------------------------------------- Rows

    def _content(self, file: str) -> None:
        """Raise Unusable if a table is not read; `_entries` reads the rows of the others one after the other."""
        if file in self._tables.reasons:
            raise self._tables.reasons[file]

    def _report(self, file: str, expected: str, came: str, done: str) -> None:
        """Add a problem of a table; those of each table are counted together."""
        self._problems.add(readable(file, 255), expected, came, done)

    def _interpreted(self, entries: list[Entry]) -> list[Entry]:
        return entries

    def _entries(self, root: None, file: str) -> Iterator[Entry]:
        if file in self._tables.parts:
            for image, part in self._tables.parts[file].items():
                yield Entry(file, image, (), part=part)
            return
        columns = self._tables.images[file]
        images: dict[str, Entry] = {}
        boxes: dict[str, list[SourceBox]] = {}
        count = Counter[str]()
        try:
            for place, cells in columns.table.rows():
                try:
                    row = self._row(columns, cells)
                    cell = row[columns.image]
                    if columns.no and (unknown := unknown_mark(row, columns.labels, columns.no)):
                        self._report(file, MARKS, f"line {place}: {unknown}", UNKNOWN_MARK)
                    entry = _entry(file, row, columns)
                    count[cell] += 1
                    box = _box(row, columns, count[cell])
                    first = images.setdefault(cell, entry)
                    if (first.part, first.size) != (entry.part, entry.size):
                        raise Unusable(
                            "rows of one image with the same split and size", f"a different one for {cell}"
                        )
                    if box is not None:
                        _add(boxes.setdefault(cell, []), box)
                except Unusable as error:
                    self._report(file, error.expected, f"line {place}: {error.came}", "row ignored")
        except Unusable as error:
            self._report(file, error.expected, error.came, "later rows ignored")
        yield from (entry._replace(boxes=tuple(boxes.get(cell, ()))) for cell, entry in images.items())

    def _row(self, columns: Columns, cells: list[str]) -> dict[str, str]:
        """Return the cells of a row by column, with the names of classes."""
        header = columns.table.header
        if len(cells) != len(header):
            raise Unusable(f"{len(header)} columns", f"{len(cells)}")
        row = dict(zip(header, map(str.strip, cells), strict=True))
        return row | {name: self._tables.classes.get(row[name], row[name]) for name in columns.labels}


def _sizes(tree: FileTree, index: ImageNames) -> SizeOf:
    """Return a function from a text to the size in the header of the image that it names; to None if that cannot be
    read."""

    def size_of(text: str) -> tuple[int, int] | None:
        try:
            with Image.open(io.BytesIO(tree.head(index.find(text), HEAD))) as image:
                return image.size
        except (Unusable, OSError, ValueError, SyntaxError):
            return None

    return size_of


def _entry(file: str, row: Mapping[str, str], columns: Columns) -> Entry:
    """Return what a row says about its image, without boxes."""
    part = part_in_cell(columns.split, row[columns.split]) if columns.split else part_of_annotations(file)
    if columns.split and part is None:
        raise Unusable("a split of train, val or test", readable(row[columns.split]) or "an empty cell")
    texts = [row[name] for name in columns.size]
    sides = [int(side[1]) for side in map(SIDE.fullmatch, texts) if side is not None]
    if len(sides) < len(texts):
        raise Unusable("the image's width and height in pixels", ", ".join(texts))
    return Entry(file, row[columns.image], (), (sides[0], sides[1]) if sides else None, part)


def _box(row: Mapping[str, str], columns: Columns, place: int) -> SourceBox | None:
    """Return the box of a row or, in a table without boxes, the whole image; None if the image has no objects."""
    if columns.no:
        labels = tuple(label for label in columns.labels if row[label].lower() in YES)
    else:
        cells = (listed_labels(row[column], columns.separator) for column in columns.labels)
        labels = tuple(label for cell in cells for label in cell)
    numbers = {criterion: number(criterion, row[criterion]) for criterion in columns.numbers}
    edges = _edges([row[name] for name in columns.box], columns.form)
    if columns.box and edges is None and not labels:
        return None
    if columns.box and edges is None:
        raise Unusable(f"four numbers, {columns.form}", "none")
    group = (readable(row[columns.group], 255) or None) if columns.group else None
    return SourceBox(edges, labels, group, place, numbers, columns.unit == SHARES)


def _edges(cells: Sequence[str], form: str) -> tuple[float, float, float, float] | None:
    """Return the edges; None if all cells are empty. Boxes outside the image are reported when it is built."""
    if not any(cells):
        return None
    numbers = box_numbers(cells)
    if numbers is None:
        raise Unusable(f"four numbers, {form}", ", ".join(cells))
    left, top, right, bottom = numbers
    if form == EXTENT:
        return left, top, left + right, top + bottom
    if form == MIDDLE:
        return left - right / 2, top - bottom / 2, left + right / 2, top + bottom / 2
    return left, top, right, bottom


def _add(boxes: list[SourceBox], box: SourceBox) -> None:
    """Add a box; or join a row about the whole image with those before it: all labels, and values that were unknown.
    Unusable if it contradicts them."""
    if box.box is not None or not boxes:
        boxes.append(box)
        return
    first = boxes[0]
    pairs = {name: (value, box.numbers[name]) for name, value in first.numbers.items()}
    different = [name for name, (a, b) in pairs.items() if a != b and not math.isnan(a) and not math.isnan(b)]
    if different or first.group != box.group:
        expected = "rows of one image with the same group, and the same value of each criterion"
        raise Unusable(expected, f"another {different[0] if different else 'group'}")
    numbers = {name: b if math.isnan(a) else a for name, (a, b) in pairs.items()}
    boxes[0] = replace(first, numbers=numbers, classes=tuple(dict.fromkeys(first.classes + box.classes)))
