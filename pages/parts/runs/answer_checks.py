"""Whether an answer is about what is there: a training of labels, an image and a label of its set."""

from __future__ import annotations

from collections.abc import Iterable

from pages.parts.app import cache, home
from ranking.core.errors import InputError
from ranking.explain.question_strategies import STRATEGIES
from ranking.jobs.uploaded_image import is_own_image
from ranking.workspace.answers import AnswerEvent
from ranking.workspace.run import Run


def refused(events: Iterable[AnswerEvent]) -> dict[AnswerEvent, str]:
    """Those of `events` that are about what is not there, each with the reason."""
    runs: dict[str, Run | str] = {}
    reasons: dict[AnswerEvent, str] = {}
    for event in events:
        if event.run not in runs:
            runs[event.run] = _run(event.run)
        run = runs[event.run]
        reason = run if isinstance(run, str) else _reason(event, run)
        if reason:
            reasons[event] = reason
    return reasons


def _run(run_id: str) -> Run | str:
    try:
        return home.store().run(run_id)
    except ValueError as error:
        return str(error)


def _reason(event: AnswerEvent, run: Run) -> str:
    """Why an answer cannot be of a training; "" where it can."""
    try:
        if run.task != "labels" or run.settings.get("set") != event.set:
            raise InputError(
                "run of an answer", "a training of labels of its image set", f"a {run.called} of another"
            )
        labels = cache.image_labels(event.set)
        if event.label not in labels.names:
            raise InputError("label of an answer", "one of its image set", f"{event.label[:80]!r}")
        own = is_own_image(home.store().home, event.image)
        if not own and not (labels.ids == event.image).any():
            expected = "one of its image set, or one that was uploaded here"
            raise InputError("image of an answer", expected, f"{event.image[:80]!r}")
        if event.strategy not in STRATEGIES:
            raise InputError(
                "strategy of an answer", f"one of {', '.join(STRATEGIES)}", f"{event.strategy[:80]!r}"
            )
    except (InputError, home.Gone) as error:
        return str(error)
    return ""
