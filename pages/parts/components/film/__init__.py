"""Predicted orders of a sequence as film strips below the true order.

A line joins the positions of each image in the two orders, so crossing lines are misordered pairs. Images of
equal grade have no order, and their lines do not cross. One strip can be rearranged by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts.app.colours import BLUE, GREY, VERMILLION
from ranking.core import Ints

FOLDER = Path(__file__).parent
# too early; too late; at the true position
AHEAD, BEHIND, IN_PLACE = BLUE, VERMILLION, GREY
STYLE = f":host {{--ahead: {AHEAD}; --behind: {BEHIND}; --in-place: {IN_PLACE};}}\n"


@dataclass(frozen=True)
class Frame:
    """One image. src: a data URL. caption: the text below it. The highest grade is first in the true order."""

    src: str
    alt: str
    caption: str
    grade: int


@dataclass(frozen=True)
class Strip:
    """An order of the frames, as their indices. movable: whether it can be rearranged by hand."""

    title: str
    note: str
    order: tuple[int, ...]
    movable: bool = False


_mount = st.components.v2.component(
    "ranking_film",
    html='<div class="film"></div><div class="screen-reader" aria-live="polite"></div>',
    css=STYLE + (FOLDER.parent / "screen_reader.css").read_text() + (FOLDER / "film.css").read_text(),
    js=(FOLDER / "film.js").read_text(),
)


def film(
    frames: Sequence[Frame],
    strips: Sequence[Strip],
    *,
    truth: Strip | None,
    token: str,
    label: str,
    key: str,
    on_move: Callable[[], None] | None = None,
) -> None:
    """Show `strips` below the strip `truth`; if that is None, without it and without captions."""
    # token: identifies the frames; a new token resets the movable strip to its order. on_move: called after a
    # move; `own_order` returns the result.
    _mount(
        key=key,
        data={
            "token": token,
            "label": label,
            "frames": [asdict(each) for each in frames],
            "truth": None if truth is None else asdict(truth),
            "strips": [asdict(each) for each in strips],
        },
        default={"own": None},
        on_own_change=on_move or (lambda: None),
    )


def settled(order: Sequence[int], relevance: Sequence[int] | Ints) -> tuple[int, ...]:
    """The true order; indices of equal relevance keep their order in `order`.

    >>> settled((2, 1, 0), [1, 5, 1])
    (1, 2, 0)
    """
    return tuple(sorted(order, key=lambda each: -int(relevance[each])))


def own_order(key: str, token: str, first: Sequence[int]) -> tuple[int, ...]:
    """The order of the movable strip in the film with that key; `first` if it has not been moved."""
    sent: Any = st.session_state[key]["own"] if key in st.session_state else None
    if not isinstance(sent, dict) or sent.get("token") != token:
        return tuple(first)
    order = sent.get("order")
    if not isinstance(order, list) or any(type(each) is not int for each in order):
        # not a message of this component
        return tuple(first)
    return tuple(order) if sorted(order) == sorted(first) else tuple(first)
