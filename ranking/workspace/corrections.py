"""Corrections of labels: samples whose label for a class is wrong according to the user.

They are kept beside the image set, which never changes: a row per sample and press of a button. An undo marks the rows
of one press as undone. A sample is corrected where the last row of it that stands says the opposite of the
original label; so two opposite presses cancel each other.
"""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import NamedTuple

from ranking.core.spreadsheets import rows_csv
from ranking.workspace.home import HomeStore


@dataclass(frozen=True)
class Correction:
    """A corrected label: the id of the sample, the class, whether the sample has the class in the image set, whether it
    has it according to the user, and when the button was pressed, in seconds since the epoch."""

    sample: str
    label: str
    original: bool
    corrected: bool
    time: float


class Press(NamedTuple):
    """A press of a button: its id, of how many samples it changed the label, and whether they have it since."""

    id: str
    samples: int
    corrected: bool


class CorrectionStore(HomeStore):
    """The corrections of a home."""

    def mark(self, set_key: str, label: str, original: Mapping[str, bool], corrected: bool) -> int:
        """Set whether samples have the class `label`. original: by sample id, whether they have it in the image set.

        Changes are on disk when this returns. Returns the number of changed labels; samples that already have the label
        do not count. FullError if a workspace is full.
        """
        with self._home.change() as database:
            standing = _standing(database, set_key, label)
            changed = [
                sample
                for sample, was in original.items()
                if corrected != (standing[sample].corrected if sample in standing else was)
            ]
            # The size of a row and its entries in two indexes, and the same again in the log that SQLite writes first.
            self._watch(sum(2 * (3 * len(f"{set_key}{sample}{label}".encode()) + 150) for sample in changed))
            press, now = secrets.token_hex(8), time.time()
            database.executemany(
                f"insert into correction ({', '.join(COLUMNS)}) values ({', '.join('?' for _ in COLUMNS)})",
                [
                    (press, set_key, sample, label, int(original[sample]), int(corrected), now, None)
                    for sample in changed
                ],
            )
        return len(changed)

    def undo(self, press: str) -> int:
        """Take back what that press of a button changed; of how many samples it was, 0 where it stands no more."""
        with self._home.change() as database:
            return database.execute(
                "update correction set undone = ? where press = ? and undone is null", (time.time(), press)
            ).rowcount

    def last_press(self, set_key: str, label: str) -> Press | None:
        """The last press about a class that stands; None where there is none."""
        with self._home.read() as database:
            row = database.execute(LAST_PRESS, (set_key, label)).fetchone()
        return None if row is None else Press(row["press"], row["samples"], bool(row["corrected"]))

    def standing(self, set_key: str, label: str) -> dict[str, Correction]:
        """Return the corrections of a class by sample id, in the order of the ids."""
        with self._home.read() as database:
            return _standing(database, set_key, label)

    def all(self, set_key: str) -> list[Correction]:
        """Return the corrections of all classes of an image set, class by class."""
        with self._home.read() as database:
            labels = database.execute(
                'select distinct class from correction where "set" = ? order by class', (set_key,)
            ).fetchall()
            return [each for (label,) in labels for each in _standing(database, set_key, label).values()]


def csv_text(corrections: list[Correction]) -> str:
    """Return one line per corrected label: 1 where the sample has the class; time in UTC, such as
    2026-01-31T12:00:00Z."""
    return rows_csv(
        [
            {
                "id": each.sample,
                "class": each.label,
                "original": int(each.original),
                "corrected": int(each.corrected),
                "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(each.time)),
            }
            for each in corrections
        ]
    )


def _standing(database: sqlite3.Connection, set_key: str, label: str) -> dict[str, Correction]:
    rows = database.execute(
        f"select {', '.join(COLUMN_OF.values())} from correction"
        ' where "set" = ? and class = ? and undone is null order by number',
        (set_key, label),
    ).fetchall()
    last = {row["sample"]: row for row in rows}
    return {
        sample: Correction(sample, label, bool(row["original"]), bool(row["corrected"]), row["time"])
        for sample, row in sorted(last.items())
        if row["original"] != row["corrected"]
    }


# The columns of a row except its number; set is a keyword of SQL.
COLUMNS = ("press", '"set"', "sample", "class", "original", "corrected", "time", "undone")
COLUMN_OF = {field.name: "class" if field.name == "label" else field.name for field in fields(Correction)}
LAST_PRESS = """
select press, count(*) as samples, corrected from correction where "set" = ? and class = ? and undone is null
group by press order by max(number) desc limit 1"""
