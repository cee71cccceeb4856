"""A ZIP file that is dropped on the page, in a real browser, to a set that is kept and taken away again."""

from __future__ import annotations

import base64
import time
from pathlib import Path

from browsing import Page, Server, Visit, settle
from shapes import write_shapes
from zipped import zip_of

from ranking.intake.zip_tree import READABLE

DROP = """([data, name]) => {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    const dragged = new DataTransfer();
    dragged.items.add(new File([bytes], name, {type: "application/zip"}));
    const zone = document.querySelector("[data-testid=stFileUploaderDropzone]");
    for (const kind of ["dragenter", "dragover", "drop"])
        zone.dispatchEvent(new DragEvent(kind, {dataTransfer: dragged, bubbles: true, cancelable: true}));
}"""


def drop(page: Page, data: bytes, name: str) -> None:
    page.get_by_text("Import images of your own").click()
    page.get_by_test_id("stFileUploaderDropzone").first.wait_for()
    settle(page)
    page.evaluate(DROP, [base64.b64encode(data).decode(), name])


def test_a_dropped_zip_file_is_looked_at_imported_kept_and_taken_away(
    visit: Visit, server: Server, tmp_path: Path
) -> None:
    data = zip_of(write_shapes(tmp_path / "shapes", images=18), tmp_path / "shapes.zip").read_bytes()
    page = visit("/image_sets")
    page.locator(".tile").first.wait_for()
    drop(page, data, "holiday.zip")
    page.get_by_role("heading", name="holiday.zip: PASCAL VOC").wait_for()
    found = page.get_by_role("listbox", name="12 samples of what was brought").get_by_role("option")
    found.nth(11).wait_for()
    [copy] = server.home.glob("runs/*/brought.zip")
    assert not (copy.parent / "draft").exists(), "nothing is stored before the person says so"
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("heading", name="Imported holiday: keep it?").wait_for()
    page.get_by_role("button", name="Keep").click()
    page.get_by_text("Kept: holiday.").wait_for()
    page.get_by_role("heading", name="Image photo_00").wait_for()
    assert not list(server.home.rglob("*.zip")), "the copy has gone"
    settle(page)
    page.locator(".st-key-widget-undo-Kept button").click()
    page.get_by_text("Taken away: holiday.").wait_for()
    settle(page)
    page.locator(".st-key-widget-undo-Taken-away button").click()
    page.get_by_role("heading", name="Image photo_00").wait_for()


def test_a_file_that_is_no_zip_file_is_refused_in_words_and_nothing_stays(
    visit: Visit, server: Server
) -> None:
    before = set(server.home.glob("runs/*"))
    page = visit("/image_sets")
    page.locator(".tile").first.wait_for()
    drop(page, b"no archive at all", "broken.zip")
    page.get_by_text(READABLE).wait_for()
    page.get_by_text("Nothing is left of broken.zip").wait_for()
    last = time.monotonic() + 10
    while set(server.home.glob("runs/*")) != before and time.monotonic() < last:
        time.sleep(0.05)
    assert set(server.home.glob("runs/*")) == before
