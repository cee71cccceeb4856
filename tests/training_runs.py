"""Training runs in this process: finished ones in a store, as a worker leaves them, and a listener."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ranking.commands import worker
from ranking.core import ProgressEvent
from ranking.storage.events import Report
from ranking.storage.run import Run
from ranking.storage.store import Store


def worked(store: Store, run: Run, work: Callable[[Store, Run, Report], dict[str, Any]]) -> Run:
    """The run after a worker's `work` on it."""
    report = Report(run.events_file)
    store.runs.end(run.id, "finished", result=work(store, run, report))
    report.flush()
    return store.runs.get(run.id)


def finished(store: Store, settings: dict[str, Any], name: str = "") -> Run:
    """A training of these settings, and what a person calls it."""
    run = worked(store, store.runs.create("train", settings), worker.train)
    if name:
        store.runs.rename(run.id, name)
    return store.runs.get(run.id)


class Listener:
    """Keeps what a training reports: its steps in order, each once; what it fitted; its iterations."""

    def __init__(self) -> None:
        self._steps: list[str] = []
        self.fitted: tuple[Any, ...] = ()
        self.iterations: list[ProgressEvent] = []

    @property
    def steps(self) -> list[str]:
        return list(dict.fromkeys(self._steps))

    def on_step(self, what: str, *_: object) -> None:
        self._steps.append(what)

    def on_fitted(self, *fitted: Any) -> None:
        self._steps.append("fitted")
        self.fitted = fitted

    def listeners(self) -> dict[str, Any]:
        """The arguments of a training that tells it."""
        heard = {"on_step": self.on_step, "on_fitted": self.on_fitted}
        return {**heard, "on_iteration": self.iterations.append}
