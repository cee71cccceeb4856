"""The frame around every page: its registration, its title, its messages, and text made safe for markdown."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import RerunException

from pages.parts import address, keys
from pages.parts.cache import Gone
from ranking.home import HomeError

PAGES = {"image_sets": "Image sets", "train": "Train", "ranked_images": "Ranked images"}


def all_pages() -> list[st.Page]:
    """Every page of the laboratory, in the order of the menu."""
    pages = [st.Page(f"pages/{name}.py", title=title) for name, title in PAGES.items()]
    return [st.Page(_enter, title="Ranking laboratory", default=True, visibility="hidden"), *pages]


def _enter() -> None:
    """The bare address leads to the first page, which so has an address of its own that stays."""
    st.switch_page(f"pages/{next(iter(PAGES))}.py", query_params=address.changed())


def guard() -> None:
    """First of all on each page. A deep link that is the server's first request runs the page without app.py,
    and nothing would know the other pages: register them and start again through app.py."""
    if keys.BOOTED not in st.session_state:
        st.session_state[keys.BOOTED] = True
        st.navigation(all_pages())
        st.rerun()


def show_page(name: str, purpose: str, steps: Callable[[], None]) -> None:
    """Run a page: its title, what was wrong with the address, its steps."""
    guard()
    menu = st.container(horizontal=True, key="menu")
    st.title(PAGES[name], anchor=False)
    st.caption(purpose)
    messages, complete = st.container(), True
    try:
        steps()
    except (HomeError, Gone) as error:
        messages.error(escaped(str(error)), icon=":material/error:")
    except RerunException:
        complete = False  # the next run shows the messages
        raise
    finally:
        if complete:
            _finish(menu, messages)


def _finish(menu: DeltaGenerator, messages: DeltaGenerator) -> None:
    """What is known when a page has run: its address, which the menu carries on, and what was wrong with it."""
    for name, title in PAGES.items():
        menu.page_link(f"pages/{name}.py", label=title, query_params=address.changed(), width="content")
    for message in address.complaints():
        messages.warning(escaped(message), icon=":material/warning:")


def way_on(message: str, label: str, page: str, run: str | None = None) -> NoReturn:
    """An inviting empty state: what is missing, and the one next step. Ends the page."""
    with st.container(border=True, horizontal_alignment="center"):
        st.markdown(f"#### {escaped(message)}", text_alignment="center")
        next_step(label, page, run=run)
    st.stop()


def next_step(label: str, page: str, *, obvious: bool = True, run: str | None = None) -> None:
    """The one obvious next step: a button to another page. The address goes along, with `run` if one is given."""
    if st.button(label, type="primary" if obvious else "secondary", key=keys.widget(f"go to {page}")):
        st.switch_page(f"pages/{page}.py", query_params=address.changed(**({keys.RUN: run} if run else {})))


def escaped(text: str) -> str:
    """`text` for calls that read markdown, so that it shows as written: labels and file names are hostile.

    >>> escaped("a_b <img> [x](http://y)")
    'a\\\\_b \\\\<img\\\\> \\\\[x\\\\]\\\\(http\\\\:\\\\/\\\\/y\\\\)'
    """
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text.replace("\n", " "))
