"""A ZIP file on disk as a tree: read in place, entry by entry, never extracted and never whole in memory.

Before anything is expanded, the number of entries is checked (before an object is made of each), then that they do not
overlap, and their expanded size. Entries whose names could lead out of the tree, links and devices are not files of the
tree; one report row counts the entries of each kind. Encryption or unusual compression is reported when an entry is
read.
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
from ranking.files.files import INSIDE, NOTHING, plain, unread
from ranking.files.limits import Limits, variable
from ranking.files.tree import DEEPEST, FileTree, Unusable, is_left_over, packed_again, parent, stem

# the first bytes of a ZIP file, if nothing was put before it
FIRST = b"PK\x03\x04"
# the first bytes of each entry in the table of contents
CENTRAL = b"PK\x01\x02"
# bytes before the name and content of an entry
LOCAL_HEADER = 30
# of the table of contents per entry, on average; no data set has names of 4 kB each
ENTRY_BYTES = 1_000
# bytes that any ZIP file may expand to, however small it is
SPARE = 16 * 2**20
INTACT = "an intact entry of the ZIP file"
READABLE = "a ZIP file that can be read"
# the message of zipfile, which says no more than READABLE
NO_ZIP = "File is not a zip file"
# the flag of names in UTF-8
UTF8 = 0x800
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


class ZipTree(FileTree):
    """The files in the ZIP file `place`; ValueError if it is no ZIP file, is damaged, or exceeds the limits.

    file_name: the name that the user gave the file, which may differ from that of `place`.
    """

    def __init__(self, place: Path, limits: Limits | None = None, file_name: str = "") -> None:
        self._limits = limits = Limits.from_environment() if limits is None else limits
        self.place = place.absolute()
        self.parts = (readable(stem(file_name or place.name), 255),)
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
                # no more is expanded, and no more than the entry claims
                data = file.read(size)
        except OSError as error:
            raise Unusable("a file that can be read", plain(error)) from error
        if len(data) < min(size, claimed):
            raise Unusable(INTACT, "it ends early")
        return data

    @contextmanager
    def stream(self, name: str) -> Iterator[tuple[IO[bytes], int]]:
        """Yield a file, to be read in pieces, and its claimed size in bytes, beyond which nothing is expanded.
        Unusable, also inside the `with` block, if the file is damaged."""
        entry = self._entries.get(name)
        if entry is None or entry.is_dir():
            raise Unusable(INSIDE, NOTHING)
        if _is_unusual(entry):
            raise Unusable(
                "files stored or deflated, without a password", "encrypted, or compressed otherwise"
            )
        try:
            with self._zip.open(entry) as file:
                yield file, entry.file_size
        except DAMAGED as error:
            raise Unusable(INTACT, readable(str(error)) or "it ends early") from error


class _Guarded:
    """A file that limits the size of its table of contents, and so its entries, before zipfile parses it."""

    def __init__(self, file: BinaryIO, most: int, shown: str) -> None:
        self._file, self._most, self._shown, self.opening = file, most, shown, True
        self._size = os.fstat(file.fileno()).st_size
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        if not self.opening:
            return self._file.read(size)
        limit = max(self._most * ENTRY_BYTES, 2**20)
        # read() allocates even what is beyond the end
        there = max(0, self._size - self._file.tell())
        data = self._file.read(min(there if size < 0 else size, there, limit + 1))
        if len(data) > limit or data.count(CENTRAL) > self._most:
            remedy = f"set {variable('entries')} to allow more"
            raise InputError(self._shown, f"a ZIP file of at most {self._most:,} entries", "more", remedy)
        return data


def _open(file: BinaryIO, limits: Limits, shown: str) -> zipfile.ZipFile:
    guarded = _Guarded(file, limits.entries, shown)
    try:
        # it has all methods that zipfile uses
        opened = zipfile.ZipFile(guarded)
    except InputError:
        raise
    except ValueError as error:
        # names that are not in their claimed encoding
        raise InputError(shown, READABLE, readable(str(error)), "create the ZIP file again") from error
    except (zipfile.BadZipFile, NotImplementedError, OverflowError, struct.error) as error:
        came = None if str(error) == NO_ZIP else readable(str(error))
        raise InputError(shown, READABLE, came, _remedy(file)) from error
    guarded.opening = False
    return opened


def _remedy(file: BinaryIO) -> str:
    """Return what to do about an unreadable ZIP file: it may be incomplete, or another file that was renamed."""
    file.seek(0)
    if file.read(len(FIRST)) == FIRST:
        return "its end may be missing: download, copy or create it again"
    return "create a ZIP archive of the image folder; renaming a file is not enough"


def _check(entries: list[zipfile.ZipInfo], size: int, limits: Limits, shown: str) -> None:
    try:
        _check_apart(entries)
    except ValueError as error:
        raise InputError(shown, "a ZIP file of separate entries", str(error)) from error
    try:
        _check_expansion(entries, min(limits.total_bytes, max(limits.ratio * size, SPARE)))
    except ValueError as error:
        remedy = f"set {variable('ratio')} or {variable('total_bytes')} to allow more"
        raise InputError(
            shown, "a ZIP file that expands to no more than allowed", str(error), remedy
        ) from error


def _is_unusual(entry: zipfile.ZipInfo) -> bool:
    """Return whether an entry is encrypted, or compressed with a method that not all tools support."""
    return bool(entry.flag_bits & 1) or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def _check_apart(entries: list[zipfile.ZipInfo]) -> None:
    """Raise ValueError if two entries share bytes of the file, as in ZIP bombs that expand one content many times."""
    free_from = 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        if entry.header_offset < free_from:
            raise InputError(
                repr(entry.filename)[:80], "separate bytes", "an entry that overlaps another entry"
            )
        free_from = entry.header_offset + LOCAL_HEADER + len(entry.filename) + entry.compress_size


def _check_expansion(entries: list[zipfile.ZipInfo], most: float) -> None:
    """Raise ValueError if all entries together expand to more than `most` bytes."""
    expanded = sum(entry.file_size for entry in entries)
    if expanded > most:
        raise InputError("all that the archive expands to", f"at most {int(most):,} bytes", expanded)


Entries = dict[str, zipfile.ZipInfo]


def _by_name(
    entries: list[zipfile.ZipInfo], longest: int
) -> tuple[Entries, dict[tuple[str, str], list[str]]]:
    """Return the entries that are files and folders of the tree, and the other names by what was expected and done."""
    kept: Entries = {}
    refused: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        name = _key(entry)
        if any(is_left_over(part) for part in name.split("/") if part not in ("", ".", "..")):
            continue
        expected, done = _refusal(name, entry, longest), "ignored"
        original, name = name, "/".join(part for part in name.split("/") if part not in ("", "."))
        if not expected and name in kept and not (entry.is_dir() and kept[name].is_dir()):
            expected, done = "every name once", "the first is used"
        if expected:
            refused.setdefault((expected, done), []).append(readable(original))
        elif name:
            kept.setdefault(name, entry)
    return kept, refused


def _key(entry: zipfile.ZipInfo) -> str:
    """Return the name with `/` between its parts. Some tools write UTF-8 without setting its flag."""
    name = entry.filename
    if not entry.flag_bits & UTF8:
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            # it is not UTF-8
            name = entry.filename
    return name.replace("\\", "/")


def _refusal(name: str, entry: zipfile.ZipInfo, longest: int) -> str:
    """Return what was expected of an entry that is not a file or folder of the tree, or ""."""
    if len(name) > longest:
        return f"names of at most {longest:,} characters ({variable('name_length')})"
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if len(parts) > DEEPEST + 1:
        return f"folders at most {DEEPEST} deep"
    if name.startswith("/") or ".." in parts or "".join(parts[:1]).endswith(":"):
        return "paths inside the archive (no absolute paths, no “..”)"
    # 0 if it was packed on Windows
    kind = stat.S_IFMT(entry.external_attr >> 16)
    return "" if kind in (0, stat.S_IFREG, stat.S_IFDIR) else "files, no links or devices"


def _folders(named: list[str], files: list[str]) -> tuple[str, ...]:
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
