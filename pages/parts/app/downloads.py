"""Files that a person takes along: the button, and the file made when it is pressed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.parts.app import rooms

# The type of a file by its ending, and the icon of its button.
KINDS = {
    "csv": ("text/csv", ":material/table_view:"),
    "html": ("text/html", ":material/article:"),
    "json": ("application/json", ":material/receipt_long:"),
    "jsonl": ("application/jsonl", ":material/list:"),
    "parquet": ("application/octet-stream", ":material/table:"),
    "png": ("image/png", ":material/image:"),
    "svg": ("image/svg+xml", ":material/image:"),
    "tex": ("text/plain", ":material/functions:"),
    "zip": ("application/zip", ":material/download:"),
}


def offer(label: str, make: Callable[[], str | bytes], file: str, **looks: Any) -> None:
    """The button for what `make` makes, in the home of this page, when it is pressed."""
    kind, icon = KINDS[file.rpartition(".")[2]]
    st.download_button(label, rooms.kept(make), file, kind, **{"icon": icon, "on_click": "ignore", **looks})
