"""Uploaded files of arrays (.npy, .npz, Parquet).

Each array is described first, and read only if it is chosen.

Nothing is unpickled, and no header is trusted: an array is refused before memory is allocated if it claims another size
than its file has, or more than the limits allow.
"""

from __future__ import annotations

import math
import weakref
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from ranking.core import Problem
from ranking.core.arrays import AnyArray
from ranking.core.text import readable
from ranking.files import Limits, Unusable
from ranking.files.limits import variable
from ranking.files.parquet import batches, item_type, open_parquet

Array = AnyArray
NUMBERS = "biuf"
INTACT = "an intact ZIP file"
# ids of samples, and characters of one
MAX_IDS, LONGEST_ID = 1_000_000, 1_000
ID_NAMES = ("id", "ids", "sample", "samples", "image", "images", "name", "names", "file", "filename", "path")
ALL_NUMBERS = "all columns of numbers"
# the name that pandas gives to an unnamed index
INDEX = "__index_level_"
# Columns that must not be features: the label of a sample, its side of the split, the position of its box.
LABELS = {"label", "labels", "class", "classes", "target", "y", "query", "relevance", "grade"}
SIDES = {"id", "ids", "index", "split", "test", "train", "fold", "group"}
BOXES = {"left", "top", "right", "bottom", "xmin", "ymin", "xmax", "ymax"}
NO_FEATURES = LABELS | SIDES | BOXES


@dataclass(frozen=True)
class ArrayInfo:
    """An array of a file, or a column of a table."""

    name: str
    # () if it is unknown
    shape: tuple[int, ...]
    dtype: str
    # why it can be used neither for vectors nor for ids; "" if it can
    why: str = ""
    # or "text"
    holds: str = "numbers"

    @property
    def may_be_vectors(self) -> bool:
        """Return whether its rows could be the vectors of samples."""
        return not self.why and self.holds == "numbers" and len(self.shape) == 2

    @property
    def may_be_ids(self) -> bool:
        """Return whether its rows could name samples."""
        few = len(self.shape) == 1 and self.shape[0] <= MAX_IDS
        return not self.why and few and not self.dtype.startswith(("float", "bool"))


class ArrayFile(ABC):
    """A file of arrays.

    kind: a description of the file. arrays: in order. problems: report rows about parts that are never read.
    """

    kind: str
    arrays: list[ArrayInfo]
    problems: tuple[Problem, ...] = ()

    @abstractmethod
    def numbers(self, name: str, ids: str) -> Array:
        """Return (n, d) the numbers of an array; Unusable if it cannot be read.

        ids: the array that names the samples, which is excluded.
        """

    @abstractmethod
    def texts(self, name: str) -> list[str]:
        """Return (n,) the cells of an array of possible ids, as text; Unusable if it cannot be read."""


class NpyFile(ArrayFile):
    """One array, called "array"."""

    kind = "one array of NumPy (.npy)"

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path = path
        with path.open("rb") as file:
            self.arrays = [array_info("array", file, limits)]

    def numbers(self, name: str, ids: str) -> Array:
        with _reading("an intact array"):
            return as_rows(np.load(self._path, mmap_mode="r", allow_pickle=False))

    def texts(self, name: str) -> list[str]:
        with _reading("an intact array"):
            return cells(np.load(self._path, mmap_mode="r", allow_pickle=False))


class NpzFile(ArrayFile):
    """The arrays of a ZIP file written by `numpy.savez`."""

    kind = "arrays of NumPy (.npz)"

    def __init__(self, path: Path, limits: Limits) -> None:
        with _reading(INTACT):
            self._zip = zipfile.ZipFile(path)
        weakref.finalize(self, self._zip.close)
        entries = [entry for entry in self._zip.infolist() if entry.filename.endswith(".npy")]
        if not entries:
            raise Unusable("arrays (.npy) in the ZIP file", "none; save them with numpy.savez")
        self._entries = {readable(entry.filename.removesuffix(".npy")): entry for entry in entries}
        self.arrays = [self._info(shown, entry, limits) for shown, entry in self._entries.items()]

    def _info(self, shown: str, entry: zipfile.ZipInfo, limits: Limits) -> ArrayInfo:
        try:
            with _reading(INTACT), self._zip.open(entry) as file:
                return array_info(shown, file, limits)
        except Unusable as error:
            return ArrayInfo(shown, (), "", f"expected {error.expected}, got {error.came}")

    def numbers(self, name: str, ids: str) -> Array:
        return as_rows(self._unpacked(name))

    def texts(self, name: str) -> list[str]:
        return cells(self._unpacked(name))

    def _unpacked(self, name: str) -> Array:
        with _reading(INTACT), self._zip.open(self._entries[name]) as file:
            array: Array = np.lib.format.read_array(file, allow_pickle=False)
            return array


# An OSError, because a damaged ZIP file may name a place before its beginning.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)


@contextmanager
def _reading(expected: str) -> Iterator[None]:
    """Raise errors of a damaged array or ZIP file, or of one with a password, as Unusable."""
    try:
        yield
    except DAMAGED as error:
        raise Unusable(expected, readable(str(error)) or "it ends early") from error


