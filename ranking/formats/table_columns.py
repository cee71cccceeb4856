"""The roles of the columns in a table of images: chosen in settings, or proposed from names and contents."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ranking.core.settings import setting
from ranking.core.text import listed
from ranking.datasets.folder import MAX_CRITERIA
from ranking.datasets.splits import PARTS
from ranking.files import Unusable
from ranking.formats.image_names import ImageNames
from ranking.formats.table_file import MAX_COLUMNS, UNKNOWN, plain_number

# ----------------------------------------------------- Usual names, in lower case without separators

CORNERS, EXTENT, MIDDLE = "left, top, right, bottom", "left, top, width, height", "middle, width, height"
FORMS = (CORNERS, EXTENT, MIDDLE)
PIXELS, SHARES = "pixels", "shares of the image"

IMAGE = (
    "image", "imagename", "imageid", "imagepath", "imagefile", "img", "imgname", "imgpath", "file", "filename",
    "filepath", "fname", "name", "path", "photo", "picture", "id",
)  # fmt: skip
LABELS = (
    "labels", "tags", "label", "classes", "class", "concepts", "classname", "category", "categories",
    "categoryname", "labelname", "target", "species", "name",
)  # fmt: skip
GROUP = (
    "group", "groupid", "video", "videoid", "track", "trackid", "patient", "patientid", "subject", "subjectid",
    "sequence", "clip", "session", "scene",
)  # fmt: skip
SPLIT = ("split", "subset", "part", "set", "partition", "usage")
SIZE = (("imagewidth", "imageheight"), ("imgwidth", "imgheight"), ("width", "height"))
# if there are both, width and height are those of the image
EXTENTS = (("w", "h"), ("width", "height"))
BOXES = {
    CORNERS: (
        ("left", "top", "right", "bottom"),
        ("xmin", "ymin", "xmax", "ymax"),
        ("x1", "y1", "x2", "y2"),
        ("x0", "y0", "x1", "y1"),
        ("xtl", "ytl", "xbr", "ybr"),
        ("minx", "miny", "maxx", "maxy"),
    ),
    EXTENT: tuple(
        (*place, *extent)
        for place in (("left", "top"), ("x", "y"), ("xmin", "ymin"), ("x1", "y1"))
        for extent in EXTENTS
    ),
    MIDDLE: tuple(
        (*place, *extent)
        for place in (("xcenter", "ycenter"), ("xcentre", "ycentre"), ("centerx", "centery"), ("cx", "cy"))
        for extent in EXTENTS
    ),
}
PREFIXES = ("", "bbox", "box", "boundingbox", "bb")
NO_NUMBERS = (
    "id", "index", "idx", "unnamed0", "iscrowd", "difficult", "occluded", "truncated", "segmented", "depth",
    "isoccluded", "istruncated", "isgroupof", "isdepiction", "isinside",
)  # fmt: skip
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


# of the cells of a column whose name is usual for boxes or sizes
LEAST_NUMERIC = 0.5
BOX_NUMBER = re.compile(
    r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf)", re.ASCII | re.IGNORECASE
)

# ---------------------------------------------------------------------------- Roles, and settings that choose columns

# the text of a setting for a role without a column
NONE = "-"


class Role(NamedTuple):
    """The setting that names the columns of a role, its label, and the allowed numbers of columns."""

    setting: str
    label: str
    counts: Sequence[int]


ROLES = {
    "image": Role("image_column", "Image column", (1,)),
    "box": Role("box_columns", "Box columns", (0, 1, 4)),
    "labels": Role("label_columns", "Label columns", range(MAX_COLUMNS)),
    "numbers": Role("number_columns", "Criterion columns", range(MAX_CRITERIA + 1)),
    "group": Role("group_column", "Group column", (0, 1)),
    "split": Role("split_column", "Split column", (0, 1)),
    "size": Role("size_columns", "Image size columns", (0, 2)),
}


def role_setting(role: str, help: str) -> Any:
    """Return the setting that names the columns of `role`. help: what they contain."""
    how = "Separate names by commas. Empty: chosen from names and contents. -: none."
    return setting("", label=ROLES[role].label, help=f"{help} {how}", advanced=True)


def chosen_columns(text: str, header: Sequence[str], role: Role) -> tuple[str, ...] | None:
    """Return the columns that a setting names; None if it is empty, () if it is "-".

    >>> chosen_columns(" a, c", ["a", "b", "c"], ROLES["labels"]), chosen_columns("", ["a"], ROLES["box"])
    (('a', 'c'), None)
    """
    if not text.strip():
        return None
    names = names_in(text)
    if len(set(names)) < len(names) or not set(names) <= set(header):
        raise Unusable(f"{role.label}: different names among {listed(list(header), 20)}", text)
    if len(names) not in role.counts:
        counts = f"up to {role.counts[-1]}" if len(role.counts) > 3 else " or ".join(map(str, role.counts))
        raise Unusable(f"{role.label}: {counts}", f"{len(names)}")
    return names


def names_in(text: str) -> tuple[str, ...]:
    """Return the names in the text of such a setting, even if there are no such columns.

    >>> names_in('a, "b, c"'), names_in("-")
    (('a', 'b, c'), ())
    """
    cells = [] if text.strip() == NONE else next(csv.reader([text], skipinitialspace=True), [])
    return tuple(filter(None, map(str.strip, cells)))


def as_setting(columns: Sequence[str]) -> str:
    """Return the text that `chosen_columns` reads as those columns.

    >>> as_setting(("a", "b, c")), as_setting(()), as_setting(("-",))
    ('a, "b, c"', '-', '"-"')
    """
    return ", ".join(map(_quoted, columns)) or NONE


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if name == NONE or set(name) & set(',"') else name


class Columns(NamedTuple):
    """The columns of each role. box: four columns, one column with four numbers per cell, or none.

    form: one of FORMS. unit: PIXELS or SHARES. marked: whether each column of `labels` stands for one label and
    contains 0 and 1.
    """

    image: str
    box: tuple[str, ...]
    form: str
    unit: str
    labels: tuple[str, ...]
    marked: bool
    group: str | None
    split: str | None
    size: tuple[str, ...]
    numbers: tuple[str, ...]

    def in_words(self) -> str:
        """Return a sentence about the columns."""
        parts = [f"{self.image} names the images"]
        parts += [f"boxes: {', '.join(self.box)} ({self.box_words()})"] if self.box else []
        if self.labels:
            names = listed(list(self.labels))
            parts += [f"labels, marked 0 or 1: {names}" if self.marked else f"labels: {names}"]
        parts += [f"group: {self.group}"] if self.group else []
        parts += [f"split: {self.split}"] if self.split else []
        parts += [f"criteria: {listed(list(self.numbers))}"] if self.numbers else []
        return "; ".join(parts)

    def box_words(self) -> str:
        return f"{self.form}, in {self.unit}" if self.box else ""

    def settings(self) -> dict[str, str]:
        """Return the settings that choose these columns."""
        named = {"image": (self.image,), "box": self.box, "labels": self.labels, "numbers": self.numbers}
        named |= {
            role: (name,) if name else () for role, name in (("group", self.group), ("split", self.split))
        }
        return {role.setting: as_setting({**named, "size": self.size}[name]) for name, role in ROLES.items()}


# ------------------------------------------------------------------------------- Proposals from names and contents


class Sample:
    """The first rows of a table, by column. free: the columns without a role so far, in order."""

    def __init__(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        self.cells = {name: [row[place].strip() for row in rows] for place, name in enumerate(header)}
        self.free = [name for name in header if name]

    def take(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Return the same columns, and remove them from `free`."""
        taken = tuple(columns)
        self.free = [name for name in self.free if name not in taken]
        return taken

    def named(self, names: Iterable[str]) -> Iterator[str]:
        """Yield the free columns of those names, in the order of the names."""
        plain = {plain_name(name): name for name in reversed(self.free)}
        return (plain[name] for name in names if name in plain)

    def known(self, column: str) -> list[str]:
        """Return the cells with a known value."""
        return [cell for cell in self.cells[column] if cell.lower() not in UNKNOWN]

    def is_numeric(self, column: str, share: float = 1) -> bool:
        """Return whether at least that share of the known cells are finite numbers."""
        numbers = [plain_number(cell) for cell in self.known(column)]
        finite = sum(number is not None and math.isfinite(number) for number in numbers)
        return bool(numbers) and finite >= share * len(numbers)

    def is_json(self, column: str) -> bool:
        """Return whether a cell contains JSON objects."""
        return any(cell.startswith(("[{", "{")) for cell in self.cells[column])

    def is_marks(self, column: str) -> bool:
        """Return whether all cells are 0 or 1."""
        return bool(self.cells[column]) and set(self.cells[column]) <= {"0", "1"}


