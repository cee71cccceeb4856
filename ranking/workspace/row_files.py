"""Database rows as files next to the data that they describe, from which a lost database is rebuilt.

Each change of a row increments its `revision` and writes the file before it is committed. So the file is never older
than the row, unless it could not be written; then its revision is lower. A file with a higher revision than the row
belongs to a newer state of the database, and replaces the row.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from ranking.core.errors import InputError
from ranking.core.run_settings import ImportSettings
from ranking.workspace.run import (
    STAYS,
    TRAVELS,
    Kind,
    State,
    as_today,
    is_count,
    is_set_key,
    is_time,
    task_of,
)

ROW = "row.json"
RESTORE = "restore the file from a backup"
LONGEST = 64_000_000  # largest file that is read, in bytes: the result of an experiment has a line per trial
RUN_COLUMNS = (*TRAVELS, *(name for name in STAYS if name != "id"))
SET_COLUMNS = ("source", "created", "deleted", "revision")
TIMES = ("started", "ended", "deleted", "cancelled")  # of a run, if known
LATER = ("pid", "cancelled", "revision", "version")  # missing in files of earlier versions


def write_row(folder: Path, columns: Mapping[str, Any]) -> None:
    """Write columns of a row to the file in `folder`, completely; does nothing if it is up to date, or has no folder.

    The caller holds the write lock of the database, so no two processes write at the same time.
    """
    file, text = folder / ROW, json.dumps(columns, allow_nan=False).encode()
    if not folder.is_dir() or (file.is_file() and file.read_bytes() == text):
        return
    part = folder / f"{ROW}.part"
    part.write_bytes(text)
    os.replace(part, file)


def read_run_row(folder: Path) -> dict[str, Any]:
    """Return RUN_COLUMNS of the run in `folder` (rows of earlier versions may lack the columns LATER); InputError if
    they cannot be read or are not valid."""
    record = _read(folder, RUN_COLUMNS)
    record["kind"], record["settings"] = as_today(record["kind"], record["settings"])
    sound = (
        record["kind"] in get_args(Kind)
        and record["state"] in get_args(State)
        and isinstance(record["settings"], dict)
        and isinstance(record["result"], dict)
        and isinstance(record["reason"], str)
        and isinstance(record["name"], str)
        and isinstance(record["star"], bool)
        and is_time(record["created"])
        and all(record.get(name) is None or is_time(record[name]) for name in TIMES)
        and all(record.get(name) is None or is_count(record[name]) for name in ("pid", "version"))
        and is_count(record["revision"])
        and (record["kind"] != "import" or record["state"] != "finished" or _is_import(record))
    )
    if not sound:
        raise _damaged(folder)
    return record


def _is_import(record: Mapping[str, Any]) -> bool:
    """Return whether a finished import has a result that describes what it built."""
    result = record["result"]
    return task_of("import", record["settings"]) != ImportSettings.task or (
        isinstance(result.get("key"), str)
        and is_set_key(result["key"])
        and isinstance(result.get("title"), str)
        and isinstance(result.get("classes"), dict)
        and is_count(result.get("images"))
        and is_count(result.get("samples"))
    )


def read_set_row(folder: Path) -> dict[str, Any] | None:
    """Return SET_COLUMNS of the image set in `folder`; None if they cannot be read.

    An image set is complete without them.
    """
    try:
        record = _read(folder, SET_COLUMNS)
    except InputError:
        return None
    times = is_time(record["created"]) and (record["deleted"] is None or is_time(record["deleted"]))
    return record if isinstance(record["source"], str) and times and is_count(record["revision"]) else None


def _read(folder: Path, names: tuple[str, ...]) -> dict[str, Any]:
    file = folder / ROW
    try:
        if file.stat().st_size > LONGEST:
            raise _damaged(folder)
        record = json.loads(file.read_text())
        json.dumps(record, allow_nan=False, ensure_ascii=False).encode()  # raises for NaN and lone surrogates
    except FileNotFoundError as error:
        raise InputError(
            f"folder {folder.name}", f"a file {ROW} that describes it", "none", RESTORE
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(folder) from error
    if not isinstance(record, dict) or {*record, *LATER} != {*names, *LATER}:
        raise _damaged(folder)
    return {"revision": 0, **record}


def _damaged(folder: Path) -> InputError:
    return InputError(
        f"folder {folder.name}",
        f"a file {ROW} as this program writes it",
        "one that is damaged or foreign",
        RESTORE,
    )
