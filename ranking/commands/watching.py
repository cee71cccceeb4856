"""Watch a run from the command line: a progress bar on stderr while it runs, and the reason if it fails."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from ranking.core.errors import InputError
from ranking.core.settings import Json
from ranking.core.text import readable
from ranking.storage import jobs
from ranking.storage.import_questions import WAITING, Answer, Question, open_question, reply
from ranking.storage.run import ENDED, Run
from ranking.storage.store import Store

Respond = Callable[[Question], Answer]

# between two reads of a run's events
POLL_SECONDS = 0.2
# of the bar, in characters
WIDTH = 30
# exit codes; argparse gives 2 for wrong arguments
DONE, FAILED, UNDECIDED, INTERRUPTED = 0, 1, 2, 130


def read_json(file: Path) -> Json:
    """Return the settings in `file`; ValueError if it contains none."""
    try:
        record = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(readable(str(file), 300), "settings as JSON", readable(str(error), 300)) from error
    if not isinstance(record, dict):
        raise InputError(readable(str(file), 300), "settings by name", f"{json.dumps(record):.60}")
    return record


class Bar:
    """One line that is redrawn on a terminal; elsewhere a new line whenever another step begins."""

    def __init__(self) -> None:
        self._stream, self._last, self._shown = sys.stderr, "", False

    def show(self, what: str, done: float, total: int) -> None:
        share = min(1.0, done / total) if total else 0.0
        text = f"{done:g} of {total}: {what}" if total > 1 else what
        if self._stream.isatty():
            filled = "#" * round(WIDTH * share)
            self._stream.write(f"\r\x1b[K[{filled:<{WIDTH}}] {text}"[:200])
            self._shown = True
        elif what.partition(";")[0] != self._last:
            self._last = what.partition(";")[0]
            self._stream.write(f"{text}\n")
        self._stream.flush()

    def end(self) -> None:
        """Move to the next line."""
        if self._shown:
            self._stream.write("\n")


def watch(store: Store, run: Run, respond: Respond | None = None) -> Run:
    """Show the progress of a run until it ends; return the run."""
    # Ctrl-C cancels it, keeps its results so far, and is raised again. respond: answers each question of an
    # import; if it raises an error, the import is cancelled.
    bar, offset = Bar(), 0
    try:
        while True:
            run = jobs.poll(store, run.id)
            events, offset = jobs.events(run, offset)
            shown = [event for event in events if event["event"] in ("progress", "iteration")]
            if shown and shown[-1].get("what") == WAITING:
                # only until it is answered below
                pass
            elif shown and shown[-1]["event"] == "progress":
                bar.show(shown[-1]["what"], shown[-1]["done"], shown[-1]["total"])
            elif shown:
                bar.show(_iteration(shown[-1]), 0, 0)
            if run.state in ENDED:
                return run
            if respond is not None and (question := open_question(run)) is not None:
                reply(run, respond(question))
            time.sleep(POLL_SECONDS)
    except (KeyboardInterrupt, InputError):
        jobs.cancel(store, run.id)
        while jobs.poll(store, run.id).state not in ENDED:
            time.sleep(POLL_SECONDS)
        raise
    finally:
        bar.end()


def _iteration(event: Json) -> str:
    gap = event["relative_gap"]
    return f"iteration {event['iteration']}, gap {'not known yet' if gap is None else format(gap, '.2%')}"


class NotFinished(Exception):
    """A run has failed or was cancelled; the reason is already on stderr."""


def finished(store: Store, run: Run, respond: Respond | None = None) -> Run:
    """Watch a run until it ends; NotFinished unless it finishes."""
    ended = watch(store, run, respond)
    if not ended_well(ended):
        raise NotFinished
    return ended


def ended_well(run: Run) -> bool:
    """Return whether a run has finished; otherwise print the reason to stderr."""
    if run.state == "finished":
        return True
    print(f"{run.kind_name} {run.id} {run.state}: {run.reason}", file=sys.stderr)
    return False
