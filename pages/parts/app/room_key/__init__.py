"""A button that copies the address of a room, also where a page that came without encryption has no clipboard."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.parts.app import keys

FOLDER = Path(__file__).parent

_mount = st.components.v2.component(
    "ranking_room_key",
    html='<button type="button">Copy the address</button>',
    css=(FOLDER / "room_key.css").read_text(),
    js=(FOLDER / "room_key.js").read_text(),
)


def room_key(room: str) -> None:
    """The button for the start page in that room."""
    _mount(key=keys.widget("room key"), data={"room": room}, width="content")
