"""Read-only access to the database in which earlier versions stored trials, so that their experiments still open."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

BUSY_SECONDS = 20.0  # how long to wait for a process that is writing


def outcomes(folder: Path, keys: Iterable[str]) -> dict[str, tuple[dict[str, Any], float, dict[str, Any]]]:
    """Return measures, seconds and certificate, by key, of those of `keys` that the database in `folder` contains."""
    rows = _rows(
        folder,
        "select key, measures, seconds, certificate from cell where key in (select value from json_each(?))",
        json.dumps(list(keys)),
    )
    return {key: (json.loads(measures), seconds, json.loads(proof)) for key, measures, seconds, proof in rows}


def scores(folder: Path, key: str) -> bytes | None:
    """Return the scores of the held-out samples of a trial, eight bytes each; None if the database does not have it."""
    rows = _rows(folder, "select scores from cell where key = ?", key)
    return rows[0][0] if rows else None


def _rows(folder: Path, question: str, value: str) -> list[tuple[Any, ...]]:
    file = folder / "cells.sqlite"
    if not file.exists():
        return []
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", BUSY_SECONDS, uri=True)) as database:
        return database.execute(question, (value,)).fetchall()
