"""What tests of runs share: waiting for a condition, starting workers, and what a worker leaves.

Nothing here sleeps for a fixed time or expects that something is quick: a condition is waited for, generously.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ranking.commands import worker
from ranking.core.errors import HomeError
from ranking.storage import jobs
from ranking.storage.import_questions import Answer, reply
from ranking.storage.run import ENDED, Kind, Run
from ranking.storage.store import Store

# A worker whose work is the list of steps in its settings.
SCRIPTED = (sys.executable, str(Path(__file__).with_name("scripted_worker.py")))
# One that holds its lock and does nothing until it is killed; it costs no start of Python.
SLEEPING = ("sh", "-c", "exec sleep 10000")
FOREVER = ["iterate", 100_000, 0.01]
# what is left of an import that did not finish
RECORDS = {"lock", "run.json"}
# seconds; far more than anything takes where the processors are busy with other things
LONGEST = 300.0


def wait(condition: Callable[[], Any]) -> Any:
    """What `condition` returns as soon as that is true."""
    until = time.monotonic() + LONGEST
    while time.monotonic() < until:
        if result := condition():
            return result
        time.sleep(0.01)
    raise AssertionError(f"nothing after {LONGEST} s")


def raising(error: BaseException) -> Callable[..., Any]:
    """A function that ends in an error, whatever it is given."""

    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


@contextmanager
def trouble(
    kind: type[HomeError] = HomeError, subject: str | None = None, why: str = "", remedy: str | None = None
) -> Iterator[pytest.ExceptionInfo[HomeError]]:
    """The block must end in a HomeError with this subject and remedy, and a reason that contains `why`."""
    with pytest.raises(kind) as caught:
        yield caught
    error = caught.value
    assert subject in (None, error.subject)
    assert remedy in (None, error.remedy)
    assert why in error.why


def start(store: Store, *steps: list[Any]) -> Run:
    """A training of these steps in a process of its own (see SCRIPTED)."""
    return jobs.start(store, "train", {"steps": list(steps)})


def here(store: Store, settings: dict[str, Any], kind: Kind = "train", upload: Path | None = None) -> Run:
    """The run after the worker's main has worked on it in this process."""
    # upload: a file that was uploaded for it.
    run = store.runs.create(kind, settings)
    if kind == "import":
        # as soon as it has read
        reply(run, Answer(1))
    if upload is not None:
        run.uploaded_file.write_bytes(upload.read_bytes())
    assert worker.main([str(store.home), run.id]) == 0
    return store.runs.get(run.id)


class Held:
    """Makes runs that are alive without a process of their own; closing a lock is the death of a worker."""

    def __init__(self) -> None:
        self._locks: dict[str, int] = {}

    def __call__(self, store: Store, kind: Kind = "train", settings: dict[str, Any] | None = None) -> Run:
        locks: list[int] = []
        run = store.runs.create(kind, settings or {}, lambda folder: locks.append(jobs.take_lock(folder)))
        self._locks[run.id] = locks[0]
        return run

    def let_die(self, *runs: Run) -> None:
        for name in [run.id for run in runs] or list(self._locks):
            os.close(self._locks.pop(name))


def ended(store: Store, run: Run) -> Run:
    result: Run = wait(lambda: (now := jobs.poll(store, run.id)).state in ENDED and now)
    return result


def events_of(run: Run, kind: str) -> list[dict[str, Any]]:
    return [event for event in jobs.events(run)[0] if event["event"] == kind]


def steps_of(run: Run) -> list[str]:
    """What a run has reported progress of, each once."""
    return list(dict.fromkeys(event["what"] for event in events_of(run, "progress")))


def heard(run: Run, **wanted: Any) -> dict[str, Any]:
    """The first event with these values, as soon as it comes."""
    event: dict[str, Any] = wait(
        lambda: next((event for event in jobs.events(run)[0] if wanted.items() <= event.items()), None)
    )
    return event


def iterating(store: Store, run: Run) -> Run:
    """A run whose training has begun."""
    heard(run, event="iteration")
    return store.runs.get(run.id)


def cancelled(store: Store, run: Run) -> Run:
    """The run after it was cancelled and its worker has gone."""
    jobs.cancel(store, run.id)
    wait(lambda: not run.alive)
    return ended(store, run)


def be_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no worker killed that takes longer to stop than it should, as on a busy machine."""
    for name in ("STOP_SECONDS", "SAVE_SECONDS", "MEASURE_SECONDS"):
        monkeypatch.setattr(jobs, name, LONGEST)


def kill(run: Run) -> None:
    """End a worker as the system does where memory runs out."""
    assert run.pid is not None
    os.kill(run.pid, signal.SIGKILL)


def kill_all(store: Store) -> None:
    """Leave no process behind."""
    for run in store.runs.all():
        if run.alive and run.pid:
            kill(run)
    wait(lambda: not any(run.alive for run in store.runs.all()) and not jobs._children)


def contents(store: Store) -> dict[str, bytes]:
    """All files and folders of a home, once the trash is empty."""
    wait(lambda: not any((store.home / "trash").iterdir()))
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in files_of(store)}


def kept(store: Store) -> dict[str, bytes]:
    """The files of a home but the records of runs and the queue."""
    files = {Path(path): data for path, data in contents(store).items() if Path(path).is_file()}
    queued = store.home / "queue"
    return {
        str(path): data
        for path, data in files.items()
        if path.name not in RECORDS and not path.is_relative_to(queued)
    }


def is_cleared(run: Run) -> bool:
    """Whether of an import only its record is left."""
    return {path.name for path in run.folder.iterdir()} <= RECORDS


def files_of(store: Store) -> list[Path]:
    """The same without what they hold."""
    return sorted(store.home.rglob("*"))
