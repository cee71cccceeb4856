"""Arrays are checked before anything is read of them."""

from __future__ import annotations

import io

import numpy as np
import pytest
from archives import npy
from refusals import ANYTHING, refused

from ranking.files.archives import check_array, check_text


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
