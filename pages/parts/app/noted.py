"""What a page shows, noted on the way while a file of it is made (`handouts`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import streamlit as st

from pages.parts.app import keys
from ranking.reports.markup import Markup


@dataclass
class Walk:
    """The way through a lesson's steps. lesson: the name of its step in the address. now: the step whose parts are
    collected. due: whether the next run of the page is one of the walk's own. made: the file at the end of the way, of
    the lesson as it was at `address`."""

    lesson: str
    address: dict[str, str]
    now: int = 1
    due: bool = True
    parts: list[list[Markup]] = field(default_factory=lambda: [[]])
    made: str = ""


def walk() -> Walk | None:
    """The walk that goes on."""
    found: Walk | None = st.session_state.get(keys.HANDOUT)
    return found if found is not None and not found.made else None


def note(make: Callable[[], Markup]) -> None:
    """Note a part of the step, which is made only where somebody asked for the file."""
    going = walk()
    if going is not None:
        going.parts[-1].append(make())
