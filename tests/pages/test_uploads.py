"""What a person uploads: dropped or typed, read and shown, added, and deleted again."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest
from archives import zip_of
from example_corel5k import corel5k
from example_svmlight import some_svmlight
from filled_home import train_settings
from imports_here import go_on, import_here, question_of
from PIL import Image
from shapes import HOSTILE, write_shapes
from shown import (
    address,
    button_keys,
    captions,
    choose,
    components,
    counts_in,
    errors,
    plain,
    press,
    text_of,
    turn_to,
)
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from pages.parts.app import home
from pages.parts.importing import uploads
from ranking.core.errors import HomeError
from ranking.formats.tree_source import tree_sources

PATH = "widget path of an import"


def drop(app, data: bytes, name: str = "shapes.zip"):
    return app.file_uploader[0].set_value((name, data, "application/zip")).run()


@pytest.fixture
def poll(laboratory, started):
    """Continue the worker of the page's last import, and run the page again; returns that run."""

    def poll_page(app):
        run = go_on(laboratory.store, started[-1])
        app.run()
        return run

    return poll_page


@pytest.fixture
def bring(poll, open_page, tmp_path):
    """The page after a folder was dropped as a ZIP file and read."""

    def import_folder(folder):
        file = zip_of(folder, tmp_path / "packed.zip")
        app = drop(open_page("image_sets"), file.read_bytes(), f"{folder.name}.zip")
        poll(app)
        return app

    return import_folder


@pytest.fixture
def dropped(bring, tmp_path):
    """The page after shapes were read."""
    return bring(write_shapes(tmp_path / "shapes", images=18))


def tiles(app):
    [grid, *_] = components(app, "ranking_image_grid")
    return grid["items"]


# ---------------------------------------------------------------------------------------------- uploading


def test_a_dropped_file_is_copied_to_disk_and_forgotten_by_the_server(
    laboratory, started, open_page, monkeypatch
):
    removed = []
    manager = MemoryUploadedFileManager("/upload")
    manager.remove_file = lambda session_id, file_id: removed.append(session_id)
    tab = SimpleNamespace(session_id="tab", uploaded_file_mgr=manager)
    monkeypatch.setattr(uploads, "get_script_run_ctx", lambda: tab)
    app = open_page("image_sets")
    before = app.file_uploader[0].key
    name = "my <b>shapes</b>.zip"
    drop(app, b"PK of mine", name)
    [run] = started
    assert run.settings == {"source": None, "source_settings": {}, "upload": name}
    assert run.uploaded_file.read_bytes() == b"PK of mine"
    assert removed == ["tab"]
    assert app.query_params["import"] == run.id
    [heading] = [part.value for part in app.markdown if name in plain(part)]
    assert name not in heading, "it is escaped"
    turn_to(app)
    assert app.file_uploader[0].key != before, "a widget of its own, which holds nothing"
    assert not app.file_uploader[0].value


def test_a_data_folder_that_cannot_store_the_file_gives_the_reason(laboratory, open_page, monkeypatch):
    def refuse(*_):
        raise HomeError("this workspace is *full*")

    app = open_page("image_sets")
    monkeypatch.setattr("ranking.storage.jobs.start", refuse)
    drop(app, b"PK")
    assert [error.value for error in app.error] == ["this workspace is \\*full\\*"]


def test_a_typed_path_is_read_not_shared_and_still_there_after_a_failure(laboratory, started, open_page):
    app = open_page("image_sets")
    press(app, "read import")
    assert not started, "there is no path yet"
    assert len(app.error) == 1
    app.text_input(key=PATH).input(" /some/where ")
    press(app, "read import")
    [run] = started
    assert run.settings == {"source": None, "source_settings": {"folder": "/some/where"}}
    assert address(app)["import"] == run.id
    assert "/some/where" not in address(app).values(), "a path of this machine is not shared"
    laboratory.store.runs.end(run.id, "failed", "nothing there")
    # the second interrupts the first, so that nothing of it reaches the browser
    for _ in range(2):
        app.run()
        assert "nothing there" in app.error[0].value
        assert app.text_input(key=PATH).value.strip() == "/some/where"
        assert app.text_input(key=PATH).proto.set_value
    press(app, "close import")
    assert app.text_input(key=PATH).value.strip() == "/some/where"
    elsewhere = open_page("image_sets", **{"import": run.id})
    assert elsewhere.text_input(key=PATH).value == "/some/where"


