"""The order in which runs start: at most `places` run at the same time on a machine, further ones wait in the order of
pressing.

``queue/<imports or runs>/<time of pressing>-<id>`` in the data folder of a server names the folder of a run. An entry
counts while the worker of its run lives, which holds the lock of the run, so nothing has to be repaired after a crash.
A run may start as soon as fewer than `places` entries are before it; no entry ever comes before an earlier one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ranking.core.errors import HomeError
from ranking.storage.home import is_workspace, server_of
from ranking.storage.run import LOCK, Run, is_held

# Runs that are at work at the same time. Imports do not wait for training runs and studies; they are few enough for the
# memory, and enough that no preview waits long.
RUNS_AT_ONCE = max(2, os.cpu_count() or 2)
IMPORTS_AT_ONCE = 2 * RUNS_AT_ONCE


def enter(home: Path, run: Run) -> None:
    """Enter a run of a data folder whose lock is held. Repeating it is harmless."""
    entry = _entry(home, run)
    entry.parent.mkdir(parents=True, exist_ok=True)
    entry.write_text(str(home / "runs" / run.id))


def leave(home: Path, run: Run) -> None:
    """Remove the entry of a run, so that it counts no more although its worker lives."""
    _entry(home, run).unlink(missing_ok=True)


def waits_for(home: Path, run: Run) -> int:
    """Return how many other runs must end before a run of a data folder may start; 0 if it has started."""
    entry = _entry(home, run)
    before = sum(1 for earlier in _live(entry.parent) if earlier.name < entry.name)
    return max(0, before - _places(run) + 1)


def check_waiting(home: Path, run: Run) -> None:
    """Raise HomeError if `home` is a workspace in which another run like `run` waits already."""
    if not is_workspace(home):
        return
    live = sorted(_live(_entry(home, run).parent), key=lambda entry: entry.name)
    own = [place for place, entry in enumerate(live) if Path(entry.read_text()).parents[1] == home]
    if own and own[-1] >= _places(run):
        raise HomeError(
            f"cannot start another run: one of yours is waiting already, with {own[-1]} before it on this server; "
            "wait until it starts, or cancel it"
        )


def remove_dead(home: Path) -> None:
    """Remove the entries of runs whose workers are gone."""
    for folder in (server_of(home) / "queue").glob("*"):
        for entry in set(folder.iterdir()) - set(_live(folder)):
            entry.unlink(missing_ok=True)


def _places(run: Run) -> int:
    return IMPORTS_AT_ONCE if run.intake else RUNS_AT_ONCE


def _entry(home: Path, run: Run) -> Path:
    folder = server_of(home) / "queue" / ("imports" if run.intake else "runs")
    return folder / f"{int(run.created * 1e6):020}-{run.id}"


def _live(folder: Path) -> Iterator[Path]:
    """Yield the entries whose workers live."""
    for entry in folder.iterdir() if folder.is_dir() else ():
        try:
            if is_held(Path(entry.read_text()) / LOCK):
                yield entry
        except FileNotFoundError:
            continue  # it was removed meanwhile
