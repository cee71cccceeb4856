"""Pairs of samples that a person uploads as CSV: read by ids, checked, and named by a hash of them.

The pairs are row numbers of one image set. Settings that hold its key and the name mean the same pairs everywhere.
"""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from ranking.core import Ints
from ranking.core.errors import InputError
from ranking.core.spreadsheets import guarded
from ranking.core.text import readable

MAX_PAIRS = 1_000_000  # of one file
LONGEST_LINE = 100_000  # bytes: columns of no pair may stand in it too
MAX_OTHER_LINES = (
    100_000  # of a CSV whose pairs are limited: empty ones, and those that a quoted cell goes on in
)


def is_edges_name(text: str) -> bool:
    """Whether `text` could be the name of such a file: only such a text may become part of a path."""
    return re.fullmatch(r"csv-[0-9a-f]{32}", text) is not None


def short_name(name: str) -> str:
    """What people are shown of a name.

    >>> short_name("csv-0123456789abcdef0123456789abcdef")
    'CSV 01234567'
    """
    return f"CSV {name.removeprefix('csv-')[:8]}"


def edges_name(edges: Ints) -> str:
    """The name of pairs (m, 2): equal pairs have equal names."""
    return f"csv-{hashlib.sha256(np.ascontiguousarray(edges, '<i8').tobytes()).hexdigest()[:32]}"


def checked_edges(edges: Ints) -> Ints:
    """`edges` as (m, 2) int64, at most MAX_PAIRS of them, each pair once, its lower sample first, and in ascending
    order; else a ValueError."""
    if edges.ndim != 2 or edges.shape[1] != 2 or not np.issubdtype(edges.dtype, np.integer):
        came = f"{edges.dtype} of shape {edges.shape}"
        raise InputError("pairs", "(m, 2) integers", came, "read them from a CSV")
    if len(edges) > MAX_PAIRS:
        raise InputError("pairs", f"at most {MAX_PAIRS:,}", len(edges), "leave some out")
    first, second = edges[:, 0], edges[:, 1]
    wrong = ~((first >= 0) & (first < second))
    wrong[1:] |= (first[1:] < first[:-1]) | ((first[1:] == first[:-1]) & (second[1:] <= second[:-1]))
    if wrong.any():
        row = int(wrong.argmax())
        before = f" after {edges[row - 1].tolist()}" if row else ""
        raise InputError(
            f"row {row}",
            "each pair once, its lower sample first, and in ascending order",
            f"{edges[row].tolist()}{before}",
            "read them from a CSV, which may have them in any order",
        )
    return edges.astype(np.int64, copy=False)


def edges_from_csv(
    source: str | Path | IO[bytes], ids: Sequence[object] | npt.NDArray[np.generic], most: int | None = None
) -> Ints:
    """The pairs that a CSV lists in its columns i and j, by the ids of the samples; other columns are left alone.

    source: the text, the Path of a UTF-8 file, or the bytes of one. ids: (n,) different names of the samples, which
    the CSV may also give as `spreadsheets.guarded`. most: pairs that are read before it is too many, beside
    MAX_OTHER_LINES without a pair. ValueError, with the number of the line, where a line is not a pair of two
    different samples or the pair came before. Memory: beside the source some 60 bytes a pair.

    >>> edges_from_csv("i,j\\nb,a\\n", ids=["a", "b", "c"])
    array([[0, 1]])
    """
    number_of = {str(name): number for number, name in enumerate(ids)}
    if len(number_of) != len(ids):
        raise InputError("ids", f"{len(ids):,} different ids", len(number_of))
    for name, number in list(number_of.items()):
        number_of.setdefault(guarded(name), number)
    codes, places = array("q"), array("q")  # of each pair low * n + high, and its line
    with _opened(source) as stream:
        for line, pair in _lines(stream, most):
            low, high = _pair_of(line, pair, number_of)
            if len(codes) == most:
                raise InputError(f"line {line}", f"at most {most:,} pairs", "more", "leave some out")
            codes.append(low * len(ids) + high)
            places.append(line)
    pairs = np.frombuffer(codes, np.int64) if codes else np.empty(0, np.int64)
    order = np.argsort(pairs, kind="stable")
    _check_once(pairs[order], np.frombuffer(places, np.int64)[order] if places else pairs, ids)
    return np.stack(np.divmod(pairs[order], max(1, len(ids))), axis=1)


def _opened(source: str | Path | IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    if isinstance(source, str):
        return io.BytesIO(source.encode())
    return open(source, "rb") if isinstance(source, Path) else nullcontext(source)


def _lines(stream: IO[bytes], most: int | None) -> Iterator[tuple[int, tuple[str, str]]]:
    """The number of each line that is not empty and its cells in the columns i and j, empty where it is too short."""
    lines = csv.reader(_decoded(stream, most), skipinitialspace=True, strict=True)
    try:
        header = next(lines, [])
        if header.count("i") != 1 or header.count("j") != 1:
            names = readable(", ".join(header)) or "nothing"
            remedy = "put the line i,j before the pairs, with a comma between the two"
            raise InputError("line 1", "the column names i and j", names, remedy)
        i, j = header.index("i"), header.index("j")
        for cells in filter(None, lines):
            cells += [""] * (max(i, j) + 1 - len(cells))
            yield lines.line_num, (cells[i], cells[j])
    except csv.Error as error:
        where, remedy = f"line {lines.line_num}", "save the table as CSV again"
        raise InputError(where, "comma-separated values", str(error), remedy) from error


def _decoded(stream: IO[bytes], most: int | None) -> Iterator[str]:
    for number, line in enumerate(stream, start=1):
        if most is not None and number > most + MAX_OTHER_LINES:
            raise InputError(
                f"line {number}",
                f"at most {most:,} pairs and {MAX_OTHER_LINES:,} other lines",
                "more",
                "remove empty lines, and line breaks within cells",
            )
        if len(line) > LONGEST_LINE:
            raise InputError(
                f"line {number}", f"at most {LONGEST_LINE:,} bytes", len(line), "remove other columns"
            )
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            remedy = "save the table as CSV in UTF-8"
            raise InputError(f"line {number}", "UTF-8", error.reason, remedy) from error


def _pair_of(line: int, pair: tuple[str, str], number_of: Mapping[str, int]) -> tuple[int, int]:
    """The two samples that a line names, the lower first."""
    for column, cell in zip("ij", pair, strict=True):
        if cell not in number_of:
            came = repr(cell[:80]) if cell else "nothing"
            some = ", ".join(itertools.islice(number_of, 3))
            expected = f"the id of a sample in column {column} (such as {some})"
            raise InputError(f"line {line}", expected, came, "correct the id or remove the line")
    i, j = number_of[pair[0]], number_of[pair[1]]
    if i == j:
        raise InputError(f"line {line}", "two different samples", f"{pair[0]} twice", "remove the line")
    return min(i, j), max(i, j)


def _check_once(codes: Ints, places: Ints, ids: Sequence[object] | npt.NDArray[np.generic]) -> None:
    """ValueError that names the first line (m,) whose pair, of ascending `codes` (m,), an earlier line has."""
    again = np.flatnonzero(codes[1:] == codes[:-1]) + 1
    if len(again):
        at = again[places[again].argmin()]
        i, j = (ids[int(number)] for number in divmod(codes[at], len(ids)))
        came, remedy = f"{i} and {j} again, as in line {places[at - 1]}", "remove one of the two lines"
        raise InputError(f"line {places[at]}", "each pair once", came, remedy)
