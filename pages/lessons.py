"""The lessons: what each one teaches, how long it takes, and whether it is done in this workspace."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from pages.parts.app import frame, menu
from pages.parts.lessons import lesson_steps


class Card(NamedTuple):
    """A lesson: its page, what it teaches, and how many minutes it takes."""

    page: str
    teaches: str
    minutes: int


CARDS = (
    Card("lesson", "Which errors cost most", 2),
    Card("neighbours_lesson", "When neighbours help or mislead", 4),
    Card("pairs_lesson", "What sequences show beyond pairs", 3),
    Card("violated_lesson", "How to find one ranking among 10²³³⁴", 4),
    Card("labels_lesson", "The most useful question", 4),
    Card("object_lesson", "Objects from labels of images", 4),
)


def steps() -> None:
    with frame.errors_in_place():
        done = lesson_steps.done()
        for column, card in zip(st.columns(len(CARDS)), CARDS, strict=True):
            with column, st.container(border=True, height="stretch"):
                show(card, card.page in done)


def show(card: Card, done: bool) -> None:
    st.markdown(f"### {menu.PAGES[card.page]}")
    st.markdown(card.teaches)
    st.caption(f"{card.minutes} minutes{' · ✓ done' if done else ''}")
    frame.next_step("Again" if done else "Begin", card.page, obvious=not done)


frame.show_page("lessons", "Each explains one idea.", steps)
