"""Workers are started, wait for their turn, are cancelled, and are settled when they die.

The steps of some of them are scripted.

What does not need a process has none: this one holds the lock of a run, as its worker would.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from working import (
    FOREVER,
    SCRIPTED,
    SLEEPING,
    Held,
    be_patient,
    cancelled,
    ended,
    events_of,
    heard,
    is_cleared,
    iterating,
    kept,
    kill,
    kill_all,
    start,
    wait,
)

from ranking.core.errors import HomeError
from ranking.storage import jobs
from ranking.storage.events import (
    BEST_KEPT,
    MEASURING,
    NO_WEIGHTS,
    NOTHING_STORED,
    SAVING,
    WEIGHTS_ALONE,
    cancel_reason,
    with_last_gap,
)
from ranking.storage.jobs import LESS_URGENT, cause_of_exit
from ranking.storage.queue import RUNS_AT_ONCE, waits_for
from ranking.storage.run import ENDED, Kind, Run
from ranking.storage.runs import Runs
from ranking.storage.store import Store

TASKS: tuple[tuple[Kind, str], ...] = (
    ("train", "samples"),
    *(("study", task) for task in ("asking", "midrank", "timing", "experiment")),
)
BOUNDS = ("dual", "gap", "relative_gap")
ITERATION = json.dumps({"event": "iteration", "iteration": 7, "primal": 2.0} | dict.fromkeys(BOUNDS)) + "\n"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(jobs, "WORKER", SCRIPTED)
    store = Store(tmp_path / "home")
    yield store
    kill_all(store)


@pytest.fixture
def held(store: Store) -> Iterator[Held]:
    """Gone before the store looks for what is alive."""
    held = Held()
    yield held
    held.let_die()


# ------------------------------------------------------------------------------------------- a quiet life


def test_a_run_is_alive_at_once_ends_finished_and_is_reaped(store):
    run = start(store, ["iterate", 2, 0.06])
    assert run.state == "queued"
    assert run.alive
    pid = run.pid
    run = ended(store, run)
    assert (run.state, run.reason) == ("finished", "")
    assert run.result["certificate"]["converged"] is True
    assert run.created <= run.started <= run.ended
    assert [event["state"] for event in events_of(run, "state")] == ["running", "finished"]
    assert [event["dual"] for event in events_of(run, "iteration")] == [None, 1.0]
    wait(lambda: not run.alive and not jobs._children)
    with pytest.raises(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    jobs.cancel(store, run.id)
    assert store.runs.get(run.id) == run, "too late to cancel it"


def test_a_refused_process_is_a_failed_run(store, monkeypatch):
    monkeypatch.setattr(jobs, "WORKER", ("/no/such/python",))
    run = start(store)
    assert run.state == "failed"
    assert "/no/such/python" in run.reason
    assert not run.alive


# --------------------------------------------------------------------------------------------------- once


def test_of_equal_starts_at_once_one_starts_a_worker(store, monkeypatch):
    monkeypatch.setattr(jobs, "WORKER", SLEEPING)
    settings = {"steps": [FOREVER]}
    with ThreadPoolExecutor(4) as pool:
        started = [pool.submit(jobs.start_once, Store(store.home), "train", settings) for _ in range(8)]
        runs = [answer.result() for answer in started]
    assert len({run.id for run in runs}) == len(store.runs.all()) == 1
    # equal as JSON
    assert jobs.start_once(store, "train", {"steps": (tuple(FOREVER),)}).id == runs[0].id
    assert jobs.start(store, "train", settings).id != runs[0].id


def test_different_settings_or_an_ended_run_start_a_new_run(store, monkeypatch):
    monkeypatch.setattr(jobs, "WORKER", SLEEPING)
    settings = {"steps": [FOREVER]}
    first = jobs.start_once(store, "train", settings)
    different = jobs.start_once(store, "train", {"steps": []})
    imported = jobs.start_once(store, "import", settings)
    jobs.cancel(store, first.id)
    after_cancel = jobs.start_once(store, "train", settings)
    kill(after_cancel)
    ended(store, after_cancel)
    after_death = jobs.start_once(store, "train", settings)
    assert len({run.id for run in (first, different, imported, after_cancel, after_death)}) == 5
    assert after_death.alive


# -------------------------------------------------------------------------------------------------- queue


@pytest.fixture
def full(store: Store, held: Held) -> list[Run]:
    """As many live trainings as may work at once."""
    return [held(store) for _ in range(RUNS_AT_ONCE)]


def test_all_kinds_but_imports_stand_in_one_queue(store, held, full):
    waiting = [held(store, kind, {"task": task}) for kind, task in TASKS]
    assert [waits_for(store.home, run) for run in waiting] == list(range(1, len(TASKS) + 1))
    for settings in ({}, {"task": "features"}):
        assert waits_for(store.home, held(store, "import", settings)) == 0, settings


def test_workers_wait_for_their_turn_and_a_dead_worker_frees_its_position(store, held, full):
    first, second, third = (start(store, ["iterate", 1, 0.0]) for _ in range(3))
    assert [waits_for(store.home, run) for run in (first, second, third)] == [1, 2, 3]
    kill(first)
    assert ended(store, first).state == "failed"
    assert [waits_for(store.home, run) for run in (second, third)] == [1, 2]
    assert cancelled(store, start(store, FOREVER)).state == "cancelled", "while it waits, or starts"
    held.let_die(full[0])
    second, third = ended(store, second), ended(store, third)
    assert second.state == third.state == "finished"
    assert second.started < third.started


# ------------------------------------------------------------------------------------------------- deaths


def test_a_dead_worker_is_noticed_without_a_poll(store, monkeypatch):
    for way, code, named in (
        ("exit 3", 3, "3"),
        ("kill -ABRT $$", -signal.SIGABRT, "SIGABRT"),
        ("kill -KILL $$", -signal.SIGKILL, "SIGKILL"),
    ):
        monkeypatch.setattr(jobs, "WORKER", ("sh", "-c", way))
        run = start(store)
        settled = wait(lambda run=run: (now := store.runs.get(run.id)).state == "failed" and now)
        assert settled.reason == cause_of_exit(code)
        assert named in settled.reason


def element(kind: int, data: bytes) -> bytes:
    """An element of a MATLAB file."""
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)


def test_a_file_that_crashes_its_reader_is_named(store, tmp_path, monkeypatch):
    """scipy ends its process at numbers of type 14, as pyarrow does at some damaged files."""
    monkeypatch.setattr(jobs, "WORKER", (sys.executable, "-m", "ranking.commands.worker"))
    head = element(6, struct.pack("<II", 6, 0)) + element(5, struct.pack("<ii", 1, 2)) + element(1, b"feat")
    file = tmp_path / "faces.mat"
    file.write_bytes(b"MATLAB 5.0".ljust(124) + b"\0\1IM" + element(14, head + element(14, bytes(8))))
    settings = {"source": "Public figures", "source_settings": {"file": str(file)}}
    run = ended(store, jobs.start(store, "import", settings))
    assert run.state == "failed"
    assert run.reason.startswith(f"{file} crashed its reader (last step: Reading {file}; SIGSEGV)")


def test_the_reason_of_a_crash_has_signal_and_last_output_but_no_dump(store):
    run = ended(store, start(store, ["iterate", 2, 0.0], ["crash"]))
    assert run.reason.startswith(cause_of_exit(-signal.SIGABRT))
    assert "something went wrong inside | Fatal Python error: Aborted" in run.reason
    assert run.reason == with_last_gap(run, run.reason.rpartition(". ")[0])
    assert "scripted_worker.py" not in run.reason
    assert "scripted_worker.py" in run.stderr_file.read_text()


def test_the_error_about_exhausted_memory_gives_the_limit(store, monkeypatch):
    """In small pieces: there is room left to say so."""
    monkeypatch.setenv("RANKING_WORKER_MEMORY", str(6 * 10**8))
    run = ended(store, start(store, ["iterate", 2, 0.0], ["hoard"]))
    assert run.state == "failed"
    assert "0.6 GB" in run.reason
    assert "RANKING_WORKER_MEMORY" in run.reason
    assert run.reason == with_last_gap(run, run.reason.rpartition(". ")[0])


def dead(store: Store, kind: Kind, task: str, moment: float | None, **columns: Any) -> Run:
    """A run whose worker died, after it was cancelled at a moment where that is given."""
    run = store.runs.create(kind, {"folds": 3, "task": task})
    store.runs.update(run.id, state="running", cancelled=moment, **columns)
    return run


MOMENTS = (None, time.monotonic())


def test_how_a_dead_worker_is_settled_depends_on_its_kind_and_on_who_ended_it(store):
    for (kind, task), moment in product((*TASKS, ("import", "images"), ("import", "features")), MOMENTS):
        run = jobs.poll(store, dead(store, kind, task, moment).id)
        reason = NO_WEIGHTS if kind == "train" else NOTHING_STORED
        expected = ("failed", cause_of_exit(None)) if moment is None else ("cancelled", reason)
        assert (run.state, run.reason, run.result) == (*expected, {}), task
        assert run.ended is not None


def test_a_killed_simulation_has_its_finished_folds_and_weights_outlive_who_measures_them(
    store,
):
    curves = [{"method": "C-star p@k", "settings": {}, "strategy": "random", "folds": [[0.5], [0.6]]}]
    for moment in MOMENTS:
        run = jobs.poll(store, dead(store, "study", "asking", moment, result={"curves": curves}).id)
        assert run.parts_done == 2
        assert run.reason == (cause_of_exit(None) if moment is None else cancel_reason(run))
        run = dead(store, "train", "samples", moment)
        run.model_file.write_text("the weights")
        run.events_file.write_text(ITERATION)
        run = jobs.poll(store, run.id)
        cause = cause_of_exit(None) if moment is None else "cancelled"
        assert run.reason == with_last_gap(run, WEIGHTS_ALONE.format(cause)) != WEIGHTS_ALONE.format(cause)
        assert run.model_file.read_text() == "the weights"


# --------------------------------------------------------------------------- of an import nothing is left


def fill(run: Run) -> None:
    """What an import has written in the midst of it."""
    run.draft.mkdir()
    (run.draft / "manifest.json").write_text("{}")
    run.uploaded_file.write_bytes(b"zip")


def fill_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write no record while an import fills the disk."""
    write = Runs._write

    def guarded(runs: Runs, run: Run) -> None:
        if run.state in ENDED and (run.uploaded_file.exists() or run.draft.exists()):
            raise HomeError("disk I/O error")
        write(runs, run)

    monkeypatch.setattr(Runs, "_write", guarded)


