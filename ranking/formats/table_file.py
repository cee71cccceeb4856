"""Imported tables (CSV, TSV, Parquet, JSON lines, Excel): names of columns, rows as text, and values of cells.

Rows are read one after the other and not stored here.
"""

from __future__ import annotations

import ast
import codecs
import contextlib
import csv
import io
import itertools
import json
import math
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from ranking.core import Decision
from ranking.core.text import counted, listed, readable, unique_name
from ranking.files import FileTree, Limits, Unusable
from ranking.files.archive_names import AS_FOUND, decoded
from ranking.files.limits import megabytes
from ranking.files.opening import TABLES
from ranking.files.parquet import batches, item_type, open_parquet
from ranking.files.tree import suffix
from ranking.formats.parquet_images import class_names, image_column

MAX_COLUMNS = 1_002
DECIMAL = re.compile(r"\s*[-+]?\d*,\d+(?:[eE][-+]?\d+)?\s*", re.ASCII)
# a number with points between thousands and a decimal comma, and one without the comma
THOUSANDS = re.compile(r"\s*[-+]?\d{1,3}(?:\.\d{3})+,\d+\s*", re.ASCII)
WHOLE_THOUSANDS = re.compile(r"\s*[-+]?\d{1,3}(?:\.\d{3})+\s*", re.ASCII)
# rows that decide whether the header lacks a name
MAX_ROWS = 1_000
# lines that a title may have
MAX_TITLE = 100
# of the usual number of cells, how many a header has at least
HEADER_SHARE = 0.6
# the form of boxes of x, y, width and height
EXTENT = "left, top, width, height"
# cells without a value
UNKNOWN = ("", "?", "na", "n/a", "nan", "none", "null")
# and of labels: “none” may be a class
NO_LABEL = tuple(mark for mark in UNKNOWN if mark != "none")
Rows = Iterator[tuple[int, list[str]]]


@dataclass(frozen=True)
class Table:
    """header: as in the file. rows: returns a new iterator over the number and the cells of each row; it raises
    Unusable where the file is damaged. first: the cells of the first
    line where it may be data; () where names of columns are certain. by_convention: the form of boxes that a file of
    this kind states, "" if it states none. images: the column of images that the table contains. unread: columns that
    cannot be read. decisions: how the file was read. name: of the file.
    """

    header: tuple[str, ...]
    rows: Callable[[], Rows]
    first: tuple[str, ...] = ()
    by_convention: str = ""
    images: str = ""
    unread: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    name: str = ""

    def without_header(self) -> Table:
        """Return the table whose first line is data."""
        names = tuple(f"column {number}" for number in range(1, len(self.first) + 1))
        rows = self.rows
        return replace(
            self, header=names, rows=lambda: itertools.chain([(1, list(self.first))], rows()), first=()
        )


def table_names(names: Sequence[str]) -> list[str]:
    """Return which files have the suffix of a table; if none has, the text files."""
    return [name for name in names if suffix(name) in TABLES] or [
        name for name in names if suffix(name) == ".txt"
    ]


def read_table(tree: FileTree, name: str, limits: Limits, encoding: str = AS_FOUND) -> Table:
    """Return the table of that name in a tree; Unusable if it is no table, or exceeds the limits. encoding: of text
    that is not UTF-8."""
    if suffix(name) == ".parquet":
        # images in it are read later, each on its own
        source = tree.seekable(name, limits.vector_bytes, "a table with images", "vector_bytes")
        return replace(parquet_table(source, limits, name), name=name)
    data = tree.read(name, limits.table_bytes, "a table", "table_bytes")
    readers = {".jsonl": lambda: json_lines(data), ".xlsx": lambda: spreadsheet_table(data, name)}
    table = readers.get(suffix(name), lambda: text_table(data, name, encoding=encoding))()
    return replace(table, name=name)