def test_a_typed_folder_of_graded_samples_is_shown_before_it_is_added(
    laboratory, started, open_page, poll, tmp_path
):
    app = open_page("image_sets")
    app.text_input(key=PATH).input(str(some_svmlight(tmp_path / "Fold1").parent))
    press(app, "read import")
    poll(app)
    assert "grades" in text_of(app).lower()
    press(app, "add set")
    done = poll(app)
    assert (done.state, done.result["criteria"]) == ("finished", ["grade"])
    assert laboratory.store.sets.reading(done.result["key"]).source == "SVMlight"


def test_a_source_without_files_is_imported_without_a_preview(laboratory, started, open_page):
    app = open_page("image_sets")
    assert not set(app.selectbox(key="widget source").options) & set(tree_sources())
    choose(app.selectbox, "source", "Digits")
    press(app, "add source")
    assert [run.settings["source"] for run in started] == ["Digits"]
    laboratory.store.runs.end(started[0].id, "failed", "no space")
    app.run()
    assert app.selectbox(key="widget source").value == "Digits"
    [error] = errors(app)
    assert error.endswith("no space")


def test_features_without_images_are_read_from_the_path_of_their_file(
    bring, laboratory, open_page, poll, tmp_path
):
    folder = tmp_path / "from the web"
    folder.mkdir()
    (folder / "corel5k.npz").write_bytes(corel5k())
    for place in (folder, folder / "corel5k.npz"):
        app = open_page("image_sets")
        app.text_input(key=PATH).input(str(place))
        press(app, "read import")
        poll(app)
        assert not app.error
        assert app.metric[0].label == "Rows"
        assert "30** training rows, **10** test rows" in text_of(app)
        assert app.selectbox[1].value == "Corel5k"
    (folder / "other.npz").write_bytes(corel5k(n_train=None))
    app = open_page("image_sets")
    app.text_input(key=PATH).input(str(folder / "other.npz"))
    press(app, "read import")
    poll(app)
    assert app.error, "it has not all arrays"
    assert app.button(key=f"cancel import {address(app)['import']}").label == "Close"


def test_waiting_imports_are_folded_and_cancelled_together(laboratory, started, open_page, poll, monkeypatch):
    app = open_page("image_sets")
    for name in ("a.zip", "b.zip"):
        drop(app, b"PK", name)
        turn_to(app)
    assert app.expander[0].label == "2 imports not finished"
    cancelled = []
    monkeypatch.setattr("ranking.storage.jobs.cancel", lambda store, run_id: cancelled.append(run_id))
    press(app, "cancel all import")
    assert sorted(cancelled) == sorted(run.id for run in started)


# ------------------------------------------------------------------------------------------------ reading


def test_a_preview_shows_the_format_counts_and_problems_of_a_file(laboratory, dropped):
    kind = dropped.selectbox[1]
    assert kind.value == "PASCAL VOC"
    assert next(option for option in kind.options if "PASCAL VOC" in option) != "PASCAL VOC", (
        "it is recognised"
    )
    assert "COCO" in kind.options, "another can be chosen"
    assert [int(metric.value) for metric in dropped.metric] == [18, 39, 2], "images, files, problems"
    assert f"{HOSTILE} (**" in text_of(dropped)
    assert [9, 9] in counts_in(dropped.markdown), "images to train on, to test on"
    shown = tiles(dropped)
    assert len(shown) == 12
    assert {tile["left"] for tile in shown} == {"disc", "square", HOSTILE}
    assert shown[0]["src"].startswith("data:image/")
    [report] = dropped.table
    assert ["missing" in row for row in report.value["found"]] == [True, True]
    assert len(laboratory.store.sets.rows()) == 3, "nothing is stored yet"


