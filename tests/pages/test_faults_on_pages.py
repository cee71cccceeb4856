"""What pages show when the home, or a file of an image set, goes away under the running app."""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from shown import errors, text_of

from ranking.storage.run import RECORD

ROOT = Path(__file__).parents[2]


def test_a_home_that_was_moved_is_reported_and_comes_back(laboratory, open_page, tmp_path):
    app = open_page("train")
    assert not app.error
    laboratory.home.rename(tmp_path / "moved")
    app.run()
    [error] = errors(app)
    assert str(laboratory.home) in error
    (tmp_path / "moved").rename(laboratory.home)
    app.run()
    assert not app.error


@pytest.mark.parametrize("content", [None, b"", b"no record at all"], ids=["missing", "empty", "garbage"])
def test_a_lost_record_is_named_and_everything_else_opens(laboratory, open_page, content):
    folder = laboratory.store.runs.get(laboratory.finished).folder
    (folder / RECORD).unlink()
    if content is not None:
        (folder / RECORD).write_bytes(content)
    [warning] = open_page("image_sets").warning
    assert folder.name in warning.value
    app = open_page("train", set=laboratory.digits)
    assert not errors(app)
    assert laboratory.finished not in text_of(app)
    assert laboratory.on_shapes in [run.id for run in laboratory.store.runs.all()]


VISIT = """
import sys
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("laboratory.py", default_timeout=120)
app.switch_page(f"pages/{sys.argv[1]}.py")
app.run()
print(len(app.exception), [error.value.replace(chr(92), "") for error in app.error])
"""


@functools.cache
def can_mount():
    trial = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/tmp"]
    return shutil.which("unshare") is not None and subprocess.run(trial, capture_output=True).returncode == 0


def test_a_home_that_is_read_only_is_reported(laboratory):
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
    assert done.stdout.startswith("0 ['"), "no exception, and an error"
    assert f"{home}: Read-only file system" in done.stdout


def test_a_set_loses_its_images_its_thumbnails_and_all_files(laboratory, open_page):
    """Each is reported in its place, and the rest of the page is shown; nothing is offered that needs the file."""

    def offered(app):
        return [button.label for button in app.get("download_button")]

    images = laboratory.store.sets.get(laboratory.shapes)
    for file in images.image_files:
        (images.folder / str(file)).unlink()
    shown = open_page("image_sets", set=images.key)
    ranked = open_page("ranked_images", run=laboratory.on_shapes)
    for app in (shown, ranked):
        [error] = errors(app)
        assert error.startswith("image photo_")
        assert str(images.folder) in error, "where it was expected"
        assert len(app.get("plotly_chart")) == 1, "the page goes on"
    assert "Contact sheet as PNG" in offered(ranked)
    for name in ("crops.bin", "thumbs.bin"):
        (images.folder / name).unlink()
    for app in (shown, ranked):  # what was read of them before stays in the cache
        assert any("crops.bin" in error or "thumbs.bin" in error for error in errors(app.run()))
    assert shown.get("plotly_chart")
    assert "Contact sheet as PNG" not in offered(ranked)
    assert "Ranking as CSV" in offered(ranked), "which needs no picture"
    shutil.rmtree(images.folder)
    assert open_page("train", set=images.key).warning, "it is not listed"
