"""Graded samples of queries as features, in svmlight's form: LETOR's files, or LightGBM's with query sizes beside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, NamedTuple

from ranking.core import Problem, Source, SourceBox, SourceImage
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.core.text import counted, readable
from ranking.datasets.cards import SIZE, card
from ranking.datasets.common_settings import seed_of_test, share_of_test
from ranking.datasets.registry import SOURCES
from ranking.datasets.splits import drawn
from ranking.files.typed_path import read_typed, typed_path
from ranking.formats.svmlight_reader import MAX_ROWS, Graded, read_graded

MAX_BYTES = 256 * 2**20
GRADE = "grade"
EXPECTED = "a file of graded samples in svmlight's form"


class Part(NamedTuple):
    """The rows of one file, and the query of each."""

    name: str
    rows: Graded
    queries: list[str]


@SOURCES.register("SVMlight")
@dataclass
class SvmLight(Source):
    """A row a sample: grade qid:query feature:value ... Rows of one query follow each other.

    Where rows name no query, the file of the same name that ends in .query says how many rows each has, as LightGBM
    has it. The query is the group, the grade is the criterion. Rows have no pictures: cards stand for them. The first
    feature is number 0 where a row has that one, else number 1.
    """

    order: ClassVar[int] = 1

    file: str = setting(
        "",
        label="File",
        help="A file such as rank.train on the computer that runs this app: grade qid:query feature:value in each row. "
        "Without qid, rank.train.query beside it says how many rows each query has.",
    )
    test_file: str = setting(
        "",
        label="Test file",
        help="Such a file to test on, as rank.test. Empty: queries of the first are drawn.",
        advanced=True,
    )
    test_share: float = share_of_test(
        0.3,
        "How many queries are drawn for the test where there is no test file.",
        of="queries",
        advanced=True,
    )
    seed: int = seed_of_test("queries")

    def title(self) -> str:
        return readable(typed_path(self.file, EXPECTED).name) or "SVMlight"

    def __len__(self) -> int:
        return sum(len(part.rows) for part in self._parts)

    def records(self) -> Iterator[SourceImage | Problem]:
        first = 0 if any((part.rows.columns == 0).any() for part in self._parts) else 1
        width = max(max(part.rows.width for part in self._parts), first + 1)
        several = len(self._parts) > 1
        for part, split in zip(self._parts, ("train ", "test "), strict=False):
            yield from part.rows.problems
            features = part.rows.dense(width)[:, first:]
            of = split if several else ""  # queries of two files may have equal names and are others
            tests = set(part.queries if split == "test " else ()) if several else self._drawn(part.queries)
            for row, query in enumerate(part.queries):
                grade, line = float(part.rows.grades[row]), int(part.rows.lines[row])
                box = SourceBox(None, (), group=of + query, numbers={GRADE: grade})
                picture = card(f"{of}line {line}", (f"{GRADE} {grade:g}", f"query {query}"))
                vector = tuple(features[row].tolist())
                yield SourceImage(f"{of}{line:06d}", picture, (box,), query in tests, SIZE, vector)

    def _drawn(self, queries: list[str]) -> set[str]:
        names = list(dict.fromkeys(queries))
        chosen = drawn(len(names), self.test_share, self.seed)
        return {name for name, test in zip(names, chosen.tolist(), strict=True) if test}

    @cached_property
    def _parts(self) -> list[Part]:
        files = [self.file, self.test_file] if self.test_file.strip() else [self.file]
        return [_part(file) for file in files]


def _part(file: str) -> Part:
    path = typed_path(file, EXPECTED)
    name = readable(path.name)
    rows = read_graded(read_typed(file, MAX_BYTES, EXPECTED), name)
    named = [query for query in rows.queries if query is not None]
    if len(named) == len(rows):
        return Part(name, rows, named)
    if named:
        raise InputError(name, "qid: in all rows or in none", f"{len(named):,} of {len(rows):,} rows with it")
    if rows.problems:  # sizes count rows, also those
        expected = "rows that can all be read, because the sizes of queries count every row"
        raise InputError(rows.problems[0].file, expected, rows.problems[0].came)
    sizes = _sizes(path.with_name(f"{path.name}.query"), name)
    if sum(sizes) != len(rows):
        raise InputError(f"{name}.query", f"sizes that sum to {counted(len(rows), 'row')}", sum(sizes))
    return Part(name, rows, [str(query) for query, size in enumerate(sizes, 1) for _ in range(size)])


def _sizes(path: Path, name: str) -> list[int]:
    """How many rows each query has, one number a line."""
    expected = f"the sizes of queries, a number a line, for the rows of {name} name no query (qid:)"
    lines = read_typed(path, MAX_BYTES, expected).decode("utf-8", "replace").split()
    if not all(line.isascii() and line.isdigit() and 0 < int(line[:9]) <= MAX_ROWS for line in lines):
        raise InputError(f"{name}.query", f"whole numbers from 1 to {MAX_ROWS:,}", "something else")
    return [int(line[:9]) for line in lines]
