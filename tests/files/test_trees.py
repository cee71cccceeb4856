"""Folders and ZIP files as trees: what is in them, and what strangers put in them."""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import struct
import tarfile
import time
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import archives
import numpy as np
import pytest
from import_folders import lay, packed
from refusals import refusal, refused

from ranking.core.errors import InputError
from ranking.files import FolderTree, Limits, TarTree, Unusable, ZipTree, open_tree, tar_tree
from ranking.files.files import INSIDE, LEADS_OUT, NOTHING
from ranking.files.zip_tree import INTACT, READABLE
from ranking.formats.import_preview import preview_import

FILES = {"a.txt": b"one", "b/c.jpg": b"two", "b/d/été.png": b"three" * 1000}


@pytest.fixture
def folder(tmp_path):
    return lay(tmp_path / "photos", FILES)


def unusable(tree, name, size=10**9):
    """The expected and the received content in the reason why a file of the tree cannot be read."""
    # None where it can.
    return refusal(tree.read, name, size)


def tarred(path, entries, mode="w"):
    """The tar file `path` of these names, or headers, and contents."""
    with tarfile.open(path, mode, encoding="utf-8", errors="surrogateescape") as file:
        for entry, content in entries:
            header = tarfile.TarInfo(entry) if isinstance(entry, str) else entry
            header.size = len(content)
            file.addfile(header, io.BytesIO(content))
    return path


@pytest.fixture(params=["folder", "zip", "tar", "tar.gz", "tar.bz2", "tar.xz"])
def make_tree(request, folder, tmp_path):
    """A tree of FILES and of more files, as a folder or as an archive."""

    def make(more=()):
        files = FILES | dict.fromkeys(more, b"")
        kind, _, compression = request.param.partition(".")
        path = tmp_path / f"photos.{request.param}"
        if kind == "tar":
            return open_tree(tarred(path, files.items(), f"w:{compression}"))
        return open_tree(packed(path, files) if kind == "zip" else lay(folder, files))

    return make


@pytest.fixture
def tree(make_tree):
    return make_tree()


# ------------------------------------------------------------------------------------------ Both alike


def test_a_tree_lists_and_reads_its_files_and_folders(tree):
    assert tree.names == tuple(sorted(FILES))
    assert tree.folders == ("", "b", "b/d")
    assert {name: tree.read(name, 10_000) for name in tree.names} == FILES
    assert tree.parts[-1] == "photos"
    assert (tree.closed, tree.problems) == ({}, ())


def test_reading_a_file_beyond_the_limit_in_bytes_is_refused(tree):
    assert len(tree.read("b/d/été.png", 5000)) == 5000
    assert "0.00476742 MB" in unusable(tree, "b/d/été.png", 4999)[0]


def test_only_names_of_files_are_read(tree):
    for name in ("b", "", "/etc/passwd", "../photos/a.txt", "b/../a.txt", "B/c.jpg", "a.txt/"):
        assert unusable(tree, name) == (INSIDE, NOTHING), name


def test_a_folder_of_a_tree_is_a_tree(tree):
    inner = tree.below("b")
    assert inner.names == ("c.jpg", "d/été.png")
    assert inner.folders == ("", "d")
    assert inner.parts[-2:] == ("photos", "b")
    assert inner.read("c.jpg", 10) == b"two"
    assert inner.file("c.jpg") == tree.file("b/c.jpg", "c.jpg")
    assert inner.file("c.jpg").read(10) == b"two"
    assert tree.below("") is tree


def test_trees_of_the_same_path_are_equal(tree):
    again = open_tree(tree.place)
    assert (tree, hash(tree), tree.file("a.txt")) == (again, hash(again), again.file("a.txt"))
    assert tree != tree.below("b")


def test_threads_read_at_the_same_time(tmp_path):
    random = np.random.default_rng(0)
    files = {f"{number}.bin": random.bytes(50_000) for number in range(40)}
    tree = ZipTree(packed(tmp_path / "many.zip", files))
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda name: tree.read(name, 50_000), tree.names * 3)) == [
            files[name] for name in tree.names * 3
        ]


