"""Which workspaces are removed to make place for new ones, on a server that has reached its limit of workspaces.

The rule:

- An empty workspace can be removed immediately. Empty means: no image set, no answer, no correction of a label, no
  upload for a set, and no run except imports that have ended.
- Every other workspace is kept for 30 days after the last visit.

The workspace with the oldest last visit is removed first. A workspace with running jobs, an unreadable workspace, and
the shared workspace are never removed.
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
from ranking.workspace.run import ENDED
from ranking.workspace.store import Store

T = TypeVar("T")
DAY = 86400.0  # seconds
EMPTY, USED = 0, 30  # days after the last visit for which a workspace is kept


def giving_up(rooms: Iterable[Path]) -> Iterator[Path]:
    """Yield those of `rooms` that can be removed, in the order of removal."""
    visited = {room: visited_at(room) for room in rooms}
    kept, now = functools.cache(kept_days), time.time()
    for days in (EMPTY, USED):
        for room in sorted(visited, key=lambda room: visited[room]):
            if (not days or now - visited[room] > days * DAY) and kept(room) == days:
                yield room


def kept_days(room: Path) -> float:
    """Return for how many days after the last visit a workspace is kept; infinity for an unreadable workspace."""
    return of_room(room, _kept_days, math.inf)


def of_room(room: Path, read: Callable[[Path], T], otherwise: T) -> T:
    """Return what `read` returns for a workspace; `otherwise` for an unreadable one, whatever the reason, because
    damage to one workspace must not affect the visitors of others."""
    try:
        return read(room)
    except Exception:
        return otherwise


def visited_at(room: Path) -> float:
    """Return the time of the last visit of a workspace, in seconds since the epoch; the time of its folder if
    unreadable."""
    try:
        return (room / MARK).stat().st_mtime
    except PermissionError:
        return room.stat().st_mtime


def times_opened(room: Path) -> int:
    """Return how many browser tabs have opened a workspace; a huge number if they were not counted then."""
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
    left_nothing = all(run.intake and run.state in ENDED for run in runs)
    return EMPTY if left_nothing and not rows and not uploaded else USED
