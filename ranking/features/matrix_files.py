"""Matrices of features on disk: written whole or not at all; large ones are mapped into memory, not read.

The pages of a mapped file are the file's own: the system brings them in as they are used, shares them among processes
and drops them where memory is short. Copies of a large matrix are therefore files too, and work goes by blocks of rows.
"""

from __future__ import annotations

import logging
import mmap
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from ranking.core import LARGEST, Bools, Features, all_within, blocks_of_rows

Matrix = npt.NDArray[np.float32]

LARGE = 1 << 28  # bytes: a matrix of so many is mapped

log = logging.getLogger(__name__)


def is_large(shape: Sequence[int]) -> bool:
    """Whether a float32 matrix of that shape is mapped into memory."""
    return shape[0] * shape[1] * np.dtype(np.float32).itemsize >= LARGE


def read(path: Path, shape: tuple[int, int]) -> Matrix | None:
    """The finite matrix in `path`, mapped where it is large; None where there is none, or (as the log says) no sound
    one."""
    try:
        matrix: Matrix = np.load(path, allow_pickle=False, mmap_mode="r" if is_large(shape) else None)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, EOFError) as error:
        log.warning("feature cache %s cannot be read (%s); computing it again", path.name, error)
        return None
    if matrix.shape != shape or matrix.dtype != np.float32 or not all_within(matrix, LARGEST):
        came = f"{matrix.dtype} of shape {matrix.shape}"
        log.warning("feature cache %s must be finite float32 of shape %s, got %s", path.name, shape, came)
        return None
    return matrix


def keep(path: Path, matrix: Matrix) -> Matrix:
    """Have `path` hold a matrix; it, mapped where it is large."""
    with _whole(path) as file:
        np.save(file, matrix)
    return _mapped(path) if is_large(matrix.shape) else matrix


def keep_joined(path: Path, parts: Sequence[Matrix], on_rows: Callable[[int], None]) -> Matrix:
    """Have `path` hold what `joined` makes of large parts, by blocks of rows; it, mapped. on_rows hears how many rows
    there are."""
    shape = (len(parts[0]), sum(part.shape[1] for part in parts))
    with _whole(path) as file:
        type_of_numbers = np.lib.format.dtype_to_descr(np.dtype(np.float32))
        header = {"descr": type_of_numbers, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for rows in blocks_of_rows(shape):
            file.write(joined([part[rows] for part in parts]).data)
            on_rows(rows.stop)
    return _mapped(path)


def joined(parts: Sequence[Matrix]) -> Matrix:
    """Side by side, rows of length 1 (0 where all are 0)."""
    together = np.hstack(parts)
    norms = np.linalg.norm(together, axis=1, keepdims=True)
    np.divide(together, norms, out=together, where=norms > 0)
    return together


def rows_of(features: Features, rows: Bools) -> Features:
    """(k, d) the `rows` (n,) of features. Where these are mapped and the rows many, they are mapped too: as they lie
    there if they follow each other, else as a file beside it that has no name and goes with the last who uses it."""
    chosen = np.flatnonzero(rows)
    shape = (len(chosen), features.shape[1])
    if not (isinstance(features, np.memmap) and features.filename and is_large(shape)):
        return features[rows]
    if chosen[-1] - chosen[0] == len(chosen) - 1:
        return features[chosen[0] : chosen[-1] + 1]
    with tempfile.TemporaryFile(dir=Path(features.filename).parent) as file:
        for block in blocks_of_rows(shape):
            file.write(features[chosen[block]].data)
        file.flush()
        _let_go(features)
        mapped: Features = np.memmap(file, features.dtype, "r", shape=shape)  # type: ignore[assignment]
        return mapped


def _let_go(matrix: Features) -> None:
    """Take no memory for the pages of a mapped matrix that were read; they come back as they are used."""
    file: Any = matrix.base
    if isinstance(file, mmap.mmap):
        file.madvise(mmap.MADV_DONTNEED)


def _mapped(path: Path) -> Matrix:
    matrix: Matrix = np.load(path, allow_pickle=False, mmap_mode="r")
    return matrix


@contextmanager
def _whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which then takes the name `path`: a reader never sees half a matrix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, half_written = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.replace(half_written, path)
    except BaseException:
        Path(half_written).unlink(missing_ok=True)
        raise
