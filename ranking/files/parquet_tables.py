"""Parquet as CSV or as numbers, read in an isolated process (`ranking.files.isolated`) because Arrow aborts its process
on some damaged files.

The sizes that a file claims are checked before anything is expanded. A text that occurs in many rows is stored, and
checked, once.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ranking.core.errors import InputError
from ranking.core.text import readable
from ranking.files.isolated import Crashed, ask, limit, serve
from ranking.files.tree import Unusable

PROGRAM = "ranking.files.parquet_tables"
BROKEN = "Parquet that can be read"
LONGEST = 2**17  # bytes of one text; csv has the same limit
LONGEST_ID, MOST_LETTERS = 1_000, 64 * 2**20  # characters of one id, and of all ids
ROWS = 500  # rows that are converted at a time
PLAIN = (
    "BOOLEAN",
    "INT32",
    "INT64",
    "FLOAT",
    "DOUBLE",
    "BYTE_ARRAY",
)  # the physical types of Parquet that are read
LISTS = "lists of numbers"


class Most(NamedTuple):
    """The most bytes, columns and values that a file may claim, and the variables that set the bytes and the values."""

    bytes: int
    columns: int
    values: int
    sets_bytes: str
    sets_values: str = ""


def as_csv(data: bytes, most: Most) -> bytes:
    """Return the Parquet in `data` as CSV: its columns of numbers, texts, and lists of these. Unusable if it is no
    Parquet file, or exceeds `most`."""
    return _answer({"read": "csv", "most": most}, data)


def describe_columns(path: Path, most: Most, id_names: tuple[str, ...], count: int, target: Path) -> Any:
    """Return {"rows", "columns"}; a column has "name", "holds" ("numbers", "text", LISTS or "other"), "type", "width".

    Writes to `target` the texts, by column, of the first `count` columns that could be ids of samples. Columns with a
    name in `id_names` precede the others.
    """
    request = {"read": "columns", "id_names": id_names, "count": count}
    return json.loads(_answer({**request, "path": str(path), "target": str(target), "most": most}))


def write_texts(path: Path, most: Most, name: str, target: Path) -> None:
    """Write the texts of the column `name` to `target`, as JSON."""
    _answer({"read": "texts", "names": [name], "path": str(path), "target": str(target), "most": most})


def write_numbers(path: Path, most: Most, names: list[str], target: Path) -> None:
    """Write columns of numbers, or one column of lists, to `target`: a NumPy array (n, d) of float32."""
    _answer({"read": "numbers", "names": names, "path": str(path), "target": str(target), "most": most})


def _answer(request: dict[str, Any], data: bytes = b"") -> bytes:
    try:
        return ask(PROGRAM, [], json.dumps(request).encode() + b"\n" + data)
    except Crashed as error:
        raise Unusable(BROKEN, str(error.came)) from error
    except InputError as error:
        raise Unusable(error.expected, readable(str(error.came))) from error


# ---------------------------------------------------------------------------------------------------------
# The program
# ---------------------------------------------------------------------------------------------------------


def work(arguments: list[str], given: bytes) -> bytes:
    """Answer the request in the first line, which is JSON, about the Parquet after it or the file that it names.
    InputError if that cannot be read, or exceeds what the request allows."""
    from pyarrow import ArrowException

    line, _, data = given.partition(b"\n")
    request = json.loads(line)
    most = Most(*request["most"])
    try:
        if request["read"] == "csv":
            return csv_of(data, most)
        return of_file(request, most)
    except InputError:
        raise
    except (ArrowException, OSError, ValueError, OverflowError, KeyError, TypeError, MemoryError) as error:
        raise refusal(BROKEN, " ".join(str(error).split()) or type(error).__name__) from error


def refusal(expected: str, came: str) -> InputError:
    return InputError("Parquet", expected, came)


def check_claims(metadata: Any, most: Most) -> None:
    """Raise InputError if the metadata of the file claims more than `most`."""
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    size = sum(group.total_byte_size for group in groups)
    if metadata.num_columns > most.columns:
        raise refusal(f"at most {most.columns:,} columns", f"{metadata.num_columns:,}")
    if size > most.bytes:
        raise refusal(most_megabytes(most), f"one of {size / 2**20:,.0f} MB")
    values = sum(group.column(index).num_values for group in groups for index in range(group.num_columns))
    if metadata.num_rows + values > most.values:
        variable = f" ({most.sets_values})" if most.sets_values else ""
        raise refusal(
            f"a table of at most {most.values:,} values{variable}", f"{metadata.num_rows + values:,}"
        )


def most_megabytes(most: Most) -> str:
    return f"a table of at most {most.bytes / 2**20:g} MB ({most.sets_bytes})"


def leaves_of(file: Any) -> dict[str, list[Any]]:
    """Return the stored leaves of a file by column. The parts of a path are joined by points, and a name may contain
    points too, such as "score.1" beside "score": a leaf whose path is the name of a column belongs to that column."""
    names, leaves = set(file.schema_arrow.names), dict[str, list[Any]]()
    for leaf in (file.metadata.schema.column(index) for index in range(file.metadata.num_columns)):
        parts = (
            [leaf.path] if leaf.path in names else itertools.accumulate(leaf.path.split("."), "{}.{}".format)
        )
        for name in parts:
            if name in names:
                leaves.setdefault(name, []).append(leaf)
    return leaves


def is_plain(leaves: list[Any]) -> bool:
    """Return whether a column with these leaves is stored as numbers, texts, or lists of these."""
    return len(leaves) == 1 and leaves[0].physical_type in PLAIN


# --- as CSV


def csv_of(data: bytes, most: Most) -> bytes:
    """Return the table as CSV, read some rows at a time. Only columns of numbers, texts, or lists of these are kept."""
    from pyarrow import parquet

    file = parquet.ParquetFile(io.BytesIO(data))
    check_claims(file.metadata, most)
    leaves = leaves_of(file)
    texts = [leaf.path for own in leaves.values() for leaf in own if leaf.physical_type == "BYTE_ARRAY"]
    names = [field.name for field in file.schema_arrow if is_offered(field, leaves.get(field.name, []))]
    once = parquet.ParquetFile(io.BytesIO(data), read_dictionary=texts)

    def batches() -> Iterator[Any]:
        for batch in once.iter_batches(ROWS, columns=names, use_threads=False):
            yield zip(*(cells(batch.column(name)) for name in names), strict=True)

    pieces, written = list[bytes](), 0
    for rows in itertools.chain([[names]], batches()):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        pieces.append(text.getvalue().encode())
        written += len(pieces[-1])
        if written > most.bytes:
            raise refusal(most_megabytes(most), "a larger one")
    return b"".join(pieces)


def is_offered(field: Any, leaves: list[Any]) -> bool:
    """Return whether a column contains numbers, texts, or lists of these."""
    from pyarrow import types

    is_list = types.is_list(field.type) and not types.is_nested(field.type.value_type)
    return is_plain(leaves) and (is_list or not types.is_nested(field.type))


def cells(column: Any) -> list[str]:
    """Return the cells of a column; InputError if a text is too long, before any text is copied."""
    from pyarrow import compute, types

    values = column.flatten() if types.is_list(column.type) else column
    if types.is_dictionary(values.type):
        longest = compute.max(compute.binary_length(values.dictionary)).as_py()
        if longest is not None and longest > LONGEST:
            raise refusal(f"texts of at most {LONGEST:,} bytes", f"one of {longest:,}")
    return list(map(cell, column.to_pylist()))


def cell(value: Any) -> str:
    """
    >>> cell(None), cell(True), cell(1.5), cell(["a", 2])
    ('', '1', '1.5', 'a; 2')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return "; ".join(map(cell, value)) if isinstance(value, list) else str(value)


