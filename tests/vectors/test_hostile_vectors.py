"""Files of vectors from strangers: headers that lie, pickles, bombs and mutations; nothing is believed."""

from __future__ import annotations

import io
import os
import pickle
import struct
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from numbered_set import cards, vectors_of
from pyarrow import parquet

from ranking.vectors import look_at_vectors


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    return cards(tmp_path_factory.mktemp("cards") / "set", [1] * 9)


@pytest.fixture
def look(images, tmp_path):
    """Look at bytes; what was refused, or "" where it was read. Nothing but the matrix is left, and that only then."""
    folder = tmp_path / "run"
    folder.mkdir()
    target, brought = folder / "vectors.npy", tmp_path / "brought"

    def look_at(data: bytes) -> str:
        brought.write_bytes(data)
        target.unlink(missing_ok=True)
        try:
            refused = look_at_vectors(brought, "my file", images, target).refused
        except ValueError as error:
            refused = str(error)
        assert os.listdir(folder) == ([] if refused else ["vectors.npy"])
        if not refused:
            matrix = np.load(target, allow_pickle=False)
            assert len(matrix) == 9
            assert np.isfinite(matrix).all()
        assert len(refused) < 2_000
        return refused

    return look_at


class Trap:
    """Whoever unpickles it leaves a trace."""

    def __reduce__(self):
        return os.mkdir, ("trapped",)


def npy(array, **options) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def npz(**arrays) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def zipped(entries: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in entries.items():
            file.writestr(name, content)
    return stream.getvalue()


def claiming(header: str) -> bytes:
    text = header.encode("latin1").ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def test_ids_of_letters_that_there_are_not_are_refused(look):
    stream = io.BytesIO()
    ids = np.array([f"sample {row}" for row in range(9)])
    ids.view(np.uint32)[:] = 0x7FFFFFFF
    np.savez(stream, ids=ids, features=np.arange(18.0).reshape(9, 2))
    assert "letters that Unicode does not have" in look(stream.getvalue())


def test_pickles_are_never_opened(look, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    objects = np.array([Trap()] * 9, object)
    assert "Python objects (a pickle), which are never opened" in look(npy(objects, allow_pickle=True))
    assert "never opened" in look(npz(x=objects))
    assert "a pickle, which is never opened" in look(pickle.dumps(Trap()))
    assert not (tmp_path / "trapped").exists()


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (9, 1000000000000), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-9, -5), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (9, True), }",
        "{'descr': '<U0', 'fortran_order': False, 'shape': (9, 1000000000000), }",
        "{'descr': '|V0', 'fortran_order': False, 'shape': (1000000000000,), }",
        "{'descr': '<U999999999', 'fortran_order': False, 'shape': (9,), }",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (9,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (9, 5), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 9, }",
        "{'descr': '<f8', 'fortran_order': False}",
        "__import__('os').mkdir('trapped')",
        "(" * 100,
        "",
    ],
)
def test_headers_are_not_believed(look, header, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for body in (b"", b"\0" * 360):
        assert look(claiming(header) + body)
        assert look(zipped({"x.npy": claiming(header) + body}))
    assert not (tmp_path / "trapped").exists()


def test_bombs_are_refused_before_they_are_expanded(look, monkeypatch):
    monkeypatch.setenv("RANKING_INTAKE_VECTOR_BYTES", "1000000")
    honest = claiming("{'descr': '<f8', 'fortran_order': False, 'shape': (9, 100000), }")
    bomb = zipped({"x.npy": honest + bytes(7_200_000)})
    assert len(bomb) < 10_000
    assert "expands to" in look(bomb)
    many = zipped({f"x{number}.npy": honest + bytes(900_000) for number in range(4)})
    assert "7,200,000 bytes" in look(many)
    assert "more than 1,000 entries" in look(zipped({f"x{number}.npy": b"" for number in range(1_001)}))


def test_names_of_entries_lead_nowhere(look, tmp_path):
    rows = npy(np.random.default_rng(0).normal(size=(9, 4)))
    before = set(tmp_path.rglob("*"))
    for name in ("../../evil.npy", "/tmp/evil.npy", "C:\\evil.npy", "a/../../evil.npy"):
        assert "got none" in look(zipped({name: rows}))
    assert look(zipped({"deep/down/x.npy": rows})) == ""
    assert {path.name for path in set(tmp_path.rglob("*")) - before} == {"brought", "vectors.npy"}


def test_a_row_of_a_zip_file_that_is_cut_short_is_refused(look, images):
    whole = npz(x=vectors_of(images), id=images.ids)
    assert look(whole) == ""
    for length in range(0, len(whole), 37):
        assert look(whole[:length])


def mutated(data: bytes, generator: np.random.Generator) -> bytes:
    """Some bytes changed, cut, doubled or swapped; more often where headers lie."""
    told = bytearray(data)
    for _ in range(int(generator.integers(1, 6))):
        most = len(told) if generator.random() < 0.5 else min(200, len(told))
        at = int(generator.integers(0, max(1, most)))
        if generator.random() < 0.5:
            at = len(told) - 1 - at
        kind = generator.integers(0, 4)
        if kind == 0:
            told[at : at + 1] = bytes([int(generator.integers(0, 256))])
        elif kind == 1:
            told[at : at + int(generator.integers(1, 40))] = b""
        elif kind == 2:
            told[at:at] = told[at : at + int(generator.integers(1, 40))]
        else:
            told[at : at + 4] = generator.bytes(4)
        told = told or bytearray(b"\0")
    return bytes(told)


@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_mutated_arrays_are_read_or_refused_in_words(look, images, kind):
    rows = vectors_of(images)
    data = npy(rows) if kind == "npy" else npz(x=rows.astype(np.float32), id=images.ids)
    generator = np.random.default_rng(7)
    outcomes = [look(mutated(data, generator)) for _ in range(400)]
    assert any(outcomes)
    assert not all(outcomes), "some changes leave numbers that are as good as others"


def test_mutated_tables_are_read_or_refused_in_words(look, images):
    """A few: each starts a program. Arrow aborts on some; `benchmarks` or longer runs try more."""
    stream = io.BytesIO()
    parquet.write_table(pa.table({"id": images.ids.tolist(), "x": list(vectors_of(images))}), stream)
    assert look(stream.getvalue()) == ""
    generator = np.random.default_rng(3)
    outcomes = [look(mutated(stream.getvalue(), generator)) for _ in range(4)]
    assert any(outcomes)
