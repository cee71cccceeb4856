"""ZIP files in memory are checked before anything in them is expanded."""

from __future__ import annotations

import io
import struct
import zipfile

import numpy as np
import pytest
from archives import npy, packed
from refusals import ANYTHING, refused

from ranking.files.archives import check_array, check_text, open_zip

ALLOWED = {"run.json": 1000, "model.npz": 20_000_000}
FILES = {"run.json": b"first", "model.npz": b"other"}


def opened(data: bytes) -> zipfile.ZipFile:
    return open_zip(data, ALLOWED.get, 200.0)


def test_a_whole_file_is_opened():
    assert opened(packed(FILES)).namelist() == list(FILES)


def test_names_methods_and_sizes_that_do_not_belong_are_refused():
    for name in ("../../../etc/passwd", "/tmp/x", "lock", "model.npz/"):
        with refused("names in the archive", f"{name!r}"):
            opened(packed({**FILES, name: b"x"}))
    with refused("table of contents"):
        opened(packed({f"file {number}": b"" for number in range(500)}))
    with refused("'run.json'"):
        opened(packed(FILES, zipfile.ZIP_LZMA))
    with refused("'run.json'", 1001):
        opened(packed({"run.json": bytes(1001)}))
    with refused("all that the archive expands to", 19_000_000):
        opened(packed({"model.npz": bytes(19_000_000)}))


def test_what_is_no_whole_zip_file_is_refused():
    whole = packed(FILES)
    table = int.from_bytes(whole[-6:-2], "little")
    parts = [part for size in (0, 1, 21, 22, 60) for part in (whole[:size], whole[size + 1 :][:-1])]
    commented, spoilt = whole[:-2] + b"\x01\0x", whole[:table] + b"xx" + whole[table + 2 :]
    for data in (*parts, commented, spoilt):
        with refused("archive"):
            opened(data)


def test_overlapping_entries_are_refused():
    """Two names for one content: the trick by which a small file expands to a huge one."""
    whole = bytearray(packed(FILES))
    entry = whole.rindex(b"PK\x01\x02")  # that of the second file
    whole[entry + 42 : entry + 46] = struct.pack("<I", 0)
    with refused("'model.npz'"):
        opened(bytes(whole))


def test_two_entries_of_one_name_are_refused():
    stream = io.BytesIO(packed(FILES))
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(stream, "a") as archive:
        archive.writestr("run.json", "{}")
    with refused("names in the archive", "'run.json' twice"):
        opened(stream.getvalue())


def claiming(array: bytes, shape: str, claimed: str) -> bytes:
    """The bytes of an array whose header claims another shape."""
    before, after = (f"({text},), }}".encode().ljust(len(claimed) + 20) for text in (shape, claimed))
    assert before in array
    return array.replace(before, after)


MANY = "30000000000000"


@pytest.mark.parametrize(
    ("array", "came"),
    [
        (b"", ANYTHING),
        (b"\x93NUMPY", ANYTHING),
        (b"\x93NUMPY\x03\x00" + npy(np.zeros(3))[8:], "format (3, 0)"),
        (b"\x93NUMPY\x01\x00" + (16).to_bytes(2, "little") + b"{'descr': '<f8',", ANYTHING),
        (npy(np.zeros(3)).replace(b"(3,), }", b"(3,,(   "), ANYTHING),
        (claiming(npy(np.zeros(0, "U1")).replace(b"<U1", b"<U0"), "0", MANY), "text of length 0"),
        (claiming(npy(np.zeros(3)), "3", MANY), 24),
        (npy(np.zeros(3))[:-1], 23),
    ],
)
def test_what_is_no_whole_array_is_refused_before_it_is_read(array, came):
    with refused("x", came):
        check_array(io.BytesIO(array), len(array), "x")


@pytest.mark.parametrize("order", "<>")
def test_letters_that_unicode_does_not_have_are_no_text(order):
    letters = np.array([65, 0x10FFFF, 0x110000, 0xFFFFFFFF], f"{order}u4").view(f"{order}U1")
    for text in (letters[:2], np.array("a"), letters[:0]):
        check_text(text, "x")
    for last in (3, 4):
        with refused("x"):
            check_text(letters[:last], "x")
