"""The visitor's workspace on the start page: its link, its storage, and how to switch to another workspace."""

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

SHOWN = (
    4  # letters of the name that are shown, because the full name is a key and the page may be on a projector
)
FULL = 0.5  # fraction of the storage limit from which the used storage is shown
GUESSED = (
    f"At least {SHORTEST} letters a–z, digits and hyphens. Anyone who knows or guesses the name can open this "
    "workspace and see and change everything in it. Names that are easy to remember are easy to guess."
)


def show() -> None:
    """Show the workspace on the start page; nothing on a server without workspaces."""
    named = rooms.name()
    if not rooms.used() or named is None:
        return
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"#### Your workspace: {escaped(named[:SHOWN])}…", width="content")
            room_key(named)
            with st.popover("Switch workspace", icon=":material/meeting_room:"):
                _choose()
        st.caption(
            "Your imports, training runs and answers are stored in this workspace. Anyone who has the link can open "
            "it, and only the link leads back to it: bookmark it, and share it only with people who work with you."
        )
        _show_disk()


def _choose() -> None:
    with st.form("another room", border=False):
        named = st.text_input("Name of a workspace to open or create")
        st.caption(GUESSED)
        if st.form_submit_button("Open", type="primary"):
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
    st.progress(share, f"This workspace uses {format_bytes(used)} of {format_bytes(most)}.")
    if not st.session_state.get(keys.ROOM_FULL):  # otherwise the frame has offered it above
        room_space.offer()


def offer_instead() -> None:
    """The workspace in the URL does not exist: offer to create it, or a new one. Ends the page."""
    named = rooms.name() or ""
    st.error(escaped(rooms.lost(named)[:1].upper() + rooms.lost(named)[1:] + "."), icon=":material/error:")
    with st.container(horizontal=True):
        if pressed("Create a new workspace", keys.widget("new room"), type="primary"):
            rooms.go_to(new_name())
            st.rerun()
        if pressed("Create a workspace with this name", keys.widget("room of this name")):
            try:
                rooms.go_to(named)
            except ValueError as error:
                st.error(escaped(str(error)), icon=":material/error:")
            else:
                st.rerun()
    end_page()
