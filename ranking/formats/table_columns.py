"""The roles of the columns in a table of images: chosen in settings, or proposed from names and contents."""

from __future__ import annotations

import contextlib
import csv
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ranking.core import Decision, Floats
from ranking.core.settings import setting
from ranking.core.text import counted, listed, readable
from ranking.datasets.folder import MAX_CRITERIA
from ranking.datasets.splits import PARTS, part_word
from ranking.files import Unusable
from ranking.files.tree import base, parent, stem
from ranking.formats.file_names import part_of_annotations
from ranking.formats.image_names import ImageNames
from ranking.formats.table_file import (
    EXTENT,
    MINUS,
    NO,
    SEPARATORS,
    UNKNOWN,
    YES,
    Rows,
    Table,
    plain_number,
    separator_of,
)

# ----------------------------------------------------- Usual names, in lower case without separators

CORNERS, MIDDLE = "left, top, right, bottom", "middle, width, height"
FORMS = (CORNERS, EXTENT, MIDDLE)
PIXELS, SHARES = "pixels", "shares of the image"

IMAGE = (
    "image", "imagename", "imageid", "imagepath", "imagefile", "img", "imgname", "imgpath", "file", "filename",
    "filepath", "fname", "name", "path", "photo", "picture", "id",
)  # fmt: skip
LABELS = (
    "labels", "tags", "label", "classes", "class", "concepts", "classname", "category", "categories",
    "categoryname", "labelname", "target", "species", "name", "classid", "categoryid", "labelid",
)  # fmt: skip
# the words of a name that say so, in several languages
LABEL_WORDS = {
    "label", "labels", "class", "classes", "category", "categories", "finding", "findings", "tag", "tags", "species",
    "breed", "breeds", "diagnosis", "diagnoses", "klasse", "klassen", "kategorie", "kategorien", "rasse", "diagnose",
    "etiquette", "étiquette", "étiquettes", "classe", "catégorie", "espèce", "etiqueta", "etiquetas", "clase",
    "categoría", "especie", "raza", "diagnóstico", "etichetta", "specie", "razza", "класс", "метка", "категория",
    "порода", "标签", "类别", "ラベル", "クラス",
}  # fmt: skip
GROUP = (
    "group", "groupid", "video", "videoid", "track", "trackid", "patient", "patientid", "subject", "subjectid",
    "sequence", "clip", "session", "scene",
)  # fmt: skip
# words of a split column for rows without a part
NO_PART = ("", "unassigned", "none", "unused")
SPLIT = ("split", "subset", "part", "set", "partition", "usage")
# words in names of columns and files whose whole numbers may stand for parts, of which there are few
NUMBERED_SPLIT, MAX_PARTS = (
    {"partition", "partitions", "split", "splits", "subset", "subsets", "fold", "folds", "kfold"},
    20,
)
# columns of 0 and 1, and the part that 1 stands for
FLAGS = {name: "test" for name in ("istest", "test", "testset")} | {
    name: "train" for name in ("istrain", "istraining", "istrainingimage")
}
FLAGS |= {name: "val" for name in ("isval", "isvalidation")}
# columns of points, of which the bounding box is read
OUTLINES = ("polygon", "polygons", "points", "segmentation", "outline", "contour", "vertices", "coordinates")
SIZE = (("imagewidth", "imageheight"), ("imgwidth", "imgheight"), ("width", "height"))
# if there are both, width and height are those of the image
EXTENTS = ("w h", "width height")
# words for the two corners of a box beside x and y, or column and row
CORNER_WORDS = (
    "min max", "1 2", "0 1", "start end", "begin end", "from to", "low high", "tl br", "lt rb", "ul lr",
    "topleft bottomright", "lefttop rightbottom", "upperleft lowerright", "leftupper rightlower",
    "topleftcorner bottomrightcorner", "upperleftcorner lowerrightcorner",
)  # fmt: skip
AXES = ("x y", "col row", "column row")
CORNER_NAMES = [
    *("left top right bottom", "left upper right lower", "leftx topy rightx bottomy", "xleft ytop xright ybottom"),
    *("xtl ytl xbr ybr", "x1 y1 x2 y2"),
    *(
        " ".join(form.format(axis=axis, word=word) for word in words.split() for axis in axes.split())
        for words, axes, form in itertools.product(CORNER_WORDS, AXES, ("{axis}{word}", "{word}{axis}"))
    ),
]  # fmt: skip
BOXES = {
    CORNERS: CORNER_NAMES,
    EXTENT: ["x y", *dict.fromkeys(" ".join(names.split()[:2]) for names in CORNER_NAMES)],
    MIDDLE: ["xcenter ycenter", "xcentre ycentre", "centerx centery", "centrex centrey", "cx cy", "xc yc"],
}
# words that a name of the middle has before x
NO_PREFIX = ("c", "center", "centre", "mid")
NO_NUMBERS = (
    "id", "index", "idx", "unnamed0", "iscrowd", "difficult", "occluded", "truncated", "segmented", "depth",
    "isoccluded", "istruncated", "isgroupof", "isdepiction", "isinside",
)  # fmt: skip
# words in names of columns that tell rows apart or group them
ID_WORDS = {
    "id", "ids", "uid", "uuid", "guid", "patient", "lesion", "subject", "person", "case", "study", "series", "session",
    "group", "hash", "md", "url", "date", "time",
}  # fmt: skip
# words in names of columns that say where a row comes from
ORIGIN_WORDS = {
    "source", "origin", "dataset", "camera", "site", "location", "station", "country", "annotator",
    "labeller", "user", "worker", "author",
}  # fmt: skip
MAX_LABEL_COLUMNS = 6
# what a table needs whose identifiers are only the beginnings of names
ONE_FILE = "one image for each row: keep one file for each identifier, in a folder per kind such as a colour"
# the class of boxes without a class
ONE_CLASS = "object"
ENDS_AS_ID = re.compile(r"(?:^|[\W_])[iI][dD]$|[a-z]I[dD]$")


