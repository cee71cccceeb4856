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

OF_TAB = 250_000_000  # bytes: a file of the largest size, and some of its own images
OF_SERVER = 2_000_000_000
AFTER_SECONDS, LOOK_SECONDS = (
    30.0,
    5.0,
)  # how long a tab may be away before its files go, and how often that is asked
SILENT_SECONDS = 30.0  # an upload from which nothing arrives for so long is cut off
MOST_GIVEN = 1000  # addresses of a tab that are remembered
UPLOAD = re.compile(r".*/_stcore/upload_file/(?P<tab>[^/]+)/(?P<file>[^/]+)")


def largest() -> str:
    """How large one file may be, for people: by Streamlit's setting, and never more than a tab may hold."""
    return f"{min(st.get_option('server.maxUploadSize'), OF_TAB // 2**20):,} MB"


@dataclass(eq=False)
class Upload:
    """A file on its way from a tab: the declared length of its request, and how many bytes of that have arrived."""

    tab: str
    file: str
    size: int
    arrived: int = 0


class Uploads:
    """The files that tabs have uploaded, and those on their way. Bytes count from when they arrive: none is reserved,
    so an upload that only says how long it is takes no space from others."""

    def __init__(self) -> None:
        self._given: dict[str, list[str]] = {}
        self._coming: set[Upload] = set()
        self._away: dict[str, float] = {}

    def watch(self, files: MemoryUploadedFileManager) -> None:
        """Note from now on which addresses are given out."""
        give = files.get_upload_urls

        def noted(tab: str, names: Sequence[str]) -> list[UploadFileUrlInfo]:
            given = give(tab, names)
            self._given[tab] = [*self._given.get(tab, []), *(each.file_id for each in given)][-MOST_GIVEN:]
            return given

        files.get_upload_urls = noted  # type: ignore[method-assign]

    def begin(self, files: MemoryUploadedFileManager, upload: Upload) -> None:
        """HTTPException where an upload is refused. One to an address that holds a file takes its place: the file is
        removed."""
        held = files.get_files(upload.tab, [upload.file])
        self._check(files, upload, upload.size - sum(len(file.data) for file in held))
        files.remove_file(upload.tab, upload.file)

    def arrive(self, files: MemoryUploadedFileManager, upload: Upload, more: int) -> None:
        """Count so many bytes more of an upload. HTTPException where it is cut off."""
        upload.arrived += more
        if upload.arrived > upload.size:
            raise HTTPException(
                400, "the upload is longer than the length that it declared: upload the file again"
            )
        self._check(files, upload, 0)

    @contextlib.contextmanager
    def coming(self, upload: Upload) -> Iterator[None]:
        """While a file is on its way."""
        self._coming.add(upload)
        try:
            yield
        finally:
            self._coming.remove(upload)

    def forget_closed(self, runtime: Runtime, files: MemoryUploadedFileManager, now: float) -> None:
        """Free the files of tabs that have been away for AFTER_SECONDS. What is still on its way from one is cut off
        when more of it arrives."""
        for tab in {*files.file_storage, *self._given}:
            if runtime.is_active_session(tab):
                self._away.pop(tab, None)
            elif now - self._away.setdefault(tab, now) > AFTER_SECONDS:
                files.remove_session_files(tab)
                self._away.pop(tab, None)
                self._given.pop(tab, None)

    def _check(self, files: MemoryUploadedFileManager, upload: Upload, more: int) -> None:
        """HTTPException where an address was not given out, or there is no space for so many bytes more."""
        if upload.file not in self._given.get(upload.tab, ()):
            raise HTTPException(
                403, "this upload address is not valid: reload the page and upload the file there"
            )
        held = sum(len(file.data) for file in list(files.file_storage.get(upload.tab, {}).values()))
        arrived = sum(each.arrived for each in self._coming if each.tab == upload.tab)
        if held + arrived + more > OF_TAB:
            raise HTTPException(
                413, f"a browser tab may hold {OF_TAB // 10**6} MB of uploads: remove one of its files"
            )
        held = sum(stat.byte_length for stats in files.get_stats().values() for stat in stats)
        if held + sum(each.arrived for each in self._coming) + more > OF_SERVER:
            raise HTTPException(413, "the server holds the most uploads that it may: try again in a minute")


UPLOADS = Uploads()


class BoundedUploads:
    """Middleware that refuses uploads which `UPLOADS` has no room for, and cuts them off where that shows later."""

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
            await self._app(scope, counted, send)  # which answers with the HTTPException of `counted`


def _declared(headers: Headers) -> int:
    """How long the body of a request is, as it says. HTTPException where it does not, or is sent in chunks, which makes
    any length that it says void."""
    length = ",".join(headers.getlist("content-length"))
    if "transfer-encoding" in headers or not re.fullmatch("[0-9]{1,15}", length):
        raise HTTPException(411, "an upload must declare its length, and must not be sent in chunks")
    return int(length)


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
