"""A ZIP file on disk as a tree: read in place, entry by entry, never extracted and never whole in memory.

Looked over before anything is expanded: how many entries there are (before an object is made of each), that they lie
apart, and what they come to. Entries of names that could be meant as paths, links and devices are no files of the
tree; one row counts those of each kind. What is encrypted or compressed in an unusual way is told when it is read.
"""

from __future__ import annotations

import os
import stat
import struct
import weakref
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

from ranking.core import Problem
from ranking.core.errors import InputError
from ranking.core.text import counted, listed, readable
from ranking.files.archives import check_apart, check_expansion, is_unusual
from ranking.files.files import INSIDE, NOTHING, plain, unread
from ranking.files.limits import Limits, variable
from ranking.files.tree import DEEPEST, FileTree, Unusable, is_left_over, packed_again, parent, stem

FIRST = b"PK\x03\x04"  # what a ZIP file begins with, where nothing was put before it
CENTRAL = b"PK\x01\x02"  # what each entry begins with in the table of contents
ENTRY_BYTES = 1_000  # of the table of contents for an entry, on average; names of 4 kB each are no data set
SPARE = 16 * 2**20  # bytes that a small ZIP file may expand to, whatever its own size
INTACT = "an intact entry of the ZIP file"
READABLE = "a ZIP file that can be read"
UTF8 = 0x800  # the flag of names in UTF-8
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


class ZipTree(FileTree):
    """What the ZIP file `place` holds; ValueError where it is none, is damaged, or exceeds the limits.

    called: the name that people know the file by, which need not be that of `place`.
    """

    def __init__(self, place: Path, limits: Limits | None = None, called: str = "") -> None:
        self._limits = limits = Limits.from_environment() if limits is None else limits
        self.place = place.absolute()
        self.parts = (readable(stem(called or place.name), 255),)
        shown = readable(str(place), 255)
        try:
            file = place.open("rb")
            weakref.finalize(self, file.close)
            self._zip = _open(file, limits, shown)
            entries = self._zip.infolist()
            _check(entries, place.stat().st_size, limits, shown)
        except OSError as error:
            raise unread(shown, error) from error
        self._entries, refused = _by_name(entries, limits.name_length)
        files = [name for name, entry in self._entries.items() if not entry.is_dir()]
        self.names, self.folders = tuple(sorted(files)), _folders(list(self._entries), files)
        self.closed = {}
        self.problems = (*_rows(refused), *packed_again(self.names))

    def head(self, name: str, size: int) -> bytes:
        try:
            with self.stream(name) as (file, claimed):
                data = file.read(size)  # no more is ever expanded, nor more than the entry claims to have
        except OSError as error:
            raise Unusable("a file that can be read", plain(error)) from error
        if len(data) < min(size, claimed):
            raise Unusable(INTACT, "it ends early")
        return data

    @contextmanager
    def stream(self, name: str) -> Iterator[tuple[IO[bytes], int]]:
        """A file, to be read piece by piece, and how many bytes it claims to have, of which no more are expanded.
        Unusable also out of what is done with it, where it turns out to be damaged."""
        entry = self._entries.get(name)
        if entry is None or entry.is_dir():
            raise Unusable(INSIDE, NOTHING)
        if is_unusual(entry):
            raise Unusable(
                "files stored or deflated, without a password", "encrypted, or compressed otherwise"
            )
        try:
            with self._zip.open(entry) as file:
                yield file, entry.file_size
        except DAMAGED as error:
            raise Unusable(INTACT, readable(str(error)) or "it ends early") from error


class _Guarded:
    """A file whose table of contents cannot have more entries than are allowed: looked at before zipfile parses it."""

    def __init__(self, file: BinaryIO, most: int, shown: str) -> None:
        self._file, self._most, self._shown, self.opening = file, most, shown, True
        self._size = os.fstat(file.fileno()).st_size
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        if not self.opening:
            return self._file.read(size)
        room = max(self._most * ENTRY_BYTES, 2**20)
        there = max(0, self._size - self._file.tell())  # more than there is would be made room for as well
        data = self._file.read(min(there if size < 0 else size, there, room + 1))
        if len(data) > room or data.count(CENTRAL) > self._most:
            remedy = f"set {variable('entries')} to allow more"
            raise InputError(self._shown, f"a ZIP file of at most {self._most:,} entries", "more", remedy)
        return data


