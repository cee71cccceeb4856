"""Checks that an answer refers to an existing label-ranking run, and to an image and a label of its image set."""

from __future__ import annotations

from collections.abc import Iterable

from pages.parts.app import cache, home
from ranking.core.errors import InputError
from ranking.explain.question_strategies import STRATEGIES
from ranking.jobs.uploaded_image import is_own_image
from ranking.storage.answers import AnswerEvent
from ranking.storage.run import Run


def refused(events: Iterable[AnswerEvent]) -> dict[AnswerEvent, str]:
    """Return the events that refer to something that does not exist, each with the reason."""
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
        return home.store().runs.get(run_id)
    except ValueError as error:
        return str(error)


def _reason(event: AnswerEvent, run: Run) -> str:
    """Return why an answer cannot belong to a run; "" if it can."""
    try:
        if run.task != "labels" or run.settings.get("set") != event.set:
            raise InputError(
                "run of an answer",
                "a label-ranking run of its image set",
                f"a {run.called} of another image set",
            )
        labels = cache.image_labels(event.set)
        if event.label not in labels.names:
            raise InputError("label of an answer", "a label of its image set", f"{event.label[:80]!r}")
        own = is_own_image(home.store().home, event.image)
        if not own and not (labels.ids == event.image).any():
            expected = "an image of its image set, or an image uploaded to this workspace"
            raise InputError("image of an answer", expected, f"{event.image[:80]!r}")
        if event.strategy not in STRATEGIES:
            raise InputError(
                "strategy of an answer", f"one of {', '.join(STRATEGIES)}", f"{event.strategy[:80]!r}"
            )
    except (InputError, home.Gone) as error:
        return str(error)
    return ""
