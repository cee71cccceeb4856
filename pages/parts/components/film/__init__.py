"""Sequences of pictures as film strips below the true order, with a line from each picture's true place to its place
in the strip: lines that cross are pairs in the wrong order. Equal grades have no order among them, so their lines begin
as they end, and do not cross. One strip can be a person's own, to be moved by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts.app.colours import BLUE, GREY, VERMILLION
from ranking.core import Ints

FOLDER = Path(__file__).parent
AHEAD, BEHIND, IN_PLACE = BLUE, VERMILLION, GREY  # nearer to the front than it belongs; further back; right
STYLE = f":host {{--ahead: {AHEAD}; --behind: {BEHIND}; --in-place: {IN_PLACE};}}\n"


@dataclass(frozen=True)
class Frame:
    """One picture: `src` is a data URL, the caption stands below it; the highest grade goes first."""

    src: str
    alt: str
    caption: str
    grade: int


@dataclass(frozen=True)
class Strip:
    """The pictures in one order, as numbers of frames from the first place. movable: by hand."""

    title: str
    note: str
    order: tuple[int, ...]
    movable: bool = False


_mount = st.components.v2.component(
    "ranking_film",
    html='<div class="film"></div><div class="said" aria-live="polite"></div>',
    css=STYLE + (FOLDER.parent / "said.css").read_text() + (FOLDER / "film.css").read_text(),
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
    """Show `strips` below the `truth`, or by themselves where that is None: then without captions, too.

    token: what the frames are; where it is new, the movable strip begins at its order, else it stays as the hand left
    it. on_move hears of a move; `own_order` tells what came of it.
    """
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
    """The true order in which equal ones stand as in `order`.

    >>> settled((2, 1, 0), [1, 5, 1])
    (1, 2, 0)
    """
    return tuple(sorted(order, key=lambda each: -int(relevance[each])))


def own_order(key: str, token: str, first: Sequence[int]) -> tuple[int, ...]:
    """The order that a hand gave the movable strip of the film of that key; `first` where none has moved it."""
    sent: Any = st.session_state[key]["own"] if key in st.session_state else None
    if not isinstance(sent, dict) or sent.get("token") != token:
        return tuple(first)
    order = sent.get("order")
    if not isinstance(order, list) or any(type(each) is not int for each in order):
        return tuple(first)  # a message of another page than ours
    return tuple(order) if sorted(order) == sorted(first) else tuple(first)
