"""What uploads may hold of the server's memory, with Streamlit's own store of files."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from pages.parts.app.bounded_uploads import AFTER_SECONDS, BoundedUploads, Upload, Uploads
from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from pages.parts.app import bounded_uploads

MB = 10**6


class Runtime:
    """Knows which tabs are open."""

    def __init__(self, *tabs: str) -> None:
        self.tabs = set(tabs)

    def is_active_session(self, tab: str) -> bool:
        return tab in self.tabs


@pytest.fixture
def files() -> MemoryUploadedFileManager:
    return MemoryUploadedFileManager("/_stcore/upload_file")


@pytest.fixture
def uploads(files) -> Uploads:
    made = Uploads()
    made.watch(files)
    return made


def test_no_page_promises_more_than_a_tab_may_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    for setting, promised in ((100, "100 MB"), (1000, "238 MB")):
        monkeypatch.setattr(bounded_uploads.st, "get_option", {"server.maxUploadSize": setting}.get)
        assert bounded_uploads.largest() == promised


def given(files: MemoryUploadedFileManager, tab: str = "anna") -> str:
    [info] = files.get_upload_urls(tab, ["photo.jpg"])
    return info.file_id


def stored(files: MemoryUploadedFileManager, file: str, size: int, tab: str = "anna") -> None:
    files.add_file(tab, UploadedFileRec(file, "photo.jpg", "image/jpeg", bytes(size)))


def status(
    uploads: Uploads, files: MemoryUploadedFileManager, file: str, size: int, tab: str = "anna"
) -> int | None:
    """With which status an upload is refused, None where it is not."""
    try:
        uploads.begin(files, Upload(tab, file, size))
    except HTTPException as refused:
        return refused.status_code
    return None


def arrived(uploads: Uploads, files: MemoryUploadedFileManager, upload: Upload, size: int) -> int | None:
    """With which status an upload is cut off when so much of it has arrived, None where it is not."""
    try:
        uploads.arrive(files, upload, size)
    except HTTPException as refused:
        return refused.status_code
    return None


def test_only_addresses_that_were_given_to_the_tab_are_accepted(files, uploads):
    mine = given(files)
    assert status(uploads, files, mine, 1) is None
    for tab, file in (("anna", "made-up"), ("berta", mine), ("anna", given(files, "berta"))):
        assert status(uploads, files, file, 1, tab) == 403


def test_a_tab_and_the_server_hold_so_much(files, uploads, monkeypatch):
    monkeypatch.setattr(bounded_uploads, "OF_TAB", 5 * MB)
    monkeypatch.setattr(bounded_uploads, "OF_SERVER", 7 * MB)
    first, second, of_berta = given(files), given(files), given(files, "berta")
    stored(files, first, 3 * MB)
    assert status(uploads, files, second, 2 * MB) is None
    assert status(uploads, files, second, 2 * MB + 1) == 413
    upload = Upload("anna", second, 2 * MB)
    with uploads.coming(upload):
        assert arrived(uploads, files, upload, 2 * MB) is None
        assert status(uploads, files, given(files), 1) == 413
        assert status(uploads, files, of_berta, 2 * MB, "berta") is None
        assert status(uploads, files, of_berta, 2 * MB + 1, "berta") == 413
    assert status(uploads, files, second, 2 * MB) is None
    files.remove_file("anna", first)
    assert status(uploads, files, second, 5 * MB) is None


def test_what_is_declared_and_does_not_arrive_takes_no_space(files, uploads, monkeypatch):
    monkeypatch.setattr(bounded_uploads, "OF_TAB", 5 * MB)
    monkeypatch.setattr(bounded_uploads, "OF_SERVER", 7 * MB)
    tabs = [f"tab {number}" for number in range(10)]
    silent = [Upload(tab, given(files, tab), 5 * MB) for tab in tabs]
    with contextlib.ExitStack() as open_ones:
        for upload in silent:
            uploads.begin(files, upload)
            open_ones.enter_context(uploads.coming(upload))
            assert arrived(uploads, files, upload, 200) is None
        assert status(uploads, files, given(files), 5 * MB) is None
        for now in (0.0, 1.0 + AFTER_SECONDS):
            uploads.forget_closed(Runtime("anna"), files, now)  # type: ignore[arg-type]
        assert arrived(uploads, files, silent[0], 1) == 403, "its tab is closed"
    assert status(uploads, files, given(files), 5 * MB) is None
    stored(files, given(files, "berta"), 4 * MB, "berta")
    assert status(uploads, files, given(files), 3 * MB + 1) == 413, "the bound is as it was"


def test_uploads_that_fit_when_they_began_are_cut_off_where_they_no_longer_do(files, uploads, monkeypatch):
    monkeypatch.setattr(bounded_uploads, "OF_TAB", 5 * MB)
    coming = [Upload("anna", given(files), 3 * MB) for _ in range(2)]
    for upload in coming:
        uploads.begin(files, upload)
    with uploads.coming(coming[0]), uploads.coming(coming[1]):
        assert [arrived(uploads, files, upload, 2 * MB) for upload in coming] == [None, None]
        assert [arrived(uploads, files, upload, MB) for upload in coming] == [None, 413]


def test_a_file_that_is_sent_again_takes_its_own_place(files, uploads, monkeypatch):
    monkeypatch.setattr(bounded_uploads, "OF_TAB", 5 * MB)
    first, second = given(files), given(files)
    stored(files, first, 3 * MB)
    assert status(uploads, files, first, 5 * MB + 1) == 413
    assert files.get_files("anna", [first])
    assert status(uploads, files, first, 5 * MB) is None
    assert not files.get_files("anna", [first]), "not beside the new one"
    assert status(uploads, files, second, 5 * MB) is None


def test_the_files_of_a_closed_tab_go_and_those_of_an_open_one_stay(files, uploads):
    for tab in ("anna", "berta"):
        stored(files, given(files, tab), MB, tab)
    runtime: Any = Runtime("anna", "berta")
    uploads.forget_closed(runtime, files, 0.0)
    runtime.tabs.remove("berta")
    uploads.forget_closed(runtime, files, 1.0)
    uploads.forget_closed(runtime, files, 1.0 + AFTER_SECONDS)
    assert set(files.file_storage) == {"anna", "berta"}, "it may come back"
    uploads.forget_closed(runtime, files, 1.1 + AFTER_SECONDS)
    assert set(files.file_storage) == {"anna"}


def test_a_tab_that_comes_back_in_time_keeps_its_files(files, uploads):
    stored(files, given(files), MB)
    away: Any = Runtime()
    uploads.forget_closed(away, files, 0.0)
    uploads.forget_closed(Runtime("anna"), files, 20.0)  # type: ignore[arg-type]
    uploads.forget_closed(away, files, 40.0)
    uploads.forget_closed(away, files, 40.0 + AFTER_SECONDS)
    assert set(files.file_storage) == {"anna"}


async def unread(receive: Any) -> None:
    """An endpoint that reads nothing."""


async def read_whole(receive: Any) -> None:
    while (await receive()).get("more_body"):
        pass


def answer(files, monkeypatch, read: Any, bodies: list[bytes] | None, **request: Any) -> int:
    """The status with which a request is answered by the server behind the middleware. bodies: the parts of its body,
    and then silence, where it is not whole; None where none comes."""
    uploads = Uploads()
    uploads.watch(files)
    monkeypatch.setattr(bounded_uploads, "UPLOADS", uploads)
    monkeypatch.setattr(bounded_uploads, "_files", lambda: files)
    sent: list[dict[str, Any]] = []

    async def endpoint(scope: Any, receive: Any, send: Any) -> None:
        await read(receive)
        await send({"type": "http.response.start", "status": 204, "headers": []})

    async def receive() -> dict[str, Any]:
        if bodies:
            return {"type": "http.request", "body": bodies.pop(0), "more_body": True}
        await asyncio.Event().wait()
        raise AssertionError("nothing sets it")

    async def send(message: Any) -> None:
        sent.append(message)

    path = request["path"].replace("GIVEN", given(files))
    scope = {"type": "http", "method": "PUT", "headers": [], **request, "path": path}
    asyncio.run(BoundedUploads(ExceptionMiddleware(endpoint))(scope, receive, send))
    assert not uploads._coming
    return int(sent[0]["status"])


ISSUED = "/_stcore/upload_file/anna/GIVEN"
LENGTH, CHUNKED = b"content-length", (b"transfer-encoding", b"chunked")


@pytest.mark.parametrize(
    ("method", "path", "headers", "expected"),
    [
        ("PUT", "/_stcore/upload_file/anna/made-up", [(LENGTH, b"5")], 403),
        ("PUT", "/lab/_stcore/upload_file/anna/made-up", [(LENGTH, b"5")], 403),
        ("PUT", ISSUED, [(LENGTH, b"five")], 411),
        ("PUT", ISSUED, [], 411),
        ("PUT", ISSUED, [CHUNKED], 411),
        ("PUT", ISSUED, [(LENGTH, b"10"), CHUNKED], 411),
        ("PUT", ISSUED, [CHUNKED, (LENGTH, b"10")], 411),
        ("PUT", ISSUED, [(LENGTH, b"10"), (LENGTH, b"20")], 411),
        ("PUT", ISSUED, [(LENGTH, b"300000000")], 413),
        ("PUT", ISSUED, [(LENGTH, b"5")], 204),
        ("DELETE", "/_stcore/upload_file/anna/made-up", [(LENGTH, b"0")], 204),
        ("GET", "/_stcore/health", [], 204),
    ],
)
def test_what_the_server_lets_through(files, monkeypatch, method, path, headers, expected):
    assert answer(files, monkeypatch, unread, None, method=method, path=path, headers=headers) == expected


def test_what_arrives_beyond_what_was_declared_is_cut_off(files, monkeypatch):
    bodies = [b"12345", b"12345", b"1", b"more"]
    headers = [(LENGTH, b"10")]
    assert answer(files, monkeypatch, read_whole, bodies, path=ISSUED, headers=headers) == 400
    assert bodies == [b"more"]


def test_an_upload_that_falls_silent_is_cut_off(files, monkeypatch):
    monkeypatch.setattr(bounded_uploads, "SILENT_SECONDS", 0.05)
    headers = [(LENGTH, b"10")]
    assert answer(files, monkeypatch, read_whole, [b"12345"], path=ISSUED, headers=headers) == 408