class ParquetFile(ArrayFile):
    """Each column is an array, and all columns of numbers together are another."""

    kind = "Parquet table"

    def __init__(self, path: Path, limits: Limits) -> None:
        self._file, self._limits = open_parquet(path), limits
        self._types = {field.name: field.type for field in self._file.schema_arrow}
        self._shown = {readable(name): name for name in self._types}
        self._rows: int = self._file.metadata.num_rows
        self.arrays = [self._info(shown, self._types[name]) for shown, name in self._shown.items()]
        if together := self._together(""):
            self.arrays.insert(0, self._numbers(ALL_NUMBERS, (self._rows, len(together)), "float32"))
            self.problems = tuple(_no_feature(shown) for shown in self._shown if shown.lower() in NO_FEATURES)

    def _info(self, shown: str, type_: Any) -> ArrayInfo:
        from pyarrow import types

        dtype = str(type_)[:80].replace("double", "float64").replace("halffloat", "float16")
        if _is_number(type_):
            return self._numbers(shown, (self._rows,), dtype)
        items = item_type(type_)
        if items is not None and _is_number(items):
            width = self._first_length(self._shown[shown])
            return self._numbers(shown, (self._rows, width), f"{dtype} of lists")
        inner = type_.value_type if types.is_dictionary(type_) else type_
        if not (types.is_string(inner) or types.is_large_string(inner)):
            return ArrayInfo(shown, (), dtype, "it holds neither numbers, lists of numbers nor text")
        return ArrayInfo(shown, (self._rows,), dtype, "" if self._rows else "it is empty", "text")

    def _numbers(self, name: str, shape: tuple[int, ...], dtype: str) -> ArrayInfo:
        return ArrayInfo(name, shape, dtype, _unfit(4 * math.prod(shape), "vector_bytes", self._limits))

    def _first_length(self, name: str) -> int:
        """Return the length of the first list in a column; 0 if there is none."""
        first = next(batches(self._file, [name], 1), None)
        return 0 if first is None else len(first.column(0)[0].as_py() or ())

    def _together(self, without: str) -> list[str]:
        """Return the columns of numbers without the column of ids."""
        return [
            name
            for shown, name in self._shown.items()
            if _is_number(self._types[name])
            and shown != without
            and shown.lower() not in NO_FEATURES
            and not name.startswith(INDEX)
        ]

    def numbers(self, name: str, ids: str) -> Array:
        names = self._together(ids) if name == ALL_NUMBERS else [self._shown[name]]
        is_list = item_type(self._types[names[0]]) is not None
        width = self._first_length(names[0]) if is_list else len(names)
        matrix = np.empty((self._rows, width), np.float32)
        start = 0
        for batch in batches(self._file, names):
            columns = [_flat(batch.column(0), width, start)] if is_list else batch.columns
            with np.errstate(over="ignore"):
                parts = [column.cast("float64").to_numpy(zero_copy_only=False) for column in columns]
                matrix[start : start + batch.num_rows] = np.stack(parts, axis=-1).reshape(-1, width)
            start += batch.num_rows
        return matrix

    def texts(self, name: str) -> list[str]:
        columns = (batch.column(0).to_pylist() for batch in batches(self._file, [self._shown[name]]))
        return ["" if value is None else str(value)[:LONGEST_ID] for column in columns for value in column]


def _is_number(type_: Any) -> bool:
    from pyarrow import types

    return bool(types.is_boolean(type_) or types.is_integer(type_) or types.is_floating(type_))


def _flat(column: Any, width: int, start: int) -> Any:
    """Return the items of lists one after the other; Unusable if a list has another length."""
    # start: the first row.
    from pyarrow import compute

    lengths = compute.fill_null(compute.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero(lengths != width)
    if len(wrong):
        came = f"one of {int(lengths[wrong[0]]):,} in row {start + int(wrong[0]) + 1:,}"
        raise Unusable(f"lists of {width:,} numbers each", came)
    return compute.list_flatten(column)


def _no_feature(shown: str) -> Problem:
    done = f"not part of “{ALL_NUMBERS}”; rename the column if it is a feature"
    return Problem(
        f"column {shown}", "columns of features", "a name that is usual for labels, splits or boxes", done
    )


def array_info(name: str, file: IO[bytes], limits: Limits) -> ArrayInfo:
    """Return a description of the array in a file, from its header."""
    try:
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read(file)
    except Exception as error:
        # NumPy may raise any error for a damaged header
        return ArrayInfo(name, (), "", f"its header is damaged ({readable(str(error), 150)})")
    if dtype.hasobject:
        why = "it holds Python objects (a pickle), which are never opened; save it as numbers or text"
        return ArrayInfo(name, (), "", why)
    if dtype.kind not in f"{NUMBERS}U":
        return ArrayInfo(name, (), "", f"it holds {readable(str(dtype), 80)}, neither numbers nor text")
    limit = "vector_bytes" if dtype.kind in NUMBERS else "table_bytes"
    why = _unfit(math.prod(shape) * dtype.itemsize, limit, limits)
    return ArrayInfo(name, squeezed(shape), str(dtype), why, "numbers" if dtype.kind in NUMBERS else "text")


def _unfit(size: int, limit: str, limits: Limits) -> str:
    """Return why an array of `size` bytes cannot be read; "" if it can."""
    # limit: the field of `limits`.
    most = getattr(limits, limit)
    if size > most:
        return f"it has {size:,} bytes, expected at most {most:,}; {variable(limit)} sets the limit"
    return "" if size else "it is empty"


def squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape without trailing ones, except in the first two dimensions.

    >>> squeezed((10, 512, 1, 1)), squeezed((10, 1)), squeezed((10,))
    ((10, 512), (10, 1), (10,))
    """
    # Outputs of networks have such ones.
    while len(shape) > 2 and shape[-1] == 1:
        shape = shape[:-1]
    return shape


def as_rows(array: Array) -> Array:
    return array.reshape(squeezed(array.shape))


def cells(array: Array) -> list[str]:
    """Return the entries of an array as text.

    >>> cells(np.array([3, 1])), cells(np.array(["a", "b"]))
    (['3', '1'], ['a', 'b'])
    """
    return [str(cell) for cell in array.tolist()]
