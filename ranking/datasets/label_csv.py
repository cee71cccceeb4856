"""A CSV with an image a row and its labels, and the folder that the images lie in."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import ClassVar, NamedTuple

from ranking.datasets.common_settings import seed_of, share_of_test
from ranking.datasets.files import IMAGE_SUFFIXES, INSIDE, NOTHING, image_name, refusal
from ranking.datasets.registry import SOURCES
from ranking.datasets.splits import drawn
from ranking.datasets.text import readable
from ranking.datasets.typed_path import read_typed, typed_path
from ranking.settings import setting
from ranking.types import Problem, SourceBox, SourceImage

MAX_BYTES = 64 * 2**20
MAX_COLUMNS = 1_002
IMAGE_COLUMNS = ("image", "image_name", "file", "filename", "file_name", "name", "path")
LABEL_COLUMNS = ("labels", "tags", "label", "classes", "concepts")
SPLITS = {"train": False, "val": False, "valid": False, "validation": False, "test": True}
LEFT_OUT = "image left out"


class Row(NamedTuple):
    line: int
    name: str
    labels: tuple[str, ...]
    test: bool | None  # None: the file does not say


@SOURCES.register("Multi-label CSV")
@dataclass
class LabelCsv:
    """The column `image` (or the first) names an image; a column `split` says train or test, where there is one.

    Labels stand in a column `labels`, separated by ; or |, or else in a column each, with 1 or 0. An image is the
    sample, whole. No name in the file leads out of the folder.
    """

    name: ClassVar[str]
    order: ClassVar[int] = 1
    bundled: ClassVar[bool] = False

    file: str = setting(
        "",
        label="CSV file",
        help="A file on the computer that runs this app, its first line the names of the columns: image, then labels "
        "(separated by ; or |), or a column of 0 and 1 for each label; and split (train or test), if you like.",
    )
    folder: str = setting(
        "",
        label="Folder of the images",
        help="Where the images lie that the file names. Empty: beside the file.",
        advanced=True,
    )
    test_share: float = share_of_test(
        0.4, "How many images are drawn for the test where the file has no column split.", advanced=True
    )
    seed: int = seed_of(0, "Which images are drawn for the test, where any are.")

    def title(self) -> str:
        return readable(self._path.stem) or "Multi-label CSV"

    def __len__(self) -> int:
        return len(self._rows[0])

    def records(self) -> Iterator[SourceImage | Problem]:
        rows, problems = self._rows
        yield from problems
        for row, chosen in zip(rows, drawn(len(rows), self.test_share, self.seed).tolist(), strict=True):
            image = self._image(row)
            if isinstance(image, Problem):
                yield image
            else:
                test = chosen if row.test is None else row.test
                yield SourceImage(image_name(row.name), image, (SourceBox(None, row.labels),), test)

    @property
    def _path(self) -> Path:
        return typed_path(self.file, "a CSV file")

    @cached_property
    def _rows(self) -> tuple[list[Row], list[Problem]]:
        return read_rows(read_typed(self.file, MAX_BYTES, "a CSV file"), readable(self._path.name))

    @cached_property
    def _images(self) -> Path:
        folder = typed_path(self.folder, "a folder of images") if self.folder.strip() else self._path.parent
        if not folder.is_dir():
            raise ValueError(f"no folder {readable(str(folder), 255)}; expected the folder of the images")
        return folder.resolve()

    def _image(self, row: Row) -> Path | Problem:
        """The file that a row names, with its ending or without."""
        where, named = f"{readable(self._path.name)}, line {row.line}", PurePosixPath(row.name)
        if named.is_absolute() or ".." in named.parts or "\0" in row.name:
            return Problem(where, INSIDE, readable(row.name), LEFT_OUT)
        path = self._images / named
        for suffix in ("", *IMAGE_SUFFIXES, ".webp"):
            longer = path.with_name(path.name + suffix)
            wrong = refusal(longer, self._images)
            if not wrong:
                return longer
            if wrong != NOTHING:
                return Problem(where, INSIDE, f"{readable(row.name)}: {wrong}", LEFT_OUT)
        return Problem(where, "an image of that name in the folder", f"no {readable(row.name)}", LEFT_OUT)


def read_rows(data: bytes, file: str) -> tuple[list[Row], list[Problem]]:
    """The rows of a file and what is wrong with others; ValueError where the first line does not tell columns."""
    try:
        lines = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True)
        header = [readable(cell) for cell in next(lines, [])]
        columns = _columns(header, file)
        rows, problems = list[Row](), list[Problem]()
        for cells in lines:
            if cells:
                read = _row(cells, header, columns, lines.line_num, file)
                (rows if isinstance(read, Row) else problems).append(read)  # type: ignore[arg-type]
    except UnicodeDecodeError as error:
        raise ValueError(f"{file}: expected text in UTF-8, got byte {error.start} of another kind") from error
    except csv.Error as error:
        raise ValueError(
            f"{file}: expected comma-separated values, line {lines.line_num}: {error}"
        ) from error
    if not rows:
        raise ValueError(f"{file}: expected a row for each image, {len(problems)} came that cannot be used")
    return rows, problems


class Columns(NamedTuple):
    image: int
    split: int | None
    listed: int | None  # of all labels
    marked: tuple[int, ...]  # of one label each


def _columns(header: Sequence[str], file: str) -> Columns:
    names = [name.lower() for name in header]
    if len(names) < 2 or len(set(header)) < len(header) or not all(header):
        raise ValueError(
            f"{file}, line 1: expected different names of columns, an image and labels, got {header!r:.80}"
        )
    if len(names) > MAX_COLUMNS:
        raise ValueError(f"{file}, line 1: expected at most {MAX_COLUMNS:,} columns, got {len(names):,}")
    image = next((names.index(name) for name in IMAGE_COLUMNS if name in names), 0)
    split = names.index("split") if "split" in names else None
    rest = tuple(place for place in range(len(names)) if place not in (image, split))
    if not rest:
        raise ValueError(f"{file}, line 1: expected columns of labels, got {', '.join(header)}")
    together = next((names.index(name) for name in LABEL_COLUMNS if name in names), None)
    if together is not None and together in rest:
        return Columns(image, split, together, ())
    return Columns(image, split, None, rest)


def _row(cells: list[str], header: Sequence[str], columns: Columns, line: int, file: str) -> Row | Problem:
    where = f"{file}, line {line}"
    if len(cells) != len(header):
        return Problem(where, f"{len(header)} columns", f"{len(cells)}", LEFT_OUT)
    name, test = cells[columns.image].strip(), None
    if not name:
        return Problem(where, "the name of an image", "an empty cell", LEFT_OUT)
    if columns.split is not None:
        test = SPLITS.get(cells[columns.split].strip().lower())
        if test is None:
            came = readable(cells[columns.split]) or "an empty cell"
            return Problem(where, f"split {', '.join(SPLITS)}", came, LEFT_OUT)
    if columns.listed is not None:
        parts = cells[columns.listed].replace("|", ";").split(";")
        told = [label for label in map(readable, parts) if label]
        return Row(line, name, tuple(dict.fromkeys(told)), test)
    marks = {header[place]: cells[place].strip() for place in columns.marked}
    wrong = next((f"{label}: {mark!r:.20}" for label, mark in marks.items() if mark not in ("0", "1")), None)
    if wrong is not None:
        return Problem(where, "labels marked 0 or 1", readable(wrong), LEFT_OUT)
    return Row(line, name, tuple(label for label, mark in marks.items() if mark == "1"), test)
