"""A home on a network file system: another journal, one machine at a time, and a host who is told."""

from __future__ import annotations

import socket
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from working import trouble

from ranking.core import file_systems
from ranking.core.file_systems import journal_mode, network_file_system
from ranking.storage import home
from ranking.storage.home import MACHINE, Home, network_warning
from ranking.storage.queue import JobQueue
from ranking.storage.rooms import Rooms
from ranking.storage.store import Store

TABLE = """22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
40 27 0:40 / {share} rw shared:1 master:2 - {kind} server:/export rw,vers=4.2
41 40 0:41 / {share}/disk rw - xfs /dev/vdb rw
"""


@pytest.fixture
def share(tmp_path, monkeypatch):
    """A folder, and what has a mount table call it the root of a file system of some kind."""
    folder = tmp_path / "my share"
    folder.mkdir()

    def mounted(kind: str) -> Path:
        table = tmp_path / f"mounts {kind}"
        table.write_text(TABLE.format(share=str(folder).replace(" ", r"\040"), kind=kind))
        monkeypatch.setattr(file_systems, "MOUNTS", table)
        return folder

    return mounted


def mode_of(file: Path) -> str:
    with closing(sqlite3.connect(file)) as database:
        return str(database.execute("pragma journal_mode").fetchone()[0])


def test_the_deepest_mount_point_says_what_a_folder_lies_on(share, tmp_path, monkeypatch):
    for kind in ("nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs"):
        folder = share(kind)
        assert network_file_system(folder) == network_file_system(folder / "not" / "yet") == kind
        assert network_file_system(folder / "disk" / "home") is None
        assert network_file_system(tmp_path) is None
        assert [journal_mode(place) for place in (folder, folder / "disk")] == ["delete", "wal"]
    for kind in ("ext4", "btrfs", "overlay", "tmpfs"):
        assert network_file_system(share(kind)) is None, kind
    (tmp_path / "link").symlink_to(share("nfs"))
    assert network_file_system(tmp_path / "link" / "home") == "nfs", "links are followed"
    monkeypatch.setattr(file_systems, "MOUNTS", tmp_path / "none")
    assert network_file_system(folder) is None, "another system, without such a list"


def test_no_database_on_a_network_file_system_has_a_log(share):
    folder = share("nfs4")
    store = Store(folder / "home")
    run = store.runs.create("train", {"set": "k"})
    assert {file.name for file in store.home.rglob("*.sqlite")} == {"ranking.sqlite", "queue.sqlite"}
    assert {mode_of(file) for file in store.home.rglob("*.sqlite")} == {"delete"}
    assert not list(store.home.rglob("*-wal"))
    assert Store(store.home).runs.get(run.id) == run


def test_a_home_that_moves_has_the_journal_of_where_it_lies(share, tmp_path):
    folder = share("ext4") / "home"
    run = Store(folder).runs.create("train", {})
    files = [folder / name for name in ("ranking.sqlite", "queue.sqlite")]
    assert [mode_of(file) for file in files] == ["wal", "wal"]
    for kind, mode in (("cifs", "delete"), ("xfs", "wal")):
        share(kind)
        assert Store(folder).runs.get(run.id) == run
        JobQueue(folder)
        assert [mode_of(file) for file in files] == [mode, mode]


def test_one_machine_uses_a_home_on_a_network_file_system_at_a_time(share, monkeypatch):
    folder = share("nfs")
    Home(folder)
    Home(folder)
    first = socket.gethostname()
    assert (folder / MACHINE).read_text() == first
    room = Rooms(folder).make("room-of-anna")
    Home(room)
    monkeypatch.setattr(home.socket, "gethostname", lambda: "another")
    monkeypatch.setattr(home, "CLAIM_SECONDS", 0.1)
    for path in (folder, room):
        with trouble(why=f"another machine uses it ({first})") as caught:
            Home(path)
        assert MACHINE in caught.value.remedy
        assert (str(folder) in str(caught.value)) == (path == folder), "visitors learn no path"
    (folder / MACHINE).write_text("")  # another machine died before it wrote its name
    with trouble(why="another machine uses it"):
        Home(folder)
    (folder / MACHINE).unlink()
    Home(room)
    assert (folder / MACHINE).read_text() == "another"


def test_a_home_on_a_disk_of_this_machine_names_none(share):
    folder = share("ext4")
    Home(folder)
    assert not (folder / MACHINE).exists()


def test_the_host_is_logged(share):
    assert network_warning(share("ext4")) is None
    warning = network_warning(share("fuse.sshfs"))
    assert warning is not None
    for part in ("my share", "fuse.sshfs", "RANKING_HOME"):
        assert part in warning
