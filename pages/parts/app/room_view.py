"""What a visitor is told of rooms: which one it is, how to come back, how full it is, and the way to another."""

from __future__ import annotations

import streamlit as st

from pages.parts.app import keys, room_space, rooms
from pages.parts.app.page_end import end_page
from pages.parts.app.presses import pressed
from pages.parts.app.room_key import room_key
from ranking.reports.prose import escaped
from ranking.workspace.room_layout import SHORTEST
from ranking.workspace.room_quotas import format_bytes, most_disk
from ranking.workspace.rooms import new_name

SHOWN = 4  # letters of a room's name: the page may be on a projector, and the whole name is the key
FULL = 0.5  # of what it may take: from then on it is shown
GUESSED = (
    f"At least {SHORTEST} letters a–z, digits and hyphens. Whoever guesses the name may enter, and see and change all "
    "that is in the room: a name that you can remember is one that others can guess."
)


def show() -> None:
    """The room on the start page."""
    named = rooms.name()
    if not rooms.used() or named is None:
        return
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"#### Your room: {escaped(named[:SHOWN])}…", width="content")
            room_key(named)
            with st.popover("Another room", icon=":material/meeting_room:"):
                _choose()
        st.caption(
            "What you import, train and answer is in this room, and in no other. The address of this page is the key "
            "to it: keep it as a bookmark, because there is no other way back, and give it only to those who are to "
            "work with you here."
        )
        _show_disk()


def _choose() -> None:
    with st.form("another room", border=False):
        named = st.text_input("Name of a room to enter, or to begin")
        st.caption(GUESSED)
        if st.form_submit_button("Enter", type="primary"):
            try:
                rooms.go_to(named.strip())
            except ValueError as error:
                st.error(escaped(str(error)), icon=":material/error:")
                return
            st.rerun()


def _show_disk() -> None:
    used, most = room_space.taken(), most_disk()
    if used < FULL * most:
        return
    share = min(1.0, used / most)
    st.progress(share, f"This room takes {format_bytes(used)} of the {format_bytes(most)} that it may take.")
    if not st.session_state.get(keys.ROOM_FULL):  # else it stands above already
        room_space.offer()


def offer_instead() -> None:
    """The room of the address is not there: to begin one of that name, or a new one. Ends the page."""
    named = rooms.name() or ""
    st.error(escaped(rooms.lost(named)[:1].upper() + rooms.lost(named)[1:] + "."), icon=":material/error:")
    with st.container(horizontal=True):
        if pressed("Begin a new room", keys.widget("new room"), type="primary"):
            rooms.go_to(new_name())
            st.rerun()
        if pressed("Begin a room of this name", keys.widget("room of this name")):
            try:
                rooms.go_to(named)
            except ValueError as error:
                st.error(escaped(str(error)), icon=":material/error:")
            else:
                st.rerun()
    end_page()
