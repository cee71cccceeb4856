"""Untrusted Parquet, read by pyarrow some rows at a time. Some damaged files crash the process that reads them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ranking.files.limits import megabytes
from ranking.files.tree import Unusable

# that are converted at a time
ROWS = 500


def open_parquet(source: Path | IO[bytes]) -> Any:
    """Return an open file of pyarrow; Unusable if it cannot be read."""
    with _reading():
        from pyarrow import parquet

        return parquet.ParquetFile(source, pre_buffer=False)


def batches(file: Any, names: Sequence[str], rows: int = ROWS) -> Iterator[Any]:
    """Yield the columns with these names of all rows, so many at a time; Unusable where the file is damaged."""
    with _reading():
        import pyarrow

        for batch in file.iter_batches(rows, columns=list(names), use_threads=False) if names else ():
            # pyarrow also reads “x.y” for the name “x”; fields of structs are columns only when flattened
            is_flat = set(names) <= set(batch.schema.names)
            whole = batch if is_flat else pyarrow.Table.from_batches([batch]).flatten().to_batches()[0]
            yield whole.select(list(names))


def rows_of_group(file: Any, group: int, name: str, most: int) -> Any:
    """Return a column of one group of rows; Unusable if it is damaged or has more than `most` bytes."""
    size = file.metadata.row_group(group).total_byte_size
    if size > most:
        raise Unusable(
            f"groups of rows of at most {megabytes(most, 'vector_bytes')}", f"{size / 2**20:,.0f} MB"
        )
    with _reading():
        return file.read_row_group(group, columns=[name], use_threads=False).column(0)


def item_type(type_: Any) -> Any:
    """Return the type of the items of a list; None for other types."""
    from pyarrow import types

    is_list = types.is_list(type_) or types.is_fixed_size_list(type_) or types.is_large_list(type_)
    return type_.value_type if is_list else None


def is_text(type_: Any) -> bool:
    from pyarrow import types

    inner = type_.value_type if types.is_dictionary(type_) else type_
    return bool(types.is_string(inner) or types.is_large_string(inner))


def text_fields(schema: Any) -> dict[str, Any]:
    """Return the types of the texts in columns of structs, such as “image.path”, by these names."""
    from pyarrow import types

    structs = [(column.name, list(column.type)) for column in schema if types.is_struct(column.type)]
    fields = {f"{name}.{field.name}": field.type for name, inner in structs for field in inner}
    return {name: type_ for name, type_ in fields.items() if is_text(type_) and name not in schema.names}


@contextmanager
def _reading() -> Iterator[None]:
    """Raise errors of pyarrow as Unusable. What pyarrow says is for its own authors, and goes to stderr."""
    from pyarrow import ArrowException

    try:
        yield
    except MemoryError:
        raise
    except (ArrowException, OSError, ValueError, OverflowError, KeyError, TypeError) as error:
        print(error, file=sys.stderr)
        raise Unusable("a complete Parquet file", "a damaged one; save it again") from error
