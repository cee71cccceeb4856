"""The frame around every page: its registration, its title, its messages, and text made safe for markdown."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NoReturn

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import RerunException

from pages.parts.app import address, home_repair, keys, room_space, room_view, rooms
from pages.parts.app.cache import Gone
from pages.parts.app.page_end import PageEnd
from pages.parts.app.page_end import end_page as end_page
from pages.parts.app.presses import pressed as pressed
from ranking.core.errors import HomeError
from ranking.reports.prose import escaped as escaped  # what every page needs
from ranking.workspace.room_quotas import FullError

log = logging.getLogger(__name__)


# The menu: places, each with its pages by their titles, which tabs have too. A place opens at its first page.
PLACES = {
    "Start": {"start": "Ranking laboratory"},  # stands at the bare address
    "Lessons": {
        "lessons": "Lessons",
        "lesson": "Why optimise AP?",
        "neighbours_lesson": "Do neighbours help?",
        "pairs_lesson": "Pairs or sequences?",
        "violated_lesson": "Finding the most violated ranking",
        "labels_lesson": "Which label to ask about?",
    },
    "Image sets": {"image_sets": "Image sets"},
    "Train": {"train": "Train", "ranked_images": "Ranked images", "neighbours": "Neighbours"},
    "Compare": {"compare": "Compare rankings", "experiments": "Experiments"},
    "Inside training": {
        "most_violated": "Most violated ranking",
        "assignment": "Ranking as assignment",
        "speed_lab": "Inference timing",
    },
    "Sequences": {
        "orders": "Sequence ranking",
        "search_tree": "MidRank search",
        "lengths": "MidRank ablations",
    },
    "Labels": {
        "label_questions": "Interactive labelling",
        "label_interactions": "Label interactions",
        "ask_simulation": "Labelling simulation",
    },
}
WITHOUT_TABS = ("Lessons",)  # whose first page leads to the others
PAGES = {name: title for place in PLACES.values() for name, title in place.items()}
# Addresses of before, and what they show now.
MOVED = {
    "max_marginals": ("neighbours", {keys.NEIGHBOURS_VIEW: "labellings"}),
    "sample_graph": ("neighbours", {keys.NEIGHBOURS_VIEW: "graph"}),
}


# The button that opens the menu on a phone. frame.css has its style, as of all that is not isolated from the page.
_mount_button = st.components.v2.component(
    "ranking_menu_button",
    html='<button class="menu-button" type="button" aria-expanded="false">☰ Menu</button>',
    js=Path(__file__).with_name("frame.js").read_text(),
    isolate_styles=False,
)


def all_pages() -> list[st.Page]:
    """Every page of the laboratory, in the order of the menu, and those that lead on from the addresses of before."""
    first = next(iter(PAGES))
    pages = [st.Page(f"pages/{name}.py", title=title, default=name == first) for name, title in PAGES.items()]
    moved = [
        st.Page(partial(_lead_on, page, changes), title=PAGES[page], url_path=name)
        for name, (page, changes) in MOVED.items()
    ]
    return pages + moved


def _lead_on(page: str, changes: dict[str, str]) -> NoReturn:
    st.switch_page(f"pages/{page}.py", query_params={**st.query_params.to_dict(), **changes})


def guard() -> None:
    """First of all on each page. A deep link that is the server's first request runs the page without
    laboratory.py, and nothing would know the other pages: register them and start again through it."""
    if keys.BOOTED not in st.session_state:
        st.session_state[keys.BOOTED] = True
        st.navigation(all_pages())
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
        st.title(PAGES[name], anchor=False, width="content")
        st.caption(purpose, width="content")
    messages, complete = st.container(key="messages"), True
    try:
        with suppress(PageEnd):
            entered = rooms.enter()
            linked = st.query_params.to_dict()
            with st.session_state[keys.MENU]:
                _draw_menu("menu-first")
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


def show_menu() -> None:
    """The menu once more, for an address that has changed. The one fragment of a page that changes the address ends
    with this, for it runs again without its page.

    While the page itself runs, the fragment only makes the row, since it can write again to a place outside of it that
    it has written to before, and the page fills that row at its end where it has to. frame.css hides the first menu
    where there is a second: a place that is filled twice in one run shows nothing more.
    """
    row = st.session_state[keys.MENU_ROW]
    if row is None:
        row = st.session_state[keys.MENU].container(gap=None)
    if st.session_state[keys.PAGE_RUNS]:
        st.session_state[keys.MENU_ROW] = row
        return
    with row:
        _draw_menu("menu-again")


def _draw_menu(key: str) -> None:
    """The places, and below them the tabs of the one that is shown, if it has any. All carry the address on."""
    here = st.session_state[keys.PAGE_SHOWN]
    with st.container(gap=None, key=key):
        with st.container(horizontal=True, vertical_alignment="center"):
            for place, pages in PLACES.items():
                _link(next(iter(pages)), place, here in pages)
            _offer_lecture(here, key)
        [(place, tabs)] = [(place, pages) for place, pages in PLACES.items() if here in pages]
        if len(tabs) > 1 and place not in WITHOUT_TABS:
            with st.container(horizontal=True, vertical_alignment="center", key=f"{key}-tabs"):
                for name, tab in tabs.items():
                    _link(name, tab, name == here)


def _offer_lecture(here: str, key: str) -> None:
    """The links that make a page fit for a projector, or what it was: the address says which it is, and frame.css looks
    for the key of the container."""
    now = address.lecture()
    help = "For a projector: larger type and one picture, notes folded. The URL keeps this mode."
    ways: dict[str, tuple[str | None, str]] = {"Lecture": (address.PICTURE, help)}
    if now is not None:
        folded = now == address.PICTURE
        ways = {
            "Notes" if folded else "Fold notes": (
                address.NOTES if folded else address.PICTURE,
                "Captions, settings, tables and downloads.",
            ),
            "End lecture": (None, "The page as it was."),
        }
    with st.container(key=f"{key}-lecture-{now or 'off'}", horizontal=True, width="content"):
        for label, (state, help) in ways.items():
            st.page_link(
                f"pages/{here}.py",
                label=label,
                help=help,
                query_params=address.changed(**{keys.LECTURE: state}),
                width="content",
            )


def picture(name: str) -> DeltaGenerator:
    """A container for the picture of the page, or for its control: a lecture folds all else that the page has."""
    return st.container(key=f"picture-{name}")


def _link(page: str, label: str, here: bool) -> None:
    """A link of the menu, bold where it leads to what is shown."""
    text = f"**{label}**" if here else label
    st.page_link(f"pages/{page}.py", label=text, query_params=address.changed(), width="content")


def _finish(messages: DeltaGenerator, linked: dict[str, str] | None) -> None:
    """What is known when a page has run: its address, which may no longer be the one that the menu carries on, and what
    was wrong with it."""
    st.session_state[keys.PAGE_RUNS] = False
    if st.query_params.to_dict() != linked:
        show_menu()
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
