"""A button that copies the link to a workspace, also on pages without encryption, which have no clipboard."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.parts.app import keys

FOLDER = Path(__file__).parent

_mount = st.components.v2.component(
    "ranking_room_key",
    html='<button type="button">Copy the link</button>',
    css=(FOLDER / "room_key.css").read_text(),
    js=(FOLDER / "room_key.js").read_text(),
)


def room_key(room: str) -> None:
    """The button for the link to the start page of a workspace."""
    _mount(key=keys.widget("room key"), data={"room": room}, width="content")
