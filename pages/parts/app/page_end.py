"""End the steps of a page early."""

from __future__ import annotations

from typing import NoReturn


class PageEnd(Exception):
    """Raised to end the steps of a page."""


def end_page() -> NoReturn:
    """End the steps of a page; unlike with `st.stop`, its menu and messages are still shown."""
    raise PageEnd