@pytest.mark.parametrize("server", ["watches", "has gone"])
def test_a_killed_import_leaves_no_files(store, monkeypatch, server):
    monkeypatch.setattr(jobs, "WORKER", SLEEPING)
    if server == "has gone":
        monkeypatch.setattr(jobs, "_await_end", lambda store, run, child: child.wait())
    fill_the_disk(monkeypatch)
    before = kept(store)
    run = jobs.start(store, "import", {}, fill)
    assert kept(store) != before
    kill(run)
    wait(lambda: not run.alive)
    if server == "has gone":
        assert run.draft.exists()
        jobs.recover(store)
    wait(lambda: is_cleared(run))
    assert (store.runs.get(run.id).state, kept(store)) == ("failed", before)


def test_an_import_whose_worker_reported_its_end_and_died_before_it_cleared_up_is_cleared(store, monkeypatch):
    monkeypatch.setattr(jobs, "WORKER", SLEEPING)
    run = jobs.start(store, "import", {}, fill)
    store.runs.end(run.id, "failed", "no image")
    kill(run)
    wait(lambda: is_cleared(run))
    assert store.runs.get(run.id).reason == "no image"


def test_an_upload_that_fills_the_disk_is_deleted_before_it_fails(store, monkeypatch):
    fill_the_disk(monkeypatch)

    def fill_up(run: Run) -> None:
        fill(run)
        raise OSError(28, "No space left on device")

    before = kept(store)
    run = jobs.start(store, "import", {}, fill_up)
    assert run.state == "failed"
    assert "No space left on device" in run.reason
    assert kept(store) == before


