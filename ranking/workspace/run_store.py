"""The runs of a home: their rows and folders, what people call them, and what was deleted."""

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
from ranking.workspace.room_layout import home_in_words, lenders_of
from ranking.workspace.room_quotas import check_disk, check_jobs
from ranking.workspace.row_files import write_row
from ranking.workspace.run import (
    ENDED,
    LAST_TIME,
    TRAVELS,
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

# Where runs of a task wait for their turn: imports do not wait for trainings and studies, nor looks at uploads for
# imports, which may take an hour each.
QUEUE, QUEUES = (
    "queue.sqlite",
    {"images": "imports.sqlite", "look": "looks.sqlite", "features": "looks.sqlite"},
)

Prepare = Callable[[Path], None]


class RunStore(HomeStore):
    """The runs of a home.

    A room of a server (`ranking.workspace.rooms`) is lent those of other homes: the finished ones are listed and all
    are found as its own are, and none can be changed.
    """

    @property
    def lenders(self) -> list[Path]:
        """The homes whose sets and runs this one is lent. Listed each time: a store may be older than a lender."""
        return list(lenders_of(self.home))

    @property
    def lent_homes(self) -> list[Home]:
        """`lenders`, opened to be read."""
        return [Home(lender, lent=True) for lender in self.lenders]

    @property
    def homes(self) -> list[Home]:
        """This home, then those that lend to it."""
        return [self._home, *self.lent_homes]

    def queue_of(self, task: str) -> JobQueue:
        """The queue that a run of a task stands in."""
        return JobQueue(self.home, QUEUES.get(task, QUEUE))

    # ---------------------------------------------------------------------------------------- rows

    def create_run(
        self, kind: Kind, settings: dict[str, Any], prepare: Prepare | None = None, once: bool = False
    ) -> Run:
        """A new run in state "queued" with its empty folder, which `prepare` sees before anyone else can.

        once: where a live run of the same kind and settings is not asked to stop, that one instead; nothing is
        prepared then. Looking and creating are one transaction, so of two equal calls one creates.
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

    def admit_run(self, run: Run, prepare: Prepare) -> Run:
        """A new run that ended elsewhere as `run` says (its id, folder and worker excepted); `prepare` fills its
        folder. All of it is there afterwards, or nothing."""
        if run.state not in ENDED:
            raise InputError("run to admit", "one that has ended", run.state)
        row = {name: getattr(run, name) for name in TRAVELS} | {"name": checked_name(run.name)}
        for name in ("settings", "result"):
            row[name] = json.dumps(row[name], allow_nan=False)
        with self._home.change() as database:
            check_disk(self.home)
            run_id = self._insert(database, row, prepare)
        return self.run(run_id)

    def _live(self, importing: bool) -> int:
        """How many imports, or other runs, are live."""
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
        """The run as it stands now; ValueError if there is none of that id, or its row is damaged."""
        if not is_run_id(run_id):
            raise InputError("run", "an id of 10 letters a-z and digits", f"{run_id[:40]!r}")
        row = row_of(self._home, run_id)
        if row is not None and not row["readable"]:
            raise InputError(f"run {run_id}", "an intact row in the database", UNREADABLE, "start it again")
        if row is not None and row["version"] > VERSION:
            came = f"settings of version {row['version']}, from a newer version of this program"
            raise InputError(f"run {run_id}", f"settings of version {VERSION}", came, "update this program")
        if row is not None:
            return as_run(self._home, row)
        for lender in self.lent_homes:
            row = row_of(lender, run_id)
            if row is not None and row["readable"] and row["deleted"] is None and row["version"] <= VERSION:
                return as_run(lender, row)
        raise InputError(
            "run",
            f"the id of a run in {home_in_words(self.home)}",
            f"{run_id!r}",
            "choose one from the list of runs",
        )

    def own_run(self, run_id: str) -> Run:
        """The run, to be changed; ValueError where it is lent, and where `run` has one."""
        run = self.run(run_id)
        if run.lent:
            raise InputError(
                f"{run.called} {run_id}",
                "a run of this room",
                "one of the class room, which is read-only here",
                "start one with its settings to have it in your own room",
            )
        return run

    def runs(
        self,
        kind: Kind | None = None,
        set_key: str | None = None,
        deleted: bool = False,
        task: str | None = None,
    ) -> list[Run]:
        """All runs, newest first, and then what is lent; of one kind, of one image set (trained on it, or imported
        it), and of one task.

        deleted: those that were deleted and can be restored, instead of the others. Rows that are damaged, or written
        by a newer version of this program, are passed over; `run` says of each what it is.
        """
        homes = [self._home] if deleted else self.homes
        listed = [run for home in homes for run in runs_of(home, kind, set_key, deleted)]
        return [run for run in listed if task is None or run.task == task]

    def own_runs(
        self, kind: Kind | None = None, set_key: str | None = None, deleted: bool = False
    ) -> list[Run]:
        """Those of `runs` that can be changed."""
        return runs_of(self._home, kind, set_key, deleted)

    def equal_runs(self, kind: Kind, settings: dict[str, Any]) -> list[Run]:
        """The runs of a kind that were asked for exactly `settings`, as JSON says them; newest first, none deleted."""
        as_json = json.loads(json.dumps(settings, allow_nan=False))
        return [run for run in self.runs(kind, as_json.get("set")) if run.settings == as_json]

    def update_run(self, run_id: str, **columns: Any) -> None:
        """Write some of a run's columns (UPDATABLE)."""
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
        """`own_run`, after its row was replaced by the file beside its files where that is newer: the database was put
        back from a copy since. Whoever changes a row, or removes files for what it tells, asks for this first."""
        with self._home.read() as database:  # nearly always all that is needed
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
        """What the file beside a run's files tells; None where it cannot be read, or the row is as new."""
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
        """Have the row of a run, which there may be or not, be what a file tells."""
        written = {name: json.dumps(record[name]) for name in ("settings", "result")}
        columns, marks = ", ".join(record), ", ".join(f":{name}" for name in record)
        changes = ", ".join(f"{name} = excluded.{name}" for name in record)
        database.execute(
            f"insert into run (id, {columns}) values (:id, {marks}) on conflict (id) do update set {changes}",
            {"id": run_id, **record, **written},
        )

    def _write_row(self, database: sqlite3.Connection, run_id: str) -> None:
        """Have a run's folder hold its row too, from which it is made again where the database is lost.

        On a full disk the database alone has it, and the next `sweep` writes it; so it is where a number is none that
        JSON has."""
        row = row_in(database, run_id)
        if row is not None and row["readable"]:
            with contextlib.suppress(OSError, ValueError):
                write_row(self._home.runs / run_id, record_of(as_run(self._home, row)))

    def end_run(
        self, run_id: str, state: State, reason: str = "", result: dict[str, Any] | None = None
    ) -> bool:
        """Give a run its final state; False, and nothing changes, where it already has one.

        Where the database is lost the end is written to the run's folder alone, from which the row is made again."""
        try:
            changed, row = self._end(run_id, state, reason, result)
        except HomeError as error:
            if error.lost is not None:
                self._record_end(run_id, state, reason, result)
            raise
        if row is not None:  # its worker may take a moment to end
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
        """Have the file beside a run's files tell how it ended, unless it tells that already."""
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

    # ------------------------------------------------------------------- what people call and delete

    def name_run(self, run_id: str, name: str) -> None:
        """Call a run `name`, at most LONGEST_NAME characters; an empty name takes its name away."""
        self._update(run_id, name=checked_name(name))

    def star_run(self, run_id: str, star: bool = True) -> None:
        """Give a run a star, or take it away."""
        self._update(run_id, star=bool(star))

    def delete_run(self, run_id: str) -> None:
        """Take a training or a study out of all lists; `restore_run` brings it back within DELETED_DAYS days.

        Repeating it is harmless. ValueError for one that goes on, and for an import.
        """
        self.caught_up(run_id)
        with self._home.change() as database:
            run = self.own_run(run_id)
            if run.intake:
                raise InputError(
                    f"{run.called} {run_id}",
                    "a training run or a study to delete",
                    run.called,
                    "keep or discard it instead",
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
        """Undo `delete_run`. ValueError where the run is gone for good."""
        self._update(run_id, deleted=None)

    def empty_deleted(self, task: str | None = None) -> int:
        """Remove all deleted runs, or those of one task, and their files for good, at once; how many there were."""
        with self._home.change() as database:
            removed = self._remove_deleted(database, before=None, task=task)
        self._home.empty_trash()
        return removed

    def _remove_deleted(
        self, database: sqlite3.Connection, before: float | None, task: str | None = None
    ) -> int:
        """Remove the runs that were deleted before that time, None: whenever; of one task, None: of any.

        A run that seems to have been deleted before it was made met a clock that had gone back, and is kept.
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
        """Give the folders of runs that tell what they are a row, the oldest first, unless they have one as new;
        and why others that have none do not tell."""
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
