"""Uploaded files of arrays (.npy, .npz, Parquet): each array is described first, and read only if it is chosen.

Nothing is unpickled, and no header is trusted: an array is refused before memory is allocated if it claims another size
than its file has, or more than the limits allow.
"""

from __future__ import annotations

import io
import json
import math
import shutil
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from ranking.core import Problem
from ranking.core.errors import InputError
from ranking.core.text import readable
from ranking.features.uploaded_vectors import MAX_COLUMNS
from ranking.files import Limits, Unusable
from ranking.files.archives import LONGEST_HEADER, check_array, check_text
from ranking.files.limits import variable
from ranking.files.parquet_tables import LISTS, Most, describe_columns, write_numbers, write_texts
from ranking.files.zip_tree import ZipTree

Array = npt.NDArray[Any]
NUMBERS = "biuf"
HEAD = LONGEST_HEADER + 1_000  # bytes in which the header of an array must end
MAX_ARRAYS = 1_000  # of one file
MAX_IDS = 1_000_000
ID_NAMES = ("id", "ids", "sample", "samples", "image", "images", "name", "names", "file", "filename", "path")
MAX_IDS_READ = 6  # columns of a Parquet table that are read for ids
ARRAY_RATIO = 1_100  # by which arrays may expand: arrays of zeros reach the maximum of deflate
ARRAYS = 4  # the limit of all arrays of a ZIP file, as a multiple of the limit of one array
ALL_NUMBERS = "all columns of numbers"
TEXTS = "texts.json"
INDEX = "__index_level_"  # the name that pandas gives to an unnamed index
# Columns that must not be features: the label of a sample, its side of the split, the position of its box.
LABELS = {"label", "labels", "class", "classes", "target", "y", "query", "relevance", "grade"}
SIDES = {"id", "ids", "index", "split", "test", "train", "fold", "group"}
BOXES = {"left", "top", "right", "bottom", "xmin", "ymin", "xmax", "ymax"}
NO_FEATURES = LABELS | SIDES | BOXES


