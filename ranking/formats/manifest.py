"""A table of images in a folder or a ZIP file: CSV, TSV or Parquet with a row for each image, or for each box."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

from ranking.core import Problem, SourceImage
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.core.text import readable
from ranking.datasets.registry import SOURCES
from ranking.files import FileTree, Limits, Recognised, Unusable
from ranking.formats.image_names import ImageNames
from ranking.formats.manifest_columns import Columns, Sample, propose
from ranking.formats.manifest_names import FORMS, PIXELS, SHARES
from ranking.formats.manifest_roles import ROLES, choose, role_setting, settings_of
from ranking.formats.manifest_rows import Gathered, gather
from ranking.formats.table_file import Table, is_table, read_table
from ranking.formats.tree_source import Grouped, TreeSource, called, is_image

LAYOUT = "images and a table of them (CSV, TSV, Parquet) whose first line names the columns"
LOOKED_AT = 200  # rows that say which column is what
MOST_TABLES = 50
FOUND = "as found"


class Told(NamedTuple):
    """The tables that are read, by name in the tree, what their columns are, and rows about other tables."""

    tables: dict[str, Table]
    columns: Columns
    refused: Grouped


@SOURCES.register("Table of images")
@dataclass
class Manifest(TreeSource):
    """A manifest, as spreadsheets and data frames write it; Roboflow, OpenImages and Kaggle have it in many forms.

    Rows of one image are its boxes, or all about the whole of it. Tables with the columns of the first are read with
    it, such as train.csv and test.csv. An image is looked up by its name, with its ending or without, and never
    followed. Labels of a cell are apart by ; or |, or there is a column of 0 and 1 for each. Boxes are counted from 0,
    half open. Images with a group in common are drawn for the test together.
    """

    expected: ClassVar[str] = LAYOUT

    table: str = setting(
        "",
        label="Table",
        help="Which table to read, by its name in the folder or ZIP file. Empty: the first that names images, and "
        "those with the same columns.",
        advanced=True,
    )
    image_column: str = role_setting("image", "The name of the image.")
    box_columns: str = role_setting("box", "Four, or one whose cells hold four numbers.")
    box_form: str = setting(
        FOUND,
        label="Numbers of a box",
        help="What the four numbers are. As found: as the columns are called, or as the numbers are.",
        choices=(FOUND, *FORMS),
        advanced=True,
    )
    box_unit: str = setting(
        FOUND,
        label="Unit of a box",
        help="What the four numbers count. As found: shares where no number is beyond 1.",
        choices=(FOUND, PIXELS, SHARES),
        advanced=True,
    )
    label_columns: str = role_setting(
        "labels", "One with labels apart by ; or |, or one of 0 and 1 for each label."
    )
    number_columns: str = role_setting("numbers", "One for each thing to order images by.")
    group_column: str = role_setting("group", "Which images or boxes belong together.")
    split_column: str = role_setting("split", "train, val or test.")
    size_columns: str = role_setting(
        "size", "The width and height of the image, to be compared with its own."
    )

    @classmethod
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """A table with a column that names images of the tree, and one that tells something of them."""
        source, index, limits = cls(), ImageNames(tree), Limits.from_environment()
        for name in itertools.islice(filter(is_table, tree.names), MOST_TABLES):
            try:
                columns = source._columns(read_table(tree, name, limits), index)
            except Unusable:  # reading it in earnest tells why; here it is only not recognised
                continue
            if columns is not None:
                why = f"in {readable(name, 255)}, {columns.in_words()}"
                return Recognised(0.8, why, settings_of(columns))
        return None

    def columns(self) -> list[str]:
        """The columns of the table, whatever they are taken for; of the first that can be read, where none tells of
        images; none where there is no such table."""
        try:
            headers = [table.header for table in self._told.tables.values()]
        except ValueError:
            headers = list(self._headers())
        return next((names for names in map(_named, headers) if len(set(names)) == len(names)), [])

    def as_read(self) -> tuple[dict[str, str], str]:
        """The settings that name the columns as they are read, and that in words; ValueError where no table tells of
        images."""
        columns = self._told.columns
        return settings_of(columns), columns.in_words()

    def _headers(self) -> Iterator[tuple[str, ...]]:
        limits = Limits.from_environment()
        for name in itertools.islice(self._tables(), MOST_TABLES):
            with contextlib.suppress(Unusable):  # why it is left out is told where it is read in earnest
                yield read_table(self._tree, name, limits).header

    def _tables(self) -> Iterator[str]:
        """The names of the tables that may be read."""
        return (name for name in self._tree.names if is_table(name) and self.table.strip() in ("", name))

    def __len__(self) -> int:
        return len(self._gathered.images)

    def records(self) -> Iterator[SourceImage | Problem]:
        told = self._gathered
        yield from self._tree.problems
        yield from self._told.refused.rows()
        yield from told.problems.rows()
        yield from self._without_row()
        groups = [sorted({box.group for box in one.boxes if box.group}) for one in told.images.values()]
        tested, rows = self._which_test([one.part for one in told.images.values()], groups)
        yield from rows
        names = called(list(told.images))
        for (name, one), test in zip(told.images.items(), tested, strict=True):
            yield SourceImage(names[name], self._tree.file(name), one.all_boxes(), test, one.size)

    def _names_parts(self) -> str:
        split = self._told.columns.split
        return super()._names_parts() if split is None else f"the column {split}"

    def _without_row(self) -> Iterator[Problem]:
        """One row for the images of which no table speaks."""
        alone = Grouped()
        for name in self._tree.names:
            if is_image(name) and name not in self._gathered.images:
                alone.add("images", "a row for every image", name, "image left out")
        return alone.rows()

    @cached_property
    def _index(self) -> ImageNames:
        return ImageNames(self._tree)

    @cached_property
    def _told(self) -> Told:
        limits, refused = Limits.from_environment(), Grouped()
        names = list(self._tables())
        if len(names) > MOST_TABLES:
            raise InputError(
                self._shown_place(), f"at most {MOST_TABLES} tables", len(names), "name one of them"
            )
        tables: dict[str, Table] = {}
        columns: Columns | None = None
        for name in names:
            try:
                table = read_table(self._tree, name, limits)
                columns = columns or self._columns(table, self._index)
                if columns is None or any(table.header != other.header for other in tables.values()):
                    raise Unusable("columns that name images and tell of them", ", ".join(table.header))
                tables[name] = table
            except Unusable as error:
                refused.add(readable(name, 255), error.expected, error.came, "table left out")
        if columns is None:
            raise InputError(self._shown_place(), LAYOUT, _reasons(refused) or "no such table")
        return Told(tables, columns, refused)

    def _shown_place(self) -> str:
        return readable(str(self._tree.place), 255)

    def _columns(self, table: Table, index: ImageNames) -> Columns | None:
        """What the columns of a table are, None where they name no images; Unusable where they cannot be told."""
        header = _named(table.header)
        if len(set(header)) < len(header):
            twice = next(name for place, name in enumerate(header) if name in header[:place])
            raise Unusable("different names of columns", f"{twice} twice")
        chosen = {name: choose(getattr(self, role.setting), header, role) for name, role in ROLES.items()}
        columns = propose(Sample(table.header, table.first(LOOKED_AT)), index, chosen)
        if columns is None:
            return None
        form = columns.form if self.box_form == FOUND else self.box_form
        unit = columns.unit if self.box_unit == FOUND else self.box_unit
        return columns._replace(form=form, unit=unit)

    @cached_property
    def _gathered(self) -> Gathered:
        told, columns, _ = self._told
        gathered = Gathered()
        for name, table in told.items():
            try:
                gather(name, table, columns, self._index, gathered)
            except Unusable as error:
                gathered.problems.add(readable(name, 255), error.expected, error.came, "the rest left out")
        if not gathered.images:
            came = f"no row that names an image. {_reasons(gathered.problems)}"
            raise InputError(self._shown_place(), LAYOUT, came)
        return gathered


def _reasons(problems: Grouped) -> str:
    """Why tables or rows cannot be used, in one sentence."""
    return "; ".join(f"{row.file}: expected {row.expected}, got {row.came}" for row in problems.rows())


def _named(header: tuple[str, ...]) -> list[str]:
    return [name for name in header if name]
