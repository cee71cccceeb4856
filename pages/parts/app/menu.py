"""The menu: the sections of the laboratory, their pages, and the links to them at the top of every page."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import streamlit as st

from pages.parts.app import address, keys

FOLDER = Path(__file__).parent


class Title(NamedTuple):
    """The title of a page, and of its tab within its section; a page without the latter has no tab."""

    page: str
    tab: str = ""


# Sections, each with its pages. A section opens at its first page.
PLACES = {
    # has the URL without a path
    "Start": {"start": Title("Ranking laboratory")},
    "Lessons": {
        "lessons": Title("Lessons"),
        "lesson": Title("Why optimise AP?"),
        "neighbours_lesson": Title("Do neighbours help?"),
        "pairs_lesson": Title("Pairs or sequences?"),
        "violated_lesson": Title("Finding the most violated ranking"),
        "labels_lesson": Title("Which label to ask about?"),
        "object_lesson": Title("Where is the object?"),
    },
    "Data": {"image_sets": Title("Image sets")},
    "Train": {
        "train": Title("Train", "Training"),
        "ranked_images": Title("Ranked images", "Ranking"),
        "neighbours": Title("Neighbours", "Neighbours"),
        "find_the_object": Title("Find the object", "Objects"),
    },
    "Compare": {
        "compare": Title("Compare rankings", "Runs"),
        "experiments": Title("Experiments", "Experiments"),
    },
    "Inside training": {
        "most_violated_ranking": Title("Most violated ranking", "Most violated ranking"),
        "assignment": Title("Ranking as assignment", "Assignment"),
        "speed_lab": Title("Inference timing", "Timing"),
    },
    "Sequences": {
        "sequences": Title("Sequence ranking", "Ranking"),
        "midrank_search": Title("MidRank search", "Search"),
        "lengths": Title("MidRank ablations", "Ablations"),
    },
    "Labels": {
        "interactive_labelling": Title("Interactive labelling", "Answer"),
        "label_interactions": Title("Label interactions", "Interactions"),
        "labelling_simulation": Title("Labelling simulation", "Simulation"),
    },
}
PAGES = {name: title.page for place in PLACES.values() for name, title in place.items()}


def all_pages() -> list[st.Page]:
    """Every page of the laboratory, in the order of the menu."""
    first = next(iter(PAGES))
    return [st.Page(f"pages/{name}.py", title=title, default=name == first) for name, title in PAGES.items()]


def show_again() -> None:
    """Show the menu again after a change of the URL by a fragment, which runs without the page."""
    # While the page runs, the fragment only creates the row, and the page fills it at its end. A fragment can
    # write only to outer containers that it has written to before. A container that is filled twice in one
    # run shows nothing more, so there is a second menu, and frame.css hides the first.
    row = st.session_state[keys.MENU_ROW]
    if row is None:
        row = st.session_state[keys.MENU].container(gap=None)
    if st.session_state[keys.PAGE_RUNS]:
        st.session_state[keys.MENU_ROW] = row
        return
    with row:
        draw("menu-again")


def draw(key: str) -> None:
    """Show the sections, and below them the tabs of the current section. All links keep the URL parameters."""
    here = st.session_state[keys.PAGE_SHOWN]
    with st.container(gap=None, key=key):
        with st.container(horizontal=True, vertical_alignment="center"):
            for place, pages in PLACES.items():
                _link(next(iter(pages)), place, here in pages)
            _offer_lecture(here, key)
        tabs = {name: title.tab for name, title in _place_of(here).items() if title.tab}
        if tabs:
            with st.container(horizontal=True, vertical_alignment="center", key=f"{key}-tabs"):
                for name, tab in tabs.items():
                    _link(name, tab, name == here)


def _offer_lecture(here: str, key: str) -> None:
    """The links that turn lecture mode on and off, and its styles."""
    # In frame.css the styles would slow every click, because their selectors depend on the whole page.
    now = address.lecture()
    if st.session_state.setdefault(keys.LECTURE_SHOWN, now) != now:
        # Streamlit does not put the parameters of a link to the current page into the URL.
        st.session_state[keys.LECTURE_SHOWN] = now
        address.send()
    help = "For a projector: larger type and only the main figure. The URL keeps this mode."
    ways: dict[str, tuple[str | None, str]] = {"Lecture": (address.PICTURE, help)}
    if now is not None:
        folded = now == address.PICTURE
        ways = {
            "Show notes" if folded else "Hide notes": (
                address.NOTES if folded else address.PICTURE,
                "Captions, settings, tables and downloads.",
            ),
            "End lecture": (None, "Return to the normal view."),
        }
        for style in ("lecture.css", "lecture_picture.css")[: 1 + folded]:
            st.html(FOLDER / style)
    with st.container(key=f"{key}-lecture", horizontal=True, width="content"):
        for label, (state, help) in ways.items():
            st.page_link(
                f"pages/{here}.py",
                label=label,
                help=help,
                query_params=address.changed(**{keys.LECTURE: state}),
                width="content",
            )


def _place_of(page: str) -> dict[str, Title]:
    return next(pages for pages in PLACES.values() if page in pages)


def _link(page: str, label: str, here: bool) -> None:
    """A link of the menu, bold if it leads to the current page."""
    text = f"**{label}**" if here else label
    st.page_link(f"pages/{page}.py", label=text, query_params=address.changed(), width="content")
