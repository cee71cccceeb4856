"""Folders and ZIP files as trees: what is in them, and what strangers put in them."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
import struct
import zipfile
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from refusals import refused

from ranking.errors import InputError
from ranking.intake import FolderTree, Limits, Unusable, ZipTree, open_tree, zip_tree
from ranking.intake.files import INSIDE, LEADS_OUT, NOTHING
from ranking.intake.zip_tree import INTACT, READABLE

FILES = {"a.txt": b"one", "b/c.jpg": b"two", "b/d/été.png": b"three" * 1000}


@pytest.fixture
def folder(tmp_path):
    for name, content in FILES.items():
        path = tmp_path / "photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / "photos"


def zipped(path, files, compression=zipfile.ZIP_DEFLATED):
    """A ZIP file of (name, content) pairs, or a mapping; ZipInfo may stand for names."""
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in files.items() if isinstance(files, dict) else files:
            file.writestr(name, content)
    return path


def unusable(tree, name, size=10**9):
    """Why a file of the tree cannot be read: what was expected, and what came."""
    with pytest.raises(Unusable) as caught:
        tree.read(name, size)
    return caught.value.expected, caught.value.came


@pytest.fixture(params=["folder", "zip"])
def tree(request, folder, tmp_path):
    return open_tree(folder if request.param == "folder" else zipped(tmp_path / "photos.zip", FILES))


# ---------------------------------------------------------------------------------------------------------
# Both alike
# ---------------------------------------------------------------------------------------------------------


def test_names_and_content(tree):
    assert tree.names == tuple(sorted(FILES))
    assert tree.folders == ("", "b", "b/d")
    assert {name: tree.read(name, 10_000) for name in tree.names} == FILES
    assert tree.children("b") == ["b/c.jpg"]
    assert tree.children("nowhere") == []
    assert tree.has_folder("b/d")
    assert not tree.has_folder("b/c.jpg")
    assert tree.parts[-1] == "photos"
    assert (tree.closed, tree.problems) == ({}, ())


def test_a_limit_counts_bytes(tree):
    assert len(tree.read("b/d/été.png", 5000)) == 5000
    assert "0.00476742 MB" in unusable(tree, "b/d/été.png", 4999)[0]


def test_only_names_of_files_are_read(tree):
    for name in ("b", "", "/etc/passwd", "../photos/a.txt", "b/../a.txt", "B/c.jpg", "a.txt/"):
        assert unusable(tree, name) == (INSIDE, NOTHING), name


def test_a_folder_of_it_is_a_tree(tree):
    inner = tree.below("b")
    assert inner.names == ("c.jpg", "d/été.png")
    assert inner.folders == ("", "d")
    assert inner.parts[-2:] == ("photos", "b")
    assert inner.read("c.jpg", 10) == b"two"
    assert inner.file("c.jpg") == tree.file("b/c.jpg", "c.jpg")
    assert inner.file("c.jpg").read(10) == b"two"
    assert tree.below("") is tree


def test_trees_of_one_place_are_equal(tree):
    again = open_tree(tree.place)
    assert (tree, hash(tree), tree.file("a.txt")) == (again, hash(again), again.file("a.txt"))
    assert tree != tree.below("b")


def test_threads_read_at_the_same_time(tmp_path):
    random = np.random.default_rng(0)
    files = {f"{number}.bin": random.bytes(50_000) for number in range(40)}
    tree = ZipTree(zipped(tmp_path / "many.zip", files))
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda name: tree.read(name, 50_000), tree.names * 3)) == [
            files[name] for name in tree.names * 3
        ]


def test_leftovers_of_file_managers_are_not_there(folder, tmp_path):
    left = {"._a.txt": b"", "__MACOSX/b/._c.jpg": b"", "b/.DS_Store": b"", ".git/config": b""}
    zip_file = ZipTree(zipped(tmp_path / "x.zip", FILES | left))
    for name, content in left.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    for tree in (zip_file, FolderTree(folder)):
        assert tree.names == tuple(sorted(FILES))
        assert tree.folders == ("", "b", "b/d")
        assert tree.problems == ()


def test_archives_within_are_a_row(folder, tmp_path):
    zipped(folder / "inner.zip", FILES)
    outer = zipped(
        tmp_path / "x.zip", {"inner.zip": (folder / "inner.zip").read_bytes(), "a.TAR": b"", "b.jpg": b""}
    )
    for place, count, came in ((folder, "1 ", "inner.zip"), (outer, "2 ", "a.TAR, inner.zip")):
        [row] = open_tree(place).problems
        assert row.file.startswith(count)
        assert row.came == came


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_too_many_entries(folder, tmp_path, kind):
    place = folder if kind == "folder" else zipped(tmp_path / "x.zip", {f"{i}": b"" for i in range(5)})
    assert open_tree(place, limits=Limits(entries=5)).names
    with refused(str(place)) as caught:
        open_tree(place, limits=Limits(entries=4))
    assert " 4 " in caught.value.expected
    assert "RANKING_INTAKE_ENTRIES" in caught.value.remedy


def test_what_cannot_be_opened():
    for typed, subject in (
        ("/nowhere/at all", "/nowhere/at all"),
        ("/dev/zero", "/dev/zero"),
        ("a\0b", "a\N{REPLACEMENT CHARACTER}b"),
    ):
        with refused(subject) as caught:
            open_tree(typed, "cats")
        assert caught.value.expected == "cats"
    with refused("folder or ZIP file") as caught:
        open_tree(" ", "cats")
    assert caught.value.expected == "cats"
    with refused("~nosuch"):
        open_tree("~nosuch/x")
    with pytest.raises(InputError) as long_name:
        open_tree("x" * 300)
    assert long_name.value.came == os.strerror(errno.ENAMETOOLONG)


# ---------------------------------------------------------------------------------------------------------
# Folders
# ---------------------------------------------------------------------------------------------------------


def test_nothing_outside_of_the_folder_is_read(folder, tmp_path):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("secret")
    (folder / "link").symlink_to(tmp_path / "secret" / "key")
    (folder / "way").symlink_to(tmp_path / "secret")
    (folder / "round").symlink_to(folder)
    (folder / "b" / "up").symlink_to("..")
    (folder / "none").symlink_to("nothing")
    (folder / "same").symlink_to("a.txt")
    (folder / "long").symlink_to("x" * 300)
    os.mkfifo(folder / "pipe")
    tree = FolderTree(folder)
    came = {}
    for name in tree.names:
        try:
            tree.read(name, 10_000)
        except Unusable as error:
            came[name] = error.came
    assert came.pop("pipe")
    assert came == {"link": LEADS_OUT, "none": LEADS_OUT, "long": os.strerror(errno.ENAMETOOLONG)}
    assert tree.closed.keys() == {"way", "round", "b/up", "long"}
    assert {name: error.subject for name, error in tree.closed.items()} == {
        name: name for name in tree.closed
    }
    assert tree.closed["round"].came == tree.closed["b/up"].came != tree.closed["way"].came
    assert tree.read("same", 10) == b"one"


def test_a_file_that_becomes_a_link_out_after_it_was_listed(folder, tmp_path):
    tree = FolderTree(folder)
    (tmp_path / "key").write_text("secret")
    (folder / "a.txt").unlink()
    (folder / "a.txt").symlink_to(tmp_path / "key")
    assert unusable(tree, "a.txt") == (INSIDE, LEADS_OUT)


def test_links_that_multiply_folders_end(tmp_path):
    for number in range(40):  # each level doubles what lies below
        (tmp_path / f"{number}").mkdir()
        for side in "ab":
            (tmp_path / f"{number}" / side).symlink_to(tmp_path / f"{number + 1}")
    with refused(str(tmp_path)):
        FolderTree(tmp_path, Limits(entries=500))


def test_folders_that_are_too_deep_are_closed(tmp_path):
    deep = tmp_path.joinpath(*["d"] * 40)
    deep.mkdir(parents=True)
    tree = FolderTree(tmp_path)
    assert len(tree.folders) == 33
    [error] = tree.closed.values()
    assert "32" in error.expected


# ---------------------------------------------------------------------------------------------------------
# ZIP files
# ---------------------------------------------------------------------------------------------------------


def rows(tree):
    """How many names each row of the report is about, and the names."""
    return [(int(row.file.partition(" ")[0]), row.came) for row in tree.problems]


def test_names_that_could_be_paths_are_left_out(tmp_path):
    names = ["../up", "a/../../up", "/etc/passwd", "C:\\windows\\x", "\\\\host\\share", "n" * 4096]
    tree = ZipTree(zipped(tmp_path / "x.zip", {name: b"x" for name in [*names, "./ok", "a//b", "d\\e"]}))
    assert tree.names == ("a/b", "d/e", "ok")
    assert {tree.read(name, 9) for name in tree.names} == {b"x"}
    assert rows(tree) == [(5, "../up, a/../../up, /etc/passwd and 2 more"), (1, "n" * 79 + "…")]
    assert "1,000" in tree.problems[1].expected
    assert [path.name for path in tmp_path.iterdir()] == ["x.zip"]


def test_links_and_devices_are_left_out(tmp_path):
    entries = [("a", b"x")]
    for kind in (stat.S_IFLNK, stat.S_IFBLK, stat.S_IFIFO):
        entry = zipfile.ZipInfo(f"{kind}.jpg")
        entry.external_attr = (kind | 0o777) << 16
        entries.append((entry, b"/etc/passwd"))
    tree = ZipTree(zipped(tmp_path / "x.zip", entries))
    assert tree.names == ("a",)
    assert [count for count, _ in rows(tree)] == [3]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_twice(tmp_path):
    tree = ZipTree(zipped(tmp_path / "x.zip", [("a", b"first"), ("a", b"second"), ("./a", b"third")]))
    assert tree.read("a", 9) == b"first"
    assert rows(tree) == [(2, "a, ./a")]


def test_names_in_utf8_without_its_flag(tmp_path):
    path = zipped(tmp_path / "x.zip", {"\u00e9t\u00e9.jpg": b"x"})
    data = path.read_bytes()
    path.write_bytes(data.replace(b"\x00\x08", b"\x00\x00"))  # the flag, in both headers
    with zipfile.ZipFile(path) as file:
        assert file.namelist() != ["été.jpg"]
    assert ZipTree(path).names == ("été.jpg",)


def refusal(path, **limits):
    with refused(str(path)) as caught:
        ZipTree(path, Limits(**limits))
    return caught.value


def test_a_bomb_is_seen_before_it_is_expanded(tmp_path):
    path = zipped(tmp_path / "x.zip", {"zeros": bytes(30_000_000)})
    error = refusal(path)
    assert "30,000,000" in error.came
    assert "16,777,216" in error.came
    assert "RANKING_INTAKE_RATIO" in error.remedy
    assert "1,000,000" in refusal(path, ratio=10_000, total_bytes=1_000_000).came
    assert ZipTree(path, Limits(ratio=2_000)).names == ("zeros",)


def test_an_entry_that_is_larger_than_it_says(tmp_path):
    path = zipped(tmp_path / "x.zip", {"zeros": bytes(10_000_000)})
    path.write_bytes(path.read_bytes().replace(struct.pack("<L", 10_000_000), struct.pack("<L", 100)))
    assert unusable(ZipTree(path), "zeros")[0] == INTACT


def test_entries_that_overlap(tmp_path):
    path = zipped(tmp_path / "x.zip", {"a": os.urandom(100), "b": os.urandom(100)})
    data = path.read_bytes()
    second = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 1)
    path.write_bytes(data[: second + 42] + bytes(4) + data[second + 46 :])  # both begin at byte 0
    assert "'b'" in refusal(path).came


def test_more_entries_than_the_end_of_the_file_claims(tmp_path):
    path = zipped(tmp_path / "x.zip", {f"{number}": b"" for number in range(100)})
    data = path.read_bytes()
    path.write_bytes(data[:-14] + struct.pack("<HH", 1, 1) + data[-10:])
    assert " 50 " in refusal(path, entries=50).expected


def test_a_table_of_contents_of_long_comments(tmp_path):
    entries = [(zipfile.ZipInfo(f"{number}"), b"") for number in range(40)]
    for entry, _ in entries:
        entry.comment = b"c" * 60_000
    assert " 100 " in refusal(zipped(tmp_path / "x.zip", entries), entries=100).expected


@pytest.mark.parametrize("change", ["encrypted", "unusual"])
def test_what_cannot_be_expanded_is_told_when_it_is_read(tmp_path, change):
    path = zipped(tmp_path / "x.zip", {"a": b"x"})
    data = bytearray(path.read_bytes())
    for start, flags in ((data.index(b"PK\x03\x04"), 6), (data.index(b"PK\x01\x02"), 8)):
        place, value = (start + flags, 1) if change == "encrypted" else (start + flags + 2, 97)
        data[place : place + 2] = value.to_bytes(2, "little")
    path.write_bytes(data)
    assert unusable(ZipTree(path), "a")[0] not in (INTACT, INSIDE)


def test_what_is_no_zip_file(tmp_path):
    path = zipped(tmp_path / "x.zip", {"a": b"x" * 100})
    remedies = set()
    for content in (b"", b"PK\x05\x06", b"no archive at all", b"\x89PNG" * 100, b"PK\x05\x06" * 9):
        (tmp_path / "y.zip").write_bytes(content)
        error = refusal(tmp_path / "y.zip")
        assert error.expected == READABLE, content
        remedies.add(error.remedy)
    assert len(remedies) == 1
    path.write_bytes(path.read_bytes()[:90])
    error = refusal(path)
    assert error.expected == READABLE
    assert error.remedy not in remedies, "it has lost its end, and can be copied again"


def test_names_in_another_encoding_than_they_claim(tmp_path):
    path = zipped(tmp_path / "x.zip", {"\u00e9.jpg": b"x"})
    path.write_bytes(path.read_bytes().replace("\u00e9".encode(), b"\xff\xfe"))
    assert refusal(path).expected == READABLE


def test_a_zip_file_with_a_comment_and_a_beginning_of_its_own(tmp_path):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("a", b"x")
        file.comment = b"by a tool"
    (tmp_path / "x.zip").write_bytes(b"#!/bin/sh\n" + stream.getvalue())
    assert ZipTree(tmp_path / "x.zip").read("a", 9) == b"x"


def test_mutated_zip_files_are_read_or_refused_in_words(tmp_path):
    good = zipped(tmp_path / "x.zip", FILES).read_bytes()
    random = np.random.default_rng(0)
    path = tmp_path / "mutated.zip"
    read = 0
    for _ in range(200):
        data = bytearray(good)
        for place in random.integers(len(data), size=random.integers(1, 8)):
            data[place] = random.integers(256)
        path.write_bytes(data[: random.integers(len(data))] if random.random() < 0.2 else data)
        with contextlib.suppress(InputError):
            tree = ZipTree(path)
            for name in tree.names:
                with contextlib.suppress(Unusable):
                    read += len(tree.read(name, 10_000)) > 0
    assert read > 50


def test_a_small_file_is_opened_in_little_memory(tmp_path):
    path = zipped(tmp_path / "x.zip", FILES)
    with path.open("rb") as file:
        guarded = zip_tree._Guarded(file, 200_000, "x")
        sizes = []
        guarded._file = SimpleNamespace(
            tell=file.tell, read=lambda size: sizes.append(size) or file.read(size)
        )
        assert guarded.read() == path.read_bytes()
        file.seek(0)
        assert guarded.read(10) == path.read_bytes()[:10]
    assert sizes == [path.stat().st_size, 10]


def test_entries_are_counted_before_any_is_parsed(tmp_path, monkeypatch):
    path = zipped(tmp_path / "x.zip", {f"images/{number:06}.jpg": b"" for number in range(2_000)})
    assert len(ZipTree(path, Limits(entries=2_000)).names) == 2_000
    monkeypatch.setattr(zip_tree.zipfile.ZipInfo, "__init__", lambda *_: pytest.fail("an object was made"))
    assert "1,999" in refusal(path, entries=1_999).expected


def test_folders_that_lie_deeper_than_any_set_has_them_are_told_in_one_row(tmp_path):
    """A folder of each of thousands of long names would be a name of its own."""
    deep, deepest = "a/" * 33 + "x.jpg", "a/" * 32 + "y.jpg"
    tree = ZipTree(zipped(tmp_path / "x.zip", {deep: b"", deepest: b"", "./" * 40 + "z.jpg": b""}))
    assert tree.names == (deepest, "z.jpg")
    assert len(tree.folders) == 33
    [row] = tree.problems
    assert row.file.startswith("1 ")
    assert "32" in row.expected


# ---------------------------------------------------------------------------------------------------------
# Limits
# ---------------------------------------------------------------------------------------------------------


def test_limits_from_the_environment(monkeypatch):
    assert Limits.from_environment() == Limits()
    monkeypatch.setenv("RANKING_INTAKE_PIXELS", "1000")
    assert Limits.from_environment() == Limits(pixels=1000)


def test_a_limit_is_a_whole_number(monkeypatch):
    for value in (0, -1, True, 1.5):
        with refused("ratio", repr(value)):
            Limits(ratio=value)
    for text in ("0", "-1", "1e9", "many", "9" * 30, "1_000"):
        monkeypatch.setenv("RANKING_INTAKE_SECONDS", text)
        with refused("RANKING_INTAKE_SECONDS", repr(text)):
            Limits.from_environment()
