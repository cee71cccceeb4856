"""What pages show when the home, or a file of an image set, goes away under the running app."""

from __future__ import annotations

import shutil

from shown import errors, text_of

from ranking.storage.run import RECORD


def test_a_moved_data_folder_is_reported_and_used_again_when_restored(laboratory, open_page, tmp_path):
    app = open_page("train")
    assert not app.error
    laboratory.home.rename(tmp_path / "moved")
    app.run()
    [error] = errors(app)
    assert str(laboratory.home) in error
    (tmp_path / "moved").rename(laboratory.home)
    app.run()
    assert not app.error


def test_a_lost_record_is_named_and_everything_else_opens(laboratory, open_page):
    folder = laboratory.store.runs.get(laboratory.finished).folder
    (folder / RECORD).write_bytes(b"no record at all")
    [warning] = open_page("image_sets").warning
    assert folder.name in warning.value
    app = open_page("train", set=laboratory.digits)
    assert not errors(app)
    assert laboratory.finished not in text_of(app)
    assert laboratory.on_shapes in [run.id for run in laboratory.store.runs.all()]


def test_a_set_loses_its_images_its_thumbnails_and_all_files(laboratory, open_page):
    """Each loss is reported in its place."""
    # The rest of the page is shown; nothing is offered that needs the file.

    def offered(app):
        return [button.label for button in app.get("download_button")]

    images = laboratory.store.sets.get(laboratory.shapes)
    for file in images.image_files:
        (images.folder / str(file)).unlink()
    shown = open_page("image_sets", set=images.key)
    ranked = open_page("ranked_images", run=laboratory.on_shapes)
    for app in (shown, ranked):
        # each picture that needs the file says so in its place
        [error] = set(errors(app))
        assert error.startswith("image photo_")
        assert str(images.folder) in error, "where it was expected"
        assert len(app.get("plotly_chart")) == 1, "the page goes on"
    assert "Contact sheet as PNG" in offered(ranked)
    for name in ("crops.bin", "thumbs.bin"):
        (images.folder / name).unlink()
    # what was read of them before stays in the cache
    for app in (shown, ranked):
        assert any("crops.bin" in error or "thumbs.bin" in error for error in errors(app.run()))
    assert shown.get("plotly_chart")
    assert "Contact sheet as PNG" not in offered(ranked)
    assert "Ranking as CSV" in offered(ranked), "which needs no picture"
    shutil.rmtree(images.folder)
    assert open_page("train", set=images.key).warning, "it is not listed"
