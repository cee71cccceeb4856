"""The image sets of a data folder: their rows in lists, what imports add, and deleted sets."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ranking.core.errors import InputError
from ranking.core.text import counted
from ranking.workspace import examples
from ranking.workspace.home import Home, move_durably
from ranking.workspace.room_layout import home_in_words, rooms_sharing
from ranking.workspace.room_quotas import bytes_of, check_disk
from ranking.workspace.row_files import ROW, SET_COLUMNS, read_set_row, write_row
from ranking.workspace.run import LAST_TIME, Run
from ranking.workspace.run_store import RunStore

if TYPE_CHECKING:  # what these import would double the time that a worker takes to start
    from ranking.core import ImageSet
    from ranking.datasets import Thumbnails


@dataclass(frozen=True)
class ImageSetRow:
    """The row of an image set in lists, without reading its files.

    deleted: when the user deleted it, in seconds since the epoch; None if not. shared: whether it belongs to a
    shared data folder, which is read-only.
    """

    key: str
    title: str
    source: str
    images: int
    samples: int
    classes: tuple[str, ...]
    created: float
    deleted: float | None = None
    shared: bool = False


class ImageSetStore(RunStore):
    """The image sets of a data folder, next to its runs: see `ranking.workspace.store.Store`."""

    def image_sets(self) -> list[ImageSetRow]:
        """Return the image sets, newest first, then shared ones that are not in this data folder too."""
        rows = {row.key: row for row in _image_sets_of(self._home)}
        for shared_home in self.shared_homes:
            rows = {row.key: row for row in _image_sets_of(shared_home)} | rows
        return sorted(rows.values(), key=lambda row: row.shared)  # stable: shared sets come last

    def deleted_image_sets(self) -> list[ImageSetRow]:
        """Return the deleted image sets of this data folder that can be restored, newest first."""
        return _image_sets_of(self._home, deleted=True)

    def image_set(self, key: str) -> ImageSet:
        """Return the image set with that key; ValueError that lists the existing ones for an unknown key."""
        from ranking.datasets import load_image_set

        return load_image_set(self._set_folder(key))

    def thumbnails(self, key: str) -> Thumbnails:
        """Return the thumbnails of an image set; ValueError that lists the existing ones for an unknown key."""
        from ranking.datasets import Thumbnails

        return Thumbnails(self._set_folder(key))

    def _set_folder(self, key: str) -> Path:
        rows = {row.key: row for row in self.image_sets()}
        if key not in rows:
            there = ", ".join(f"{row.title} ({row.key})" for row in rows.values())
            raise InputError(
                "image set",
                f"the key of one in {home_in_words(self.home)}",
                f"{key[:80]!r}",
                f"choose one of: {there}" if there else "import one",
            )
        homes = self.shared_homes if rows[key].shared else [self._home]
        folder = next((home.sets / key for home in homes if (home.sets / key).is_dir()), None)
        if folder is None:
            example = examples.set_folders().get(key)
            raise InputError(
                f"image set {rows[key].title}",
                f"its files in {home_in_words(self.home)}",
                "none, because they are gone",
                f"copy data/examples/sets/{example.name} there as sets/{key}"
                if example
                else "import it again",
            )
        return folder

    def home_of_set(self, key: str) -> Path:
        """Return the data folder, this one or a shared one, from which `image_set` reads that key; ValueError as
        there."""
        return self._set_folder(key).parents[1]

    def adopt(self, folder: Path, source: str) -> str:
        """Copy the image set that was built in `folder` into this data folder, and return its key.

        `source` is the origin in its row. Repeating it is harmless. ValueError if `folder` contains no image set, or a
        damaged one.
        """
        from ranking.datasets import load_image_set

        image_set = load_image_set(folder)
        with self._home.change() as database:  # this keeps `sweep` of other processes away from the part
            check_disk(self.home)
            self._copy(folder, self._home.sets / image_set.key)
            self._insert_set(database, {**described(image_set), "source": source})
        self._home.empty_trash()
        return image_set.key

    def _copy(self, folder: Path, target: Path) -> None:
        """Copy `folder` to `target` completely; an existing target is not changed."""
        if not target.is_dir():
            part = target.with_name(f"{target.name}.part")
            self._home.throw_away(part)  # left by a crashed process
            try:
                shutil.copytree(folder, part)
            except OSError:  # as on a full disk, whose last bytes the part would keep
                self._home.throw_away(part)
                self._home.empty_trash()
                raise
            move_durably(part, target)

    # ------------------------------------------------------------------------------- a set that was kept, deleted

    def delete_set(self, key: str) -> None:
        """Delete an image set from all lists; `restore_set` restores it within DELETED_DAYS days.

        Repeating it is harmless. ValueError if a run uses it, including deleted runs that can be restored, and runs of
        a workspace that the set is shared with.
        """
        users_elsewhere = [
            len(users)
            for room in rooms_sharing(self.home)
            if (users := ImageSetStore(room)._users_of_shared_set(key))
        ]
        if users_elsewhere:
            raise InputError(
                "image set",
                "one that no run uses",
                f"one used by {counted(sum(users_elsewhere), 'run')} in "
                f"{counted(len(users_elsewhere), 'other workspace')}",
                "it is shared with all workspaces; wait until these runs are permanently deleted",
            )
        with self._home.change() as database:
            users = self.users_of_set(key)
            if users:
                raise InputError(
                    "image set",
                    "one that no run uses",
                    f"one used by {counted(len(users), 'run')}",
                    "delete them and empty the trash first",
                )
            if self._row_of_set(database, key)["deleted"] is None:
                self._mark_deleted(database, key, min(time.time(), LAST_TIME))

    def users_of_set(self, key: str) -> list[Run]:
        """Return the runs that need an image set, including deleted ones that can be restored."""
        runs = self.own_runs(set_key=key) + self.own_runs(set_key=key, deleted=True)
        return [run for run in runs if not run.intake]

    def _users_of_shared_set(self, key: str) -> list[Run]:
        """`users_of_set` of a set that is shared with this data folder; none if it has that set itself."""
        return [] if key in {row.key for row in _image_sets_of(self._home)} else self.users_of_set(key)

    def bytes_of_set(self, key: str) -> int:
        """Return the disk space of an image set and its uploads, in bytes."""
        folders = (self._home.sets, self._home.edges, self._home.vectors)
        return sum(bytes_of(folder / key) for folder in folders)

    def restore_set(self, key: str) -> None:
        """Undo `delete_set`. ValueError if the set was permanently removed."""
        with self._home.change() as database:
            self._row_of_set(database, key)
            self._mark_deleted(database, key, None)

    def empty_deleted_sets(self) -> int:
        """Permanently remove all deleted image sets and their files now; return their number."""
        with self._home.change() as database:
            removed = self._remove_deleted_sets(database, before=None)
        self._home.empty_trash()
        return removed

    def _row_of_set(self, database: sqlite3.Connection, key: str) -> sqlite3.Row:
        row: sqlite3.Row | None = database.execute("select * from image_set where key = ?", (key,)).fetchone()
        if row is None:
            raise InputError(
                "image set",
                f"the key of one in {home_in_words(self.home)}",
                f"{key[:80]!r}",
                "choose one from the list",
            )
        return row

    def _remove_deleted_sets(self, database: sqlite3.Connection, before: float | None) -> int:
        """As `_remove_deleted` of runs. The uploads for a set, and the corrections of its labels, are removed with
        it."""
        rows = database.execute(
            "delete from image_set where deleted is not null"
            " and (:before is null or (deleted < :before and deleted >= created)) returning key",
            {"before": before},
        ).fetchall()
        for row in rows:
            database.execute('delete from correction where "set" = ?', (row["key"],))
            for folder in (self._home.sets, self._home.edges, self._home.vectors):
                self._home.throw_away(folder / row["key"])
        return len(rows)

    # ------------------------------------------------------------------------------------------ the files of imports

    def add_set(self, folder: Path, source: str) -> str:
        """Move the image set that was built in `folder` into this data folder, and return its key.

        Equal keys mean equal sets: if it exists already, missing or damaged files of it are replaced, and if it was
        deleted, it is restored. `source` is the origin in its row. A crash leaves either nothing here or the whole set.
        """
        from ranking.datasets import load_image_set

        image_set = load_image_set(folder)
        with self._home.change() as database:
            target = self._home.sets / image_set.key
            if _files(folder) != _files(target):
                self._home.throw_away(target)
                move_durably(folder, target)
            self._insert_set(database, {**described(image_set), "source": source})
        self._home.throw_away(folder)
        self._home.empty_trash()
        return image_set.key

    def free(self, run: Run) -> None:
        """Remove the large files of an import that cannot finish, and keep those that say how it ended. Changes no row,
        because no row can be written to a full disk."""
        self._home.throw_away(run.draft)
        run.uploaded_file.unlink(missing_ok=True)
        self._home.empty_trash()

    def clear(self, run: Run) -> None:
        """Remove all files of an import: its upload, its draft and its events."""
        self._home.throw_away(run.folder)
        self._home.empty_trash()

    def _insert_set(self, database: sqlite3.Connection, record: Mapping[str, Any]) -> None:
        """Insert the row of an image set, unless its key exists; this also restores a deleted one."""
        names = ("key", "title", "source", "images", "samples", "classes")
        database.execute(
            f"insert or ignore into image_set ({', '.join(names)}, created, revision)"
            " values (:key, :title, :source, :images, :samples, :classes, :created, :revision)",
            {
                **{name: record[name] for name in names},
                "classes": json.dumps(list(record["classes"])),
                "created": record.get("created", time.time()),
                "revision": record.get("revision", 0),
            },
        )
        self._mark_deleted(database, record["key"], None, record["source"])

    def _mark_deleted(
        self, database: sqlite3.Connection, key: str, when: float | None, source: str = ""
    ) -> None:
        """Mark an image set as deleted, or not, in the database and in its file: see `_write_row`.

        source: its origin, which is stored if it was unknown."""
        self._catch_up_set(database, key)
        database.execute(
            "update image_set set deleted = ?, source = case source when '' then ? else source end,"
            " revision = revision + 1 where key = ?",
            (when, source, key),
        )
        self._write_set_row(database, key)

    def _catch_up_set(self, database: sqlite3.Connection, key: str) -> None:
        """As `_catch_up` of runs."""
        if (record := read_set_row(self._home.sets / key)) is not None:
            database.execute(
                "update image_set set source = :source, created = :created, deleted = :deleted, revision = :revision"
                " where key = :key and revision <= :revision",
                {"key": key, **record},
            )

    def _write_set_row(self, database: sqlite3.Connection, key: str) -> None:
        row = database.execute("select * from image_set where key = ?", (key,)).fetchone()
        with contextlib.suppress(OSError, ValueError):
            write_row(self._home.sets / key, {name: row[name] for name in SET_COLUMNS})


def described(image_set: ImageSet) -> dict[str, Any]:
    """Return the row of an image set except its source."""
    return {
        "key": image_set.key,
        "title": image_set.title,
        "classes": image_set.classes,
        "images": len(image_set.image_names),
        "samples": len(image_set),
    }


def _files(folder: Path) -> dict[str, int]:
    """Return the files of an image set with their sizes in bytes, without its row file; none without a folder."""
    return {
        str(path.relative_to(folder)): path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and path.name != ROW
    }


def _image_sets_of(home: Home, deleted: bool = False) -> list[ImageSetRow]:
    """Return the rows of the image sets in a data folder, newest first: the deleted ones, or the others."""
    with home.read() as database:
        rows = database.execute(
            "select * from image_set where (deleted is not null) = ? order by number desc", (deleted,)
        ).fetchall()
    names = [field.name for field in fields(ImageSetRow) if field.name not in ("classes", "shared")]
    return [
        ImageSetRow(
            **{name: row[name] for name in names},
            classes=tuple(json.loads(row["classes"])),
            shared=home.shared,
        )
        for row in rows
    ]
