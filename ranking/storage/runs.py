"""The runs of a data folder: their records, their folders, and deleted runs."""

from __future__ import annotations

import json
import os
import secrets
import string
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from ranking.core.errors import InputError
from ranking.core.settings import Json, Settings
from ranking.storage import queue
from ranking.storage.home import PARTIAL, Home, home_in_words, is_expired
from ranking.storage.records import Damage, write_record
from ranking.storage.run import ENDED, LOCK, RECORD, RUNS, Kind, Run, State, is_run_id, record_of
from ranking.storage.run_names import checked_name
from ranking.storage.space import check_space

UPDATABLE = ("state", "settings", "result", "reason", "started", "ended", "pid", "cancelled")

Prepare = Callable[[Path], None]


class Runs:
    """The runs of the data folder `home`, and those of the data folders that are `shared` with it."""

    # Finished shared runs are listed, all can be opened by their ids, and none can be changed.
    def __init__(self, home: Home, shared: Sequence[Home] = ()) -> None:
        self._home, self._shared = home, shared

    # ---------------------------------------------------------------------------------------- reading

    def get(self, run_id: str) -> Run:
        """Return the run as it is now; ValueError for an unknown id or a damaged record."""
        if not is_run_id(run_id):
            raise InputError("run", "an id of 10 characters, each a-z or 0-9", f"{run_id[:40]!r}")
        for home in (self._home, *self._shared):
            if (home.runs / run_id).is_dir():
                return RUNS.read(home.runs / run_id, home.shared)
        raise InputError(
            "run",
            f"the id of a run in {home_in_words(self._home.path)}",
            f"{run_id!r}",
            "choose one from the list of runs",
        )

    def own(self, run_id: str) -> Run:
        """Return a run that may be changed; ValueError for a shared run, and as in `get`."""
        run = self.get(run_id)
        if run.shared:
            raise InputError(
                f"{run.kind_name} {run_id}",
                "a run of your own",
                "a shared one, which is read-only",
                "start a run with the same settings",
            )
        return run

    def all(
        self,
        kind: Kind | None = None,
        set_key: str | None = None,
        deleted: bool = False,
        task: str | None = None,
    ) -> list[Run]:
        """Return all runs, newest first, then shared ones: of one kind, image set and task, if given."""
        # Of an image set are the runs trained on it, and the import of it. `deleted`: deleted runs that can
        # be restored, instead of the others. Damaged runs are skipped: see `damage`.
        listed = self.all_own(kind, set_key, deleted)
        for home in () if deleted else self._shared:
            runs = (run for run in _runs_in(home) if run.state == "finished" and not run.is_import)
            listed += _chosen(runs, kind, set_key, deleted)
        return [run for run in listed if task is None or run.task == task]

    def all_own(
        self, kind: Kind | None = None, set_key: str | None = None, deleted: bool = False
    ) -> list[Run]:
        """Return those of `all` that may be changed."""
        return _chosen(_runs_in(self._home), kind, set_key, deleted)

    def equal(self, kind: Kind, settings: Settings) -> list[Run]:
        """Return the runs of a kind with exactly these `settings` (as JSON), newest first, without deleted ones."""
        as_json = json.loads(json.dumps(settings, allow_nan=False))
        return [run for run in self.all(kind, as_json.get("set")) if run.settings == as_json]

    def damage(self) -> list[Damage]:
        """Return the folders of runs that cannot be read."""
        return [
            Damage(folder, f"Run {folder.name} cannot be read: its {RECORD} is missing or damaged.")
            for home in (self._home, *self._shared)
            for folder in RUNS.read_all(home.runs, home.shared)[1]
        ]

    # ---------------------------------------------------------------------------------------- changing

    def create(
        self,
        kind: Kind,
        settings: Settings,
        prepare: Prepare | None = None,
        once: bool = False,
        request: Collection[str] = (),
    ) -> Run:
        """Create a run in state "queued", whose folder `prepare` receives before others see the run."""
        # `once`: return a live run of the same kind and settings instead, unless it is cancelled; then
        # `prepare` is not called. Of two equal calls at the same time, one creates a run. `request`: ids of
        # runs of the same request, with which the run may wait.
        if kind not in get_args(Kind):
            raise InputError("kind of a run", f"one of {', '.join(get_args(Kind))}", kind)
        run_id = "".join(secrets.choice(string.ascii_lowercase + string.digits) for _ in range(10))
        folder = self._home.runs / f"{run_id}{PARTIAL}"
        run = Run(run_id, kind, "queued", settings, {}, "", time.time(), None, None, folder)
        with self._home.change():
            for equal in self.equal(kind, settings) if once else ():
                if equal.state not in ENDED and equal.cancelled is None and equal.alive:
                    return equal
            check_space(self._home.path)
            queue.check_waiting(self._home.path, run, request)
            folder.mkdir()
            try:
                if prepare is not None:
                    prepare(folder)
                write_record(folder / RECORD, record_of(run))
                os.rename(folder, self._home.runs / run_id)
            except BaseException:
                self._home.throw_away(folder)
                raise
            queue.enter(self._home.path, run)
        return self.get(run_id)

    def update(self, run_id: str, **columns: Any) -> None:
        """Update columns of a run (UPDATABLE)."""
        unknown = [name for name in columns if name not in UPDATABLE]
        if unknown or not columns:
            raise InputError(
                "columns of a run", f"some of {', '.join(UPDATABLE)}", ", ".join(unknown) or "none"
            )
        if columns.get("state", "queued") not in get_args(State):
            raise InputError("state of a run", f"one of {', '.join(get_args(State))}", columns["state"])
        self._change(run_id, **columns)

    def end(self, run_id: str, state: State, reason: str = "", result: Json | None = None) -> bool:
        """Give a run its final state; return False without changing anything if it already has one."""
        # Of an import that did not finish only the record is kept.
        with self._home.change():
            run = self.own(run_id)
            if run.is_import and state != "finished" and run.state not in ENDED:
                self._clear(run)
        # first: if the upload has filled the disk, no record can be written
        self._home.empty_trash()
        with self._home.change():
            run = self.own(run_id)
            if run.state in ENDED:
                return False
            ended = max(time.time(), run.started or run.created)
            result = run.result if result is None else result
            self._write(replace(run, state=state, reason=reason, result=result, ended=ended))
        return True

    def rename(self, run_id: str, name: str) -> None:
        """Name a run, with at most LONGEST_NAME characters; an empty name removes its name."""
        self._change(run_id, name=checked_name(name))

    def star(self, run_id: str, star: bool = True) -> None:
        """Star a run, or unstar it."""
        self._change(run_id, star=bool(star))

    def free(self, run: Run) -> None:
        """Remove the large files of an import, and keep those that say what it read."""
        self._home.throw_away(run.draft)
        run.uploaded_file.unlink(missing_ok=True)
        self._home.empty_trash()

    def clear(self, run: Run) -> None:
        """Remove all files of a run but its record, as the rest of an import that did not finish."""
        self._clear(run)
        self._home.empty_trash()

    def _clear(self, run: Run) -> None:
        for file in run.folder.iterdir():
            if file.is_dir():
                self._home.throw_away(file)
            elif file.name not in (RECORD, LOCK):
                file.unlink(missing_ok=True)

    def delete(self, run_id: str) -> None:
        """Delete an ended run from all lists; `restore` restores it within DELETED_DAYS days."""
        # Repeating it is harmless.
        with self._home.change():
            run = self.own(run_id)
            if run.state not in ENDED:
                raise InputError(
                    f"{run.kind_name} {run_id}",
                    "a run that has ended",
                    run.state,
                    "cancel it first, then delete it",
                )
            if run.deleted is None:
                self._write(replace(run, deleted=time.time()))

    def restore(self, run_id: str) -> None:
        """Undo `delete`. ValueError if the run was permanently removed."""
        self._change(run_id, deleted=None)

    def empty_trash(self, task: str | None = None) -> int:
        """Permanently remove all deleted runs, or those of one task, with their files; return their number."""
        with self._home.change():
            removed = [run for run in self.all_own(deleted=True) if task is None or run.task == task]
            self._remove(removed)
        self._home.empty_trash()
        return len(removed)

    def sweep(self) -> None:
        """Remove what was deleted long ago, imports ended long ago, and runs that were never complete."""
        with self._home.change():
            self._remove(run for run in self.all_own(deleted=True) if is_expired(run.deleted))
            self._remove(run for run in self.all_own("import") if is_expired(run.ended))
            for folder in self._home.runs.glob(f"*{PARTIAL}"):
                self._home.throw_away(folder)
        self._home.empty_trash()

    def _remove(self, runs: Iterable[Run]) -> None:
        for run in runs:
            self._home.throw_away(run.folder)

    def _change(self, run_id: str, **columns: Any) -> None:
        with self._home.change():
            self._write(replace(self.own(run_id), **columns))

    def _write(self, run: Run) -> None:
        write_record(run.folder / RECORD, record_of(run))


def _runs_in(home: Home) -> list[Run]:
    home.check()
    return RUNS.read_all(home.runs, home.shared)[0]


def _chosen(runs: Iterable[Run], kind: Kind | None, set_key: str | None, deleted: bool) -> list[Run]:
    """Return the runs of a kind and of an image set, deleted or not, newest first."""
    chosen = [
        run
        for run in runs
        if (run.deleted is not None) == deleted
        and kind in (None, run.kind)
        and set_key in (None, run.settings.get("set"), run.result.get("key"))
    ]
    return sorted(chosen, key=lambda run: (-run.created, run.id))
