"""Imports, trainings and simulations outside the web process: start, watch, cancel; notice the death of a worker.

A worker holds an flock on its run's folder for its whole life. The lock is taken before anyone can see the
run and handed to the worker as an open file, so there is no moment at which a live run looks dead; the system
drops it at the worker's death, whatever the cause. So any process, also one started later, can tell.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ranking.core.errors import HomeError, InputError
from ranking.jobs.events import (
    MEASURING,
    SAVING,
    TAIL_BYTES,
    events,
    last_events,
    last_gap,
    why_it_ended,
)
from ranking.workspace.database_copies import keep_copy
from ranking.workspace.room_layout import has_quotas
from ranking.workspace.room_quotas import most_jobs
from ranking.workspace.run import ENDED, Kind, Run, take_lock
from ranking.workspace.store import Store, TakenIn

__all__ = [
    "cancel",
    "claim_turn",
    "events",
    "last_gap",
    "poll",
    "recover",
    "start",
    "start_once",
    "take_lock",
    "waits_for",
]

WORKER = (sys.executable, "-m", "ranking.jobs.worker")
LOCK_VARIABLE = "RANKING_WORKER_LOCK"  # which of its open files is the worker's lock
MOST_AT_ONCE = max(
    2, os.cpu_count() or 2
)  # trainings and simulations that work at the same time; others wait their turn
# The same of imports, and again of looks before them, which end soon: so many that memory is enough, and that no look
# waits long.
MOST_IMPORTS_AT_ONCE = 2 * MOST_AT_ONCE
# By how much less urgent than pages work is. A page needs a tenth of a second now and then, for which it would wait
# where trainings take all cores. What no page wants work has all the same.
LESS_URGENT = 5
STOP_SECONDS = 0.8  # from asking a worker to stop to killing it
SAVE_SECONDS = 5.0  # the same, if it has stopped training and is saving
MEASURE_SECONDS = 60.0  # the same, if it measures what it has learnt, without which that cannot be shown

# The threads of linear algebra wait for each other by spinning: where the page needs a core too, a training on
# all cores takes many times longer than one that leaves the page its own. What the user has set goes first.
SPARE_A_CORE = {"OPENBLAS_NUM_THREADS": str(max(1, (os.cpu_count() or 2) - 1))}

Fill = Callable[[Run], object]

_children: dict[str, subprocess.Popen[bytes]] = {}  # the workers of this process, until they are reaped


# ---------------------------------------------------------------------------------------------------------
# Start, poll, cancel
# ---------------------------------------------------------------------------------------------------------


def start(store: Store, kind: Kind, settings: dict[str, Any], fill: Fill | None = None) -> Run:
    """Start a worker on a new run, after `fill` has put the files in it that it needs. Where the system refuses these,
    or a process, the run is "failed" and says so."""
    return _start(store, kind, settings, once=False, fill=fill)


def start_once(store: Store, kind: Kind, settings: dict[str, Any]) -> Run:
    """The live run that does exactly this already, else a new one: of equal calls at once one starts a worker.

    A run that was asked to stop is not handed out again.
    """
    return _start(store, kind, settings, once=True)


def _start(store: Store, kind: Kind, settings: dict[str, Any], once: bool, fill: Fill | None = None) -> Run:
    locks: list[int] = []
    try:
        run = store.create_run(kind, settings, lambda folder: locks.append(take_lock(folder)), once)
        if not locks:
            return run  # it was there, with its worker
        try:
            if fill is not None:
                fill(run)  # outside of any transaction: if we die here, the lock goes, and the run is settled
            child = _children[run.id] = _spawn(store, run, locks[0])
        except OSError as error:
            _clear(store, run)  # first: where it was its upload that filled the disk, no row could be written
            store.end_run(run.id, "failed", f"the system could not start a worker: {error}")
            return store.run(run.id)
        store.update_run(run.id, pid=child.pid)
    finally:
        for lock in locks:  # the worker has its own hold on it by now
            os.close(lock)
    threading.Thread(target=_await_end, args=(store, run, child), daemon=True).start()
    return store.run(run.id)


def _spawn(store: Store, run: Run, lock: int) -> subprocess.Popen[bytes]:
    with open(run.stderr_file, "ab") as output:
        child = subprocess.Popen(
            [*WORKER, str(store.home), run.id],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=[lock],
            start_new_session=True,  # what stops the server (Ctrl-C) does not stop a training
            env={**SPARE_A_CORE, **os.environ, LOCK_VARIABLE: str(lock)},
        )
    os.setpriority(os.PRIO_PROCESS, child.pid, os.getpriority(os.PRIO_PROCESS, 0) + LESS_URGENT)
    return child


def _await_end(store: Store, run: Run, child: subprocess.Popen[bytes]) -> None:
    """Reap a worker and have its run settled, also when no browser is looking."""
    code = child.wait()
    with contextlib.suppress(
        HomeError
    ):  # whoever looks when the home is back settles it, and how it died is kept
        try:
            run = poll(store, run.id)
        except InputError:  # its row has vanished: nobody will ask how it died
            _children.pop(run.id, None)
            return
        except HomeError as error:
            if code == 0 or not run.intake or error.lost is not None:
                raise
            store.free(run)  # of a disk that it has filled no row can be read, either
            run = poll(store, run.id)
        _children.pop(run.id, None)  # of one that settled itself
        if run.state in ("failed", "cancelled"):
            _clear(store, run)  # once more: the worker may have died before it did


def waits_for(store: Store, run: Run) -> int:
    """How many others must end before it is the turn of `run`: trainings and simulations, or of an
    import imports, or of a look looks.

    At most MOST_AT_ONCE work, and of one room as many as it may have (`ranking.workspace.job_queue`). A worker that
    waits looks for itself whether it is its turn: the lock on its run is its place in the queue, which the system gives
    up for it however it dies.
    """
    return store.queue_of(run.task).waits_for(run.id, *_places(store, run))


def claim_turn(store: Store, run: Run) -> int:
    """Have `run` work if it is its turn, and return 0; else what `waits_for` does. For its worker."""
    return store.queue_of(run.task).claim(run.id, *_places(store, run))


def _places(store: Store, run: Run) -> tuple[int, int]:
    """How many work at once on the machine, and of one room."""
    places = MOST_IMPORTS_AT_ONCE if run.intake else MOST_AT_ONCE
    return places, most_jobs() if has_quotas(store.home) else places


def poll(store: Store, run_id: str) -> Run:
    """The run as it stands; one whose worker died without settling it is settled here, unless it is lent."""
    run = store.run(run_id)
    if run.state in ENDED or run.lent:
        return run
    if run.alive:
        _kill_if_overdue(run)
        return run
    run = store.caught_up(run_id)  # the worker may have settled it, or been cancelled, since it was read
    if run.state in ENDED:
        return run
    if run.intake:
        store.free(run)  # first: where it is what filled the disk, no row could be written
    if run.cancelled is not None:
        store.end_run(run_id, "cancelled", why_it_ended(run))
    else:
        store.end_run(run_id, "failed", why_it_ended(run, _cause_of_death(run)))
    _children.pop(run_id, None)
    _clear(store, run)
    return store.run(run_id)


def _clear(store: Store, run: Run) -> None:
    """Of an import that did not finish nothing is left."""
    if run.intake:
        store.clear(run)


def cancel(store: Store, run_id: str) -> None:
    """Ask the worker of a run to stop, and see to it in the background that it does within a second.

    What it has learned by then is kept. A run that has ended, or ends first, stays as it is.
    """
    poll(store, run_id)
    run = store.own_run(run_id)
    if run.state in ENDED:
        return
    if run.cancelled is None:
        store.update_run(run_id, cancelled=time.monotonic())
    _signal(store.run(run_id), signal.SIGTERM)  # read again: now either we see the pid or it sees `cancelled`
    threading.Thread(target=_see_off, args=(store, run_id), daemon=True).start()


def _see_off(store: Store, run_id: str) -> None:
    with contextlib.suppress(HomeError, InputError):  # as `_await_end`
        while poll(store, run_id).state not in ENDED:
            time.sleep(0.02)


def recover(store: Store) -> TakenIn:
    """Recover at the start of a server: add missing rows to the database, end the runs of dead workers, sweep, and copy
    the database.

    Running workers are left alone. Returns what `Store.take_in` found.
    """
    taken = store.take_in()
    for run in store.own_runs():
        if run.state not in ENDED:
            poll(store, run.id)
    store.sweep()
    keep_copy(store.home)
    return taken


def _kill_if_overdue(run: Run) -> None:
    if run.cancelled is not None:
        waited = time.monotonic() - run.cancelled
        if waited > STOP_SECONDS and waited > _seconds_to_stop(run):
            _signal(run, signal.SIGKILL)


def _seconds_to_stop(run: Run) -> float:
    """Return how long a worker may take to stop, by its last reported steps."""
    steps = {event.get("what") for event in last_events(run)}
    if MEASURING in steps:
        return MEASURE_SECONDS
    return SAVE_SECONDS if SAVING in steps else STOP_SECONDS


def _signal(run: Run, number: signal.Signals) -> None:
    """Signal a run's worker and nobody else.

    A pid may be another process's by now. While the lock is held the worker lives, so a process descriptor
    opened before the lock is found held is the worker's own.
    """
    if run.pid is None:
        return  # about to be started: the worker reads `cancelled` before it works
    with contextlib.suppress(ProcessLookupError):
        if sys.platform == "linux":
            process = os.pidfd_open(run.pid)
            try:
                if run.alive:
                    signal.pidfd_send_signal(process, number)
            finally:
                os.close(process)
        elif run.alive:
            os.kill(run.pid, number)


# ---------------------------------------------------------------------------------------------------------
# How it ended
# ---------------------------------------------------------------------------------------------------------


def _cause_of_death(run: Run) -> str:
    """What is known of a worker's end: its exit, if it was a child of this process, and its last words."""
    child = _children.get(run.id)
    cause = cause_of_exit(None if child is None else child.wait())
    words = _last_words(run.stderr_file)
    return f"{cause}; its last words: {words}" if words else cause


def cause_of_exit(code: int | None) -> str:
    """How a worker ended, by its exit code; None where nobody knows it."""
    if code is None:
        return "the worker died without saying why"
    if code == -signal.SIGKILL:
        return "the worker was killed by SIGKILL, which is also what the system does when memory runs out"
    if code < 0:
        return f"the worker was killed by {signal.Signals(-code).name}"
    return f"the worker ended with exit code {code}"


def _last_words(file: Path) -> str:
    """Return the last lines of a worker's stderr before the dump of a crash, shortened."""
    try:
        with open(file, "rb") as stream:
            stream.seek(max(0, file.stat().st_size - TAIL_BYTES))
            text = stream.read().decode(errors="replace")
    except FileNotFoundError:
        return ""
    before, crash, error = text.partition("Fatal Python error:")
    lines = [line.strip() for line in before.splitlines() if line.strip()][-3:]
    if crash:
        lines.append(crash + error.partition("\n")[0])
    return " | ".join(line[:200] for line in lines)
