"""A file that a person drops on a page, taken up once, whatever stops the page on its way.

A callback of the uploader would be stopped for good where it is called as a part of the page looks how far a worker
is, and the page's own run follows. What is in the widget stays there until the page has come to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile

from pages.parts.app import frame, keys, rooms
from ranking.core.errors import HomeError


class TakenUp(NamedTuple):
    """The name of what came of a file, None where nothing did; and why not, in words."""

    name: str | None = None
    refused: str | None = None


def once(file: UploadedFile | DeletedFile, begin: Callable[[UploadedFile], str]) -> TakenUp:
    """What `begin` makes of `file`, or what it made of it before; its ValueErrors and HomeErrors are refusals."""
    before: dict[str, TakenUp] = st.session_state.setdefault(keys.UPLOADED, {})
    if file.file_id not in before and isinstance(file, UploadedFile):
        try:
            before[file.file_id] = TakenUp(begin(file))
        except (ValueError, HomeError) as error:
            frame.note(error)
            before[file.file_id] = TakenUp(refused=rooms.without_paths(str(error)))
    return before.get(file.file_id, TakenUp())
