"""Corrections of labels: what a person says of samples whose label for a class is wrong.

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
    """A corrected label: of which sample, by its id, and class; whether the sample has that class in the image set, and
    whether it has by the person; when the button was pressed, in seconds since the epoch."""

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
        """Have samples be of the class `label`, or not; original: by their ids, whether they are in the image set.

        What changes is on disk when this returns. Returns how many labels changed: a sample that has the label already
        adds nothing. FullError where a room has no space for them.
        """
        with self._home.change() as database:
            standing = _standing(database, set_key, label)
            changed = [
                sample
                for sample, was in original.items()
                if corrected != (standing[sample].corrected if sample in standing else was)
            ]
            # A row and its places in two indexes, and the same once more in the log that SQLite writes first.
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
        """The corrections of a class, by the ids of their samples in the order of these."""
        with self._home.read() as database:
            return _standing(database, set_key, label)

    def all(self, set_key: str) -> list[Correction]:
        """The corrections of all classes of an image set, class by class."""
        with self._home.read() as database:
            labels = database.execute(
                'select distinct class from correction where "set" = ? order by class', (set_key,)
            ).fetchall()
            return [each for (label,) in labels for each in _standing(database, set_key, label).values()]


def csv_text(corrections: list[Correction]) -> str:
    """One line a corrected label: 1 where the sample has the class; when in UTC, as 2026-01-31T12:00:00Z."""
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


# What a row holds but for its number; set is a word of SQL's own.
COLUMNS = ("press", '"set"', "sample", "class", "original", "corrected", "time", "undone")
COLUMN_OF = {field.name: "class" if field.name == "label" else field.name for field in fields(Correction)}
LAST_PRESS = """
select press, count(*) as samples, corrected from correction where "set" = ? and class = ? and undone is null
group by press order by max(number) desc limit 1"""
