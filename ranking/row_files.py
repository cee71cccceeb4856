"""Rows of the database as files beside what they tell of, from which a database that was lost is made again."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from ranking.errors import InputError
from ranking.run import LAST_TIME, TRAVELS, Kind, State
from ranking.types import is_number

ROW = "row.json"
LONGEST = 64_000_000  # bytes of a file that is read: an experiment's result has a line for each of its cells
RUN_COLUMNS = (*TRAVELS, "deleted")
SET_COLUMNS = ("source", "created", "deleted")


def write_row(folder: Path, columns: Mapping[str, Any]) -> None:
    """Have `folder` hold those columns of its row, written whole; nothing where it does already, or is not there.

    Who writes holds the write lock of the database, so no two write at once.
    """
    file, text = folder / ROW, json.dumps(columns, allow_nan=False)
    if not folder.is_dir() or (file.is_file() and file.read_text() == text):
        return
    part = folder / f"{ROW}.part"
    part.write_text(text)
    os.replace(part, file)


def read_run_row(folder: Path) -> dict[str, Any]:
    """RUN_COLUMNS of the run that has `folder`; InputError where these cannot be read or are no row of a run."""
    told = _read(folder, RUN_COLUMNS)
    sound = (
        told["kind"] in get_args(Kind)
        and told["state"] in get_args(State)
        and isinstance(told["settings"], dict)
        and isinstance(told["result"], dict)
        and isinstance(told["reason"], str)
        and isinstance(told["name"], str)
        and isinstance(told["star"], bool)
        and _is_time(told["created"])
        and all(told[name] is None or _is_time(told[name]) for name in ("started", "ended", "deleted"))
    )
    if not sound:
        raise _damaged(folder)
    return told


def read_set_row(folder: Path) -> dict[str, Any]:
    """SET_COLUMNS of the image set that has `folder`; InputError as `read_run_row`.

    A set is whole without: of one that was never told where it came from the source is "".
    """
    if not (folder / ROW).exists():
        return {"source": "", "created": folder.stat().st_mtime, "deleted": None}
    told = _read(folder, SET_COLUMNS)
    times = _is_time(told["created"]) and (told["deleted"] is None or _is_time(told["deleted"]))
    if not isinstance(told["source"], str) or not times:
        raise _damaged(folder)
    return told


def _read(folder: Path, names: tuple[str, ...]) -> dict[str, Any]:
    file = folder / ROW
    try:
        if file.stat().st_size > LONGEST:
            raise _damaged(folder)
        told = json.loads(file.read_text())
    except FileNotFoundError as error:
        raise InputError(f"folder {folder.name}", f"a file {ROW} that tells what it is", "none") from error
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(folder) from error
    if not isinstance(told, dict) or set(told) != set(names):
        raise _damaged(folder)
    return told


def _damaged(folder: Path) -> InputError:
    return InputError(f"folder {folder.name}", f"a file {ROW} as this program writes it", "another")


def _is_time(value: object) -> bool:
    return is_number(value) and 0 <= value <= LAST_TIME  # type: ignore[operator]  # `is_number` says that it is one
