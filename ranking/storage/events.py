"""Events of a run: one JSON object per line, appended by its worker, read by any process at any time.

{"event": "state", "state", "reason"}; {"event": "progress", "what", "done", "total"};
{"event": "iteration", "iteration", "primal", "dual", "gap", "relative_gap", "seconds", "passes", "planes", "round"}.

"done" may be a fraction. JSON has no infinity: a bound that does not exist yet is null.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable
from pathlib import Path

from ranking.core import ProgressEvent, StopTraining, is_number
from ranking.core.settings import Json
from ranking.storage.json_numbers import json_numbers
from ranking.storage.run import Run, State

Event = Json

# at most 20 events a second of one kind
EVENT_SECONDS = 0.05
# of a round: these are all written, so that short training runs have a curve too
FIRST_ITERATIONS = 50
TAIL_BYTES = 1 << 16
# reported when training has ended, before its files are written
SAVING = "Saving the weights"
# reported when the weights are saved
MEASURING = "Measuring the model"

# The outcome of a training run that ended while its model was evaluated.
WEIGHTS_ALONE = "{}. The weights were saved (model.npz) but not evaluated; train again"
# Why a run is "cancelled", by what was kept.
BEST_KEPT = "cancelled; the best weights so far were kept"
NO_WEIGHTS = "cancelled before any weights were saved"
NOTHING_STORED = "cancelled before any result was saved"


# ---------------------------------------------------------------------------------------------------------
# Reading
# ---------------------------------------------------------------------------------------------------------


def events(run: Run, offset: int = 0) -> tuple[list[Event], int]:
    """Return the events after byte `offset`, and the offset of the next call.

    An incomplete last line is left for the next call. A complete line that is not a valid event of its kind (after a
    disk error) becomes {"event": "unreadable", "line": its text}.
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
    """Return whether an event has the fields that readers of its kind need; unknown kinds may have any fields."""
    if event.get("event") == "progress":
        numbers = [event.get("done"), event.get("total")]
        return isinstance(event.get("what"), str) and all(map(is_number, numbers))
    if event.get("event") == "iteration":
        bounds = [event.get(name, "") for name in ("dual", "gap", "relative_gap")]
        known = [bound for bound in bounds if bound is not None]
        return all(
            map(is_number, (event.get("iteration"), event.get("primal"), event.get("round", 0), *known))
        )
    return isinstance(event.get("event"), str)


def last_events(run: Run) -> list[Event]:
    """Return the events at the end of the file, however long it is."""
    try:
        size = run.events_file.stat().st_size
    except FileNotFoundError:
        return []
    tail, _ = events(run, max(0, size - TAIL_BYTES))
    # the first line may be incomplete
    return tail[1:] if size > TAIL_BYTES else tail


def last_gap(run: Run) -> str:
    """Return the last reported state of training in words; "" if there is none."""
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
    """Return `reason`, followed by the last reported state of training, if any."""
    gap = last_gap(run)
    return f"{reason}. Last report: {gap}" if gap else reason


def why_it_ended(run: Run, cause: str = "") -> str:
    """Return why a run ended without a result, its last report, and what was kept. cause: "" if it was cancelled."""
    if run.model_file.exists():
        return with_last_gap(run, WEIGHTS_ALONE.format(cause or "cancelled"))
    return with_last_gap(run, cause or cancel_reason(run))


def cancel_reason(run: Run) -> str:
    """Return why a run without saved weights was cancelled, and what was kept: finished folds, finished trials, or
    nothing."""
    if run.is_training:
        return NO_WEIGHTS
    if not run.parts_done:
        return NOTHING_STORED
    if run.task == "experiment":
        # without a count, because others may still finish
        return "cancelled; the finished runs were kept"
    return f"cancelled; the finished folds were kept: {run.parts_done} of {run.settings.get('folds')}"


# ---------------------------------------------------------------------------------------------------------
# Writing
# ---------------------------------------------------------------------------------------------------------


class Cancelled(Exception):
    """Raised at the first progress report after a SIGTERM if there is nothing to keep yet."""


class Report:
    """Appends events to a file, and delivers a SIGTERM to the work: `stop` sets a flag, and the next report raises.

    Events of one kind are at least EVENT_SECONDS apart, except the FIRST_ITERATIONS of a round. The last event of a
    kind and of a round is always written, by `flush` at the latest.
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
        """Report `done` of `total`. Raises Cancelled after a SIGTERM."""
        count = int(done) if done == int(done) else round(float(done), 3)
        self._thin(what, lambda: {"event": "progress", "what": what, "done": count, "total": int(total)})
        self.check()

    def check(self) -> None:
        """Raise Cancelled after a SIGTERM."""
        if self.stopped:
            raise Cancelled

    def iteration(self, event: ProgressEvent) -> None:
        """Report the state of the optimiser. Raises StopTraining after a SIGTERM."""
        if event.round != self._round:
            self.flush()
            self._iterations, self._round = 0, event.round
        self._iterations += 1
        self._thin("iteration", lambda: _iteration(event), whole=self._iterations <= FIRST_ITERATIONS)
        if self.stopped:
            raise StopTraining

    def saving(self) -> None:
        """Report the end of training. Raises nothing after a SIGTERM, because the trained model is worth saving."""
        self.flush()
        self.write({"event": "progress", "what": SAVING, "done": 0, "total": 1})

    def measuring(self) -> None:
        """Report that the model is saved and being evaluated. Raises nothing after a SIGTERM."""
        self.flush()
        self.write({"event": "progress", "what": MEASURING, "done": 0, "total": 1})

    def flush(self) -> None:
        """Write the pending event, if any."""
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            self.write(waiting())

    def write(self, event: Event) -> None:
        """Append one line. A line that does not fit on the disk is removed completely."""
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
