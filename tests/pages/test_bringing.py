"""What a person uploads: dropped or typed, previewed, imported, and deleted again."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
import streamlit as st
from filled_home import import_here, look_here, train_settings
from PIL import Image
from shapes import HOSTILE, write_shapes
from shown import button_keys, captions, counts_in, errors, plain, text_of
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from zipped import zip_of, zipped

from pages.parts import address, bringing, looks, problem_table
from ranking.datasets import load_image_set
from ranking.datasets.detection import tree_sources
from ranking.home import HomeError

PATH = "widget brought path"


def zipped_shapes(tmp_path) -> bytes:
    return zip_of(write_shapes(tmp_path / "shapes of mine", images=18), tmp_path / "x.zip").read_bytes()


def drop(app, data: bytes, name: str = "shapes.zip"):
    app.file_uploader[0].set_value((name, data, "application/zip")).run()
    assert not app.exception
    return app


@pytest.fixture
def dropped(laboratory, started, open_page, tmp_path):
    """The page after a ZIP file was dropped and looked at."""
    app = drop(open_page("image_sets"), zipped_shapes(tmp_path))
    [run] = started
    look_here(laboratory.store, run)
    return app.run()


def tiles(app):
    grids = [part for part in app.get("bidi_component") if "grid" in part.proto.component_name]
    return json.loads(grids[0].proto.json)["items"]


# ---------------------------------------------------------------------------------------------- uploading


@pytest.mark.parametrize(("where", "name"), [(bringing, "look_at_upload"), (address, "put")])
def test_a_dropped_file_is_taken_up_once_where_its_page_was_stopped_on_the_way(
    laboratory, started, open_page, monkeypatch, where, name
):
    monkeypatch.setattr(bringing, "_release", lambda _: None)  # the browser still has the file to send
    ways = [lambda *_, **__: st.stop(), getattr(where, name)]
    monkeypatch.setattr(where, name, lambda *values, **changes: ways.pop(0)(*values, **changes))
    app = drop(open_page("image_sets"), b"PK")
    assert "import" not in app.query_params
    ways.append(ways[0])
    app.run()
    [run] = started
    assert app.query_params["import"] == run.id


def test_a_dropped_file_is_copied_to_disk_and_forgotten_by_the_server(
    laboratory, started, open_page, monkeypatch
):
    removed = []
    manager = MemoryUploadedFileManager("/upload")
    manager.remove_file = lambda session_id, file_id: removed.append(session_id)
    tab = SimpleNamespace(session_id="tab", uploaded_file_mgr=manager)
    monkeypatch.setattr(bringing, "get_script_run_ctx", lambda: tab)
    app = open_page("image_sets")
    before = app.file_uploader[0].key
    drop(app, b"PK of mine", "my <b>shapes</b>.zip")
    [run] = started
    name = "my <b>shapes</b>.zip"
    assert run.settings == {"look": "", "source": None, "source_settings": {}, "brought": name}
    assert run.brought_file.read_bytes() == b"PK of mine"
    assert removed == ["tab"]
    assert app.query_params["import"] == run.id
    [heading] = [part.value for part in app.markdown if name in plain(part)]
    assert name not in heading, "it is escaped"
    app.query_params.clear()
    app.run()
    assert app.file_uploader[0].key != before, "a widget of its own, which holds nothing"
    assert [len(app.file_uploader[0].value or [])] == [0]


def test_a_home_that_cannot_take_the_file_gives_the_reason(laboratory, started, open_page, monkeypatch):
    def refuse(*_):
        raise HomeError("this room is *full*")

    app = open_page("image_sets")
    assert [200] in counts_in(app.caption), "megabytes that a file may have"
    assert ", ".join(tree_sources()) in captions(app)
    monkeypatch.setattr("ranking.jobs.start", refuse)
    drop(app, b"PK")
    assert [error.value for error in app.error] == ["this room is \\*full\\*"]


def test_a_typed_path_is_looked_at_not_shared_and_still_there_after_a_failure(laboratory, started, open_page):
    app = open_page("image_sets")
    app.button(key="look at path").click().run()
    assert not started, "there is no path yet"
    assert len(app.error) == 1
    app.text_input(key=PATH).input(" /some/where ").run()
    app.button(key="look at path").click().run()
    [run] = started
    assert run.settings == {"look": "/some/where", "source": None, "source_settings": {}, "brought": None}
    assert app.query_params["import"] == run.id
    assert "/some/where" not in app.query_params.values(), "a path of this machine is not shared"
    laboratory.store.end_run(run.id, "failed", "nothing there")
    for _ in range(2):  # the second interrupts the first, so that nothing of it reaches the browser
        app.run()
        assert "nothing there" in app.error[0].value
        assert app.text_input(key=PATH).value.strip() == "/some/where"
        assert app.text_input(key=PATH).proto.set_value
    app.button(key="close import").click().run()
    assert app.text_input(key=PATH).value.strip() == "/some/where"
    elsewhere = open_page("image_sets", **{"import": run.id})
    assert elsewhere.text_input(key=PATH).value == "/some/where"


def test_a_source_that_reads_no_files_is_imported_as_it_is(laboratory, started, open_page):
    app = open_page("image_sets")
    assert not set(app.selectbox(key="widget source").options) & set(tree_sources())
    app.selectbox(key="widget source").select("Digits").run()
    app.button(key="start import").click().run()
    assert [run.settings["source"] for run in started] == ["Digits"]
    laboratory.store.end_run(started[0].id, "failed", "no space")
    app.run()
    assert app.selectbox(key="widget source").value == "Digits"
    [error] = errors(app)
    assert error.endswith("no space")


# ------------------------------------------------------------------------------------------------ looking


def test_what_is_in_a_file_is_shown_and_waits_until_it_is_discarded(laboratory, started, dropped, open_page):
    app, [look] = dropped, started
    assert app.selectbox[1].value == "PASCAL VOC"
    options = app.selectbox[1].options
    assert next(option for option in options if "PASCAL VOC" in option) != "PASCAL VOC", "it is recognised"
    assert "COCO" in options, "another can be chosen"
    assert [int(metric.value) for metric in app.metric] == [19, 39, 1], "images, files, problems"
    text = text_of(app)
    assert f"{HOSTILE} (**" in text
    assert [9, 9] in counts_in(app.markdown), "images to train on, to test on"
    shown = tiles(app)
    assert len(shown) == 12
    assert {tile["left"] for tile in shown} == {"disc", "square", HOSTILE}
    assert shown[0]["src"].startswith("data:image/webp;base64,")
    table = app.dataframe[0].value
    assert list(table.columns) == ["file", "expected", "came", "done"]
    assert ["missing" in file for file in table["file"]] == [True]
    assert len(laboratory.store.image_sets()) == 3, "nothing is stored yet"
    app = open_page("image_sets")
    app.button(key=f"widget decide {look.id}").click().run()
    assert app.query_params["import"] == look.id
    for content in (None, "", "[1]", '{"seen": 1}', "[" * 100_000):
        look.look_file.unlink() if content is None else look.look_file.write_text(content)
        app.run()
        assert not app.exception, content
        assert len(app.error) == 1, content
        assert "import brought" not in button_keys(app)
    app.button(key="discard look").click().run()
    assert not app.exception
    assert not look.folder.exists()
    assert f"widget decide {look.id}" not in button_keys(app)
    app = open_page("image_sets", **{"import": look.id})
    assert not app.exception
    assert any("**shapes.zip**" in plain(element) for element in app.markdown)


def test_what_was_not_counted_in_time_is_stated(monkeypatch):
    stated: list[str] = []
    monkeypatch.setattr(looks.st, "caption", stated.append)
    tally = {"classes": {"a": 3}, "others": 0, "split_from": "", "train": 5, "test": 7}
    for whole in (True, False):
        looks._show_tally(SimpleNamespace(images=19, tally=SimpleNamespace(**tally, whole=whole)))
    [caption] = stated
    assert counts_in([caption]) == [[12, 19]]


def test_another_format_is_tried_as_soon_as_it_is_chosen(laboratory, started, dropped):
    [look] = started
    dropped.selectbox(key=f"widget read as {look.id}").select("COCO").run()
    assert not dropped.exception
    _, again = started
    assert (again.settings["source"], again.settings["brought"]) == ("COCO", "shapes.zip")
    assert again.brought_file.exists()
    assert not look.folder.exists()
    look_here(laboratory.store, again)
    dropped.run()
    assert len(dropped.error) == 1, "why it cannot be read so"
    assert str(laboratory.home) not in errors(dropped)[0]
    assert "PASCAL VOC: " in captions(dropped), "what it could be instead"
    assert "import brought" not in button_keys(dropped)


def test_changed_settings_are_tried_first_and_the_import_takes_the_upload_along(
    laboratory, started, dropped, monkeypatch
):
    [look] = started
    data = look.brought_file.read_bytes()
    dropped.selectbox(key=f"widget look {look.id}.PASCAL VOC.difficult").select("keep").run()
    assert "import brought" not in button_keys(dropped)
    dropped.button(key="look again").click().run()
    again = look_here(laboratory.store, started[1])
    assert again.settings["source_settings"]["difficult"] == "keep"
    dropped.run()
    dropped.button(key="import brought").click().run()
    assert not dropped.exception
    run = started[2]
    assert (run.settings["source"], run.settings["brought"]) == ("PASCAL VOC", "shapes.zip")
    assert run.settings["source_settings"]["difficult"] == "keep"
    assert "folder" not in run.settings["source_settings"]
    assert run.brought_file.read_bytes() == data
    assert not again.folder.exists()
    assert dropped.query_params["import"] == run.id
    monkeypatch.setattr(bringing.cache, "store", lambda: laboratory.store)
    assert bringing.import_all(again, "PASCAL VOC", {}).id == run.id, "pressed twice, it is passed on once"
    assert len(started) == 3
    done = look_here(laboratory.store, run)
    assert (done.result["title"], done.result["images"]) == ("shapes", 18)
    assert laboratory.store.keep(run.id) == done.result["key"]
    assert not run.brought_file.exists()


# ----------------------------------------------------------------------------------- columns of a table

COLUMNS = ["datei", "art", "links", "oben", "breit", "hoch"]


def pictures(folder, count=6):
    folder.mkdir()
    for number in range(count):
        Image.new("RGB", (40, 30), (30 * number, 90, 0)).save(folder / f"{number}.png")
    return folder


@pytest.fixture
def german(laboratory, started, open_page, tmp_path):
    """The page after a table was looked at whose columns of boxes have names that no reader knows."""
    folder = pictures(tmp_path / "fotos")
    rows = [f"{n}.png;{'Hund' if n % 2 else 'Katze'};{n};2;20;15" for n in range(6)]
    (folder / "fotos.csv").write_text("\n".join([";".join(COLUMNS), *rows]))
    app = drop(open_page("image_sets"), zip_of(folder, tmp_path / "fotos.zip").read_bytes(), "fotos.zip")
    look_here(laboratory.store, started[0])
    return app.run()


def column_box(app, run, role):
    key = f"widget look {run.id}.Table of images.{role}"
    return next(part for part in [*app.selectbox, *app.multiselect] if part.key == key)


def boxes_of(app, run):
    """The columns that are chosen for the four numbers of a box."""
    return [column_box(app, run, f"box {part}").value for part in range(4)]


def test_columns_are_named_and_another_role_of_one_begins_another_look(laboratory, started, german):
    [look] = started
    assert column_box(german, look, "image 0").value == "datei"
    assert column_box(german, look, "image 0").options == COLUMNS, "there has to be one"
    assert column_box(german, look, "labels 0").value == ["art"]
    assert column_box(german, look, "numbers 0").value == COLUMNS[2:], "as far as a program can know"
    for role in ("box 0", "box 1", "box 2", "box 3", "group 0", "split 0", "size 0", "size 1"):
        assert column_box(german, look, role).value == ""
        assert column_box(german, look, role).options[1:] == COLUMNS, "and none"
    assert "import brought" in button_keys(german)
    for part, name in enumerate(COLUMNS[2:4]):
        column_box(german, look, f"box {part}").set_value(name).run()
        assert name not in column_box(german, look, "numbers 0").value, "a column has one role"
    assert "import brought" not in button_keys(german)
    german.button(key="look again").click().run()
    half = look_here(laboratory.store, started[1])
    german.run()
    assert len(german.error) == 1, "a box has four numbers"
    assert boxes_of(german, half) == ["links", "oben", "", ""], "what was chosen stays"
    assert "import brought" not in button_keys(german)
    for part, name in enumerate(COLUMNS[4:], 2):
        column_box(german, half, f"box {part}").set_value(name).run()
    column_box(german, half, "box_form").select("left, top, width, height").run()
    german.button(key="look again").click().run()
    again = look_here(laboratory.store, started[2])
    assert again.settings["source_settings"]["box_columns"] == "links, oben, breit, hoch"
    assert again.settings["source_settings"]["number_columns"] == "-"
    german.run()
    assert not german.error
    assert json.loads(again.look_file.read_text())["read_as"] in captions(german), "settings overrule reasons"
    assert boxes_of(german, again) == COLUMNS[2:]
    assert column_box(german, again, "numbers 0").value == []
    german.button(key="import brought").click().run()
    done = look_here(laboratory.store, started[-1])
    assert load_image_set(done.draft).boxes.tolist()[:2] == [[0, 2, 20, 17], [1, 2, 21, 17]]


def test_a_file_that_no_source_knows_is_discarded_or_explained_by_a_person(
    laboratory, started, open_page, tmp_path
):
    letter = drop(open_page("image_sets"), zipped({"letter.txt": b"Dear Sir"}), "letter.zip")
    look_here(laboratory.store, started[0])
    letter.run()
    assert not letter.exception
    assert len(letter.error) == 1
    assert letter.selectbox(key=f"widget read as {started[0].id}").value is None
    assert "import brought" not in button_keys(letter)
    assert "discard look" in button_keys(letter)
    folder = pictures(tmp_path / "x", 4)
    (folder / "t.csv").write_text("was,wo\n" + "".join(f"Tier {n},{n}.png\n" for n in range(4)))
    app = drop(open_page("image_sets"), zip_of(folder, tmp_path / "x.zip").read_bytes(), "x.zip")
    look_here(laboratory.store, started[1])
    app.run()
    app.selectbox(key=f"widget read as {started[1].id}").select("Table of images").run()
    look_here(laboratory.store, started[2])
    app.run()
    assert app.error
    column_box(app, started[2], "image 0").set_value("wo").run()
    column_box(app, started[2], "labels 0").set_value(["was"]).run()
    app.button(key="look again").click().run()
    look_here(laboratory.store, started[3])
    app.run()
    assert not app.error
    assert {tile["left"] for tile in tiles(app)} == {f"Tier {n}" for n in range(4)}


def test_the_report_as_csv_has_no_formulas():
    rows = [{"file": "=1+1", "expected": "a, b", "came": 'say "x"', "done": "left out"}]
    assert problem_table.as_csv(rows) == ('file,expected,came,done\r\n\'=1+1,"a, b","say ""x""",left out\r\n')


