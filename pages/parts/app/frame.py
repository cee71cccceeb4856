"""The frame around every page: its title, its messages, and text made safe for markdown."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import RerunException

from pages.parts.app import address, home_repair, keys, menu, room_space, room_view, rooms
from pages.parts.app.home import Gone
from pages.parts.app.page_end import PageEnd
from pages.parts.app.page_end import end_page as end_page
from pages.parts.app.presses import pressed as pressed
from ranking.core.errors import HomeError
from ranking.reports.prose import escaped as escaped  # what every page needs
from ranking.workspace.room_quotas import FullError

log = logging.getLogger(__name__)

# The button that opens the menu on a phone. frame.css has its style, as of all that is not isolated from the page.
_mount_button = st.components.v2.component(
    "ranking_menu_button",
    html='<button class="menu-button" type="button" aria-expanded="false">☰ Menu</button>',
    js=Path(__file__).with_name("frame.js").read_text(),
    isolate_styles=False,
)


def guard() -> None:
    """First of all on each page. A deep link that is the server's first request runs the page without
    laboratory.py, and nothing would know the other pages: register them and start again through it."""
    if keys.BOOTED not in st.session_state:
        st.session_state[keys.BOOTED] = True
        st.navigation(menu.all_pages())
        st.rerun()


def show_page(name: str, purpose: str, steps: Callable[[], None]) -> None:
    """Run a page: its title, what was wrong with the address, its steps."""
    guard()
    st.session_state[keys.PAGE_SHOWN] = name
    st.session_state[keys.PAGE_RUNS], st.session_state[keys.MENU_ROW] = True, None
    st.session_state[keys.REBUILDS] = set()
    st.session_state[keys.MENU] = st.container(key="menu", gap=None)
    linked: dict[str, str] | None = None  # the address that the menu carries on
    with st.session_state[keys.MENU]:
        _mount_button(key="menu-button", data={"page": name}, height="content")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.title(menu.PAGES[name], anchor=False, width="content")
        st.caption(purpose, width="content")
    messages, complete = st.container(key="messages"), True
    try:
        with suppress(PageEnd):
            entered = rooms.enter()
            linked = st.query_params.to_dict()
            with st.session_state[keys.MENU]:
                menu.draw("menu-first")
            if not entered:
                room_view.offer_instead()
            steps()
    except (HomeError, Gone) as error:
        note(error)
        with messages:
            _show_error(error, "of the page")
    except RerunException:
        complete = False  # the next run shows the messages
        raise
    finally:
        if complete:
            st.session_state[keys.PAGE_DONE] = name
            _finish(messages, linked)


@contextmanager
def in_place() -> Iterator[None]:
    """Trouble with a part of a page is said where the part would stand, and the page goes on.

    A fragment needs it too: it runs again by itself, without its page around it.
    """
    try:
        yield
    except (HomeError, Gone) as error:
        note(error)
        _show_error(error, f"in place {error}")


def _show_error(error: HomeError | Gone, part: str) -> None:
    """An error, and the way to mend it where that is one press, and not of the room of somebody else."""
    st.error(escaped(rooms.without_paths(str(error))), icon=":material/error:")
    offered: set[Path] = st.session_state[keys.REBUILDS]
    if not isinstance(error, HomeError) or error.lost is None or rooms.is_of_another(error.lost):
        return
    if error.lost not in offered:
        offered.add(error.lost)
        log.error("%s: %s", error.lost, error)
        home_repair.offer(error.lost, part)


def note(error: Exception) -> None:
    """Remember what has to be mended on all pages: where the room is full, they offer to make space until there is."""
    if isinstance(error, FullError):
        st.session_state[keys.ROOM_FULL] = True


def picture(name: str) -> DeltaGenerator:
    """A container for the picture of the page, or for its control: a lecture folds all else that the page has."""
    return st.container(key=f"picture-{name}")


def _finish(messages: DeltaGenerator, linked: dict[str, str] | None) -> None:
    """What is known when a page has run: its address, which may no longer be the one that the menu carries on, and what
    was wrong with it."""
    st.session_state[keys.PAGE_RUNS] = False
    if st.query_params.to_dict() != linked:
        menu.show_again()
    st.session_state[keys.MENU_ROW] = None
    if st.session_state.get(keys.ROOM_FULL):
        with messages:
            room_space.offer_until_enough()
    for message in address.complaints():
        messages.warning(escaped(message), icon=":material/warning:")


def way_on(message: str, label: str, page: str, **changes: str | None) -> NoReturn:
    """An inviting empty state: what is missing, and the one next step. Ends the page."""
    with st.container(border=True, horizontal_alignment="center"):
        st.markdown(f"#### {escaped(message)}", text_alignment="center")
        next_step(label, page, **changes)
    end_page()


def next_step(label: str, page: str, *, obvious: bool = True, **changes: str | None) -> None:
    """The one obvious next step: a button to another page. The address goes along, with `changes` to it."""
    if pressed(label, keys.widget(f"go to {page}"), type="primary" if obvious else "secondary"):
        st.switch_page(f"pages/{page}.py", query_params=address.changed(**changes))
