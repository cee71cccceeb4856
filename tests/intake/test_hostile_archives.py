"""ZIP files as attackers make them: all of them names, or all of them one and the same content."""

from __future__ import annotations

import os
import struct
import time
import zipfile
import zlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ranking.datasets.looking import look_at
from ranking.intake import Limits, Unusable, ZipTree

UTF8 = 0x800
ENTRIES = 50_000


def archive(entries, content):
    """A ZIP file by hand: one stored content for each (name, start of its header, bytes that it claims to expand to).

    content: what is at the beginning of the file, headers included.
    """
    directory = b"".join(
        struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, UTF8, how, 0, 33, crc, packed, size, len(name), *[0] * 5, start)
        + name
        for name, start, how, crc, packed, size in entries
    )  # fmt: skip
    count = min(len(entries), 0xFFFF)
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, len(directory), len(content), 0)
    return content + directory + end


def header(name, how, crc, packed, size):
    return (
        struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, UTF8, how, 0, 33, crc, packed, size, len(name), 0) + name
    )


def many(count):
    """A ZIP file of so many empty images, each in a folder of one of two classes."""
    names = [b"%s/%06d.jpg" % (b"cat" if number % 2 else b"dog", number) for number in range(count)]
    headers = [header(name, 0, 0, 0, 0) for name in names]
    starts = [0]
    for one in headers:
        starts.append(starts[-1] + len(one))
    entries = [(name, start, 0, 0, 0, 0) for name, start in zip(names, starts, strict=False)]
    return archive(entries, b"".join(headers))


@pytest.fixture(scope="module")
def fifty_thousand(tmp_path_factory):
    path = tmp_path_factory.mktemp("many") / "x.zip"
    path.write_bytes(many(ENTRIES))
    return path


def test_fifty_thousand_entries_are_looked_at_in_seconds(fifty_thousand):
    with zipfile.ZipFile(fifty_thousand) as file:
        assert len(file.namelist()) == ENTRIES
    begun = time.process_time()
    look = look_at(str(fifty_thousand), None, {})
    assert time.process_time() - begun < 20
    assert (look.files, look.source) == (ENTRIES, "Class folders")
    assert look.seen is not None
    assert (look.seen.images, look.seen.crops) == (ENTRIES, [])
    assert {row.came for row in look.seen.problems} >= {"an empty file"}


def test_fifty_thousand_entries_are_more_than_may_be(fifty_thousand):
    with pytest.raises(ValueError, match="it holds more than 49,999 entries; set RANKING_INTAKE_ENTRIES"):
        ZipTree(fifty_thousand, Limits(entries=ENTRIES - 1))


def test_a_bomb_of_one_content_under_many_names(tmp_path):
    """As by Fifield, "A better zip bomb": each entry's content is the headers of those after it, and the kernel."""
    kernel = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = kernel.compress(bytes(10**6)) + kernel.flush()
    name, crc = b"a", zlib.crc32(bytes(10**6))
    content = header(name, 8, crc, len(packed), 10**6) + packed
    entries = [(b"%05d.jpg" % number, 0, 8, crc, len(packed), 10**6) for number in range(1000)]
    (tmp_path / "x.zip").write_bytes(archive(entries, content))
    with pytest.raises(ValueError, match=r"cannot be imported: .*overlaps another entry"):
        ZipTree(tmp_path / "x.zip", Limits(ratio=10**6))
    with pytest.raises(ValueError, match=r"cannot be imported: .*(overlaps|1,000,000,000)"):
        ZipTree(tmp_path / "x.zip")


def test_an_archive_in_an_archive_in_an_archive_stays_closed(tmp_path):
    data = b"kernel"
    for level in range(20):
        path = tmp_path / f"{level}.zip"
        with zipfile.ZipFile(path, "w") as file:
            for copy in range(3):
                file.writestr(f"{copy}.zip", data)
        data = path.read_bytes() if level < 3 else data
    tree = ZipTree(path)
    assert [(row.came, row.done) for row in tree.problems] == [("0.zip, 1.zip, 2.zip", "not opened")]
    look = look_at(str(path), None, {})
    assert (look.source, look.files) == (None, 3)


PARTS = st.sampled_from(
    ["..", ".", "", "a", "b.jpg", "C:", "~", "con", "\\", "/", "é", "e\u0301", "\u202e", "x" * 400]
)
NAMES = st.one_of(
    st.text(max_size=40),
    st.lists(PARTS, max_size=6).map("/".join),
    st.sampled_from(["/dev/zero", "/etc/passwd", "..\\..\\x", "\\\\host\\share\\x", "C:\\x", "file:/x", "x" * 4096]),
)  # fmt: skip


@given(st.lists(NAMES, max_size=12))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_no_name_leads_anywhere(tmp_path, names):
    """Whatever entries are called: a file of the tree has a plain relative name, and nothing else is read."""
    kept = [name for name in names if len(name.encode("utf-8", "ignore")) < 60_000]
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as file:
        for name in kept:
            encoded = name.encode("utf-8", "replace").decode()
            info = zipfile.ZipInfo("placeholder")
            info.filename = encoded
            file.writestr(info, b"content")
    tree = ZipTree(tmp_path / "x.zip")
    for name in tree.names:
        parts = name.split("/")
        assert not set(parts) & {"", ".", ".."}, name
        assert not os.path.isabs(name)
        assert "\\" not in name
        assert not parts[0].endswith(":")
        assert tree.read(name, 100) in (b"content", b"")
    for name in (*tree.names, "..", "/etc/passwd", "../x.zip"):
        if name not in tree.names:
            with pytest.raises(Unusable):
                tree.read(name, 10)
    assert all(row.came.isprintable() for row in tree.problems)
    assert [path.name for path in tmp_path.iterdir()] == ["x.zip"]
