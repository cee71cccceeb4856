"""The data folder: layout, database, and safe concurrent access.

``ranking.sqlite`` has a row per run and per image set; ``runs/<id>`` the files of a worker; ``sets/<key>`` the image
sets; ``edges/<key>``, ``vectors/<key>`` and ``models`` their uploads (`ranking.workspace.uploads`); ``features`` the
feature cache; ``trash`` folders that are being removed; ``copies`` earlier states of the database; ``queue.sqlite``
and ``imports.sqlite`` the job queues; ``machine``, on a network file system, the name of the only
machine that uses the data folder. ``rooms/<name>`` are the workspaces of a server's visitors, each a data folder
(`ranking.workspace.rooms`). Any number of processes may use a data folder concurrently: every call opens its own
connection, and every change is one short transaction.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import cache
from pathlib import Path

from ranking.core.errors import REBUILD, HomeError, explained
from ranking.core.file_systems import journal_mode, network_file_system
from ranking.workspace.room_layout import has_quotas, home_in_words, server_of
from ranking.workspace.room_quotas import DiskWatch

# The changes from each layout of the database to the next: add at the end, and never change a released one.
# `number` orders the rows, because clocks can be set back and autoincrement cannot.
MIGRATIONS: tuple[str, ...] = (
    """
create table run (
    number integer primary key autoincrement, id text not null unique, kind text not null,
    state text not null, settings text not null,
    result text not null default '{}', reason text not null default '',
    created real not null, started real, ended real, pid integer, cancelled real);
create table image_set (
    number integer primary key autoincrement, key text not null unique, title text not null,
    source text not null, images integer not null, samples integer not null, classes text not null,
    created real not null);
""",
    """
alter table run add column name text not null default '';
alter table run add column star integer not null default 0;
alter table run add column deleted real;
""",
    """
create table answer (
    arrival integer primary key autoincrement, session text not null, number integer not null,
    "set" text not null, image text not null, label text not null, kind text not null,
    run text not null, strategy text not null, inside real, outside real, counted integer not null,
    time real not null, arrived real not null, unique (session, number));
create index answer_of_image on answer ("set", image, arrival);
""",
    "alter table image_set add column deleted real;",
    "alter table answer add column deleted real;",
    """
alter table run add column revision integer not null default 0;
alter table image_set add column revision integer not null default 0;
""",
    "alter table run add column version integer not null default 0;",
    """
update run set settings = json_set(settings, '$.task', case kind when 'label' then 'labels' else 'orders' end)
    where kind in ('label', 'order') and json_valid(settings);
update run set kind = 'train' where kind in ('label', 'order');
""",
    """
update run set settings = json_set(settings, '$.task', case kind when 'study' then 'midrank' else kind end)
    where kind in ('experiment', 'asking', 'study', 'timing', 'features') and json_valid(settings);
update run set kind = case kind when 'features' then 'import' else 'study' end
    where kind in ('experiment', 'asking', 'study', 'timing', 'features');
""",
    """
create table correction (
    number integer primary key autoincrement, press text not null, "set" text not null, sample text not null,
    class text not null, original integer not null, corrected integer not null, time real not null, undone real,
    unique (press, sample));
