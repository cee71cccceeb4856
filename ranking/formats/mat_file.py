"""Untrusted MATLAB files (level 5): only their arrays of real numbers and their cells of texts are read.

scipy.io.loadmat (1.17) has no limits: 4.7 MB that expand to 1 GB need 3.1 GB of memory; 20,000 nested cells, or a
matrix of 80 bytes with numbers of type 14, crash the process. This reader supports the few types that data sets use,
and checks sizes first. The format is described in "MAT-File Format", MathWorks, chapter 1.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ranking.core import Floats
from ranking.core.errors import InputError
from ranking.core.text import readable

HEADER = 128  # bytes
MAX_EXPANDED = 64 * 2**20  # bytes of one variable
MAX_NUMBERS = 10_000_000  # of one variable, stored as 8 bytes each
MAX_VARIABLES = 1_000
MAX_TEXTS = 1_000_000
LONGEST_TEXT = 255  # characters of one text that are kept
FILE = "MATLAB file"  # the subject of errors until a variable is known
GLANCE = 1_024  # bytes of a compressed variable that contain its name
INT32, MATRIX, COMPRESSED = 5, 14, 15
CELL, CHAR, OPAQUE, NUMERIC = 1, 4, 17, range(6, 16)
COMPLEX = 0x800
NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
TEXTS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16"}
KINDS = {2: "a struct", 3: "an object", 5: "a sparse array", 16: "a function", OPAQUE: "an object"}

Variable = Floats | tuple[str, ...]


@dataclass(frozen=True)
class Element:
    """A type and its bytes. order: the byte order of its numbers, "<" or ">"."""

    kind: int
    data: memoryview
    order: str

    def parts(self) -> Iterator[Element]:
        """Yield the elements within; ValueError if an element is longer than the remaining bytes."""
        return _elements(self.data, self.order)

    def numbers(self) -> npt.NDArray[np.float64]:
        if self.kind not in NUMBERS:
            raise InputError(FILE, "numbers of a known kind", f"kind {self.kind}")
        dtype = np.dtype(self.order + NUMBERS[self.kind])
        count, rest = divmod(len(self.data), dtype.itemsize)
        if rest or count > MAX_NUMBERS:
            expected = f"at most {MAX_NUMBERS:,} numbers of {dtype.itemsize} bytes"
            raise InputError(FILE, expected, f"{len(self.data):,} bytes")
        return np.frombuffer(self.data, dtype).astype(np.float64)

    def text(self) -> str:
        if self.kind not in TEXTS:
            raise InputError(FILE, "text of a known kind", f"kind {self.kind}")
        end = {"<": "-le", ">": "-be"}[self.order] if TEXTS[self.kind] == "utf-16" else ""
        return bytes(self.data).decode(TEXTS[self.kind] + end, "replace")


@dataclass(frozen=True)
class Matrix:
    """The header of a matrix."""

    kind: int
    imaginary: bool
    shape: tuple[int, ...]
    name: str
    content: Iterator[Element]


def read_mat(data: bytes, wanted: Collection[str]) -> dict[str, Variable]:
    """Return the variables `wanted`: numbers as float64 with two dimensions, cells of texts as a tuple.

    Variables that the file lacks are omitted. ValueError, with the name of the variable, if it is damaged, too large or
    of another type.
    """
    order = _order(data)
    variables: dict[str, Variable] = {}
    for place, element in enumerate(_elements(memoryview(data)[HEADER:], order)):
        if place >= MAX_VARIABLES:
            raise InputError(FILE, f"at most {MAX_VARIABLES:,} variables", "more")
        name = _matrix(_expanded(element, GLANCE)).name
        if name in wanted:
            if name in variables:
                raise InputError(name, "one variable of that name", "two")
            try:
                variables[name] = _variable(_matrix(_expanded(element, MAX_EXPANDED)))
            except InputError as error:
                raise InputError(name, error.expected, error.came, error.remedy) from error
    return variables


def _order(data: bytes) -> str:
    if data.startswith(b"MATLAB 7.3") or data.startswith(b"\x89HDF"):
        raise InputError(FILE, "level 5", "MATLAB 7.3, which is not read here", "save it again with -v7")
    mark = data[HEADER - 2 : HEADER]
    if len(data) < HEADER or mark not in (b"IM", b"MI"):
        raise InputError(FILE, "level 5", "something else", "save it again with -v7")
    return "<" if mark == b"IM" else ">"


def _elements(data: memoryview, order: str) -> Iterator[Element]:
    at = 0
    while at < len(data):
        if len(data) - at < 8:
            raise InputError(FILE, "a tag of 8 bytes", len(data) - at)
        first, size = struct.unpack_from(order + "II", data, at)
        if first >> 16:  # short: type and size in the first word, the content in the second
            kind, size, start, step = first & 0xFFFF, first >> 16, at + 4, 8
            if size > 4:
                raise InputError(FILE, "a short element of at most 4 bytes", size)
        else:
            kind, start = first, at + 8
            step = 8 + (size if kind == COMPRESSED else -(-size // 8) * 8)
        if start + size > len(data):
            left = f"an element of at most {len(data) - start:,} bytes, the rest of the file"
            raise InputError(FILE, left, f"one that claims {size:,}")
        yield Element(kind, data[start : start + size], order)
        at += step


def _expanded(element: Element, most: int) -> Element:
    """Return the matrix in a compressed element, at most `most` bytes of it; any other element unchanged."""
    if element.kind != COMPRESSED:
        return element
    try:
        expander = zlib.decompressobj()
        plain = expander.decompress(element.data, most)
    except zlib.error as error:
        raise InputError(FILE, "compressed content", f"damaged content ({error})") from error
    if len(plain) < 8:
        raise InputError(FILE, "at least 8 bytes of compressed content", len(plain))
    kind, size = struct.unpack_from(element.order + "II", plain)
    if most > GLANCE and size + 8 > len(plain):
        expected = f"the size that the element claims, at most {most:,} bytes"
        raise InputError(FILE, expected, f"{size:,} claimed, {len(plain):,} expanded")
    return Element(kind, memoryview(plain)[8 : 8 + size], element.order)


def _matrix(element: Element) -> Matrix:
    if element.kind != MATRIX:
        raise InputError(FILE, "a matrix", f"an element of kind {element.kind}")
    parts = element.parts()
    try:
        flags, shape, name = next(parts), next(parts), next(parts)
    except StopIteration:
        raise InputError(FILE, "a matrix with content", "one that ends before it") from None
    if len(flags.data) != 8:
        raise InputError(FILE, "8 bytes of flags of a matrix", len(flags.data))
    word = struct.unpack_from(element.order + "I", flags.data)[0]
    if (
        word & 0xFF == OPAQUE and shape.kind in TEXTS
    ):  # texts and tables of MATLAB since 2016, in which the name precedes the shape
        return Matrix(OPAQUE, False, (), shape.text(), parts)
    if shape.kind != INT32:
        raise InputError(FILE, f"a shape of kind {INT32}", f"kind {shape.kind}")
    sides = tuple(int(side) for side in shape.numbers())
    return Matrix(word & 0xFF, bool(word & COMPLEX), sides, name.text(), parts)


def _variable(matrix: Matrix) -> Variable:
    if matrix.kind == CELL:
        return _texts(matrix)
    if matrix.kind not in NUMERIC or matrix.imaginary or len(matrix.shape) != 2:
        came = "complex numbers" if matrix.imaginary else KINDS.get(matrix.kind, f"kind {matrix.kind}")
        if matrix.kind in NUMERIC and not matrix.imaginary:
            came = f"{len(matrix.shape)} dimensions"
        raise InputError(FILE, "rows and columns of real numbers, or a cell of texts", came)
    numbers = next(matrix.content, None)
    values = np.zeros(0) if numbers is None else numbers.numbers()
    if min(matrix.shape) < 0 or len(values) != math.prod(matrix.shape):
        raise InputError(FILE, f"numbers of shape {matrix.shape}", f"{len(values):,} numbers")
    return values.reshape(matrix.shape[::-1]).T


def _texts(matrix: Matrix) -> tuple[str, ...]:
    """Return the texts of a cell of any shape, column by column."""
    texts: list[str] = []
    for element in matrix.content:
        inner = _matrix(element)
        if inner.kind != CHAR or (inner.shape and inner.shape[0] > 1):
            raise InputError(FILE, "a text in each cell", f"something else in cell {len(texts) + 1}")
        part = next(inner.content, None)
        texts.append(readable("" if part is None else part.text(), LONGEST_TEXT))
        if len(texts) > MAX_TEXTS:
            raise InputError(FILE, f"at most {MAX_TEXTS:,} texts", "more")
    if min(matrix.shape, default=0) < 0 or len(texts) != math.prod(matrix.shape):
        raise InputError(FILE, f"texts of shape {matrix.shape}", f"{len(texts):,} texts")
    return tuple(texts)
