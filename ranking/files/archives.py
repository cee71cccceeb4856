"""Untrusted ZIP files and NumPy arrays: checked before anything in them is expanded."""

from __future__ import annotations

import io
import math
import sys
import tokenize
import zipfile
import zlib
from collections.abc import Callable
from typing import IO

import numpy as np
import numpy.typing as npt

from ranking.core.errors import InputError

END = b"PK\x05\x06"  # the record that ends a ZIP file, of END_SIZE bytes
END_SIZE = 22
LONG_END = b"PK\x06\x07"  # the record before it in a file of more than 4 GB (ZIP64)
LONG_END_SIZE = 20
LOCAL_HEADER = 30  # bytes before an entry's name and content
MOST_DIRECTORY = 1 << 14  # bytes of the table of contents
LONGEST_HEADER = 10_000  # characters of an array's header

# What numpy raises for an invalid header; it may try to repair one with Python's tokenizer.
HEADER_ERRORS = (
    ValueError,
    SyntaxError,
    tokenize.TokenError,
    EOFError,
    TypeError,
    RecursionError,
    MemoryError,
)

Room = Callable[
    [str], int | None
]  # the most bytes that an entry of this name may have; None: no such entry is allowed


def open_zip(data: bytes, room: Room, ratio: float, spare: int = 0) -> zipfile.ZipFile:
    """Return an open ZIP file that was checked: `room` allows the names and sizes of its entries, they do not overlap,
    and together they expand to at most `ratio` times the file, or to `spare` bytes. ValueError otherwise.

    Do not extract entries by name: read them one by one, with `read_entry`.
    """
    end = data[-END_SIZE:]
    directory = int.from_bytes(end[12:16], "little")
    long = data[-END_SIZE - LONG_END_SIZE :].startswith(LONG_END)
    if len(end) < END_SIZE or not end.startswith(END) or end[20:] != b"\0\0" or long:
        raise InputError("archive", "a complete ZIP file without a comment")
    if directory > MOST_DIRECTORY:  # before zipfile makes an object of each entry
        raise InputError("table of contents", f"at most {MOST_DIRECTORY:,} bytes", directory)
    try:
        file = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise InputError("archive", "a ZIP file that can be read", str(error)) from error
    _check_entries(file.infolist(), room, most=max(ratio * len(data), spare))
    return file


def _check_entries(entries: list[zipfile.ZipInfo], room: Room, most: float) -> None:
    names: set[str] = set()
    for entry in entries:
        shown, allowed = repr(entry.filename)[:80], room(entry.filename)
        if allowed is None:
            raise InputError("names in the archive", "only the names that belong in it", shown)
        if entry.filename in names:
            raise InputError("names in the archive", "each name once", f"{shown} twice")
        if entry.file_size > allowed:
            raise InputError(shown, f"at most {allowed:,} bytes", entry.file_size)
        if is_unusual(entry):
            raise InputError(shown, "a file that is stored or deflated, without a password")
        names.add(entry.filename)
    check_apart(entries)
    check_expansion(entries, most)


def is_unusual(entry: zipfile.ZipInfo) -> bool:
    """Return whether an entry is encrypted, or compressed with a method that not all tools support."""
    return bool(entry.flag_bits & 1) or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def check_apart(entries: list[zipfile.ZipInfo]) -> None:
    """Raise ValueError if two entries share bytes of the file, as in ZIP bombs that expand one content many times."""
    free_from = 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        if entry.header_offset < free_from:
            raise InputError(
                repr(entry.filename)[:80], "separate bytes", "an entry that overlaps another entry"
            )
        free_from = entry.header_offset + LOCAL_HEADER + len(entry.filename) + entry.compress_size


def check_expansion(entries: list[zipfile.ZipInfo], most: float) -> None:
    """Raise ValueError if all entries together expand to more than `most` bytes."""
    expanded = sum(entry.file_size for entry in entries)
    if expanded > most:
        raise InputError("all that the archive expands to", f"at most {int(most):,} bytes", expanded)


def read_entry(file: zipfile.ZipFile, name: str) -> bytes:
    """Return the content of an entry; ValueError if it is damaged."""
    try:
        return file.read(name)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise InputError(name, "an intact file", str(error)) from error


def check_array(stream: IO[bytes], size: int, what: str) -> None:
    """Raise ValueError unless the `size` bytes of `stream` hold one array of plain numbers or text that fills them.

    A header may claim any shape, and numpy would allocate the claimed memory before it reads.
    """
    try:
        version = np.lib.format.read_magic(stream)
        if version != (1, 0):
            raise ValueError(f"format {version}")
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream, LONGEST_HEADER)
    except HEADER_ERRORS as error:
        raise InputError(what, "an array", str(error)[:80]) from error
    if dtype.hasobject or dtype.kind not in "biufU":
        raise InputError(what, "numbers or text", str(dtype))
    if not dtype.itemsize:  # zero bytes hold any number of such items
        raise InputError(what, "numbers or text", "text of length 0")
    claimed = math.prod(shape) * dtype.itemsize
    if claimed != size - stream.tell():
        raise InputError(what, f"the {claimed:,} bytes that its header claims", size - stream.tell())


def check_text(array: npt.NDArray[np.str_], what: str) -> None:
    """Raise ValueError for a code that is not a Unicode character: numpy accepts any 32 bits, Python strings do not."""
    order = np.dtype(np.uint32).newbyteorder(array.dtype.byteorder)
    letters = np.ascontiguousarray(array).reshape(-1).view(order)
    if letters.size and letters.max() > sys.maxunicode:
        raise InputError(what, "text", "letters that Unicode does not have")
