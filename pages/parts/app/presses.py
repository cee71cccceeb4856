"""Buttons whose press is never lost."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import streamlit as st

# a press that the page has not reached by then is forgotten
PRESS_SECONDS = 60.0


def pressed(label: str, key: str, button: Callable[..., bool] = st.button, **given: Any) -> bool:
    """Whether the button with this `key` was pressed; each press is reported exactly once."""
    # Streamlit's return value is lost if the page is rerun before it reaches the button.
    button(label, key=key, on_click=_press, args=(key,), **given)
    when = st.session_state.pop(_pressed(key), None)
    return when is not None and time.monotonic() - when < PRESS_SECONDS


def _press(key: str) -> None:
    st.session_state[_pressed(key)] = time.monotonic()


def _pressed(key: str) -> str:
    return f"{key} was pressed"