create index correction_of_class on correction ("set", class, number);
""",
)
FOLDERS = ("edges", "vectors", "models", "features", "sets", "runs", "trash", "copies")
DATABASE = "ranking.sqlite"
UNSOUND = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)  # errors caused by damage
PARTS = ("", "-wal", "-shm", "-journal")  # suffixes of the files of one database
BUSY_SECONDS = 20.0  # how long a change waits for those of other processes
MACHINE = "machine"  # the file that names the only machine that uses a data folder on a network file system
CLAIM_SECONDS = 2.0  # how long another machine may take to write its name


class Database:
    """The SQLite database in `file` of the folder `path`: every call opens its own connection."""

    def __init__(self, path: Path, file: str) -> None:
        self.path = path
        self._database = path / file

    @property
    def called(self) -> str:
        """The name of the folder in messages."""
        return home_in_words(self.path) if has_quotas(self.path) else f"the data folder {self.path}"

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Open a connection for one query."""
        with self._explained(), closing(self._connect()) as database:
            yield database

    @contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction that holds the only write lock from its start; all of it is committed, or nothing."""
        with self._explained(), closing(self._connect()) as database:
            database.execute("begin immediate")
            yield database
            database.execute("commit")  # an exception skips this, and closing rolls back

    def lay_out(self, migrations: tuple[str, ...]) -> None:
        """Migrate the database to the layout of all `migrations`, and set the journal mode for its file system.
        HomeError if this is a network file system and another machine uses the database."""
        if network_file_system(self.path):
            self._claim(server_of(self.path) / MACHINE)
        # SQLite's busy timeout does not cover the change to WAL: two simultaneous first starts need a lock.
        with open(self.path / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._prepare(migrations)
            with closing(self._connect()) as database:
                (layout,) = database.execute("pragma user_version").fetchone()
                if layout > len(migrations):
                    raise HomeError(
                        self.called,
                        f"it was written by a newer version (layout {layout}, not {len(migrations)})",
                        "update this program, or set RANKING_HOME to another folder",
                    )
                self._check(database, migrations)
                migrate(database, migrations)
                mode = journal_mode(self.path)
                if database.execute("pragma journal_mode").fetchone()[0] != mode:
                    database.execute(f"pragma journal_mode = {mode}")

    def _claim(self, file: Path) -> None:
        """Raise HomeError if `file` names another machine. Locks on a network file system may hold on one machine only,
        but creating a file exclusively works on all machines."""
        here = socket.gethostname()
        try:
            with open(file, "x") as claim:
                claim.write(here)
        except FileExistsError:
            until = time.monotonic() + CLAIM_SECONDS
            while not (there := file.read_text()) and time.monotonic() < until:
                time.sleep(0.05)
            if there != here:
                raise HomeError(
                    self.called,
                    f"it lies on a network file system, and another machine uses it{f' ({there})' if there else ''}",
                    f"stop the app there, then remove the file “{MACHINE}” in the data folder of the server",
                ) from None

    def _prepare(self, migrations: tuple[str, ...]) -> None:
        """Prepare the migration, while no other process migrates."""

    def _check(self, database: sqlite3.Connection, migrations: tuple[str, ...]) -> None:
        """Raise HomeError if the database must not be migrated."""

    def _connect(self) -> sqlite3.Connection:
        return self._open(self._database.as_uri())

    def _open(self, uri: str) -> sqlite3.Connection:
        database = sqlite3.connect(uri, timeout=BUSY_SECONDS, isolation_level=None, uri=True)
        database.row_factory = sqlite3.Row
        return database

    def _explained(self) -> AbstractContextManager[None]:
        return explained(self.called, self._rebuildable, _is_lost)

    @property
    def _rebuildable(self) -> Path | None:
        """The data folder that can be rebuilt if the database is damaged."""
        return None


class Home(Database):
    """The folders and the database of `path`: $RANKING_HOME, else ~/.local/share/ranking-laboratory, if None.

    shared: whether other workspaces share the data folder, so it is read-only here; it was migrated when it was shared
    (`ranking.workspace.rooms.Rooms`). Raises HomeError, an OSError, if the folders cannot be written.
    """

    def __init__(self, path: Path | str | None = None, shared: bool = False) -> None:
        super().__init__(home_folder(path), DATABASE)
        self.shared = shared
        (
            self.edges,
            self.vectors,
            self.models,
            self.features,
            self.sets,
            self.runs,
            self.trash,
            self.copies,
        ) = (self.path / name for name in FOLDERS)
        if not shared:
            with self._explained():
                for folder in FOLDERS:
                    (self.path / folder).mkdir(parents=True, exist_ok=True)
                self.lay_out(MIGRATIONS)

    @property
    def called(self) -> str:
        """As in `Database`, without the path of a shared workspace: its name is the key to it, and visitors must not
        see it."""
        return "the shared workspace" if self.shared else super().called

    @contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """As in `Database`; HomeError for a shared data folder."""
        if self.shared:
            raise HomeError(self.called, "it is read-only", "work in your own workspace")
        with super().change() as database:
            yield database

    def _check(self, database: sqlite3.Connection, migrations: tuple[str, ...]) -> None:
        """Raise HomeError if the tables are unknown, or if the database is new although there are image sets or
        runs."""
        if not _is_ours(database, migrations):
            why = "its database has other tables than those of this program"
            raise HomeError(self.called, why, REBUILD, lost=self._rebuildable)
        if database.execute("pragma user_version").fetchone()[0] > 0:
            return
        there = [folder.name for folder in (self.sets, self.runs, self.copies) if any(folder.iterdir())]
        if there:
            why = f"its database is new or empty, but there are files in {' and '.join(there)}"
            raise HomeError(self.called, why, REBUILD, lost=self.path)

    @property
    def _rebuildable(self) -> Path | None:
        return None if self.shared else self.path

    def _connect(self) -> sqlite3.Connection:
        return self._open(f"{self._database.as_uri()}?mode=ro") if self.shared else super()._connect()

    def shrink(self) -> None:
        """Free the disk space of removed rows."""
        with self._explained(), closing(self._connect()) as database:
            database.execute("vacuum")

    def throw_away(self, folder: Path) -> None:
        """Move a folder to the trash in one step; `empty_trash` removes it."""
        try:
            os.rename(folder, self.trash / secrets.token_hex(8))
        except FileNotFoundError:
            return  # it does not exist, as intended

    def empty_trash(self) -> None:
        """Remove the folders in the trash; those that cannot be removed, or are being removed, wait for the next
        call."""
        for rubbish in self.trash.iterdir():
            shutil.rmtree(rubbish, ignore_errors=True)


class HomeStore:
    """What is kept of one kind under `home`: $RANKING_HOME, else ~/.local/share/ranking-laboratory, if None.

    Any number of processes may use one home at once. Raises HomeError, an OSError, where the folder cannot be written;
    FullError, which is one, where a room has no space for more.
    """

    def __init__(self, home: Path | str | None = None) -> None:
        self._home = Home(home)
        self.home = self._home.path
        self._watch = DiskWatch(self.home)


def network_warning(home: Path) -> str | None:
    """Return a warning for the administrator if a data folder is on a network file system, else None."""
    kind = network_file_system(home)
    return kind and (
        f"{home} lies on a network file system ({kind}): its databases use a rollback journal instead of WAL, so that "
        "visitors wait for each other's changes, and no other machine can use it at the same time. A folder on a disk "
        "of this machine is faster (RANKING_HOME)."
    )


def home_folder(path: Path | str | None = None) -> Path:
    """Return the folder of `path`: $RANKING_HOME, else ~/.local/share/ranking-laboratory, if None; creates nothing."""
    return _folder(str(path or os.environ.get("RANKING_HOME") or "~/.local/share/ranking-laboratory"))


def _is_lost(home: Path) -> bool:
    """Return whether the database of `home` has to be rebuilt and can be; not if the whole data folder is gone."""
    there = os.access(home, os.W_OK) and all((home / folder).is_dir() for folder in FOLDERS)
    return there and not is_sound(home / DATABASE, MIGRATIONS)


def is_sound(file: Path, migrations: tuple[str, ...]) -> bool:
    """Return whether a database exists, can be read completely, and has exactly the tables of some first `migrations`.
    A database that cannot be read just now, because it is locked or the disk is full, counts as sound."""
    parts = [file.with_name(f"{file.name}{part}") for part in PARTS]
    if not file.exists() or any(os.path.lexists(part) and not part.is_file() for part in parts):
        return False
    try:
        with closing(read_only(file)) as database:
            (verdict,) = database.execute("pragma integrity_check(1)").fetchone()
            (layout,) = database.execute("pragma user_version").fetchone()
            return bool(verdict == "ok" and layout > 0 and _is_ours(database, migrations))
    except sqlite3.DatabaseError as error:
        return error.sqlite_errorcode & 0xFF not in UNSOUND


def read_only(file: Path) -> sqlite3.Connection:
    """Open a read-only connection. A copy of a database never changes, so SQLite needs no other files for it."""
    how = "immutable=1" if file.parent.name == FOLDERS[-1] else "mode=ro"
    return sqlite3.connect(f"{file.as_uri()}?{how}", uri=True)


def _is_ours(database: sqlite3.Connection, migrations: tuple[str, ...]) -> bool:
    (layout,) = database.execute("pragma user_version").fetchone()
    return 0 <= layout <= len(migrations) and _tables(database) == _tables_after(migrations[:layout])


@cache
def _tables_after(migrations: tuple[str, ...]) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(" ".join(migrations))
        return _tables(database)


def _tables(database: sqlite3.Connection) -> set[tuple[str, str]]:
    """Return each column of each table, except SQLite's own."""
    rows = database.execute(
        "select tables.name, columns.name from sqlite_master as tables, pragma_table_info(tables.name) as columns"
        " where tables.type = 'table' and tables.name not like 'sqlite\\_%' escape '\\'"
    )
    return {(table, column) for table, column in rows}


