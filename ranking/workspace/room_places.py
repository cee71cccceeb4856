"""Which rooms give their place up to newcomers, where a server has as many rooms as it may have.

The rule, where places are short:

- A room in which there is nothing gives its place up at once. Nothing means no image set, no answer, no correction of a
  label, nothing that was brought for a set, and no run except imports and looks that left nothing: they failed, were
  cancelled or discarded, or only looked.
- A room that holds only imports nobody has decided about gives its place up a day after the last visit, if no second
  browser tab ever opened it.
- Every other room keeps its place for 30 days after the last visit.

The room that was visited longest ago goes first. A room in which work is running, a room that cannot be read and the
class room always keep their place.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from ranking.workspace.home import Home
from ranking.workspace.room_layout import MARK
from ranking.workspace.run import ENDED, Run
from ranking.workspace.store import Store

T = TypeVar("T")
DAY = 86400.0  # seconds
EMPTY, UNDECIDED, USED = 0, 1, 30  # days after the last visit for which a room keeps its place


def giving_up(rooms: Iterable[Path]) -> Iterator[Path]:
    """Those of `rooms` that give their place up, in the order in which they do."""
    visited = {room: visited_at(room) for room in rooms}
    kept, now = functools.cache(kept_days), time.time()
    for days in (EMPTY, UNDECIDED, USED):
        for room in sorted(visited, key=lambda room: visited[room]):
            if (not days or now - visited[room] > days * DAY) and kept(room) == days:
                yield room


def kept_days(room: Path) -> float:
    """For how many days after the last visit a room keeps its place; infinity for a room that cannot be read."""
    return of_room(room, _kept_days, math.inf)


def of_room(room: Path, read: Callable[[Path], T], otherwise: T) -> T:
    """What `read` returns for a room; `otherwise` for a room that cannot be read, whatever the reason: damage to one
    room must not affect the visitors of others."""
    try:
        return read(room)
    except Exception:
        return otherwise


def visited_at(room: Path) -> float:
    """When somebody was in a room last, in seconds since the epoch; of one that may not be read, of its change."""
    try:
        return (room / MARK).stat().st_mtime
    except PermissionError:
        return room.stat().st_mtime


def times_opened(room: Path) -> int:
    """How many browser tabs have opened a room; of one from before that was counted, more than can be known."""
    text = (room / MARK).read_text()
    return int(text) if text.isdecimal() and len(text) < 10 else 2


def _kept_days(room: Path) -> float:
    home, store = Home(room), Store(room)
    with home.read() as database:
        rows = any(
            database.execute(f"select 1 from {table} limit 1").fetchone()
            for table in ("image_set", "answer", "correction")
        )
    uploaded = any(any(folder.iterdir()) for folder in (home.edges, home.vectors, home.models, home.sets))
    runs = [*store.own_runs(), *store.own_runs(deleted=True)]
    if rows or uploaded or not all(run.intake for run in runs):
        return USED
    if all(_left_nothing(run) for run in runs):
        return EMPTY
    return UNDECIDED if times_opened(room) <= 1 else USED


def _left_nothing(run: Run) -> bool:
    """Whether an import or a look has ended, and there is nothing to decide about it."""
    decided = run.state != "finished" or "decision" in run.result or run.looks
    return run.state in ENDED and decided
