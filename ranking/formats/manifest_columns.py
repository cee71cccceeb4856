"""Which column of a manifest tells what: as a person says, and else proposed from names and contents."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ranking.core.text import listed
from ranking.datasets.folder import MAX_CRITERIA
from ranking.datasets.splits import PARTS
from ranking.files import Unusable
from ranking.formats.image_names import ImageNames
from ranking.formats.manifest_names import (
    BOXES,
    CORNERS,
    EXTENT,
    GROUP,
    IMAGE,
    LABELS,
    PIXELS,
    PREFIXES,
    SHARES,
    SIZE,
    SPLIT,
    may_order,
    plain_name,
)
from ranking.formats.table_cells import UNKNOWN, plain_number

MOST = 0.5  # of the cells of columns that are called as those of boxes are
BOX_NUMBER = re.compile(
    r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf)", re.ASCII | re.IGNORECASE
)


class Columns(NamedTuple):
    """The names of the columns of each role. box: four, one whose cells hold four numbers, or none; size: two or none.

    form: one of FORMS. unit: PIXELS or SHARES. label: whose cells hold labels; marks: one for each label, of 0 and 1.
    """

    image: str
    box: tuple[str, ...]
    form: str
    unit: str
    label: str | None
    marks: tuple[str, ...]
    group: str | None
    split: str | None
    size: tuple[str, ...]
    numbers: tuple[str, ...]

    def in_words(self) -> str:
        """What they are, for a person."""
        told = [f"{self.image} names the images"]
        told += [f"{', '.join(self.box)} the boxes ({self.form}, in {self.unit})"] if self.box else []
        told += [f"{self.label} the labels"] if self.label else []
        told += [f"{listed(list(self.marks))} mark labels"] if self.marks else []
        told += [f"{self.group} the group"] if self.group else []
        told += [f"{self.split} the split"] if self.split else []
        told += [f"{listed(list(self.numbers))} numbers to order by"] if self.numbers else []
        return ", ".join(told)


class Sample:
    """The first rows of a table, by column. `free`: the columns that have no role yet, in order."""

    def __init__(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        self.cells = {name: [row[place].strip() for row in rows] for place, name in enumerate(header)}
        self.free = [name for name in header if name]

    def take(self, columns: Iterable[str]) -> tuple[str, ...]:
        """The same; they are free no more."""
        taken = tuple(columns)
        self.free = [name for name in self.free if name not in taken]
        return taken

    def called(self, names: Iterable[str]) -> Iterator[str]:
        """The free columns of those names, in the order of the names."""
        plain = {plain_name(name): name for name in reversed(self.free)}
        return (plain[name] for name in names if name in plain)

    def told(self, column: str) -> list[str]:
        """The cells that say something."""
        return [cell for cell in self.cells[column] if cell.lower() not in UNKNOWN]

    def is_numeric(self, column: str, share: float = 1) -> bool:
        """Whether so many of the cells that say something are numbers."""
        numbers = [plain_number(cell) for cell in self.told(column)]
        finite = sum(one is not None and math.isfinite(one) for one in numbers)
        return bool(numbers) and finite >= share * len(numbers)

    def is_json(self, column: str) -> bool:
        """Whether cells hold objects of JSON."""
        return any(cell.startswith(("[{", "{")) for cell in self.cells[column])

    def is_marks(self, column: str) -> bool:
        return bool(self.cells[column]) and set(self.cells[column]) <= {"0", "1"}


def propose(
    sample: Sample, index: ImageNames, chosen: Mapping[str, tuple[str, ...] | None]
) -> Columns | None:
    """The columns of each role: those `chosen`, by role, and for None what names and contents say.

    None where no column names images, or none tells anything of them. A column has one role.
    """
    for told in chosen.values():
        sample.take(told or ())

    def role(name: str, proposed: Callable[[Sample], Iterable[str]]) -> tuple[str, ...]:
        told = chosen[name]
        return sample.take(proposed(sample)) if told is None else told

    image = role("image", lambda sample: _image(sample, index))
    if len(image) != 1:
        return None
    form, box = _named_box(sample) if chosen["box"] is None else (None, chosen["box"])
    sample.take(box)
    unit, form = _unit(sample, box), form or _form(sample, box)
    split = role("split", _split)
    group = role("group", lambda sample: list(sample.called(GROUP))[:1])
    size = role("size", _size)
    labels = role("labels", lambda sample: _labels(sample, bool(box)))
    numbers = role("numbers", _numbers)
    if not box and not labels and not numbers:
        return None
    return Columns(
        image=image[0],
        box=box,
        form=form,
        unit=unit,
        label=None if _are_marks(sample, labels) else labels[0],
        marks=labels if _are_marks(sample, labels) else (),
        group=next(iter(group), None),
        split=next(iter(split), None),
        size=size,
        numbers=numbers,
    )


def _are_marks(sample: Sample, labels: Sequence[str]) -> bool:
    """Whether each of the columns is of one label."""
    return len(labels) != 1 or (plain_name(labels[0]) not in LABELS and sample.is_marks(labels[0]))


def _image(sample: Sample, index: ImageNames) -> list[str]:
    """The column whose cells are found the most often among the images; of equal ones, one that is called so.

    Plain numbers are names only where the column is called so: every row has some that an image may be called too.
    """
    found = {}
    for column in sample.free:
        named = plain_name(column) in IMAGE
        names = [cell for cell in sample.cells[column] if named or plain_number(cell) is None]
        found[column] = sum(map(index.knows, names))
    best = max(found.values(), default=0)
    columns = [column for column in sample.free if best and found[column] == best]
    return sorted(columns, key=lambda column: plain_name(column) not in IMAGE)[:1]


def _named_box(sample: Sample) -> tuple[str | None, tuple[str, ...]]:
    """Four columns and the form that their names tell; or one with four numbers a cell, whose form is not told."""
    for form, names in BOXES.items():
        for prefix in PREFIXES:
            for four in names:
                columns = tuple(sample.called(prefix + name for name in four))
                if len(columns) == 4 and all(sample.is_numeric(one, MOST) for one in columns):
                    return form, columns
    single = [column for column in sample.free if _is_box(sample.told(column))]
    return None, tuple(single[:1])


def _is_box(cells: Sequence[str]) -> bool:
    return bool(cells) and all(len(BOX_NUMBER.findall(cell)) == 4 and not _words(cell) for cell in cells)


def _words(cell: str) -> bool:
    return bool(re.search(r"[^\s\[\](),;]", BOX_NUMBER.sub("", cell)))


def box_numbers(cells: Sequence[str]) -> list[float] | None:
    """The four numbers of the cells of a box, one cell or four; None for anything else."""
    if len(cells) == 1:
        told = BOX_NUMBER.findall(cells[0]) if not _words(cells[0]) else []
        return [float(one) for one in told] if len(told) == 4 else None
    numbers = [float(cell) for cell in cells if BOX_NUMBER.fullmatch(cell.strip())]
    return numbers if len(numbers) == 4 else None


def _boxes(sample: Sample, box: tuple[str, ...]) -> list[list[float]]:
    rows = zip(*(sample.cells[column] for column in box), strict=True)
    return [numbers for numbers in map(box_numbers, rows) if numbers is not None]


def _form(sample: Sample, box: tuple[str, ...]) -> str:
    """Width and height where the last two are not always beyond the first two."""
    corners = all(one[2] > one[0] and one[3] > one[1] for one in _boxes(sample, box))
    return CORNERS if corners else EXTENT


def _unit(sample: Sample, box: tuple[str, ...]) -> str:
    """Shares where no number is beyond 1: boxes of a pixel at most are none."""
    numbers = [number for one in _boxes(sample, box) for number in one]
    return SHARES if numbers and max(map(abs, numbers)) <= 1 else PIXELS


def _split(sample: Sample) -> list[str]:
    named = list(sample.called(SPLIT))
    return [column for column in named if any(cell.lower() in PARTS for cell in sample.cells[column])][:1]


def _size(sample: Sample) -> tuple[str, ...]:
    for names in SIZE:
        columns = tuple(sample.called(names))
        if len(columns) == 2 and all(sample.is_numeric(one, MOST) for one in columns):
            return columns
    return ()


def _labels(sample: Sample, has_box: bool) -> list[str]:
    """A column that is called so, else those of 0 and 1, else the first whose texts come again.

    Unusable where that holds JSON, as the regions of Label Studio's CSV are.
    """
    named = list(sample.called(LABELS))
    if (json := next(filter(sample.is_json, named), None)) is not None:
        raise Unusable("labels that are texts", f"objects of JSON in {json}")
    texts = [column for column in named if not sample.is_numeric(column)]
    if named:
        return (texts or named)[:1]
    marks = [column for column in sample.free if sample.is_marks(column) and may_order(column)]
    if marks and not has_box:
        return marks
    for column in sample.free:
        told = sample.told(column)
        if (
            told
            and not sample.is_numeric(column)
            and not sample.is_json(column)
            and 2 * len(set(told)) <= len(told)
        ):
            return [column]
    return []


def _numbers(sample: Sample) -> list[str]:
    return [column for column in sample.free if may_order(column) and sample.is_numeric(column)][
        :MAX_CRITERIA
    ]
