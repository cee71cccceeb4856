"""The visitor's workspace on the start page: its link and its storage."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode, urlsplit

import streamlit as st

from pages.parts.app import home, keys, workspaces
from ranking.storage.space import WORKSPACE_LIMIT, bytes_of, format_bytes, limit_of

# between two measurements of the size of a workspace
MEASURE_SECONDS = 10.0
# fraction of the storage limit from which the used storage is shown
NEARLY_FULL = 0.5


def show() -> None:
    """Show the workspace; nothing on a server without workspaces."""
    if not workspaces.used():
        return
    with st.container(border=True):
        # A popover, which is closed at first: pages are shown on projectors.
        with st.popover("Link to your workspace", icon=":material/key:"):
            address = urlsplit(st.context.url or "")
            query = urlencode({keys.WORKSPACE: workspaces.name()})
            st.code(address._replace(path=address.path or "/", query=query).geturl(), language=None)
        st.caption(
            "Your imports, training runs and answers are stored in this workspace. Anyone who has the link can open "
            "it. Nothing else leads back to it, so bookmark it. Share it only with people who work with you."
        )
        _show_storage()


def _show_storage() -> None:
    used, limit = _bytes_of(str(home.store().home)), limit_of(WORKSPACE_LIMIT)
    if used < NEARLY_FULL * limit:
        return
    st.progress(min(1.0, used / limit), f"This workspace uses {format_bytes(used)} of {format_bytes(limit)}.")
    st.button(
        "Delete computed features",
        key=keys.widget("delete features"),
        help="They are computed again when they are needed.",
        on_click=_delete_features,
    )


def _delete_features() -> None:
    home.store().features.drop()
    _bytes_of.clear()


@st.cache_data(show_spinner=False, max_entries=64, ttl=MEASURE_SECONDS)
def _bytes_of(home: str) -> int:
    return bytes_of(Path(home))
