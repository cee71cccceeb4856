"""A lesson as one file to hand out, with every step as the person has it set.

Nothing is drawn twice for it: where a person asks for the file, the page runs through its steps, and what it draws is
noted on the way by the same functions that show it (`headline`, `caption`, `markdown`, `info`, `metric`, `setting`;
charts, strips, pictures and films note themselves). `lessons.choose_step` says which step is next, `offer` ends each.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts.app import frame, keys, noted
from pages.parts.app.noted import Walk
from ranking.reports.markup import element
from ranking.reports.page import note as small
from ranking.reports.page import page, section
from ranking.reports.prose import prose

MORE = "More of this step is there once it was trained, on the page."


def step_of(lesson: str) -> int | None:
    """The step that a walk through the lesson has come to; None where there is none, or a person came in between."""
    walk = noted.walk()
    if walk is None:
        return None
    if walk.lesson != lesson or not walk.due:
        del st.session_state[keys.HANDOUT]
        return None
    walk.due = False
    return walk.now


# ---------------------------------------------------------------------------------------------------------
# What is shown and noted
# ---------------------------------------------------------------------------------------------------------


def headline(text: str, at: DeltaGenerator, screen: str = "") -> None:
    """What a step says above all, which comes first in the file too. screen: as in `caption`."""
    at.markdown(f"## {text} {screen}".rstrip())
    walk = noted.walk()
    if walk is not None:
        walk.parts[-1].insert(0, prose(f"## {text}"))


def caption(text: str, at: Any = st, screen: str = "", **looks: Any) -> None:
    """A caption that goes along. at: where it stands, the page itself or a part of it. screen: what follows it there
    and is not for paper, such as what to press."""
    at.caption(f"{text} {screen}".rstrip(), **looks)
    noted.note(lambda: prose(text, "note"))


def markdown(text: str, at: Any = st, **looks: Any) -> None:
    """What is said, and goes along."""
    at.markdown(text, **looks)
    noted.note(lambda: prose(text))


def info(text: str) -> None:
    """That something is not there to show, which goes along."""
    st.info(text, icon=":material/info:")
    noted.note(lambda: prose(text))


def metric(label: str, value: str, **looks: Any) -> None:
    """A number that goes along."""
    st.metric(label, value, **looks)
    noted.note(lambda: element("p", label, " ", element("b", value), class_="metric"))


def setting(label: str, value: str) -> None:
    """What a person has set where it matters for what follows; the widget itself shows it on the page."""
    noted.note(lambda: element("p", f"{label}: ", element("b", value), class_="note set"))


def untrained() -> None:
    """Say in the file that the step has more; the page itself has the button that trains."""
    noted.note(lambda: small(MORE))


# ---------------------------------------------------------------------------------------------------------
# The way, and the file
# ---------------------------------------------------------------------------------------------------------


def offer(lesson: str, steps: Sequence[str]) -> None:
    """The last call of a lesson's page: the button for the file; during the walk the way to the next step."""
    walk = noted.walk()
    if walk is not None:
        if walk.now < len(steps):
            walk.parts.append([])
            walk.now += 1
        else:
            walk.made = _file(walk, steps)
        walk.due = True
        st.rerun()
    ended: Walk | None = st.session_state.get(keys.HANDOUT)
    if ended is not None and ended.lesson == lesson and ended.address == _address(lesson):
        st.download_button(
            "Save the hand-out (HTML)",
            ended.made,
            f"{st.session_state[keys.PAGE_SHOWN]}.html",
            "text/html",
            icon=":material/print:",
            on_click="ignore",
        )
        return
    st.button(
        "Hand-out",
        key=keys.widget("handout"),
        icon=":material/print:",
        on_click=_begin,
        args=(lesson,),
        help="All steps of this lesson in one file, as you have set them: to print, or to hand on.",
    )


def _begin(lesson: str) -> None:
    st.session_state[keys.HANDOUT] = Walk(lesson, _address(lesson))


def _address(lesson: str) -> dict[str, str]:
    """What the address says but for the step: what the file depends on."""
    return {name: value for name, value in st.query_params.to_dict().items() if name != lesson}


def _file(walk: Walk, steps: Sequence[str]) -> str:
    title = frame.PAGES[st.session_state[keys.PAGE_SHOWN]]
    there = f"/{st.session_state[keys.PAGE_SHOWN]}{'?' if walk.address else ''}{urlencode(walk.address)}"
    sections = [small(f"{time.strftime('%d %B %Y')}. The lesson as it is shown here: {there}")]
    for step, parts in zip(steps, walk.parts, strict=True):
        said = [] if len(parts) > 1 else [small(MORE)]
        sections.append(section(step, *parts, *said))
    return page(title, sections)
