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
from typing import IO

from ranking.core import Problem
from ranking.core.errors import InputError
from ranking.core.text import counted, readable
from ranking.files.archive_tree import CUT, ArchiveTree, Entry
from ranking.files.files import plain
from ranking.files.limits import Limits, variable
from ranking.files.tree import Unusable

# the first bytes of compressed files, and of a tar archive after its first name
COMPRESSED: dict[bytes, Callable[[IO[bytes]], io.BufferedIOBase]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
MAGIC, MAGIC_AT = b"ustar", 257
READABLE = "a tar archive that can be read"
# bytes that any archive may expand to, however small it is
SPARE = 16 * 2**20
BLOCK = 512


def is_tar(head: bytes) -> bool:
    """Return whether a file with these first bytes is a tar archive, or a compressed file, which may contain one."""
    return head[MAGIC_AT:].startswith(MAGIC) or head.startswith(tuple(COMPRESSED))


class TarTree(ArchiveTree):
    """The files in the tar archive `place`, which may be compressed by gzip, bzip2 or xz."""

    def _list(self, shown: str) -> tuple[list[Entry], list[Problem]]:
        self._file = _opened(self.place, self._limits, shown)
        entries, damage = _entries(self._file, self._limits.entries, shown)
        if damage and not entries:
            raise InputError(shown, READABLE, damage, CUT)
        came, done = f"{damage} after {counted(len(entries), 'entry')}", f"read up to there; {CUT}"
        return entries, [Problem(shown, READABLE, came, done)] if damage else []

    def head(self, name: str, size: int) -> bytes:
        position, claimed = self._item(name)
        wanted = min(size, claimed)
        try:
            # by several threads at the same time
            data = os.pread(self._file.fileno(), wanted, position)
        except OSError as error:
            raise Unusable("a file that can be read", plain(error)) from error
        if len(data) < wanted:
            raise Unusable("an intact entry of the archive", "it ends early")
        return data


# the expanded archives, by path, size and time of change
_EXPANDED: weakref.WeakValueDictionary[tuple[Path, int, int], IO[bytes]] = weakref.WeakValueDictionary()


def _opened(place: Path, limits: Limits, shown: str) -> IO[bytes]:
    """Return the archive without compression. It is closed when no tree uses it."""
    file: IO[bytes] = place.open("rb")
    head = file.read(BLOCK)
    expand = next((expand for first, expand in COMPRESSED.items() if head.startswith(first)), None)
    file.seek(0)
    if expand is None:
        return file
    state = place.stat()
    key = (place, state.st_size, state.st_mtime_ns)
    with file:
        if (expanded := _EXPANDED.get(key)) is None:
            most = min(limits.total_bytes, max(limits.ratio * state.st_size, SPARE))
            expanded = _EXPANDED[key] = _expanded(expand(file), most, shown)
    return expanded


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


def _entries(file: IO[bytes], most: int, shown: str) -> tuple[list[Entry], str]:
    """Return the entries, each with the position and size of its content, and the damage at which they end, or ""."""
    entries: list[Entry] = []
    file.seek(0)
    try:
        with tarfile.open(fileobj=file, mode="r:", encoding="utf-8") as tar:
            while (item := tar.next()) is not None:
                # tarfile keeps all entries
                tar.members.clear()  # type: ignore[attr-defined]
                is_other = not (item.isdir() or item.isreg()) or item.issparse()
                # most are in UTF-8, but it is not stated
                name = item.name.encode("utf-8", "surrogateescape")
                entries.append(Entry(name, item.isdir(), is_other, (item.offset_data, item.size)))
                if len(entries) > most:
                    expected = f"an archive of at most {most:,} entries"
                    raise InputError(shown, expected, "more", f"set {variable('entries')} to allow more")
            file.seek(tar.offset)
            return entries, "" if file.read(BLOCK) == bytes(BLOCK) else "no end of the archive"
    except InputError:
        raise
    except (tarfile.TarError, ValueError, OverflowError, MemoryError) as error:
        # a header may claim any length
        return entries, readable(str(error)) or "damage"