# ----------------------------------------------------------------------------------------------- deleting


def test_a_kept_import_is_undone_restored_and_deleted_for_good(laboratory, open_page, tmp_path):
    store = laboratory.store
    folder = write_shapes(tmp_path / "more", images=6)
    imported = import_here(store, "PASCAL VOC", folder=str(folder))
    key = imported.result["key"]
    app = open_page("image_sets", **{"import": imported.id})

    def here():
        assert not app.exception
        return key in [row.key for row in store.image_sets()]

    def press(button):
        app.button(key=button).click().run()

    press("keep import")
    assert here()
    assert app.query_params["set"] == key
    assert "import" not in app.query_params
    press("widget undo Kept")
    assert not here()
    assert app.query_params["set"] != key
    press("widget undo Taken away")
    assert here()
    assert app.query_params["set"] == key
    assert not {"widget undo Kept", "widget undo Taken away"} & set(button_keys(app))
    press("take set away")
    press(f"widget restore set {key}")
    assert here()
    run = store.create_run("train", train_settings(key))
    store.end_run(run.id, "failed", "no")
    press("take set away")
    assert here(), "a run uses it by now"
    assert counts_in(app.warning)[0][-1:] == [1], "so many runs"
    app.run()
    assert app.button(key="take set away").disabled
    store.delete_run(run.id)
    store.empty_deleted()
    app.run()
    press("take set away")
    press("empty sets")
    assert not here()
    assert counts_in(app.toast) == [[1]]
    assert not (store.home / "sets" / key).exists()
