"""The cells of a table by column, and boxes in cells."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ranking.files import Unusable
from ranking.files.tree import stem
from ranking.formats.column_names import is_numbered_split, plain_name
from ranking.formats.table_file import CROSSES, MINUS, NO, UNKNOWN, YES, Table, number, plain_number

# rows whose cells are counted at a time
COUNTED = 10_000


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
        """Return whether at least that share of the known cells are numbers."""
        known = self.known(column)
        numbers = sum(count for cell, count in known.items() if plain_number(cell) is not None)
        return bool(known) and numbers >= share * known.total()

    def strays(self, column: str) -> list[str]:
        """Return the known cells that are no finite numbers."""
        return [cell for cell in self.known(column) if number(cell) is None]

    def is_json(self, column: str) -> bool:
        """Return whether a cell contains JSON objects."""
        return any(cell.startswith(("[{", "{")) for cell in self.counts[column])

    def is_marks(self, column: str) -> bool:
        """Return whether the known cells are marks, and one of them is yes or no; or whether all are crosses."""
        marks = {cell.lower() for cell in self.known(column)}
        others = {*YES, *NO, *MINUS}.difference(CROSSES)
        return bool(marks & {*YES, *NO}) and (marks <= others or marks <= {*CROSSES})

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


BOX_NUMBER = re.compile(
    r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf)", re.ASCII | re.IGNORECASE
)


def box_numbers(cells: Sequence[str]) -> list[float] | None:
    """Return the four numbers of a box, from one cell or four, or the corners of the box around the points in a cell;
    None for anything else.

    >>> box_numbers(["[1, 2, 3.5, 4]"]), box_numbers(["1", "2", "3", "four"]), box_numbers(["[[1, 9], [5, 2], [3, 4]]"])
    ([1.0, 2.0, 3.5, 4.0], None, [1.0, 2.0, 5.0, 9.0])
    """
    if len(cells) == 1:
        has_words = re.search(r"[^\s\[\](),;]", BOX_NUMBER.sub("", cells[0]))
        numbers = [] if has_words else list(map(float, BOX_NUMBER.findall(cells[0])))
    else:
        numbers = [value for value in map(plain_number, cells) if value is not None]
    if len(cells) == 1 and len(numbers) > 4 and len(numbers) % 2 == 0:
        xs, ys = numbers[::2], numbers[1::2]
        return [min(xs), min(ys), max(xs), max(ys)]
    return numbers if len(numbers) == 4 else None
