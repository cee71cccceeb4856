"""The base of archives as trees: files by name; report rows count links, devices, and names that occur twice."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any, NamedTuple

from ranking.core import Problem
from ranking.core.errors import InputError
from ranking.core.text import counted, listed, readable
from ranking.files.archive_names import AS_FOUND, decoded
from ranking.files.files import INSIDE, NOTHING, unread
from ranking.files.limits import Limits, variable
from ranking.files.tree import (
    FileTree,
    Unusable,
    bare_name,
    hidden_files,
    hidden_images,
    is_left_over,
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
    whose encoding the archive does not state. A name never becomes a path, so `..` and a leading `/` are left out.
    """

    def __init__(
        self, place: Path, limits: Limits | None = None, file_name: str = "", name_encoding: str = AS_FOUND
    ) -> None:
        self._limits = Limits.from_environment() if limits is None else limits
        self.place = place.absolute()
        self._shown = readable(str(place), 255)
        self.parts = (readable(bare_name(file_name or place.name), 255),)
        try:
            entries, rows = self._list()
        except OSError as error:
            raise unread(self._shown, error) from error
        originals, self.decisions = decoded([entry.name for entry in entries], name_encoding)
        self._files = dict[str, Any]()
        folders, hidden, others, again = {""}, list[str](), list[str](), list[str]()
        for original, entry in zip(originals, entries, strict=True):
            parts = [part for part in original.replace("\\", "/").split("/") if part not in ("", ".", "..")]
            name = "/".join(parts)
            if any(map(is_left_over, parts)):
                hidden.append(name)
            elif entry.is_folder:
                folders.add(name)
            elif entry.is_other or not name:
                others.append(readable(original))
            elif name in self._files:
                again.append(readable(original))
            else:
                self._files[name] = entry.item
        self.names, self.folders = tuple(sorted(self._files)), _with_parents(folders, self._files)
        self.decisions = (*self.decisions, *hidden_files(hidden))
        left_out = (
            *_row(others, "files with a name, no links or devices", "ignored"),
            *_row(again, "every name once", "the first is used"),
        )
        self.problems = (*rows, *left_out, *hidden_images(hidden))

    @abstractmethod
    def _list(self) -> tuple[list[Entry], list[Problem]]:
        """Open the archive; return its entries, and rows about damage."""

    def _item(self, name: str) -> Any:
        if name not in self._files:
            raise Unusable(INSIDE, NOTHING)
        return self._files[name]

    def _check_count(self, entries: int) -> None:
        if entries > self._limits.entries:
            expected = f"an archive of at most {self._limits.entries:,} entries"
            raise InputError(self._shown, expected, "more", f"set {variable('entries')} to allow more")

    def _check_expanded(self, size: int) -> None:
        """Raise InputError if so many bytes are more than the archive may expand to."""
        if size > self._limits.total_bytes:
            expected = f"an archive that expands to at most {self._limits.total_bytes:,} bytes"
            raise InputError(
                self._shown, expected, f"{size:,}", f"set {variable('total_bytes')} to allow more"
            )


def _with_parents(folders: set[str], files: dict[str, Any]) -> tuple[str, ...]:
    """Return all folders that are listed or contain something."""
    for name in [*folders, *files]:
        while (name := parent(name)) not in folders:
            folders.add(name)
    return tuple(sorted(folders))


def _row(names: list[str], expected: str, done: str) -> list[Problem]:
    return [Problem(counted(len(names), "name"), expected, listed(names), done)] if names else []