# --- as numbers and ids


def of_file(request: dict[str, Any], most: Most) -> bytes:
    """Return the columns as JSON, or b"" if the answer was written to `target`."""
    from pyarrow import parquet

    limit(resource.RLIMIT_FSIZE, most.bytes + 8 * MOST_LETTERS)
    file = parquet.ParquetFile(request["path"], pre_buffer=False)
    stored = most._replace(bytes=2 * most.bytes, sets_bytes=f"twice {most.sets_bytes}")  # numbers of 8 bytes
    check_claims(file.metadata, stored)
    if request["read"] == "columns":
        columns = columns_of(file)
        names = could_be_ids(columns, request["id_names"])
        texts_to(file, names[: request["count"]], request["target"])
        return json.dumps({"rows": file.metadata.num_rows, "columns": columns}).encode()
    if request["read"] == "texts":
        texts_to(file, request["names"], request["target"])
    else:
        numbers_to(file, request["names"], request["target"], most)
    return b""


def columns_of(file: Any) -> list[dict[str, Any]]:
    """Return name, holds ("numbers", "text", LISTS or "other"), type and, for lists, the width of each column."""
    leaves, columns = leaves_of(file), []
    for field in file.schema_arrow:
        holds = kind(field.type) if is_plain(leaves.get(field.name, [])) else "other"
        width = length(file, field) if holds == LISTS else 1
        columns.append({"name": field.name, "holds": holds, "type": str(field.type)[:80], "width": width})
    return columns


