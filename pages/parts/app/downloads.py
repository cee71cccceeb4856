"""Download buttons whose files are created on a click."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.parts.app import workspaces

# The media type of a file by its extension, and the icon of its button.
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


def offer(label: str, make: Callable[[], str | bytes], file: str, **given: Any) -> None:
    """A download button; `make` creates the content on a click, in the page's workspace."""
    kind, icon = KINDS[file.rpartition(".")[2]]
    st.download_button(
        label, workspaces.kept(make), file, kind, **{"icon": icon, "on_click": "ignore", **given}
    )
