"""Rows of graded samples in svmlight's form, as LETOR and LightGBM keep them: grade qid:query feature:value # comment.

scikit-learn reads the same, and says of the first wrong row nothing but what float() says. This one reports rows by
their line and goes on.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ranking.core import Floats, Ints, Problem
from ranking.core.errors import InputError
from ranking.core.text import readable

MAX_FEATURES = 100_000
MAX_CELLS = 100_000_000  # rows times features
MAX_ROWS = 200_000
MAX_BAD_ROWS = 1_000
LONGEST_QUERY = 40  # characters
MAX_NUMBER = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class Graded:
    """grades: (n,) finite. queries: the query of each row, None where it does not say. lines: (n,) numbers of lines.
    values: (nnz,) the features of row i are columns[starts[i]:starts[i + 1]], numbered as the file does."""

    grades: Floats
    queries: list[str | None]
    lines: Ints
    columns: npt.NDArray[np.int32]
    values: npt.NDArray[np.float32]
    starts: Ints
    problems: list[Problem]

    def __len__(self) -> int:
        return len(self.grades)

    @property
    def width(self) -> int:
        """The highest number of a feature, and one."""
        return int(self.columns.max()) + 1 if len(self.columns) else 0

    def dense(self, width: int) -> npt.NDArray[np.float32]:
        """(n, width); ValueError where that would be too many numbers."""
        if len(self) * width > MAX_CELLS:
            came = f"{len(self):,} rows and {width:,} features"
            raise InputError("rows times features", f"at most {MAX_CELLS:,}", came)
        matrix = np.zeros((len(self), width), np.float32)
        rows = np.repeat(np.arange(len(self)), np.diff(self.starts))
        matrix[rows, self.columns] = self.values
        return matrix


def read_graded(data: bytes, file: str) -> Graded:
    """The rows of `data`; ValueError where it is no text, has too many rows that cannot be read, or none that can.

    >>> read = read_graded(b"2 qid:7 1:0.5 3:1 # a page", "x")
    >>> read.grades, read.queries, read.dense(4)
    (array([2.]), ['7'], array([[0. , 0.5, 0. , 1. ]], dtype=float32))
    """
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(file, "text in UTF-8", f"byte {error.start} of another kind") from error
    grades, queries, numbers, lengths = list[float](), list[str | None](), list[int](), [0]
    columns, values = array("i"), array("f")  # as lists millions of numbers would take ten times the room
    problems = list[Problem]()
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            grade, query, pairs = _row(text)
        except ValueError as error:
            problems.append(
                Problem(
                    f"{file}, line {number}", "grade qid:query feature:value ...", str(error), "row left out"
                )
            )
            if len(problems) > MAX_BAD_ROWS:
                expected = f"at most {MAX_BAD_ROWS:,} rows that cannot be read"
                raise InputError(file, expected, f"more, the last with {error}") from error
            continue
        grades.append(grade)
        queries.append(query)
        numbers.append(number)
        lengths.append(len(pairs))
        columns.extend(pairs)
        values.extend(pairs.values())
        if len(grades) > MAX_ROWS:
            raise InputError(file, f"at most {MAX_ROWS:,} rows", "more")
    if not grades:
        came = f"none that can be read; the first: {problems[0].came}" if problems else "none"
        raise InputError(file, "rows of grades and features", came)
    vectors = np.array(columns, np.int32), np.array(values, np.float32)
    return Graded(np.array(grades), queries, np.array(numbers), *vectors, np.cumsum(lengths), problems)


def _row(text: str) -> tuple[float, str | None, dict[int, float]]:
    """Grade, query and features by their numbers; ValueError that says what came instead."""
    grade, *told = text.split()
    query = None
    if told and told[0].startswith("qid:"):
        query = readable(told.pop(0)[4:])
        if not 0 < len(query) <= LONGEST_QUERY:
            raise ValueError(f"a query of {len(query)} characters")
    pairs: dict[int, float] = {}
    for pair in told:
        place, _, value = pair.partition(":")
        if not (place.isascii() and place.isdigit() and len(place) < 10 and int(place) < MAX_FEATURES):
            raise ValueError(f"feature {readable(place, 20)!r}, expected a number below {MAX_FEATURES:,}")
        if int(place) in pairs:
            raise ValueError(f"feature {int(place)} twice")
        pairs[int(place)] = _number(value)
    return _number(grade), query, pairs


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"{readable(text, 20)!r} for a number") from None
    if not math.isfinite(number) or abs(number) > MAX_NUMBER:
        raise ValueError(f"{readable(text, 20)}, which is not finite")
    return number
