"""A table of images in a folder or a ZIP file: one row per image or per box."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

from ranking.core import Decision, SourceBox
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.core.text import counted, listed, readable
from ranking.datasets.registry import SOURCES
from ranking.files import FileTree, Limits, Unusable
from ranking.files.archive_names import ENCODINGS
from ranking.files.tree import parent, stem, suffix
from ranking.formats.column_names import FORMS, MIDDLE, PIXELS, SHARES, is_numbered_split, plain_name
from ranking.formats.column_proposals import class_names, first_row_is_data, stated_parts
from ranking.formats.file_beginnings import beginning_of_image
from ranking.formats.file_names import is_image, part_of, part_of_annotations
from ranking.formats.image_names import ONE_IMAGE, ImageNames
from ranking.formats.listed_images import Entry, ListedImages
from ranking.formats.parquet_images import with_table_images
from ranking.formats.table_cells import Cells, box_numbers, distinct
from ranking.formats.table_columns import (
    FROM_FILE,
    HEADER,
    NO_HEADER,
    ONE_FILE,
    Columns,
    SizeOf,
    role_setting,
)
from ranking.formats.table_file import (
    EXTENT,
    NO_LABEL,
    SEPARATORS,
    YES,
    Table,
    listed_labels,
    number,
    plain_number,
    read_table,
    table_names,
    unknown_mark,
)
from ranking.formats.tree_source import Recognised

MARKS, UNKNOWN_VALUE = "labels marked 0 or 1", "treated as unknown"
MAX_TABLES = 50
# why forms for predictions are not read
NO_TRUTH = Unusable(
    "a table of true labels",
    "a form for predictions, by its name; the setting Table can choose it",
)
ALIKE = Unusable(
    "a table of true labels", "one number as the label of all its images, which lie in a test folder"
)
SIDE = re.compile(r"0*([1-9][0-9]{0,8})(?:\.0*)?", re.ASCII)


class Tables(NamedTuple):
    """What the tables of a tree state, by their names. images: those that describe images. parts: of the
    data set, by image. classes: the name of each label. reasons: why each of the others is not read."""

    images: dict[str, Columns]
    parts: dict[str, dict[str, str | None]]
    classes: dict[str, str]
    reasons: dict[str, Unusable]


class Candidate(NamedTuple):
    """Tables with the same columns, by name; their columns; and the images that their rows name."""

    tables: dict[str, Table]
    columns: Columns
    images: frozenset[str]

    def of_each(self) -> dict[str, Columns]:
        """Return the columns with each of the tables."""
        columns = {name: copy(self.columns) for name in self.tables}
        for name, table in self.tables.items():
            columns[name].table = table
        return columns


@SOURCES.register("Table of images")
@dataclass
class TableOfImages(ListedImages):
    """Tables of spreadsheets and data frames, as published by Roboflow, OpenImages and Kaggle in many forms.

    The rows of an image are its boxes, or all describe the whole image. The table with labels of most images is read,
    and those with the same columns, such as train.csv and test.csv, or with labels of other images. What a column is,
    all rows decide. An image is found by its name, with or without suffix; the name is never used as a path. Boxes
    count pixels from 0 and are half open. Images with a common group are on the same side of a random split.
    """

    kind: ClassVar[str] = "a table"
    layout: ClassVar[str] = "images and a table of them (CSV, TSV, Parquet, JSON lines, Excel)"

    table: str = setting(
        "",
        label="Table",
        help="The name of the table with the labels; tables with the same columns are read too. Empty: the one that "
        "labels the most images.",
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
    split_column: str = role_setting("split", "The split of the image: train, val or test.")
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
            except Unusable as error:
                # the import reports the reason; here it is only not recognised
                if error.expected == ONE_FILE:
                    return Recognised(0.3, f"in {readable(name, 255)}, {error.came}")
                continue
            if is_submission(name) or _is_form(name, columns.table, columns, index):
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
        limits, found = Limits.from_environment(), Tables({}, {}, {}, {})
        names = self.files(self._tree) if self.table.strip() in ("", *self.files(self._tree)) else []
        if len(names) > MAX_TABLES:
            expected = f"at most {MAX_TABLES} tables"
            raise InputError(self._shown_place(), expected, len(names), "move the others out of the folder")
        read: dict[str, Table] = {}
        for name in names:
            try:
                read[name] = read_table(self._tree, name, limits, self.encoding)
                for decision in read[name].decisions:
                    self._decide(decision)
            except Unusable as error:
                found.reasons[name] = error
        candidates = self._candidates(read, found.reasons)
        if candidates:
            self._choose(candidates, found)
        for name, table in read.items() if found.images else ():
            try:
                if name in found.reasons and self._adds_to_others(found, name, table):
                    del found.reasons[name]
            except Unusable as error:
                found.reasons[name] = error
        return found

    def _candidates(self, read: Mapping[str, Table], reasons: dict[str, Unusable]) -> list[Candidate]:
        """Return the tables that describe images, those with the same columns together; add why others do not."""
        shaped: dict[tuple[str, ...], dict[str, Table]] = {}
        for name, table in read.items():
            if is_submission(name) and name != self.table.strip():
                reasons[name] = NO_TRUTH
                continue
            bare = table.without_header()
            is_data = {HEADER: False, NO_HEADER: True}.get(self.first_row)
            is_data = bool(first_row_is_data(table, self._index)) if is_data is None else is_data
            as_found = bare if is_data and table.first else table
            # a further part of the same table may begin with an image that the tree lacks
            is_row = any(is_image(cell.strip()) for cell in table.first)
            same = bare if is_row and bare.header in shaped and table.header not in shaped else as_found
            is_split = is_numbered_split(stem(name))
            shaped.setdefault((*same.header, name) if is_split else same.header, {})[name] = same
        candidates = []
        for tables in shaped.values():
            first, *others = tables
            further, size_of = [tables[name] for name in others], _sizes(self._tree, self._index)
            try:
                columns = Columns(read[first], self._index, vars(self), size_of, further)
            except Unusable as error:
                reasons |= dict.fromkeys(tables, error)
                continue
            tables = {name: columns.with_folders(table) for name, table in tables.items()}
            for name in [name for name in tables if name != self.table.strip()]:
                if _is_form(name, tables[name], columns, self._index):
                    reasons[name] = ALIKE
                    del tables[name]
            if tables:
                candidates.append(Candidate(tables, columns, _images_in(tables, columns.image, self._index)))
        return candidates

    def _choose(self, candidates: Sequence[Candidate], found: Tables) -> None:
        """Choose the tables to read: those with labels of most images, and those about other images; add the reason why
        others are not read."""
        most = max(
            len(one.images) for one in candidates if _describes(one) or not any(map(_describes, candidates))
        )

        def rank(one: Candidate) -> tuple[bool, bool, bool, int]:
            columns = one.columns
            covers = 2 * len(one.images) >= most
            return self.table.strip() in one.tables, _describes(one), covers, columns.standing

        main = max(candidates, key=lambda one: (*rank(one), len(one.images)))
        name = next(iter(main.tables))
        for decision in main.columns.decisions:
            self._decide(decision)
        found.images.update(main.of_each())
        covered, as_good = set(main.images), list[str]()
        for other in candidates:
            kinds = [(bool(one.columns.box), bool(one.columns.labels)) for one in (main, other)]
            if other is main:
                continue
            new = other.images - covered
            # beside train and test, a table without a part is of other images, such as one picture per class
            lacks_part = _says_part(main) and not _says_part(other)
            if kinds[0] == kinds[1] and 2 * len(new) > len(other.images) and not lacks_part:
                covered |= other.images
                found.images.update(other.of_each())
                words = other.columns.in_words()
                about = f"columns of {listed([readable(file, 255) for file in other.tables])}"
                self._decide(Decision(about, words, "they differ from those of the first table"))
                continue
            if rank(other) == rank(main) and other.images and not new:
                as_good.append(next(iter(other.tables)))
            what = "boxes" if other.columns.box else "labels" if other.columns.labels else "numbers"
            both = f"{len(other.images) - len(new):,} of them in {readable(name, 255)}"
            came = f"{what} of {counted(len(other.images), 'image')}, {both}"
            expected = "labels of other images"
            if kinds[0] != kinds[1]:
                wanted = [word for word, has in zip(("boxes", "labels"), kinds[0], strict=True) if has]
                expected = f"{' and '.join(wanted) or 'numbers'}, as in {readable(name, 255)}"
            elif new and lacks_part:
                expected = f"a part such as train or test, as {readable(name, 255)} states"
            elif not other.images:
                expected, came = ONE_IMAGE, "names that several images have each"
            found.reasons.update(dict.fromkeys(other.tables, Unusable(expected, came)))
        if len(candidates) > 1:
            evidence = f"it describes {counted(len(main.images), 'image')}"
            evidence += f"; so do other columns, in {listed(as_good)}" if as_good else ""
            row = Decision("table", listed(list(main.tables)), evidence, "table", name)
            others = as_good or [next(iter(one.tables)) for one in candidates if one is not main]
            self._decide(replace(row, alternatives=tuple(others), is_open=bool(as_good) and not self.table))

    def _adds_to_others(self, found: Tables, name: str, table: Table) -> bool:
        """Add what a table states about the images or labels of others; return whether it does."""
        columns = next(iter(found.images.values()))
        if not columns.split and (parts := stated_parts(table, self._index)):
            found.parts[name] = parts
            counts = Counter(parts.values())
            words = ", ".join(f"{counts[part]:,} {part}" for part in ("train", "val", "test") if counts[part])
            why = "its values are words such as train, or numbers: the largest is test, the middle one of three is val"
            self._decide(Decision(f"split in {readable(name, 255)}", words, why))
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
        same = Entry(file, "", (), part=part_of_annotations(file))
        images: dict[str, Entry] = {}
        boxes: dict[str, list[SourceBox]] = {}
        # of rows with labels and empty cells for the box
        wholes: dict[str, list[SourceBox]] = {}
        places: dict[str, list[int]] = {}
        count = Counter[str]()
        try:
            for place, cells in columns.table.rows():
                try:
                    row = self._row(columns, cells)
                    cell = row[columns.image]
                    entry = _entry(same, row, columns) if columns.split or columns.size else same
                    for expected, came in _unknown(row, columns):
                        self._report(file, expected, f"line {place}: {came}", UNKNOWN_VALUE)
                    count[cell] += 1
                    box = _box(row, columns, count[cell])
                    if (first := images.get(cell)) is None:
                        images[cell] = entry._replace(image=cell)
                    elif (first.part, first.size) != (entry.part, entry.size):
                        raise Unusable(
                            "the same split and size in all rows of an image", f"another one for {cell}"
                        )
                    if box is not None and box.box is None and columns.box:
                        _add(wholes.setdefault(cell, []), box)
                        places.setdefault(cell, []).append(place)
                    elif box is not None and _add(boxes.setdefault(cell, []), box):
                        self._differ[cell] = boxes[cell][0].classes
                except Unusable as error:
                    self._report(file, error.expected, f"line {place}: {error.came}", "row ignored")
        except Unusable as error:
            self._report(file, error.expected, error.came, "later rows ignored")
        if self._differ:
            shown = listed([f"{image} shows {listed(list(names))}" for image, names in self._differ.items()])
            evidence = f"{counted(len(self._differ), 'image')} with several: {readable(shown)}"
            self._decide(Decision("rows with other labels of an image", "labels joined", evidence))
        for cell in wholes:
            done = "row ignored; others have boxes" if cell in boxes else "its label is of the whole image"
            for place in places[cell]:
                self._report(file, f"a box: four numbers, {columns.form}", f"line {place}: none", done)
        boxes = wholes | boxes
        yield from (entry._replace(boxes=tuple(boxes.get(cell, ()))) for cell, entry in images.items())

    @cached_property
    def _differ(self) -> dict[str, tuple[str, ...]]:
        """The labels of images whose rows have different ones."""
        return {}

    def _row(self, columns: Columns, cells: list[str]) -> dict[str, str]:
        """Return the cells of a row by column, with the names of classes."""
        header = columns.table.header
        if len(cells) != len(header):
            raise Unusable(f"{len(header)} columns", f"{len(cells)}")
        row = dict(zip(header, map(str.strip, cells), strict=True))
        names = self._tables.classes
        return row | {name: names.get(row[name], row[name]) for name in columns.labels} if names else row


def _images_in(tables: Mapping[str, Table], column: str, index: ImageNames) -> frozenset[str]:
    """Return the images that a column of tables with the same columns names; names of several images do not count."""
    return frozenset(
        image
        for name, table in tables.items()
        for cell in distinct(table, column)
        if len(images := index.nearest(cell, parent(name), part_of_annotations(name))) == 1
        for image in images
    )


def _says_part(candidate: Candidate) -> bool:
    """Return whether tables say the part of the set of their images: by their names, such as train.csv, or a column."""
    return bool(candidate.columns.split) or all(map(part_of_annotations, candidate.tables))


def _describes(candidate: Candidate) -> bool:
    return bool(candidate.columns.box or candidate.columns.labels)


def is_submission(name: str) -> bool:
    """Return whether the name of a file says that it is a form for predictions."""
    return "submission" in plain_name(stem(name))


def _is_form(name: str, table: Table, columns: Columns, index: ImageNames) -> bool:
    """Return whether a table gives all images of the test part the same number as label, and there are others."""
    is_one = len(columns.labels) == 1 and not columns.box
    labels = distinct(table, columns.labels[0]) if is_one else set()
    if len(labels) != 1 or plain_number(*labels) is None:
        return False
    images = _images_in({name: table}, columns.image, index)
    return len(images) < index.count and {part_of(image) for image in images} == {"test"}


def _sizes(tree: FileTree, index: ImageNames) -> SizeOf:
    """Return a function from a text to the size in the header of the image that it names; to None if that cannot be
    read."""

    def size_of(text: str) -> tuple[int, int] | None:
        try:
            return beginning_of_image(tree, index.find(text))[0]
        except Unusable:
            return None

    return size_of


def _entry(entry: Entry, row: Mapping[str, str], columns: Columns) -> Entry:
    """Return an entry with the part and the size that a row states."""
    part = columns.parts.get(row[columns.split]) if columns.split else entry.part
    if columns.split and part is None:
        raise Unusable("a split of train, val or test", readable(row[columns.split]) or "an empty cell")
    texts = [row[name] for name in columns.size]
    sides = [int(side[1]) for side in map(SIDE.fullmatch, texts) if side is not None]
    if len(sides) < len(texts):
        raise Unusable("the image's width and height in pixels", ", ".join(texts))
    return entry._replace(size=(sides[0], sides[1]) if sides else None, part=part)


def _unknown(row: Mapping[str, str], columns: Columns) -> Iterator[tuple[str, str]]:
    """Yield what a row does not state: labels, and numbers of criteria, each with what came."""
    if columns.no:
        if mark := unknown_mark(row, columns.labels, columns.no):
            yield MARKS, mark
    elif any(map(row.__getitem__, columns.box)) or not columns.box:
        for name in columns.labels:
            if row[name].lower() in NO_LABEL:
                yield "a label in each row", f"{name}: {row[name] or 'an empty cell'}"
    for name in columns.numbers:
        if number(row[name]) is None:
            yield "finite numbers, or ? where unknown", readable(f"{name}: {row[name]!r:.20}")


def _box(row: Mapping[str, str], columns: Columns, place: int) -> SourceBox | None:
    """Return the box of a row or, in a table without boxes, the whole image; None if the image has no objects."""
    edges = _edges([row[name] for name in columns.box], columns.form)
    if columns.no:
        labels = tuple(label for label in columns.labels if row[label].lower() in YES)
    else:
        cells = (listed_labels(row[column], columns.separator) for column in columns.labels)
        labels = tuple(label for cell in cells for label in cell)
    if edges is not None and columns.one_class:
        labels = (columns.one_class,)
    numbers = {name: math.nan if (value := number(row[name])) is None else value for name in columns.numbers}
    if columns.box and edges is None and not labels:
        return None
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


def _add(boxes: list[SourceBox], box: SourceBox) -> bool:
    """Add a box; or join a row about the whole image with those before it: all labels, and values that were unknown.
    Return whether their labels differ. Unusable if it contradicts them."""
    if box.box is not None or not boxes:
        boxes.append(box)
        return False
    first = boxes[0]
    rest = first.numbers, first.group
    if rest == (box.numbers, box.group) and set(box.classes) <= set(first.classes):
        return False
    pairs = {name: (value, box.numbers[name]) for name, value in first.numbers.items()}
    different = [name for name, (a, b) in pairs.items() if a != b and not math.isnan(a) and not math.isnan(b)]
    if different or first.group != box.group:
        expected = "the same group and the same value of each criterion in all rows of an image"
        raise Unusable(expected, f"another {different[0] if different else 'group'}")
    numbers = {name: b if math.isnan(a) else a for name, (a, b) in pairs.items()}
    boxes[0] = replace(first, numbers=numbers, classes=tuple(dict.fromkeys(first.classes + box.classes)))
    return bool(first.classes and box.classes)
