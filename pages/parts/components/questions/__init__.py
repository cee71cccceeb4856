"""A question about an image, the keys that answer it, and the ranked labels that move with the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts.app import colours
from pages.parts.components.tile import COLOURS
from ranking.workspace.answers import CHECKS, LONGEST_TEXT, AnswerEvent

FOLDER = Path(__file__).parent
BUTTONS = (("yes", "yes", "1"), ("no", "no", "0"), ("skip", "skip", "S"), ("undo", "undo", "U"))
MOST_SENT = 1000  # events in one message; more than a person presses before the server answers
MOST_LETTERS = 2 * MOST_SENT * LONGEST_TEXT  # of all names in one message: of images and of labels

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
    f'<div class="rankings">{_ranking.format("own")}{_ranking.format("rival")}</div>'
    '<button type="button" class="all" hidden></button></div>',
    css=f":host {{{''.join(f'--{name}: {colour};' for name, colour in _variables.items())}}}\n"
    + (FOLDER / "questions.css").read_text(),
    js=(FOLDER / "questions.js").read_text(),
)


@dataclass(frozen=True)
class Sent:
    """What the browser sent: all events that it has not heard to be on disk, and what it shows now.

    token: what the question on the screen belongs to; shown: its label, None where there is none. refused: session,
    number and what is wrong, of events that cannot be kept, as an earlier version of the page or a clock that is far
    off may leave them; they hold up no others.
    """

    events: tuple[AnswerEvent, ...] = ()
    token: str = ""
    shown: str | None = None
    refused: tuple[tuple[str, int, str], ...] = ()

    @classmethod
    def of(cls, value: Any) -> Sent:
        """`value` of the component; a ValueError says what is wrong with it: a browser may send anything."""
        if value is None:
            return cls()
        if not isinstance(value, Mapping) or not isinstance(value.get("events"), list):
            raise ValueError(f"the browser must send a log of answers, it sent {value!r:.80}")
        if len(value["events"]) > MOST_SENT:
            raise ValueError(f"the browser may send {MOST_SENT:,} answers at once, it sent more")
        letters = sum(len(text) for event in value["events"] for text in _texts_of(event))
        if letters > MOST_LETTERS:
            raise ValueError(f"the browser may send {MOST_LETTERS:,} letters at once, it sent {letters:,}")
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
    """Whether the browser can be told which of its events it is."""
    if not isinstance(event, Mapping):
        return False
    return all(CHECKS[name][1](event.get(name)) for name in ("session", "number"))


def sent_before(key: str) -> Sent:
    """What the browser had sent when this run of the page began."""
    return Sent.of(st.session_state[key]["log"]) if key in st.session_state else Sent()


def questions(data: dict[str, Any], key: str, on_more: Callable[[], None]) -> Sent:
    """Show `data` (see questions.js); what the browser has sent. on_more: a person wants one more label inside."""
    shown = _mount(
        key=key, data=data, default={"log": None}, on_log_change=lambda: None, on_more_change=on_more
    )
    return Sent.of(shown.log)