def migrate(database: sqlite3.Connection, migrations: tuple[str, ...]) -> None:
    """Change a database from its current layout to that of all `migrations`."""
    (layout,) = database.execute("pragma user_version").fetchone()
    if layout < len(migrations):
        steps = " ".join(migrations[layout:])
        database.executescript(f"begin; {steps} pragma user_version = {len(migrations)}; commit;")


def set_aside(file: Path) -> None:
    """Rename a database, and its parts, to names that end in the time."""
    name = f"{file.name}.lost-{time.strftime('%Y-%m-%d-%H%M%S', time.gmtime())}"
    for part in PARTS:
        if os.path.lexists(there := file.with_name(f"{file.name}{part}")):
            there.rename(file.with_name(f"{name}{part}"))


def _folder(typed: str) -> Path:
    try:
        path = Path(typed).expanduser().absolute()
    except RuntimeError as error:  # ~ of an unknown user
        raise HomeError(
            f"the data folder {typed}", "there is no such user", "set RANKING_HOME to a full path"
        ) from error
    if "\0" in typed:
        why = "it contains a NUL character"
        raise HomeError(f"the data folder {typed!r}", why, "set RANKING_HOME to a path without one")
    return path


def move_durably(folder: Path, target: Path) -> None:
    """Rename, and flush the rename to disk before the row that refers to it is written."""
    os.rename(folder, target)
    descriptor = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
