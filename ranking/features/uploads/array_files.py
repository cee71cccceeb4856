"""Uploaded files of arrays (.npy, .npz, safetensors) and tables (Parquet, CSV, TSV).

Each array is described first, and read only if it is chosen. Nothing is unpickled, and no header is trusted: an array
is refused before memory is allocated if it claims another size than its file has, or more than the limits allow.
"""

from __future__ import annotations

import json
import math
import pickletools
import re
import weakref
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from csv import reader
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ranking.core import Problem
from ranking.core.arrays import AnyArray
from ranking.core.text import readable
from ranking.files import Limits, Unusable
from ranking.files.limits import megabytes, variable
from ranking.files.parquet import ROWS, batches, is_text, item_type, open_parquet, text_fields

if TYPE_CHECKING:
    import pyarrow

Array = AnyArray
NUMBERS = "biuf"
INTACT = "an intact ZIP file"
# ids of samples, and characters of one
MAX_IDS, LONGEST_ID = 1_000_000, 1_000
# bytes of a header
LONGEST_HEADER = 2**26
# the numbers of safetensors
TENSORS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "BOOL": "?"} | {
    f"{kind}{8 * size}": f"<{kind.lower()}{size}" for kind in "IU" for size in (1, 2, 4, 8)
}
ALL_NUMBERS = "all columns of numbers"
# the name that pandas gives to an unnamed index
INDEX = "__index_level_"
# a list of numbers as text: of Python, of NumPy (array), of PyTorch (tensor)
LIST = re.compile(r"\s*(?:\w+\()?[\[({]+([^\[\](){}]+)[\])}]+(?:, *\w+=[^()]*\))?\s*")
# Columns that must not be features: the label of a sample, its side of the split, the position of its box.
LABELS = {"label", "labels", "class", "classes", "target", "y", "query", "relevance", "grade"}
SIDES = {"split", "test", "train", "fold", "group"}
IDS = re.compile(r"(.*_|)(id|ids|idx|index|sample|image|name|file|filename|path|key|url)s?", re.IGNORECASE)
BOXES = {"left", "top", "right", "bottom", "xmin", "ymin", "xmax", "ymax"}
NO_FEATURES = LABELS | SIDES | BOXES


def names_ids(name: str) -> bool:
    """Return whether a name is usual for ids of samples or images.

    >>> names_ids("image_path"), names_ids("IDs"), names_ids("__index_level_0__"), names_ids("width")
    (True, True, True, False)
    """
    return IDS.fullmatch(name) is not None or name.startswith(INDEX)


def may_be_feature(name: str) -> bool:
    """Return whether a column of that name may be one of “all columns of numbers”."""
    return name.lower() not in NO_FEATURES and not names_ids(name)


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
        self._pickled: dict[str, list[str]] = {}
        self._entries = {readable(entry.filename.removesuffix(".npy")): entry for entry in entries}
        self.arrays = [self._info(shown, entry, limits) for shown, entry in self._entries.items()]

    def _info(self, shown: str, entry: zipfile.ZipInfo, limits: Limits) -> ArrayInfo:
        try:
            with _reading(INTACT), self._zip.open(entry) as file:
                info = array_info(shown, file, limits)
                texts = pickled_texts(file, limits) if info.dtype == "object" else []
                if not texts:
                    return info
                self._pickled[shown] = texts
                return ArrayInfo(shown, (len(texts),), "object", holds="text")
        except Unusable as error:
            return ArrayInfo(shown, (), "", f"expected {error.expected}, got {error.came}")

    def numbers(self, name: str, ids: str) -> Array:
        return as_rows(self._unpacked(name))

    def texts(self, name: str) -> list[str]:
        return self._pickled.get(name) or cells(self._unpacked(name))

    def _unpacked(self, name: str) -> Array:
        with _reading(INTACT), self._zip.open(self._entries[name]) as file:
            array: Array = np.lib.format.read_array(file, allow_pickle=False)
            return array