def text_table(data: bytes, name: str = "", mark: str = "", encoding: str = AS_FOUND) -> Table:
    """Return the CSV or TSV in `data`, whose first line names the columns unless `without_header` says otherwise.

    mark: the separator of cells; "": comma, semicolon or tab, whichever gives the most cells in the first line. With
    semicolons or tabs, numbers may have a decimal comma, as spreadsheets write them. A first line with the number of
    rows is skipped; if all rows have a cell more than the header, their first cell has no name.

    >>> list(text_table(b"image;year\\na.jpg;1957").rows())
    [(2, ['a.jpg', '1957'])]
    >>> text_table(b"1\\nold big \\na.jpg 1  -1", mark=" ").header
    ('column 1', 'old', 'big')
    """
    text, chosen = _decoded(data, name, encoding)
    mark = mark or _mark(text, name)
    grouped: set[int] = set()
    if mark != "," and THOUSANDS.search(text):
        cells_of = (cells for _, cells in _csv_rows(text, mark))
        grouped = {
            place for cells in cells_of for place, cell in enumerate(cells) if THOUSANDS.fullmatch(cell)
        }

    def lines() -> Rows:
        for line, cells in _csv_rows(text, mark):
            if mark != ",":
                cells = [_with_point(cell, place in grouped) for place, cell in enumerate(cells)]
            # a row of empty cells is an empty line
            if any(map(str.strip, cells)):
                yield line, cells

    sample = [row for _, row in itertools.islice(_undamaged(lines()), MAX_ROWS)]
    above, of_title = below_title(sample, name)
    # a damaged first line is reported
    first = next((cells for _, cells in itertools.islice(lines(), above, None)), [])
    header, sample, chosen = _header(_spread(first)), sample[above + 1 :], chosen + of_title
    is_wider = {len(row) for row in sample} == {len(header) + 1}
    if is_wider and not any(row[-1].strip() for row in sample):
        # each row ends with a separator
        header = (*header, "")
    elif is_wider and all(header):
        header = ("column 1", *header)
        evidence = f"the header has {len(first):,} names, and every row has {len(header):,} cells"
        chosen += (Decision(f"first column of {readable(name)}", "without a name", evidence),)
    return Table(
        header, lambda: itertools.islice(lines(), above + 1, None), first=tuple(first), decisions=chosen
    )