# ------------------------------------------------------------------------------------------------- cancel


def test_a_worker_that_ignores_cancelling_is_killed_after_a_delay(store):
    run = start(store, ["iterate", 3, 0.0], ["be_deaf", 10_000])
    heard(run, what="Deaf")
    begin = time.monotonic()
    run = cancelled(store, run)
    assert time.monotonic() - begin >= jobs.STOP_SECONDS
    assert (run.state, run.reason) == ("cancelled", with_last_gap(run, NO_WEIGHTS))


def test_how_long_a_worker_may_take_to_stop_depends_on_what_it_does(store, held, monkeypatch):
    sent: list[int] = []
    monkeypatch.setattr(jobs, "_signal", lambda run, number: sent.append(number))
    monkeypatch.setattr(jobs, "time", SimpleNamespace(monotonic=lambda: 1000.0, sleep=time.sleep))
    seconds = {"HOG": jobs.STOP_SECONDS, SAVING: jobs.SAVE_SECONDS, MEASURING: jobs.MEASURE_SECONDS}
    assert list(seconds.values()) == sorted(set(seconds.values()))
    for what, longest in seconds.items():
        run = held(store)
        with run.events_file.open("a") as file:
            for each in dict.fromkeys([what] if what == "HOG" else [SAVING, what]):
                event = {"event": "progress", "what": each, "done": 0, "total": 1}
                file.write(json.dumps(event) + "\n")
        for since in (None, 1000.0 - longest + 0.01, 1000.0 - longest - 0.01):
            assert sent == [], (what, since)
            store.runs.update(run.id, cancelled=since)
            assert jobs.poll(store, run.id).state == "queued"
        assert [sent.pop()] == [signal.SIGKILL]


