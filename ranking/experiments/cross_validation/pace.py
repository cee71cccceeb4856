"""How far an experiment is and how long it may still take, told from the cells that are there."""

from __future__ import annotations

import json
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ranking.experiments.cross_validation.trial import Cell, Outcome


@dataclass(frozen=True)
class Progress:
    """Cells that are there of those that are planned, what was done last, and the seconds that the rest may take.

    seconds_left: None before there is anything to tell it from.
    """

    what: str
    done: int
    total: int
    seconds_left: float | None


class Pace:
    """Cells are taken to last as long as those of their method and settings did, else as those of their method.

    What is left is divided by how many seconds of training a second of this run has brought.
    """

    def __init__(self, later: int) -> None:
        """later: how many cells are expected that cannot be planned yet."""
        self.later = later
        self._done, self._planned = 0, set[str]()  # by key: what is planned again counts once
        self._seconds: dict[str, list[float]] = defaultdict(list)  # by method, and by method with settings
        self._left: Counter[tuple[str, str]] = Counter()
        self._trained, self._start = 0.0, time.monotonic()

    def plan(self, cells: Iterable[Cell], known: Mapping[str, Outcome]) -> None:
        """These are needed, and of some of them it is `known` by key what came of them."""
        for cell in cells:
            if cell.key in self._planned:
                continue
            self._planned.add(cell.key)
            if cell.key in known:
                self._add(cell, known[cell.key])
            else:
                self._left[_kinds(cell)] += 1

    def trained(self, cell: Cell, outcome: Outcome) -> Progress:
        """This one is there now."""
        self._left[_kinds(cell)] -= 1
        self._trained += outcome.seconds
        self._add(cell, outcome)
        fold = "all of train" if cell.fold is None else f"fold {cell.fold + 1}"
        return self.now(f"{cell.query}, {cell.method}, {fold}")

    def now(self, what: str) -> Progress:
        return Progress(what, self._done, len(self._planned) + self.later, self._seconds_left())

    def _add(self, cell: Cell, outcome: Outcome) -> None:
        self._done += 1
        for kind in _kinds(cell):
            self._seconds[kind].append(outcome.seconds)

    def _seconds_left(self) -> float | None:
        elapsed = time.monotonic() - self._start
        if not self._trained or not elapsed:
            return None
        every = statistics.fmean(second for seconds in self._seconds.values() for second in seconds)
        left = 0.0
        for (method, point), count in self._left.items():
            known = self._seconds.get(point) or self._seconds.get(method)
            left += count * (statistics.fmean(known) if known else every)
        return left * elapsed / self._trained


def _kinds(cell: Cell) -> tuple[str, str]:
    return cell.method, f"{cell.method} {json.dumps(cell.settings, sort_keys=True)}"


def told_seconds(seconds: float) -> str:
    """A time that is estimated, in words.

    >>> told_seconds(31), told_seconds(200), told_seconds(9000)
    ('about 31 s', 'about 3 min', 'about 2.5 h')
    """
    if seconds < 100:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 6000 else f"about {seconds / 3600:.1f} h"
