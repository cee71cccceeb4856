"""Graded samples of queries as features, in svmlight format: files of LETOR, or of LightGBM with a query-size file."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from ranking.core import Floats, Ints, Problem, Source, SourceBox, SourceImage
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.core.text import counted, readable
from ranking.datasets.cards import card_image
from ranking.datasets.registry import SOURCES
from ranking.datasets.sequences import GRADE
from ranking.datasets.source_settings import seed_of_test, share_of_test
from ranking.datasets.splits import random_part
from ranking.files.typed_path import read_typed, typed_path

MAX_BYTES = 256 * 2**20
MAX_FEATURES = 100_000
# rows times features
MAX_CELLS = 100_000_000
MAX_ROWS = 200_000
EXPECTED = "a file of graded samples in svmlight format"


class Graded(NamedTuple):
    """The rows of a file. grades: (n,) finite. queries: of each row; None if no row names one. lines: (n,) the line
    number of each row. features: (n, highest number + 1) sparse, with the numbers of the file."""

    grades: Floats
    queries: list[str] | None
    lines: Ints
    features: Any

    def dense(self, width: int) -> npt.NDArray[np.float32]:
        """Return the features (n, width); ValueError if these would be too many numbers."""
        if len(self.lines) * width > MAX_CELLS:
            came = f"{len(self.lines):,} rows and {width:,} features"
            raise InputError("rows times features", f"at most {MAX_CELLS:,}", came)
        matrix = np.zeros((len(self.lines), width), np.float32)
        matrix[:, : self.features.shape[1]] = self.features.toarray()
        return matrix


class Part(NamedTuple):
    """The rows of one file, and the query of each."""

    name: str
    rows: Graded
    queries: list[str]


@SOURCES.register("SVMlight")
@dataclass
class SvmLight(Source):
    """One row per sample: grade qid:query feature:value ... The rows of one query are consecutive.

    If rows name no query, the file of the same name with the suffix .query gives the number of rows per query, as in
    LightGBM. The query is the group, the grade is the criterion. There are no images, so cards replace them. The first
    feature is number 0 if a row has it, otherwise number 1.
    """

    order: ClassVar[int] = 1

    file: str = setting(
        "",
        label="File",
        help="A file such as rank.train on the computer that runs this app: grade qid:query feature:value in each row. "
        "Without qid, rank.train.query in the same folder gives the number of rows per query.",
    )
    test_file: str = setting(
        "",
        label="Test file",
        help="A second file of this format with the test samples, such as rank.test. Empty: a random share of the "
        "queries in the first file is held out.",
        advanced=True,
    )
    test_share: float = share_of_test(
        0.3,
        "The share of queries that is held out as the test split if there is no test file.",
        of="queries",
        advanced=True,
    )
    seed: int = seed_of_test("queries")

    def title(self) -> str:
        return readable(typed_path(self.file, EXPECTED).name) or "SVMlight"

    def __len__(self) -> int:
        return sum(len(part.queries) for part in self._parts)

    def records(self) -> Iterator[SourceImage | Problem]:
        first = 0 if any((part.rows.features.indices == 0).any() for part in self._parts) else 1
        width = max(*(part.rows.features.shape[1] for part in self._parts), first + 1)
        several = len(self._parts) > 1
        for part, split in zip(self._parts, ("train ", "test "), strict=False):
            features = part.rows.dense(width)[:, first:]
            # queries of two files are different even if their names are equal
            of = split if several else ""
            tests = (
                set(part.queries if split == "test " else ()) if several else self._random_tests(part.queries)
            )
            for row, query in enumerate(part.queries):
                grade, line = float(part.rows.grades[row]), int(part.rows.lines[row])
                box = SourceBox(None, (), group=of + query, numbers={GRADE: grade})
                title, lines = f"{of}line {line}", (f"{GRADE} {grade:g}", f"query {query}")
                test, vector = query in tests, features[row].tolist()
                yield card_image(f"{of}{line:06d}", box, test, vector, title, lines)

    def _random_tests(self, queries: list[str]) -> set[str]:
        names = list(dict.fromkeys(queries))
        chosen = random_part(len(names), self.test_share, self.seed)
        return {name for name, test in zip(names, chosen.tolist(), strict=True) if test}

    @cached_property
    def _parts(self) -> list[Part]:
        files = [self.file, self.test_file] if self.test_file.strip() else [self.file]
        return [_part(file) for file in files]


def _part(file: str) -> Part:
    path = typed_path(file, EXPECTED)
    name = readable(path.name)
    rows = read_graded(read_typed(file, MAX_BYTES, EXPECTED), name)
    if rows.queries is not None:
        return Part(name, rows, rows.queries)
    sizes = _sizes(path.with_name(f"{path.name}.query"), name)
    if sum(sizes) != len(rows.lines):
        raise InputError(f"{name}.query", f"sizes that sum to {counted(len(rows.lines), 'row')}", sum(sizes))
    return Part(name, rows, [str(query) for query, size in enumerate(sizes, 1) for _ in range(size)])


def _sizes(path: Path, name: str) -> list[int]:
    """Return the number of rows of each query, from a file with one number per line."""
    expected = f"the sizes of queries, one number per line, because the rows of {name} name no query (qid:)"
    lines = read_typed(path, MAX_BYTES, expected).decode("utf-8", "replace").split()
    if not all(line.isascii() and line.isdigit() and 0 < int(line[:9]) <= MAX_ROWS for line in lines):
        raise InputError(f"{name}.query", f"whole numbers from 1 to {MAX_ROWS:,}", "something else")
    return [int(line[:9]) for line in lines]


def read_graded(data: bytes, file: str) -> Graded:
    """Return the rows of `data`; ValueError if there are none, or, with the line number, if a row cannot be read.

    >>> rows = read_graded(b"2 qid:7 1:0.5 3:1 # a page", "x")
    >>> rows.grades, rows.queries, rows.dense(4)
    (array([2.]), ['7'], array([[0. , 0.5, 0. , 1. ]], dtype=float32))
    """
    data = data.removeprefix(codecs.BOM_UTF8)
    lines = [number for number, line in enumerate(io.BytesIO(data), 1) if line.partition(b"#")[0].strip()]
    if not lines:
        raise InputError(file, "rows of grades and features", "none")
    if len(lines) > MAX_ROWS:
        raise InputError(file, f"at most {MAX_ROWS:,} rows", f"{len(lines):,}")
    features, grades, queries = _loaded(data, file)
    if 0 < len(queries) < len(lines):
        came = f"{len(queries):,} of {len(lines):,} rows with qid"
        raise InputError(file, "qid: in all rows or in none", came)
    if features.shape[1] > MAX_FEATURES:
        raise InputError(file, f"features numbered below {MAX_FEATURES:,}", f"{features.shape[1] - 1:,}")
    of_features = np.searchsorted(features.indptr, np.flatnonzero(~np.isfinite(features.data)), "right") - 1
    of_grades = np.flatnonzero(~(np.abs(grades) <= np.finfo(np.float32).max))
    for row in sorted([*of_features[:1].tolist(), *of_grades[:1].tolist()])[:1]:
        raise InputError(f"{file}, line {lines[row]}", "finite numbers", "NaN, infinity or a larger number")
    return Graded(grades, list(map(str, queries)) if len(queries) else None, np.array(lines), features)


def _loaded(data: bytes, file: str) -> tuple[Any, Floats, list[int]]:
    """Return features, grades, and the queries that rows name; ValueError with the number of the first unreadable line,
    which is found by bisection."""
    try:
        return _load(data)
    except (ValueError, OverflowError):
        lines = list(io.BytesIO(data))
    first, last = 0, len(lines)
    while last - first > 1:
        middle = (first + last) // 2
        try:
            _load(b"".join(lines[first:middle]))
            first = middle
        except (ValueError, OverflowError):
            last = middle
    try:
        return _load(lines[first])
    except (ValueError, OverflowError) as error:
        where = f"{file}, line {first + 1}"
        raise InputError(where, "grade qid:query feature:value ...", readable(str(error), 200)) from error


def _load(data: bytes) -> tuple[Any, Floats, list[int]]:
    from sklearn.datasets import load_svmlight_file

    features, grades, queries = load_svmlight_file(
        io.BytesIO(data), dtype=np.float32, zero_based=True, query_id=True
    )
    return features, grades.astype(np.float64), queries.tolist()