def propose(
    sample: Sample, index: ImageNames, chosen: Mapping[str, tuple[str, ...] | None]
) -> Columns | None:
    """Return the columns of each role: the `chosen` columns or, for None, a proposal from names and contents.

    None if no column names images, or no column describes them. A column has one role.
    """
    for names in chosen.values():
        sample.take(names or ())

    def columns_of(role: str, proposed: Callable[[Sample], Iterable[str]]) -> tuple[str, ...]:
        names = chosen[role]
        return sample.take(proposed(sample)) if names is None else names

    image = columns_of("image", lambda sample: _image(sample, index))
    if len(image) != 1:
        return None
    form, box = _named_box(sample) if chosen["box"] is None else (None, chosen["box"])
    sample.take(box)
    unit, form = _unit(sample, box), form or _form(sample, box)
    split = columns_of("split", _split)
    group = columns_of("group", lambda sample: list(sample.named(GROUP))[:1])
    size = columns_of("size", _size)
    labels = columns_of("labels", lambda sample: _labels(sample, bool(box)))
    numbers = columns_of("numbers", _numbers)
    if not box and not labels and not numbers:
        return None
    marked = len(labels) > 1 or any(
        plain_name(name) not in LABELS and sample.is_marks(name) for name in labels
    )
    return Columns(
        image=image[0],
        box=box,
        form=form,
        unit=unit,
        labels=labels,
        marked=marked,
        group=next(iter(group), None),
        split=next(iter(split), None),
        size=size,
        numbers=numbers,
    )


