"""What uploads may hold of the server's memory, with Streamlit's own store of files."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from pages.parts import bounded_uploads
from pages.parts.bounded_uploads import AFTER_SECONDS, BoundedUploads, Uploads

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


def given(files: MemoryUploadedFileManager, tab: str = "anna") -> str:
    [info] = files.get_upload_urls(tab, ["photo.jpg"])
    return info.file_id


def stored(files: MemoryUploadedFileManager, file: str, size: int, tab: str = "anna") -> None:
    files.add_file(tab, UploadedFileRec(file, "photo.jpg", "image/jpeg", bytes(size)))


def status(answer: tuple[int, str] | None) -> int | None:
    return None if answer is None else answer[0]


def test_only_addresses_that_were_given_to_the_tab_are_accepted(files, uploads):
    mine = given(files)
    assert uploads.refusal(files, "anna", mine, 1) is None
    for tab, file in (("anna", "made-up"), ("berta", mine), ("anna", given(files, "berta"))):
        assert status(uploads.refusal(files, tab, file, 1)) == 403
    assert status(uploads.refusal(files, "anna", mine, None)) == 411


def test_a_tab_and_the_server_hold_so_much(files, uploads, monkeypatch):
    monkeypatch.setattr(bounded_uploads, "OF_TAB", 5 * MB)
    monkeypatch.setattr(bounded_uploads, "OF_SERVER", 7 * MB)
    first, second, of_berta = given(files), given(files), given(files, "berta")
    stored(files, first, 3 * MB)
    assert uploads.refusal(files, "anna", second, 2 * MB) is None
    assert status(uploads.refusal(files, "anna", second, 2 * MB + 1)) == 413
    with uploads.coming("anna", 2 * MB):
        assert status(uploads.refusal(files, "anna", second, 1)) == 413
        assert uploads.refusal(files, "berta", of_berta, 2 * MB) is None
        assert status(uploads.refusal(files, "berta", of_berta, 2 * MB + 1)) == 413
    assert uploads.refusal(files, "anna", second, 2 * MB) is None
    files.remove_file("anna", first)
    assert uploads.refusal(files, "anna", second, 5 * MB) is None


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


@pytest.mark.parametrize(
    ("method", "path", "length", "expected"),
    [
        ("PUT", "/_stcore/upload_file/anna/made-up", "5", 403),
        ("PUT", "/lab/_stcore/upload_file/anna/made-up", "5", 403),
        ("PUT", "/_stcore/upload_file/anna/GIVEN", "five", 411),
        ("PUT", "/_stcore/upload_file/anna/GIVEN", "300000000", 413),
        ("PUT", "/_stcore/upload_file/anna/GIVEN", "5", 204),
        ("DELETE", "/_stcore/upload_file/anna/made-up", "0", 204),
        ("GET", "/_stcore/health", "0", 204),
    ],
)
def test_what_the_server_lets_through(files, uploads, monkeypatch, method, path, length, expected):
    monkeypatch.setattr(bounded_uploads, "UPLOADS", uploads)
    monkeypatch.setattr(bounded_uploads, "_files", lambda: files)
    sent: list[dict[str, Any]] = []

    async def through(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204})

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": path.replace("GIVEN", given(files)),
        "headers": [(b"content-length", length.encode())],
    }
    asyncio.run(BoundedUploads(through)(scope, None, send))  # type: ignore[arg-type]
    assert sent[0]["status"] == expected