def test_an_import_waits_until_it_is_cancelled_also_where_its_file_is_damaged(
    laboratory, started, dropped, open_page, monkeypatch
):
    cancelled = []
    monkeypatch.setattr("ranking.storage.jobs.cancel", lambda store, run_id: cancelled.append(run_id))
    [run] = started
    app = open_page("image_sets")
    assert "shapes.zip waits for your decision" in plain(app.button(key=f"widget open {run.id}").label)
    press(app, f"widget open {run.id}")
    assert app.query_params["import"] == run.id
    run.question_file.write_text('{"seen": 1}')
    app.run()
    assert len(app.error) == 1
    assert "add set" not in button_keys(app)
    press(app, f"cancel import {run.id}")
    assert cancelled == [run.id]
    assert "import" not in address(app)
    laboratory.store.runs.update(run.id, cancelled=1.0)
    assert f"widget open {run.id}" not in button_keys(app.run())


def test_another_format_is_tried_as_soon_as_it_is_chosen(laboratory, started, dropped, poll):
    [run] = started
    choose(dropped.selectbox, f"read as {run.id} 1", "COCO")
    poll(dropped)
    assert len(started) == 1, "the same worker reads again"
    [error] = errors(dropped)
    assert str(laboratory.home) not in error, "why it cannot be read so"
    assert "PASCAL VOC: " in text_of(dropped), "what it could be instead"
    assert "add set" not in button_keys(dropped)
    assert dropped.selectbox(key=f"widget read as {run.id} 2").value == "COCO"


def test_changed_settings_are_read_again_before_the_set_is_added_and_shown(
    laboratory, started, dropped, poll
):
    [run] = started
    choose(dropped.selectbox, f"read {run.id} 1.PASCAL VOC.difficult", "keep")
    assert "add set" not in button_keys(dropped)
    press(dropped, "read again")
    [progress] = dropped.get("progress")
    assert "Waiting" not in progress.proto.text, "it is decided"
    assert len(tiles(dropped)) == 12, "the preview stays until the worker has read"
    assert "add set" not in button_keys(dropped)
    again = poll(dropped)
    assert question_of(again).reading["source_settings"]["difficult"] == "keep"
    press(dropped, "add set")
    assert run.uploaded_file.exists()
    added = poll(dropped)
    assert (added.state, added.result["title"]) == ("finished", "shapes")
    assert address(dropped) == {"set": added.result["key"], "import": run.id}, "the tab that waited shows it"
    assert not run.uploaded_file.exists()
    turn_to(dropped, set=laboratory.figures)
    assert address(dropped)["set"] == laboratory.figures, "another set can be chosen"
    assert len(laboratory.store.sets.rows()) == 4


# ----------------------------------------------------------------------------------- columns of a table

COLUMNS = ["datei", "art", "links", "oben", "breit", "hoch"]


def pictures(folder, count=6):
    folder.mkdir()
    for number in range(count):
        Image.new("RGB", (40, 30), (30 * number, 90, 0)).save(folder / f"{number}.png")
    return folder


def setting(app, run, name):
    key = f"widget read {run.id} {question_of(run).number}.Table of images.{name}"
    return next(part for part in [*app.selectbox, *app.text_input] if part.key == key)


def test_columns_are_named_and_read_again(laboratory, bring, started, poll, tmp_path):
    folder = pictures(tmp_path / "fotos")
    rows = [f"{n}.png;{'Hund' if n % 2 else 'Katze'};{n};2;20;15" for n in range(6)]
    (folder / "fotos.csv").write_text("\n".join([";".join(COLUMNS), *rows]))
    german = bring(folder)
    first = laboratory.store.runs.get(started[0].id)
    assert "Image column" in text_of(german) or "Image column" in str(german.selectbox)
    setting(german, first, "box_columns").set_value("links, oben, breit, hoch")
    setting(german, first, "number_columns").set_value("-")
    setting(german, first, "box_form").select("left, top, width, height").run()
    assert not {"add set", "read again"} & set(button_keys(german)), "it is being read again"
    again = poll(german)
    settings = question_of(again).reading["source_settings"]
    assert (settings["box_columns"], settings["number_columns"]) == ("links, oben, breit, hoch", "-")
    press(german, "add set")
    done = poll(german)
    assert home.store().sets.get(done.result["key"]).boxes.tolist()[:2] == [[0, 2, 20, 17], [1, 2, 21, 17]]


