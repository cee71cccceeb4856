"""The main job in a real browser, on a real server with real workers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import Server, Visit, import_folder, metric, train
from filled_home import copy_home
from label_home import LabelHome
from shapes import HOSTILE, write_shapes


@pytest.fixture(scope="module")
def server(label_home: LabelHome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One whose home has small sets in the place of the bundled ones, which need not be drawn."""
    home = tmp_path_factory.mktemp("browser") / "home"
    copy_home(label_home.home, home)
    server = Server(home)
    server.start()
    yield server
    server.stop()


def test_a_folder_is_imported_previewed_and_kept(visit: Visit, tmp_path: Path) -> None:
    page = visit("/image_sets")
    page.locator(".tile").first.wait_for()
    import_folder(page, write_shapes(tmp_path / "shapes"))
    page.get_by_text("how each was handled").wait_for()
    page.get_by_role("heading", name="Image photo_00").wait_for()
    page.get_by_role("button", name="Train on this image set").click()
    train(page, HOSTILE[:20])
    page.get_by_role("button", name="Show the ranking").click()
    page.locator(".tile").first.wait_for()
    assert metric(page, "AP") == 1.0
    # shown as it is written
    page.get_by_text("<img src=http://evil.example").first.wait_for()
