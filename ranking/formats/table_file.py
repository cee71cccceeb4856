"""Imported tables as CSV, TSV or Parquet: the names of columns, rows as text, and the values of cells.

Rows are read one after the other and not stored here.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ranking.core.text import readable, unique_name
from ranking.files import FileTree, Limits, Unusable
from ranking.files.limits import megabytes
from ranking.files.opening import TABLES
from ranking.files.parquet import batches, item_type, open_parquet
from ranking.files.tree import suffix

MAX_COLUMNS = 1_002
DECIMAL = re.compile(r"\s*[-+]?\d*,\d+(?:[eE][-+]?\d+)?\s*", re.ASCII)
# cells without a value
UNKNOWN = ("", "?", "na", "n/a", "nan", "none", "null")
Rows = Iterator[tuple[int, list[str]]]


@dataclass(frozen=True)
class Table:
    """header: as in the file. rows: returns a new iterator over the number and the cells of each row; it raises
    Unusable where the file is damaged. counts: what the numbers count, "line" or "row".
    """

    header: tuple[str, ...]
    rows: Callable[[], Rows]
    counts: str = "line"

    def first(self, count: int) -> list[list[str]]:
        """Return the cells of the first rows that have a cell for each column."""
        whole = (cells for _, cells in self.rows() if len(cells) == len(self.header))
        return list(itertools.islice(whole, count))


def is_table(name: str) -> bool:
    """Return whether a file name has the suffix of a table."""
    return suffix(name) in TABLES


def read_table(tree: FileTree, name: str, limits: Limits) -> Table:
    """Return the table of that name in a tree; Unusable if it is no table, or exceeds the limits."""
    data = tree.read(name, limits.table_bytes, "a table", "table_bytes")
    return parquet_table(data, limits) if suffix(name) == ".parquet" else text_table(data, name)


def text_table(data: bytes, name: str = "", mark: str = "") -> Table:
    """Return the CSV or TSV in `data`. mark: the separator of cells; "": comma, semicolon or tab, whichever gives the
    most cells in the first line. With semicolons or tabs, numbers may have a decimal comma, as spreadsheets write them.

    >>> text_table(b"image;year\\na.jpg;1957").first(1)
    [['a.jpg', '1957']]
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        came = f"another encoding at byte {error.start}; in a spreadsheet, save the table as “CSV UTF-8”"
        raise Unusable("text in UTF-8", came) from error
    mark = mark or _mark(text[: text.find("\n")] if "\n" in text else text, name)

    def lines() -> Rows:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
        try:
            for cells in reader:
                yield reader.line_num, cells if mark == "," else [_with_point(cell) for cell in cells]
        except csv.Error as error:
            raise Unusable(f"comma-separated values, line {reader.line_num}", str(error)) from error

    header = next((cells for _, cells in lines()), [])
    return Table(_header(header), lambda: (row for row in itertools.islice(lines(), 1, None) if row[1]))


def _header(names: Sequence[str]) -> tuple[str, ...]:
    if len(names) > MAX_COLUMNS:
        raise Unusable(f"at most {MAX_COLUMNS:,} columns", f"{len(names):,}")
    return tuple(map(unique_name, names))


def _with_point(cell: str) -> str:
    """
    >>> _with_point(" -1,5"), _with_point("1,5 km")
    (' -1.5', '1,5 km')
    """
    return cell.replace(",", ".") if DECIMAL.fullmatch(cell) else cell


def _mark(first: str, name: str) -> str:
    marks = ("\t", ",", ";") if suffix(name) == ".tsv" else (",", ";", "\t")

    def cells(mark: str) -> int:
        try:
            return len(next(csv.reader([first], delimiter=mark), []))
        except csv.Error:
            # the import reports the reason
            return 0

    return max(marks, key=cells)


def parquet_table(data: bytes, limits: Limits) -> Table:
    """Return the Parquet in `data`: its columns of numbers, texts, and lists of these."""
    file = open_parquet(io.BytesIO(data))
    groups = [file.metadata.row_group(index) for index in range(file.metadata.num_row_groups)]
    size = sum(group.total_byte_size for group in groups)
    if size > limits.table_bytes:
        came = f"one of {size / 2**20:,.0f} MB"
        raise Unusable(f"a table of at most {megabytes(limits.table_bytes, 'table_bytes')}", came)
    names = [field.name for field in file.schema_arrow if _is_plain(item_type(field.type) or field.type)]

    def rows() -> Rows:
        columns = ((column.to_pylist() for column in batch.columns) for batch in batches(file, names))
        cells = itertools.chain.from_iterable(zip(*batch, strict=True) for batch in columns)
        return ((place, list(map(_cell, row))) for place, row in enumerate(cells, 1))

    return Table(_header(names), rows, "row")


def _is_plain(type_: Any) -> bool:
    from pyarrow import types

    return not types.is_nested(type_)


def _cell(value: Any) -> str:
    """
    >>> _cell(None), _cell(True), _cell(1.5), _cell(["a", 2])
    ('', '1', '1.5', 'a; 2')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return "; ".join(map(_cell, value)) if isinstance(value, list) else str(value)


# ---------------------------------------------------------------------------------------------------- Cells


def listed_labels(cell: str) -> tuple[str, ...]:
    """Return the labels of a cell, each once.

    >>> listed_labels("sea; sun|sea")
    ('sea', 'sun')
    """
    labels = map(unique_name, cell.replace("|", ";").split(";"))
    return tuple(dict.fromkeys(filter(None, labels)))


def marked_labels(marks: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the labels of the pairs (label, cell) whose cell is 1; Unusable if a cell is neither 0 nor 1.

    >>> marked_labels([("sea", "1"), ("sun", " 0")])
    ('sea',)
    """
    stripped = [(label, mark.strip()) for label, mark in marks]
    for label, mark in stripped:
        if mark not in ("0", "1"):
            raise Unusable("labels marked 0 or 1", readable(f"{label}: {mark!r:.20}"))
    return tuple(label for label, mark in stripped if mark == "1")


def number(criterion: str, cell: str) -> float:
    """Return the number in a cell, NaN if it is unknown; Unusable for anything else.

    >>> number("year", " 1957 "), number("year", "NA")
    (1957.0, nan)
    """
    text = cell.strip()
    if text.lower() in UNKNOWN:
        return math.nan
    value = plain_number(text)
    if value is None or not math.isfinite(value):
        raise Unusable("finite numbers, or ? where unknown", readable(f"{criterion}: {text!r:.20}"))
    return value


def plain_number(text: str) -> float | None:
    """Return `text` as a number, which may be infinite or NaN; None if it is no number, such as 0012_3, which Python
    would accept.

    >>> plain_number("1e3"), plain_number("12 km"), plain_number("0012_3")
    (1000.0, None, None)
    """
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None
