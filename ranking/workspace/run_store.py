"""The runs of a data folder: rows, folders, names, and deleted runs."""

from __future__ import annotations

import contextlib
import json
import secrets
import sqlite3
import string
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

from ranking.core.errors import HomeError, InputError
from ranking.workspace.home import Home, HomeStore
from ranking.workspace.job_queue import JobQueue
from ranking.workspace.room_layout import home_in_words, shared_with
from ranking.workspace.room_quotas import check_disk, check_jobs
from ranking.workspace.row_files import write_row
from ranking.workspace.run import (
    ENDED,
    LAST_TIME,
    VERSION,
    Kind,
    Run,
    State,
    is_run_id,
    task_of,
)
from ranking.workspace.run_names import checked_name
from ranking.workspace.run_rows import (
    UNREADABLE,
    as_run,
    is_unused,
    read_row,
    record_of,
    row_in,
    row_of,
    runs_of,
)

UPDATABLE = ("state", "settings", "result", "reason", "started", "ended", "pid", "cancelled")
DELETED_DAYS = 30  # how long a deleted run can be restored

# The queue for runs of each task: imports do not wait for training runs and studies.
QUEUE, QUEUES = "queue.sqlite", {"images": "imports.sqlite", "features": "imports.sqlite"}

Prepare = Callable[[Path], None]


