"""A tar archive on disk as a tree: read in place, file by file, never extracted.

A compressed archive is expanded once into a temporary file without a name, within the limits; trees of the same archive
that exist at the same time share it. Memory holds the position of each file only.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import tarfile
import tempfile
import weakref
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from ranking.core import Problem
from ranking.core.errors import InputError
from ranking.core.text import counted, readable
from ranking.files.archive_tree import CUT, ArchiveTree, Entry
from ranking.files.files import plain
from ranking.files.tree import Unusable

# the first bytes of compressed files, and of a tar archive after its first name
COMPRESSED: dict[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
MAGIC, MAGIC_AT = b"ustar", 257
READABLE = "a tar archive that can be read"
BLOCK = 512
# the expanded archives, by path, size and time of change
_EXPANDED: weakref.WeakValueDictionary[tuple[Path, int, int], IO[bytes]] = weakref.WeakValueDictionary()


def is_tar(head: bytes) -> bool:
    """Return whether a file with these first bytes is a tar archive, or a compressed file, which may contain one."""
    return head[MAGIC_AT:].startswith(MAGIC) or head.startswith(tuple(COMPRESSED))


class TarTree(ArchiveTree):
    """The files in the tar archive `place`, which may be compressed by gzip, bzip2 or xz."""

    def _list(self) -> tuple[list[Entry], list[Problem]]:
        self._file = self._opened()
        entries, damage = self._entries()
        if damage and not entries:
            raise InputError(self._shown, READABLE, damage, CUT)
        came, done = f"{damage} after {counted(len(entries), 'entry')}", f"read up to there; {CUT}"
        return entries, [Problem(self._shown, READABLE, came, done)] if damage else []

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

    def _opened(self) -> IO[bytes]:
        """Return the archive without compression. It is closed when no tree uses it."""
        file = self.place.open("rb")
        head, state = file.read(BLOCK), self.place.stat()
        expand = next((expand for first, expand in COMPRESSED.items() if head.startswith(first)), None)
        if expand is None:
            return file
        file.close()
        key = (self.place, state.st_size, state.st_mtime_ns)
        expanded = _EXPANDED.get(key)
        if expanded is None:
            with expand(self.place) as compressed:
                expanded = _EXPANDED[key] = self._expanded(compressed)
        return expanded

    def _expanded(self, compressed: IO[bytes]) -> IO[bytes]:
        with contextlib.ExitStack() as stack:
            target = stack.enter_context(tempfile.TemporaryFile())
            try:
                while piece := compressed.read(2**20):
                    self._check_expanded(target.tell() + len(piece))
                    target.write(piece)
            except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
                raise InputError(self._shown, READABLE, readable(str(error)), CUT) from error
            target.flush()
            stack.pop_all()
        return target

    def _entries(self) -> tuple[list[Entry], str]:
        """Return the entries, each with the position and size of its content, and the damage at which they end, or
        ""."""
        entries: list[Entry] = []
        self._file.seek(0)
        try:
            with tarfile.open(fileobj=self._file, mode="r:", encoding="utf-8") as tar:
                while (item := tar.next()) is not None:
                    # tarfile keeps all entries
                    tar.members.clear()  # type: ignore[attr-defined]
                    is_other = not (item.isdir() or item.isreg()) or item.issparse()
                    # most are in UTF-8, but it is not stated
                    name = item.name.encode("utf-8", "surrogateescape")
                    entries.append(Entry(name, item.isdir(), is_other, (item.offset_data, item.size)))
                    self._check_count(len(entries))
                self._file.seek(tar.offset)
                return entries, "" if self._file.read(BLOCK) == bytes(BLOCK) else "no end of the archive"
        except InputError:
            raise
        except (tarfile.TarError, ValueError, OverflowError, MemoryError) as error:
            # a damaged header may claim any length
            return entries, readable(str(error)) or "damage"