def test_hidden_files_of_file_managers_are_ignored(make_tree):
    tree = make_tree(["._a.txt", "__MACOSX/b/._c.jpg", "b/.DS_Store", ".git/config"])
    assert (tree.names, tree.folders, tree.problems) == (tuple(sorted(FILES)), ("", "b", "b/d"), ())
    [row] = tree.decisions
    assert (row.about, row.chosen) == ("hidden files", "not read")
    assert row.evidence.startswith("4 files of the operating system")


def test_paths_that_cannot_be_opened_are_refused():
    for typed, subject in (
        ("/nowhere/at all", "/nowhere/at all"),
        ("/dev/zero", "/dev/zero"),
        ("a\0b", "a\N{REPLACEMENT CHARACTER}b"),
        (" ", "folder or archive"),
    ):
        with refused(subject) as caught:
            open_tree(typed, "cats")
        assert caught.value.expected == "cats"
    with refused("~nosuch"):
        open_tree("~nosuch/x")
    assert refusal(open_tree, "x" * 300)[1] == os.strerror(errno.ENAMETOOLONG)


# --------------------------------------------------------------------------------------------- Folders


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
    came = {name: why[1] for name in tree.names if (why := unusable(tree, name))}
    assert came.keys() == {"link", "none", "long", "pipe", *tree.closed}
    assert came["link"] == came["none"] == came["way"] == LEADS_OUT
    assert came["long"] == os.strerror(errno.ENAMETOOLONG)
    assert tree.closed.keys() == {"way", "round", "b/up", "long"}
    assert [error.subject for error in tree.closed.values()] == list(tree.closed)
    assert tree.closed["round"].came == tree.closed["b/up"].came != tree.closed["way"].came
    assert tree.read("same", 10) == b"one"


@pytest.mark.parametrize("method", ["stat", "open", "iterdir"])
def test_files_without_read_permission_are_reported(folder, monkeypatch, method):
    """As modes do to who is not root."""
    really, came = getattr(Path, method), os.strerror(errno.EACCES)

    def denied(path, *arguments, **options):
        if path.name in ("a.txt", "b"):
            raise PermissionError(errno.EACCES, came, str(path))
        return really(path, *arguments, **options)

    monkeypatch.setattr(Path, method, denied)
    tree = FolderTree(folder)
    if method != "open":
        assert (tree.closed["b"].subject, tree.closed["b"].came) == ("b", came)
    if method != "iterdir":
        assert unusable(tree, "a.txt")[1] == came


def test_files_and_folders_are_counted(folder):
    assert len(FolderTree(folder, Limits(entries=5)).names) == 3
    with refused(str(folder)) as caught:
        FolderTree(folder, Limits(entries=4))
    assert " 4 " in caught.value.expected


# ------------------------------------------------------------------------------------------- ZIP files


def special(kind):
    entry = zipfile.ZipInfo(f"{kind}.jpg")
    entry.external_attr = (kind | 0o777) << 16
    return entry


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("entries", "kept", "expected", "file", "came"),
    [
        (["a", special(stat.S_IFLNK), special(stat.S_IFBLK), special(stat.S_IFIFO)], ["a"], "links", "3", ""),
        (["a", "a", "./a"], ["a"], "once", "2 names", "a, ./a"),
    ],
)
def test_entries_that_are_no_files_are_reported_in_one_row(tmp_path, entries, kept, expected, file, came):
    contents = [(entry, b"%d" % number) for number, entry in enumerate(entries)]
    tree = ZipTree(packed(tmp_path / "x.zip", contents))
    assert tree.names == tuple(kept)
    [row] = tree.problems
    assert row.file.startswith(file)
    assert expected in row.expected
    assert row.came.startswith(came)
    assert tree.read("a", 9) == b"0", "the first of that name"
    assert [path.name for path in tmp_path.iterdir()] == ["x.zip"]


def test_names_of_entries_never_become_paths(tmp_path):
    names = ["../up", "/etc/passwd", "C:\\windows\\x", "./ok", "a//b", "d\\e"]
    tree = ZipTree(packed(tmp_path / "x.zip", [(name, name.encode()) for name in names]))
    assert tree.names == ("C:/windows/x", "a/b", "d/e", "etc/passwd", "ok", "up")
    assert (tree.read("etc/passwd", 99), tree.read("up", 99)) == (b"/etc/passwd", b"../up")
    assert tree.problems == ()


