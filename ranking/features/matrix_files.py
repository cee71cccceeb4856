"""Feature matrices on disk: written atomically; large matrices are mapped into memory, not read.

The system loads the pages of a mapped file when they are used, shares them among processes, and drops them when memory
is short. Copies of a large matrix are therefore files too, and computations process blocks of rows.
"""

from __future__ import annotations

import logging
import mmap
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from ranking.core import LARGEST, Bools, Features, all_within, blocks_of_rows

Matrix = npt.NDArray[np.float32]

# bytes from which a matrix is mapped
LARGE = 1 << 28

log = logging.getLogger(__name__)


def is_large(shape: Sequence[int]) -> bool:
    """Return whether a float32 matrix of that shape is mapped into memory."""
    return shape[0] * shape[1] * np.dtype(np.float32).itemsize >= LARGE


def read(path: Path, shape: tuple[int, int]) -> Matrix | None:
    """Return the finite matrix in `path`, mapped if it is large; None without a valid file."""
    # A file that is not valid leaves a warning in the log.
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


def store(path: Path, matrix: Matrix) -> Matrix:
    """Write a matrix to `path`; return it, mapped if it is large."""
    with _whole(path) as file:
        np.save(file, matrix)
    return _mapped(path) if is_large(matrix.shape) else matrix


def store_joined(
    path: Path,
    parts: Sequence[Matrix],
    join: Callable[[Sequence[Matrix]], Matrix],
    on_rows: Callable[[int], None],
) -> Matrix:
    """Write `join` of large parts to `path`, by blocks of rows; return it, mapped. on_rows: called with the number of
    rows written so far."""
    shape = (len(parts[0]), sum(part.shape[1] for part in parts))

    def blocks() -> Iterator[Matrix]:
        for rows in blocks_of_rows(shape):
            yield join([part[rows] for part in parts])
            on_rows(rows.stop)

    store_blocks(path, blocks(), shape[1])
    return _mapped(path)


def store_blocks(
    path: Path, blocks: Iterable[Features], columns: int, precision: npt.DTypeLike = np.float32
) -> None:
    """Write blocks of rows (k, columns) to `path` as one matrix of that precision."""
    with _whole(path) as file:
        _write_header(file, (0, columns), precision)
        start, rows = file.tell(), 0
        for block in blocks:
            file.write(np.ascontiguousarray(block, precision).data)
            rows += len(block)
        file.seek(0)
        _write_header(file, (rows, columns), precision)
        # NumPy's headers have space for the number of rows
        assert file.tell() == start


def _write_header(file: IO[bytes], shape: tuple[int, int], precision: npt.DTypeLike) -> None:
    described = np.lib.format.dtype_to_descr(np.dtype(precision))
    header = {"descr": described, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)


def rows_of(features: Features, rows: Bools) -> Features:
    """Return (k, d) the `rows` (n,) of features. If these are mapped and the rows many, the result is mapped too: as
    part of the same file if the rows are consecutive, otherwise as an unnamed file that exists as long as it is
    used."""
    whole = features.base
    if isinstance(whole, np.memmap) and _place(whole) == _place(features):
        # a `BagSet` has it as a plain array
        features = whole[: len(features)]
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


def _place(matrix: Features) -> tuple[object, ...]:
    return matrix.ctypes.data, matrix.strides, matrix.shape[1:]


def _let_go(matrix: Features) -> None:
    """Release the memory of the pages of a mapped matrix; the system loads them again when they are used."""
    file: object = matrix.base
    if isinstance(file, mmap.mmap):
        file.madvise(mmap.MADV_DONTNEED)


def _mapped(path: Path) -> Matrix:
    matrix: Matrix = np.load(path, allow_pickle=False, mmap_mode="r")
    return matrix


@contextmanager
def _whole(path: Path) -> Iterator[IO[bytes]]:
    """Yield a file that is renamed to `path` when written."""
    # Readers then never see an incomplete matrix.
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, half_written = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.replace(half_written, path)
    except BaseException:
        Path(half_written).unlink(missing_ok=True)
        raise
