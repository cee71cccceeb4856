"""A tree of untrusted files, in a folder or a ZIP file. Its names are keys and never become paths."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import IO

from ranking.core import Decision, Problem
from ranking.core.errors import InputError
from ranking.core.text import counted, listed, readable
from ranking.files.files import IMAGE_SUFFIXES
from ranking.files.limits import megabytes

# the folder of resources that macOS adds to archives
MAC = "__MACOSX"


class Unusable(Exception):
    """Why a file cannot be used: `expected` and `came`, the two middle columns of its row in the import report."""

    def __init__(self, expected: str, came: str) -> None:
        super().__init__(expected, came)
        self.expected, self.came = expected, came


class FileTree(ABC):
    """The files that sources read. Names are relative, sorted, with `/` between their parts.

    place: the path on disk; trees with the same place are equal. parts: the names that lead to it, outermost first.
    folders: the names of all folders, including "" and empty folders. closed: those of `names` that may be folders but
    cannot be listed, each with its error. problems: rows of the import report about the tree itself. decisions: how its
    names were read.
    """

    place: Path
    parts: tuple[str, ...]
    names: tuple[str, ...]
    folders: tuple[str, ...]
    closed: Mapping[str, InputError] = MappingProxyType({})
    problems: tuple[Problem, ...] = ()
    decisions: tuple[Decision, ...] = ()

    @abstractmethod
    def head(self, name: str, size: int) -> bytes:
        """Return the first `size` bytes of a file, or all; Unusable if it does not exist or cannot be read."""

    def read(self, name: str, limit: int, what: str = "a file", by: str = "") -> bytes:
        """Return all bytes of a file; Unusable also if there are more than `limit`. by: the field of `Limits`, or
        ""."""
        self.note_opened(name)
        data = self.head(name, limit + 1)
        if len(data) > limit:
            raise Unusable(f"{what} of at most {megabytes(limit, by)}", "a larger file")
        return data

    def seekable(self, name: str, limit: int, what: str = "a file", by: str = "") -> Path | IO[bytes]:
        """Return a file to be read in parts: its path if it is in a folder, otherwise all its bytes as `read` does."""
        return io.BytesIO(self.read(name, limit, what, by))

    def file(self, name: str, shown: str | None = None) -> FileInTree:
        """Return the file of that name, to be read later. shown: its name in reports."""
        self.note_opened(name)
        return FileInTree(self, name, readable(name if shown is None else shown, 255))

    @cached_property
    def opened(self) -> set[str]:
        """The files that were read, or handed out to be read later: an import reports all others."""
        return set()

    def note_opened(self, name: str) -> None:
        self.opened.add(name)

    def has(self, name: str) -> bool:
        """Return whether a file of that name exists."""
        return name in self._known

    def below(self, folder: str) -> FileTree:
        """Return one of its folders as a tree."""
        return Below(self, folder) if folder else self

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.names)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, FileTree) and self.place == other.place

    def __hash__(self) -> int:
        return hash(self.place)


@dataclass(frozen=True)
class FileInTree:
    """A file that is read later. Threads may read several files of one tree at the same time."""

    tree: FileTree
    name: str
    shown: str

    def read(self, limit: int, what: str = "a file", by: str = "") -> bytes:
        """Return all bytes, as `FileTree.read` does."""
        return self.tree.read(self.name, limit, what, by)


class Below(FileTree):
    """A folder of a tree as a separate tree, without the report rows about the whole tree."""

    def __init__(self, tree: FileTree, folder: str) -> None:
        self._tree, self._prefix = tree, folder + "/"
        start = len(self._prefix)
        self.place, self.parts = tree.place / folder, (*tree.parts, *folder.split("/"))
        self.names = tuple(name[start:] for name in tree.names if name.startswith(self._prefix))
        self.folders = tuple(
            f"{name}/"[start:-1] for name in tree.folders if f"{name}/".startswith(self._prefix)
        )

    def head(self, name: str, size: int) -> bytes:
        return self._tree.head(self._prefix + name, size)

    def note_opened(self, name: str) -> None:
        super().note_opened(name)
        self._tree.note_opened(self._prefix + name)

    def file(self, name: str, shown: str | None = None) -> FileInTree:
        self.note_opened(name)
        return self._tree.file(self._prefix + name, name if shown is None else shown)


def parent(name: str) -> str:
    """
    >>> parent("a/b/c.jpg"), parent("c.jpg")
    ('a/b', '')
    """
    return name.rpartition("/")[0]


def base(name: str) -> str:
    """
    >>> base("a/b/c.jpg")
    'c.jpg'
    """
    return name.rpartition("/")[2]


def suffix(name: str) -> str:
    """Return the suffix of a name in lower case; a leading dot does not begin a suffix.

    >>> suffix("a.b/C.JPG"), suffix("a/.png"), suffix("a.b/c")
    ('.jpg', '', '')
    """
    stem, dot, ending = base(name).rpartition(".")
    return (dot + ending).lower() if stem else ""


def stem(name: str) -> str:
    """Return the name without folders and suffix.

    >>> stem("a.b/c.d.jpg"), stem("c")
    ('c.d', 'c')
    """
    last = base(name)
    return last[: len(last) - len(suffix(name))]


def bare_name(name: str) -> str:
    """Return the name of an archive without folders and suffixes.

    >>> bare_name("a/b.c.tar.gz"), bare_name("b.zip")
    ('b.c', 'b')
    """
    return stem(stem(name)) if stem(name).lower().endswith(".tar") else stem(name)


def is_left_over(part: str) -> bool:
    """Return whether file managers create such a name, and annotation tools do not (._000001.xml)."""
    return part.startswith(".") or part == MAC or part.lower() in ("thumbs.db", "desktop.ini")


def hidden_files(names: Sequence[str]) -> tuple[Decision, ...]:
    """Return the decision about the files among `names`, which are hidden or left over.

    >>> [row.evidence for row in hidden_files(["a/", "__MACOSX/._1.jpg", ".DS_Store"])]
    ['2 files of the operating system or with a leading dot: __MACOSX/._1.jpg, .DS_Store']
    """
    files = [readable(name) for name in names if not name.endswith("/")]
    evidence = f"{counted(len(files), 'file')} of the operating system or with a leading dot: {listed(files)}"
    return (Decision("hidden files", "not read", evidence),) if files else ()


def hidden_images(names: Sequence[str]) -> tuple[Problem, ...]:
    """Return a report row about images among `names` that are not read because a part of them begins with a dot. Those
    that file managers create beside others (__MACOSX, ._1.jpg) are no images.

    >>> [row.came for row in hidden_images(["a/.ipynb_checkpoints/1.jpg", "__MACOSX/._1.jpg"])]
    ['a/.ipynb_checkpoints/1.jpg']
    """
    images = [
        readable(name)
        for name in names
        if suffix(name) in IMAGE_SUFFIXES and not base(name).startswith("._") and MAC not in name
    ]
    if not images:
        return ()
    expected = "names without a leading dot, which hides files and folders"
    return (Problem(counted(len(images), "hidden image"), expected, listed(images), "not read"),)