def _open(file: BinaryIO, limits: Limits, shown: str) -> zipfile.ZipFile:
    guarded = _Guarded(file, limits.entries, shown)
    try:
        opened = zipfile.ZipFile(guarded)  # it needs read, seek and tell
    except InputError:
        raise
    except ValueError as error:  # names that are not in the encoding that they claim
        raise InputError(shown, READABLE, readable(str(error)), "pack it once more") from error
    except (zipfile.BadZipFile, NotImplementedError, OverflowError, struct.error) as error:
        raise InputError(shown, READABLE, readable(str(error)), _remedy(file)) from error
    guarded.opening = False
    return opened


def _remedy(file: BinaryIO) -> str:
    """What to do about a file that is no ZIP file, or no longer: it may have been cut off, or renamed."""
    file.seek(0)
    if file.read(len(FIRST)) == FIRST:
        return "it begins as one, so its end may be missing: copy or download it again, or pack it once more"
    return "pack the folder of images as ZIP; renaming a file does not make it one"


def _check(entries: list[zipfile.ZipInfo], size: int, limits: Limits, shown: str) -> None:
    try:
        check_apart(entries)
    except ValueError as error:
        raise InputError(shown, "a ZIP file of separate entries", str(error)) from error
    try:
        check_expansion(entries, min(limits.total_bytes, max(limits.ratio * size, SPARE)))
    except ValueError as error:
        remedy = f"set {variable('ratio')} or {variable('total_bytes')} to allow more"
        raise InputError(
            shown, "a ZIP file that expands to no more than allowed", str(error), remedy
        ) from error


Entries = dict[str, zipfile.ZipInfo]


def _by_name(
    entries: list[zipfile.ZipInfo], longest: int
) -> tuple[Entries, dict[tuple[str, str], list[str]]]:
    """The entries that are files and folders of the tree; names of the others by what was expected and done."""
    kept: Entries = {}
    refused: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        name = _key(entry)
        if any(is_left_over(part) for part in name.split("/") if part not in ("", ".", "..")):
            continue
        expected, done = _refusal(name, entry, longest), "left out"
        original, name = name, "/".join(part for part in name.split("/") if part not in ("", "."))
        if not expected and name in kept and not (entry.is_dir() and kept[name].is_dir()):
            expected, done = "every name once", "the first is used"
        if expected:
            refused.setdefault((expected, done), []).append(readable(original))
        elif name:
            kept.setdefault(name, entry)
    return kept, refused


def _key(entry: zipfile.ZipInfo) -> str:
    """The name with `/` between its parts. Tools that forget the flag of UTF-8 use it all the same."""
    name = entry.filename
    if not entry.flag_bits & UTF8:
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            name = entry.filename  # it is what it claims to be
    return name.replace("\\", "/")


def _refusal(name: str, entry: zipfile.ZipInfo, longest: int) -> str:
    """What was expected of an entry that is no file or folder of the tree, or ""."""
    if len(name) > longest:
        return f"names of at most {longest:,} characters ({variable('name_length')})"
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if len(parts) > DEEPEST + 1:
        return f"folders at most {DEEPEST} deep"
    if name.startswith("/") or ".." in parts or "".join(parts[:1]).endswith(":"):
        return "names that lead nowhere else"
    kind = stat.S_IFMT(entry.external_attr >> 16)  # 0 where it was packed on Windows
    return "" if kind in (0, stat.S_IFREG, stat.S_IFDIR) else "files, no links or devices"


def _folders(named: list[str], files: list[str]) -> tuple[str, ...]:
    """Every folder that is told or holds something."""
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
