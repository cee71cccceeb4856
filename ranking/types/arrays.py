"""Arrays by what they hold, and what is checked of those that are given."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Features = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.integer[Any]]
Bools = npt.NDArray[np.bool_]

BLOCK = 1 << 20  # numbers of a matrix that are worked on at once where all of them would take much memory


def check_features(features: npt.ArrayLike) -> Features:
    """`features` as (n, d) finite float32 or float64, or a ValueError that says what is wrong with them."""
    given = np.asarray(features)
    if given.ndim != 2:
        raise ValueError(f"features must be (n, d), got shape {given.shape}")
    if not is_real(given):
        raise ValueError(f"features must be real numbers, got {given.dtype}")
    given = as_floats(given)
    if not all_finite(given):
        rows = np.flatnonzero(~np.isfinite(given).all(axis=1))
        raise ValueError(f"features must be finite; NaN or infinity in {len(rows)} rows, first {rows[0]}")
    return given


def as_floats(numbers: npt.NDArray[Any]) -> Features:
    """float32 and float64 as they are, all others as float64.

    >>> as_floats(np.ones(2, np.float32)).dtype, as_floats(np.ones(2, int)).dtype
    (dtype('float32'), dtype('float64'))
    """
    return numbers if numbers.dtype in (np.float32, np.float64) else numbers.astype(np.float64)


def all_finite(matrix: npt.NDArray[Any]) -> bool:
    """Whether (n, d) numbers are finite, told without marks for all of them at once.

    >>> all_finite(np.array([[1.0, 2.0], [np.nan, 3.0]]))
    False
    """
    return all(np.isfinite(matrix[rows]).all() for rows in blocks_of_rows(matrix.shape))


def blocks_of_rows(shape: Sequence[int]) -> Iterator[slice]:
    """The rows of an (n, d) matrix in blocks of about BLOCK numbers, so that what is made of a block stays small.

    >>> list(blocks_of_rows((3, 2 * BLOCK)))
    [slice(0, 1, None), slice(1, 2, None), slice(2, 3, None)]
    """
    step = max(1, BLOCK // max(1, shape[1]))
    return (slice(start, min(start + step, shape[0])) for start in range(0, shape[0], step))


def check_ids(ids: npt.ArrayLike | None, n: int, kind: str) -> npt.NDArray[Any]:
    """(n,) the names of what is of a `kind`, the row numbers where there are none; ValueError for another shape."""
    given = np.arange(n) if ids is None else np.asarray(ids)
    if given.shape != (n,):
        raise ValueError(f"ids must be ({n},), one for each {kind}, got shape {given.shape}")
    return given


def check_marks(marks: npt.ArrayLike, shape: tuple[int, ...], name: str, kind: str) -> Bools:
    """`marks`, called `name`, as bool of that shape; ValueError for another, or for more than 0 and 1."""
    given = np.asarray(marks)
    if given.shape != shape:
        raise ValueError(f"{name} must be {shape}, one mark for each {kind}, got shape {given.shape}")
    if not is_real(given) or not ((given == 0) | (given == 1)).all():
        raise ValueError(f"{name} must be true or false (1 or 0), got {given.dtype} with other values")
    return given.astype(np.bool_)


def check_relevance(relevance: npt.ArrayLike, n: int) -> npt.NDArray[np.int64]:
    """`relevance` as (n,) int64 grades, or a ValueError that says what is wrong with it."""
    grades = np.asarray(relevance)
    if grades.shape != (n,):
        raise ValueError(f"relevance must be ({n},), one grade a sample, got shape {grades.shape}")
    if not is_real(grades):
        raise ValueError(f"relevance must be real numbers, got {grades.dtype}")
    with np.errstate(invalid="ignore"):  # NaN, infinity and what int64 cannot hold differ from their cast
        whole = grades.astype(np.int64)
    if (whole != grades).any() or (whole < 0).any():
        raise ValueError("relevance must be whole grades >= 0 (0 not relevant, 1 relevant)")
    return whole


def is_real(array: npt.NDArray[Any]) -> bool:
    """Whether numbers come as bool, integer or float: not complex, text, dates or objects."""
    return array.dtype.kind in "biuf"


def is_number(value: object) -> bool:
    """Whether JSON gave a number that a float can hold: finite, and no bool."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
