"""What a run says while it works: one JSON object a line, appended by its worker, read by anyone at any time.

{"event": "state", "state", "reason"}; {"event": "progress", "what", "done", "total"};
{"event": "iteration", "iteration", "primal", "dual", "gap", "relative_gap", "seconds", "passes", "planes", "round"}.
"done" may be a fraction. JSON knows no infinity: a bound that is not there yet is null.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ranking.core import ProgressEvent, StopTraining, is_number
from ranking.core.json_numbers import json_numbers
from ranking.workspace.run import Run, State

Event = dict[str, Any]

EVENT_SECONDS = 0.05  # at most 20 events a second of one kind
FIRST_ITERATIONS = 50  # of a round: these are all written, so that a short training has a curve too
TAIL_BYTES = 1 << 16
SAVING = "Saving the weights"  # what a worker reports when training has ended and its files are to be written
MEASURING = "Measuring the model"  # the same when its weights are written

# What is left of a training that ended while its model was measured.
WEIGHTS_ALONE = (
    "{}; its weights were kept in its folder (model.npz), but not what they are worth; train again"
)
# Why a run is "cancelled", by what is left of it.
BEST_KEPT = "cancelled; the best weights so far were kept"
NO_WEIGHTS = "cancelled before any weights were saved"
NOTHING_TO_KEEP = "cancelled before there was anything to keep"


# ---------------------------------------------------------------------------------------------------------
# Reading
# ---------------------------------------------------------------------------------------------------------


def events(run: Run, offset: int = 0) -> tuple[list[Event], int]:
    """The events after byte `offset`, and the offset to ask from next time.

    A half-written last line is left for next time. A whole line that is no event, or lacks what events of its
    kind say (a disk's error), comes as {"event": "unreadable", "line": its text}.
    """
    try:
        with open(run.events_file, "rb") as file:
            file.seek(offset)
            lines = file.read()
    except FileNotFoundError:
        return [], offset
    whole = lines.rfind(b"\n") + 1
    return [_parsed(line) for line in lines[:whole].splitlines()], offset + whole


def _parsed(line: bytes) -> Event:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict) or not _is_whole(event):
        return {"event": "unreadable", "line": line.decode(errors="replace")}
    return event


def _is_whole(event: Event) -> bool:
    """Whether an event has what readers of its kind rely on; an unknown kind may be anything."""
    if event.get("event") == "progress":
        return isinstance(event.get("what"), str) and all(
            map(is_number, (event.get("done"), event.get("total")))
        )
    if event.get("event") == "iteration":
        bounds = [event.get(name, "") for name in ("dual", "gap", "relative_gap")]
        known = [
            event.get("iteration"),
            event.get("primal"),
            *(bound for bound in bounds if bound is not None),
        ]
        return all(map(is_number, known)) and _is_round(event.get("round", 0))
    return isinstance(event.get("event"), str)


def _is_round(value: object) -> bool:
    """Whether it counts rounds, from 0; files of before there were any lack it."""
    return type(value) is int and value >= 0


def last_events(run: Run) -> list[Event]:
    """Return the events at the end of the file, however long it is."""
    try:
        size = run.events_file.stat().st_size
    except FileNotFoundError:
        return []
    tail, _ = events(run, max(0, size - TAIL_BYTES))
    return tail[1:] if size > TAIL_BYTES else tail  # the first line may be the end of one


def last_gap(run: Run) -> str:
    """Where training stood when it was last heard of, in words; empty if it never was."""
    iterations = [event for event in last_events(run) if event.get("event") == "iteration"]
    if not iterations:
        return ""
    last = iterations[-1]
    where = f"round {last['round']}, " if last.get("round") else ""
    where += f"iteration {last['iteration']}"
    if last["gap"] is None:
        return f"{where}, objective {last['primal']:.4g}, no lower bound yet"
    relative = "" if last["relative_gap"] is None else f" ({last['relative_gap']:.2%} of the objective)"
    return f"{where}, gap {last['gap']:.4g}{relative}"


def with_last_gap(run: Run, reason: str) -> str:
    """`reason`, and where training stood if it had begun."""
    gap = last_gap(run)
    return f"{reason}; last heard of: {gap}" if gap else reason


def why_it_ended(run: Run, cause: str = "") -> str:
    """Why a run ended without a result, where training stood, and what is left of it. cause: empty where it was
    cancelled."""
    if run.model_file.exists():
        return with_last_gap(run, WEIGHTS_ALONE.format(cause or "cancelled"))
    return with_last_gap(run, cause or cancel_reason(run))


def cancel_reason(run: Run) -> str:
    """Return why a run without saved weights was cancelled, and what was kept: finished folds, finished trials, or
    nothing."""
    if run.learns:
        return NO_WEIGHTS
    if not run.parts_done:
        return NOTHING_TO_KEEP
    if run.task == "experiment":
        return "cancelled; the finished trainings were kept"  # how many, the page counts: some end meanwhile
    return f"cancelled; the finished folds were kept: {run.parts_done} of {run.settings.get('folds')}"


# ---------------------------------------------------------------------------------------------------------
# Writing
# ---------------------------------------------------------------------------------------------------------


class Cancelled(Exception):
    """Raised at the first progress after a SIGTERM where there is nothing worth keeping yet."""


class Report:
    """Appends events to a file, and is where a SIGTERM reaches the work: `stop` only sets a flag.

    Events of one kind come at most every EVENT_SECONDS, except the FIRST_ITERATIONS of a round; the last one of a
    kind and of a round is always written, at the latest by `flush`.
    """

    def __init__(self, file: Path) -> None:
        self.stopped = False
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._kind = ""
        self._iterations = self._round = 0
        self._time = -math.inf
        self._waiting: Callable[[], Event] | None = None

    def stop(self, *_: object) -> None:
        self.stopped = True

    def state(self, state: State, reason: str = "") -> None:
        self.flush()
        self.write({"event": "state", "state": state, "reason": reason})

    def progress(self, what: str, done: float, total: int) -> None:
        """`done` of `total`. Raises Cancelled after a SIGTERM."""
        count = int(done) if done == int(done) else round(float(done), 3)
        self._thin(what, lambda: {"event": "progress", "what": what, "done": count, "total": int(total)})
        self.check()

    def check(self) -> None:
        """Raises Cancelled after a SIGTERM."""
        if self.stopped:
            raise Cancelled

    def iteration(self, event: ProgressEvent) -> None:
        """Where the optimiser stands. Raises StopTraining after a SIGTERM."""
        if event.round != self._round:
            self.flush()
            self._iterations, self._round = 0, event.round
        self._iterations += 1
        self._thin("iteration", lambda: _iteration(event), whole=self._iterations <= FIRST_ITERATIONS)
        if self.stopped:
            raise StopTraining

    def saving(self) -> None:
        """Training has ended. Raises nothing after a SIGTERM: what was learnt is worth the time to keep it."""
        self.flush()
        self.write({"event": "progress", "what": SAVING, "done": 0, "total": 1})

    def measuring(self) -> None:
        """What was learnt is kept, and is measured. Raises nothing after a SIGTERM, either."""
        self.flush()
        self.write({"event": "progress", "what": MEASURING, "done": 0, "total": 1})

    def flush(self) -> None:
        """Write the event that waits, if one does."""
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            self.write(waiting())

    def write(self, event: Event) -> None:
        """Append one line. A line that does not fit on the disk is taken back whole."""
        line = json.dumps(event, allow_nan=False).encode() + b"\n"
        size = os.fstat(self._file).st_size
        try:
            while line:
                line = line[os.write(self._file, line) :]
        except OSError:
            os.ftruncate(self._file, size)
            raise

    def _thin(self, kind: str, event: Callable[[], Event], whole: bool = False) -> None:
        now = time.monotonic()
        if not whole and kind == self._kind and now - self._time < EVENT_SECONDS:
            self._waiting = event
            return
        if kind != self._kind:
            self.flush()
        self._kind, self._time, self._waiting = kind, now, None
        self.write(event())


def _iteration(event: ProgressEvent) -> Event:
    bounds = {"gap": event.gap, "relative_gap": event.relative_gap}
    numbers = {name: value for name, value in vars(event).items() if name != "weights"}
    return {"event": "iteration", **json_numbers({**numbers, **bounds})}
