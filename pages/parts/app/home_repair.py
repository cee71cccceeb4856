"""A home whose database was lost: making it again, and what was found in the home that the database did not know."""

from __future__ import annotations

import logging
from pathlib import Path

import streamlit as st

from pages.parts.app import address, home, keys, rooms
from ranking.core.errors import HomeError
from ranking.core.text import counted
from ranking.reports.prose import escaped
from ranking.workspace.database_copies import rebuild

log = logging.getLogger(__name__)


def offer(folder: Path, part: str) -> None:
    """The button that makes the database of the home `folder` again; part: of the page that says that it is lost."""
    st.button(
        "Rebuild the database",
        key=keys.widget(f"rebuild {part}"),
        icon=":material/build:",
        type="primary",
        help="The newest intact copy replaces the database. Answers that can still be read in the damaged file are "
        "added, and every image set and run whose folder exists is listed again. The damaged file is kept, too.",
        on_click=_rebuild,
        args=(folder,),
    )


def _rebuild(folder: Path) -> None:
    try:
        rebuild(folder)
        log.warning("%s: the database was rebuilt; the former one is beside it", folder)
    except HomeError as error:
        address.complain(rooms.without_paths(str(error)))
    home.look_again()


def show() -> None:
    """What the database did not know: image sets and runs that are listed again, and folders that cannot be read."""
    try:
        taken = home.taken_in()
    except HomeError as error:
        if error.lost is not None:
            raise  # which ends the page, with the way to mend it at its top
        return  # the rest of the page needs the home too, and says what is wrong with it
    if not any(taken):
        return
    with st.container(border=True):
        if taken.sets or taken.runs:
            there = [f"“{title}”" for title in taken.sets]
            there += [counted(len(taken.runs), "run")] if taken.runs else []
            message = (
                f"The newest state of {', '.join(there)} was missing in the database. "
                "It was read from their folders, and they are listed again."
            )
            st.markdown(escaped(message))
        for message in taken.refused:
            st.markdown(escaped(f"{message}. The folder stays where it is, and is not listed."))
        label = "Look again" if taken.refused else "OK"
        st.button(label, key=keys.widget("look again"), on_click=home.look_again)
