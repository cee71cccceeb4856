"""Limits on the server memory of uploads, because Streamlit keeps each file in memory until its browser tab is closed.

A file arrives as a PUT request to a URL that was issued to the page. Middleware accepts requests only to issued URLs,
and only within the limits per tab and per server; a background task frees the files of closed tabs.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass

import streamlit as st
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime import Runtime, get_instance
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadFileUrlInfo

OF_TAB = 250_000_000  # bytes: one file of the maximum size, and some of its images
OF_SERVER = 2_000_000_000
AFTER_SECONDS, LOOK_SECONDS = (
    30.0,
    5.0,
)  # how long a tab may be disconnected before its files are freed, and how often this is checked
SILENT_SECONDS = 30.0  # an upload is aborted after this time without data
MOST_GIVEN = 1000  # issued URLs that are remembered per tab
UPLOAD = re.compile(r".*/_stcore/upload_file/(?P<tab>[^/]+)/(?P<file>[^/]+)")


def largest() -> str:
    """The maximum size of a file as text: Streamlit's setting, at most the limit per tab."""
    return f"{min(st.get_option('server.maxUploadSize'), OF_TAB // 2**20):,} MB"


@dataclass(eq=False)
class Upload:
    """An upload in progress: its tab, its file, the declared length of its request, and the bytes received so far."""

    tab: str
    file: str
    size: int
    arrived: int = 0


class Uploads:
    """The uploaded files and the uploads in progress of all tabs. Only received bytes count: none are reserved, so an
    upload that only declares a length takes no space from other uploads."""

    def __init__(self) -> None:
        self._given: dict[str, list[str]] = {}
        self._coming: set[Upload] = set()
        self._away: dict[str, float] = {}

    def watch(self, files: MemoryUploadedFileManager) -> None:
        """Record all URLs that are issued from now on."""
        give = files.get_upload_urls

        def noted(tab: str, names: Sequence[str]) -> list[UploadFileUrlInfo]:
            given = give(tab, names)
            self._given[tab] = [*self._given.get(tab, []), *(each.file_id for each in given)][-MOST_GIVEN:]
            return given

        files.get_upload_urls = noted  # type: ignore[method-assign]

    def begin(self, files: MemoryUploadedFileManager, upload: Upload) -> None:
        """Accept an upload, which replaces any earlier file at its URL. HTTPException if it is refused."""
        held = files.get_files(upload.tab, [upload.file])
        self._check(files, upload, upload.size - sum(len(file.data) for file in held))
        files.remove_file(upload.tab, upload.file)

    def arrive(self, files: MemoryUploadedFileManager, upload: Upload, more: int) -> None:
        """Count `more` received bytes of an upload. HTTPException if the upload is aborted."""
        upload.arrived += more
        if upload.arrived > upload.size:
            raise HTTPException(400, "the upload is longer than its declared length: upload the file again")
        self._check(files, upload, 0)

    @contextlib.contextmanager
    def coming(self, upload: Upload) -> Iterator[None]:
        """Count an upload as in progress while the context is open."""
        self._coming.add(upload)
        try:
            yield
        finally:
            self._coming.remove(upload)

    def forget_closed(self, runtime: Runtime, files: MemoryUploadedFileManager, now: float) -> None:
        """Free the files of tabs that have been disconnected for AFTER_SECONDS. Their uploads in progress are aborted
        when more data arrives."""
        for tab in {*files.file_storage, *self._given}:
            if runtime.is_active_session(tab):
                self._away.pop(tab, None)
            elif now - self._away.setdefault(tab, now) > AFTER_SECONDS:
                files.remove_session_files(tab)
                self._away.pop(tab, None)
                self._given.pop(tab, None)

    def _check(self, files: MemoryUploadedFileManager, upload: Upload, more: int) -> None:
        """HTTPException if the URL was not issued, or if `more` bytes exceed a limit."""
        if upload.file not in self._given.get(upload.tab, ()):
            raise HTTPException(
                403, "this upload URL is not valid: reload the page and upload the file there"
            )
        held = sum(len(file.data) for file in list(files.file_storage.get(upload.tab, {}).values()))
        arrived = sum(each.arrived for each in self._coming if each.tab == upload.tab)
        if held + arrived + more > OF_TAB:
            raise HTTPException(
                413, f"a browser tab may hold {OF_TAB // 10**6} MB of uploads: remove one of its files"
            )
        held = sum(stat.byte_length for stats in files.get_stats().values() for stat in stats)
        if held + sum(each.arrived for each in self._coming) + more > OF_SERVER:
            raise HTTPException(413, "the server has reached its limit for uploads: try again in a minute")


UPLOADS = Uploads()


class BoundedUploads:
    """Middleware that refuses uploads that exceed the limits of `UPLOADS`, and aborts those that do so later."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match = (
            UPLOAD.fullmatch(scope["path"]) if scope["type"] == "http" and scope["method"] == "PUT" else None
        )
        if match is None:
            await self._app(scope, receive, send)
            return
        files = _files()
        try:
            upload = Upload(match["tab"], match["file"], _declared(Headers(scope=scope)))
            UPLOADS.begin(files, upload)
        except HTTPException as refused:
            await PlainTextResponse(refused.detail, refused.status_code)(scope, receive, send)
            return

        async def counted() -> Message:
            try:
                message = await asyncio.wait_for(receive(), SILENT_SECONDS)
            except TimeoutError:
                why = f"nothing arrived for {SILENT_SECONDS:g} seconds: upload the file again"
                raise HTTPException(408, why, headers={"Connection": "close"}) from None
            UPLOADS.arrive(files, upload, len(message.get("body", b"")))
            return message

        with UPLOADS.coming(upload):
            await self._app(scope, counted, send)  # responds with the HTTPException of `counted`


def _declared(headers: Headers) -> int:
    """The declared length of a request's body. HTTPException without one, or if the body is sent in chunks, which makes
    a declared length void."""
    length = ",".join(headers.getlist("content-length"))
    if "transfer-encoding" in headers or not re.fullmatch("[0-9]{1,15}", length):
        raise HTTPException(411, "an upload must declare its length, and must not be sent in chunks")
    return int(length)


@contextlib.asynccontextmanager
async def forgetting(app: st.App) -> AsyncIterator[None]:
    """Record issued URLs and free the files of closed tabs while the server runs."""
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
