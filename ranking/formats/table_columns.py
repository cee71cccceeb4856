"""The roles of the columns in a table of images: chosen in settings, or proposed from names and cells."""

from __future__ import annotations

import csv
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ranking.core import Decision, Floats
from ranking.core.settings import setting
from ranking.core.text import counted, listed, readable
from ranking.datasets.folder import MAX_CRITERIA
from ranking.files import Unusable
from ranking.files.tree import base, parent
from ranking.formats.column_names import (
    CORNERS,
    FLAGS,
    FORMS,
    GROUP,
    LABELS,
    PIXELS,
    SHARES,
    is_label,
    plain_name,
)
from ranking.formats.column_proposals import (
    LEAST_NUMERIC,
    MOSTLY_NUMERIC,
    NONE,
    Labels,
    first_row_is_data,
    form_that_fits,
    has_gap,
    image_column,
    is_unclear,
    label_columns,
    named_box,
    number_columns,
    part_numbers,
    parts_of,
    several_files,
    size_columns,
    split_columns,
)
from ranking.formats.file_names import part_of_annotations
from ranking.formats.image_names import ImageNames
from ranking.formats.table_cells import Cells, box_numbers
from ranking.formats.table_file import CROSSES, MINUS, NO, SEPARATORS, Rows, Table, separator_of

# what a table needs whose identifiers are only the beginnings of names
ONE_FILE = "one image for each row: keep one file for each identifier, in a folder per kind such as a colour"
# the class of boxes without a class
ONE_CLASS = "object"
# images whose real sizes are read, on each axis
MAX_SIZES = 50
# the text of a setting that leaves the choice to this module
FROM_FILE = "as found"
HEADER, NO_HEADER = "names the columns", "is data"
BY_NAME = "by name and contents"


class Role(NamedTuple):
    """The setting that names the columns of a role, its label, and the allowed numbers of columns; (): any."""

    setting: str
    label: str
    counts: tuple[int, ...] = ()


ROLES = {
    "image": Role("image_column", "Image column", (1,)),
    "split": Role("split_column", "Split column", (0, 1)),
    "box": Role("box_columns", "Box columns", (0, 1, 4)),
    "size": Role("size_columns", "Image size columns", (0, 2)),
    "group": Role("group_column", "Group column", (0, 1)),
    "labels": Role("label_columns", "Label columns"),
    "numbers": Role("number_columns", "Criterion columns"),
}
# roles without which a table is usual
RARE = ("split", "size", "group")


def role_setting(role: str, help: str) -> Any:
    """Return the setting that names the columns of `role`. help: what they contain."""
    how = "Separate names by commas. Empty: chosen from names and contents. -: none."
    return setting("", label=ROLES[role].label, help=f"{help} {how}", advanced=True)


def chosen_columns(text: str, header: Sequence[str], role: Role) -> tuple[str, ...] | None:
    """Return the columns that a setting names; None if it is empty, () if it is "-" or "none".

    >>> chosen_columns(' "b, c", a', ["a", "b, c"], ROLES["labels"]), chosen_columns("", ["a"], ROLES["box"])
    (('b, c', 'a'), None)
    """
    if not text.strip():
        return None
    is_none = text.strip() == NONE or (text.strip().lower() == "none" and text.strip() not in header)
    cells = [] if is_none else next(csv.reader([text], skipinitialspace=True), [])
    names = tuple(filter(None, map(str.strip, cells)))
    if len(set(names)) < len(names) or not set(names) <= set(header):
        raise Unusable(f"{role.label}: names of columns, each once, among {listed(list(header), 20)}", text)
    if role.counts and len(names) not in role.counts:
        raise Unusable(f"{role.label}: {' or '.join(map(str, role.counts))} of the columns", f"{len(names)}")
    return names


def as_setting(columns: Sequence[str]) -> str:
    """Return the text that `chosen_columns` reads as those columns.

    >>> as_setting(("a", "b, c")), as_setting(()), as_setting(("-",))
    ('a, "b, c"', '-', '"-"')
    """
    return ", ".join(map(_quoted, columns)) or NONE


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if name == NONE or set(name) & set(',"') else name


SizeOf = Callable[[str], tuple[int, int] | None]


