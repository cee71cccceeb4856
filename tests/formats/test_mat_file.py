"""MATLAB's files, well made and as strangers make them."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
from example_public_figures import as_mat, cell
from refusals import refusal, refused
from scipy.io import loadmat

from ranking.formats import mat_file
from ranking.formats.mat_file import FILE, read_mat


def test_mat_files_are_read_as_scipy_reads_them():
    random = np.random.default_rng(2)
    given = {
        f"of_{kind}": (random.random((3, 5)) * 9).astype(kind)
        for kind in ("f8", "f4", "i1", "u2", "i4", "u8")
    }
    given |= {"large": np.arange(3000.0)[None] * 70000, "none": np.zeros((0, 3)), "one": np.full((1, 1), 7.5)}
    given |= {
        "a_name_of_twenty_five_letter": np.ones((1, 1)),
        "texts": cell(["one", "größer", "", "x" * 255]),
    }
    for compress in (True, False):
        data = as_mat(given, compress)
        expected, variables = loadmat(io.BytesIO(data)), read_mat(data, given)
        assert variables.keys() == given.keys()
        assert variables.pop("texts") == ("one", "größer", "", "x" * 255)
        for name, variable in variables.items():
            assert variable.tolist() == expected[name].tolist(), (name, compress)
            assert variable.shape == expected[name].shape, (name, compress)


def test_only_what_is_wanted_is_expanded_and_no_more_than_may_be(monkeypatch):
    data = as_mat({"huge": np.zeros((2000, 2000)), "small": np.ones((2, 2)), "nested": {"a": {"b": 1}}})
    monkeypatch.setattr(mat_file, "MAX_EXPANDED", 10_000)
    assert read_mat(data, ["small", "absent"])["small"].tolist() == [[1, 1], [1, 1]]
    with refused("huge") as caught:
        read_mat(data, ["huge"])
    assert "32,000,0" in caught.value.came
    assert "10,000 expanded" in caught.value.came
    packed = zlib.compress(matrix(shape=(1, 2**20), content=element(9, bytes(2**23))))
    with refused("x") as caught:
        read_mat(HEADER + struct.pack("<II", 15, len(packed)) + packed, ["x"])
    assert "8,388," in caught.value.came


def element(kind, data):
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)


def matrix(name=b"x", kind=6, flags=0, shape=(1, 2), content=None, shape_kind=5):
    parts = element(6, struct.pack("<II", kind | flags, 0))
    parts += element(shape_kind, struct.pack(f"<{len(shape)}i", *shape)) + element(1, name)
    return element(14, parts + (element(9, bytes(16)) if content is None else content))


HEADER = b"MATLAB 5.0".ljust(124) + b"\x00\x01IM"
TEXT = matrix(b"", 4, shape=(1, 2), content=element(4, "ab".encode("utf-16-le")))
NO_TEXT = "something else in cell 1"

HOSTILE = [
    (b"", FILE, "something else"),
    (b"\x89HDF\r\n" + bytes(200), FILE, "MATLAB 7.3, which is not read here"),
    (HEADER + bytes(4), FILE, 4),
    (HEADER + struct.pack("<II", 14, 10**9), FILE, "one that claims 1,000,000,000"),
    (HEADER + struct.pack("<II", (9 << 16) | 1, 0), FILE, 9),
    (HEADER + element(9, bytes(8)), FILE, "an element of kind 9"),
    (HEADER + element(14, bytes(0)), FILE, "one that ends before it"),
    (HEADER + element(14, element(6, bytes(4)) * 3), FILE, 4),
    (HEADER + struct.pack("<II", 15, 6) + b"broken", FILE, "damaged content"),
    (HEADER + matrix() * 2, "x", "two"),
    (HEADER + matrix(b"y") * 1001, FILE, "more"),
    (HEADER + matrix(kind=3), "x", "an object"),
    (HEADER + matrix(kind=99), "x", "kind 99"),
    (HEADER + matrix(flags=0x800), "x", "complex numbers"),
    (HEADER + matrix(shape=(1, 2, 1)), "x", "3 dimensions"),
    (HEADER + matrix(shape=(2**31 - 1, 2**31 - 1)), "x", "2 numbers"),
    (HEADER + matrix(shape=(-1, -2)), "x", "2 numbers"),
    (HEADER + matrix(shape_kind=9, shape=(1, 2)), FILE, "kind 9"),
    (HEADER + matrix(content=b""), "x", "0 numbers"),
    (HEADER + matrix(content=element(9, bytes(9))), "x", "9 bytes"),
    (HEADER + matrix(content=element(14, bytes(8))), "x", "kind 14"),
    (HEADER + matrix(kind=1, content=TEXT * 3), "x", "3 texts"),
    (HEADER + matrix(kind=1, shape=(1, 2**30), content=TEXT), "x", "1 texts"),
    (HEADER + matrix(kind=1, content=matrix(kind=1)), "x", NO_TEXT),
    (HEADER + matrix(kind=1, content=matrix(b"", 4, content=element(9, bytes(8)))), "x", "kind 9"),
]


def test_mat_files_that_lie():
    for number, (data, subject, came) in enumerate(HOSTILE):
        result = refusal(read_mat, data, ["x"])
        assert result is not None, number
        assert (result[0], str(result[1]).partition(" (")[0]) == (subject, str(came)), number


def test_texts_and_tables_of_newer_releases_are_passed_over():
    """They give their name where others give their shape."""
    names = (element(1, b"x"), element(1, b"MCOS"), element(1, b"string"))
    newer = element(14, element(6, struct.pack("<II", 17, 0)) + b"".join(names))
    assert read_mat(HEADER + newer.replace(b"x", b"y") + matrix(), ["x"])["x"].size == 2
    with refused("x", "an object"):
        read_mat(HEADER + newer, ["x"])


def test_a_cell_within_cells_without_end_is_not_followed():
    """scipy's reader calls itself for each, and 20,000 of them end its process."""
    inner = TEXT
    for _ in range(2000):
        inner = matrix(b"", 1, shape=(1, 1), content=inner)
    assert refusal(read_mat, HEADER + matrix(kind=1, shape=(1, 1), content=inner), ["x"]) == ("x", NO_TEXT)


def test_big_endian_files_are_read():
    parts = struct.pack(">IIII", 6, 8, 6, 0) + struct.pack(">IIii", 5, 8, 1, 2)
    parts += struct.pack(">HHB3x", 1, 1, ord("x")) + struct.pack(">IIdd", 9, 16, 1.5, -2)
    data = b"MATLAB 5.0".ljust(124) + b"\x01\x00MI" + struct.pack(">II", 14, len(parts)) + parts
    assert read_mat(data, ["x"])["x"].tolist() == [[1.5, -2.0]]
