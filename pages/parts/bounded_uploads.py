"""What uploads may hold of the server's memory: Streamlit keeps each file whole until its browser tab is forgotten.

A file comes as a PUT to an address that the page was given for it. Middleware of the server lets through what is for an
address that was given out, and what a tab and the server have room for; a task of the server forgets the files of tabs
that are closed.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.runtime import Runtime, get_instance
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadFileUrlInfo

OF_TAB = 250_000_000  # bytes: a file of the largest size, and some of its own images
OF_SERVER = 2_000_000_000
AFTER_SECONDS, LOOK_SECONDS = (
    30.0,
    5.0,
)  # how long a tab may be away before its files go, and how often that is asked
MOST_GIVEN = 1000  # addresses of a tab that are remembered
UPLOAD = re.compile(r".*/_stcore/upload_file/(?P<tab>[^/]+)/(?P<file>[^/]+)")


class Uploads:
    """The files that tabs have uploaded, and those on their way."""

    def __init__(self) -> None:
        self._given: dict[str, list[str]] = {}
        self._coming: Counter[str] = Counter()
        self._away: dict[str, float] = {}

    def watch(self, files: MemoryUploadedFileManager) -> None:
        """Note from now on which addresses are given out."""
        give = files.get_upload_urls

        def noted(tab: str, names: Sequence[str]) -> list[UploadFileUrlInfo]:
            given = give(tab, names)
            self._given[tab] = [*self._given.get(tab, []), *(one.file_id for one in given)][-MOST_GIVEN:]
            return given

        files.get_upload_urls = noted  # type: ignore[method-assign]

    def refusal(
        self, files: MemoryUploadedFileManager, tab: str, file: str, size: int | None
    ) -> tuple[int, str] | None:
        """The status and the reason with which an upload is refused, None where it is not."""
        if file not in self._given.get(tab, ()):
            return 403, "this address was not given out: upload by the page"
        if size is None:
            return 411, "an upload has to say how long it is"
        held = {
            one: sum(len(part.data) for part in parts.values())
            for one, parts in list(files.file_storage.items())
        }
        held[tab] = held.get(tab, 0)
        if held[tab] + self._coming[tab] + size > OF_TAB:
            return 413, f"a tab may hold {OF_TAB // 10**6} MB of uploads: remove one"
        if sum(held.values()) + self._coming.total() + size > OF_SERVER:
            return 413, "the server holds as many uploads as it can: try again in a minute"
        return None

    @contextlib.contextmanager
    def coming(self, tab: str, size: int):
        """While a file of that size is on its way."""
        self._coming[tab] += size
        try:
            yield
        finally:
            self._coming[tab] -= size

    def forget_closed(self, runtime: Runtime, files: MemoryUploadedFileManager, now: float) -> None:
        """Free the files of tabs that have been away for AFTER_SECONDS."""
        for tab in {*files.file_storage, *self._given}:
            if runtime.is_active_session(tab):
                self._away.pop(tab, None)
            elif now - self._away.setdefault(tab, now) > AFTER_SECONDS:
                files.remove_session_files(tab)
                for told in (self._away, self._given, self._coming):
                    told.pop(tab, None)  # type: ignore[attr-defined]


UPLOADS = Uploads()


class BoundedUploads:
    """Middleware that refuses uploads which `UPLOADS` has no room for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = (
            UPLOAD.fullmatch(scope["path"]) if scope["type"] == "http" and scope["method"] == "PUT" else None
        )
        if found is None:
            await self._app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "")
        size = int(length) if re.fullmatch("[0-9]{1,15}", length) else None
        refused = UPLOADS.refusal(_files(), found["tab"], found["file"], size)
        if refused is not None or size is None:
            status, why = refused or (411, "")
            await PlainTextResponse(why, status)(scope, receive, send)
            return
        with UPLOADS.coming(found["tab"], size):
            await self._app(scope, receive, send)


@contextlib.asynccontextmanager
async def forgetting(app: st.App) -> AsyncIterator[None]:
    """While the server runs: note which addresses are given out, and free the files of closed tabs."""
    files = _files()
    UPLOADS.watch(files)

    async def look() -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            UPLOADS.forget_closed(get_instance(), files, time.monotonic())

    task = asyncio.create_task(look())
    try:
        yield
    finally:
        task.cancel()


def _files() -> MemoryUploadedFileManager:
    files = get_instance().uploaded_file_mgr
    assert isinstance(files, MemoryUploadedFileManager)
    return files