@dataclass(frozen=True)
class ArrayInfo:
    """An array of a file, or a column of a table. shape: () if it is unknown. why: why it can be used neither for
    vectors nor for ids; "" if it can."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    why: str = ""
    holds: str = "numbers"  # or "text"

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
    """kind: a description of the file. arrays: in order. problems: report rows about parts that are never read."""

    kind: str
    arrays: list[ArrayInfo]
    problems: tuple[Problem, ...] = ()

    @abstractmethod
    def numbers(self, name: str, ids: str) -> Array:
        """Return (n, d) the numbers of an array, on disk rather than in memory; Unusable if it cannot be read. ids: the
        array that names the samples, which is excluded."""

    @abstractmethod
    def texts(self, name: str) -> list[str]:
        """Return (n,) the cells of an array of possible ids, as text; Unusable if it cannot be read."""


class NpyFile(ArrayFile):
    """One array, called "array"."""

    kind = "one array of NumPy (.npy)"

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path, self._limits = path, limits
        with path.open("rb") as file:
            self.arrays = [array_info("array", file, path.stat().st_size, limits)]

    def numbers(self, name: str, ids: str) -> Array:
        return as_rows(np.load(self._path, mmap_mode="r", allow_pickle=False))

    def texts(self, name: str) -> list[str]:
        return cells(np.load(self._path, mmap_mode="r", allow_pickle=False))


class NpzFile(ArrayFile):
    """The arrays of a ZIP file written by `numpy.savez`. scratch: a folder for unpacked arrays."""

    kind = "arrays of NumPy (.npz)"

    def __init__(self, path: Path, called: str, limits: Limits, scratch: Path) -> None:
        of_arrays = replace(
            limits,
            entries=min(limits.entries, MAX_ARRAYS),
            ratio=max(limits.ratio, ARRAY_RATIO),
            total_bytes=min(limits.total_bytes, ARRAYS * limits.vector_bytes),
        )
        self._tree = ZipTree(path, of_arrays, called)
        self._limits, self._scratch, self.problems = limits, scratch, self._tree.problems
        names = [name for name in self._tree.names if name.endswith(".npy")]
        if not names:
            raise InputError(called, "arrays (.npy) in the ZIP file", "none", "save them with numpy.savez")
        self._entries = {readable(name.removesuffix(".npy")): name for name in names}
        self.arrays = [self._info(shown, name) for shown, name in self._entries.items()]

    def _info(self, shown: str, name: str) -> ArrayInfo:
        try:
            with self._tree.stream(name) as (file, size):
                return array_info(shown, file, size, self._limits)
        except Unusable as error:
            return ArrayInfo(shown, (), "", f"expected {error.expected}, got {readable(error.came)}")

    def numbers(self, name: str, ids: str) -> Array:
        return as_rows(self._unpacked(name))

    def texts(self, name: str) -> list[str]:
        return cells(self._unpacked(name))

    def _unpacked(self, name: str) -> Array:
        """Return an array, copied from the ZIP file in pieces: no more than its header claims, which was checked."""
        target = self._scratch / f"array-{list(self._entries).index(name)}.npy"
        with self._tree.stream(self._entries[name]) as (file, size), target.open("wb") as copy:
            shutil.copyfileobj(file, copy, 2**20)
            came = copy.tell()
        if came != size:
            raise Unusable("an intact entry of the ZIP file", "it ends early")
        loaded: Array = np.load(target, mmap_mode="r", allow_pickle=False)
        return loaded


class ParquetFile(ArrayFile):
    """Each column is an array, and all columns of numbers together are another. An isolated process reads the file.
    scratch: a folder for its output."""

    kind = "Parquet table"

    def __init__(self, path: Path, limits: Limits, scratch: Path) -> None:
        self._path, self._scratch = path, scratch
        size, name = limits.vector_bytes, variable("vector_bytes")
        self._most = Most(size, MAX_COLUMNS + 100, size // 2, name, f"half of {name}")
        table = describe_columns(path, self._most, ID_NAMES, MAX_IDS_READ, scratch / TEXTS)
        self._texts = self._read_texts()
        self._rows: int = table["rows"]
        self._columns: dict[str, dict[str, Any]] = {column["name"]: column for column in table["columns"]}
        self._shown = {readable(name): name for name in self._columns}
        self.arrays = [self._info(shown, self._columns[name]) for shown, name in self._shown.items()]
        if together := self._together(""):
            self.arrays.insert(0, ArrayInfo(ALL_NUMBERS, (self._rows, len(together)), "float32"))
            self.problems = tuple(_no_feature(shown) for shown in self._shown if shown.lower() in NO_FEATURES)

    def _info(self, shown: str, column: dict[str, Any]) -> ArrayInfo:
        holds, dtype = column["holds"], str(column["type"])
        why = "" if self._rows else "it has no rows"
        if holds == LISTS:
            why = why or ("" if column["width"] else "its first list is empty")
            return ArrayInfo(shown, (self._rows, column["width"]), f"{dtype} of lists", why)
        if holds not in ("numbers", "text"):
            return ArrayInfo(shown, (), dtype, "it holds neither numbers, lists of numbers nor text")
        float_ = dtype.replace("double", "float64").replace("halffloat", "float16")
        return ArrayInfo(shown, (self._rows,), float_, why, "text" if holds == "text" else "numbers")

    def _together(self, without: str) -> list[str]:
        """Return the columns of numbers without the column of ids."""
        return [
            name
            for name, column in self._columns.items()
            if column["holds"] == "numbers"
            and readable(name) != without
            and readable(name).lower() not in NO_FEATURES
            and not name.startswith(INDEX)
        ]

    def numbers(self, name: str, ids: str) -> Array:
        names = self._together(ids) if name == ALL_NUMBERS else [self._shown[name]]
        target = self._scratch / "numbers.npy"
        write_numbers(self._path, self._most, names, target)
        matrix: Array = np.load(target, mmap_mode="r", allow_pickle=False)
        return matrix

    def texts(self, name: str) -> list[str]:
        column = self._shown[name]
        if column not in self._texts:
            write_texts(self._path, self._most, column, self._scratch / TEXTS)
            self._texts |= self._read_texts()
        return self._texts[column]

    def _read_texts(self) -> dict[str, list[str]]:
        texts = json.loads((self._scratch / TEXTS).read_text("utf-8"))
        return {str(column): [str(cell) for cell in cells] for column, cells in texts.items()}


def _no_feature(shown: str) -> Problem:
    done = f"not part of “{ALL_NUMBERS}”; rename the column if it is a feature"
    return Problem(
        f"column {shown}", "columns of features", "a name that is usual for labels, splits or boxes", done
    )


def array_info(name: str, file: IO[bytes], size: int, limits: Limits) -> ArrayInfo:
    """Return a description of the array in `size` bytes of `file`, from its header."""
    head = io.BytesIO(file.read(HEAD))
    try:
        check_array(head, size, "it")
    except ValueError as error:
        pickle = "it holds Python objects (a pickle), which are never opened; save it as numbers or text"
        return ArrayInfo(name, (), "", pickle if "got object" in str(error) else readable(str(error), 200))
    dtype, shape = _header(head)
    limit = "vector_bytes" if dtype.kind in NUMBERS else "table_bytes"
    most, why = getattr(limits, limit), ""
    if size > most:
        why = f"it has {size:,} bytes, expected at most {most:,}; {variable(limit)} sets the limit"
    elif math.prod(shape) == 0:
        why = "it is empty"
    return ArrayInfo(name, squeezed(shape), str(dtype), why, "numbers" if dtype.kind in NUMBERS else "text")


def _header(head: IO[bytes]) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Return the type and the shape in a header that was checked."""
    head.seek(0)
    np.lib.format.read_magic(head)
    shape, _, dtype = np.lib.format.read_array_header_1_0(head, LONGEST_HEADER)
    return dtype, shape


def squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape without its trailing ones, as in outputs of networks, except in the first two dimensions.

    >>> squeezed((10, 512, 1, 1)), squeezed((10, 1)), squeezed((10,))
    ((10, 512), (10, 1), (10,))
    """
    while len(shape) > 2 and shape[-1] == 1:
        shape = shape[:-1]
    return shape


def as_rows(array: Array) -> Array:
    return array.reshape(squeezed(array.shape))


def cells(array: Array) -> list[str]:
    """Return the entries of an array as text; ValueError if they are not valid text.

    >>> cells(np.array([3, 1])), cells(np.array(["a", "b"]))
    (['3', '1'], ['a', 'b'])
    """
    if array.dtype.kind == "U":
        check_text(array, "the ids")
    return [str(cell) for cell in array.tolist()]
