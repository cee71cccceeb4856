"""A ZIP file that is dropped on the page, in a real browser, to a set that is deleted again."""

from __future__ import annotations

from archives import zip_of
from browsing import settle
from shapes import write_shapes
from walking import bring, shown


def test_a_dropped_zip_file_is_read_added_and_deleted(visit, server, tmp_path):
    data = zip_of(write_shapes(tmp_path / "shapes", images=18), tmp_path / "shapes.zip").read_bytes()
    page = shown(visit("/image_sets"))
    bring(page, data, "holiday.zip")
    page.get_by_role("heading", name="holiday.zip: PASCAL VOC").wait_for()
    options = page.get_by_role("listbox", name="12 samples of the preview").get_by_role("option")
    options.nth(11).wait_for()
    [copy] = server.home.glob("runs/*/upload.zip")
    assert not (copy.parent / "draft").exists(), "nothing is stored before the person says so"
    page.locator(".st-key-add-set button").click()
    page.get_by_role("heading", name="Added: holiday").wait_for()
    page.get_by_role("heading", name="Image photo_00").wait_for()
    assert not list(server.home.rglob("*.zip")), "the copy has gone"
    settle(page)
    page.locator(".st-key-undo-import button").click()
    page.get_by_text("Deleted: holiday.").wait_for()
    settle(page)
    page.locator(".st-key-widget-undo-delete-of-set button").click()
    page.get_by_role("heading", name="Image photo_00").wait_for()
