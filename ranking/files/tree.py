"""A tree of files that a stranger made, wherever it lies. Its names are keys into it and never become paths."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ranking.core import Problem
from ranking.core.errors import InputError
from ranking.core.text import counted, listed, readable
from ranking.files.limits import megabytes

DEEPEST = 32  # folders in folders
PACKED = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".7z", ".rar")


class Unusable(Exception):
    """Why a file cannot be used: the two middle columns of its row in the report."""

    def __init__(self, expected: str, came: str) -> None:
        super().__init__(expected, came)
        self.expected, self.came = expected, came


class FileTree(ABC):
    """What sources read from. Names are relative, with `/` between their parts, and in order.

    place: where it lies on disk; trees of one place are equal. parts: how that place is called, outermost first.
    folders: the names of all folders, "" and empty ones included. closed: folders that are there and cannot be
    listed, each with the error that says why; what may be a file or a folder is in `names` too.
    problems: rows of the report about the tree itself.
    """

    place: Path
    parts: tuple[str, ...]
    names: tuple[str, ...]
    folders: tuple[str, ...]
    closed: Mapping[str, InputError]
    problems: tuple[Problem, ...]

    @abstractmethod
    def head(self, name: str, size: int) -> bytes:
        """The first `size` bytes of a file, or all; Unusable where there is none, or it cannot be read."""

    def read(self, name: str, limit: int, what: str = "a file", by: str = "") -> bytes:
        """All bytes of a file; Unusable also where it has more than `limit` bytes. by: the field of `Limits`, or ""."""
        data = self.head(name, limit + 1)
        if len(data) > limit:
            raise Unusable(f"{what} of at most {megabytes(limit, by)}", "a larger file")
        return data

    def file(self, name: str, shown: str | None = None) -> FileInTree:
        """The file of that name, to be read later; reports call it `shown`."""
        return FileInTree(self, name, readable(name if shown is None else shown, 255))

    def has(self, name: str) -> bool:
        """Whether there is a file of that name."""
        return name in self._known

    def children(self, folder: str) -> list[str]:
        """The names of the files that lie in `folder` itself, in order."""
        return self._by_folder.get(folder, [])

    def has_folder(self, folder: str) -> bool:
        """Whether a folder of that name is there, readable or not."""
        return folder in self._folders or folder in self.closed

    def below(self, folder: str) -> FileTree:
        """The tree as seen from one of its folders."""
        return Below(self, folder) if folder else self

    @cached_property
    def _by_folder(self) -> dict[str, list[str]]:
        names_by_folder: dict[str, list[str]] = {}
        for name in self.names:
            names_by_folder.setdefault(parent(name), []).append(name)
        return names_by_folder

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.names)

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(self.folders)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, FileTree) and self.place == other.place

    def __hash__(self) -> int:
        return hash(self.place)


@dataclass(frozen=True)
class FileInTree:
    """A file that is read when it is its turn. Threads may read several of one tree at the same time."""

    tree: FileTree
    name: str
    shown: str

    def read(self, limit: int, what: str = "a file", by: str = "") -> bytes:
        """As `FileTree.read`."""
        return self.tree.read(self.name, limit, what, by)


class Below(FileTree):
    """A folder of a tree as a tree of its own. The rows about the tree stay with the tree."""

    def __init__(self, tree: FileTree, folder: str) -> None:
        self._tree, self._prefix = tree, folder + "/"
        start = len(self._prefix)
        self.place, self.parts = tree.place / folder, (*tree.parts, *folder.split("/"))
        self.names = tuple(name[start:] for name in tree.names if name.startswith(self._prefix))
        inner = tuple(name[start:] for name in tree.folders if name.startswith(self._prefix))
        self.folders = ("", *inner)
        self.closed = {
            name[start:]: why for name, why in tree.closed.items() if name.startswith(self._prefix)
        }
        self.problems = ()

    def head(self, name: str, size: int) -> bytes:
        return self._tree.head(self._prefix + name, size)

    def file(self, name: str, shown: str | None = None) -> FileInTree:
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
    """The ending of a name in small letters; a leading dot makes none.

    >>> suffix("a.b/C.JPG"), suffix("a/.png"), suffix("a.b/c")
    ('.jpg', '', '')
    """
    stem, dot, ending = base(name).rpartition(".")
    return (dot + ending).lower() if stem else ""


def stem(name: str) -> str:
    """The name without folders and ending.

    >>> stem("a.b/c.d.jpg"), stem("c")
    ('c.d', 'c')
    """
    last = base(name)
    return last[: len(last) - len(suffix(name))]


def is_left_over(part: str) -> bool:
    """Whether a file or folder of that name is left by file managers, never by annotators (._000001.xml)."""
    return part.startswith(".") or part == "__MACOSX"


def packed_again(names: tuple[str, ...]) -> tuple[Problem, ...]:
    """A row where there are archives in a tree: they are never opened."""
    packed = [name for name in names if suffix(name) in PACKED]
    if not packed:
        return ()
    came = listed([readable(name) for name in packed])
    return (Problem(counted(len(packed), "archive"), "files that are not packed again", came, "not opened"),)
