"""The visitor's workspace: its name is in the URL, and only who has the link can open it.

On a server that other machines can reach, each visitor has a data folder under a name that cannot be guessed
(`ranking.storage.workspaces`); otherwise there is only the data folder of the server.
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
from pages.parts.app.page_end import end_page
from pages.parts.app.presses import pressed
from ranking.core.errors import HomeError
from ranking.storage import workspaces
from ranking.storage.home import WORKSPACES, home_folder

T = TypeVar("T")
WHEN = "RANKING_WORKSPACES"
LOST = "there is no such workspace on this server: it was removed, or the link is incomplete"
# Session state that the frame of a page sets before the visitor's workspace is known.
OF_THE_FRAME = (keys.BOOTED, keys.PAGE_SHOWN, keys.PAGE_RUNS, keys.MENU, keys.MENU_ROW, keys.COMPLAINTS)

_home_here: ContextVar[str | None] = ContextVar("home", default=None)


def used() -> bool:
    """Whether visitors have workspaces: RANKING_WORKSPACES, by default whether other machines can reach the server."""
    setting = os.environ.get(WHEN) or "auto"
    if setting not in ("on", "off", "auto"):
        raise HomeError(
            f"{WHEN} must be on, off or auto, got {setting[:40]!r}; start the server with one of these"
        )
    return setting == "on" or (setting == "auto" and not is_loopback(st.get_option("server.address")))


def is_loopback(listens_at: str | None) -> bool:
    """Whether only this machine can reach a server that listens at that network address.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("0.0.0.0"), is_loopback(None)
    (True, True, False, False)
    """
    # None: all addresses.
    if listens_at == "localhost":
        return True
    try:
        return ipaddress.ip_address(listens_at or "0.0.0.0").is_loopback
    except ValueError:
        # a host name, which other machines may be able to reach
        return False


def here() -> str | None:
    """The visitor's data folder, as `Store` takes it. HomeError if the URL names no workspace that exists."""
    kept = _home_here.get()
    if kept is not None:
        return kept
    if not used():
        return os.environ.get("RANKING_HOME")
    if get_script_run_ctx() is None:
        raise RuntimeError(
            "the URL is not available outside a page run; wrap the function in `workspaces.kept`"
        )
    home = _find(name())
    if home is None:
        raise HomeError(f"{LOST}; see the start page")
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
    return st.query_params.get(keys.WORKSPACE)


def without_paths(message: str) -> str:
    """Remove the server paths of workspaces from a message, because visitors need not know them."""
    folder = re.escape(str(home_folder() / WORKSPACES))
    return re.sub(rf"{folder}/[^/\s:;,]+", "this workspace", message) if used() else message


def enter() -> None:
    """Open the workspace in the URL, or a new one if the URL has none; ends the page if it does not exist."""
    # If the workspace has changed, the session state is cleared.
    if not used():
        return
    before: str | None = st.session_state.get(keys.IN_WORKSPACE)
    named = name()
    if named is None:
        named = before if _find(before) else workspaces.create(home_folder())
        address.amend(**{keys.WORKSPACE: named})
    home = _find(named)
    if home is None:
        _offer_new()
    workspaces.visit(home)
    if before != named:
        for key in [key for key in st.session_state if key not in OF_THE_FRAME] if before else ():
            del st.session_state[key]
        st.session_state[keys.IN_WORKSPACE] = named


def _offer_new() -> None:
    st.error(f"{LOST[:1].upper()}{LOST[1:]}.", icon=":material/error:")
    if pressed("Create a new workspace", keys.widget("new workspace"), type="primary"):
        st.query_params.from_dict({keys.WORKSPACE: workspaces.create(home_folder())})
        st.rerun()
    end_page()


def _find(named: str | None) -> Path | None:
    return None if named is None else workspaces.find(home_folder(), named)
