"""Corrections of labels: samples whose label for a class is wrong according to the user.

They are kept beside the image set, which never changes: a line per press of a button, and per undo. A sample is
corrected where its last press that stands says the opposite of the original label; so two opposite presses cancel each
other.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ranking.core.settings import Json
from ranking.core.spreadsheets import rows_csv
from ranking.storage.home import Home
from ranking.storage.records import Damage, Lines
from ranking.storage.run import checked_key


@dataclass(frozen=True)
class Correction:
    """A corrected label: whether the sample has the class in the image set, and according to the user."""

    sample: str
    label: str
    original: bool
    corrected: bool
    # when the button was pressed, in seconds since the epoch
    time: float


class Press(NamedTuple):
    """A press of a button: its id, of how many samples it changed the label, and whether they have it since."""

    id: str
    samples: int
    corrected: bool


class Corrections:
    """The corrections of a data folder: a file of lines in the folder of each image set, also shared ones."""

    # A line is a press, {"press", "class", "corrected", "original": by sample id, "time"}, or an undo,
    # {"undo": the id of the press}.
    def __init__(self, home: Home) -> None:
        self._home = home

    def mark(self, set_key: str, label: str, original: Mapping[str, bool], corrected: bool) -> int:
        """Set on disk whether samples have the class `label`; return the number of changed labels."""
        # `original` is, by sample id, whether they have it in the image set. Samples that already have the
        # label do not count.
        with self._home.change():
            standing = self.standing(set_key, label)
            changed = {
                sample: bool(was)
                for sample, was in original.items()
                if corrected != (standing[sample].corrected if sample in standing else was)
            }
            if changed:
                line = {"press": secrets.token_hex(8), "class": label, "corrected": bool(corrected)}
                self._lines(set_key).append([{**line, "original": changed, "time": time.time()}])
        return len(changed)

    def undo(self, set_key: str, press: str) -> int:
        """Undo what that press of a button changed; return of how many samples, 0 if it is undone already."""
        with self._home.change():
            undone = [line for line in self._presses(set_key) if line["press"] == press]
            self._lines(set_key).append([{"undo": line["press"]} for line in undone])
        return sum(len(line["original"]) for line in undone)

    def last_press(self, set_key: str, label: str) -> Press | None:
        """Return the last press about a class that stands; None where there is none."""
        presses = [line for line in self._presses(set_key) if line["class"] == label]
        return (
            Press(presses[-1]["press"], len(presses[-1]["original"]), presses[-1]["corrected"])
            if presses
            else None
        )

    def standing(self, set_key: str, label: str) -> dict[str, Correction]:
        """Return the corrections of a class by sample id, in the order of the ids."""
        last = {
            sample: Correction(sample, label, was, line["corrected"], line["time"])
            for line in self._presses(set_key)
            if line["class"] == label
            for sample, was in line["original"].items()
        }
        return {sample: each for sample, each in sorted(last.items()) if each.original != each.corrected}

    def all(self, set_key: str) -> list[Correction]:
        """Return the corrections of all classes of an image set, class by class."""
        labels = sorted({line["class"] for line in self._presses(set_key)})
        return [each for label in labels for each in self.standing(set_key, label).values()]

    def damage(self) -> list[Damage]:
        """Return the files with lines that cannot be read."""
        files = self._home.sets.glob(f"*/{CORRECTIONS}")
        return [damage for file in files for damage in Lines(file, _press_or_undo).damage()]

    def _lines(self, set_key: str) -> Lines[Json]:
        return Lines(self._home.sets / checked_key(set_key) / CORRECTIONS, _press_or_undo)

    def _presses(self, set_key: str) -> list[Json]:
        """Return the presses that stand."""
        lines = self._lines(set_key).read()
        undone = {line.get("undo") for line in lines}
        return [line for line in lines if "undo" not in line and line["press"] not in undone]


def _press_or_undo(record: Json) -> Json:
    if not isinstance(record, dict) or not ({"undo"} <= record.keys() or record.keys() >= PRESS):
        raise TypeError("neither a press nor an undo")
    return record


CORRECTIONS = "corrections.jsonl"
PRESS = {"press", "class", "corrected", "original", "time"}


def csv_text(corrections: list[Correction]) -> str:
    """Return a line per corrected label: 1 where the sample has the class; UTC as in 2026-01-31T12:00:00Z."""
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
