"""What the sources share that read a CSV with an image a row, and the folder that the images lie in."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import ClassVar, NamedTuple

from ranking.core import Problem, Source, SourceBox, SourceImage
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.core.text import counted, readable
from ranking.datasets.common_settings import seed_of_test, share_of_test
from ranking.datasets.splits import drawn
from ranking.files import FileInTree, FileTree, FolderTree, Unusable
from ranking.files.files import IMAGE_SUFFIXES, INSIDE, image_name
from ranking.files.tree import base
from ranking.files.typed_path import read_typed, typed_path
from ranking.formats.table_file import text_table

MAX_BYTES = 64 * 2**20
ENDINGS = ("", *IMAGE_SUFFIXES)
IMAGE_COLUMNS = ("image", "image_name", "file", "filename", "file_name", "name", "path")
SPLITS = {"train": False, "val": False, "valid": False, "validation": False, "test": True}
LEFT_OUT = "image left out"


ReadBox = Callable[
    [Sequence[str]], SourceBox
]  # the cells of a row -> what they say; Unusable where they cannot


class Row(NamedTuple):
    line: int
    name: str
    box: SourceBox
    test: bool | None  # None: the file does not say


@dataclass
class ImageCsv(Source):
    """The column `image` (or the first) names an image; a column `split` says train or test, where there is one.

    What the other columns say is for a source to read. An image is the sample, whole. No name in the file leads out of
    the folder.
    """

    order: ClassVar[int] = 1
    tells: ClassVar[str]  # what the other columns tell: "labels"

    file: str = setting("", label="CSV file", help="A file on the computer that runs this app.")
    folder: str = setting(
        "",
        label="Folder of the images",
        help="Where the images lie that the file names. Empty: beside the file.",
        advanced=True,
    )
    test_share: float = share_of_test(
        0.4, "How many images are drawn for the test where the file has no column split.", advanced=True
    )
    seed: int = seed_of_test()

    @abstractmethod
    def reader(self, columns: Mapping[str, int], where: str) -> ReadBox:
        """What reads the cells of `columns` (name to place); ValueError, beginning with `where`, for unfit names."""

    def title(self) -> str:
        return readable(self._path.stem) or self.name

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
                yield SourceImage(image_name(row.name), image, (row.box,), test)

    @property
    def _path(self) -> Path:
        return typed_path(self.file, "a CSV file")

    @cached_property
    def _rows(self) -> tuple[list[Row], list[Problem]]:
        """The rows of the file and what is wrong with others; ValueError where its first line tells no columns."""
        data, file = read_typed(self.file, MAX_BYTES, "a CSV file"), readable(self._path.name)
        rows, problems = list[Row](), list[Problem]()
        try:
            table = text_table(data)
            columns = _columns(table.header, file, self.tells)
            read_box = self.reader(columns.told, f"{file}, line 1")
            for line, cells in table.rows():
                try:
                    rows.append(_row(cells, len(table.header), columns, read_box, line))
                except Unusable as error:
                    problems.append(Problem(f"{file}, line {line}", error.expected, error.came, LEFT_OUT))
        except Unusable as error:  # of the whole file
            raise InputError(file, error.expected, error.came) from error
        if not rows:
            raise InputError(file, "a row per image", f"{counted(len(problems), 'row')} that cannot be used")
        return rows, problems

    @cached_property
    def _images(self) -> FileTree:
        folder = typed_path(self.folder, "a folder of images") if self.folder.strip() else self._path.parent
        if not folder.is_dir():
            raise InputError(readable(str(folder), 255), "the folder of the images", "no folder of that name")
        return FolderTree(folder)

    def _image(self, row: Row) -> FileInTree | Problem:
        """The file that a row names, with its ending or without."""
        where, shown = f"{readable(self._path.name)}, line {row.line}", readable(row.name)
        named, tree = PurePosixPath(row.name), self._images
        if named.is_absolute() or ".." in named.parts or "\0" in row.name:
            return Problem(where, INSIDE, shown, LEFT_OUT)
        if tree.has_folder(str(named)):
            return Problem(where, INSIDE, f"{shown}: something else", LEFT_OUT)
        found = next((str(named) + ending for ending in ENDINGS if tree.has(str(named) + ending)), None)
        if found is None:
            return Problem(where, "an image of that name in the folder", f"no {shown}", LEFT_OUT)
        try:
            tree.head(found, 1)
        except Unusable as error:
            return Problem(where, error.expected, f"{shown}: {error.came}", LEFT_OUT)
        return tree.file(found, base(found))


class Columns(NamedTuple):
    image: int
    split: int | None
    told: dict[str, int]  # the others: name to place


def _columns(header: Sequence[str], file: str, tells: str) -> Columns:
    names = [name.lower() for name in header]
    if len(names) < 2 or len(set(header)) < len(header) or not all(header):
        expected = f"different names of columns, an image and {tells}"
        raise InputError(f"{file}, line 1", expected, f"{header!r:.80}")
    image = next((names.index(name) for name in IMAGE_COLUMNS if name in names), 0)
    split = names.index("split") if "split" in names else None
    told = {name: place for place, name in enumerate(header) if place not in (image, split)}
    if not told:
        raise InputError(f"{file}, line 1", f"columns of {tells}", ", ".join(header))
    return Columns(image, split, told)


def _row(cells: list[str], width: int, columns: Columns, read_box: ReadBox, line: int) -> Row:
    if len(cells) != width:
        raise Unusable(f"{width} columns", f"{len(cells)}")
    name, test = cells[columns.image].strip(), None
    if not name:
        raise Unusable("the name of an image", "an empty cell")
    if columns.split is not None:
        test = SPLITS.get(cells[columns.split].strip().lower())
        if test is None:
            came = readable(cells[columns.split]) or "an empty cell"
            raise Unusable(f"split {', '.join(SPLITS)}", came)
    return Row(line, name, read_box(cells), test)
