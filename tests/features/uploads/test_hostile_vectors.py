"""Files of vectors from strangers: headers that lie, pickles, bombs and mutations; nothing is believed."""

from __future__ import annotations

import os
import pickle
import struct

import numpy as np
import pytest
from archives import npy, npz, packed
from numbered_set import Desk


@pytest.fixture
def preview(images, tmp_path):
    """Preview bytes; return the reason of a refusal, or "" if they were read."""
    # Nothing but the matrix is left, and only if they were read.
    desk = Desk(tmp_path, images)

    def refusal_of(data: bytes) -> str:
        (tmp_path / "my file").write_bytes(data)
        try:
            refused = desk.preview("my file").refused
        except ValueError as error:
            refused = str(error)
        assert os.listdir(desk.target.parent) == ([] if refused else ["vectors.npy"])
        assert refused or desk.matrix().shape[0] == 9
        assert refused or np.isfinite(desk.matrix()).all()
        assert len(refused) < 2_000
        return refused

    return refusal_of


class Trap:
    """Whoever unpickles it leaves a trace."""

    def __reduce__(self):
        return os.mkdir, ("trapped",)


def claiming(header: str) -> bytes:
    text = header.encode("latin1").ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def test_pickles_are_never_opened(preview, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    objects = np.array([Trap()] * 9, object)
    for data in (npy(objects, allow_pickle=True), npz(x=objects), pickle.dumps(Trap())):
        assert "pickle" in preview(data)
    assert not (tmp_path / "trapped").exists()


HEADERS = [
    "{'descr': '<f8', 'fortran_order': False, 'shape': (9, 1000000000000), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (-9, -5), }",
    "{'descr': '<U0', 'fortran_order': False, 'shape': (9, 1000000000000), }",
    "{'descr': '<U999999999', 'fortran_order': False, 'shape': (9,), }",
    "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (9,), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (9, 5), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': 9, }",
    "{'descr': '<f8', 'fortran_order': False}",
    "__import__('os').mkdir('trapped')",
    "(" * 100,
    "",
]


def test_headers_are_not_believed(preview, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for header in HEADERS:
        for body in (b"", b"\0" * 360):
            assert preview(claiming(header) + body), header
            assert preview(packed({"x.npy": claiming(header) + body})), header
    assert not (tmp_path / "trapped").exists()


def test_bombs_are_refused_before_they_are_expanded(preview, monkeypatch):
    monkeypatch.setenv("RANKING_IMPORT_VECTOR_BYTES", "1000000")
    honest = claiming("{'descr': '<f8', 'fortran_order': False, 'shape': (9, 100000), }")
    bomb = packed({"x.npy": honest + bytes(7_200_000)})
    assert len(bomb) < 10_000
    assert "7,200," in preview(bomb), "it expands to so many bytes"
    many = packed({f"x{number}.npy": honest + bytes(900_000) for number in range(4)})
    assert "7,200,000" in preview(many)
