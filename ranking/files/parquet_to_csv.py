"""A program of its own: Parquet on standard input, the same table as CSV on standard output.

`python -I parquet_to_csv.py BYTES COLUMNS VALUES VARIABLE`, where VARIABLE sets BYTES, exits with 0, or with 1 and what
was expected and what came as JSON on standard error. Arrow aborts its process on some damaged files, so that it must
not be anybody else's; it imports nothing of ours, to start soon. What a file claims of itself is looked at before any
of it is expanded, and a text that stands in many rows is looked at where it is stored, once.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import resource
import sys
from collections.abc import Iterator
from typing import Any

BROKEN = "Parquet that can be read"
LONGEST = 2**17  # bytes of one text; csv has the same limit
BATCH = 500  # rows that are text at the same time
MEMORY = 3 * 2**30  # of addresses, of which Arrow itself takes a third
SECONDS = 60
PLAIN = ("BOOLEAN", "INT32", "INT64", "FLOAT", "DOUBLE", "BYTE_ARRAY")  # how Parquet stores what is read here


class Refused(Exception):
    """What was expected of the file, and what came."""


def main(most_bytes: int, most_columns: int, most_values: int, variable: str) -> None:
    """Refused where the file is no table, or more than the numbers allow."""
    from pyarrow import ArrowException

    data, written = sys.stdin.buffer.read(), 0
    try:
        names, batches = read(data, most_bytes, most_columns, most_values, variable)
        for rows in itertools.chain([[names]], batches):
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(rows)
            piece = text.getvalue().encode()
            written += len(piece)
            if written > most_bytes:
                raise Refused(f"a table of at most {most_bytes / 2**20:g} MB ({variable})", "a larger one")
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    except (ArrowException, OSError, ValueError, OverflowError, KeyError, MemoryError) as error:
        raise Refused(BROKEN, " ".join(str(error).split()) or type(error).__name__) from error


def read(
    data: bytes, most_bytes: int, most_columns: int, most_values: int, variable: str
) -> tuple[list[str], Iterator[Any]]:
    """The names of the columns, and the rows as text, some at a time; of no numbers, texts or lists there are none."""
    from pyarrow import parquet

    file = parquet.ParquetFile(io.BytesIO(data))
    check_claims(file.metadata, most_bytes, most_columns, most_values, variable)
    leaves = leaves_of(file)
    texts = [leaf.path for own in leaves.values() for leaf in own if leaf.physical_type == "BYTE_ARRAY"]
    names = [field.name for field in file.schema_arrow if is_offered(field, leaves.get(field.name, []))]
    once = parquet.ParquetFile(io.BytesIO(data), read_dictionary=texts)

    def batches() -> Iterator[Any]:
        for batch in once.iter_batches(BATCH, columns=names, use_threads=False):
            yield zip(*(cells(batch.column(name)) for name in names), strict=True)

    return names, batches()


def check_claims(
    metadata: Any,
    most_bytes: int,
    most_columns: int,
    most_values: int,
    sets_bytes: str,
    sets_values: str = "",
) -> None:
    """Refused where the file says itself that it is too much. sets_...: which variables do."""
    groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
    size = sum(group.total_byte_size for group in groups)
    if metadata.num_columns > most_columns:
        raise Refused(f"at most {most_columns:,} columns", f"{metadata.num_columns:,}")
    if size > most_bytes:
        expected = f"a table of at most {most_bytes / 2**20:g} MB ({sets_bytes})"
        raise Refused(expected, f"one of {size / 2**20:,.0f} MB")
    values = sum(group.column(place).num_values for group in groups for place in range(group.num_columns))
    if metadata.num_rows + values > most_values:
        expected = f"a table of at most {most_values:,} values" + (f" ({sets_values})" if sets_values else "")
        raise Refused(expected, f"{metadata.num_rows + values:,}")


def leaves_of(file: Any) -> dict[str, list[Any]]:
    """What a file stores, by column. Paths have points between their parts, and so may names, as "score.1" beside
    "score": what has the whole name of a column is of that column alone."""
    names, found = set(file.schema_arrow.names), dict[str, list[Any]]()
    for leaf in (file.metadata.schema.column(place) for place in range(file.metadata.num_columns)):
        parts = (
            [leaf.path] if leaf.path in names else itertools.accumulate(leaf.path.split("."), "{}.{}".format)
        )
        for name in parts:
            if name in names:
                found.setdefault(name, []).append(leaf)
    return found


def is_offered(field: Any, own: list[Any]) -> bool:
    """Whether a column with the leaves `own` holds numbers, texts or lists of such."""
    from pyarrow import types

    is_list = types.is_list(field.type) and not types.is_nested(field.type.value_type)
    return len(own) == 1 and own[0].physical_type in PLAIN and (is_list or not types.is_nested(field.type))


def cells(column: Any) -> list[str]:
    """The cells of a column; Refused where a text is too long, before any is copied."""
    from pyarrow import compute, types

    values = column.flatten() if types.is_list(column.type) else column
    if types.is_dictionary(values.type):
        longest = compute.max(compute.binary_length(values.dictionary)).as_py()
        if longest is not None and longest > LONGEST:
            raise Refused(f"texts of at most {LONGEST:,} bytes", f"one of {longest:,}")
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


def limit(what: int, most: int) -> None:
    """Take no more than `most` of a resource, nor than is allowed."""
    _, allowed = resource.getrlimit(what)
    most = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
    resource.setrlimit(what, (most, most))


if __name__ == "__main__":
    for resource_, most_ in {
        resource.RLIMIT_AS: MEMORY,
        resource.RLIMIT_CPU: SECONDS,
        resource.RLIMIT_CORE: 0,
    }.items():
        limit(resource_, most_)
    try:
        bytes_, columns_, values_ = map(int, sys.argv[1:4])
        main(bytes_, columns_, values_, sys.argv[4])
    except Refused as refused:
        sys.exit(json.dumps(refused.args))
