"""A program of its own: a Parquet file as a table of numbers, for who cannot trust the file.

`python -I parquet_to_numbers.py FILE TARGET BYTES COLUMNS VARIABLE`, where VARIABLE sets BYTES, reads from standard
input, as JSON, what it shall do: {"ids": [names], "most": count}, then it tells the columns as JSON, and TARGET becomes
the texts of those few that could name samples, by column, those called so first; {"texts": name}, then TARGET becomes
the texts of that column; {"numbers": [names]}, then TARGET becomes an array (n, d) of float32 of NumPy, of columns of
numbers or one of lists.
It exits with 0, or with 1 and what was expected and what came as JSON on standard error. See `parquet_to_csv`.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from typing import Any

if __package__:
    from ranking.files.parquet_to_csv import BROKEN, SECONDS, Refused, check_claims, leaves_of, limit
else:  # as a program, which loads nothing of ours but its neighbour
    sys.path.insert(0, os.path.dirname(__file__))
    from parquet_to_csv import BROKEN, SECONDS, Refused, check_claims, leaves_of, limit  # type: ignore[import-not-found,no-redef]

BATCH = 1_000  # rows that are numbers at the same time
MEMORY = 3 * 2**30  # of addresses, of which Arrow itself takes a third, besides the matrix
LONGEST, MOST_LETTERS = 1_000, 64 * 2**20  # of one id, and of all
PLAIN = ("BOOLEAN", "INT32", "INT64", "FLOAT", "DOUBLE", "BYTE_ARRAY")
LISTS = "lists of numbers"


def main(path: str, target: str, most_bytes: int, most_columns: int, variable: str) -> None:
    """Refused where the file is no such table, or more than the numbers allow."""
    from pyarrow import ArrowException, parquet

    asked = json.loads(sys.stdin.read())
    try:
        file = parquet.ParquetFile(path, pre_buffer=False)
        sets = (f"twice {variable}", f"half of {variable}")
        check_claims(file.metadata, 2 * most_bytes, most_columns, most_bytes // 2, *sets)
        if "texts" in asked:
            write_texts(file, [asked["texts"]], target)
        elif "numbers" in asked:
            write_numbers(file, asked["numbers"], target, most_bytes, most_columns, variable)
        else:
            columns = columns_of(file)
            write_texts(file, could_be_ids(columns, asked["ids"])[: asked["most"]], target)
            sys.stdout.write(json.dumps({"rows": file.metadata.num_rows, "columns": columns}))
    except (ArrowException, OSError, ValueError, OverflowError, KeyError, TypeError, MemoryError) as error:
        raise Refused(BROKEN, " ".join(str(error).split()) or type(error).__name__) from error


def columns_of(file: Any) -> list[dict[str, Any]]:
    """name, holds ("numbers", "text", LISTS or "other") and type of each column; of lists how long they are."""
    leaves, told = leaves_of(file), []
    for field in file.schema_arrow:
        own = leaves.get(field.name, [])
        plain = len(own) == 1 and own[0].physical_type in PLAIN
        holds = kind(field.type) if plain else "other"
        width = length(file, field) if holds == LISTS else 1
        told.append({"name": field.name, "holds": holds, "type": str(field.type)[:80], "width": width})
    return told


def kind(type_: Any) -> str:
    """What a column of an Arrow type holds."""
    from pyarrow import types

    if types.is_boolean(type_) or types.is_integer(type_) or types.is_floating(type_):
        return "numbers"
    if types.is_list(type_) or types.is_fixed_size_list(type_) or types.is_large_list(type_):
        return LISTS if kind(type_.value_type) == "numbers" else "other"
    inner = type_.value_type if types.is_dictionary(type_) else type_
    text = types.is_string(inner) or types.is_large_string(inner)
    return "text" if text else "other"


def length(file: Any, field: Any) -> int:
    """How long the first list of a column is; 0 where there is none."""
    for batch in file.iter_batches(1, columns=[field.name], use_threads=False):
        first = batch.column(0)[0].as_py() if batch.num_rows else None
        return len(first) if first is not None else 0
    return 0


def could_be_ids(columns: list[dict[str, Any]], called: list[str]) -> list[str]:
    """Columns of text or whole numbers: those called so, then texts, then whole numbers."""
    could = [
        one
        for one in columns
        if one["holds"] == "text" or ("int" in one["type"] and one["holds"] == "numbers")
    ]
    could.sort(key=lambda one: (one["name"].lower() not in called, one["holds"] != "text"))
    return [one["name"] for one in could]


def write_texts(file: Any, names: list[str], target: str) -> None:
    """The cells of columns as text, by name; of numbers as they are written."""
    told: dict[str, list[str]] = {name: [] for name in names}
    letters = 0
    for batch in file.iter_batches(BATCH, columns=names, use_threads=False) if names else ():
        for name in names:
            cells = batch.column(name).to_pylist()
            new = ["" if cell is None else str(cell)[:LONGEST] for cell in cells]
            letters += sum(map(len, new))
            told[name] += new
        if letters > MOST_LETTERS:
            raise Refused(f"ids of at most {MOST_LETTERS:,} letters together", "longer ones")
    with open(target, "w", encoding="utf-8") as stream:
        json.dump(told, stream)


def write_numbers(
    file: Any, names: list[str], target: str, most_bytes: int, most_columns: int, variable: str
) -> None:
    """Columns of numbers side by side, or one of lists of equal length."""
    import numpy as np

    told = {column["name"]: column for column in columns_of(file)}
    width = sum(told[name]["width"] for name in names)
    shape = (file.metadata.num_rows, width)
    if width > most_columns:
        raise Refused(f"at most {most_columns:,} columns", f"{width:,}")
    if 4 * shape[0] * width > most_bytes:
        expected = f"a matrix of at most {most_bytes:,} bytes ({variable})"
        raise Refused(expected, f"one of {4 * shape[0] * width:,}")
    matrix = np.lib.format.open_memmap(target, "w+", np.float32, shape)
    start = 0
    lists = told[names[0]]["holds"] == LISTS
    for batch in file.iter_batches(BATCH, columns=names, use_threads=False):
        here = slice(start, start + batch.num_rows)
        with np.errstate(over="ignore", invalid="ignore"):
            matrix[here] = of_lists(batch, names[0], width, start) if lists else of_columns(batch, names)
        start += batch.num_rows
    if start != shape[0]:
        raise Refused(f"{shape[0]:,} rows, as the file claims", f"{start:,}")
    matrix.flush()


def of_columns(batch: Any, names: list[str]) -> Any:
    """(rows, d) the cells of columns of numbers; NaN where there is none."""
    import numpy as np

    columns = [batch.column(name).cast("float64").to_numpy(zero_copy_only=False) for name in names]
    return np.stack(columns, axis=1)


def of_lists(batch: Any, name: str, width: int, start: int) -> Any:
    """(rows, width) the cells of a column of lists; Refused where one is of another length."""
    import numpy as np
    from pyarrow import compute

    column = batch.column(name)
    lengths = compute.fill_null(compute.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    other = np.flatnonzero(lengths != width)
    if len(other):
        row = int(other[0])
        raise Refused(
            f"lists of {width:,} numbers each", f"one of {int(lengths[row]):,} in row {start + row + 1:,}"
        )
    flat = compute.list_flatten(column).cast("float64").to_numpy(zero_copy_only=False)
    return flat.reshape(batch.num_rows, width)


if __name__ == "__main__":
    allowed = MEMORY + int(sys.argv[3])
    for resource_, most_ in {
        resource.RLIMIT_AS: allowed,
        resource.RLIMIT_CPU: SECONDS,
        resource.RLIMIT_FSIZE: int(sys.argv[3]) + 8 * MOST_LETTERS,
        resource.RLIMIT_CORE: 0,
    }.items():
        limit(resource_, most_)
    try:
        main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
    except Refused as refused:
        sys.exit(json.dumps(refused.args))