class RunStore(HomeStore):
    """The runs of a data folder.

    A workspace of a server (`ranking.workspace.rooms`) also has the runs of the data folders that are shared with it.
    Finished runs are listed, all runs can be opened by their ids, and none can be changed.
    """

    @property
    def shared_paths(self) -> list[Path]:
        """The data folders that are shared with this one. Listed each time, because they may be newer than this
        store."""
        return list(shared_with(self.home))

    @property
    def shared_homes(self) -> list[Home]:
        """The shared data folders, opened for reading."""
        return [Home(shared_home, shared=True) for shared_home in self.shared_paths]

    @property
    def homes(self) -> list[Home]:
        """This data folder, then those that are shared with it."""
        return [self._home, *self.shared_homes]

    def queue_of(self, task: str) -> JobQueue:
        """Return the queue for runs of a task."""
        return JobQueue(self.home, QUEUES.get(task, QUEUE))

    # ---------------------------------------------------------------------------------------- rows

    def create_run(
        self, kind: Kind, settings: dict[str, Any], prepare: Prepare | None = None, once: bool = False
    ) -> Run:
        """Create a run in state "queued" with an empty folder, which `prepare` receives before other processes see the
        run.

        once: return a live run of the same kind and settings instead, unless it is cancelled; then `prepare` is not
        called. Checking and creating are one transaction, so only one of two equal calls creates a run.
        """
        if kind not in get_args(Kind):
            raise InputError("kind of a run", f"one of {', '.join(get_args(Kind))}", kind)
        written = json.dumps(settings, allow_nan=False)
        with self._home.change() as database:
            for equal in self.equal_runs(kind, settings) if once else ():
                if equal.state not in ENDED and equal.cancelled is None and equal.alive:
                    return equal
            check_disk(self.home)
            check_jobs(self.home, kind == "import", self._live(kind == "import"))
            row = {"kind": kind, "state": "queued", "settings": written, "created": time.time()}
            run_id = self._insert(database, row, prepare)
            self.queue_of(task_of(kind, settings)).enter(run_id)
        return self.run(run_id)

    def _live(self, importing: bool) -> int:
        """Return how many imports, or other runs, are live."""
        runs = [run for run in self.own_runs() if run.intake == importing]
        return sum(run.state not in ENDED and run.alive for run in runs)

    def _insert(self, database: sqlite3.Connection, row: dict[str, Any], prepare: Prepare | None) -> str:
        run_id = "".join(secrets.choice(string.ascii_lowercase + string.digits) for _ in range(10))
        folder = self._home.runs / run_id
        folder.mkdir()
        try:
            if prepare is not None:
                prepare(folder)
            row = {**row, "version": VERSION}
            columns = ", ".join(row)
            marks = ", ".join(f":{name}" for name in row)
            database.execute(f"insert into run (id, {columns}) values (:id, {marks})", {"id": run_id, **row})
            self._write_row(database, run_id)
        except BaseException:
            self._home.throw_away(folder)
            self._home.empty_trash()
            raise
        return run_id

    def run(self, run_id: str) -> Run:
        """Return the run as it is now; ValueError for an unknown id or a damaged row."""
        if not is_run_id(run_id):
            raise InputError("run", "an id of 10 characters, each a-z or 0-9", f"{run_id[:40]!r}")
        row = row_of(self._home, run_id)
        if row is not None and not row["readable"]:
            raise InputError(f"run {run_id}", "an intact row in the database", UNREADABLE, "start it again")
        if row is not None and row["version"] > VERSION:
            came = f"settings of version {row['version']}, from a newer version of this program"
            raise InputError(f"run {run_id}", f"settings of version {VERSION}", came, "update this program")
        if row is not None:
            return as_run(self._home, row)
        for shared_home in self.shared_homes:
            row = row_of(shared_home, run_id)
            if row is not None and row["readable"] and row["deleted"] is None and row["version"] <= VERSION:
                return as_run(shared_home, row)
        raise InputError(
            "run",
            f"the id of a run in {home_in_words(self.home)}",
            f"{run_id!r}",
            "choose one from the list of runs",
        )

    def own_run(self, run_id: str) -> Run:
        """Return a run that may be changed; ValueError for a shared run, and as in `run`."""
        run = self.run(run_id)
        if run.shared:
            raise InputError(
                f"{run.called} {run_id}",
                "a run of this workspace",
                "a run of the shared workspace, which is read-only",
                "start a run with the same settings in your own workspace",
            )
        return run

    def runs(
        self,
        kind: Kind | None = None,
        set_key: str | None = None,
        deleted: bool = False,
        task: str | None = None,
    ) -> list[Run]:
        """Return all runs, newest first, then shared ones; of one kind, of one image set (trained on it, or the import
        of it), and of one task.

        deleted: return deleted runs that can be restored, instead of the others. Rows that are damaged, or written by a
        newer version of this program, are ignored; `run` raises errors for them.
        """
        homes = [self._home] if deleted else self.homes
        listed = [run for home in homes for run in runs_of(home, kind, set_key, deleted)]
        return [run for run in listed if task is None or run.task == task]

    def own_runs(
        self, kind: Kind | None = None, set_key: str | None = None, deleted: bool = False
    ) -> list[Run]:
        """Return those of `runs` that may be changed."""
        return runs_of(self._home, kind, set_key, deleted)

    def equal_runs(self, kind: Kind, settings: dict[str, Any]) -> list[Run]:
        """Return the runs of a kind with exactly these `settings` (as JSON), newest first, without deleted ones."""
        as_json = json.loads(json.dumps(settings, allow_nan=False))
        return [run for run in self.runs(kind, as_json.get("set")) if run.settings == as_json]

    def update_run(self, run_id: str, **columns: Any) -> None:
        """Update columns of a run (UPDATABLE)."""
        unknown = [name for name in columns if name not in UPDATABLE]
        if unknown or not columns:
            raise InputError(
                "columns of a run", f"some of {', '.join(UPDATABLE)}", ", ".join(unknown) or "none"
            )
        if columns.get("state", "queued") not in get_args(State):
            raise InputError("state of a run", f"one of {', '.join(get_args(State))}", columns["state"])
        for name in {"settings", "result"} & columns.keys():
            columns[name] = json.dumps(columns[name], allow_nan=False)
        self._update(run_id, **columns)

    def _update(self, run_id: str, **columns: Any) -> None:
        self.caught_up(run_id)
        with self._home.change() as database:
            self._change(database, run_id, **columns)

    def _change(self, database: sqlite3.Connection, run_id: str, **columns: Any) -> None:
        assignments = ", ".join(f"{name} = :{name}" for name in columns)
        database.execute(
            f"update run set {assignments}, revision = revision + 1 where id = :id",
            {**columns, "id": run_id},
        )
        self._write_row(database, run_id)

    def caught_up(self, run_id: str) -> Run:
        """Return `own_run`, after replacing its row by the file in its folder if that is newer, which happens when the
        database was restored from a copy. Call this before changing a row, or removing files because of it."""
        with self._home.read() as database:  # nearly always sufficient
            newer = self._newer(database, run_id)
        if newer is not None:
            with self._home.change() as database:
                self._catch_up(database, run_id)
        return self.own_run(run_id)

    def _catch_up(self, database: sqlite3.Connection, run_id: str) -> None:
        newer = self._newer(database, run_id)
        if newer is not None:
            self._replace(database, run_id, newer)

    def _newer(self, database: sqlite3.Connection, run_id: str) -> dict[str, Any] | None:
        """Return the content of the file in a run's folder; None if it cannot be read, or is not newer than the row."""
        with contextlib.suppress(InputError):
            record = read_row(self._home.runs / run_id)
            return record if self._is_newer(database, run_id, record) else None
        return None

    def _is_newer(self, database: sqlite3.Connection, run_id: str, record: dict[str, Any]) -> bool:
        row = row_in(database, run_id)
        if row is None or not row["readable"]:
            return True
        ours = record_of(as_run(self._home, row))
        return record["revision"] >= ours["revision"] and any(ours[name] != record[name] for name in record)

    def _replace(self, database: sqlite3.Connection, run_id: str, record: dict[str, Any]) -> None:
        """Insert the content of a file as the row of a run, or replace the row by it."""
        written = {name: json.dumps(record[name]) for name in ("settings", "result")}
        columns, marks = ", ".join(record), ", ".join(f":{name}" for name in record)
        changes = ", ".join(f"{name} = excluded.{name}" for name in record)
        database.execute(
            f"insert into run (id, {columns}) values (:id, {marks}) on conflict (id) do update set {changes}",
            {"id": run_id, **record, **written},
        )

    def _write_row(self, database: sqlite3.Connection, run_id: str) -> None:
        """Write the row of a run to its folder, from which it is rebuilt if the database is lost.

        If the disk is full only the database has it, and the next `sweep` writes the file; the same holds for numbers
        that JSON does not have."""
        row = row_in(database, run_id)
        if row is not None and row["readable"]:
            with contextlib.suppress(OSError, ValueError):
                write_row(self._home.runs / run_id, record_of(as_run(self._home, row)))

    def end_run(
        self, run_id: str, state: State, reason: str = "", result: dict[str, Any] | None = None
    ) -> bool:
        """Give a run its final state; return False without changing anything if it already has one.

        If the database is lost, the end is written only to the run's folder, from which the row is rebuilt."""
        try:
            changed, row = self._end(run_id, state, reason, result)
        except HomeError as error:
            if error.lost is not None:
                self._record_end(run_id, state, reason, result)
            raise
        if row is not None:  # its worker may take a moment to exit
            self.queue_of(task_of(row["kind"], json.loads(row["settings"]))).leave(run_id)
        return changed

    def _end(
        self, run_id: str, state: State, reason: str, result: dict[str, Any] | None
    ) -> tuple[bool, sqlite3.Row | None]:
        written = None if result is None else json.dumps(result, allow_nan=False)
        with self._home.change() as database:
            self._catch_up(database, run_id)
            changed = database.execute(
                "update run set state = ?, reason = ?, result = coalesce(?, result), revision = revision + 1,"
                " ended = max(?, coalesce(started, created)) where id = ? and state in ('queued', 'running')",
                (state, reason, written, time.time(), run_id),
            ).rowcount
            self._write_row(database, run_id)
            row = database.execute(
                "select kind, case when json_valid(settings) then settings else '{}' end as settings"
                " from run where id = ?",
                (run_id,),
            ).fetchone()
        return changed == 1, row

    def _record_end(self, run_id: str, state: State, reason: str, result: dict[str, Any] | None) -> None:
        """Write to the file in a run's folder how the run ended, unless this is already there."""
        folder = self._home.runs / run_id
        with contextlib.suppress(InputError, OSError, ValueError):
            record = read_row(folder)
            if record["state"] not in ENDED:
                record |= {
                    "state": state,
                    "reason": reason,
                    "result": record["result"] if result is None else result,
                }
                write_row(folder, record | {"ended": time.time(), "revision": record["revision"] + 1})

    # ------------------------------------------------------------------- names, stars and deletion

    def name_run(self, run_id: str, name: str) -> None:
        """Name a run, with at most LONGEST_NAME characters; an empty name removes its name."""
        self._update(run_id, name=checked_name(name))

    def star_run(self, run_id: str, star: bool = True) -> None:
        """Star a run, or unstar it."""
        self._update(run_id, star=bool(star))

    def delete_run(self, run_id: str) -> None:
        """Delete a training run or a study from all lists; `restore_run` restores it within DELETED_DAYS days.

        Repeating it is harmless. ValueError for a running run, and for an import.
        """
        self.caught_up(run_id)
        with self._home.change() as database:
            run = self.own_run(run_id)
            if run.intake:
                raise InputError(
                    f"{run.called} {run_id}",
                    "a training run or a study to delete",
                    run.called,
                    "delete its image set instead",
                )
            if run.state not in ENDED:
                raise InputError(
                    f"{run.called} {run_id}",
                    "a run that has ended",
                    run.state,
                    "cancel it first, then delete it",
                )
            if run.deleted is None:
                self._change(database, run_id, deleted=min(time.time(), LAST_TIME))

    def restore_run(self, run_id: str) -> None:
        """Undo `delete_run`. ValueError if the run was permanently removed."""
        self._update(run_id, deleted=None)

    def empty_deleted(self, task: str | None = None) -> int:
        """Permanently remove all deleted runs, or those of one task, with their files; return their number."""
        with self._home.change() as database:
            removed = self._remove_deleted(database, before=None, task=task)
        self._home.empty_trash()
        return removed

    def _remove_deleted(
        self, database: sqlite3.Connection, before: float | None, task: str | None = None
    ) -> int:
        """Permanently remove the runs that were deleted before a time (None: any), of one task (None: any).

        A run that seems to have been deleted before it was created is kept, because the clock was set back.
        """
        of_task = (
            None if task is None else [run.id for run in self.own_runs(deleted=True) if run.task == task]
        )
        rows = database.execute(
            "delete from run where deleted is not null"
            " and (:ids is null or id in (select value from json_each(:ids)))"
            " and (:before is null or (deleted < :before and deleted >= created)) returning id",
            {"before": before, "ids": None if of_task is None else json.dumps(of_task)},
        ).fetchall()
        for row in rows:
            self._home.throw_away(self._home.runs / row["id"])
        return len(rows)

    def _take_in_runs(self, database: sqlite3.Connection) -> tuple[list[Run], list[InputError]]:
        """Add rows for folders of runs with a valid row file, the oldest first, unless an equally new row exists. Also
        return the errors of other folders without a row."""
        known = {row["id"] for row in database.execute("select id from run")}
        newer, refused = dict[str, dict[str, Any]](), list[InputError]()
        for folder in self._home.runs.iterdir():
            if is_unused(folder):
                continue
            try:
                record = read_row(folder)
            except InputError as error:
                if folder.name not in known:
                    refused.append(error)
                continue
            if self._is_newer(database, folder.name, record):
                newer[folder.name] = record
        ids = sorted(newer, key=lambda run_id: float(newer[run_id]["created"]))
        for run_id in ids:
            self._replace(database, run_id, newer[run_id])
        rows = [database.execute("select * from run where id = ?", (run_id,)).fetchone() for run_id in ids]
        return [as_run(self._home, row) for row in rows], refused
