"""Imports in this process, done as their worker does them, from one question to the next."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ranking.storage.events import Report
from ranking.storage.import_questions import Answer, Question, Steps, open_question, reply
from ranking.storage.importing import steps_of
from ranking.storage.run import ENDED, Run, take_lock
from ranking.storage.run_settings import FeaturesSettings, ImportSettings
from ranking.storage.store import Store

# held until the tests end, as by workers that live
_locks: list[int] = []
# by run: the number of its last question, and its steps
_begun: dict[str, tuple[int, Steps]] = {}


def go_on(store: Store, run: Run) -> Run:
    """The import after its worker's work up to the next question, which is answered, or to its end."""
    report = Report(run.events_file)
    number, steps = _begun.get(run.id) or (0, steps_of(store, run, report.progress))
    try:
        if number:
            question = steps.send(Answer(**json.loads(run.answer_file.read_text())))
        else:
            store.runs.update(run.id, state="running")
            question = next(steps)
    except StopIteration as end:
        store.runs.free(run)
        store.runs.end(run.id, "finished", result=end.value)
    except ValueError as error:
        store.runs.end(run.id, "failed", str(error))
        store.runs.clear(run)
    else:
        _begun[run.id] = number + 1, steps
        run.question_file.write_text(json.dumps(asdict(replace(question, number=number + 1))))
    return store.runs.get(run.id)


def question_of(run: Run) -> Question:
    question = open_question(run)
    assert question is not None
    return question


def agree(store: Store, run: Run, **changes: Any) -> Run:
    """The import after a person has added what it shows."""
    reply(run, Answer(question_of(run).number, True, changes))
    return go_on(store, run)


def begin(
    store: Store, settings: ImportSettings | FeaturesSettings, upload: bytes | Path | None = None
) -> Run:
    """An import up to its first question."""
    run = store.runs.create("import", settings.to_json(), lambda folder: _locks.append(take_lock(folder)))
    if upload is not None:
        run.uploaded_file.write_bytes(upload if isinstance(upload, bytes) else upload.read_bytes())
    return go_on(store, run)


def import_here(store: Store, source: str, stop_at: str = "", **settings: Any) -> Run:
    """A finished import of an image set, or one that waits with the question about `stop_at`."""
    run = begin(store, ImportSettings(source, settings))
    while run.state not in ENDED and question_of(run).about != stop_at:
        run = agree(store, run)
    return run