class Columns:
    """The columns of each role: as the settings choose or, where they are empty, from names and all cells. A column has
    one role. Unusable if no column names images, or none describes them.

    Parameters
    ----------
    table
        The table. The attribute `table` is without a header if its first row is data.
    settings
        Those of the source, by name.
    size_of
        Returns the size of the image that a text names.
    further
        Other tables with the same columns, which decide as well.

    Attributes
    ----------
    box
        Four columns, one column with four numbers per cell, or none.
    form, unit
        One of FORMS; PIXELS or SHARES.
    separator
        Of the labels in a cell, one of SEPARATORS.
    no
        The marks that mean no, if each column of `labels` stands for one label; () if they contain labels.
    group, split
        "" if there is none.
    parts
        The part of the data set for each cell of the split column.
    standing
        How surely the table describes images: 2 if names say what its columns are, 1 if their contents do, 0 if it has
        only numbers.
    decisions
        How the columns were chosen.
    """

    def __init__(
        self,
        table: Table,
        index: ImageNames,
        settings: Mapping[str, str],
        size_of: SizeOf,
        further: Sequence[Table] = (),
    ) -> None:
        self._settings, self._size_of, self.decisions = settings, size_of, list[Decision]()
        why = first_row_is_data(table, index) if table.first else ""
        row = NO_HEADER if why else HEADER
        if table.first:
            evidence = why or "it names no image of this folder"
            row = self._decide("first row", "first_row", row, (HEADER, NO_HEADER), evidence)
        self.table = table if row == HEADER else table.without_header()
        header = list(filter(None, self.table.header))
        if twice := next((name for place, name in enumerate(header) if name in header[:place]), None):
            raise Unusable("different column names", f"{twice} twice")
        self._chosen = {
            name: chosen_columns(settings[role.setting], header, role) for name, role in ROLES.items()
        }
        tables = [self.table, *further]
        rows = lambda: itertools.chain.from_iterable(each.rows() for each in tables)  # noqa: E731
        cells = Cells(replace(self.table, rows=rows), row == NO_HEADER)
        for names in self._chosen.values():
            cells.take(names or ())
        self._take_image(cells, index)
        self._take_split(cells)
        named, four = named_box(cells)
        self.box = self._take(cells, "box", four)
        self.size = self._take(cells, "size", size_columns(cells, self.box))
        self.group = "".join(self._take(cells, "group", [*cells.named(GROUP)][:1]))
        self.form, self.unit = self._form(cells, named) if self.box and self.image else (CORNERS, PIXELS)
        self._take_labels(cells)
        self._take_numbers(cells)
        if not self.image or not (self.box or self.labels or (self.numbers and not self.rounds)):
            came = "" if row == HEADER else "; the first row is data: add a header such as image,label"
            partly = [name for name in cells.free if cells.strays(name) and cells.is_numeric(name, 0.01)]
            strays = "".join(f"; {name}: {listed(cells.strays(name))} is no number" for name in partly)
            came += readable(strays, 200)
            raise Unusable("columns that name images and describe them", ", ".join(table.header) + came)

    def _take_image(self, cells: Cells, index: ImageNames) -> None:
        """Take the column that names the images, and those that name their folders."""
        found, count = image_column(cells, index)
        evidence = f"{count:,} of {cells.rows:,} rows name images of this folder"
        self.image = "".join(self._take(cells, "image", found, evidence)[:1])
        if not self.image and (several := several_files(cells, index)):
            raise Unusable(ONE_FILE, several)
        self.folders = self._folders(cells, index) if self.image else ()
        self.table, cells.table = self.with_folders(self.table), self.with_folders(cells.table)

    def _take_split(self, cells: Cells) -> None:
        split, self.rounds = split_columns(cells, self.image, may_ask=not cells.states_parts)
        why, as_good = BY_NAME, list(map(_quoted, split[1:]))
        if split and is_unclear(cells, split[0]):
            why = "two numbers, the larger one in most rows: choose this column if that number means test"
            as_good = [NONE]
        self.split = "".join(self._take(cells, "split", split[:1], why, as_good))
        self.parts = self._parts(cells)
        if self.rounds:
            why = "most images are in several parts, as in rounds of cross-validation: keep the rows of one round"
            self.decisions.append(Decision(f"split by {listed(self.rounds)}", "not read", why))

    def _take_labels(self, cells: Cells) -> None:
        """Take the columns of labels; decide what their marks and separators are, and how sure that is."""
        is_chosen = self._chosen["labels"] is not None
        found = Labels([], [], "") if is_chosen else label_columns(cells, bool(self.box))
        as_good = list(map(as_setting, found.as_good))
        self.labels = self._take(cells, "labels", found.columns, found.why, as_good, found.further)
        self.no = self._marks(cells)
        known = sum((cells.known(name) for name in self.labels), Counter[str]())
        self.separator, why = separator_of(known)
        if self.labels and not self.no:
            self.separator = self._decide("separator of labels", "separator", self.separator, SEPARATORS, why)
        is_named = bool(self.no) or is_chosen or any(map(is_label, self.labels))
        is_text = bool(self.box) or not all(map(cells.is_numeric, self.labels))
        self.standing = 2 if is_named else int(is_text)

    def in_words(self) -> str:
        """Return a sentence about the columns."""
        return "; ".join(f"{row.about}: {row.chosen}" for row in self.decisions if row.chosen != "none")

    def _decide(
        self,
        about: str,
        setting: str,
        found: str,
        choices: Iterable[str],
        why: str,
        in_words: str = "",
        is_open: bool = False,
    ) -> str:
        """Add a decision; return what was found or, if the setting states it, the choice of the user."""
        value = found if self._settings[setting] == FROM_FILE else self._settings[setting]
        others = tuple(choice for choice in choices if choice != value)
        if self._settings[setting] != FROM_FILE:
            in_words, why, is_open = value, "chosen by you", False
        self.decisions.append(Decision(about, in_words or value, why, setting, value, others, is_open))
        return value

    def _folders(self, cells: Cells, index: ImageNames) -> tuple[str, ...]:
        """Take the one or two columns that name the folders of images whose names are not enough; () if there are
        none, or all names are enough."""
        beside, part = parent(self.table.name), part_of_annotations(self.table.name)
        nearest = {
            cell: images
            for cell in cells.counts[self.image]
            if len(images := index.nearest(cell, beside, part)) > 1
        }
        if not nearest:
            return ()
        folders = {
            folder.casefold()
            for images in nearest.values()
            for name in images
            for folder in parent(name).split("/")
        }
        named = [
            name
            for name in cells.counts
            if name != self.image and any(base(cell).casefold() in folders for cell in cells.known(name))
        ]
        best: tuple[str, ...] = ()
        most, count = 0, sum(cells.counts[self.image][cell] for cell in nearest)
        for columns in [*itertools.permutations(named, 1), *itertools.permutations(named, 2)]:
            rows = [row for row in cells.texts([*columns, self.image]) if row[-1] in nearest]
            fits = sum(len(index.nearest("/".join(row), beside, part)) == 1 for row in rows)
            best, most = (columns, fits) if fits > most else (best, most)
        if 2 * most <= count or not best:
            return ()
        why = f"{most:,} of {count:,} rows whose name fits several images fit one image in that folder"
        self.decisions.append(Decision("folders of images", ", ".join(best), why))
        return cells.take(best)

    def with_folders(self, table: Table) -> Table:
        """Return a table of these columns with the folders of images before their names."""
        if not self.folders:
            return table
        places = [table.header.index(name) for name in (*self.folders, self.image)]

        def rows() -> Rows:
            for number, cells in table.rows():
                if len(cells) == len(table.header):
                    name = "/".join(cells[place].strip() for place in places)
                    cells = [*cells[: places[-1]], name, *cells[places[-1] + 1 :]]
                yield number, cells

        return replace(table, rows=rows)

    def _take_numbers(self, cells: Cells) -> None:
        """Take the criteria; state which columns are not read."""
        is_one = not self.image or len(cells.known(self.image)) < 2
        shares = [] if cells.without_names else [MOSTLY_NUMERIC]
        # what else would describe the images
        shares += [LEAST_NUMERIC] * (len(shares) > 0 and not self.box and not self.labels)
        numeric = next(filter(None, (number_columns(cells, share) for share in shares)), [])
        constant = [name for name in numeric if len(cells.known(name)) < 2 and not is_one]
        varied = [name for name in numeric if name not in constant]
        strays = [f"{name}: {listed(some)}" for name in varied if (some := cells.strays(name))]
        why = f"{BY_NAME}; no finite numbers: {readable(listed(strays))}" if strays else BY_NAME
        self.numbers = self._take(cells, "numbers", varied[:MAX_CRITERIA], why)
        if constant := [name for name in constant if name in cells.free]:
            why = f"the same in all rows: {listed(constant, 20)}"
            self.decisions.append(Decision("columns with one value", "no criterion", why))
        self.one_class = "" if self.labels or self.numbers or not self.box else ONE_CLASS
        if self.one_class:
            self.decisions.append(Decision("classes", ONE_CLASS, "no class column: one class for all boxes"))
        rest = [name for name in cells.free if not cells.is_empty(name) and name not in constant]
        if rest or self.table.unread:
            lost = listed([*rest, *self.table.unread], 20)
            why = f"{lost}: their names do not suggest labels, and they contain no numbers to order by"
            self.decisions.append(Decision("other columns", "not read", why))

    def _parts(self, cells: Cells) -> dict[str, str | None]:
        """Return the part that each cell of the split column stands for; decide what numbers stand for."""
        if not self.split:
            return {}
        known, parts = cells.known(self.split), parts_of(self.split, cells.counts[self.split])
        if (numbers := part_numbers(known)) and plain_name(self.split) not in FLAGS:
            cells_of = sorted(known, key=numbers.__getitem__)
            words = ", ".join(f"{cell} is {parts[cell]}" for cell in cells_of)
            counts = ", ".join(f"{cell} in {known[cell]:,} rows" for cell in cells_of)
            self.decisions.append(
                Decision("numbers of the split", words, f"the largest number is test: {counts}")
            )
        return parts

    def _take(
        self,
        cells: Cells,
        role: str,
        proposed: Iterable[str],
        evidence: str = BY_NAME,
        as_good: Sequence[str] = (),
        further: Sequence[str] = (),
    ) -> tuple[str, ...]:
        """Return the columns of a role, `proposed` unless they are chosen, and add a decision about them. as_good:
        values of the setting that fit as well. further: columns that fit less well."""
        item, names = ROLES[role], self._chosen[role]
        names = cells.take(proposed) if names is None else names
        if names or role not in RARE:
            shown, why = ", ".join(names) or "none", evidence if names else "no suitable column"
            why = why if self._chosen[role] is None else "chosen by you"
            is_one = 1 in item.counts and max(item.counts) == 1
            others = tuple(as_good) or tuple(map(_quoted, cells.free if is_one else further))
            is_open = bool(as_good) and self._chosen[role] is None
            row = Decision(item.label, shown, why, item.setting, as_setting(names), others, is_open)
            self.decisions.append(row)
        return names

    def _form(self, cells: Cells, named: str) -> tuple[str, str]:
        """Return the form of the boxes, `named` by the columns or else that by which all boxes lie inside their images,
        and their unit."""
        rows = [
            (name, numbers)
            for name, *texts in cells.texts([self.image, *self.box])
            if (numbers := box_numbers(texts)) is not None
        ]
        boxes = np.array([numbers for _, numbers in rows]).reshape(-1, 4)
        # boxes are larger than one pixel
        found = SHARES if len(boxes) and np.nanmax(np.abs(boxes)) <= 1 else PIXELS
        unit = found if self._settings["box_unit"] == FROM_FILE else self._settings["box_unit"]
        if named and self._chosen["box"] is None:
            form, is_open = named, False
            evidence = f"the columns are called {', '.join(self.box)}"
            if len(self.box) < 4:
                evidence = f"the bounding boxes of the points in {self.box[0]}"
        else:
            slack = 0.01 if found == SHARES else 1.0
            limits = self._limits([name for name, _ in rows], boxes, found)
            likely = CORNERS if len(self.box) == 4 and has_gap(cells, self.box) else self.table.by_convention
            form, evidence, is_both = form_that_fits(boxes, limits, slack, likely)
            is_open = is_both and not likely
            if is_both and cells.without_names:
                evidence += "; the first row is data, so no header names the columns"
        words = f"{form}, in {unit}"
        return self._decide("box format", "box_form", form, FORMS, evidence, words, is_open), unit

    def _limits(self, names: list[str], boxes: Floats, unit: str) -> Floats:
        """Return the width and height of the image of each box; infinite where they are not looked up."""
        if unit == SHARES:
            return np.ones((len(boxes), 2))
        # the boxes that reach furthest tell most
        furthest = (boxes[:, :2] + boxes[:, 2:]).argsort(axis=0)[::-1][:MAX_SIZES].ravel()
        sizes = {names[row]: self._size_of(names[row]) for row in furthest.tolist()}
        return np.array([sizes.get(name) or (np.inf, np.inf) for name in names], float).reshape(-1, 2)

    def _marks(self, cells: Cells) -> tuple[str, ...]:
        """Return the marks that mean no in columns of marks; () if the columns contain labels."""
        labels = self.labels
        is_mark = any(plain_name(name) not in LABELS and cells.is_marks(name) for name in labels)
        if len(labels) < 2 and (self.box or cells.without_names or not is_mark):
            return ()
        marks = {cell.lower() for name in labels for cell in cells.counts[name]}
        minus, zero, by_cross = marks & {*MINUS}, marks & {*NO}, False
        words = "1 is yes, 0 is no"
        if minus:
            words = "-1 and empty cells are unknown" if zero else "-1 is no"
        elif by_cross := not zero and bool(marks & {*CROSSES}):
            words = "a cross is yes, an empty cell is no"
        self.decisions.append(
            Decision("marks", words, f"the cells of {counted(len(labels), 'label column')}")
        )
        return (*NO, *MINUS) if minus and not zero else (*NO, "") if by_cross else NO
