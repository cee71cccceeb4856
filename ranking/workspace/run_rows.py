"""Rows of runs as they are read, from the database of a home and from the file beside a run's files."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from ranking.core.errors import InputError
from ranking.core.first_settings import read_ablation_settings, read_train_settings
from ranking.core.run_settings import AblationSettings
from ranking.workspace.home import Home
from ranking.workspace.row_files import RUN_COLUMNS, read_run_row
from ranking.workspace.run import LAST_TIME, LOCK, VERSION, Kind, Run, is_run_id, task_of
from ranking.workspace.run_names import checked_name

# Other rows than these were damaged by another hand; json_extract would refuse them, and with them the rest.
READABLE = f"""case when json_valid(settings) and json_valid(result)
    then json_type(settings) = 'object' and json_type(result) = 'object'
        and (deleted is null or typeof(deleted) = 'real' and deleted between 0 and {LAST_TIME}) else 0 end"""
UNREADABLE = "its row in the database is damaged"


def runs_of(home: Home, kind: Kind | None, set_key: str | None, deleted: bool) -> list[Run]:
    """Return the runs of a data folder, newest first. Of a shared data folder only finished runs are returned, without
    imports, because their image sets are listed separately."""
    with home.read() as database:
        rows = database.execute(
            "select * from run where (deleted is not null) = :deleted and (:kind is null or kind = :kind)"
            " and (not :shared or state = 'finished' and kind != 'import')"
            f" and version <= {VERSION} and case when not {READABLE} then 0"
            " else :key is null or json_extract(settings, '$.set') = :key"
            " or json_extract(result, '$.key') = :key end order by number desc",
            {"kind": kind, "key": set_key, "deleted": deleted, "shared": home.shared},
        ).fetchall()
    return [as_run(home, row) for row in rows]


def row_of(home: Home, run_id: str) -> sqlite3.Row | None:
    """Return `row_in` for the database of a data folder."""
    with home.read() as database:
        return row_in(database, run_id)


def row_in(database: sqlite3.Connection, run_id: str) -> sqlite3.Row | None:
    """Return the row with this id, and whether it is readable; None if there is none."""
    row: sqlite3.Row | None = database.execute(
        f"select *, {READABLE} as readable from run where id = ?", (run_id,)
    ).fetchone()
    return row


def as_run(home: Home, row: sqlite3.Row) -> Run:
    """Return the run of a readable row."""
    columns = {name: row[name] for name in row.keys() if name not in ("number", "readable")}  # noqa: SIM118 (not a dict)
    columns["settings"], columns["result"] = json.loads(row["settings"]), json.loads(row["result"])
    columns["settings"] = _as_meant(row["kind"], columns["settings"])
    columns["star"] = bool(row["star"])
    return Run(folder=home.runs / row["id"], shared=home.shared, **columns)


def record_of(run: Run) -> dict[str, Any]:
    """Return the content of the record file in a run's folder."""
    return {name: getattr(run, name) for name in RUN_COLUMNS}


def _as_meant(kind: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Return stored settings in the form of this version."""
    if kind == "train":
        return read_train_settings(settings)
    return read_ablation_settings(settings) if task_of(kind, settings) == AblationSettings.task else settings


def is_unused(folder: Path) -> bool:
    """Return whether nothing was written into the folder of a run, because its process stopped at the start."""
    return folder.is_dir() and {file.name for file in folder.iterdir()} <= {LOCK}


def read_row(folder: Path) -> dict[str, Any]:
    """Read the row of a run from its folder. Raises InputError unless it is a valid row."""
    if not is_run_id(folder.name):
        raise InputError(f"folder {folder.name}", "a name of 10 characters, each a-z or 0-9")
    record = read_run_row(folder)
    try:
        checked_name(record["name"])
    except InputError as error:
        raise InputError(
            f"folder {folder.name}", "the name of a run that can be shown", f"{record['name'][:40]!a}"
        ) from error
    record["settings"] = _as_meant(record["kind"], record["settings"])
    return record
