"""Copies of a home's database, and how one that was lost is made again from the newest of them.

A copy is made at each start of a server and in each hour of use, by SQLite's own backup, and read whole before an
older one goes for it. What is newer than the copy is in the folders (`ranking.row_files`): `Store.take_in` reads it.
"""

from __future__ import annotations

import fcntl
import filecmp
import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from ranking.home import DATABASE, FOLDERS, MIGRATIONS, Database, explained
from ranking.room_layout import has_quotas, home_in_words
from ranking.room_quotas import bytes_of, most_disk

COPIES = FOLDERS[-1]
MOST = 3
SECONDS = 3600.0  # of use, after which another copy is made
TABLES = ("run", "image_set", "answer")


def keep_copy(home: Path) -> None:
    """Copy the database of `home`, unless there is nothing in it, or nothing new.

    At most MOST copies stay, of a room as many as it has space for. A damaged database is not copied.
    """
    name = time.strftime("%Y-%m-%d-%H%M%S", time.gmtime())
    part = home / COPIES / f"{name}.{os.getpid()}.part"
    try:
        with closing(_read_only(home / DATABASE)) as source, closing(sqlite3.connect(part)) as copy:
            if not _has_rows(source):
                return
            source.backup(copy)
        newest = next(iter(_copies(home)), None)
        if newest is not None and filecmp.cmp(newest, part, shallow=False):
            os.utime(newest)
        elif _is_sound(part):
            os.replace(part, home / COPIES / f"{name}.sqlite")
    except sqlite3.DatabaseError:
        return  # whoever reads the database is told that it is damaged; the copies that are there stay
    finally:
        part.unlink(missing_ok=True)
    for old in _copies(home)[MOST:]:
        old.unlink(missing_ok=True)
    for old in reversed(_copies(home)):
        if has_quotas(home) and bytes_of(home) > most_disk():
            old.unlink(missing_ok=True)


def is_due(home: Path) -> bool:
    """Whether an hour has gone by since the last copy."""
    copies = _copies(home)
    return not copies or time.time() - copies[0].stat().st_mtime > SECONDS


def rebuild(home: Path) -> None:
    """Put the newest sound copy of a database that was lost in its place, an empty one where there is none.

    What was there is kept beside it, under a name that ends in the time. One that is sound stays: another tab was
    faster.
    """
    database = home / DATABASE
    with explained(home_in_words(home)), open(home / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _is_sound(database):
            return
        stamp = time.strftime("%Y-%m-%d-%H%M%S", time.gmtime())
        for end in ("", "-wal", "-shm"):
            if os.path.lexists(file := home / f"{DATABASE}{end}"):
                file.rename(home / f"{DATABASE}.lost-{stamp}{end}")
        copy = next((copy for copy in _copies(home) if _is_sound(copy)), None)
        if copy is not None:
            part = home / f"{DATABASE}.part"
            shutil.copyfile(copy, part)
            os.replace(part, database)
            return
    Database(home, DATABASE).lay_out(MIGRATIONS)


def _copies(home: Path) -> list[Path]:
    """The newest first."""
    return sorted((home / COPIES).glob("*.sqlite"), reverse=True)


def _read_only(file: Path) -> sqlite3.Connection:
    """A copy never changes, and needs no files of SQLite's own beside it."""
    how = "immutable=1" if file.parent.name == COPIES else "mode=ro"
    return sqlite3.connect(f"{file.as_uri()}?{how}", uri=True)


def _is_sound(file: Path) -> bool:
    """Whether a database can be read whole, has our tables and is none of a newer version."""
    try:
        with closing(_read_only(file)) as database:
            (said,) = database.execute("pragma quick_check(1)").fetchone()
            (layout,) = database.execute("pragma user_version").fetchone()
            _has_rows(database)
            return bool(said == "ok" and 0 < layout <= len(MIGRATIONS))
    except sqlite3.DatabaseError:
        return False


def _has_rows(database: sqlite3.Connection) -> bool:
    return any([database.execute(f"select 1 from {table} limit 1").fetchone() for table in TABLES])
