"""Files that are named by their content: put, found, listed, deleted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from refusals import refused
from working import raising

from ranking.storage import blobs
from ranking.storage.blobs import Blobs, link

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