def test_names_in_utf8_without_its_flag(tmp_path):
    path = packed(tmp_path / "x.zip", {"\u00e9t\u00e9.jpg": b"x"})
    data = path.read_bytes()
    # the flag, in both headers
    path.write_bytes(data.replace(b"\x00\x08", b"\x00\x00"))
    with zipfile.ZipFile(path) as file:
        assert file.namelist() != ["été.jpg"]
    assert ZipTree(path).names == ("été.jpg",)


def refused_zip(path, **limits):
    """The error that a ZIP file ends in."""
    with refused(str(path)) as caught:
        ZipTree(path, Limits(**limits))
    return caught.value


def test_a_zip_bomb_is_detected_before_it_is_expanded(tmp_path):
    path = packed(tmp_path / "x.zip", {"zeros": bytes(3_000_000)})
    error = refused_zip(path, total_bytes=1_000_000)
    assert "3,000,000" in error.came
    assert "1,000,000" in error.expected
    assert "RANKING_IMPORT_TOTAL_BYTES" in error.remedy
    assert ZipTree(path).names == ("zeros",)


def marked(data, place, value):
    """With a value in the header of the first entry, whose table fields lie two bytes later."""
    changed = bytearray(data)
    for start in (data.index(b"PK\x03\x04"), data.index(b"PK\x01\x02") + 2):
        changed[start + place : start + place + 2] = value.to_bytes(2, "little")
    return bytes(changed)


ONE = {"a": b"x" * 100}


def test_names_of_another_encoding_are_read_by_the_one_that_fits_all(tmp_path):
    for encoding, folders, others in (
        ("cp932", ["自転車", "自動車"], {"gbk"}),
        ("gbk", ["数据/狗", "数据/猫"], {"cp950"}),
        ("cp950", ["蘋果", "香蕉"], {"cp866"}),
        ("cp949", ["자동차/빨강", "자전거/파랑"], {"gbk"}),
        ("cp866", ["Собака", "Кошка"], {"cp437"}),
        ("cp437", ["Kätzchen", "Hündin"], {"cp866"}),
    ):
        names = sorted(f"{folder}/{number}.jpg" for folder in folders for number in range(3))
        zipped = written(tmp_path / "x.zip", [(name.encode(encoding), name.encode()) for name in names])
        as_tar = [(name.encode(encoding).decode("utf-8", "surrogateescape"), name.encode()) for name in names]
        for tree in (ZipTree(zipped), TarTree(tarred(tmp_path / "x.tar", as_tar))):
            assert list(tree.names) == names, encoding
            assert all(tree.read(name, 99) == name.encode() for name in names)
            [decision] = tree.decisions
            assert (decision.value, decision.is_open) == (encoding, False)
            assert others <= set(decision.alternatives)
        other = decision.alternatives[0]
        changed = ZipTree(zipped, name_encoding=other)
        assert names[0].encode(encoding).decode(other) in changed.names
        assert encoding in changed.decisions[0].alternatives
    with refused("name_encoding", "cp949"):
        ZipTree(written(tmp_path / "x.zip", [(b"\xff\xff.jpg", b"")]), name_encoding="cp949")


def test_a_zip_entry_without_a_name_has_a_row(tmp_path):
    zipped = ZipTree(written(tmp_path / "x.zip", [(b"", b"x"), (b"1.jpg", b"y")]))
    assert zipped.names == ("1.jpg",)
    [row] = zipped.problems
    assert row.done == "ignored"


def written(path, entries):
    """A ZIP file of names in bytes, which zipfile does not write."""
    table, data = b"", b""
    for name, content in entries:
        fields = struct.pack(
            "<HHHHLLLHH", 0, 0, 0, 0, zlib.crc32(content), len(content), len(content), len(name), 0
        )
        table += (
            b"PK\x01\x02"
            + struct.pack("<HH", 20, 20)
            + fields
            + struct.pack("<HHHLL", 0, 0, 0, 0, len(data))
            + name
        )
        data += b"PK\x03\x04" + struct.pack("<H", 20) + fields + name + content
    count = len(entries)
    end = b"PK\x05\x06" + struct.pack("<HHHHLLH", 0, 0, count, count, len(table), len(data), 0)
    path.write_bytes(data + table + end)
    return path


