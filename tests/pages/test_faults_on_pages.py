"""What a person reads when the home or an image goes away under the running app."""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["image_sets", "train", "ranked_images"]


@pytest.mark.parametrize("page", PAGES)
def test_a_home_that_was_moved_is_said_and_comes_back(laboratory, open_page, tmp_path, page):
    app = open_page(page)
    assert not app.error
    laboratory.home.rename(tmp_path / "moved")
    app.run()
    assert not app.exception
    [said] = [error.value.replace("\\", "") for error in app.error]
    assert said.startswith(f"cannot use the home folder {laboratory.home}: unable to open database file; ")
    assert "its files were moved or removed while the app was running: put them back" in said
    (tmp_path / "moved").rename(laboratory.home)
    app.run()
    assert not app.exception
    assert not app.error


VISIT = """
import sys
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("app.py", default_timeout=60)
app.switch_page(f"pages/{sys.argv[1]}.py")
app.run()
print(len(app.exception), [error.value.replace(chr(92), "") for error in app.error])
"""


@functools.cache
def can_mount():
    trial = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/tmp"]
    return shutil.which("unshare") is not None and subprocess.run(trial, capture_output=True).returncode == 0


def test_a_home_that_is_read_only_is_said(laboratory):
    if not can_mount():
        pytest.skip("this machine lets no process mount for itself (unshare -rm)")
    home = laboratory.home
    shell = f'mount --bind {home} {home} && mount -o remount,bind,ro {home} && exec "$0" -c "$@"'
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", shell, sys.executable, VISIT, "train"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == (
        f"0 ['cannot use the home folder {home}: Read-only file system; "
        "set RANKING_HOME to a folder that can be written, or change its permissions']"
    )


def test_an_image_that_is_gone_is_said_in_its_place(laboratory, open_page):
    images = laboratory.store.image_set(laboratory.shapes)
    for file in images.image_files:
        (images.folder / str(file)).unlink()
    for page, query in (
        ("image_sets", {"set": images.key}),
        ("ranked_images", {"run": laboratory.on_shapes}),
    ):
        app = open_page(page, **query)
        assert not app.exception
        [said] = [error.value.replace("\\", "") for error in app.error]
        assert said.startswith("image photo_")
        assert " of shapes" in said
        assert len(app.get("plotly_chart")) == 1, "the page goes on"


def test_thumbnails_that_are_gone_are_said_in_their_place(laboratory, open_page):
    queries = {"image_sets": {"set": laboratory.shapes}, "ranked_images": {"run": laboratory.on_shapes}}
    opened = {page: open_page(page, **query) for page, query in queries.items()}
    for name in ("crops.bin", "thumbs.bin"):
        (laboratory.home / "sets" / laboratory.shapes / name).unlink()
    for app in opened.values():  # what was read of them before stays in the cache
        app.run()
        assert not app.exception
        said = {error.value.replace("\\", "") for error in app.error}
        assert any(".bin of " in one and "cannot be read; import the image set again" in one for one in said)
    assert opened["image_sets"].get("plotly_chart"), "the page goes on"


def test_a_contact_sheet_without_its_pictures_is_said_and_not_offered(laboratory, open_page):
    def offered(app):
        return "Contact sheet as PNG" in [button.label for button in app.get("download_button")]

    app = open_page("ranked_images", run=laboratory.on_shapes)
    assert offered(app)
    said = len(app.error)
    (laboratory.home / "sets" / laboratory.shapes / "crops.bin").unlink()
    app.run()
    assert not app.exception
    assert not offered(app)
    told = [error.value.replace("\\", "") for error in app.error]
    assert len(told) > said
    assert told[-1].startswith("crops.bin of ")
    assert told[-1].endswith("cannot be read; import the image set again")
    assert "Ranking as CSV" in [button.label for button in app.get("download_button")], "which needs none"
