"""Rebuild a lost database, and report what a data folder contained that its database did not."""

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
    """The button that rebuilds the database in `folder`. part: the part of the page that reports the loss."""
    st.button(
        "Rebuild the database",
        key=keys.widget(f"rebuild {part}"),
        icon=":material/build:",
        type="primary",
        help="The newest intact copy replaces the database. Answers that can still be read from the damaged file are "
        "added, and every image set and run whose folder exists is listed again. The damaged file is kept.",
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
    """Report the image sets and runs that were added to the database, and the folders that cannot be read."""
    try:
        taken = home.taken_in()
    except HomeError as error:
        if error.lost is not None:
            raise  # ends the page, which then offers to rebuild the database
        return  # the rest of the page needs the store too, and reports the error
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
            st.markdown(escaped(f"{message}. The folder is kept, but not listed."))
        label = "Check again" if taken.refused else "OK"
        st.button(label, key=keys.widget("look again"), on_click=home.look_again)
