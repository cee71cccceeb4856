"""Copies of a data folder's database, and how a lost database is rebuilt from the newest of them.

A copy is made at each start of a server and in each hour of use, by SQLite's backup, and read completely before it
replaces an older one. Changes after the copy are in the folders (`ranking.workspace.row_files`), where `Store.take_in`
reads them.
"""

from __future__ import annotations

import contextlib
import fcntl
import filecmp
import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from ranking.core.errors import InputError, explained
from ranking.workspace.answers import QUOTED, AnswerEvent
from ranking.workspace.corrections import COLUMNS
from ranking.workspace.home import DATABASE, FOLDERS, MIGRATIONS, is_sound, migrate, read_only, set_aside
from ranking.workspace.room_layout import has_quotas, home_in_words
from ranking.workspace.room_quotas import bytes_of, most_disk
from ranking.workspace.run import is_time

COPIES = FOLDERS[-1]
MOST = 3
SECONDS = 3600.0  # of use between two copies
RICHEST_SECONDS = 30 * 86400.0  # how long the copy with the most answers is kept, as long as deleted runs
# The tables of what users typed, which is stored only there, with their unique columns.
TYPED = {"answer": "session, number", "correction": "press, sample"}
TABLES = ("run", "image_set", *TYPED)


def keep_copy(home: Path) -> None:
    """Copy the database of `home`, unless it is empty or unchanged.

    At most MOST copies are kept, in a workspace as many as fit: the newest, and for some weeks the one with most
    answers and corrections, which are stored only there, in case they were lost. A damaged database is not copied.
    """
    name, part = time.strftime("%Y-%m-%d-%H%M%S", time.gmtime()), _part(home)
    try:
        with closing(read_only(home / DATABASE)) as source, closing(sqlite3.connect(part)) as copy:
            if not _has_rows(source):
                return
            source.backup(copy)
        newest = next(iter(_copies(home)), None)
        if newest is not None and filecmp.cmp(newest, part, shallow=False):
            os.utime(newest)
        elif is_sound(part, MIGRATIONS):
            os.replace(part, home / COPIES / f"{name}.sqlite")
    except sqlite3.DatabaseError:
        return  # readers of the database report the damage; existing copies are kept
    finally:
        part.unlink(missing_ok=True)
    for old in _too_many(_copies(home)):
        old.unlink(missing_ok=True)
    for old in reversed(_copies(home)):
        if has_quotas(home) and bytes_of(home) > most_disk():
            old.unlink(missing_ok=True)


def is_due(home: Path) -> bool:
    """Return whether the last copy is more than an hour old."""
    copies = _copies(home)
    return not copies or time.time() - copies[0].stat().st_mtime > SECONDS


def rebuild(home: Path) -> None:
    """Replace a lost database by its newest sound copy, or by an empty one, with the answers and corrections that can
    still be read from the lost one.

    The lost database is kept next to it under a name that ends in the time. A sound database is not replaced, because
    another process has already rebuilt it.
    """
    database = home / DATABASE
    with explained(home_in_words(home)), open(home / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_sound(database, MIGRATIONS):
            return
        part = _part(home)
        copy = next((copy for copy in _copies(home) if is_sound(copy, MIGRATIONS)), None)
        try:
            if copy is not None:
                shutil.copyfile(copy, part)
            with closing(sqlite3.connect(part)) as made:
                migrate(made, MIGRATIONS)
                _take_over("answer", (*QUOTED.values(), "arrived", "deleted"), _answers(database), made)
                _take_over("correction", COLUMNS, _corrections(database), made)
            set_aside(database)
            os.replace(part, database)
        finally:
            part.unlink(missing_ok=True)


def _answers(file: Path) -> list[tuple[object, ...]]:
    """Return the readable answers of a damaged database, in the order of arrival, with their times."""
    rows = []
    for *values, arrived, deleted in _readable(
        file, "answer", "arrival", (*QUOTED.values(), "arrived", "deleted")
    ):
        with contextlib.suppress(InputError):
            event = AnswerEvent.from_json(dict(zip(QUOTED, values, strict=True)))
            rows.append((*event.to_json().values(), float(arrived), deleted))
    return rows


def _corrections(file: Path) -> list[tuple[object, ...]]:
    """Return the readable corrections of a damaged database."""
    return [
        (*texts, original, corrected, when, undone)
        for *texts, original, corrected, when, undone in _readable(file, "correction", "number", COLUMNS)
        if all(isinstance(text, str) for text in texts)
        and {original, corrected} <= {0, 1}
        and is_time(when)
        and (undone is None or is_time(undone))
    ]


def _readable(file: Path, table: str, order: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return the readable rows of a table of a damaged database, in their order."""
    rows = dict[int, tuple[Any, ...]]()
    names = ", ".join(f"{table}.{name}" for name in columns)
    for direction in ("asc", "desc"):  # from both ends, around the damage
        with contextlib.suppress(sqlite3.Error), closing(read_only(file)) as database:
            for number, *values in database.execute(
                f"select {table}.{order}, {names} from {table} order by {order} {direction}"
            ):
                rows[number] = tuple(values)
    return [rows[number] for number in sorted(rows)]


def _take_over(
    table: str, columns: Sequence[str], rows: Sequence[tuple[object, ...]], database: sqlite3.Connection
) -> None:
    """Add rows to an earlier state of their database; for existing rows, update the last column, which says when they
    were undone or deleted."""
    last = columns[-1]
    database.executemany(
        f"insert into {table} ({', '.join(columns)}) values ({', '.join('?' for _ in columns)})"
        f" on conflict ({TYPED[table]}) do update set {last} = excluded.{last}",
        rows,
    )
    database.commit()


def _part(home: Path) -> Path:
    """Return the path at which a database is built before it is moved into place."""
    return home / COPIES / f"{secrets.token_hex(8)}.part"


def _too_many(copies: list[Path]) -> list[Path]:
    """Return the copies to remove."""
    last = time.time() - RICHEST_SECONDS
    kept = max((copy for copy in copies if copy.stat().st_mtime > last), key=_count, default=None)
    rest = [copy for copy in copies if copy != kept]
    return rest[MOST if kept is None else MOST - 1 :]


def _count(copy: Path) -> int:
    """Return the number of answers and corrections in a copy; -1 if it cannot be read."""
    try:
        with closing(read_only(copy)) as database:
            return sum(
                int(database.execute(f"select count(*) from {table}").fetchone()[0])
                for table in _those_in(database, TYPED)
            )
    except sqlite3.DatabaseError:
        return -1


def _copies(home: Path) -> list[Path]:
    """Return the copies, newest first."""
    return sorted((home / COPIES).glob("*.sqlite"), reverse=True)


def _has_rows(database: sqlite3.Connection) -> bool:
    tables = _those_in(database, TABLES)
    return any([database.execute(f"select 1 from {table} limit 1").fetchone() for table in tables])


def _those_in(database: sqlite3.Connection, tables: Iterable[str]) -> list[str]:
    """Return those of the tables that a database has: databases of older versions have no corrections."""
    names = {name for (name,) in database.execute("select name from sqlite_master where type = 'table'")}
    return [table for table in tables if table in names]
