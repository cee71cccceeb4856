"""Files that are named by their content: put, found, listed, deleted; and where homes of earlier versions have them."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest
from refusals import refused
from working import raising

from ranking.storage import blobs
from ranking.storage.blobs import Blobs, link
from ranking.storage.store import Store

KEY = "0123456789abcdef"


def is_word(text: str) -> bool:
    return text.isalpha()


@pytest.fixture
def words(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "words", ".txt", is_word)


def test_a_file_is_written_read_listed_and_deleted(words, tmp_path):
    assert words.list() == []
    for age, name in enumerate(("one", "two")):
        words.put(name, lambda file, name=name: file.write(name.encode()))
        os.utime(words.path(name), (1000 - age, 1000 - age))
    (words.folder / "3.txt").touch()
    (words.folder / "one.json").touch()
    assert words.list() == ["one", "two"]
    assert words.records().list() == ["one"]
    (tmp_path / "draft").write_text("moved")
    words.put("two", tmp_path / "draft")
    assert words.path("two").read_text() == "moved"
    assert not (tmp_path / "draft").exists()
    for _ in range(2):
        words.delete("one")
    assert words.list() == ["two"]


def test_no_other_text_becomes_part_of_a_path(words):
    for act in (words.path, words.delete, lambda text: words.put(text, Path())):
        with refused("name", "'../one'"):
            act("../one")
    assert not words.folder.exists()


def test_a_file_is_whole_or_not_there(words):
    def half(file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    words.put("one", lambda file: file.write(b"whole"))
    with pytest.raises(OSError, match="No space left"):
        words.put("one", half)
    assert [file.name for file in words.folder.iterdir()] == ["one.txt"]
    assert words.path("one").read_bytes() == b"whole"


def test_a_link_is_a_copy_where_the_file_system_has_none(tmp_path, monkeypatch):
    file, linked, copied = (tmp_path / name for name in ("file", "linked", "copied"))
    file.write_text("content")
    link(file, linked)
    link(file, linked)
    monkeypatch.setattr(blobs.os, "link", raising(OSError(95, "Operation not supported")))
    link(file, copied)
    assert linked.samefile(file)
    assert copied.read_text() == "content"
    assert not copied.samefile(file)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def test_uploads_of_a_home_of_an_earlier_version_are_where_they_were(tmp_path):
    """The layout of before all of them were blobs, written by hand."""
    edges, matrix = np.array([[0, 2], [1, 2]]), np.eye(3, 2, dtype=np.float32)
    by_edges = f"csv-{sha256(edges.astype('<i8').tobytes())}"
    by_vectors = f"own-{sha256(b'(3, 2)' + matrix.tobytes())}-2"
    by_model = f"onnx-{sha256(b'a model')}"
    settings = {"model": by_model, "columns": 3}
    by_settings = f"net-{sha256(json.dumps(settings, sort_keys=True).encode())}"
    for name in ("edges", "vectors"):
        (tmp_path / name / KEY).mkdir(parents=True)
    (tmp_path / "models").mkdir()
    np.save(tmp_path / "edges" / KEY / f"{by_edges}.npy", edges)
    np.save(tmp_path / "vectors" / KEY / f"{by_vectors}.npy", matrix)
    record = {"title": "mine", "columns": 2, "matched": "by order", "kept": 5.0}
    (tmp_path / "vectors" / KEY / f"{by_vectors}.json").write_text(json.dumps(record))
    (tmp_path / "models" / f"{by_model}.onnx").write_bytes(b"a model")
    record = {"title": "a net", "settings": settings, "kept": 6.0}
    (tmp_path / "models" / f"{by_settings}.json").write_text(json.dumps(record))

    store = Store(tmp_path)
    assert store.features.edge_names(KEY) == [by_edges]
    np.testing.assert_array_equal(store.features.edges_of(KEY, by_edges), edges)
    [vectors], [network] = store.features.vectors_of(KEY), store.features.networks()
    assert (vectors.name, vectors.title, vectors.size) == (by_vectors, "mine", 2)
    assert (network.name, network.title, network.settings) == (by_settings, "a net", settings)
    assert (store.features.cache / f"{by_model}.onnx").read_bytes() == b"a model"
    before = {
        file: file.read_bytes() for file in tmp_path.rglob("*") if file.suffix in (".npy", ".json", ".onnx")
    }
    assert store.features.keep_edges(KEY, edges) == by_edges
    assert {file: file.read_bytes() for file in before} == before, "the same content under the same names"