def below_title(rows: Sequence[Sequence[str]], name: str) -> tuple[int, tuple[Decision, ...]]:
    """Return the place of the header, and the decision about the rows above it: a title of one cell, or the number of
    rows, and what follows it until a row has most of the usual number of filled cells.

    >>> below_title([["List 1", ""], ["", ""], ["image", "label"], ["a", "x"], ["b", "y"], ["c", ""]], "a.csv")[0]
    2
    """
    filled = [sum(map(bool, map(str.strip, row))) for row in rows]
    usual = statistics.median_high(filled[len(filled) // 2 :]) if filled else 0
    if filled[:1] != [1] or usual < 2 or not rows[0][0].strip():
        return 0, ()
    place = next(place for place, count in enumerate(filled) if count >= HEADER_SHARE * usual)
    shown = listed([" ".join(filter(None, row)) for row in rows[:place] if any(row)])
    evidence = f"{counted(place, 'row')} before the first one with most of the usual {usual:,} cells: {readable(shown)}"
    return place, (Decision(f"rows above the header of {readable(name)}", "not read", evidence),)


def _decoded(data: bytes, name: str, encoding: str) -> tuple[str, tuple[Decision, ...]]:
    """Return the text, and the decision about its encoding if that is not Unicode."""
    is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if is_wide else "utf-8-sig"), ()
    except UnicodeDecodeError:
        lines, chosen = decoded(data.split(b"\n"), encoding, "encoding")
        return "\n".join(lines), tuple(replace(row, about=f"encoding of {readable(name)}") for row in chosen)


def _csv_rows(text: str, mark: str) -> Rows:
    """Yield the cells of each line; Unusable where the text is damaged."""
    is_spaced = mark == " "
    # spaces at the end of a line are no cell
    source = map(str.strip, text.splitlines()) if is_spaced else io.StringIO(text, newline="")
    reader = csv.reader(source, delimiter=mark, strict=not is_spaced, skipinitialspace=is_spaced)
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        raise Unusable(f"comma-separated values, line {reader.line_num}", str(error)) from error


def _undamaged(rows: Rows) -> Rows:
    """Yield rows up to where the file is damaged; reading them reports it."""
    with contextlib.suppress(Unusable):
        yield from rows


def _spread(names: Sequence[str]) -> list[str]:
    """Return the names of columns where commas in brackets have parted them.

    >>> _spread(["image", "Box [x", "y", "w", "h]", "year"]), _spread(["a (b", "c"])
    (['image', 'Box x', 'Box y', 'Box w', 'Box h', 'year'], ['a (b', 'c'])
    """
    spread, before = [], ""
    for name in names:
        if opened := re.fullmatch(r"(.+?)\s*[\[(]([^\])]*)", name):
            before, name = opened.groups()
        spread.append(f"{before} {name.rstrip('])')}".strip() if before else name)
        before = "" if name.endswith(("]", ")")) else before
    return list(names) if before else spread


def spreadsheet_table(data: bytes, name: str = "") -> Table:
    """Return the first sheet with rows of an Excel workbook."""
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheets = (book.get_sheet_by_name(name).to_python() for name in book.sheet_names)
        cells = [list(map(_cell, row)) for row in next(filter(None, sheets), [])]
    except CalamineError as error:
        came = f"{readable(str(error), 200)}; save the sheet as “CSV UTF-8”"
        raise Unusable("an Excel workbook that can be opened", came) from error
    if not cells:
        raise Unusable("a sheet with rows", "none")
    above, chosen = below_title(cells, name)
    return Table(
        _header(cells[above]),
        lambda: enumerate(cells[above + 1 :], above + 2),
        tuple(cells[above]),
        decisions=chosen,
    )


def json_lines(data: bytes) -> Table:
    """Return JSON lines, an object in each: its keys are columns, and each of the objects in it is a row.

    Boxes are x, y, width and height, as COCO and Hugging Face have them.

    >>> table = json_lines(b'{"file_name": "a.jpg", "objects": {"bbox": [[1, 2, 3, 4]], "categories": [7]}}')
    >>> table.header, [cells for _, cells in table.rows()]
    (('file_name', 'bbox', 'categories'), [['a.jpg', '1; 2; 3; 4', '7']])
    """
    rows: list[tuple[int, dict[str, str]]] = []
    for number, line in enumerate(data.decode("utf-8-sig", "replace").splitlines(), 1):
        try:
            record = json.loads(line) if line.strip() else {}
        except (ValueError, RecursionError) as error:
            raise Unusable(f"a JSON object in each line, line {number}", readable(str(error), 200)) from error
        if not isinstance(record, dict):
            raise Unusable(f"a JSON object in each line, line {number}", type(record).__name__)
        rows += [(number, row) for row in flattened(record) if row]
    header = _header(list(dict.fromkeys(key for _, row in rows for key in row)))
    return Table(
        header,
        lambda: ((number, [row.get(key, "") for key in header]) for number, row in rows),
        by_convention=EXTENT,
    )


def flattened(
    record: Mapping[str, Any], classes: Mapping[str, Sequence[str]] | None = None
) -> list[dict[str, str]]:
    """Return the rows of a record: one, or one for each place in the lists of an object in it, or each object of a
    list. classes: the names of the classes that the numbers of some columns stand for.

    >>> flattened({"name": "a", "objects": [{"class": 1}, {"class": 0}]}, {"class": ["cat", "dog"]})
    [{'name': 'a', 'class': 'dog'}, {'name': 'a', 'class': 'cat'}]
    """
    lists: dict[str, list[Any]] = {}
    flat: dict[str, str] = {}
    for key, value in record.items():
        if isinstance(value, list) and value and all(isinstance(part, dict) for part in value):
            value = {inner: [part.get(inner) for part in value] for inner in value[0]}
        if not isinstance(value, dict):
            flat[key] = _named(value, (classes or {}).get(key))
        elif value and all(isinstance(part, list) for part in value.values()):
            lists |= value
    return [
        flat
        | {
            key: _named(value[row], (classes or {}).get(key)) if row < len(value) else ""
            for key, value in lists.items()
        }
        for row in range(max([1, *map(len, lists.values())]))
    ]


def _named(value: Any, names: Sequence[str] | None) -> str:
    """Return the text of a cell, with the names of classes instead of their numbers.

    >>> _named([0, 1], ["cat", "dog"]), _named(-1, ["cat"]), _named(5, None)
    ('cat; dog', '', '5')
    """
    if names is not None and isinstance(value, list):
        return "; ".join(_named(part, names) for part in value)
    if names is not None and isinstance(value, int):
        return names[value] if 0 <= value < len(names) else ""
    return _cell(value)


def _header(names: Sequence[str]) -> tuple[str, ...]:
    if len(names) > MAX_COLUMNS:
        raise Unusable(f"at most {MAX_COLUMNS:,} columns", f"{len(names):,}")
    return tuple(map(unique_name, names))


def _with_point(cell: str, is_grouped: bool = False) -> str:
    """Return a number with a decimal comma as one with a point. is_grouped: whether points part thousands.

    >>> _with_point(" -1,5"), _with_point("1,5 km"), _with_point("1.250,5", True), _with_point("9.800", True)
    (' -1.5', '1,5 km', '1250.5', '9800')
    """
    if is_grouped and (THOUSANDS.fullmatch(cell) or WHOLE_THOUSANDS.fullmatch(cell)):
        cell = cell.replace(".", "")
    return cell.replace(",", ".") if DECIMAL.fullmatch(cell) else cell


def _mark(text: str, name: str) -> str:
    marks = {".tsv": "\t,;", ".txt": ",;\t "}.get(suffix(name), ",;\t")
    # a first line without any of them is a title
    lines = text.split("\n", MAX_TITLE)[:MAX_TITLE]
    line = next((line for line in lines if any(len(_cells(line, mark)) > 1 for mark in marks)), "")
    return max(marks, key=lambda mark: len(_cells(line, mark)))


def _cells(line: str, mark: str) -> list[str]:
    """Return the cells of a line; [] if it is damaged: the import reports the reason."""
    try:
        return next(csv.reader([line.strip("\r ")], delimiter=mark), [])
    except csv.Error:
        return []


def parquet_table(source: Path | IO[bytes], limits: Limits, name: str = "") -> Table:
    """Return a Parquet table: its columns of numbers, texts, and lists of these, its images, and each place in lists of
    objects as a row. name: in the tree; images are named by it."""
    file = open_parquet(source)
    images, classes = image_column(file, name), class_names(file)
    fields = [field for field in file.schema_arrow if images is None or field.name != images.column]
    columns = {field.name: _columns_in(field.name, field.type) for field in fields}
    names = [field for field, inside in columns.items() if inside]
    groups = [file.metadata.row_group(index) for index in range(file.metadata.num_row_groups)]
    parts = (group.column(place) for group in groups for place in range(group.num_columns))
    size = sum(
        part.total_uncompressed_size
        for part in parts
        if images is None or part.path_in_schema.partition(".")[0] != images.column
    )
    if size > limits.table_bytes:
        came = f"one of {size / 2**20:,.0f} MB"
        raise Unusable(f"a table of at most {megabytes(limits.table_bytes, 'table_bytes')}", came)
    column = images.column if images else ""
    header = _header(list(dict.fromkeys([*filter(None, [column]), *itertools.chain(*columns.values())])))

    def rows() -> Rows:
        read = ((part.to_pylist() for part in batch.columns) for batch in batches(file, names))
        cells: Iterable[tuple[Any, ...]] = (row for batch in read for row in zip(*batch, strict=True))
        cells = cells if names else itertools.repeat(())
        in_images: Iterable[str] = images.names if images else itertools.repeat("")
        for place, (image, row) in enumerate(zip(in_images, cells), 1):  # noqa: B905
            for record in flattened(dict(zip(names, row, strict=True)), classes):
                record[column] = image
                yield place, [record.get(key, "") for key in header]

    nested = tuple(field for field, inside in columns.items() if not inside)
    has_objects = any(inside != (field,) for field, inside in columns.items() if inside)
    return Table(header, rows, (), EXTENT if has_objects else "", column, nested)


def _columns_in(name: str, type_: Any) -> tuple[str, ...]:
    """Return the columns of a table that a column of Parquet becomes; () if it cannot be read."""
    from pyarrow import types

    outer = type_ if types.is_struct(type_) else item_type(type_) or type_
    if not types.is_struct(outer):
        return () if types.is_nested(outer) else (name,)
    inner = {field.name: item_type(field.type) if outer is type_ else field.type for field in outer}
    return tuple(inner) if all(inner.values()) else ()


def _cell(value: Any) -> str:
    """
    >>> _cell(None), _cell(True), _cell(1.5), _cell(2.0), _cell(["a", 2])
    ('', '1', '1.5', '2', 'a; 2')
    """
    if value is None:
        return ""
    if isinstance(value, bool) or (isinstance(value, float) and value.is_integer() and abs(value) < 1e15):
        return str(int(value))
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return "; ".join(map(_cell, value)) if isinstance(value, list) else str(value)


# ---------------------------------------------------------------------------------------------------- Cells


SIGNS, LIST, COMMA, SPACE, WHOLE = "; or |", "list", "comma", "space", "whole cell"
SEPARATORS = (SIGNS, LIST, COMMA, SPACE, WHOLE)
# what marks stand for; in columns without a 0, -1 is no, and beside crosses, an empty cell
CROSSES = ("x", "✓", "✔")
YES, NO = ("1", "1.0", "true", "yes", "t", "y", *CROSSES), ("0", "0.0", "false", "no", "f", "n")
MINUS = ("-1", "-1.0")


@lru_cache(2**14)
def listed_labels(cell: str, separator: str = SIGNS) -> tuple[str, ...]:
    """Return the labels of a cell, each once.

    >>> listed_labels("sea; sun|sea"), listed_labels("['a', 'b c']", LIST), listed_labels("red car", SPACE)
    (('sea', 'sun'), ('a', 'b c'), ('red', 'car'))
    """
    if separator == LIST:
        try:
            items = ast.literal_eval(cell) if cell.startswith(("[", "(", "{")) else [cell]
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            items = cell.strip("[](){} ").split(",")
        parts = [str(item).strip("'\" ") for item in items]
    else:
        marks = {SIGNS: r"[;|]", COMMA: ",", SPACE: r"\s+"}
        parts = re.split(marks[separator], cell) if separator in marks else [cell]
    return tuple(dict.fromkeys(name for name in map(unique_name, parts) if name.lower() not in NO_LABEL))


def separator_of(cells: Counter[str]) -> tuple[str, str]:
    """Return how labels in the cells of a column are separated, from all cells, and the evidence.

    Commas and spaces separate where the parts are fewer than the cells and their number varies: "sea sun", "sun", "sea
    sun sky"; but not in names such as "traffic light".
    """
    if any(cell.startswith("[") and cell.endswith("]") for cell in cells):
        return LIST, "cells are lists in brackets"
    if any(set(cell) & set(";|") for cell in cells):
        return SIGNS, "cells contain ; or |"
    for separator, sign in ((COMMA, ","), (SPACE, "spaces")):
        parted = [listed_labels(cell, separator) for cell in cells]
        parts = Counter(part for labels in parted for part in labels)
        several = len({len(labels) for labels in parted}) > 1
        again = sum(count > 1 for count in parts.values())
        if several and len(parts) < len(cells) and 2 * again >= len(parts):
            return separator, f"“{sign}” separates {len(parts):,} names in {len(cells):,} different cells"
    return WHOLE, "each cell is one label"


def unknown_mark(row: Mapping[str, str], labels: Sequence[str], no: tuple[str, ...] = NO) -> str:
    """Return the first of `labels` whose cell is neither yes nor one of `no`, with the cell; "" if there is none.

    >>> unknown_mark({"sea": "1", "sun": "?"}, ["sea", "sun"]), unknown_mark({"sea": "-1"}, ["sea"], MINUS)
    ("sun: '?'", '')
    """
    unknown = next((label for label in labels if row[label].lower() not in (*YES, *no)), None)
    return "" if unknown is None else readable(f"{unknown}: {row[unknown]!r:.20}")


def number(cell: str) -> float | None:
    """Return the number in a cell, NaN if it is unknown; None for anything else.

    >>> number(" 1957 "), number("NA"), number("c. 1957")
    (1957.0, nan, None)
    """
    text = cell.strip()
    if text.lower() in UNKNOWN:
        return math.nan
    value = plain_number(text)
    return value if value is not None and math.isfinite(value) else None


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
