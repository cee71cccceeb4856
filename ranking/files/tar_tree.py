"""A tar archive on disk as a tree: read in place, file by file, never extracted.

A compressed archive is expanded once into a temporary file without a name, within the limits; trees of the same archive
that exist at the same time share it. Memory holds the position of each file only.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import tarfile
import tempfile
import weakref
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple

from ranking.core import Problem
from ranking.core.errors import InputError
from ranking.core.text import counted, readable
from ranking.files.archive_tree import CUT, ArchiveTree, Entry
from ranking.files.files import plain
from ranking.files.limits import Limits, variable
from ranking.files.tree import Unusable

# the first bytes of compressed files, and of a tar archive after its first name
COMPRESSED: dict[bytes, Callable[[BinaryIO], io.BufferedIOBase]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
MAGIC, MAGIC_AT = b"ustar", 257
READABLE = "a tar archive that can be read"
# bytes that any archive may expand to, however small it is
SPARE = 16 * 2**20
# bytes of a header, which tarfile reads whole
LONGEST_HEADER = 2**20
BLOCK = 512


def is_tar(head: bytes) -> bool:
    """Return whether a file with these first bytes is a tar archive, or a compressed file, which may contain one."""
    return head[MAGIC_AT:].startswith(MAGIC) or head.startswith(tuple(COMPRESSED))


class TarTree(ArchiveTree):
    """The files in the tar archive `place`, which may be compressed by gzip, bzip2 or xz."""

    def _list(self, shown: str) -> tuple[list[Entry], list[Problem]]:
        self._archive = _opened(self.place, self._limits, shown)
        return _entries(_Headers(self._archive.file, shown), self._limits.entries, shown)

    def head(self, name: str, size: int) -> bytes:
        position, claimed = self._item(name)
        wanted = min(size, claimed)
        try:
            # by several threads at the same time
            data = os.pread(self._archive.file.fileno(), wanted, position)
        except OSError as error:
            raise Unusable("a file that can be read", plain(error)) from error
        if len(data) < wanted:
            raise Unusable("an intact entry of the archive", "it ends early")
        return data


class _Archive:
    """An open tar archive, not compressed."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        weakref.finalize(self, file.close)


# by path, size and time of change
_EXPANDED: weakref.WeakValueDictionary[tuple[Path, int, int], _Archive] = weakref.WeakValueDictionary()


def _opened(place: Path, limits: Limits, shown: str) -> _Archive:
    file = place.open("rb")
    head = file.read(BLOCK)
    expand = next((expand for first, expand in COMPRESSED.items() if head.startswith(first)), None)
    if expand is None:
        return _Archive(file)
    state = place.stat()
    key = (place, state.st_size, state.st_mtime_ns)
    with file:
        archive = _EXPANDED.get(key)
        if archive is None:
            file.seek(0)
            most = min(limits.total_bytes, max(limits.ratio * state.st_size, SPARE))
            archive = _EXPANDED[key] = _Archive(_expanded(expand(file), most, shown))
        return archive


def _expanded(compressed: io.BufferedIOBase, most: int, shown: str) -> IO[bytes]:
    size = 0
    with contextlib.ExitStack() as stack:
        target = stack.enter_context(tempfile.TemporaryFile())
        try:
            while piece := compressed.read(2**20):
                size += len(piece)
                if size > most:
                    expected = f"an archive that expands to at most {most:,} bytes"
                    remedy = f"set {variable('ratio')} or {variable('total_bytes')} to allow more"
                    raise InputError(shown, expected, "more", remedy)
                target.write(piece)
        except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
            raise InputError(shown, READABLE, readable(str(error)), CUT) from error
        target.flush()
        stack.pop_all()
    return target


class _Headers:
    """An archive as tarfile reads it: only its headers, which are limited before they are read."""

    def __init__(self, file: IO[bytes], shown: str) -> None:
        self._file, self._shown = file, shown
        file.seek(0)
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int) -> bytes:
        if not 0 <= size <= LONGEST_HEADER:
            raise InputError(self._shown, READABLE, "a header of an entry that is too long")
        return self._file.read(size)


class _Place(NamedTuple):
    """Where the bytes of a file begin in the archive, and how many there are."""

    position: int
    size: int


def _entries(headers: _Headers, most: int, shown: str) -> tuple[list[Entry], list[Problem]]:
    entries: list[Entry] = []
    damage = ""
    remedy = "create the archive again, or extract it and type the path of the folder"
    try:
        # it has all methods that tarfile uses
        with tarfile.open(fileobj=headers, mode="r:", encoding="utf-8") as tar:  # type: ignore[call-overload]
            while (item := tar.next()) is not None:
                # tarfile keeps all entries
                tar.members.clear()
                is_other = not (item.isdir() or item.isreg()) or item.issparse()
                place = _Place(item.offset_data, item.size)
                entries.append(Entry(_name(item.name), item.isdir(), is_other, place))
                if len(entries) > most:
                    expected = f"an archive of at most {most:,} entries"
                    raise InputError(shown, expected, "more", f"set {variable('entries')} to allow more")
            headers.seek(tar.offset)
        if headers.read(BLOCK) != bytes(BLOCK):
            damage = "no end of the archive"
    except InputError:
        raise
    except (tarfile.TarError, ValueError, OverflowError) as error:
        damage = readable(str(error)) or "damage"
    if damage and not entries:
        raise InputError(shown, READABLE, damage, remedy)
    done = f"read up to there; {CUT}"
    rows = [Problem(shown, READABLE, f"{damage} after {counted(len(entries), 'entry')}", done)]
    return entries, rows if damage else []


def _name(name: str) -> str | bytes:
    """Return a name as bytes if it is not in UTF-8, which is not stated but usual."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return name.encode("utf-8", "surrogateescape")
    return name
