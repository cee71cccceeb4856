"""The questions of an import: its worker shows what it has read, and waits for the user's answer.

The last question is question.json in the folder of the run, the last answer answer.json; each is written whole and
renamed into place. So a question stays open without a server or a browser, and any process can answer it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from dataclasses import asdict, dataclass, field

from ranking.core.errors import InputError
from ranking.core.settings import Json, Settings
from ranking.storage.events import Cancelled, Report
from ranking.storage.home import write_whole
from ranking.storage.run import ENDED, Run

WAITING = "Waiting for your decision"
# between two reads of the answer
POLL_SECONDS = 0.2
# after which an import without a decision is cancelled
WAIT_HOURS = 24.0
UNDECIDED = f"cancelled after {WAIT_HOURS:g} hours without a decision; import it again"


@dataclass(frozen=True)
class Question:
    """What an import asks. about: "files", "copies", "vectors" or "model". reading: what was read, as JSON of its kind.

    number: from 1; an answer to an earlier question does not count.
    """

    about: str
    reading: Json
    number: int = 0


@dataclass(frozen=True)
class Answer:
    """The answer to the question with this number.

    add: whether to finish the import; otherwise read again, and ask again. changes: the settings to do it with, where
    they differ from those of the question.
    """

    number: int
    add: bool = True
    changes: Settings = field(default_factory=dict)


# An import: it yields questions, and returns its result.
Steps = Generator[Question, Answer, Json]


def open_question(run: Run) -> Question | None:
    """Return the question that an import waits with; None if there is none. InputError if it cannot be read."""
    question = last_question(run)
    return None if question is None or is_answered(run, question) else question


def last_question(run: Run) -> Question | None:
    """Return the last question of an import, also if it is answered; None and InputError as for `open_question`."""
    if run.state in ENDED or not run.question_file.exists():
        return None
    try:
        return Question(**json.loads(run.question_file.read_text()))
    except FileNotFoundError:
        # the import has just ended
        return None
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise InputError("the preview", "a readable file", "a damaged one", "cancel the import") from error


def is_answered(run: Run, question: Question) -> bool:
    """Return whether the last answer is to this question."""
    answer = _answer(run)
    return answer is not None and answer.number == question.number


def decided_at(run: Run) -> float:
    """Return when the last question was answered, in seconds since 1970; 0 if none was."""
    try:
        return run.answer_file.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def reply(run: Run, answer: Answer) -> None:
    """Answer the question of an import; the answer is on disk when this returns."""
    write_whole(run.answer_file, lambda path: path.write_text(json.dumps(asdict(answer))))


def _answer(run: Run) -> Answer | None:
    """Return the last answer; None if there is none, or it cannot be read."""
    try:
        return Answer(**json.loads(run.answer_file.read_text()))
    except (OSError, ValueError, TypeError, RecursionError):
        return None


def ask(run: Run, report: Report, question: Question) -> Answer:
    """Ask a question, and wait for the answer. Called by the worker; raises Cancelled after a SIGTERM, or WAIT_HOURS
    without an answer."""
    write_whole(run.question_file, lambda path: path.write_text(json.dumps(asdict(question))))
    report.progress(WAITING, 0, 1)
    report.flush()
    until = time.monotonic() + 3600 * WAIT_HOURS
    while (answer := _answer(run)) is None or answer.number != question.number:
        report.check()
        if time.monotonic() > until:
            report.stop()
            raise Cancelled(UNDECIDED)
        time.sleep(POLL_SECONDS)
    return answer