def test_two_short_names_that_several_encodings_read_are_a_question(tmp_path):
    tree = ZipTree(
        written(tmp_path / "x.zip", [(f"{name}/1.jpg".encode("gbk"), b"") for name in ("狗", "猫")])
    )
    [decision] = tree.decisions
    assert decision.is_open
    assert "gbk" in (decision.value, *decision.alternatives)


SPOILT = {
    "claims less than it has": (
        {"zeros": bytes(10**7)},
        lambda data: data.replace(struct.pack("<L", 10**7), struct.pack("<L", 100)),
        INTACT,
    ),
    "encrypted": (ONE, lambda data: marked(data, 6, 1), "stored or deflated, without a password"),
    "compressed otherwise": (ONE, lambda data: marked(data, 8, 97), "stored or deflated, without a password"),
    "not in its encoding": ({"é": b"x"}, lambda data: data.replace("é".encode(), b"\xff\xfe"), READABLE),
    "cut": (ONE, lambda data: data[:90], READABLE),
    "empty": (ONE, lambda data: b"", READABLE),
    "an end": (ONE, lambda data: b"PK\x05\x06", READABLE),
    "ends": (ONE, lambda data: b"PK\x05\x06" * 9, READABLE),
    "PNG": (ONE, lambda data: b"\x89PNG" * 100, READABLE),
}


@pytest.mark.parametrize("how", SPOILT)
def test_spoilt_zip_files_are_refused_when_they_are_opened_or_read(tmp_path, how):
    files, spoilt, expected = SPOILT[how]
    path = packed(tmp_path / "x.zip", files)
    path.write_bytes(spoilt(path.read_bytes()))
    with pytest.raises((InputError, Unusable)) as caught:
        ZipTree(path).read(next(iter(files)), 10**9)
    assert expected in caught.value.expected
    if expected == READABLE and how != "not in its encoding":
        assert "not a zip file" not in str(caught.value), "that is said already"
        assert caught.value.remedy
        copy_again = "download, copy or create" in caught.value.remedy
        assert copy_again == (how == "cut"), "it starts like a ZIP file but its end is missing"


def test_a_zip_file_with_a_comment_and_a_beginning_of_its_own(tmp_path):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("a", b"x")
        file.comment = b"by a tool"
    (tmp_path / "x.zip").write_bytes(b"#!/bin/sh\n" + stream.getvalue())
    assert ZipTree(tmp_path / "x.zip").read("a", 9) == b"x"


def test_an_archive_of_very_many_entries_is_previewed_within_seconds(tmp_path):
    """Empty images, each in a folder of one of two classes."""
    names = (f"{'cat' if number % 2 else 'dog'}/{number:06d}.jpg" for number in range(10_000))
    packed(tmp_path / "x.zip", dict.fromkeys(names, b""))
    begun = time.process_time()
    preview = preview_import(str(tmp_path / "x.zip"), None, {})
    assert time.process_time() - begun < 10
    assert (preview.files, preview.source) == (10_000, "Class folders")
    assert preview.content is not None
    assert (preview.content.images, preview.content.crops) == (10_000, [])
    assert preview.content.problem_count > 1, "those that were looked into are empty"


# ------------------------------------------------------------------------------------------- Tar files


def header(name, kind):
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, "/etc/passwd"
    return entry


def test_entries_of_a_tar_file_that_are_no_files(tmp_path):
    kinds = [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.GNUTYPE_SPARSE]
    entries = [(header(f"{number}.jpg", kind), b"") for number, kind in enumerate(kinds)]
    tree = TarTree(tarred(tmp_path / "x.tar", [*entries, ("ok", b"x"), ("./ok", b"y")]))
    assert tree.names == ("ok",)
    assert [row.file for row in tree.problems] == ["5 names", "1 name"]
    assert "links" in tree.problems[0].expected