def _image(sample: Sample, index: ImageNames) -> list[str]:
    """Return the column in which the most cells name images of the tree; among equal columns, one with a usual name.

    Plain numbers count as names only in a column with a usual name, because any number may also be an image name.
    """
    counts = {}
    for column in sample.free:
        is_usual = plain_name(column) in IMAGE
        names = [cell for cell in sample.cells[column] if is_usual or plain_number(cell) is None]
        counts[column] = sum(map(index.knows, names))
    best = max(counts.values(), default=0)
    columns = [column for column in sample.free if best and counts[column] == best]
    return sorted(columns, key=lambda column: plain_name(column) not in IMAGE)[:1]


def _named_box(sample: Sample) -> tuple[str | None, tuple[str, ...]]:
    """Return four columns and the form that their names imply, or None and a column with four numbers per cell."""
    for form, names in BOXES.items():
        for prefix in PREFIXES:
            for four in names:
                columns = tuple(sample.named(prefix + name for name in four))
                if len(columns) == 4 and all(sample.is_numeric(name, LEAST_NUMERIC) for name in columns):
                    return form, columns
    single = [column for column in sample.free if _is_box(sample.known(column))]
    return None, tuple(single[:1])


def _is_box(cells: Sequence[str]) -> bool:
    return bool(cells) and all(box_numbers([cell]) is not None for cell in cells)


def box_numbers(cells: Sequence[str]) -> list[float] | None:
    """Return the four numbers of a box, from one cell or four; None for anything else.

    >>> box_numbers(["[1, 2, 3.5, 4]"]), box_numbers(["1", "2", "3", "four"])
    ([1.0, 2.0, 3.5, 4.0], None)
    """
    if len(cells) == 1:
        has_words = re.search(r"[^\s\[\](),;]", BOX_NUMBER.sub("", cells[0]))
        texts = [] if has_words else BOX_NUMBER.findall(cells[0])
    else:
        texts = [cell for cell in cells if BOX_NUMBER.fullmatch(cell.strip())]
    return list(map(float, texts)) if len(texts) == 4 else None


def _boxes(sample: Sample, box: tuple[str, ...]) -> list[list[float]]:
    rows = zip(*(sample.cells[column] for column in box), strict=True)
    return [numbers for numbers in map(box_numbers, rows) if numbers is not None]


def _form(sample: Sample, box: tuple[str, ...]) -> str:
    """Return the form with width and height unless the last two numbers always exceed the first two."""
    boxes = _boxes(sample, box)
    corners = all(right > left and bottom > top for left, top, right, bottom in boxes)
    return CORNERS if corners else EXTENT


def _unit(sample: Sample, box: tuple[str, ...]) -> str:
    """Return SHARES if no number exceeds 1, because boxes are larger than one pixel."""
    numbers = [abs(number) for edges in _boxes(sample, box) for number in edges]
    return SHARES if numbers and max(numbers) <= 1 else PIXELS


def _split(sample: Sample) -> list[str]:
    named = list(sample.named(SPLIT))
    return [column for column in named if any(cell.lower() in PARTS for cell in sample.cells[column])][:1]


def _size(sample: Sample) -> tuple[str, ...]:
    for names in SIZE:
        columns = tuple(sample.named(names))
        if len(columns) == 2 and all(sample.is_numeric(name, LEAST_NUMERIC) for name in columns):
            return columns
    return ()


def _labels(sample: Sample, has_box: bool) -> list[str]:
    """Return a column with a usual name, otherwise the columns of 0 and 1, otherwise the first with repeated texts.

    Unusable if it contains JSON, such as the regions in CSV files of Label Studio.
    """
    named = list(sample.named(LABELS))
    if (json := next(filter(sample.is_json, named), None)) is not None:
        raise Unusable("labels that are texts", f"JSON objects in {json}")
    if named:
        return ([column for column in named if not sample.is_numeric(column)] or named)[:1]
    marks = [column for column in sample.free if sample.is_marks(column) and may_order(column)]
    if marks and not has_box:
        return marks
    for column in sample.free:
        texts = sample.known(column)
        is_text = not sample.is_numeric(column) and not sample.is_json(column)
        if texts and is_text and 2 * len(set(texts)) <= len(texts):
            return [column]
    return []


def _numbers(sample: Sample) -> list[str]:
    numeric = [column for column in sample.free if may_order(column) and sample.is_numeric(column)]
    return numeric[:MAX_CRITERIA]
