"""A ZIP file on disk as a tree: read in place, entry by entry, never extracted and never whole in memory.

An entry that is encrypted or compressed in an unusual way is reported when it is read; a ZIP file of only such entries
is refused.
"""

from __future__ import annotations

import lzma
import stat
import struct
import zipfile
import zlib

from ranking.core import Problem
from ranking.core.errors import InputError
from ranking.core.text import readable
from ranking.files.archive_tree import CUT, ArchiveTree, Entry
from ranking.files.files import plain
from ranking.files.tree import Unusable

# the first bytes of a ZIP file, if nothing was put before it
FIRST = b"PK\x03\x04"
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
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OverflowError,
    ValueError,
)


class ZipTree(ArchiveTree):
    """The files in the ZIP file `place`."""

    def _list(self) -> tuple[list[Entry], list[Problem]]:
        try:
            self._zip = zipfile.ZipFile(self.place)
        except DAMAGED as error:
            came = "another kind of file" if str(error) == NO_ZIP else readable(str(error))
            raise InputError(self._shown, READABLE, came, self._remedy()) from error
        entries = self._zip.infolist()
        self._check_count(len(entries))
        self._check_expanded(sum(entry.file_size for entry in entries))
        unusual = [_unusual(entry) for entry in entries if not _is_folder(entry)]
        if unusual and all(unusual):
            raise InputError(self._shown, USUAL, unusual[0], EXTRACT)
        return [_entry(item) for item in entries], []

    def head(self, name: str, size: int) -> bytes:
        entry = self._item(name)
        if unusual := _unusual(entry):
            raise Unusable(USUAL, f"{unusual}; {EXTRACT}")
        try:
            with self._zip.open(entry) as file:
                # no more is expanded, and no more than the entry claims
                return file.read(size)
        except DAMAGED as error:
            raise Unusable(INTACT, readable(str(error)) or "it ends early") from error
        except OSError as error:
            raise Unusable("a file that can be read", plain(error)) from error

    def _remedy(self) -> str:
        """Return what to do about an unreadable ZIP file: it may be incomplete, or another file that was renamed."""
        with self.place.open("rb") as file:
            begins = file.read(len(FIRST)) == FIRST
        return CUT if begins else "create a ZIP archive of the image folder; renaming a file is not enough"


def _unusual(entry: zipfile.ZipInfo) -> str:
    """Return how an entry is encrypted, or compressed otherwise than zipfile reads; "" if it is neither."""
    if entry.flag_bits & 1:
        return "a password"
    if entry.compress_type == DEFLATE64:
        return "Deflate64, with which Windows compresses files above 2 GB"
    return "" if entry.compress_type in METHODS else f"compression method {entry.compress_type}"


def _is_folder(item: zipfile.ZipInfo) -> bool:
    # zipfile's own is_dir fails for an entry without a name
    return item.filename.endswith("/")


def _entry(item: zipfile.ZipInfo) -> Entry:
    # as zipfile decoded it, if it is not marked as UTF-8
    name = item.filename if item.flag_bits & UTF8 else item.filename.encode("cp437")
    # 0 if it was packed on Windows
    is_other = stat.S_IFMT(item.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR)
    return Entry(name, _is_folder(item), is_other, item)
