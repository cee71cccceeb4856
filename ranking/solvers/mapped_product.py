"""The exact product of a feature matrix in a mapped file, spread over the workers of joblib.

Where no `joblib.parallel_config` is active, it is computed here. Workers, such as those of Dask, map the file
themselves, so that only weights and products are transferred. Results are equal, because all multiply the same blocks
of rows.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from ranking.core import Features, Floats
from ranking.solvers.block import ROWS_AT_ONCE, exact_product


def mapped_product(features: Features, weights: Floats) -> Floats:
    """Return X w in float64, (n,), by the workers of joblib if X is a whole mapped file, otherwise here."""
    file, workers = features.base, int(effective_n_jobs(None))
    if workers == 1 or not isinstance(file, np.memmap) or not _is_whole(features, file):
        return exact_product(features, weights)
    step = ROWS_AT_ONCE * max(1, -(-len(features) // (ROWS_AT_ONCE * workers)))
    parts = Parallel()(
        delayed(_of_rows)(
            str(file.filename), file.offset, file.dtype, file.shape, slice(start, start + step), weights
        )
        for start in range(0, len(features), step)
    )
    return np.concatenate(parts)


def _is_whole(features: Features, file: np.memmap) -> bool:
    """Whether an array is all of its mapped file row by row, not a slice, a reversed or a transposed view."""
    there = (features.ctypes.data, features.shape, features.strides)
    same = there == (file.ctypes.data, file.shape, file.strides) and features.flags.c_contiguous
    if not same or file.filename is None:  # a file without a name is `matrix_files.rows_of`
        return False
    return Path(file.filename).stat().st_size == file.offset + file.nbytes


def _of_rows(
    path: str, offset: int, dtype: np.dtype, shape: tuple[int, int], rows: slice, weights: Floats
) -> Floats:
    mapped = np.memmap(path, dtype, "r", offset, shape)
    return exact_product(np.asarray(mapped[rows]), weights)
