"""What outlives a page: image sets and runs, under one home folder that several processes may use at once."""

from __future__ import annotations

import json
import re
import secrets
import sqlite3
import string
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from ranking.home import Home, move_durably
from ranking.run import ENDED, Kind, Run, State

if TYPE_CHECKING:  # what these import would double the time that a worker takes to start
    from ranking.datasets import Thumbnails
    from ranking.types import ImageSet

__all__ = ["ENDED", "ImageSetRow", "Kind", "Run", "State", "Store"]

UPDATABLE = ("state", "settings", "result", "reason", "started", "ended", "pid", "cancelled")
# Other rows than these were damaged by another hand; json_extract would refuse them, and with them the rest.
READABLE = """case when json_valid(settings) and json_valid(result)
    then json_type(settings) = 'object' and json_type(result) = 'object' else 0 end"""
UNREADABLE = "its settings cannot be read"


@dataclass(frozen=True)
class ImageSetRow:
    """What a list of image sets shows of one, without reading its files."""

    key: str
    title: str
    source: str
    images: int
    samples: int
    classes: tuple[str, ...]
    created: float


class Store:
    """Image sets and runs under `home`: $RANKING_HOME, else ~/.local/share/ranking-laboratory, if None.

    Raises ranking.home.HomeError, an OSError, where the folder cannot be written.
    """

    def __init__(self, home: Path | str | None = None) -> None:
        self._home = Home(home)
        self.home = self._home.path
        self.features = self._home.features

    # -------------------------------------------------------------------------------------------- runs

    def create_run(
        self,
        kind: Kind,
        settings: dict[str, Any],
        prepare: Callable[[Path], None] | None = None,
        once: bool = False,
    ) -> Run:
        """A new run in state "queued" with its empty folder, which `prepare` sees before anyone else can.

        once: where a live run of the same kind and settings is not asked to stop, that one instead; nothing is
        prepared then. Looking and creating are one transaction, so of two equal calls one creates.
        """
        if kind not in get_args(Kind):
            raise ValueError(f"no run is of kind {kind!r}; choose one of: {', '.join(get_args(Kind))}")
        run_id = "".join(secrets.choice(string.ascii_lowercase + string.digits) for _ in range(10))
        written = json.dumps(settings, allow_nan=False)
        with self._home.change() as database:
            equal = self._live_equal(database, kind, json.loads(written)) if once else None
            if equal is not None:
                return equal
            folder = self._home.runs / run_id
            folder.mkdir()
            if prepare is not None:
                prepare(folder)
            database.execute(
                "insert into run (id, kind, state, settings, created) values (?, ?, 'queued', ?, ?)",
                (run_id, kind, written, time.time()),
            )
        return self.run(run_id)

    def _live_equal(self, database: sqlite3.Connection, kind: Kind, settings: dict[str, Any]) -> Run | None:
        rows = database.execute(
            "select * from run where kind = ? and state in ('queued', 'running') and cancelled is null"
            f" and {READABLE} order by number desc",
            (kind,),
        )
        equal = (run for run in map(self._as_run, rows) if run.settings == settings and run.alive)
        return next(equal, None)

    def run(self, run_id: str) -> Run:
        """The run as it stands now; ValueError if there is none of that id, or its row is damaged."""
        if not re.fullmatch(r"[a-z0-9]{10}", run_id):
            raise ValueError(f"{run_id[:40]!r} is not the id of a run: expected 10 letters a-z and digits")
        with self._home.read() as database:
            row = database.execute(
                f"select *, {READABLE} as readable from run where id = ?", (run_id,)
            ).fetchone()
        if row is None:
            raise ValueError(f"there is no run {run_id!r} in {self.home}; choose one from the list of runs")
        if not row["readable"]:
            raise ValueError(f"run {run_id} has failed: {UNREADABLE}; start it again")
        return self._as_run(row)

    def runs(self, kind: Kind | None = None, set_key: str | None = None) -> list[Run]:
        """All runs, newest first; of one kind, and of one image set (trained on it, or imported it).

        Rows that are damaged are passed over; `run` tells of each that its settings cannot be read.
        """
        with self._home.read() as database:
            rows = database.execute(
                f"select * from run where (:kind is null or kind = :kind) and case when not {READABLE} then 0"
                " else :key is null or json_extract(settings, '$.set') = :key"
                " or json_extract(result, '$.key') = :key end order by number desc",
                {"kind": kind, "key": set_key},
            ).fetchall()
        return [self._as_run(row) for row in rows]

    def update_run(self, run_id: str, **columns: Any) -> None:
        """Write some of a run's columns (UPDATABLE)."""
        unknown = [name for name in columns if name not in UPDATABLE]
        if unknown or not columns:
            raise ValueError(f"cannot update {unknown or 'nothing'} of a run; choose among {UPDATABLE}")
        if columns.get("state", "queued") not in get_args(State):
            raise ValueError(f"no state is called {columns['state']!r}; valid: {', '.join(get_args(State))}")
        for name in {"settings", "result"} & columns.keys():
            columns[name] = json.dumps(columns[name], allow_nan=False)
        assignments = ", ".join(f"{name} = :{name}" for name in columns)
        self.run(run_id)
        with self._home.change() as database:
            database.execute(f"update run set {assignments} where id = :id", {**columns, "id": run_id})

    def end_run(
        self, run_id: str, state: State, reason: str = "", result: dict[str, Any] | None = None
    ) -> bool:
        """Give a run its final state; False, and nothing changes, where it already has one."""
        written = None if result is None else json.dumps(result, allow_nan=False)
        with self._home.change() as database:
            changed = database.execute(
                "update run set state = ?, reason = ?, result = coalesce(?, result),"
                " ended = max(?, coalesce(started, created)) where id = ? and state in ('queued', 'running')",
                (state, reason, written, time.time(), run_id),
            ).rowcount
        return changed == 1

    # -------------------------------------------------------------------------------------- image sets

    def image_sets(self) -> list[ImageSetRow]:
        """The image sets that were kept, newest first."""
        with self._home.read() as database:
            rows = database.execute("select * from image_set order by number desc").fetchall()
        return [_as_image_set_row(row) for row in rows]

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
            there = ", ".join(f"{row.title} ({row.key})" for row in rows.values()) or "none yet, import one"
            raise ValueError(f"there is no image set {key[:80]!r} in {self.home}; there are: {there}")
        folder = self._home.sets / key
        if not folder.is_dir():
            raise ValueError(f"the files of {rows[key].title} are gone from {folder}; import it again")
        return folder

    # ----------------------------------------------------------------------- an import is a transaction

    def keep(self, run_id: str) -> str:
        """Make the draft of a finished import an image set, and return its key. Repeating it is harmless."""
        with self._home.change() as database:
            key = self._admit(database, self._decidable(run_id, "kept"))
        self._home.empty_trash()
        return key

    def discard(self, run_id: str) -> None:
        """Remove the draft of a finished import. Repeating it is harmless."""
        with self._home.change() as database:
            run = self._decidable(run_id, "discarded")
            self._decide(database, run, "discarded")
        self.clear_draft(run)

    def clear_draft(self, run: Run) -> None:
        """Remove what an import has built."""
        self._home.throw_away(run.draft)
        self._home.empty_trash()

    def _decidable(self, run_id: str, decision: str) -> Run:
        run = self.run(run_id)
        if run.kind != "import" or run.state != "finished":
            raise ValueError(
                f"only a finished import can be {decision}; run {run_id} is a {run.state} {run.kind}"
            )
        if run.result.get("decision", decision) != decision:
            raise ValueError(f"import {run_id} was {run.result['decision']} before; import it again")
        return run

    def _admit(self, database: sqlite3.Connection, run: Run) -> str:
        """Move the draft of `run` among the sets and insert its row.

        A crash after the move and before the commit leaves the folder without its row: the next `keep` or
        `sweep` finds it in place and goes on from there.
        """
        result = run.result
        key = str(result["key"])
        if not re.fullmatch(r"[0-9a-zA-Z_-]{8,128}", key):
            raise ValueError(f"an image set's key must be 8 to 128 letters and digits, got {key[:140]!r}")
        target = self._home.sets / key
        if target.is_dir():
            self._home.throw_away(run.draft)  # equal keys are equal sets
        elif run.draft.is_dir():
            move_durably(run.draft, target)
        else:
            raise ValueError(f"the files of import {run.id} are gone from {run.draft}; import it again")
        columns = {name: result[name] for name in ("title", "images", "samples")}
        columns |= {"key": key, "source": run.settings["source"], "created": time.time()}
        database.execute(
            "insert or ignore into image_set (key, title, source, images, samples, classes, created)"
            " values (:key, :title, :source, :images, :samples, :classes, :created)",
            {**columns, "classes": json.dumps(list(result["classes"]))},
        )
        self._decide(database, run, "kept")
        return key

    def _decide(self, database: sqlite3.Connection, run: Run, decision: str) -> None:
        result = json.dumps({**run.result, "decision": decision})
        database.execute("update run set result = ? where id = ?", (result, run.id))

    def sweep(self) -> None:
        """Finish or remove what crashes have left behind; what a live run or a person still needs stays.

        Moves happen inside write transactions only, so nothing seen here is another process's half step.
        """
        with self._home.change() as database:
            database.execute(
                "update run set state = 'failed', reason = ?, ended = coalesce(ended, created)"
                f" where state in ('queued', 'running') and not {READABLE}",
                (UNREADABLE,),
            )
            runs = {run.id: run for run in self.runs()}
            known_ids = {row["id"] for row in database.execute("select id from run")}
            for folder in self._home.runs.iterdir():
                if folder.name not in known_ids:
                    self._home.throw_away(folder)
            imports = [run for run in runs.values() if run.kind == "import" and not run.alive]
            undecided = [run for run in imports if run.state == "finished" and "decision" not in run.result]
            for run in imports:
                if run not in undecided:
                    self._home.throw_away(run.draft)
            if not any(run.alive for run in runs.values()):
                for half_written in self.features.glob("*.part"):
                    half_written.unlink()
            moved = {run.result["key"]: run for run in undecided if not run.draft.is_dir()}
            known = {row.key for row in self.image_sets()}
            for folder in self._home.sets.iterdir():
                if folder.name in known:
                    continue
                if folder.name in moved:
                    self._admit(database, moved[folder.name])
                else:
                    self._home.throw_away(folder)
        self._home.empty_trash()

    def _as_run(self, row: sqlite3.Row) -> Run:
        columns = {name: row[name] for name in row.keys() if name not in ("number", "readable")}  # noqa: SIM118 (not a dict)
        columns["settings"], columns["result"] = json.loads(row["settings"]), json.loads(row["result"])
        return Run(folder=self._home.runs / row["id"], **columns)


def _as_image_set_row(row: sqlite3.Row) -> ImageSetRow:
    columns = {field.name: row[field.name] for field in fields(ImageSetRow)}
    return ImageSetRow(**{**columns, "classes": tuple(json.loads(row["classes"]))})
