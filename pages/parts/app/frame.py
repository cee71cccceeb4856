"""The frame of every page: its title, menu and messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import RerunException

from pages.parts.app import address, keys, menu, workspaces
from pages.parts.app.home import Gone
from pages.parts.app.page_end import PageEnd
from pages.parts.app.page_end import end_page as end_page
from pages.parts.app.presses import pressed as pressed
from ranking.core.errors import HomeError

# what every page needs
from ranking.reports.prose import escaped as escaped

# The button that opens the menu on a phone. Its styles are not isolated, so they are in frame.css.
_mount_button = st.components.v2.component(
    "ranking_menu_button",
    html='<button class="menu-button" type="button" aria-expanded="false">☰ Menu</button>',
    js=Path(__file__).with_name("frame.js").read_text(),
    isolate_styles=False,
)


def guard() -> None:
    """Register all pages and run again, once per session."""
    # If the first request of a server is a link to a page, the page runs without laboratory.py, and the other
    # pages would be unknown.
    if keys.BOOTED not in st.session_state:
        st.session_state[keys.BOOTED] = True
        st.navigation(menu.all_pages())
        st.rerun()


def show_page(name: str, purpose: str, steps: Callable[[], None]) -> None:
    """Run a page: show its title and the messages about the URL, and call its steps."""
    guard()
    st.session_state[keys.PAGE_SHOWN] = name
    st.session_state[keys.PAGE_RUNS], st.session_state[keys.MENU_ROW] = True, None
    st.session_state[keys.MENU] = st.container(key="menu", gap=None)
    # the URL parameters in the menu's links
    linked: dict[str, str] | None = None
    with st.session_state[keys.MENU]:
        _mount_button(key="menu-button", data={"page": name}, height="content")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.title(menu.PAGES[name], anchor=False, width="content")
        st.caption(purpose, width="content")
    messages, complete = st.container(key="messages"), True
    try:
        with suppress(PageEnd):
            workspaces.enter()
            linked = st.query_params.to_dict()
            with st.session_state[keys.MENU]:
                menu.draw("menu-first")
            steps()
    except (HomeError, Gone) as error:
        with messages:
            _show_error(error)
    except RerunException:
        # the next run shows the messages
        complete = False
        raise
    finally:
        if complete:
            st.session_state[keys.PAGE_DONE] = name
            _finish(messages, linked)


@contextmanager
def errors_in_place() -> Iterator[None]:
    """Show an error of a part of a page in the place of that part, and continue with the page."""
    # A fragment needs this too, because it runs again without its page.
    try:
        yield
    except (HomeError, Gone) as error:
        _show_error(error)


def _show_error(error: HomeError | Gone) -> None:
    st.error(escaped(workspaces.without_paths(str(error))), icon=":material/error:")


def picture(name: str) -> DeltaGenerator:
    """A container for the main figure of the page, or for its control; lecture mode hides everything else."""
    return st.container(key=f"picture-{name}")


def _finish(messages: DeltaGenerator, linked: dict[str, str] | None) -> None:
    """Update the menu's links if the URL has changed since the menu was shown, and show the messages about the URL."""
    st.session_state[keys.PAGE_RUNS] = False
    if st.query_params.to_dict() != linked:
        menu.show_again()
    st.session_state[keys.MENU_ROW] = None
    for message in address.complaints():
        messages.warning(escaped(message), icon=":material/warning:")


def show_empty_state(message: str, label: str, page: str, **changes: str | None) -> NoReturn:
    """Show what is missing and a button to the next step, and end the page."""
    with st.container(border=True, horizontal_alignment="center"):
        st.markdown(f"#### {escaped(message)}", text_alignment="center")
        next_step(label, page, **changes)
    end_page()


def next_step(label: str, page: str, *, obvious: bool = True, **changes: str | None) -> None:
    """A button to another page, which keeps the URL parameters with `changes`. obvious: primary style."""
    if pressed(label, keys.widget(f"go to {page}"), type="primary" if obvious else "secondary"):
        st.switch_page(f"pages/{page}.py", query_params=address.changed(**changes))
