"""What Streamlit's endpoint of uploads takes, and for how long, in a real browser."""

from __future__ import annotations

import socket
import urllib.request
from urllib.parse import urlsplit

from browsing import settle
from pages.parts.app.bounded_uploads import SILENT_SECONDS
from working import wait


def held(server) -> bool:
    """Whether the server holds an upload, by its own metrics."""
    with urllib.request.urlopen(f"{server.url}/_stcore/metrics", timeout=60) as answer:
        return b"UploadedFileManager" in answer.read()


def status_of(server, path: str, headers: str, body: bytes, token: str) -> int:
    """The status with which the server answers an upload of which no more comes than `body`."""
    address = urlsplit(server.url)
    head = (
        f"PUT {path} HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: multipart/form-data; boundary=B\r\n"
    )
    head += f"X-Xsrftoken: {token}\r\nCookie: _streamlit_xsrf={token}\r\n"
    with socket.create_connection((address.hostname, address.port), timeout=10 * SILENT_SECONDS) as opened:
        opened.sendall(f"{head}{headers}\r\n\r\n".encode() + body)
        return int(opened.recv(100).split()[1])


def test_what_is_no_upload_of_the_page_is_refused_and_a_closed_tab_frees_its_files(server, visit, tmp_path):
    page = visit("/image_sets")
    page.get_by_text("Import your own images").click()
    zone = page.get_by_test_id("stFileUploaderDropzoneInput").first
    zone.wait_for(state="attached")
    settle(page)
    (tmp_path / "pictures.zip").write_bytes(b"PK half")
    with page.expect_response(lambda answer: answer.request.method == "PUT") as answered:
        zone.set_input_files(tmp_path / "pictures.zip")
    assert answered.value.status == 204
    sent = answered.value.request
    tab, _, issued = sent.url.rpartition("/")
    token = sent.all_headers().get("x-xsrftoken", "")
    file = {"name": "more.zip", "mimeType": "application/zip", "buffer": b"PK more"}

    def put(name: str) -> int:
        answer = page.request.put(f"{tab}/{name}", headers={"X-Xsrftoken": token}, multipart={"file": file})
        return answer.status

    assert (put("made-up"), put(issued)) == (403, 204)
    path, length = urlsplit(f"{tab}/{issued}").path, "Content-Length: 10"
    chunked = f"{length}\r\nTransfer-Encoding: chunked", b"5\r\n--B\r\n\r\n"
    assert status_of(server, path, *chunked, token) == 411
    assert status_of(server, path, length, b"--B\r\n", token) == 408, "it falls silent"
    assert put(issued) == 204
    assert held(server)
    page.close()
    wait(lambda: not held(server))
