"""Handle each uploaded file exactly once, even if the page run is interrupted.

A callback of the uploader would be lost if it were called while a fragment polls a worker, because the next run of the
page interrupts it. The widget keeps its file until the page has handled it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile

from pages.parts.app import keys, workspaces
from ranking.core.errors import HomeError


class TakenUp(NamedTuple):
    """The name of what was made of a file, or the reason why the file was refused."""

    name: str | None = None
    refused: str | None = None


def once(file: UploadedFile | DeletedFile, begin: Callable[[UploadedFile], str]) -> TakenUp:
    """Call `begin` on `file` unless it was called before; its ValueErrors and HomeErrors refuse the file."""
    before: dict[str, TakenUp] = st.session_state.setdefault(keys.UPLOADED, {})
    if file.file_id not in before and isinstance(file, UploadedFile):
        try:
            before[file.file_id] = TakenUp(begin(file))
        except (ValueError, HomeError) as error:
            before[file.file_id] = TakenUp(refused=workspaces.without_paths(str(error)))
    return before.get(file.file_id, TakenUp())