def plain_name(column: str) -> str:
    """
    >>> plain_name("X_min"), plain_name("BBox Left")
    ('xmin', 'bboxleft')
    """
    return "".join(letter for letter in column.casefold() if letter.isalnum())


def may_order(column: str) -> bool:
    """Return whether a column of that name may be a criterion: it is neither an identifier nor a flag.

    >>> may_order("year"), may_order("annotation_id"), may_order("grid")
    (True, False, True)
    """
    return plain_name(column) not in NO_NUMBERS and not ENDS_AS_ID.search(column)


def words_of(name: str) -> list[str]:
    """
    >>> words_of("Finding Labels"), words_of("subCategory"), words_of("train_test_split2")
    (['finding', 'labels'], ['sub', 'category'], ['train', 'test', 'split'])
    """
    return [word.casefold() for word in re.findall(r"[^\W\d_][^\W\d_A-Z]*|[A-Z]+", name)]


def parts_of(column: str, cells: Collection[str]) -> dict[str, str | None]:
    """Return the part that each cell of a split column names; None if it names none.

    Of whole numbers the largest is test and, of 0, 1 and 2, 1 is validation.

    >>> parts_of("split", ["PrivateTest"]), parts_of("is_test", ["0"]), parts_of("fold", ["0", "1", "2"])
    ({'PrivateTest': 'test'}, {'0': 'train'}, {'0': 'train', '1': 'val', '2': 'test'})
    """
    numbers = _part_numbers(cells)
    if plain_name(column) in FLAGS or not numbers:
        return {cell: _part_in_cell(column, cell) for cell in cells}
    three = sorted(numbers.values()) == [0, 1, 2]
    parts = {max(numbers.values()): "test", **({1: "val"} if three else {})}
    return {cell: parts.get(numbers[cell], "train") if cell in numbers else None for cell in cells}


def _part_numbers(cells: Collection[str]) -> dict[str, int]:
    """Return the whole numbers in all known cells, if there are several and few; otherwise {}."""
    known = [cell for cell in cells if cell.lower() not in UNKNOWN]
    numbers = {cell: int(float(cell)) for cell in known if re.fullmatch(r"\d{1,3}(?:\.0)?", cell, re.ASCII)}
    several = 1 < len(set(numbers.values())) <= MAX_PARTS
    return numbers if several and len(numbers) == len(known) else {}


