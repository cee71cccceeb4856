"""Pairs of samples, uploaded as CSV: read by ids, checked, and named by their hash.

The pairs are row numbers of one image set. The key of the set and the name, stored in settings, identify the pairs.
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

# of one file
MAX_PAIRS = 1_000_000
# bytes, because a line may contain further columns
LONGEST_LINE = 100_000
# of a CSV with limited pairs: empty lines, and lines within a quoted cell
MAX_OTHER_LINES = 100_000


def is_edges_name(text: str) -> bool:
    """Return whether `text` can be the name of uploaded pairs; no other text may become part of a path."""
    return re.fullmatch(r"csv-[0-9a-f]{32}", text) is not None


def short_name(name: str) -> str:
    """Return a name as shown on pages.

    >>> short_name("csv-0123456789abcdef0123456789abcdef")
    'CSV 01234567'
    """
    return f"CSV {name.removeprefix('csv-')[:8]}"


def edges_name(edges: Ints) -> str:
    """Return the name of pairs (m, 2): equal pairs have equal names."""
    return f"csv-{hashlib.sha256(np.ascontiguousarray(edges, '<i8').tobytes()).hexdigest()[:32]}"


def checked_edges(edges: Ints) -> Ints:
    """Return `edges` as (m, 2) int64; ValueError unless they are at most MAX_PAIRS valid pairs."""
    # Valid are pairs in ascending order, each once with its lower sample first.
    if edges.ndim != 2 or edges.shape[1] != 2 or not np.issubdtype(edges.dtype, np.integer):
        came = f"{edges.dtype} of shape {edges.shape}"
        raise InputError("pairs", "(m, 2) integers", came, "read them from a CSV")
    if len(edges) > MAX_PAIRS:
        raise InputError("pairs", f"at most {MAX_PAIRS:,}", len(edges), "omit some pairs")
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
            "read the pairs from a CSV, which may have any order",
        )
    return edges.astype(np.int64, copy=False)


def edges_from_csv(
    source: str | Path | IO[bytes], ids: Sequence[object] | npt.NDArray[np.generic], most: int | None = None
) -> Ints:
    """Return the pairs that a CSV lists in its columns i and j, by the ids of the samples.

    >>> edges_from_csv("i,j\\nb,a\\n", ids=["a", "b", "c"])
    array([[0, 1]])
    """
    # Other columns are ignored. source: the text, the Path of a UTF-8 file, or a stream of its bytes. ids:
    # (n,) different names of the samples; the CSV may also contain them as `spreadsheets.guarded`. most: the
    # limit of pairs, in addition to MAX_OTHER_LINES lines without a pair. ValueError, with the line number,
    # if a line does not have two different samples, or repeats a pair. Memory: some 60 bytes per pair, in
    # addition to the source.
    number_of = {str(name): number for number, name in enumerate(ids)}
    if len(number_of) != len(ids):
        raise InputError("ids", f"{len(ids):,} different ids", len(number_of))
    for name, number in list(number_of.items()):
        number_of.setdefault(guarded(name), number)
    # for each pair: low * n + high, and its line
    codes, places = array("q"), array("q")
    with _opened(source) as stream:
        for line, pair in _lines(stream, most):
            low, high = _pair_of(line, pair, number_of)
            if len(codes) == most:
                raise InputError(f"line {line}", f"at most {most:,} pairs", "more", "omit some pairs")
            codes.append(low * len(ids) + high)
            places.append(line)
    pairs = np.frombuffer(codes, np.int64) if codes else np.empty(0, np.int64)
    order = np.argsort(pairs, kind="stable")
    _check_once(pairs[order], np.frombuffer(places, np.int64)[order] if places else pairs, ids)
    return np.stack(np.divmod(pairs[order], max(1, len(ids))), axis=1)


def read_pairs(name: str, data: bytes, ids: Sequence[object] | npt.NDArray[np.generic]) -> Ints:
    """Return the pairs (m, 2), m > 0, of an uploaded CSV called `name`, by sample ids; else ValueError."""
    try:
        edges = edges_from_csv(io.BytesIO(data), ids, MAX_PAIRS)
    except InputError as error:
        raise InputError(f"{name}, {error.subject}", error.expected, error.came, error.remedy) from error
    if not len(edges):
        remedy = "write one below the line i,j, or choose another similarity graph"
        raise InputError(f"{name}, line 2", "a pair of samples", "nothing", remedy)
    return edges


def _opened(source: str | Path | IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    if isinstance(source, str):
        return io.BytesIO(source.encode())
    return open(source, "rb") if isinstance(source, Path) else nullcontext(source)


def _lines(stream: IO[bytes], most: int | None) -> Iterator[tuple[int, tuple[str, str]]]:
    """Yield the number of each line with content, and its cells in columns i and j, "" if it is too short."""
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
    """Return the two samples that a line names, the lower first."""
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
    """Raise ValueError about the first line that repeats a pair."""
    # codes: (m,) ascending. places: (m,) their lines.
    again = np.flatnonzero(codes[1:] == codes[:-1]) + 1
    if len(again):
        at = again[places[again].argmin()]
        i, j = (ids[int(number)] for number in divmod(codes[at], len(ids)))
        came, remedy = f"{i} and {j} again, as in line {places[at - 1]}", "remove one of the two lines"
        raise InputError(f"line {places[at]}", "each pair once", came, remedy)
