"""Untrusted ZIP files and NumPy arrays: checked before anything in them is expanded."""

from __future__ import annotations

import math
import sys
import tokenize
import zipfile
from typing import IO

import numpy as np
import numpy.typing as npt

from ranking.core.errors import InputError

LOCAL_HEADER = 30  # bytes before an entry's name and content
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
