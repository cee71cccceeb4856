"""Array types by their contents, and checks of arrays that callers pass."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from ranking.core.errors import InputError

Floats = npt.NDArray[np.float64]
Features = npt.NDArray[np.floating]
Ints = npt.NDArray[np.integer]
Bools = npt.NDArray[np.bool_]
# of numbers, texts or marks
AnyArray = npt.NDArray[Any]

# of features: larger ones keep methods far from their optimum; from 1e160 on squares overflow
LARGEST = 1e15
# entries of a matrix that are processed at a time, to save memory
BLOCK = 1 << 20


def check_features(features: npt.ArrayLike, name: str = "features", half: bool = False) -> Features:
    """Return `features` as (n, d) float32 or float64 of at most LARGEST; InputError about `name` otherwise.

    half: keep float16 too.
    """
    array = np.asarray(features)
    if array.ndim != 2:
        raise InputError(name, "shape (n, d)", array.shape)
    if not is_real(array):
        raise InputError(name, "real numbers", array.dtype)
    if not (half and array.dtype == np.float16):
        array = as_floats(array)
    if not all_within(array, LARGEST):
        # which float16 cannot hold
        outside = ~(np.abs(array) <= np.float64(LARGEST))
        rows, least = np.flatnonzero(outside.any(axis=1)), array[outside][0]
        first = "NaN" if np.isnan(least) else f"{least:g}"
        got = f"others in {len(rows):,} rows, the first of them {rows[0]:,} with {first}"
        remedy = "impute them, for example with SimpleImputer" if np.isnan(least) else ""
        raise InputError(name, f"finite numbers from {-LARGEST:g} to {LARGEST:g}", got, remedy)
    return array


def as_floats(numbers: AnyArray) -> Features:
    """Return float32 and float64 arrays unchanged, and all others as float64.

    >>> as_floats(np.ones(2, np.float32)).dtype, as_floats(np.ones(2, int)).dtype
    (dtype('float32'), dtype('float64'))
    """
    return numbers if numbers.dtype in (np.float32, np.float64) else numbers.astype(np.float64)


def all_within(matrix: AnyArray, largest: float) -> bool:
    """Return whether all entries of an (n, d) matrix are from -`largest` to `largest`; NaN is not.

    Works block by block, so that no mask of the whole matrix is made.

    >>> all_within(np.array([[1.0, 2.0], [np.nan, 3.0]]), 5.0), all_within(np.array([[-5.0, 2.0]]), 5.0)
    (False, True)
    """
    parts = (matrix[rows] for rows in blocks_of_rows(matrix.shape) if matrix.size)
    return all(-largest <= float(part.min()) and float(part.max()) <= largest for part in parts)


def blocks_of_rows(shape: Sequence[int], numbers: int | None = None) -> Iterator[slice]:
    """Yield slices of the rows of an (n, d) matrix, each of about `numbers` entries (default BLOCK).

    What is computed from a block then stays small.

    >>> list(blocks_of_rows((3, 2 * BLOCK)))
    [slice(0, 1, None), slice(1, 2, None), slice(2, 3, None)]
    """
    step = max(1, (BLOCK if numbers is None else numbers) // max(1, shape[1]))
    return (slice(start, min(start + step, shape[0])) for start in range(0, shape[0], step))


def check_ids(ids: npt.ArrayLike | None, n: int, kind: str) -> AnyArray:
    """Return (n,) `ids`, or the row numbers where they are None; InputError for another shape. kind: what has an id."""
    names = np.arange(n) if ids is None else np.asarray(ids)
    if names.shape != (n,):
        raise InputError("ids", f"shape ({n},), one id per {kind}", names.shape)
    return names


def check_marks(marks: npt.ArrayLike, shape: tuple[int, ...], name: str, kind: str) -> Bools:
    """Return `marks` as bool of `shape`; InputError about `name` for another shape, or for values besides 0 and 1."""
    array = np.asarray(marks)
    if array.shape != shape:
        raise InputError(name, f"shape {shape}, one mark per {kind}", array.shape)
    if not is_real(array) or not ((array == 0) | (array == 1)).all():
        raise InputError(name, "True or False (1 or 0)", f"{array.dtype} with other values")
    return array.astype(np.bool_)


def check_relevance(relevance: npt.ArrayLike, n: int) -> npt.NDArray[np.int64]:
    """Return `relevance` as (n,) int64 grades; InputError about "relevance" unless they are whole and at least 0."""
    grades = np.asarray(relevance)
    if grades.shape != (n,):
        raise InputError("relevance", f"shape ({n},), one grade per sample", grades.shape)
    if not is_real(grades):
        raise InputError("relevance", "real numbers", grades.dtype)
    # NaN, infinity and what int64 cannot hold differ from their cast
    with np.errstate(invalid="ignore"):
        whole = grades.astype(np.int64)
    wrong = (whole != grades) | (whole < 0)
    if wrong.any():
        expected = "whole grades from 0 (0 irrelevant, 1 relevant)"
        remedy = "if only their order counts, pass their ranks: np.unique(values, return_inverse=True)[1]"
        raise InputError("relevance", expected, grades[wrong][0].item(), remedy)
    return whole


def is_real(array: AnyArray) -> bool:
    """Return whether the dtype is bool, integer or float: not complex, text, dates or objects."""
    return array.dtype.kind in "biuf"


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value read from JSON is a number that a float can hold: finite, and not a bool."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