# An OSError, because a damaged ZIP file may name a place before its beginning.
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OSError,
    KeyError,
    TypeError,
    AttributeError,
)


@contextmanager
def _reading(expected: str) -> Iterator[None]:
    """Raise errors of a damaged array or ZIP file, or of one with a password, as Unusable."""
    try:
        yield
    except DAMAGED as error:
        raise Unusable(expected, readable(str(error)) or "it ends early") from error


class TableFile(ArrayFile):
    """Each column is an array, and all columns of numbers together are another. types: of each column, by its name."""

    kind = "table"

    def __init__(self, types: Mapping[str, Any], rows: int, limits: Limits) -> None:
        self._types, self._rows, self._limits = types, rows, limits
        self._shown = {readable(name): name for name in self._types}
        self.arrays = [self._info(shown, self._types[name]) for shown, name in self._shown.items()]
        if together := self._together(""):
            self.arrays.insert(0, self._numbers(ALL_NUMBERS, (self._rows, len(together)), "float32"))
            hidden = [
                shown
                for shown, name in self._shown.items()
                if _is_number(self._types[name]) and name not in together
            ]
            self.problems = tuple(map(_no_feature, hidden))

    @abstractmethod
    def batches(self, names: Sequence[str], rows: int = ROWS) -> Iterator[Any]:
        """Yield the columns with these names of all rows, so many at a time."""

    def _info(self, shown: str, type_: pyarrow.DataType) -> ArrayInfo:
        dtype = str(type_)[:80].replace("double", "float64").replace("halffloat", "float16")
        if _is_number(type_):
            return self._numbers(shown, (self._rows,), dtype)
        items = item_type(type_)
        if items is not None and _is_number(items):
            width = self._first_length(self._shown[shown])
            return self._numbers(shown, (self._rows, width), f"{dtype} of lists")
        if not is_text(type_):
            return ArrayInfo(shown, (), dtype, "it holds neither numbers, lists of numbers nor text")
        if width := self._first_length(self._shown[shown]):
            return self._numbers(shown, (self._rows, width), f"{dtype} of lists")
        return ArrayInfo(shown, (self._rows,), dtype, "" if self._rows else "it is empty", "text")

    def _numbers(self, name: str, shape: tuple[int, ...], dtype: str) -> ArrayInfo:
        return ArrayInfo(name, shape, dtype, _unfit(4 * math.prod(shape), "vector_bytes", self._limits))

    def _first_length(self, name: str) -> int:
        """Return the length of the first list in a column, which may be a text; 0 if there is none."""
        first = next(self.batches([name], 1), None)
        cell = None if first is None else first.column(0)[0].as_py()
        return len((listed_numbers(cell) if isinstance(cell, str) else cell) or ())

    def _together(self, without: str) -> list[str]:
        """Return the columns of numbers without the column of ids."""
        return [
            name
            for shown, name in self._shown.items()
            if _is_number(self._types[name]) and shown != without and may_be_feature(shown)
        ]

    def numbers(self, name: str, ids: str) -> Array:
        names = self._together(ids) if name == ALL_NUMBERS else [self._shown[name]]
        is_texts = name != ALL_NUMBERS and is_text(self._types[names[0]])
        is_list = is_texts or item_type(self._types[names[0]]) is not None
        width = self._first_length(names[0]) if is_list else len(names)
        matrix = np.empty((self._rows, width), np.float32)
        start = 0
        for batch in self.batches(names):
            column = _lists(batch.column(0)) if is_texts else batch.column(0)
            columns = [_flat(column, width, start, name)] if is_list else batch.columns
            with np.errstate(over="ignore"):
                # whole numbers above 2^53 are rounded
                parts = [
                    column.cast("float64", safe=False).to_numpy(zero_copy_only=False) for column in columns
                ]
                matrix[start : start + batch.num_rows] = np.stack(parts, axis=-1).reshape(-1, width)
            start += batch.num_rows
        return matrix

    def texts(self, name: str) -> list[str]:
        columns = (batch.column(0).to_pylist() for batch in self.batches([self._shown[name]]))
        return ["" if value is None else str(value)[:LONGEST_ID] for column in columns for value in column]


