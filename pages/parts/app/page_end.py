"""The end of a page's steps, wherever it is reached."""

from __future__ import annotations

from typing import NoReturn


class PageEnd(Exception):
    """Raised where a page has said all that it can."""


def end_page() -> NoReturn:
    """End the page's steps. Its menu and messages still come, which `st.stop` would not let through."""
    raise PageEnd
