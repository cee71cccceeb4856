"""The base of archives as trees: entries by name, without those whose names could lead out of the tree, links and
devices; one report row counts the entries of each kind."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any, NamedTuple

from ranking.core import Problem
from ranking.core.text import counted, listed, readable
from ranking.files.archive_names import AS_FOUND, decoded
from ranking.files.files import INSIDE, NOTHING, unread
from ranking.files.limits import Limits, variable
from ranking.files.tree import (
    DEEPEST,
    FileTree,
    Unusable,
    bare_name,
    hidden_images,
    is_left_over,
    packed_again,
    parent,
)

# the remedy for a file that begins well
CUT = "its end may be missing: download, copy or create it again"


class Entry(NamedTuple):
    """One entry of an archive. name: in bytes if its encoding is not stated. is_other: a link or a device. item: what
    the archive calls it."""

    name: str | bytes
    is_folder: bool
    is_other: bool
    item: Any


class ArchiveTree(FileTree):
    """The files in the archive `place`; ValueError if it is no such archive, is damaged, or exceeds the limits.

    file_name: the name that the user gave the file, which may differ from that of `place`. name_encoding: of names
    whose encoding the archive does not state.
    """

    def __init__(
        self, place: Path, limits: Limits | None = None, file_name: str = "", name_encoding: str = AS_FOUND
    ) -> None:
        self._limits = Limits.from_environment() if limits is None else limits
        self.place = place.absolute()
        self.parts = (readable(bare_name(file_name or place.name), 255),)
        shown = readable(str(place), 255)
        try:
            entries, rows = self._list(shown)
        except OSError as error:
            raise unread(shown, error) from error
        names, self.decisions = decoded([entry.name for entry in entries], name_encoding)
        kept, refused, hidden = _by_name(names, entries, self._limits.name_length)
        self._files = {name: entry.item for name, entry in kept.items() if not entry.is_folder}
        self.names, self.folders = tuple(sorted(self._files)), _folders(list(kept), self._files)
        self.closed = {}
        self.problems = (*rows, *_rows(refused), *packed_again(self.names), *hidden_images(hidden))

    @abstractmethod
    def _list(self, shown: str) -> tuple[list[Entry], list[Problem]]:
        """Open the archive, which errors call `shown`; return its entries, and rows about damage."""

    def _item(self, name: str) -> Any:
        if name not in self._files:
            raise Unusable(INSIDE, NOTHING)
        return self._files[name]


def _by_name(
    names: list[str], entries: list[Entry], longest: int
) -> tuple[dict[str, Entry], dict[tuple[str, str], list[str]], list[str]]:
    """Return the entries that are files and folders of the tree, the other names by what was expected and done, and the
    hidden names."""
    kept: dict[str, Entry] = {}
    hidden: list[str] = []
    refused: dict[tuple[str, str], list[str]] = {}
    for original, entry in zip(names, entries, strict=True):
        name = original.replace("\\", "/")
        if any(is_left_over(part) for part in name.split("/") if part not in ("", ".", "..")):
            hidden.append(name)
            continue
        expected, done = _refusal(name, entry, longest), "ignored"
        original, name = name, "/".join(part for part in name.split("/") if part not in ("", "."))
        if not expected and name in kept and not (entry.is_folder and kept[name].is_folder):
            expected, done = "every name once", "the first is used"
        if expected:
            refused.setdefault((expected, done), []).append(readable(original))
        elif name:
            kept.setdefault(name, entry)
    return kept, refused, hidden


def _refusal(name: str, entry: Entry, longest: int) -> str:
    """Return what was expected of an entry that is not a file or folder of the tree, or ""."""
    if len(name) > longest:
        return f"names of at most {longest:,} characters ({variable('name_length')})"
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if len(parts) > DEEPEST + 1:
        return f"folders at most {DEEPEST} deep"
    if name.startswith("/") or ".." in parts or "".join(parts[:1]).endswith(":"):
        return "paths inside the archive (no absolute paths, no “..”)"
    return "files, no links or devices" if entry.is_other else ""


def _folders(named: list[str], files: dict[str, Any]) -> tuple[str, ...]:
    """Return all folders that are listed or contain something."""
    folders = {""} | (set(named) - set(files))
    for name in named:
        above = parent(name)
        while above not in folders:
            folders.add(above)
            above = parent(above)
    return tuple(sorted(folders))


def _rows(refused: dict[tuple[str, str], list[str]]) -> list[Problem]:
    return [
        Problem(counted(len(names), "name"), expected, listed(names), done)
        for (expected, done), names in refused.items()
    ]
