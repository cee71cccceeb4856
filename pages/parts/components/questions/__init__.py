"""A question about an image, the keys that answer it, and the label ranking that changes with the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts.app import colours
from pages.parts.components.tile import COLOURS
from ranking.storage.answers import CHECKS, LONGEST_TEXT, AnswerEvent

FOLDER = Path(__file__).parent
BUTTONS = (("yes", "yes", "1"), ("no", "no", "0"), ("skip", "skip", "S"), ("undo", "undo", "U"))
MOST_SENT = 1000  # events per message; more than a user can press before the server responds
MOST_LETTERS = 2 * MOST_SENT * LONGEST_TEXT  # of all names of images and labels in a message

_ranking = (
    '<section class="ranking {}"><div class="head"><span class="title"></span> <span class="measure"></span></div>'
    '<ol class="bars"></ol></section>'
)
_buttons = "".join(
    f'<button type="button" data-kind="{kind}">{word}<kbd>{key}</kbd></button>' for kind, word, key in BUTTONS
)
_variables = {**COLOURS, "grey": colours.GREY}

_mount = st.components.v2.component(
    "ranking_questions",
    html='<div class="questions"><section class="question"><div class="ask" aria-live="polite"></div>'
    '<div class="why"><span></span> <button type="button" class="more" hidden></button></div><div class="values"></div>'
    f'<div class="buttons">{_buttons}<span class="kept" role="status"></span></div></section>'
    f'<div class="rankings">{_ranking.format("own")}{_ranking.format("baseline")}</div>'
    '<button type="button" class="all" hidden></button></div>',
    css=f":host {{{''.join(f'--{name}: {colour};' for name, colour in _variables.items())}}}\n"
    + (FOLDER / "questions.css").read_text(),
    js=(FOLDER / "questions.js").read_text(),
)


@dataclass(frozen=True)
class Sent:
    """A message of the browser: all events that the server has not acknowledged, and the question that is shown.

    token: identifies the context of the question. shown: its label, None without a question. refused: session, number
    and reason of each event that cannot be stored, such as those of an earlier version of the page or with a wrong
    clock; they do not block other events.
    """

    events: tuple[AnswerEvent, ...] = ()
    token: str = ""
    shown: str | None = None
    refused: tuple[tuple[str, int, str], ...] = ()

    @classmethod
    def of(cls, value: Any) -> Sent:
        """Parse the `value` of the component. ValueError if it is invalid, because a browser may send anything."""
        if value is None:
            return cls()
        if not isinstance(value, Mapping) or not isinstance(value.get("events"), list):
            raise ValueError(f"the browser must send a log of answers, it sent {value!r:.80}")
        if len(value["events"]) > MOST_SENT:
            raise ValueError(f"the browser may send {MOST_SENT:,} answers at a time, it sent more")
        letters = sum(len(text) for event in value["events"] for text in _texts_of(event))
        if letters > MOST_LETTERS:
            raise ValueError(f"the browser may send {MOST_LETTERS:,} letters at a time, it sent {letters:,}")
        events, refused = list[AnswerEvent](), list[tuple[str, int, str]]()
        for event in value["events"]:
            try:
                events.append(AnswerEvent.from_json(event))
            except ValueError as error:
                if not _is_named(event):
                    raise
                refused.append((event["session"], event["number"], str(error)))
        token, shown = value.get("token"), value.get("shown")
        return cls(
            tuple(events),
            token if isinstance(token, str) else "",
            shown if isinstance(shown, str) else None,
            tuple(refused),
        )


def _texts_of(event: object) -> list[str]:
    return [text for text in event.values() if isinstance(text, str)] if isinstance(event, Mapping) else []


def _is_named(event: object) -> bool:
    """Whether an event has a valid session and number, by which the browser can identify it."""
    if not isinstance(event, Mapping):
        return False
    return all(CHECKS[name][1](event.get(name)) for name in ("session", "number"))


def sent_before(key: str) -> Sent:
    """The message that the browser had sent when this run of the page started."""
    return Sent.of(st.session_state[key]["log"]) if key in st.session_state else Sent()


def questions(data: dict[str, Any], key: str, on_more: Callable[[], None]) -> Sent:
    """Show `data` (see questions.js) and return the message of the browser. on_more: called to raise k by one."""
    shown = _mount(
        key=key, data=data, default={"log": None}, on_log_change=lambda: None, on_more_change=on_more
    )
    return Sent.of(shown.log)