class ParquetFile(TableFile):
    """A Parquet table."""

    kind = "Parquet table"

    def __init__(self, path: Path, limits: Limits) -> None:
        self._file = open_parquet(path)
        schema = self._file.schema_arrow
        types = {field.name: field.type for field in schema} | text_fields(schema)
        super().__init__(types, self._file.metadata.num_rows, limits)

    def batches(self, names: Sequence[str], rows: int = ROWS) -> Iterator[Any]:
        return batches(self._file, names, rows)


class TextTable(TableFile):
    """A CSV or TSV table. The first row has the names of columns, unless one of its cells is a number."""

    kind = "CSV table"

    def __init__(self, path: Path, limits: Limits) -> None:
        from pyarrow import ArrowException, csv

        size = path.stat().st_size
        if size > limits.vector_bytes:
            raise Unusable(f"at most {megabytes(limits.vector_bytes, 'vector_bytes')}", megabytes(size))
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            line = file.readline(LONGEST_HEADER)
        mark = max(",;\t", key=line.count)
        first = next(reader([line], delimiter=mark), [])
        has_header = not any(map(_is_numeric, first))
        names = [name.strip() if has_header else f"column {place}" for place, name in enumerate(first, 1)]
        unique = [
            name if name not in names[:place] else f"{name} ({place + 1})" for place, name in enumerate(names)
        ]
        # types are decided from all rows
        whole = csv.ReadOptions(
            use_threads=False, block_size=max(size, 1), column_names=unique, skip_rows=int(has_header)
        )
        try:
            self._table = csv.read_csv(path, whole, csv.ParseOptions(delimiter=mark, newlines_in_values=True))
        except (ArrowException, OSError, ValueError) as error:
            raise Unusable("comma-separated values in UTF-8", readable(str(error), 200)) from error
        types = {field.name: field.type for field in self._table.schema}
        super().__init__(types, self._table.num_rows, limits)

    def batches(self, names: Sequence[str], rows: int = ROWS) -> Iterator[Any]:
        return iter(self._table.select(names).to_batches(rows)) if self._rows else iter(())


def _is_numeric(cell: str) -> bool:
    try:
        return bool(cell.strip()) and not math.isnan(float(cell))
    except ValueError:
        return False


class Safetensors(ArrayFile):
    """The tensors of a file in safetensors format: a length, a header in JSON, the numbers one after the other."""

    kind = "tensors (safetensors)"

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path = path
        with path.open("rb") as file, _reading("an intact safetensors file"):
            self._start = 8 + int.from_bytes(file.read(8), "little")
            if not 8 < self._start <= min(path.stat().st_size, LONGEST_HEADER):
                raise ValueError("its header is longer than the file, or than 64 MB")
            header = json.loads(file.read(self._start - 8))
            header.pop("__metadata__", None)
            self._tensors = {readable(name): entry for name, entry in header.items()}
            self.arrays = [self._info(name, entry, limits) for name, entry in self._tensors.items()]

    def _info(self, name: str, entry: Any, limits: Limits) -> ArrayInfo:
        dtype, (first, last) = TENSORS.get(entry["dtype"]), entry["data_offsets"]
        shape = tuple(map(int, entry["shape"]))
        if dtype is None:
            return ArrayInfo(
                name, (), readable(str(entry["dtype"]), 20), "its numbers are of a kind that is not read"
            )
        size = math.prod(shape) * np.dtype(dtype).itemsize
        fits = 0 <= first <= last <= self._path.stat().st_size - self._start and size == last - first
        why = _unfit(size, "vector_bytes", limits) if fits else "its header does not fit its data"
        return ArrayInfo(name, squeezed(shape), entry["dtype"], why)

    def _tensor(self, name: str) -> Array:
        entry = self._tensors[name]
        place, dtype = self._start + entry["data_offsets"][0], TENSORS[entry["dtype"]]
        array: Array = np.fromfile(self._path, dtype, math.prod(entry["shape"]), offset=place)
        if entry["dtype"] == "BF16":
            # the upper half of a float32
            array = (array.astype("<u4") << 16).view("<f4")
        return array.reshape(entry["shape"])

    def numbers(self, name: str, ids: str) -> Array:
        return as_rows(self._tensor(name))

    def texts(self, name: str) -> list[str]:
        return cells(self._tensor(name))


