"""Graded samples of queries as features, in svmlight format: files of LETOR, or of LightGBM with a query-size file."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import re
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from ranking.core import Decision, Floats, Ints, Problem, Source, SourceBox, SourceImage
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.core.text import counted, listed, readable
from ranking.datasets.cards import card_image
from ranking.datasets.registry import SOURCES
from ranking.datasets.sequences import GRADE
from ranking.datasets.source_settings import seed_of_test, share_of_test
from ranking.datasets.splits import random_part
from ranking.files.limits import Limits, variable
from ranking.files.tar_tree import MAGIC, MAGIC_AT
from ranking.files.typed_path import in_file, read_typed, typed_file, typed_path
from ranking.files.zip_tree import FIRST
from ranking.formats.file_names import is_image, part_in_name
from ranking.formats.tree_source import Recognised

MAX_FEATURES = 100_000
# rows times features: those of an image set
MAX_CELLS = 100_000_000
# bytes of a row
LONGEST_ROW = 2**22
LARGEST = float(np.finfo(np.float32).max)
# the largest float32 and double, which mark missing values
MARKS = np.array([LARGEST, np.finfo(np.float64).max])
# rows from which the cards of samples show the grade only, so that few are drawn
MANY = 20_000
EXPECTED = "a file of graded samples in svmlight format"
EXTRACT = "extract it, and give the path of the folder"
GZIP = b"\x1f\x8b"
ARCHIVE_HEAD = 512
ROW = "grade qid:query feature:value ..."
FILLED = "replaced by the least value of the feature in the same query, or by 0 if the query has none"
PAIRS = re.compile(rb"(\s*[0-9]+:[^\s:]+)*\s*")
ZERO = re.compile(rb"\s0+:")
# files of a folder, and bytes of each, by which graded samples are recognised
MAX_LISTED, HEAD = 50, 2**16
# the setting that reads a file of each part
SETTING = {
    part: f"the setting {name} with its path"
    for part, name in (("train", "file"), ("val", "validation_file"), ("test", "test_file"))
}
BEGINS = re.compile(
    r"[-+]?(?:[0-9.]+(?:e[-+]?[0-9]+)?|nan|inf)\s+(?:qid:\S*\s+)?[0-9]+:[-+0-9.NnaA]", re.IGNORECASE
)
# a row without features
JUDGED = re.compile(r"[-+]?[0-9.]+\s+qid:\S+\s*(?:#|$)")
INFINITE = re.compile(rb":[-+]?inf", re.IGNORECASE)
# how LETOR writes a value that is missing
MISSING = re.compile(rb":null\b", re.IGNORECASE)


class Graded(NamedTuple):
    """The rows of a file. grades: (n,) finite. queries: of each row; [] if no row names one. lines: (n,) the line
    number of each row. features: (n, highest number + 1) float32 with the numbers of the file; NaN where missing.
    first: the number of the first feature, 0 if a row has it. origin: where the queries are from. filled: how many
    values were missing; huge: of these, the largest number. kind: train, validation or test."""

    name: str
    grades: Floats
    queries: list[str]
    lines: Ints
    features: npt.NDArray[np.float32]
    first: int
    origin: str
    huge: int = 0
    filled: int = 0
    kind: str = "train"

    def gaps(self) -> str:
        """Return in words how missing values are written."""
        ways = ((self.filled - self.huge, "NULL or NaN"), (self.huge, "the largest number"))
        return " and ".join(f"{count:,} times {way}" for count, way in ways if count)


@SOURCES.register("SVMlight")
@dataclass
class SvmLight(Source):
    """One row per sample: grade qid:query feature:value ..., also compressed (.gz).

    If rows name no query, a file beside them with the suffix .query or .group gives the number of rows per query, which
    are then consecutive, as in LightGBM and XGBoost, or the query of each row. The query is the group, the grade is the
    criterion. There are no images, so cards replace them. The first feature is number 0 if a row has it, otherwise
    number 1. A missing value (NULL, or the largest number) becomes the least value of the feature in its
    query.
    """

    order: ClassVar[int] = 1

    file: str = setting(
        "",
        label="File",
        help="A file such as rank.train on the computer that runs this app: grade qid:query feature:value in each row. "
        "Without qid, rank.train.query or rank.train.group in the same folder gives the number of rows per query.",
    )
    test_file: str = setting(
        "",
        label="Test file",
        help="A second file of this format with the test samples, such as rank.test. Empty: a random share of the "
        "queries in the first file is held out.",
        advanced=True,
    )
    validation_file: str = setting(
        "",
        label="Validation file",
        help="A further file of this format, such as vali.txt. Its samples are training samples.",
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
        first, width = self._columns
        for part in self._parts:
            if part.filled:
                yield Problem(part.name, "a value for every feature", part.gaps(), FILLED)
        for file in self._beside[:MAX_LISTED]:
            rows = _first_rows(file)
            if _are_graded(rows):
                named = part_in_name(file.name.replace(".", " ")) or "train"
                done = f"not read; {SETTING[named]} reads it"
                yield Problem(readable(file.name), "one training file and one test file", "another one", done)
            elif rows and all(map(JUDGED.match, rows)):
                yield Problem(readable(file.name), ROW, "grades and queries without features", "not read")
        several, many = len(self._parts) > 1, len(self) > MANY
        for part in self._parts:
            # queries of two files are different even if their names are equal
            of = f"{part.kind} " if several else ""
            tests = set(part.queries) if part.kind == "test" else set[str]()
            if "test" not in self._files:
                tests = self._random_tests(part.queries)
            for row, query in enumerate(part.queries):
                grade, line = float(part.grades[row]), int(part.lines[row])
                box = SourceBox(None, (), group=of + query, numbers={GRADE: grade})
                title, texts = f"{of}line {line}", [f"{GRADE} {grade:g}", f"query {query}"]
                if many:
                    title, texts = "one of many rows", texts[:1]
                vector = np.zeros(width, np.float32)
                vector[: part.features.shape[1]] = part.features[row]
                yield card_image(
                    f"{of}{line:06d}", box, query in tests, vector[first:].tolist(), title, texts
                )

    def decisions(self) -> list[Decision]:
        first, parts, rows = self._columns[0], self._parts, counted(len(self), "row")
        grades = np.unique(np.concatenate([part.grades for part in parts]))
        filled = sum(part.filled for part in parts)
        held_out = next(
            (part.name for part in parts if part.kind == "test"),
            f"a random {self.test_share:g} of the queries",
        )
        decisions = [
            *(
                Decision(
                    "queries" if len(parts) == 1 else f"queries of {part.name}",
                    counted(len(set(part.queries)), "query"),
                    part.origin,
                )
                for part in parts
            ),
            Decision("first feature", f"number {first}", f"{'a' if first == 0 else 'no'} row has feature 0"),
            Decision("grades", f"{grades[0]:g} to {grades[-1]:g}", f"{len(grades):,} different in {rows}"),
            Decision("test split", held_out, f"{counted(len(parts), 'file')} given", "test_file"),
        ]
        decisions += [
            Decision(
                "validation rows", "training rows", f"{counted(len(part.queries), 'row')} of {part.name}"
            )
            for part in parts
            if part.kind == "validation"
        ]
        if filled:
            gaps = "; ".join(f"{part.name}: {part.gaps()}" for part in parts if part.filled)
            decisions.append(Decision("missing values", FILLED, gaps))
        if self._beside:
            names = listed([readable(file.name) for file in self._beside])
            decisions.append(Decision("other files", "not read", f"in the same folder: {names}"))
        if len(self) > MANY:
            decisions.append(Decision("cards", "one for each grade", f"{rows}, more than {MANY:,}"))
        return decisions

    def _random_tests(self, queries: list[str]) -> set[str]:
        names = list(dict.fromkeys(queries))
        chosen = random_part(len(names), self.test_share, self.seed)
        return {name for name, test in zip(names, chosen.tolist(), strict=True) if test}

    @property
    def _files(self) -> dict[str, str]:
        further = {"validation": self.validation_file, "test": self.test_file}
        return {"train": self.file, **{kind: file for kind, file in further.items() if file.strip()}}

    @cached_property
    def _beside(self) -> list[Path]:
        """The files in the folder that are not read."""
        given = {typed_path(file, EXPECTED) for file in self._files.values()}
        there = sorted(next(iter(given)).parent.iterdir())
        return [
            file
            for file in there
            if file not in given and file.is_file() and not file.name.endswith((".query", ".group"))
        ]

    @cached_property
    def _parts(self) -> list[Graded]:
        return [_part(file)._replace(kind=kind) for kind, file in self._files.items()]

    @cached_property
    def _columns(self) -> tuple[int, int]:
        """The number of the first feature, and the highest number of all files + 1."""
        first = min(part.first for part in self._parts)
        return first, max(*(part.features.shape[1] for part in self._parts), first + 1)


def graded_files(place: str) -> Recognised | None:
    """Return how this source reads a file of graded samples, or a folder of them and no images; None for anything
    else."""
    try:
        there = [typed_path(place, "a file of graded samples")]
        while len(there) == 1 and there[0].is_dir():
            there = sorted(there[0].iterdir())
    except (OSError, RuntimeError, ValueError):
        # whoever opens the tree says why it cannot be read
        return None
    if any(is_image(file.name) for file in there[:MAX_LISTED]):
        return None
    graded = [file for file in there[:MAX_LISTED] if file.is_file() and _are_graded(_first_rows(file))]
    parts = {part_in_name(file.name.replace(".", " ")): file for file in reversed(graded)}
    validation = parts.get("val")
    test = parts.get("test", validation)
    others = [file for file in graded if file not in (test, validation)]
    # which of several files without a part is for training, the user has to say
    train = parts.get("train", others[0] if len(others) == 1 else None)
    if train is None:
        return None
    validation = None if validation == test else validation
    files = {"file": train, "validation_file": validation, "test_file": test}
    settings = {name: str(file) for name, file in files.items() if file is not None}
    return Recognised(0.9, f"{readable(train.name)} begins as {ROW}", settings)


def begins_graded(head: bytes) -> bool:
    """Return whether a file with these first bytes has graded samples; it may be compressed by gzip."""
    return _are_graded(_rows(head))


def _first_rows(file: Path) -> list[str]:
    with contextlib.suppress(OSError), file.open("rb") as stream:
        return _rows(stream.read(HEAD))
    return []


def _rows(head: bytes) -> list[str]:
    """Return the first rows of a file, which may be compressed by gzip, without comments."""
    try:
        if head.startswith(GZIP):
            head = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, HEAD)
    except zlib.error:
        return []
    lines = head.decode("utf-8-sig", "ignore").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def _are_graded(rows: list[str]) -> bool:
    """Return whether most rows with features have a grade too; the import reports the others."""
    rows = [row for row in rows if not JUDGED.match(row)]
    return 0 < len(rows) <= 2 * sum(BEGINS.match(row) is not None for row in rows)


def _part(file: str) -> Graded:
    path = typed_file(file, EXPECTED)
    name = readable(path.name)
    with path.open("rb") as stream:
        packed = stream.peek(2)[:2] == GZIP
        try:
            lines: Any = gzip.GzipFile(fileobj=stream) if packed else stream
            head = lines.peek(ARCHIVE_HEAD)[:ARCHIVE_HEAD]
            if head.startswith(FIRST) or head[MAGIC_AT:].startswith(MAGIC):
                raise InputError(name, EXPECTED, "an archive", EXTRACT)
            rows = read_graded(lines, name)
        except (OSError, EOFError, zlib.error) as error:
            raise in_file(name, "an intact gzip file" if packed else EXPECTED, error) from error
    if not rows.queries:
        queries, origin = _beside(path, len(rows.lines))
        rows = rows._replace(queries=queries, origin=origin)
    return rows._replace(filled=_fill(rows.features, rows.queries))


def _fill(features: npt.NDArray[np.float32], queries: list[str]) -> int:
    """Fill missing values as FILLED says, which is how the publishers of LETOR fill them; return their number."""
    missing = np.isnan(features)
    if missing.any():
        import pandas as pd

        least = pd.DataFrame(features).groupby(np.array(queries)).transform("min").fillna(0)
        np.copyto(features, least.to_numpy(np.float32), where=missing)
    return int(missing.sum())


def _beside(path: Path, count: int) -> tuple[list[str], str]:
    """Return the query of each of `count` rows, from a file beside `path` with the sizes of queries, or with the query
    of each row; and where they are from."""
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    names = [
        f"{name}.{end}" for name in dict.fromkeys((plain.name, plain.stem)) for end in ("query", "group")
    ]
    beside = next((path.with_name(name) for name in names if path.with_name(name).is_file()), None)
    if beside is None:
        remedy = f"write qid:QUERY after each grade, or put the sizes of queries, one per line, in {names[0]}"
        raise InputError(
            readable(path.name),
            "rows that name their query (qid:)",
            "neither qid: nor a file of sizes",
            remedy,
        )
    name = readable(beside.name)
    texts = read_typed(beside, 2**26, "the sizes of queries").decode("utf-8", "replace").split()
    sizes = [int(text) for text in texts if text.isdecimal() and 0 < int(text) <= count]
    if len(sizes) == len(texts) and sum(sizes) == count:
        queries = [str(query) for query, size in enumerate(sizes, 1) for _ in range(size)]
        return queries, f"{name} has {len(sizes):,} sizes, which sum to {counted(count, 'row')}"
    if len(texts) == count:
        return texts, f"{name} has {count:,} lines, the query of each row"
    expected = f"sizes of queries that sum to {counted(count, 'row')}, or the query of each row"
    raise InputError(name, expected, sum(sizes) if len(sizes) == len(texts) else "something else")


def read_graded(stream: IO[bytes], file: str, limits: Limits | None = None) -> Graded:
    """Return the rows of a file, read line by line; ValueError if there are none, or, with the line number, if a row
    cannot be read.

    >>> from io import BytesIO
    >>> rows = read_graded(BytesIO(b"2 qid:7 1:0.5 3:1 # a page"), "x")
    >>> rows.grades, rows.queries, rows.features
    (array([2.]), ['7'], array([[0. , 0.5, 0. , 1. ]], dtype=float32))
    """
    limits = Limits.from_environment() if limits is None else limits
    grades, queries, lines = array("d"), [], array("q")
    vectors: list[npt.NDArray[np.float32]] = []
    width, huge, first = 0, 0, 1
    for number, line in enumerate(iter(lambda: stream.readline(LONGEST_ROW), b""), 1):
        content = line.removeprefix(codecs.BOM_UTF8).partition(b"#")[0]
        if not content.strip():
            continue
        try:
            grade, query, vector, beyond = _row(content)
        except (ValueError, OverflowError) as error:
            raise InputError(f"{file}, line {number}", ROW, readable(str(error), 200)) from error
        grades.append(grade)
        lines.append(number)
        vectors.append(vector)
        queries += [] if query is None else [query]
        width, huge = max(width, len(vector)), huge + beyond
        first = 0 if first == 0 or ZERO.search(content) else 1
        if len(grades) > limits.samples:
            raise InputError(file, f"at most {limits.samples:,} rows ({variable('samples')})", "more")
        if len(grades) * width > MAX_CELLS:
            came = f"{len(grades):,} rows and {width:,} features"
            raise InputError("rows times features", f"at most {MAX_CELLS:,}", came, "import fewer rows")
    if not vectors:
        raise InputError(file, "rows of grades and features", "none")
    if 0 < len(queries) < len(vectors):
        came = f"{len(queries):,} of {len(vectors):,} rows with qid"
        raise InputError(file, "qid: in all rows or in none", came)
    features = np.zeros((len(vectors), width), np.float32)
    for row, vector in enumerate(vectors):
        features[row, : len(vector)] = vector
    origin = f"qid: in {counted(len(lines), 'row')}"
    return Graded(file, np.array(grades), queries, np.array(lines), features, first, origin, huge)


def _row(content: bytes) -> tuple[float, str | None, npt.NDArray[np.float32], int]:
    """Return the grade, the query, None if it is not named, the features (highest number + 1,) of a row, and how many
    of them are the largest number, which marks what is missing; ValueError if it cannot be read."""
    grade, rest = [*content.split(None, 1), b""][:2]
    query = None
    if rest.startswith(b"qid:"):
        name, rest = [*rest.split(None, 1), b""][:2]
        if name == b"qid:":
            raise ValueError("qid: without a name")
        query = readable(name[4:].decode("utf-8", "replace"), 200)
    if b"_" in grade + rest:
        raise ValueError("a number with _, which no other reader takes")
    if not PAIRS.fullmatch(rest):
        wrong = next(cell for cell in rest.split() if not PAIRS.fullmatch(cell))
        raise ValueError(wrong.decode("utf-8", "replace"))
    pairs = np.array(list(map(float, MISSING.sub(b":nan", rest).replace(b":", b" ").split())))
    columns, values = pairs[::2], pairs[1::2]
    if columns.max(initial=0) >= MAX_FEATURES:
        raise ValueError(f"feature {columns.max():.0f}, expected numbers below {MAX_FEATURES:,}")
    if len(np.unique(columns)) < len(columns):
        raise ValueError("a feature that occurs twice")
    # the largest double becomes infinite where its last digit was rounded up
    huge = np.isinf(values) | np.isclose(np.abs(values)[:, None], MARKS, rtol=1e-4).any(axis=1)
    values[huge] = np.nan
    is_infinite = INFINITE.search(rest) is not None
    if is_infinite or not abs(float(grade)) <= LARGEST or (np.abs(values) > LARGEST).any():
        raise ValueError("infinity, a number too large, or no grade")
    vector = np.zeros(int(columns.max(initial=0)) + 1, np.float32)
    vector[columns.astype(np.int64)] = values
    return float(grade), query, vector, int(huge.sum())
