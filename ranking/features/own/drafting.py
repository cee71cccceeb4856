"""From the numbers of a file to the matrix that is kept: a row a sample, finite, without constant columns, of length 1.

The matrix is written as it is made, some rows at a time, so that memory does not grow with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ranking.core import Bools, Features, Floats, ImageSet, Problem
from ranking.core.text import counted, listed, readable
from ranking.features.own.matching import MOST_ROWS, Match, Refused
from ranking.features.vector_files import MOST_COLUMNS, vectors_name
from ranking.files.limits import Limits, variable

BLOCK = 2**24  # numbers that are in memory at a time

OnRows = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class Draft:
    """matrix: (n, d) float32, in its file. columns: how many there were. problems: what was done to them."""

    name: str
    matrix: Features
    columns: int
    problems: list[Problem]


def draft_of(
    numbers: npt.NDArray[Any], match: Match, images: ImageSet, target: Path, limits: Limits, on_rows: OnRows
) -> Draft:
    """Write the matrix of the samples to `target`. Refused, and nothing is written, where a number is not finite, no
    column differs between samples, or the matrix would be larger than the limits allow."""
    if numbers.shape[1] > MOST_COLUMNS:
        raise Refused(
            f"expected at most {MOST_COLUMNS:,} columns, got {numbers.shape[1]:,}; reduce them, as by PCA"
        )
    constant = _constant_columns(numbers, match, images, on_rows)
    if constant.all():
        raise Refused(
            f"all {counted(len(constant), 'column')} are the same for every sample: nothing tells samples apart; "
            "bring other vectors"
        )
    shape = (len(images), int((~constant).sum()))
    if 4 * shape[0] * shape[1] > limits.vector_bytes:
        raise Refused(
            f"{shape[0]:,} rows of {shape[1]:,} columns would be kept as {4 * shape[0] * shape[1]:,} bytes, expected "
            f"at most {limits.vector_bytes:,}; reduce them, as by PCA, or set {variable('vector_bytes')}"
        )
    matrix = np.lib.format.open_memmap(target, "w+", np.float32, shape)
    empty = _fill(matrix, _blocks(numbers, match, len(images)), ~constant, on_rows)
    matrix.flush()
    problems = [*match.problems, *_constant_rows(constant), *_empty_rows(images, empty)]
    return Draft(vectors_name(matrix), matrix, numbers.shape[1], problems)


def _blocks(numbers: npt.NDArray[Any], match: Match, count: int) -> Iterator[tuple[slice, Features]]:
    """The rows of the samples as float32, some at a time, in the order of the samples."""
    rows = max(1, BLOCK // max(1, numbers.shape[1]))
    for start in range(0, count, rows):
        here = slice(start, min(start + rows, count))
        chosen = here if match.rows is None else match.rows[here]
        with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite
            yield here, np.asarray(numbers[chosen], np.float32)


def _constant_columns(numbers: npt.NDArray[Any], match: Match, images: ImageSet, on_rows: OnRows) -> Bools:
    """(d,) which columns are the same for all samples; Refused where a number is not finite."""
    wrong: list[int] = []
    first: Features | None = None
    differs = np.zeros(numbers.shape[1], np.bool_)
    for here, block in _blocks(numbers, match, len(images)):
        finite = np.isfinite(block).all(axis=1)
        wrong += (np.flatnonzero(~finite) + here.start).tolist()
        first = block[0] if first is None else first
        differs |= (block != first).any(axis=0)
        on_rows("Looking for gaps and constant columns", here.stop, len(images))
    if wrong:
        have = "has" if len(wrong) == 1 else "have"
        raise Refused(
            f"{counted(len(wrong), 'sample')} of {len(images):,} {have} numbers that are not finite: expected numbers, "
            "got NaN, infinity or more than float32 holds; put numbers there, or leave such columns out",
            [_gap(numbers, match, images, row) for row in wrong[:MOST_ROWS]],
            len(wrong),
        )
    return ~differs


def _gap(numbers: npt.NDArray[Any], match: Match, images: ImageSet, sample: int) -> Problem:
    row = sample if match.rows is None else int(match.rows[sample])
    with np.errstate(over="ignore"):
        columns = np.flatnonzero(~np.isfinite(np.asarray(numbers[row], np.float32)))
    came = f"{numbers[row, columns[0]]} in column {columns[0] + 1}"
    came += f" and {len(columns) - 1} more" if len(columns) > 1 else ""
    file = readable(f"{images.ids[sample]} (row {row + 1})", 255)
    return Problem(file, "finite numbers", came, "nothing is kept")


def _fill(
    matrix: Features, blocks: Iterator[tuple[slice, Features]], kept: Bools, on_rows: OnRows
) -> Sequence[int]:
    """Write rows of length 1 into `matrix`; which of them are all 0 and stay so."""
    empty: list[int] = []
    for here, block in blocks:
        rows: Floats = block[:, kept].astype(np.float64)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        empty += (np.flatnonzero(norms[:, 0] == 0) + here.start).tolist()
        of_length_1 = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
        matrix[here] = of_length_1 + 0.0  # -0 is 0: equal numbers have one name
        on_rows("Writing rows of length 1", here.stop, len(matrix))
    return empty


def _constant_rows(constant: Bools) -> list[Problem]:
    if not constant.any():
        return []
    numbers = [str(column + 1) for column in np.flatnonzero(constant)]
    name = f"{'column' if len(numbers) == 1 else 'columns'} {listed(numbers, 8)}"
    return [
        Problem(name, "numbers that differ between samples", "the same for all", "left out: it tells nothing")
    ]


def _empty_rows(images: ImageSet, empty: Sequence[int]) -> list[Problem]:
    if not empty:
        return []
    came = f"all 0: {listed([readable(str(images.ids[row])) for row in empty])}"
    return [Problem(counted(len(empty), "row"), "a vector with a direction", came, "kept: it stays 0")]
