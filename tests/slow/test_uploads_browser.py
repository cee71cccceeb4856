"""What Streamlit's endpoint of uploads takes, and for how long, in a real browser."""

from __future__ import annotations

import urllib.request

from working import wait


def held(server) -> bool:
    """Whether the server holds an upload, by its own metrics."""
    with urllib.request.urlopen(f"{server.url}/_stcore/metrics", timeout=60) as answer:
        return b"UploadedFileManager" in answer.read()


def test_a_made_up_address_is_refused_and_a_closed_tab_frees_its_files(server, visit, tmp_path):
    page = visit("/image_sets")
    page.get_by_text("Import images of your own").click()
    (tmp_path / "pictures.zip").write_bytes(b"PK half")
    with page.expect_response(lambda answer: answer.request.method == "PUT") as answered:
        page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(tmp_path / "pictures.zip")
    assert answered.value.status == 204
    sent = answered.value.request
    tab, _, issued = sent.url.rpartition("/")
    token = sent.all_headers().get("x-xsrftoken", "")
    file = {"name": "more.zip", "mimeType": "application/zip", "buffer": b"PK more"}
    for name, status in (("made-up", 403), (issued, 204)):
        answer = page.request.put(f"{tab}/{name}", headers={"X-Xsrftoken": token}, multipart={"file": file})
        assert answer.status == status
    assert held(server)
    page.close()
    wait(lambda: not held(server))