def test_a_tar_file_of_one_place_is_expanded_once_and_within_the_limits(tmp_path, monkeypatch):
    path = tarred(tmp_path / "x.tar.gz", [("zeros", bytes(30_000_000))], "w:gz")
    with refused(str(path)) as caught:
        TarTree(path, Limits(total_bytes=1_000_000))
    assert "1,000,000" in caught.value.expected
    first = TarTree(path)
    monkeypatch.setattr(gzip.GzipFile, "read", None)
    assert TarTree(path).read("zeros", 30_000_000) == bytes(30_000_000)
    del first
    assert [item.name for item in tmp_path.iterdir()] == ["x.tar.gz"]
    path = tarred(tmp_path / "x.tar", [(str(number), b"") for number in range(4)])
    with refused(str(path), "more"):
        TarTree(path, Limits(entries=3))


def test_damaged_tar_files_are_refused_or_say_where_they_end(tmp_path):
    good = tarred(
        tmp_path / "x.tar", [(f"{number}.jpg", bytes([number] * 600)) for number in range(3)]
    ).read_bytes()
    path = tmp_path / "y.tar"
    # after the second file, within the third, and with a header that is none
    for data in (good[: 2 * 1536], good[: 2 * 1536 + 600], good[: 2 * 1536] + b"x" * 4096):
        path.write_bytes(data)
        tree = open_tree(path)
        assert tree.names[:2] == ("0.jpg", "1.jpg")
        assert tree.read("1.jpg", 600) == b"\1" * 600
        [row] = tree.problems
        assert "after" in row.came
    huge = bytearray(good)
    # a header that says that it goes on for gigabytes
    huge[156:157] = b"x"
    huge[124:136] = b"77777777777\0"
    huge[148:156] = b"%06o\0 " % (sum(huge[:148]) + 8 * 32 + sum(huge[156:512]))
    for name, data in (
        ("b.tar", b"x" * 2000),
        ("c.tar", b""),
        ("d.tar", bytes(huge)),
        ("e.tgz", gzip.compress(b"x" * 99)),
    ):
        (tmp_path / name).write_bytes(data)
        with refused(str(tmp_path / name)) as caught:
            open_tree(tmp_path / name)
        assert caught.value.expected == tar_tree.READABLE
    (tmp_path / "f.tgz").write_bytes(gzip.compress(good)[:-20])
    with refused(str(tmp_path / "f.tgz")) as caught:
        open_tree(tmp_path / "f.tgz")
    assert "download" in caught.value.remedy


def test_archives_that_cannot_be_read_are_refused_with_a_remedy(tmp_path):
    for first, kind in (
        (b"Rar!\x1a\x07\x01\0", "RAR"),
        (b"7z\xbc\xaf\x27\x1c", "7z"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
    ):
        (tmp_path / "photos.zip").write_bytes(first + bytes(99))
        with refused(str(tmp_path / "photos.zip")) as caught:
            open_tree(tmp_path / "photos.zip")
        assert kind in caught.value.came
        assert "extract" in caught.value.remedy


def test_other_compression_of_zip_files_is_read_or_named(tmp_path):
    for compression in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        (tmp_path / "x.zip").write_bytes(archives.packed(ONE, compression))
        assert ZipTree(tmp_path / "x.zip").read("a", 100) == ONE["a"]
    for place, value, came in ((8, 9, "Deflate64"), (8, 98, "98"), (6, 1, "password")):
        path = packed(tmp_path / "x.zip", ONE | {"b": b"y"})
        path.write_bytes(marked(path.read_bytes(), place, value))
        assert came in unusable(ZipTree(path), "a")[1]
        assert ZipTree(path).read("b", 9) == b"y"
        path = packed(tmp_path / "x.zip", ONE)
        path.write_bytes(marked(path.read_bytes(), place, value))
        with refused(str(path)) as caught:
            ZipTree(path)
        assert came in caught.value.came
        assert "extract" in caught.value.remedy


# ---------------------------------------------------------------------------------------------- Limits


def test_a_limit_is_a_whole_number_and_comes_from_the_environment(monkeypatch):
    assert Limits.from_environment() == Limits()
    monkeypatch.setenv("RANKING_IMPORT_PIXELS", "1000")
    assert Limits.from_environment() == Limits(pixels=1000)
    for text in ("0", "-1", "1e9", "many", "9" * 30, "1_000"):
        monkeypatch.setenv("RANKING_IMPORT_SECONDS", text)
        with refused("RANKING_IMPORT_SECONDS", repr(text)):
            Limits.from_environment()