def test_the_user_chooses_the_format_of_an_unrecognised_file(bring, started, poll, tmp_path):
    folder = pictures(tmp_path / "x")
    (folder / "t.csv").write_text("was,wo\n" + "".join(f"Tier {n},{n}.png\n" for n in range(6)))
    app = bring(folder)
    assert len(app.error) == 1
    kind = f"read as {started[0].id} 1"
    assert app.selectbox(key=f"widget {kind}").value is None
    assert "add set" not in button_keys(app)
    choose(app.selectbox, kind, "Table of images")
    table = poll(app)
    assert app.error
    setting(app, table, "image_column").set_value("wo")
    setting(app, table, "label_columns").set_value("was").run()
    press(app, "read again")
    poll(app)
    assert not app.error
    assert {tile["left"] for tile in tiles(app)} == {f"Tier {n}" for n in range(6)}


def test_an_unknown_value_of_a_criterion_is_not_shown_below_a_crop(bring, tmp_path):
    folder = pictures(tmp_path / "x")
    (folder / "t.csv").write_text("image,label,age\n" + "".join(f"{n}.png,cat,{n or ''}\n" for n in range(6)))
    assert {tile["left"] for tile in tiles(bring(folder))} == {"cat", *(f"cat, age {n}" for n in range(1, 6))}


def test_an_open_decision_is_asked_about_with_crops_of_each_reading(
    laboratory, bring, started, poll, tmp_path
):
    folder = tmp_path / "zoo"
    for side, kind in itertools.product(("train", "test"), ("cat", "dog")):
        pictures_in = folder / side
        pictures_in.mkdir(parents=True, exist_ok=True)
        pictures(pictures_in / kind, 3)
    for name, side in (("train.txt", "test"), ("test.txt", "train")):
        (folder / name).write_text(
            "".join(f"{side}/{kind}/{n}.png\n" for kind in ("cat", "dog") for n in range(3))
        )
    app = bring(folder)
    run = laboratory.store.runs.get(started[0].id)
    assert len(app.warning) == 1
    assert "add set" not in button_keys(app)
    press(app, f"read split: folders {run.id} 1")
    again = poll(app)
    assert question_of(again).reading["source_settings"]["split"] == "folders"
    assert not app.warning
    press(app, "add set")
    done = poll(app)
    images = home.store().sets.get(done.result["key"])
    assert all(name.startswith("test") for name in images.image_names[images.image_test])


# ----------------------------------------------------------------------------------------------- deleting


def test_an_import_is_undone_restored_and_deleted_for_good(laboratory, open_page, tmp_path):
    store = laboratory.store
    imported = import_here(store, "PASCAL VOC", folder=str(write_shapes(tmp_path / "more", images=6)))
    key = imported.result["key"]
    app = open_page("image_sets", set=key, **{"import": imported.id})

    def is_here():
        return key in [row.key for row in store.sets.rows()]

    assert is_here()
    assert address(app) == {"set": key, "import": imported.id}
    press(app, "undo import")
    assert not is_here()
    assert "import" not in address(app)
    press(app, "widget undo delete of set")
    assert is_here()
    assert address(app)["set"] == key
    assert not {"undo import", "widget undo delete of set"} & set(button_keys(app))
    press(app, "delete set")
    press(app, f"widget restore set {key}")
    assert is_here()
    run = store.runs.create("train", train_settings(key))
    store.runs.end(run.id, "failed", "no")
    press(app, "delete set")
    assert is_here(), "a run uses it by now"
    assert counts_in(app.warning)[0][-1:] == [1], "so many runs"
    turn_to(app, set=key, **{"import": imported.id})
    assert "Used by 1 run, including runs in the trash. To undo the import" in captions(app)
    assert "undo import" not in button_keys(app)
    assert app.run().button(key="delete set").disabled
    store.runs.delete(run.id)
    store.runs.empty_trash()
    app.run()
    press(app, "delete set")
    press(app, "empty sets")
    assert counts_in(app.toast) == [[1]]
    assert not (store.home / "sets" / key).exists()
