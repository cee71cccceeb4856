"""A ZIP file on disk as a tree: read in place, entry by entry, never extracted and never whole in memory.

Before anything is expanded, the number of entries is checked (before an object is made of each), then that they do not
overlap, and their expanded size. An entry that is encrypted or compressed in an unusual way is reported when it is
read; a ZIP file of only such entries is refused.
"""

from __future__ import annotations

import lzma
import os
import stat
import struct
import weakref
import zipfile
import zlib
from typing import BinaryIO

from ranking.core import Problem
from ranking.core.errors import InputError
from ranking.core.text import readable
from ranking.files.archive_tree import CUT, ArchiveTree, Entry
from ranking.files.files import plain
from ranking.files.limits import Limits, variable
from ranking.files.tree import Unusable

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
# methods of compression
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
DEFLATE64 = 9
USUAL = "files stored or deflated, without a password"
EXTRACT = "extract it and type the path of the folder, or pack that as a ZIP file without a password"
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


class ZipTree(ArchiveTree):
    """The files in the ZIP file `place`."""

    def _list(self, shown: str) -> tuple[list[Entry], list[Problem]]:
        file = self.place.open("rb")
        weakref.finalize(self, file.close)
        self._zip = _open(file, self._limits, shown)
        entries = self._zip.infolist()
        _check(entries, self.place.stat().st_size, self._limits, shown)
        unusual = [_unusual(entry) for entry in entries if not entry.filename.endswith("/")]
        if unusual and all(unusual):
            raise InputError(shown, USUAL, unusual[0], EXTRACT)
        return [_entry(item) for item in entries], []

    def head(self, name: str, size: int) -> bytes:
        entry = self._item(name)
        if unusual := _unusual(entry):
            raise Unusable(USUAL, f"{unusual}; {EXTRACT}")
        try:
            with self._zip.open(entry) as file:
                # no more is expanded, and no more than the entry claims
                data = file.read(size)
        except DAMAGED as error:
            raise Unusable(INTACT, readable(str(error)) or "it ends early") from error
        except OSError as error:
            raise Unusable("a file that can be read", plain(error)) from error
        if len(data) < min(size, entry.file_size):
            raise Unusable(INTACT, "it ends early")
        return data


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
        return CUT
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


def _unusual(entry: zipfile.ZipInfo) -> str:
    """Return how an entry is encrypted, or compressed otherwise than zipfile reads; "" if it is neither."""
    if entry.flag_bits & 1:
        return "a password"
    if entry.compress_type == DEFLATE64:
        return "Deflate64, with which Windows compresses files above 2 GB"
    return "" if entry.compress_type in METHODS else f"compression method {entry.compress_type}"


def _entry(item: zipfile.ZipInfo) -> Entry:
    # as zipfile decoded it, if it is not marked as UTF-8
    name = item.filename if item.flag_bits & UTF8 else item.filename.encode("cp437")
    # 0 if it was packed on Windows
    is_other = stat.S_IFMT(item.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR)
    return Entry(name, item.filename.endswith("/"), is_other, item)


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
