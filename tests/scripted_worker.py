"""A worker whose work is the list of steps in its settings, so that the tests of jobs can time its death.

Run as the real one: ``python scripted_worker.py HOME RUN_ID``; only the work itself is replaced.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from ranking.commands import worker
from ranking.core import ProgressEvent, StopTraining
from ranking.storage.events import Report
from ranking.storage.run import Run
from ranking.storage.store import Store

CERTIFICATE = {"primal": 2.0, "dual": 1.0, "gap": 1.0, "iterations": 1, "seconds": 0.1, "relative_gap": 0.5}


def work(store: Store, run: Run, report: Report) -> dict[str, Any]:
    for step, *details in run.settings["steps"]:
        STEPS[step](run, report, *details)
    return {"certificate": {**CERTIFICATE, "converged": not report.stopped}}


def iterate(run: Run, report: Report, count: int, pause: float) -> None:
    try:
        for number in range(count):
            time.sleep(pause)
            dual = 1.0 if number else float("-inf")
            report.iteration(ProgressEvent(number, primal=2.0, dual=dual, seconds=0.1, passes=number))
    except StopTraining:
        (run.folder / "model.npz").write_text("the best weights so far")


def be_deaf(run: Run, report: Report, seconds: float) -> None:
    """Compute without a callback: a SIGTERM is not noticed."""
    report.write({"event": "progress", "what": "Deaf", "done": 0, "total": 1})
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.01)


def hoard(run: Run, report: Report) -> None:
    pieces: list[Any] = []
    while True:
        pieces.append(bytes(400))


def crash(run: Run, report: Report) -> None:
    print("something went wrong inside", file=sys.stderr, flush=True)
    os.abort()


STEPS = {step.__name__: step for step in (iterate, be_deaf, hoard, crash)}

if __name__ == "__main__":
    worker.train = work
    sys.exit(worker.main(sys.argv[1:]))