def _part_in_cell(column: str, cell: str) -> str | None:
    flag, mark = FLAGS.get(plain_name(column)), cell.lower()
    if flag is not None and mark in (*YES, *NO):
        return flag if mark in YES else "test" if flag == "train" else "train"
    return part_word(cell)


# rows whose cells are counted at a time
COUNTED = 10_000
# rows below the first one that are compared with it
MAX_HEADER_ROWS = 1_000
# images whose real sizes are read, on each axis
MAX_SIZES = 50
# of the cells of a column whose name is usual for boxes or sizes
LEAST_NUMERIC = 0.5
BOX_NUMBER = re.compile(
    r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf)", re.ASCII | re.IGNORECASE
)

# ---------------------------------------------------------------------------- Roles, and settings that choose columns

# the text of a setting for a role without a column, and of one that leaves the choice to this module
NONE, FROM_FILE = "-", "as found"
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


# ------------------------------------------------------------------------------- Proposals from names and contents

SizeOf = Callable[[str], tuple[int, int] | None]


class Cells:
    """The cells of all rows of a table by column, each with its number of rows. free: the columns without a role so
    far, in order. without_names: whether the file has no names of columns."""

    def __init__(self, table: Table, without_names: bool = False) -> None:
        self.table, self.without_names, self.images = table, without_names, table.images
        self.states_parts = without_names and is_numbered_split(stem(table.name))
        self.counts = {name: Counter[str]() for name in table.header}
        self.rows = 0
        whole = self._whole()
        while some := list(itertools.islice(whole, COUNTED)):
            self.rows += len(some)
            for name, column in zip(table.header, zip(*some, strict=True), strict=True):
                self.counts[name].update(map(str.strip, column))
        self.free = [name for name in table.header if name]

    def take(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Return the same columns, and remove them from `free`."""
        taken = tuple(columns)
        self.free = [name for name in self.free if name not in taken]
        return taken

    def named(self, names: Iterable[str]) -> Iterator[str]:
        """Yield the free columns of those names, in the order of the names."""
        plain = {plain_name(name): name for name in reversed(self.free)}
        return (plain[name] for name in names if name in plain)

    def known(self, column: str) -> Counter[str]:
        """Return the cells with a known value."""
        counts = self.counts[column].items()
        return Counter({cell: count for cell, count in counts if cell.lower() not in UNKNOWN})

    def is_empty(self, column: str) -> bool:
        return not self.known(column)

    def is_numeric(self, column: str, share: float = 1) -> bool:
        """Return whether at least that share of the known cells are finite numbers."""
        known = self.known(column)
        numbers = {cell: plain_number(cell) for cell in known}
        finite = sum(
            known[cell] for cell, value in numbers.items() if value is not None and math.isfinite(value)
        )
        return bool(known) and finite >= share * known.total()

    def is_json(self, column: str) -> bool:
        """Return whether a cell contains JSON objects."""
        return any(cell.startswith(("[{", "{")) for cell in self.counts[column])

    def is_marks(self, column: str) -> bool:
        """Return whether the known cells are marks, and one of them is yes or no."""
        marks = {cell.lower() for cell in self.known(column)}
        return bool(marks & {*YES, *NO}) and marks <= {*YES, *NO, *MINUS}

    def texts(self, columns: Sequence[str]) -> list[list[str]]:
        """Return the cells of some columns in all rows."""
        places = [self.table.header.index(name) for name in columns]
        return [[cells[place].strip() for place in places] for cells in self._whole()]

    def _whole(self) -> Iterator[list[str]]:
        """Yield the rows with a cell in each column; Unusable if the file is damaged in the first one."""
        none = True
        try:
            for _, cells in self.table.rows():
                none = False
                if len(cells) == len(self.table.header):
                    yield cells
        except Unusable:
            # reading the rows reports where the file is damaged
            if none:
                raise


def distinct(table: Table, column: str) -> set[str]:
    """Return the cells of a column, each once, up to where the file is damaged."""
    place, found = table.header.index(column), set[str]()
    with contextlib.suppress(Unusable):
        for _, cells in table.rows():
            found.update(cell.strip() for cell in cells[place : place + 1])
    return found


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
        found, count = _image(cells, index)
        counted_names = f"{count:,} of {cells.rows:,} rows name images of this folder"
        self.image = "".join(self._take(cells, "image", found, counted_names)[:1])
        if not self.image and (several := _several_files(cells, index)):
            raise Unusable(ONE_FILE, several)
        self.folders = self._folders(cells, index)
        self.table, cells.table = self.with_folders(self.table), self.with_folders(cells.table)
        split = _split(cells, may_ask=not cells.states_parts)
        unclear = [NONE] if split and _is_unclear(cells, split[0]) else []
        why = (
            "two numbers, the larger one in most rows: choose this column if that number means test"
            if unclear
            else BY_NAME
        )
        self.split = "".join(self._take(cells, "split", split, why, unclear))
        self.parts = self._parts(cells)
        named, four = _named_box(cells)
        self.box = self._take(cells, "box", four)
        self.size = self._take(cells, "size", _size(cells, self.box))
        self.group = "".join(self._take(cells, "group", [*cells.named(GROUP)][:1]))
        self.form, self.unit = self._form(cells, named) if self.box and self.image else (CORNERS, PIXELS)
        is_chosen = self._chosen["labels"] is not None
        proposed, as_good, why, less_good = (
            Labels([], [], "") if is_chosen else _labels(cells, bool(self.box))
        )
        others = [name if name == NONE else _quoted(name) for name in as_good]
        self.labels = self._take(cells, "labels", proposed, why, others, less_good)
        self.no = self._marks(cells)
        self.separator, why = separator_of(sum((cells.known(name) for name in self.labels), Counter[str]()))
        if self.labels and not self.no:
            self.separator = self._decide("separator of labels", "separator", self.separator, SEPARATORS, why)
        constant = self._take_numbers(cells)
        self.one_class = "" if self.labels or self.numbers or not self.box else ONE_CLASS
        if self.one_class:
            self.decisions.append(Decision("classes", ONE_CLASS, "no class column: one class for all boxes"))
        rest = [name for name in cells.free if not cells.is_empty(name) and name not in constant]
        if rest or self.table.unread:
            lost = listed([*rest, *self.table.unread], 20)
            why = f"{lost}: their names do not suggest labels, and they contain no numbers to order by"
            self.decisions.append(Decision("other columns", "not read", why))
        is_named = bool(self.no) or is_chosen or any(map(_is_label, self.labels))
        is_text = bool(self.box) or not all(map(cells.is_numeric, self.labels))
        self.standing = 2 if is_named else int(is_text)
        if not self.image or not (self.box or self.labels or self.numbers):
            came = "" if row == HEADER else "; the first row is data: add a header such as image,label"
            raise Unusable("columns that name images and describe them", ", ".join(table.header) + came)

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
            for cell in (cells.counts[self.image] if self.image else ())
            if len(images := index.nearest(cell, beside, part)) > 1
        }
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

    def _take_numbers(self, cells: Cells) -> list[str]:
        """Take the criteria; return the columns of numbers that are none because they have one value."""
        is_one = not self.image or len(cells.known(self.image)) < 2
        numeric = [] if cells.without_names else _numbers(cells)
        constant = [name for name in numeric if len(cells.known(name)) < 2 and not is_one]
        varied = [name for name in numeric if name not in constant]
        self.numbers = self._take(cells, "numbers", varied[:MAX_CRITERIA])
        constant = [name for name in constant if name in cells.free]
        if constant:
            why = f"the same in all rows: {listed(constant, 20)}"
            self.decisions.append(Decision("columns with one value", "no criterion", why))
        return constant

    def _parts(self, cells: Cells) -> dict[str, str | None]:
        """Return the part that each cell of the split column stands for; decide what numbers stand for."""
        if not self.split:
            return {}
        known, parts = cells.known(self.split), parts_of(self.split, cells.counts[self.split])
        if _part_numbers(known) and plain_name(self.split) not in FLAGS:
            words = ", ".join(f"{cell} is {parts[cell]}" for cell in sorted(known, key=float))
            counts = ", ".join(f"{cell} in {known[cell]:,} rows" for cell in sorted(known, key=float))
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
            evidence = (
                evidence if len(self.box) == 4 else f"the bounding boxes of the points in {self.box[0]}"
            )
        else:
            limits, slack = (
                self._limits([name for name, _ in rows], boxes, found),
                0.01 if found == SHARES else 1.0,
            )
            likely = CORNERS if len(self.box) == 4 and _has_gap(cells, self.box) else self.table.by_convention
            form, evidence, is_both = _form_that_fits(boxes, limits, slack, likely)
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
        unnamed = any(plain_name(name) not in LABELS and cells.is_marks(name) for name in labels)
        if len(labels) < 2 and (self.box or cells.without_names or not unnamed):
            return ()
        marks = {cell.lower() for name in labels for cell in cells.counts[name]}
        minus, zero = marks & {*MINUS}, marks & {*NO}
        words = "1 is yes, 0 is no"
        if minus:
            words = "-1 and empty cells are unknown" if zero else "-1 is no"
        self.decisions.append(
            Decision("marks", words, f"the cells of {counted(len(labels), 'label column')}")
        )
        return (*NO, *MINUS) if minus and not zero else NO


def _form_that_fits(boxes: Floats, limits: Floats, slack: float, likely: str) -> tuple[str, str, bool]:
    """Return the form by which most boxes lie inside their images, `likely` among equals; the evidence; and whether
    corners fit as well as widths and heights. slack: by how much rounded boxes may reach out."""
    low, high = boxes[:, :2], boxes[:, 2:]
    corners = (high > low).all(axis=1) & (high <= limits + slack).all(axis=1)
    extents = (high > 0).all(axis=1) & (low + high <= limits + slack).all(axis=1)
    fits = {CORNERS: int(corners.sum()), EXTENT: int(extents.sum())}
    form = max(fits, key=lambda form: (fits[form], form == likely))
    counts = "; ".join(f"{fits[form]:,} of {len(boxes):,} read as “{form}”" for form in fits)
    both = fits[CORNERS] == fits[EXTENT] == len(boxes)
    return form, f"boxes inside their images: {counts}", both


def stated_parts(table: Table, index: ImageNames) -> dict[str, str | None]:
    """Return the part of each image that a table of images and parts states; {} for another table."""
    is_data = bool(first_row_is_data(table, index))
    cells = Cells(table.without_header() if is_data else table, is_data)
    image, _ = _image(cells, index)
    cells.take(image)
    split = _split(cells)
    if not split or not image:
        return {}
    parts = parts_of(split[0], cells.counts[split[0]])
    rows = cells.texts([*image, *split])
    return {index.find(text): parts[cell] for text, cell in rows if index.knows(text)}


def class_names(table: Table, labels: Collection[str], index: ImageNames) -> dict[str, str]:
    """Return the name for each of `labels` by a table with a number or code, and a name, per row; {} for another
    table."""
    # the first row is harmless if it names the columns
    columns = list(zip(table.header, *(cells for _, cells in table.rows()), strict=False))
    columns = [column for column in columns if len(set(column)) == len(column)]
    codes = next((column for column in columns if labels and set(labels) <= set(column)), ())
    names = next((column for column in columns if column != codes and not any(map(index.knows, column))), ())
    if any(plain_number(name) is not None for name in names):
        return {}
    return {code: name for code, name in zip(codes, names, strict=False) if code in labels}


def first_row_is_data(table: Table, index: ImageNames) -> str:
    """Return why the first row is data and not a header; "" if it is a header.

    It is data if it names an image of the tree in the column in which most of the rows below do; where none does, in
    any column.
    """
    below = [0] * len(table.first)
    with contextlib.suppress(Unusable):
        for _, cells in itertools.islice(table.rows(), MAX_HEADER_ROWS):
            if len(cells) == len(below):
                below = [count + index.knows(cell.strip()) for count, cell in zip(below, cells, strict=True)]
    best = max(below, default=0)
    for cell, count in zip(map(str.strip, table.first), below, strict=True):
        is_number = plain_number(cell) is not None and not best
        if count == best and not is_number and plain_name(cell) not in IMAGE and index.knows(cell):
            return f"{cell} names an image"
    return ""


def _image(cells: Cells, index: ImageNames) -> tuple[list[str], int]:
    """Return the column in which the most cells name images of the tree, one with a usual name among equals, and how
    many; ([], 0) if there is none.

    Plain numbers count as names only in a column with a usual name, because any number may also be an image name.
    """
    if cells.images:
        return [cells.images], cells.rows
    counts = {}
    for column in sorted(cells.free, key=lambda column: plain_name(column) not in IMAGE):
        is_usual = plain_name(column) in IMAGE
        counts[column] = sum(
            count
            for cell, count in cells.counts[column].items()
            if (is_usual or plain_number(cell) is None) and index.knows(cell)
        )
    best = max(counts.values(), default=0)
    if best:
        column = max(counts, key=counts.__getitem__)
        known = cells.counts[column]
        return [column], sum(known[cell] for cell in known if index.knows(cell))
    if not index.fills_zeros:
        index.fills_zeros = True
        found, best = _image(cells, index)
        # of other numbers, such as those of classes, only some are names, or of few images
        if found and cells.known(found[0]).total() == best >= index.count / 4:
            return found, best
        index.fills_zeros = False
    return [], 0


def _several_files(cells: Cells, index: ImageNames) -> str:
    """Return a text about a column whose cells are mostly beginnings of the names of several images each; "" if there
    is none."""
    for column in cells.free:
        known = cells.known(column)
        several = [cell for cell in known if len(index.beginning(cell)) > 1]
        if several and 2 * len(several) > len(known):
            ends = sorted(base(name).removeprefix(several[0]) for name in index.beginning(several[0]))
            counts = f"{len(several):,} of {len(known):,} values fit several files each"
            return f"{column}: {counts}, by {listed(ends)}"
    return ""


def _named_box(cells: Cells) -> tuple[str, tuple[str, ...]]:
    """Return four columns and the form that their names imply; or "" and a column with four numbers per cell; or, in a
    table without names, "" and the first four columns of numbers beside each other."""
    for form, names in BOXES.items():
        for place, extent in itertools.product(names, ("",) if form == CORNERS else EXTENTS):
            columns = _with_common_words(cells, f"{place} {extent}".split())
            if columns and all(cells.is_numeric(name, LEAST_NUMERIC) for name in columns):
                return form, columns
    single = [column for column in cells.free if _is_box(cells.known(column))]
    outlines = [name for name in cells.named(OUTLINES) if name in single]
    if outlines and any(len(BOX_NUMBER.findall(cell)) > 4 for cell in cells.known(outlines[0])):
        return CORNERS, (outlines[0],)
    single = [
        name for name in single if all(len(BOX_NUMBER.findall(cell)) == 4 for cell in cells.known(name))
    ]
    if single or not cells.without_names:
        return "", tuple(single[:1])
    filled = [name for name in cells.counts if not cells.is_empty(name)]
    for start in range(len(filled) - 3):
        beside = tuple(filled[start : start + 4])
        if set(beside) <= set(cells.free) and all(map(cells.is_numeric, beside)):
            return "", beside
    return "", ()


def _with_common_words(cells: Cells, names: Sequence[str]) -> tuple[str, ...]:
    """Return the free columns of those names, which may all have the same words before or after them; () if there are
    none. Without such words, if there are both."""
    plain = [plain_name(column) for column in cells.free]
    before = [name.removesuffix(names[0]) for name in plain if name.endswith(names[0])]
    after = [name.removeprefix(names[0]) for name in plain if name.startswith(names[0])]
    affixes = [(word, "") for word in before if word not in NO_PREFIX] + [("", word) for word in after]
    for first, last in sorted(affixes, key=any):
        columns = tuple(cells.named(f"{first}{name}{last}" for name in names))
        if len(columns) == len(names):
            return columns
    return ()


def _has_gap(cells: Cells, box: tuple[str, ...]) -> bool:
    """Return whether empty columns separate the first two numbers from the last two, as those of two corners."""
    names = list(cells.counts)
    return names.index(box[2]) > names.index(box[1]) + 1


def _is_box(texts: Collection[str]) -> bool:
    return bool(texts) and all(box_numbers([cell]) is not None for cell in texts)


def box_numbers(cells: Sequence[str]) -> list[float] | None:
    """Return the four numbers of a box, from one cell or four, or the corners of the box around the points in a cell;
    None for anything else.

    >>> box_numbers(["[1, 2, 3.5, 4]"]), box_numbers(["1", "2", "3", "four"]), box_numbers(["[[1, 9], [5, 2], [3, 4]]"])
    ([1.0, 2.0, 3.5, 4.0], None, [1.0, 2.0, 5.0, 9.0])
    """
    if len(cells) == 1:
        has_words = re.search(r"[^\s\[\](),;]", BOX_NUMBER.sub("", cells[0]))
        texts = [] if has_words else BOX_NUMBER.findall(cells[0])
    else:
        texts = [cell for cell in cells if BOX_NUMBER.fullmatch(cell.strip())]
    numbers = list(map(float, texts))
    if len(cells) == 1 and len(numbers) > 4 and len(numbers) % 2 == 0:
        xs, ys = numbers[::2], numbers[1::2]
        return [min(xs), min(ys), max(xs), max(ys)]
    return numbers if len(numbers) == 4 else None


def _split(cells: Cells, may_ask: bool = False) -> list[str]:
    """Return a column with a usual name and words such as train, or one with nothing else but several of them, or
    whole numbers in a column or file whose name says so.

    Unusable if the numbers fit two readings, unless the user may be asked.
    """
    words = {name: {cell.lower() for cell in cells.known(name)} for name in cells.free}
    named = [name for name in cells.named(SPLIT) if any(map(part_word, cells.known(name)))]
    numbered = [
        name
        for name in cells.free
        if (cells.states_parts or is_numbered_split(name)) and _part_numbers(cells.known(name))
    ]
    if numbered[:1] and not may_ask and _is_unclear(cells, numbered[0]):
        came = f"two numbers in {readable(numbered[0])}, the larger one in most rows"
        raise Unusable("a column whose largest number is test; write train and test instead", came)
    named += numbered[:1]
    named += [name for name in cells.named(FLAGS) if cells.is_marks(name)]
    named += [
        name for name in cells.free if len(words[name] & {*PARTS}) > 1 and words[name] <= {*PARTS, *NO_PART}
    ]
    return named[:1]


def _size(cells: Cells, box: tuple[str, ...]) -> tuple[str, ...]:
    """Return two columns with usual names; in a table without names, the two columns of numbers after the box."""
    for names in SIZE:
        columns = tuple(cells.named(names))
        if len(columns) == 2 and all(cells.is_numeric(name, LEAST_NUMERIC) for name in columns):
            return columns
    numeric = [name for name in cells.free if cells.is_numeric(name)] if cells.without_names and box else []
    are_sizes = all(float(cell) > 1 for name in numeric for cell in cells.known(name))
    return tuple(numeric) if len(numeric) == 2 and are_sizes else ()


def _is_unclear(cells: Cells, split: str) -> bool:
    """Return whether the larger of two numbers may stand for train: the test part is rarely the larger one."""
    known = cells.known(split)
    numbers = _part_numbers(known)
    if plain_name(split) in FLAGS or len(numbers) != 2:
        return False
    return 2 * known[max(numbers, key=numbers.__getitem__)] > known.total()


def is_numbered_split(name: str) -> bool:
    """Return whether the name of a column or file says that it states parts or folds."""
    return not NUMBERED_SPLIT.isdisjoint(words_of(name))


def _is_label(column: str) -> bool:
    """Return whether the name of a column says that it contains labels."""
    return plain_name(column) in LABELS or not LABEL_WORDS.isdisjoint(words_of(column))


class Labels(NamedTuple):
    """The columns of labels, others that fit as well, the evidence, and others that fit less well."""

    columns: list[str]
    as_good: list[str]
    why: str
    further: Sequence[str] = ()


def _labels(cells: Cells, has_box: bool) -> Labels:
    """Return a column whose name says labels, otherwise the columns of marks, otherwise one with repeated texts.

    Unusable if it contains JSON, such as the regions in CSV files of Label Studio.
    """
    named = list(cells.named(LABELS))
    if (json := next(filter(cells.is_json, named), None)) is not None:
        raise Unusable("labels that are texts", f"JSON objects in {json}")
    # the last word of a name says what it is
    ends = [name for name in cells.free if (words_of(name) or [""])[-1] in LABEL_WORDS]
    contains = [name for name in cells.free if not LABEL_WORDS.isdisjoint(words_of(name))]
    texts_of = [
        [name for name in names if not cells.is_numeric(name) and not cells.is_empty(name)]
        for names in (named, ends, contains)
    ]
    said = list(dict.fromkeys([*texts_of[0], *texts_of[1]]))
    if likely := said or named[:1] or texts_of[2]:
        others = [name for name in likely[1:] if not LABEL_WORDS.isdisjoint(words_of(name))]
        as_good = [name for name in others if not _is_same(cells, likely[0], name)]
        why = f"its name suggests labels{f'; also possible: {listed(as_good)}' if as_good else ''}"
        further = [name for name in _repeated(cells, cells.free) if name != likely[0]]
        return Labels(likely[:1], as_good, why, further)
    if cells.without_names and not has_box and len(cells.free) == 1:
        return Labels(cells.free, [], "the only other column")
    marks = [column for column in cells.free if cells.is_marks(column) and may_order(column)]
    if marks and not has_box:
        return Labels(marks, [], "columns of yes and no")
    if repeated := _repeated(cells, cells.free):
        # where a box comes from is not what it shows
        is_origin = not ORIGIN_WORDS.isdisjoint(words_of(repeated[0]))
        none = [NONE] if has_box and is_origin else []
        return Labels(repeated[:1], [*repeated[1:], *none], "a text column with repeated values")
    # beside a box in a table without names, the only text is what the box shows
    texts = _texts(cells, cells.free) if cells.without_names and has_box else []
    return Labels(texts[:1], [], "the only text column")


def _texts(cells: Cells, columns: Iterable[str]) -> list[str]:
    return [
        name
        for name in dict.fromkeys(columns)
        if not cells.is_empty(name) and not cells.is_numeric(name) and not cells.is_json(name)
    ]


def _repeated(cells: Cells, columns: Iterable[str]) -> list[str]:
    """Return the columns of texts with repeated values, at most MAX_LABEL_COLUMNS: those with the fewest values first;
    identifiers and columns with one value only if there are no others."""
    counts = {
        name: (len(known), known.total()) for name in _texts(cells, columns) if (known := cells.known(name))
    }
    repeated = [name for name, (values, rows) in counts.items() if 2 * values <= rows]
    no_ids = [name for name in repeated if may_order(name) and ID_WORDS.isdisjoint(words_of(name))]
    # of groups, such as several pictures of a patient, each has few rows
    large = [name for name in no_ids if 1 < counts[name][0] <= 0.4 * counts[name][1]]
    return sorted(large or no_ids or repeated, key=lambda name: counts[name][0])[:MAX_LABEL_COLUMNS]


def _is_same(cells: Cells, column: str, other: str) -> bool:
    """Return whether two columns say the same in different words."""
    pairs = Counter((left, right) for left, right in cells.texts([column, other]))
    return len(pairs) == len({left for left, _ in pairs}) == len({right for _, right in pairs})


def _numbers(cells: Cells) -> list[str]:
    return [column for column in cells.free if may_order(column) and cells.is_numeric(column)]
