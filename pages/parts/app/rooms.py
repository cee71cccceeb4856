"""The data folder of a visitor: the server's own, or a workspace whose name in the URL is the key to it.

A person who runs the app locally works in the server's own data folder. If other machines can reach the server, or if
the administrator says so, each visitor has a workspace, which the code calls a room (`ranking.workspace.rooms`).
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
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
# Session state that the frame of a page sets before the visitor's workspace is known.
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
    """Whether visitors have workspaces: RANKING_ROOMS, by default whether other machines can reach the server."""
    setting = os.environ.get(WHEN) or "auto"
    if setting not in ("on", "off", "auto"):
        raise HomeError(
            f"{WHEN} must be on, off or auto, got {setting[:40]!r}; start the server with one of these"
        )
    return setting == "on" or (setting == "auto" and not is_loopback(st.get_option("server.address")))


def is_loopback(listens_at: str | None) -> bool:
    """Whether only this machine can reach a server that listens at that network address (None: all addresses).

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("0.0.0.0"), is_loopback(None)
    (True, True, False, False)
    """
    if listens_at == "localhost":
        return True
    try:
        return ipaddress.ip_address(listens_at or "0.0.0.0").is_loopback
    except ValueError:
        return False  # a host name, which other machines may be able to reach


def here() -> str | None:
    """The visitor's data folder, as `Store` takes it. HomeError if the URL names no workspace, or one that does not
    exist."""
    kept = _home_here.get()
    if kept is not None:
        return kept
    if not used():
        return os.environ.get("RANKING_HOME")
    if get_script_run_ctx() is None:
        raise RuntimeError("the URL is not available outside a page run; wrap the function in `rooms.kept`")
    named = name()
    home = _find(named) if named else None
    if home is None:
        raise HomeError(lost(named or "") + "; see the start page")
    return str(home)


def kept(make: Callable[[], T]) -> Callable[[], T]:
    """Wrap `make` so that it can be called outside a page run, as downloads are, with the page's data folder."""
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
    """The name of the workspace in the URL."""
    return st.query_params.get(keys.ROOM)


def all_rooms() -> Rooms:
    """The workspaces of this server."""
    return _all_rooms(os.environ.get("RANKING_HOME"), os.environ.get(CLASS_ROOM))


@cache  # for speed, as in pages.parts.app.home
def _all_rooms(home: str | None, class_room: str | None) -> Rooms:
    try:
        return Rooms(home)
    except ValueError as error:
        raise HomeError(f"{CLASS_ROOM}: {error}") from error


def lost(named: str) -> str:
    """Why the workspace with that name cannot be opened."""
    return f"there is no workspace {named[:80]!r} on this server: it was removed, or the link is incomplete"


def is_of_another(home: Path) -> bool:
    """Whether a data folder is a workspace other than the one in the URL."""
    return used() and has_quotas(home) and home.name != name()


def without_paths(message: str) -> str:
    """Remove the server paths of workspaces from a message. A workspace that was removed while a page used it has lost
    the marker by which `ranking.workspace.room_layout.home_in_words` recognises it."""
    if not used():
        return message
    folder = re.escape(str(home_folder() / ROOMS))
    return re.sub(rf"(the data folder )?{folder}/[^/\s:;,]+", "this workspace", message)


def enter() -> bool:
    """Open the workspace in the URL, or create one if the URL has none; return whether it exists.

    If the workspace has changed, the session state is cleared.
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
            "This workspace was removed from the server. You are in a new, empty workspace with the same name."
        )
    try:
        all_rooms().visit(named, opens=before != named)
    except ValueError:
        return False  # the name is invalid, or the workspace does not exist
    if before != named:
        for key in [key for key in st.session_state if key not in OF_THE_FRAME] if before else ():
            del st.session_state[key]
        st.session_state[keys.IN_ROOM] = named
    return True


def go_to(named: str) -> None:
    """Create the workspace if it does not exist, and switch to it, without any other URL parameter. ValueError if the
    name is invalid."""
    all_rooms().make(named)
    st.query_params.from_dict({keys.ROOM: named})


def _find(named: str) -> Path | None:
    try:
        return all_rooms().find(named)
    except ValueError:
        return None  # the name is invalid
