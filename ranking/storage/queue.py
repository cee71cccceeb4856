"""The order in which runs start: a few work at the same time, further ones wait for those that were entered before.

``queue/<imports or runs>/<time>-<id>`` in the data folder of a server names the folder of a run. The first entries, as
many as there are places, work. An entry counts while its worker lives, so a crash leaves nothing to repair. New entries
come last: what works goes on working. The folder may be removed at any time: runs that wait enter again.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Collection
from pathlib import Path

from ranking.core.errors import HomeError
from ranking.core.text import counted
from ranking.storage.home import is_workspace, server_of, write_whole
from ranking.storage.run import LOCK, Run, is_held

# Runs that are at work at the same time. Imports do not wait for training runs and studies; they are few enough for the
# memory, and enough that no preview waits long.
RUNS_AT_ONCE = max(2, os.cpu_count() or 2)
IMPORTS_AT_ONCE = 2 * RUNS_AT_ONCE


def enter(home: Path, run: Run) -> None:
    """Enter a run of a data folder, whose lock is held, as the last one, if it is not there."""
    folder = _folder(home, run)
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY)
    try:
        # two that enter at the same time see each other
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _entry(folder, run) is None:
            # of workers that were killed
            _remove_dead(folder)
            last = max((int(entry.name[:20]) for entry in _entries(folder)), default=0)
            # the clock may go back
            number = max(time.time_ns(), last + 1)
            place = str(home / "runs" / run.id)
            write_whole(folder / f"{number:020}-{run.id}", lambda partial: partial.write_text(place))
    finally:
        os.close(lock)


def leave(home: Path, run: Run) -> None:
    """Remove the entry of a run, so that it counts no more although its worker lives."""
    if (entry := _entry(_folder(home, run), run)) is not None:
        entry.unlink(missing_ok=True)


def waits_for(home: Path, run: Run) -> int:
    """Return how many other runs must end before a run of a data folder may start; 0 if it has started."""
    order = [folder.name for _, folder in sorted(_live(_folder(home, run)).items())]
    before = order.index(run.id) if run.id in order else 0
    return max(0, before - _places(run) + 1)


def check_waiting(home: Path, run: Run, request: Collection[str] = ()) -> None:
    """Raise HomeError if `home` is a workspace in which another run like `run` waits already."""
    # `request`: ids of runs that were started by the same press, which may wait together.
    if not is_workspace(home):
        return
    live = _live(_folder(home, run))
    ours = [place.parents[1] == home and place.name not in request for _, place in sorted(live.items())]
    own = [place for place, is_ours in enumerate(ours) if is_ours]
    if own and own[-1] >= _places(run):
        before = counted(own[-1] - _places(run) + 1, "run")
        raise HomeError(
            f"cannot start another run: one of yours is already queued behind {before}; wait until it starts, or "
            "cancel it"
        )


def remove_dead(home: Path) -> None:
    """Remove the entries of runs whose workers are gone."""
    for folder in (server_of(home) / "queue").glob("*"):
        _remove_dead(folder)


def _remove_dead(folder: Path) -> None:
    for entry in set(_entries(folder)) - _live(folder).keys():
        entry.unlink(missing_ok=True)


def _places(run: Run) -> int:
    return IMPORTS_AT_ONCE if run.is_import else RUNS_AT_ONCE


def _folder(home: Path, run: Run) -> Path:
    return server_of(home) / "queue" / ("imports" if run.is_import else "runs")


def _entry(folder: Path, run: Run) -> Path | None:
    return next(folder.glob(f"*-{run.id}"), None)


def _entries(folder: Path) -> list[Path]:
    """Return the entries, without other files that lie there."""
    there = folder.iterdir() if folder.is_dir() else ()
    return [
        entry for entry in there if re.fullmatch(r"0[0-9]{19}-[a-z0-9]{10}", entry.name) and entry.is_file()
    ]


def _live(folder: Path) -> dict[Path, Path]:
    """Return the entries whose workers live, with the folders of their runs."""
    live = {}
    for entry in _entries(folder):
        try:
            run = Path(entry.read_text())
            if is_held(run / LOCK):
                live[entry] = run
        except (OSError, ValueError):
            # it was removed meanwhile, or is damaged
            continue
    return live
