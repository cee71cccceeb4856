"""What a person brings as a file of arrays: each array by name, told of before it is read, and read when it is chosen.

Nothing is unpickled, and no header is believed: an array that claims other bytes than its file has, or more than the
limits allow, is refused before room is made for it.
"""

from __future__ import annotations

import io
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
from ranking.files import Limits, Unusable
from ranking.files.archives import LONGEST_HEADER, check_array, check_text
from ranking.files.limits import variable
from ranking.files.zip_tree import ZipTree

Array = npt.NDArray[Any]
NUMBERS = "biuf"
HEAD = LONGEST_HEADER + 1_000  # bytes in which the header of an array must end
MOST_ARRAYS = 1_000  # of one file
MOST_IDS = 1_000_000
ID_NAMES = ("id", "ids", "sample", "samples", "image", "images", "name", "names", "file", "filename", "path")
MOST_TRIED = 6  # arrays that are looked into for ids
ARRAY_RATIO = 1_100  # by which arrays expand: those of mostly zeros as much as deflate can
ARRAYS = 4  # times what one array may have, all arrays of a ZIP file may have


@dataclass(frozen=True)
class Listed:
    """An array of a file, or a column of a table. shape: () where it cannot be known. why: why it can be used neither
    for vectors nor for ids, "" where it can."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    why: str = ""
    holds: str = "numbers"  # or "text"

    @property
    def may_be_vectors(self) -> bool:
        """Whether its rows could be the vectors of samples."""
        return not self.why and self.holds == "numbers" and len(self.shape) == 2

    @property
    def may_be_ids(self) -> bool:
        """Whether its rows could name samples."""
        few = len(self.shape) == 1 and self.shape[0] <= MOST_IDS
        return not self.why and few and not self.dtype.startswith(("float", "bool"))


class ArrayFile(ABC):
    """kind: what it is, in words. listed: its arrays, in order. problems: what is never read of it, and why."""

    kind: str
    listed: list[Listed]

    problems: tuple[Problem, ...] = ()

    @abstractmethod
    def numbers(self, name: str, ids: str) -> Array:
        """(n, d) the numbers of an array, on disk rather than in memory; Unusable where it cannot be read. ids: the
        array that names the samples, which is no part of it."""

    @abstractmethod
    def texts(self, name: str) -> list[str]:
        """(n,) the cells of an array that may be ids, as text; Unusable where it cannot be read."""


class NpyFile(ArrayFile):
    """One array, called "array"."""

    kind = "one array of NumPy (.npy)"

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path, self._limits = path, limits
        with path.open("rb") as file:
            self.listed = [listed("array", file, path.stat().st_size, limits)]

    def numbers(self, name: str, ids: str) -> Array:
        return as_rows(np.load(self._path, mmap_mode="r", allow_pickle=False))

    def texts(self, name: str) -> list[str]:
        return cells(np.load(self._path, mmap_mode="r", allow_pickle=False))


class NpzFile(ArrayFile):
    """The arrays of a ZIP file, as `numpy.savez` writes it. scratch: a folder for what is unpacked."""

    kind = "arrays of NumPy (.npz)"

    def __init__(self, path: Path, called: str, limits: Limits, scratch: Path) -> None:
        of_arrays = replace(
            limits,
            entries=min(limits.entries, MOST_ARRAYS),
            ratio=max(limits.ratio, ARRAY_RATIO),
            total_bytes=min(limits.total_bytes, ARRAYS * limits.vector_bytes),
        )
        self._tree = ZipTree(path, of_arrays, called)
        self._limits, self._scratch, self.problems = limits, scratch, self._tree.problems
        names = [name for name in self._tree.names if name.endswith(".npy")]
        if not names:
            raise InputError(called, "arrays (.npy) in the ZIP file", "none", "save them with numpy.savez")
        self._entries = {readable(name.removesuffix(".npy")): name for name in names}
        self.listed = [self._listed(shown, name) for shown, name in self._entries.items()]

    def _listed(self, shown: str, name: str) -> Listed:
        try:
            with self._tree.stream(name) as (file, size):
                return listed(shown, file, size, self._limits)
        except Unusable as error:
            return Listed(shown, (), "", f"expected {error.expected}, got {readable(error.came)}")

    def numbers(self, name: str, ids: str) -> Array:
        return as_rows(self._unpacked(name))

    def texts(self, name: str) -> list[str]:
        return cells(self._unpacked(name))

    def _unpacked(self, name: str) -> Array:
        """An array, copied out of the ZIP file piece by piece: no more than its header claims, which was looked at."""
        target = self._scratch / f"array-{list(self._entries).index(name)}.npy"
        with self._tree.stream(self._entries[name]) as (file, size), target.open("wb") as copy:
            shutil.copyfileobj(file, copy, 2**20)
            came = copy.tell()
        if came != size:
            raise Unusable("an intact entry of the ZIP file", "it ends early")
        loaded: Array = np.load(target, mmap_mode="r", allow_pickle=False)
        return loaded


def listed(name: str, file: IO[bytes], size: int, limits: Limits) -> Listed:
    """The array that `size` bytes of `file` claim to be."""
    head = io.BytesIO(file.read(HEAD))
    try:
        check_array(head, size, "it")
    except ValueError as error:
        said = "it holds Python objects (a pickle), which are never opened; save it as numbers or text"
        return Listed(name, (), "", said if "got object" in str(error) else readable(str(error), 200))
    dtype, shape = _header(head)
    limit = "vector_bytes" if dtype.kind in NUMBERS else "table_bytes"
    most, why = getattr(limits, limit), ""
    if size > most:
        why = f"it has {size:,} bytes, expected at most {most:,}; {variable(limit)} says how many"
    elif math.prod(shape) == 0:
        why = "it is empty"
    return Listed(name, squeezed(shape), str(dtype), why, "numbers" if dtype.kind in NUMBERS else "text")


def _header(head: IO[bytes]) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """What a header says that was checked."""
    head.seek(0)
    np.lib.format.read_magic(head)
    shape, _, dtype = np.lib.format.read_array_header_1_0(head, LONGEST_HEADER)
    return dtype, shape


def squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without its trailing ones, as networks leave them, but for the first two.

    >>> squeezed((10, 512, 1, 1)), squeezed((10, 1)), squeezed((10,))
    ((10, 512), (10, 1), (10,))
    """
    while len(shape) > 2 and shape[-1] == 1:
        shape = shape[:-1]
    return shape


def as_rows(array: Array) -> Array:
    return array.reshape(squeezed(array.shape))


def cells(array: Array) -> list[str]:
    """What the entries of an array are called; ValueError where they are no text, though the array says so.

    >>> cells(np.array([3, 1])), cells(np.array(["a", "b"]))
    (['3', '1'], ['a', 'b'])
    """
    if array.dtype.kind == "U":
        check_text(array, "the ids")
    return [str(cell) for cell in array.tolist()]