def _is_number(type_: pyarrow.DataType) -> bool:
    from pyarrow import types

    return bool(types.is_boolean(type_) or types.is_integer(type_) or types.is_floating(type_))


def listed_numbers(text: str) -> list[float]:
    """Return the numbers of a list that was written as text; [] for other texts and for fewer than two numbers.

    >>> listed_numbers("[0.5, -2]"), listed_numbers("[0.5 ... 2]"), listed_numbers("3, 4")
    ([0.5, -2.0], [], [])
    """
    found = LIST.fullmatch(text)
    try:
        numbers = [float(word) for word in re.split(r"[\s,;]+", found[1].strip(" \n,"))] if found else []
    except ValueError:
        return []
    return numbers if len(numbers) > 1 else []


def _lists(column: pyarrow.Array) -> pyarrow.Array:
    """Return a column of texts as lists of numbers."""
    import pyarrow

    rows = [listed_numbers(text or "") for text in column.to_pylist()]
    return pyarrow.array(rows, pyarrow.list_(pyarrow.float64()))


def _flat(column: pyarrow.ListArray, width: int, start: int, name: str) -> pyarrow.Array:
    """Return the items of lists one after the other; Unusable if a list has another length. start: the first row.
    name: of the column."""
    from pyarrow import compute

    lengths = compute.fill_null(compute.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero(lengths != width)
    if len(wrong):
        came = f"one of {int(lengths[wrong[0]]):,} in row {start + int(wrong[0]) + 1:,}"
        raise Unusable(f"lists of {width:,} numbers each in “{name}”", came)
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
        return ArrayInfo(name, (), "object", why)
    if dtype.kind not in f"{NUMBERS}US":
        return ArrayInfo(name, (), "", f"it holds {readable(str(dtype), 80)}, neither numbers nor text")
    limit = "vector_bytes" if dtype.kind in NUMBERS else "table_bytes"
    why = _unfit(math.prod(shape) * dtype.itemsize, limit, limits)
    return ArrayInfo(name, squeezed(shape), str(dtype), why, "numbers" if dtype.kind in NUMBERS else "text")


def pickled_texts(file: IO[bytes], limits: Limits) -> list[str]:
    """Return the texts of a pickled array of Python texts; [] where it holds anything else. Nothing is unpickled: the
    texts are read from the instructions of the pickle."""
    data = file.read(limits.table_bytes + 1)
    texts: list[str] = []
    # of the list that the array is made of, with its kept values
    kept: dict[int, str] = {}
    last, in_list = "", False
    try:
        for operation, argument, _ in pickletools.genops(data[: limits.table_bytes]):
            name = operation.name
            if name in ("BINUNICODE", "SHORT_BINUNICODE", "BINGET", "LONG_BINGET") and in_list:
                last = kept[int(argument or 0)] if name.endswith("GET") else str(argument)
                texts.append(last)
            elif name in ("BINPUT", "LONG_BINPUT", "MEMOIZE"):
                kept[len(kept) if argument is None else int(argument)] = last
            elif in_list and name not in ("MARK", "APPENDS", "APPEND"):
                return texts if name in ("TUPLE", "BUILD") else []
            elif not in_list:
                in_list, last = name == "EMPTY_LIST", ""
    except (ValueError, KeyError, TypeError):
        return []
    return []


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
    decoded = np.strings.decode(array, "utf-8", "replace") if array.dtype.kind == "S" else array
    return [str(cell) for cell in decoded.tolist()]
