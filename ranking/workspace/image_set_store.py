"""The image sets of a home: what lists show of them, an import as a transaction, and sets that were deleted."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ranking.core.errors import InputError
from ranking.core.run_settings import LookSettings
from ranking.core.text import counted
from ranking.workspace import examples
from ranking.workspace.home import Home, move_durably
from ranking.workspace.room_layout import borrowers_of, home_in_words
from ranking.workspace.room_quotas import bytes_of, check_disk
from ranking.workspace.row_files import ROW, SET_COLUMNS, read_set_row, write_row
from ranking.workspace.run import LAST_TIME, Run, is_set_key
from ranking.workspace.run_store import RunStore

if TYPE_CHECKING:  # what these import would double the time that a worker takes to start
    from ranking.core import ImageSet
    from ranking.datasets import Thumbnails


@dataclass(frozen=True)
class ImageSetRow:
    """What a list of image sets shows of one, without reading its files.

    deleted: when a person took it away, in seconds since the epoch; None where nobody did. lent: whether it is another
    home's, which lends it to look at.
    """

    key: str
    title: str
    source: str
    images: int
    samples: int
    classes: tuple[str, ...]
    created: float
    deleted: float | None = None
    lent: bool = False


class ImageSetStore(RunStore):
    """The image sets under a home, beside its runs: see `ranking.workspace.store.Store`."""

    def image_sets(self) -> list[ImageSetRow]:
        """The image sets that were kept, newest first, then those that are lent and not of this home too."""
        rows = {row.key: row for row in _image_sets_of(self._home)}
        for lender in self.lent_homes:
            rows = {row.key: row for row in _image_sets_of(lender)} | rows
        return sorted(rows.values(), key=lambda row: row.lent)  # stable: what is lent comes last

    def deleted_image_sets(self) -> list[ImageSetRow]:
        """The image sets of this home that were taken away and can be restored, newest first."""
        return _image_sets_of(self._home, deleted=True)

    def image_set(self, key: str) -> ImageSet:
        """The image set of that key; ValueError that says which there are if there is none."""
        from ranking.datasets import load_image_set

        return load_image_set(self._set_folder(key))

    def thumbnails(self, key: str) -> Thumbnails:
        """The small pictures of an image set; ValueError that says which sets there are if there is none."""
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
        homes = self.lent_homes if rows[key].lent else [self._home]
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
        """The home, this one or a lender's, whose image set of that key `image_set` reads; ValueError as there."""
        return self._set_folder(key).parents[1]

    def adopt(self, folder: Path, source: str) -> str:
        """Make a copy of the image set that was built in `folder` one of this home, and return its key.

        `source` is what its row says it came from. Repeating it is harmless. ValueError where `folder` holds no
        image set or a damaged one.
        """
        from ranking.datasets import load_image_set

        image_set = load_image_set(folder)
        with self._home.change() as database:  # which keeps `sweep` of other processes away from the part
            check_disk(self.home)
            self._copy(folder, self._home.sets / image_set.key)
            self._insert_set(database, {**described(image_set), "source": source})
        self._home.empty_trash()
        return image_set.key

    def _copy(self, folder: Path, target: Path) -> None:
        """Have `target` be a copy of `folder`, whole; it stays as it is where it is there."""
        if not target.is_dir():
            part = target.with_name(f"{target.name}.part")
            self._home.throw_away(part)  # of one that crashed
            try:
                shutil.copytree(folder, part)
            except OSError:  # as on a full disk, of which it would keep the last bytes
                self._home.throw_away(part)
                self._home.empty_trash()
                raise
            move_durably(part, target)

    # ------------------------------------------------------------------------------- a set that was kept, deleted

    def delete_set(self, key: str) -> None:
        """Take an image set out of all lists; `restore_set` brings it back within DELETED_DAYS days.

        Repeating it is harmless. ValueError where a run uses it, also one that was deleted and can be restored, or one
        of a room that the set is lent to.
        """
        borrowed = [
            len(users)
            for room in borrowers_of(self.home)
            if (users := ImageSetStore(room)._users_of_lent_set(key))
        ]
        if borrowed:
            raise InputError(
                "image set",
                "one that no run uses",
                f"one that {counted(sum(borrowed), 'run')} in {counted(len(borrowed), 'room')} of others used",
                "it is lent to all rooms: wait until these runs are deleted permanently",
            )
        with self._home.change() as database:
            users = self.users_of_set(key)
            if users:
                raise InputError(
                    "image set",
                    "one that no run uses",
                    f"one of {counted(len(users), 'run')}",
                    "delete them and empty the list of deleted ones first",
                )
            if self._row_of_set(database, key)["deleted"] is None:
                self._mark_deleted(database, key, min(time.time(), LAST_TIME))

    def users_of_set(self, key: str) -> list[Run]:
        """The runs that need an image set, those among them that were deleted and can be restored."""
        runs = self.own_runs(set_key=key) + self.own_runs(set_key=key, deleted=True)
        return [run for run in runs if not run.intake]

    def _users_of_lent_set(self, key: str) -> list[Run]:
        """`users_of_set` of one that is lent to this home; none where it has that set itself."""
        return [] if key in {row.key for row in _image_sets_of(self._home)} else self.users_of_set(key)

    def bytes_of_set(self, key: str) -> int:
        """What an image set of this home takes of the disk, with what people uploaded for it."""
        folders = (self._home.sets, self._home.edges, self._home.vectors)
        return sum(bytes_of(folder / key) for folder in folders)

    def restore_set(self, key: str) -> None:
        """Undo `delete_set`. ValueError where the set is gone for good."""
        with self._home.change() as database:
            self._row_of_set(database, key)
            self._mark_deleted(database, key, None)

    def empty_deleted_sets(self) -> int:
        """Remove all image sets that were taken away, and their files, for good, at once; how many there were."""
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
        """As `_remove_deleted` of runs. What people uploaded for a set, and their corrections of its labels, go with
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

    # --------------------------------------------------------------------------------- an import is a transaction

    def keep(self, run_id: str, copies_together: bool | None = None) -> str:
        """Make the draft of a finished import an image set, and return its key. Repeating it is harmless.

        copies_together: whether near copies are kept on one side of the split, as the import proposes by default.

        It takes no more of the disk than the draft does, which a room had space for when the import ended: however
        full it is by now, an import that has finished can be kept.
        """
        self.caught_up(run_id)
        with self._home.change() as database:
            run = self._decidable(run_id, "kept", "images")
            if copies_together is not None:
                run = self._with_copies(database, run, copies_together)
            key = self._admit(database, run)
        run.uploaded_file.unlink(missing_ok=True)
        self._home.empty_trash()
        return key

    def discard(self, run_id: str) -> None:
        """Remove what a finished import has built, or what a look has found, also one at features. Repeating it is
        harmless."""
        self.caught_up(run_id)
        with self._home.change() as database:
            run = self._decidable(run_id, "discarded")
            self._decide(database, run, "discarded")
        self.clear(run)

    def free(self, run: Run) -> None:
        """Remove what takes space of an import that will not finish, and leave what tells how it ended. It changes no
        row, which on a full disk nothing could do before."""
        for folder in (run.draft, run.scratch):
            self._home.throw_away(folder)
        for file in (run.uploaded_file, run.draft_vectors):
            file.unlink(missing_ok=True)
        self._home.empty_trash()

    def clear(self, run: Run) -> None:
        """Remove all files of an import: what was uploaded, what it has built and its events."""
        self._home.throw_away(run.folder)
        self._home.empty_trash()

    def _decidable(self, run_id: str, decision: str, task: str | None = None) -> Run:
        """The import that a person decides about; ValueError unless it is of the task, None: of any."""
        run = self.own_run(run_id)
        if task is not None and run.task == LookSettings.task and run.state == "finished":
            raise InputError(
                f"run {run_id}",
                "an import that built an image set",
                "a look at what was uploaded",
                "import it, then keep it",
            )
        if not run.intake or run.state != "finished" or task not in (None, run.task):
            raise InputError(
                f"run {run_id}", f"a finished import to be {decision}", f"a {run.state} {run.called}"
            )
        if run.result.get("decision", decision) != decision:
            raise InputError(
                f"decision about {run.called} {run_id}",
                decision,
                str(run.result["decision"]),
                "import it again",
            )
        return run

    def _with_copies(self, database: sqlite3.Connection, run: Run, together: bool) -> Run:
        """Have the draft of `run` keep near copies on one side of the split, or not: an image set of another key."""
        from ranking.datasets.found_copies import keep_together

        if not run.draft.is_dir():
            return run
        result = {**run.result, "key": keep_together(run.draft, together).key}
        database.execute("update run set result = ? where id = ?", (json.dumps(result), run.id))
        return replace(run, result=result)

    def _admit(self, database: sqlite3.Connection, run: Run) -> str:
        """Move the draft of `run` among the sets and insert its row.

        A crash after the move and before the commit leaves the folder without its row: the next `keep` or
        `sweep` finds it in place and goes on from there.
        """
        result = run.result
        key = str(result["key"])
        if not is_set_key(key):
            raise InputError("key of an image set", "8 to 128 letters and digits", f"{key[:140]!r}")
        target = self._home.sets / key
        if run.draft.is_dir() and _files(run.draft) != _files(target):
            self._home.throw_away(
                target
            )  # equal keys are equal sets, so files are missing there, or cut short
            move_durably(run.draft, target)
        elif target.is_dir():
            self._home.throw_away(run.draft)
        else:
            raise InputError(
                f"import {run.id}",
                f"its files in {run.draft}",
                "none, because they are gone",
                "import it again",
            )
        self._insert_set(database, {**result, "source": run.settings["source"]})
        self._decide(database, run, "kept")
        return key

    def _decide(self, database: sqlite3.Connection, run: Run, decision: str) -> None:
        result = json.dumps({**run.result, "decision": decision})
        self._change(database, run.id, result=result)

    def _insert_set(self, database: sqlite3.Connection, record: Mapping[str, Any]) -> None:
        """The row of an image set, unless there is one of its key; one that was taken away is back with it."""
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
        """Have an image set be taken away, or not, in the database and beside its files: see `_write_row`.

        source: where it came from, which is noted where nobody knew it."""
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
    """What the row of an image set tells of it, but for its source."""
    return {
        "key": image_set.key,
        "title": image_set.title,
        "classes": image_set.classes,
        "images": len(image_set.image_names),
        "samples": len(image_set),
    }


def _files(folder: Path) -> dict[str, int]:
    """The files of an image set with their sizes in bytes, but for its row's; none where there is no folder."""
    return {
        str(path.relative_to(folder)): path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and path.name != ROW
    }


def _image_sets_of(home: Home, deleted: bool = False) -> list[ImageSetRow]:
    """The rows of the image sets in a home, newest first: those that were taken away, or the others."""
    with home.read() as database:
        rows = database.execute(
            "select * from image_set where (deleted is not null) = ? order by number desc", (deleted,)
        ).fetchall()
    names = [field.name for field in fields(ImageSetRow) if field.name not in ("classes", "lent")]
    return [
        ImageSetRow(
            **{name: row[name] for name in names},
            classes=tuple(json.loads(row["classes"])),
            lent=home.lent,
        )
        for row in rows
    ]
