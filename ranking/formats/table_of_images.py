"""A table of images in a folder or a ZIP file: one row per image or per box."""

from __future__ import annotations

import contextlib
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

from PIL import Image

from ranking.core import Decision, Problem, SourceBox, SourceImage
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.core.text import counted, listed, readable
from ranking.datasets.registry import SOURCES
from ranking.files import FileTree, Limits, Unusable
from ranking.files.archive_names import ENCODINGS
from ranking.files.tree import parent, suffix
from ranking.formats.file_names import display_names, part_of_annotations
from ranking.formats.image_names import ImageNames
from ranking.formats.parquet_images import with_table_images
from ranking.formats.table_columns import (
    FORMS,
    MIDDLE,
    PIXELS,
    ROLES,
    SHARES,
    Cells,
    Columns,
    box_numbers,
    chosen_columns,
    class_names,
    first_row_is_data,
    part_in_cell,
    propose,
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
from ranking.formats.tree_source import Grouped, Recognised, TreeSource

EXPECTED = "images and a table of them (CSV, TSV, Parquet, JSON lines, Excel)"
# of the first bytes of an image, which contain its size
HEAD = 2**17
HEADER, NO_HEADER = "names the columns", "is data"
NO_LABEL, LEAVE_OUT = "no label", "leave out"
MARKS, UNKNOWN_MARK = "labels marked 0 or 1", "unknown, and no label"
MAX_TABLES = 50
FROM_FILE = "as found"
SIDE = re.compile(r"0*([1-9][0-9]{0,8})(?:\.0*)?", re.ASCII)


class Tables(NamedTuple):
    """The tables that are read, by name in the tree; their columns; report rows about further tables. parts: of images,
    by a second table that `stated_by` names. classes: the names that another table gives to the labels. own: the
    columns of tables that have others than the first."""

    by_name: dict[str, Table]
    columns: Columns
    problems: Grouped
    parts: dict[str, str | None]
    stated_by: list[str]
    classes: dict[str, str]
    own: dict[str, Columns]


@dataclass
class TableImage:
    """An image as described by its rows. part: None if no row names it. labels: of the whole image."""

    part: str | None
    size: tuple[int, int] | None
    boxes: list[SourceBox] = field(default_factory=list)
    rows: int = 0
    labels: dict[str, None] = field(default_factory=dict)

    def add_whole(self, row: SourceBox) -> None:
        """Add a row about the whole image: its labels, and values that were unknown before. Unusable if it contradicts
        an earlier row."""
        if not self.boxes:
            self.boxes.append(row)
        first = self.boxes[0]
        different = [name for name, number in first.numbers.items() if _differ(number, row.numbers[name])]
        if different or first.group != row.group:
            expected = "rows of one image with the same group, and the same value of each criterion"
            raise Unusable(expected, f"another {different[0] if different else 'group'}")
        numbers = {
            name: row.numbers[name] if math.isnan(number) else number
            for name, number in first.numbers.items()
        }
        self.boxes[0] = replace(first, numbers=numbers)
        self.labels.update(dict.fromkeys(row.classes))

    def all_boxes(self) -> tuple[SourceBox, ...]:
        """Return the boxes, or one box of the whole image with all of its labels."""
        labels = tuple(self.labels)
        return tuple(replace(box, classes=labels) if box.box is None else box for box in self.boxes)


@SOURCES.register("Table of images")
@dataclass
class TableOfImages(TreeSource):
    """Tables of spreadsheets and data frames, as published by Roboflow, OpenImages and Kaggle in many forms.

    The rows of an image are its boxes, or all describe the whole image. Tables with the same columns as the first, such
    as train.csv and test.csv, are read too. What a column is, all rows decide. An image is found by its name, with or
    without suffix; the name is never used as a path. Boxes count pixels from 0 and are half open. Images with a common
    group are on the same side of a random split.
    """

    layout: ClassVar[str] = EXPECTED

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
    unknown_marks: str = setting(
        NO_LABEL,
        label="Unknown marks",
        help="What to do with a mark that is neither yes nor no, such as an empty cell: give the image no such label, "
        "or leave the image out.",
        choices=(NO_LABEL, LEAVE_OUT),
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
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """Recognise a table with a column that names images of the tree, and a column that describes them."""
        source, limits, tree = cls(), Limits.from_environment(), with_table_images(tree)
        index = ImageNames(tree)
        for name in table_names(tree.names)[:MAX_TABLES]:
            try:
                _, columns = source._columns_of(read_table(tree, name, limits), tree, index)
            except Unusable:
                # the import reports the reason; here it is only not recognised
                continue
            if columns is not None:
                # text files of other formats also name images
                return Recognised(
                    0.3 if suffix(name) == ".txt" else 0.8, f"in {readable(name, 255)}, {columns.in_words()}"
                )
        return None

    @cached_property
    def _tree(self) -> FileTree:
        return with_table_images(super()._tree)

    def __len__(self) -> int:
        return len(self._images)

    _needs: ClassVar[str] = "a row for every image"

    def _records(self) -> Iterator[SourceImage | Problem]:
        images, problems = self._images, self._row_problems
        yield from self._tables.problems.rows()
        for decision in self._tables.columns.decisions:
            self._decide(decision)
        yield from problems.rows()
        groups = [sorted({box.group for box in image.boxes if box.group}) for image in images.values()]
        stated = [image.part or self._tables.parts.get(name) for name, image in images.items()]
        tested, rows = self._which_test(list(images), stated, self._stated_by(), groups)
        yield from rows
        names = display_names(list(images))
        for (name, image), test in zip(images.items(), tested, strict=True):
            yield SourceImage(names[name], self._tree.file(name), image.all_boxes(), test, image.size)

    def _stated_by(self) -> str:
        split = self._tables.columns.split
        if split is not None:
            return f"the cells of the column {split}"
        return listed(self._tables.stated_by) or "the names of the tables"

    # --------------------------------------------------------------------------------------------- Tables

    def _table_names(self) -> list[str]:
        return [name for name in table_names(self._tree.names) if self.table.strip() in ("", name)]

    @cached_property
    def _tables(self) -> Tables:
        limits, problems, names = Limits.from_environment(), Grouped(), self._table_names()
        if len(names) > MAX_TABLES:
            expected = f"at most {MAX_TABLES} tables"
            raise InputError(self._shown_place(), expected, len(names), "name one of them")
        tables: dict[str, Table] = {}
        # tables with other columns, and why each of them is none of `tables`
        others: dict[str, Table] = {}
        reasons: dict[str, Unusable] = {}
        columns: Columns | None = None
        for name in names:
            try:
                table = others[name] = read_table(self._tree, name, limits, self.encoding)
                reasons[name] = Unusable(
                    "columns that name images and describe them", ", ".join(table.header)
                )
                if columns is None:
                    table, columns = self._columns_of(table, self._tree, self._index)
                # a further part of the same table may have no header either
                for part in (table, table.without_header()) if columns is not None else ():
                    if not tables or part.header == next(iter(tables.values())).header:
                        tables[name] = part
                for decision in table.decisions:
                    self._decide(decision)
            except Unusable as error:
                reasons[name] = error
        found = Tables(tables, columns, problems, {}, [], {}, {}) if columns is not None else None
        for name, reason in reasons.items():
            if name not in tables and (
                found is None or name not in others or not self._adds(found, name, others[name])
            ):
                problems.add(readable(name, 255), reason.expected, reason.came, "table ignored")
        if found is None:
            raise InputError(self._shown_place(), EXPECTED, problems.reasons() or "no such table")
        return found

    def _adds(self, tables: Tables, name: str, other: Table) -> bool:
        """Add what a table with other columns states: images, parts of images, or names of classes; return whether it
        does."""
        columns, shown = tables.columns, readable(name, 255)
        with contextlib.suppress(Unusable):
            table, own = self._columns_of(other, self._tree, self._index)
            if (
                own is not None
                and bool(own.box) == bool(columns.box)
                and bool(own.labels) == bool(columns.labels)
            ):
                tables.by_name[name], tables.own[name] = table, own
                self._decide(
                    Decision(
                        f"columns of {shown}", own.in_words(), "they differ from those of the first table"
                    )
                )
                return True
        if columns.split is None and (parts := stated_parts(other, self._index)):
            tables.parts.update(parts)
            tables.stated_by.append(f"the rows of {shown}")
            return True
        if tables.classes or columns.marked or len(columns.labels) != 1:
            return False
        label = columns.labels[0]
        labels = {cell for table in tables.by_name.values() for cell in Cells(table).known(label)}
        tables.classes.update(class_names(other, labels, self._index))
        if tables.classes:
            evidence = f"{shown} has a name for each of {counted(len(labels), 'label')}"
            self._decide(Decision("names of classes", listed(list(tables.classes.values())), evidence))
        return bool(tables.classes)

    def _columns_of(self, table: Table, tree: FileTree, index: ImageNames) -> tuple[Table, Columns | None]:
        """Return a table, without a header if its first row is data, and the roles of its columns; None for them if
        they name no images; Unusable if the roles are unclear."""
        why = first_row_is_data(table, index) if table.first else ""
        has_header = not why if self.first_row == FROM_FILE else self.first_row == HEADER
        is_text = bool(table.first)
        table = table if has_header else table.without_header()
        header = list(filter(None, table.header))
        if twice := next((name for place, name in enumerate(header) if name in header[:place]), None):
            raise Unusable("different column names", f"{twice} twice")
        chosen = {
            name: chosen_columns(getattr(self, role.setting), header, role) for name, role in ROLES.items()
        }

        def sizes(texts: Sequence[str]) -> dict[str, tuple[int, int]]:
            return {text: size for text in texts if (size := _real_size(tree, index, text)) is not None}

        cells = Cells(table, not has_header)
        columns = propose(cells, index, chosen, sizes, table.by_convention)
        if columns is None and not has_header:
            raise Unusable(
                "a first row that names the columns", f"data: {why}. Add a header such as image,label"
            )
        if columns is None:
            return table, None
        decisions = list(columns.decisions)
        if is_text:
            row, other = (HEADER, NO_HEADER) if has_header else (NO_HEADER, HEADER)
            evidence = why or "it names no image of this folder"
            decisions.insert(0, Decision("first row", row, evidence, "first_row", row, (other,)))
        settled = {"box_form": self.box_form, "separator": self.separator}
        for place, item in enumerate(decisions):
            if item.setting in settled and (value := settled[item.setting]) != FROM_FILE:
                others = tuple(each for each in (item.value, *item.alternatives) if each != value)
                decisions[place] = Decision(item.about, value, "chosen by you", item.setting, value, others)
        form = columns.form if self.box_form == FROM_FILE else self.box_form
        unit = columns.unit if self.box_unit == FROM_FILE else self.box_unit
        separator = columns.separator if self.separator == FROM_FILE else self.separator
        return table, columns._replace(form=form, unit=unit, separator=separator, decisions=tuple(decisions))

    # ----------------------------------------------------------------------------------------------- Rows

    @cached_property
    def _row_problems(self) -> Grouped:
        return Grouped()

    @cached_property
    def _images(self) -> dict[str, TableImage]:
        """The images that the rows describe, by name in the tree."""
        images: dict[str, TableImage] = {}
        for name, table in self._tables.by_name.items():
            try:
                self._read_rows(name, table, images)
            except Unusable as error:
                self._row_problems.add(readable(name, 255), error.expected, error.came, "later rows ignored")
        if not images:
            came = f"no row that names an image. {self._row_problems.reasons()}"
            raise InputError(self._shown_place(), EXPECTED, came)
        return images

    def _read_rows(self, name: str, table: Table, images: dict[str, TableImage]) -> None:
        """Add the rows of a table to `images`; raise Unusable where it is damaged."""
        columns = self._tables.own.get(name, self._tables.columns)
        shown, part = readable(name, 255), part_of_annotations(name)
        classes = self._tables.classes
        # many rows name the same image
        names: dict[str, str | Unusable] = {}
        for place, cells in table.rows():
            try:
                if len(cells) != len(table.header):
                    raise Unusable(f"{len(table.header)} columns", f"{len(cells)}")
                row = dict(zip(table.header, (cell.strip() for cell in cells), strict=True))
                image_cell = row[columns.image]
                if image_cell not in names:
                    names[image_cell] = self._find(image_cell, parent(name), part)
                image = names[image_cell]
                if isinstance(image, Unusable):
                    raise Unusable(image.expected, image.came)
                for label in columns.labels if classes else ():
                    row[label] = classes.get(row[label], row[label])
                if columns.marked and (unknown := unknown_mark(row, columns.labels, columns.minus_is_no)):
                    if self.unknown_marks == LEAVE_OUT:
                        raise Unusable(MARKS, unknown)
                    self._row_problems.add(shown, MARKS, f"{table.counts} {place}: {unknown}", UNKNOWN_MARK)
                _add_row(row, image, part, columns, images)
            except Unusable as error:
                came = f"{table.counts} {place}: {error.came}"
                self._row_problems.add(shown, error.expected, came, "row ignored")

    def _find(self, text: str, beside: str, part: str | None) -> str | Unusable:
        try:
            return self._index.find(text, beside, part)
        except Unusable as error:
            return error


def _real_size(tree: FileTree, index: ImageNames, text: str) -> tuple[int, int] | None:
    """Return the size in the header of the image that a text names; None if it cannot be read."""
    try:
        with Image.open(io.BytesIO(tree.head(index.find(text), HEAD))) as image:
            return image.size
    except (Unusable, OSError, ValueError, SyntaxError):
        return None


def _add_row(
    row: Mapping[str, str],
    name: str,
    part_of_table: str | None,
    columns: Columns,
    images: dict[str, TableImage],
) -> None:
    """Add a box of the image, or the description of the whole image."""
    if columns.split is None:
        part = part_of_table
    else:
        part = part_in_cell(columns.split, row[columns.split])
        if part is None:
            raise Unusable("a split of train, val or test", readable(row[columns.split]) or "an empty cell")
    size = _size(row, columns)
    image = images.setdefault(name, TableImage(part, size))
    image.rows += 1
    edges = _edges(row, columns)
    if columns.marked:
        labels = tuple(label for label in columns.labels if row[label].lower() in YES)
    else:
        labels = tuple(
            label for column in columns.labels for label in listed_labels(row[column], columns.separator)
        )
    numbers = {criterion: number(criterion, row[criterion]) for criterion in columns.numbers}
    if columns.box and edges is None and not labels:
        # an image without objects
        return
    if columns.box and edges is None:
        raise Unusable(f"four numbers, {columns.form}", "none")
    group = (readable(row[columns.group], 255) or None) if columns.group is not None else None
    box = SourceBox(edges, labels, group, image.rows, numbers, columns.unit == SHARES)
    if (image.part, image.size) != (part, size):
        raise Unusable("rows of one image with the same split and size", f"a different one for {name}")
    if edges is None:
        image.add_whole(box)
    else:
        image.boxes.append(box)


def _differ(left: float, right: float) -> bool:
    """Return whether both numbers are known and different."""
    return left != right and not math.isnan(left) and not math.isnan(right)


def _size(row: Mapping[str, str], columns: Columns) -> tuple[int, int] | None:
    texts = [row[name] for name in columns.size]
    sides = [int(side[1]) for side in map(SIDE.fullmatch, texts) if side is not None]
    if len(sides) < len(texts):
        raise Unusable("the image's width and height in pixels", ", ".join(texts))
    return (sides[0], sides[1]) if sides else None


def _edges(row: Mapping[str, str], columns: Columns) -> tuple[float, float, float, float] | None:
    """Return the edges; None if the row has no box. Boxes outside the image are reported when it is built."""
    cells = [row[name] for name in columns.box]
    if not any(cells):
        return None
    numbers = box_numbers(cells)
    if numbers is None:
        raise Unusable(f"four numbers, {columns.form}", ", ".join(cells))
    left, top, right, bottom = numbers
    if columns.form == EXTENT:
        return left, top, left + right, top + bottom
    if columns.form == MIDDLE:
        return left - right / 2, top - bottom / 2, left + right / 2, top + bottom / 2
    return left, top, right, bottom
