"""Which home a visitor works in: the server's own, or a room whose name in the address is the key to it.

One person on their own machine has the server's own home, and nothing of this file shows. Where the server listens to
other machines too, or the host says so, each visitor has a room (`ranking.workspace.rooms`).
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.parts.app import address, keys
from ranking.core.errors import HomeError
from ranking.workspace.home import home_folder
from ranking.workspace.room_layout import CLASS_ROOM, ROOMS, has_quotas
from ranking.workspace.rooms import Rooms, new_name

T = TypeVar("T")
WHEN = "RANKING_ROOMS"
# What the frame of a page keeps in the session from before it is known which room the visitor is in.
OF_THE_FRAME = (
    keys.BOOTED,
    keys.PAGE_SHOWN,
    keys.PAGE_RUNS,
    keys.REBUILDS,
    keys.MENU,
    keys.MENU_ROW,
    keys.COMPLAINTS,
)

_home_here: ContextVar[str | None] = ContextVar("home", default=None)


def used() -> bool:
    """Whether visitors have rooms: as the host says, else where other machines can reach the server."""
    setting = os.environ.get(WHEN) or "auto"
    if setting not in ("on", "off", "auto"):
        raise HomeError(
            f"{WHEN} must be on, off or auto, got {setting[:40]!r}; start the server with one of these"
        )
    return setting == "on" or (setting == "auto" and not is_loopback(st.get_option("server.address")))


def is_loopback(listens_at: str | None) -> bool:
    """Whether a server that listens at that address, None: at all, is reached from its own machine alone.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("0.0.0.0"), is_loopback(None)
    (True, True, False, False)
    """
    if listens_at == "localhost":
        return True
    try:
        return ipaddress.ip_address(listens_at or "0.0.0.0").is_loopback
    except ValueError:
        return False  # a name, of which nobody knows who reaches it


def here() -> str | None:
    """The home that the visitor works in, as `Store` takes it. HomeError where the address names no room, or one that
    is not there."""
    kept = _home_here.get()
    if kept is not None:
        return kept
    if not used():
        return os.environ.get("RANKING_HOME")
    if get_script_run_ctx() is None:
        raise RuntimeError(
            "beside the page nobody knows its address: wrap what is done there in `rooms.kept`"
        )
    named = name()
    home = _find(named) if named else None
    if home is None:
        raise HomeError(lost(named or "") + "; see the start page")
    return str(home)


def kept(make: Callable[[], T]) -> Callable[[], T]:
    """`make`, to be called beside the page, where files are made that a person takes along: in the home of the page."""
    home = here()

    def made() -> T:
        with _in(home):
            return make()

    return made


@contextmanager
def _in(home: str | None) -> Iterator[None]:
    token = _home_here.set(home)
    try:
        yield
    finally:
        _home_here.reset(token)


def name() -> str | None:
    """The name of the room in the address."""
    return st.query_params.get(keys.ROOM)


def all_rooms() -> Rooms:
    """The rooms of this server."""
    return _all_rooms(os.environ.get("RANKING_HOME"), os.environ.get(CLASS_ROOM))


@st.cache_resource(show_spinner=False)
def _all_rooms(home: str | None, class_room: str | None) -> Rooms:
    try:
        return Rooms(home)
    except ValueError as error:
        raise HomeError(f"{CLASS_ROOM}: {error}") from error


def lost(named: str) -> str:
    """Why the room of that name cannot be entered."""
    return f"there is no room {named[:80]!r} on this server: it was removed, or the address is incomplete"


def is_of_another(home: Path) -> bool:
    """Whether a home is a room, and not that of the address."""
    return used() and has_quotas(home) and home.name != name()


def without_paths(message: str) -> str:
    """A message, without the paths of rooms on the host: a room that was removed while a page used it has lost the mark
    by which `ranking.workspace.room_layout.home_in_words` knows it."""
    if not used():
        return message
    folder = re.escape(str(home_folder() / ROOMS))
    return re.sub(rf"(the data folder )?{folder}/[^/\s:;,]+", "this workspace", message)


def enter() -> bool:
    """Have the address name a room, a new one where it names none; whether that is there.

    The session goes with the room: what a browser tab remembers of one is of no other.
    """
    if not used():
        return True
    before: str | None = st.session_state.get(keys.IN_ROOM)
    named = name()
    if named is None:
        named = before if before and _find(before) else new_name()
        all_rooms().make(named)
        address.amend(**{keys.ROOM: named})
    if named == before and _find(named) is None:
        all_rooms().make(named)
        address.complain(
            "This room was removed from the server. You are in a new, empty room of the same name."
        )
    try:
        all_rooms().visit(named, opens=before != named)
    except ValueError:
        return False  # no room can have that name, or it is not there
    if before != named:
        for key in [key for key in st.session_state if key not in OF_THE_FRAME] if before else ():
            del st.session_state[key]
        st.session_state[keys.IN_ROOM] = named
    return True


def go_to(named: str) -> None:
    """Have the address name another room, which is there from now on, and nothing else. ValueError where no room can
    have that name."""
    all_rooms().make(named)
    st.query_params.from_dict({keys.ROOM: named})


def _find(named: str) -> Path | None:
    try:
        return all_rooms().find(named)
    except ValueError:
        return None  # no room can have that name
