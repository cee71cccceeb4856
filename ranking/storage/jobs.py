"""Run imports, training runs and studies outside the web process: start, watch and cancel workers, detect their death.

A worker holds an flock on its run's folder for its whole life. The lock is taken before the run becomes visible, and
passed to the worker as an open file, so a running worker never looks dead. The system releases the lock when the
worker dies, whatever the cause. So any process, including one started later, can check it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path

from ranking.core.errors import HomeError, InputError
from ranking.core.settings import Settings
from ranking.storage.events import (
    MEASURING,
    SAVING,
    TAIL_BYTES,
    events,
    last_events,
    why_it_ended,
)
from ranking.storage.import_questions import WAITING
from ranking.storage.memory import reason_of
from ranking.storage.run import ENDED, Kind, Run, take_lock
from ranking.storage.run_settings import IMPORT_SETTINGS
from ranking.storage.store import Store

__all__ = ["cancel", "events", "poll", "recover", "start", "start_once"]

log = logging.getLogger(__name__)

WORKER = (sys.executable, "-m", "ranking.commands.worker")
# number of the open file that holds the worker's lock
LOCK_VARIABLE = "RANKING_WORKER_LOCK"
# Niceness of workers relative to pages: a page needs a tenth of a second now and then, for which it would otherwise
# wait while training uses all cores. Workers still get all the time that pages leave.
LESS_URGENT = 5
# between asking a worker to stop and killing it
STOP_SECONDS = 0.8
# the same, if it is saving a model
SAVE_SECONDS = 5.0
# the same, if it evaluates a model, which cannot be shown without
MEASURE_SECONDS = 60.0

# The threads of linear algebra wait for each other by spinning. If a page needs a core too, training on all cores is
# many times slower than training on all but one. Values that the user has set take precedence.
SPARE_A_CORE = {"OPENBLAS_NUM_THREADS": str(max(1, (os.cpu_count() or 2) - 1))}

Fill = Callable[[Run], object]

# the workers of this process, until they are reaped
_children: dict[str, subprocess.Popen[bytes]] = {}


# ---------------------------------------------------------------------------------------------------------
# Start, poll, cancel
# ---------------------------------------------------------------------------------------------------------


def start(store: Store, kind: Kind, settings: Settings, fill: Fill | None = None) -> Run:
    """Start a worker on a new run, after `fill` has put the required files into its folder."""
    # If the system refuses the files or the process, the run is "failed", with the reason.
    return _start(store, kind, settings, once=False, fill=fill)


def start_once(store: Store, kind: Kind, settings: Settings, request: Collection[str] = ()) -> Run:
    """Return the live run with these settings, or start one; of equal calls at once, one starts a worker."""
    # A run that was cancelled is never returned. `request`: ids of runs of the same request (`Runs.create`).
    return _start(store, kind, settings, once=True, request=request)


def _start(
    store: Store,
    kind: Kind,
    settings: Settings,
    once: bool,
    fill: Fill | None = None,
    request: Collection[str] = (),
) -> Run:
    locks: list[int] = []
    try:
        run = store.runs.create(kind, settings, lambda folder: locks.append(take_lock(folder)), once, request)
        if not locks:
            # it exists already, with its worker
            return run
        try:
            if fill is not None:
                # Outside the lock of the data folder: an upload is long. If this process dies, the run ends.
                fill(run)
            child = _children[run.id] = _spawn(store, run, locks[0])
        except OSError as error:
            store.runs.end(run.id, "failed", f"it could not be started: {reason_of(error)}")
            return store.runs.get(run.id)
        store.runs.update(run.id, pid=child.pid)
    finally:
        # the worker has its own handle by now
        for lock in locks:
            os.close(lock)
    threading.Thread(target=_await_end, args=(store, run, child), daemon=True).start()
    return store.runs.get(run.id)


def _spawn(store: Store, run: Run, lock: int) -> subprocess.Popen[bytes]:
    with open(run.stderr_file, "ab") as output:
        child = subprocess.Popen(
            [*WORKER, str(store.home), run.id],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=[lock],
            # Ctrl-C on the server does not stop its workers
            start_new_session=True,
            env={**SPARE_A_CORE, **os.environ, LOCK_VARIABLE: str(lock)},
        )
    os.setpriority(os.PRIO_PROCESS, child.pid, os.getpriority(os.PRIO_PROCESS, 0) + LESS_URGENT)
    # Linux compares priorities only within a session, and sessions by this file (sched_autogroup). Not every system has
    # it, and it can be written ten times a second only; a worker that keeps its weight makes pages slower, not wrong.
    with contextlib.suppress(OSError):
        Path(f"/proc/{child.pid}/autogroup").write_text(f"{LESS_URGENT}")
    return child


def _await_end(store: Store, run: Run, child: subprocess.Popen[bytes]) -> None:
    """Reap a worker and end its run, also when no browser is open."""
    child.wait()
    try:
        poll(store, run.id)
    except HomeError:
        # the next poll ends the run when the data folder is back, and needs the exit code
        return
    except InputError as error:
        log.warning("run %s has no folder any more: %s", run.id, error)
    _children.pop(run.id, None)


def poll(store: Store, run_id: str) -> Run:
    """Return the run as it is now. If its worker is dead, end the run first, unless it is shared."""
    run = store.runs.get(run_id)
    if run.state in ENDED or run.shared:
        return run
    if run.alive:
        _kill_if_overdue(run)
        return run
    # The worker may have ended it, or it may have been cancelled, since it was read.
    run = store.runs.get(run_id)
    if run.state in ENDED:
        return run
    if run.cancelled is not None:
        store.runs.end(run_id, "cancelled", why_it_ended(run))
    else:
        store.runs.end(run_id, "failed", why_it_ended(run, _cause_of_death(run)))
    _children.pop(run_id, None)
    return store.runs.get(run_id)


def cancel(store: Store, run_id: str) -> None:
    """Ask the worker of a run to stop, and kill it in the background after about a second."""
    # The results so far are kept. Runs that have ended, or end first, do not change.
    poll(store, run_id)
    run = store.runs.own(run_id)
    if run.state in ENDED:
        return
    if run.cancelled is None:
        store.runs.update(run_id, cancelled=time.monotonic())
    # Read again: now either the pid is set or the worker sees `cancelled`.
    _signal(store.runs.get(run_id), signal.SIGTERM)
    threading.Thread(target=_wait_until_ended, args=(store, run_id), daemon=True).start()


def _wait_until_ended(store: Store, run_id: str) -> None:
    # as `_await_end`
    with contextlib.suppress(HomeError, InputError):
        while poll(store, run_id).state not in ENDED:
            time.sleep(0.02)


def recover(store: Store) -> None:
    """When a server starts, end the runs of dead workers and remove leftover files; leave running workers."""
    for run in store.runs.all_own():
        if run.state not in ENDED:
            poll(store, run.id)
    store.sweep()


def _kill_if_overdue(run: Run) -> None:
    if run.cancelled is not None:
        waited = time.monotonic() - run.cancelled
        if waited > STOP_SECONDS and waited > _seconds_to_stop(run):
            _signal(run, signal.SIGKILL)


def _seconds_to_stop(run: Run) -> float:
    """Return how many seconds a worker may take to stop, depending on its last reported step."""
    steps = {event.get("what") for event in last_events(run)}
    if MEASURING in steps:
        return MEASURE_SECONDS
    return SAVE_SECONDS if SAVING in steps else STOP_SECONDS


def _signal(run: Run, number: signal.Signals) -> None:
    """Send a signal to the worker of a run and to no other process."""
    # The system may have reused its pid. While the lock is held the worker lives, so a process descriptor
    # opened before the lock is checked belongs to the worker.
    if run.pid is None:
        # about to be started: the worker reads `cancelled` before it works
        return
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
# Exit
# ---------------------------------------------------------------------------------------------------------


def _cause_of_death(run: Run) -> str:
    """Return a worker's exit code, if it was a child, its last output, and the file an import was reading."""
    child = _children.get(run.id)
    code = None if child is None else child.wait()
    steps = [event["what"] for event in last_events(run) if event.get("event") == "progress"]
    if run.is_import and code is not None and steps and steps[-1] != WAITING:
        kind_name = IMPORT_SETTINGS[run.task].from_json(run.settings).file_name
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return f"{kind_name} crashed its reader (last step: {steps[-1]}; {how}); try another file or a smaller one"
    cause = cause_of_exit(code)
    words = _stderr_tail(run.stderr_file)
    return f"{cause}. Last output: {words}" if words else cause


def cause_of_exit(code: int | None) -> str:
    """Describe the end of a worker by its exit code; None if it is unknown."""
    if code is None:
        return "the worker exited for an unknown reason"
    if code == -signal.SIGKILL:
        return "the worker was killed (SIGKILL), possibly because the system ran out of memory"
    if code < 0:
        return f"the worker was killed by {signal.Signals(-code).name}"
    return f"the worker ended with exit code {code}"


def _stderr_tail(file: Path) -> str:
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