def test_cancelling_twice_gives_a_worker_no_longer(store, held):
    run = held(store)
    jobs.cancel(store, run.id)
    first = store.runs.get(run.id).cancelled
    jobs.cancel(store, run.id)
    assert store.runs.get(run.id).cancelled == first
    held.let_die(run)
    assert ended(store, run).state == "cancelled"


def test_a_signal_goes_to_no_process_but_the_worker(store, held, monkeypatch):
    """The pid of a dead worker may be another process's: here it is this one's."""
    sent: list[int] = []
    monkeypatch.setattr(jobs.signal, "pidfd_send_signal", lambda process, number: sent.append(number))
    monkeypatch.setattr(jobs.os, "kill", lambda pid, number: sent.append(number))
    alive, dead = held(store), store.runs.create("train", {})
    for run in (alive, dead):
        store.runs.update(run.id, state="running", pid=os.getpid())
    jobs._signal(store.runs.get(dead.id), signal.SIGKILL)
    assert sent == []
    jobs.cancel(store, dead.id)
    assert sent == []
    assert store.runs.get(dead.id).state == "failed", "it had died before it was cancelled"
    jobs._signal(store.runs.get(alive.id), signal.SIGKILL)
    assert sent == [signal.SIGKILL]
    store.runs.update(alive.id, pid=2**22 + 1)
    # no such process: nothing to do
    jobs._signal(store.runs.get(alive.id), signal.SIGKILL)
    # else what is still alive could not be ended
    monkeypatch.undo()


# --------------------------------------------------------------------------------------- another process

SERVER = """
import sys
from ranking.storage import jobs
from ranking.storage.runs import Runs
from ranking.storage.store import Store
jobs.WORKER = tuple(sys.argv[2:])
print(jobs.start(Store(sys.argv[1]), "train", {"steps": [["iterate", 100000, 0.01]]}).id, flush=True)
"""


def test_a_training_run_survives_its_server_and_the_next_server_can_cancel_it(store, monkeypatch):
    be_patient(monkeypatch)
    command = [sys.executable, "-c", SERVER, str(store.home), *SCRIPTED]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    orphan = iterating(store, store.runs.get(done.stdout.strip()))
    assert os.getsid(orphan.pid) != os.getsid(0), "what stops the server in its terminal does not stop it"
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, orphan.pid) == min(19, ours + LESS_URGENT)
    restarted = Store(store.home)
    jobs.recover(restarted)
    assert jobs.poll(restarted, orphan.id).state == "running"
    before, offset = jobs.events(orphan)
    assert before
    wait(lambda: jobs.events(orphan, offset)[0])
    run = cancelled(restarted, orphan)
    assert run.state == "cancelled"
    assert run.reason.startswith(BEST_KEPT)
    assert run.result["certificate"]["converged"] is False
    assert run.model_file.exists()


def test_a_new_server_settles_the_runs_of_dead_workers_and_sweeps(store, held, monkeypatch):
    swept: list[list[str]] = []
    monkeypatch.setattr(
        Store, "sweep", lambda self: swept.append([self.runs.get(run.id).state for run in runs])
    )
    _, dead, over = runs = held(store), store.runs.create("train", {}), store.runs.create("train", {})
    store.runs.end(over.id, "finished")
    jobs.recover(store)
    assert swept == [["queued", "failed", "finished"]]
    assert store.runs.get(dead.id).reason == cause_of_exit(None)
