"""Persistent storage of image sets and runs in a data folder that several processes can use."""

from __future__ import annotations

import shutil
import sqlite3
import time
from pathlib import Path
from typing import Any, NamedTuple

from ranking.core.errors import InputError
from ranking.workspace import examples
from ranking.workspace.image_set_store import ImageSetRow, described
from ranking.workspace.row_files import read_run_row, read_set_row
from ranking.workspace.run import Run, is_run_id
from ranking.workspace.run_rows import READABLE, UNREADABLE, is_unused
from ranking.workspace.run_store import DELETED_DAYS
from ranking.workspace.upload_store import UploadStore

__all__ = ["ImageSetRow", "Store", "TakenIn"]


class TakenIn(NamedTuple):
    """What a data folder contained that its database did not: the titles of image sets and the runs that are listed
    from now on, and errors for the others."""

    sets: tuple[str, ...]
    runs: tuple[Run, ...]
    refused: tuple[str, ...]


class Store(UploadStore):
    """Everything that is stored under `home`: $RANKING_HOME, else ~/.local/share/ranking-laboratory, if None.

    Its parts are the runs (`ranking.workspace.run_store`), the image sets (`image_set_store`), and the features and
    uploads for them (`upload_store`). Other data folders can be shared with a workspace: see `RunStore`. Raises
    ranking.core.errors.HomeError, an OSError, if the folder cannot be written, or a workspace is full.
    """

    def sweep(self) -> None:
        """Finish or remove what crashes have left; what a live run or the user still needs is kept.

        Files are moved inside write transactions only, so this never sees half of another process's step.
        """
        with self._home.change() as database:
            database.execute(
                "update run set state = 'failed', reason = ?, ended = coalesce(ended, created)"
                f" where state in ('queued', 'running') and not {READABLE}",
                (UNREADABLE,),
            )
            self._remove_deleted(database, before=time.time() - DELETED_DAYS * 86400)
            self._remove_deleted_sets(database, before=time.time() - DELETED_DAYS * 86400)
            database.execute("delete from answer where deleted < ?", (time.time() - DELETED_DAYS * 86400,))
            runs = {run.id: run for run in self.own_runs()}
            for run in (*runs.values(), *self.own_runs(deleted=True)):
                self._write_row(database, run.id)
            known_ids = {row["id"] for row in database.execute("select id from run")}
            for folder in self._home.runs.iterdir():
                if folder.name not in known_ids and is_unused(folder):
                    self._home.throw_away(folder)
            for run in runs.values():
                if run.intake and run.state in ("failed", "cancelled"):
                    self._home.throw_away(run.folder)
            if not any(run.alive for run in runs.values()):
                for half_written in self.features.glob("*.part"):
                    half_written.unlink()
            for folder in (self._home.edges, self._home.vectors, self._home.models):
                for half_written in folder.rglob("*.part"):
                    half_written.unlink()
            for row in database.execute("select key from image_set").fetchall():
                self._write_set_row(database, row["key"])
            for folder in self._home.sets.glob("*.part"):  # a copy that `adopt` did not finish
                self._home.throw_away(folder)
        self._home.empty_trash()

    def adopt_examples(self) -> None:
        """Copy the bundled examples (`ranking.workspace.examples`) that this data folder has never had into it.

        Examples that the user deletes do not return, because the data folder records them. Runs are listed below all
        existing ones.
        """
        from ranking.datasets import load_image_set

        file = self._home.path / examples.HAD
        offered = {**examples.set_folders(), **examples.run_folders()}
        if offered.keys() <= _lines(file):
            return
        with self._home.change() as database:
            had = _lines(file)
            new = {name: folder for name, folder in offered.items() if name not in had}
            rows = {name: read_run_row(new[name]) for name in new if is_run_id(name)}
            for key in (name for name in new if name not in rows):
                self._copy(new[key], self._home.sets / key)
                row = read_set_row(new[key]) or _row_without_file(new[key])
                self._insert_set(database, {**described(load_image_set(new[key])), **row})
            for run_id in sorted(rows, key=lambda run_id: float(rows[run_id]["created"]), reverse=True):
                self._copy(new[run_id], self._home.runs / run_id)
                self._replace(database, run_id, rows[run_id])
                database.execute(
                    "update run set number = (select min(number) from run) - 1 where id = ?", (run_id,)
                )
            for folder in examples.other_folders():
                shutil.copytree(folder, self._home.path / folder.name, dirs_exist_ok=True)
            file.write_text("\n".join(sorted(had | new.keys())))
        self._home.empty_trash()

    def take_in(self) -> TakenIn:
        """Add or replace the row of each folder of an image set or a run that has no row in the database, or an older
        one.

        This happens when the database was restored from a copy, or created anew. Unreadable folders are not changed.
        """
        with self._home.change() as database:
            runs, refused = self._take_in_runs(database)
            sets, refused_sets = self._take_in_sets(database)
        return TakenIn(tuple(sets), tuple(runs), tuple(map(str, (*refused_sets, *refused))))

    def _take_in_sets(self, database: sqlite3.Connection) -> tuple[list[str], list[InputError]]:
        """Return the titles of the image sets that have a row now, and errors for others."""
        from ranking.datasets import load_image_set

        known = {row["key"] for row in database.execute("select key from image_set")}
        for key in known:
            self._catch_up_set(database, key)
        records, refused = list[dict[str, Any]](), list[InputError]()
        for folder in self._home.sets.iterdir():
            if folder.name in known or folder.suffix == ".part":
                continue
            try:
                record = {
                    **described(load_image_set(folder)),
                    **(read_set_row(folder) or _row_without_file(folder)),
                }
                if record["key"] != folder.name:
                    raise InputError(
                        f"folder {folder.name}",
                        f"the name {record['key']}, the key of the image set in it",
                        remedy="rename the folder",
                    )
                records.append(record)
            except InputError as error:
                refused.append(error)
        for record in sorted(records, key=lambda record: float(record["created"])):
            self._insert_set(database, record)
            self._mark_deleted(database, record["key"], record["deleted"])
        return [record["title"] for record in records], refused


def _lines(file: Path) -> set[str]:
    """Return the lines of a file; none if it does not exist."""
    return set(file.read_text().split()) if file.is_file() else set()


def _row_without_file(folder: Path) -> dict[str, Any]:
    """Return the row of an image set without a row file; the source is "" if it is unknown."""
    return {"source": "", "created": folder.stat().st_mtime, "deleted": None, "revision": 0}