def kind(type_: Any) -> str:
    """Return what a column of an Arrow type contains."""
    from pyarrow import types

    if types.is_boolean(type_) or types.is_integer(type_) or types.is_floating(type_):
        return "numbers"
    if types.is_list(type_) or types.is_fixed_size_list(type_) or types.is_large_list(type_):
        return LISTS if kind(type_.value_type) == "numbers" else "other"
    inner = type_.value_type if types.is_dictionary(type_) else type_
    text = types.is_string(inner) or types.is_large_string(inner)
    return "text" if text else "other"


def length(file: Any, field: Any) -> int:
    """Return the length of the first list in a column; 0 if there is none."""
    for batch in file.iter_batches(1, columns=[field.name], use_threads=False):
        first = batch.column(0)[0].as_py() if batch.num_rows else None
        return len(first) if first is not None else 0
    return 0


def could_be_ids(columns: list[dict[str, Any]], id_names: list[str]) -> list[str]:
    """Return the columns of text or whole numbers: first those with one of these names, then text, then numbers."""
    candidates = [
        column
        for column in columns
        if column["holds"] == "text" or ("int" in column["type"] and column["holds"] == "numbers")
    ]
    candidates.sort(key=lambda column: (column["name"].lower() not in id_names, column["holds"] != "text"))
    return [column["name"] for column in candidates]


def texts_to(file: Any, names: list[str], target: str) -> None:
    """Write the cells of columns to `target` as text, by column name; numbers keep their decimal form."""
    texts: dict[str, list[str]] = {name: [] for name in names}
    letters = 0
    for batch in file.iter_batches(ROWS, columns=names, use_threads=False) if names else ():
        for name in names:
            values = batch.column(name).to_pylist()
            new = ["" if value is None else str(value)[:LONGEST_ID] for value in values]
            letters += sum(map(len, new))
            texts[name] += new
        if letters > MOST_LETTERS:
            raise refusal(f"ids of at most {MOST_LETTERS:,} letters together", "longer ones")
    with open(target, "w", encoding="utf-8") as stream:
        json.dump(texts, stream)


def numbers_to(file: Any, names: list[str], target: str, most: Most) -> None:
    """Write columns of numbers side by side, or one column of lists of equal length, to `target`."""
    import numpy as np

    columns = {column["name"]: column for column in columns_of(file)}
    width = sum(columns[name]["width"] for name in names)
    shape = (file.metadata.num_rows, width)
    if width > most.columns:
        raise refusal(f"at most {most.columns:,} columns", f"{width:,}")
    if 4 * shape[0] * width > most.bytes:
        expected = f"a matrix of at most {most.bytes:,} bytes ({most.sets_bytes})"
        raise refusal(expected, f"one of {4 * shape[0] * width:,}")
    matrix = np.lib.format.open_memmap(target, "w+", np.float32, shape)
    start = 0
    is_list = columns[names[0]]["holds"] == LISTS
    for batch in file.iter_batches(ROWS, columns=names, use_threads=False):
        rows = slice(start, start + batch.num_rows)
        with np.errstate(over="ignore", invalid="ignore"):
            matrix[rows] = of_lists(batch, names[0], width, start) if is_list else of_columns(batch, names)
        start += batch.num_rows
    if start != shape[0]:
        raise refusal(f"{shape[0]:,} rows, as the file claims", f"{start:,}")
    matrix.flush()


def of_columns(batch: Any, names: list[str]) -> Any:
    """Return (rows, d) the cells of columns of numbers; NaN for empty cells."""
    import numpy as np

    columns = [batch.column(name).cast("float64").to_numpy(zero_copy_only=False) for name in names]
    return np.stack(columns, axis=1)


def of_lists(batch: Any, name: str, width: int, start: int) -> Any:
    """Return (rows, width) the cells of a column of lists; InputError if a list has another length."""
    import numpy as np
    from pyarrow import compute

    column = batch.column(name)
    lengths = compute.fill_null(compute.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero(lengths != width)
    if len(wrong):
        row = int(wrong[0])
        raise refusal(
            f"lists of {width:,} numbers each", f"one of {int(lengths[row]):,} in row {start + row + 1:,}"
        )
    flat = compute.list_flatten(column).cast("float64").to_numpy(zero_copy_only=False)
    return flat.reshape(batch.num_rows, width)


if __name__ == "__main__":
    serve(work)
