"""Buttons whose press is never lost."""

from __future__ import annotations

import time
from typing import Any

import streamlit as st

PRESS_SECONDS = 60.0  # a page that was left before it came to a button forgets that it was pressed


def pressed(label: str, key: str, **looks: Any) -> bool:
    """Whether a button of its own `key` was pressed: once, and for certain.

    Streamlit's own answer is lost where something else has the page run again before it comes to the button.
    """
    st.button(label, key=key, on_click=_press, args=(key,), **looks)
    when = st.session_state.pop(_pressed(key), None)
    return when is not None and time.monotonic() - when < PRESS_SECONDS


def _press(key: str) -> None:
    st.session_state[_pressed(key)] = time.monotonic()


def _pressed(key: str) -> str:
    return f"{key} was pressed"
