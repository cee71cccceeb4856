"""What a person brings: dropped or typed, looked at, imported, and taken away again."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
import streamlit as st
from filled_home import import_here, look_here, train_settings
from PIL import Image
from shapes import HOSTILE, write_shapes
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from zipped import zip_of

from pages.parts import address, bringing, problem_table
from ranking.datasets import load_image_set, preview
from ranking.datasets.detection import tree_sources
from ranking.home import HomeError
from ranking.run import Run

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


def captions(app) -> str:
    return " ".join(map(plain, app.caption))


def plain(element) -> str:
    """What an element says, without what keeps it from being markdown."""
    return element.value.replace("\\", "")


# ----------------------------------------------------------------------------------------------- bringing


@pytest.mark.parametrize(("where", "name"), [(bringing, "look_at_upload"), (address, "put")])
def test_a_dropped_file_is_looked_at_once_where_its_page_was_stopped_on_the_way(
    laboratory, started, open_page, tmp_path, monkeypatch, where, name
):
    monkeypatch.setattr(
        bringing, "_release", lambda _: None
    )  # the file that a browser has is still to be sent
    ways = [lambda *_, **__: st.stop(), getattr(where, name)]
    monkeypatch.setattr(where, name, lambda *told, **changes: ways.pop(0)(*told, **changes))
    app = drop(open_page("image_sets"), zipped_shapes(tmp_path))
    assert "import" not in app.query_params
    ways.append(ways[0])
    app.run()
    [run] = started
    assert app.query_params["import"] == run.id


def test_a_dropped_file_is_copied_to_disk_and_forgotten_by_the_server(
    laboratory, started, open_page, tmp_path, monkeypatch
):
    removed = []
    monkeypatch.setattr(bringing, "get_script_run_ctx", lambda: Context(removed))
    data, app = zipped_shapes(tmp_path), open_page("image_sets")
    before = app.file_uploader[0].key
    drop(app, data, "my <b>shapes</b>.zip")
    [run] = started
    assert run.settings == {
        "look": "",
        "source": None,
        "source_settings": {},
        "brought": "my <b>shapes</b>.zip",
    }
    assert run.brought_file.read_bytes() == data
    assert removed == [("tab", removed[0][1])]
    assert app.query_params["import"] == run.id
    assert [part.value for part in app.markdown if plain(part) == "#### Looking at my <b>shapes</b>.zip"] != [
        "#### Looking at my <b>shapes</b>.zip"
    ]
    app.query_params.clear()
    app.run()
    assert app.file_uploader[0].key != before, "a widget of its own, which holds nothing"
    assert [len(app.file_uploader[0].value or [])] == [0]


class Context:
    """What Streamlit tells of the tab that a script runs for."""

    session_id = "tab"

    def __init__(self, removed) -> None:
        manager = MemoryUploadedFileManager("/upload")
        manager.remove_file = lambda session_id, file_id: removed.append((session_id, file_id))
        self.uploaded_file_mgr = manager


def test_the_form_says_how_large_a_file_may_be_and_which_formats_are_known(laboratory, open_page):
    said = captions(open_page("image_sets"))
    assert "At most 200 MB; for a larger one type its path below." in said
    assert ", ".join(tree_sources()) in said


def test_a_home_that_cannot_take_the_file_is_said(laboratory, started, open_page, monkeypatch):
    def refuse(*_):
        raise HomeError("this room is *full*")

    app = open_page("image_sets")
    monkeypatch.setattr("ranking.jobs.start", refuse)
    drop(app, b"PK")
    assert [error.value for error in app.error] == ["this room is \\*full\\*"]


def test_a_typed_path_is_looked_at_and_not_shared(laboratory, started, open_page):
    app = open_page("image_sets")
    app.text_input(key=PATH).input(" /some/where ").run()
    app.button(key="look at path").click().run()
    [run] = started
    assert run.settings == {"look": "/some/where", "source": None, "source_settings": {}, "brought": None}
    assert app.query_params["import"] == run.id
    assert "/some/where" not in app.query_params.values(), "a path of this machine is not shared"


def test_no_path_is_asked_for(laboratory, started, open_page):
    app = open_page("image_sets")
    app.button(key="look at path").click().run()
    assert not started
    assert app.error[0].value.startswith("**Folder or ZIP file** is empty")


def test_what_was_typed_is_there_after_a_failure(laboratory, started, open_page):
    app = open_page("image_sets")
    app.text_input(key=PATH).input("/some/where").run()
    app.button(key="look at path").click().run()
    laboratory.store.end_run(started[0].id, "failed", "nothing there")
    for _ in range(2):  # the second interrupts the first, so that nothing of it reaches the browser
        app.run()
        assert "nothing there" in app.error[0].value
        assert app.text_input(key=PATH).value == "/some/where"
        assert app.text_input(key=PATH).proto.set_value
    app.button(key="close import").click().run()
    assert app.text_input(key=PATH).value == "/some/where"
    elsewhere = open_page("image_sets", **{"import": started[0].id})
    assert elsewhere.text_input(key=PATH).value == "/some/where"


def test_another_source_is_imported_as_it_is(laboratory, started, open_page):
    app = open_page("image_sets")
    assert not set(app.selectbox(key="widget source").options) & set(tree_sources())
    app.selectbox(key="widget source").select("Digits").run()
    app.button(key="start import").click().run()
    assert [run.settings["source"] for run in started] == ["Digits"]
    laboratory.store.end_run(started[0].id, "failed", "no room")
    app.run()
    assert app.selectbox(key="widget source").value == "Digits"
    assert [error.value.split("failed:** ")[-1] for error in app.error] == ["no room"]


# ------------------------------------------------------------------------------------------------ looking


def test_what_was_found_is_shown_before_anything_is_stored(laboratory, dropped):
    app, before = dropped, laboratory.store.image_sets()
    assert app.selectbox[1].value == "PASCAL VOC"
    assert app.selectbox[1].label == "Read it as"
    assert "PASCAL VOC (recognised)" in app.selectbox[1].options
    assert "COCO" in app.selectbox[1].options, "another can be chosen"
    assert "Recognised: Annotations/ holds 19 XML files" in captions(app)
    assert {metric.label: metric.value for metric in app.metric} == {
        "Images": "19",
        "Files": "39",
        "Problems so far": "1",
    }
    said = " ".join(plain(element) for element in app.markdown)
    assert "Classes, by how many samples show them: " in said
    assert f"{HOSTILE} (**" in said
    assert "Split: **9** images to train on, **9** to test on: " in said
    assert "is for the test" in said
    shown = tiles(app)
    assert len(shown) == 12
    assert {tile["left"] for tile in shown} == {"disc", "square", HOSTILE}
    assert shown[0]["src"].startswith("data:image/webp;base64,")
    assert "nothing is stored yet" in captions(app)
    assert laboratory.store.image_sets() == before


def test_what_could_not_be_counted_in_time_is_said(laboratory, started, open_page, tmp_path, monkeypatch):
    monkeypatch.setattr(preview, "COUNT_SECONDS", -1.0)
    app = drop(open_page("image_sets"), zipped_shapes(tmp_path))
    look_here(laboratory.store, started[0])
    assert "the first 12 of 19 images. An import counts all." in captions(app.run())


def test_importing_takes_the_upload_along_and_leaves_nothing_of_the_look(laboratory, started, dropped):
    [look] = started
    data = look.brought_file.read_bytes()
    dropped.button(key="import brought").click().run()
    assert not dropped.exception
    _, run = started
    assert run.settings["brought"] == "shapes.zip"
    assert run.settings["source"] == "PASCAL VOC"
    assert "folder" not in run.settings["source_settings"]
    assert run.brought_file.read_bytes() == data
    assert not look.folder.exists()
    assert dropped.query_params["import"] == run.id
    done = look_here(laboratory.store, run)
    assert (done.result["title"], done.result["images"]) == ("shapes", 18)
    dropped.run()
    dropped.button(key="keep import").click().run()
    assert not run.brought_file.exists()
    assert dropped.query_params["set"] == done.result["key"]


def test_a_look_is_passed_on_once_however_often_it_is_asked_for(laboratory, started, dropped, monkeypatch):
    [look] = started
    monkeypatch.setattr(bringing.cache, "store", lambda: laboratory.store)
    first, again = (bringing.import_all(look, "PASCAL VOC", {}) for _ in range(2))
    assert first.id == again.id
    assert first.brought_file.exists()
    assert [run.id for run in started] == [look.id, first.id]


def test_another_format_is_looked_at_as_soon_as_it_is_chosen(laboratory, started, dropped):
    [look] = started
    dropped.selectbox(key=f"widget read as {look.id}").select("COCO").run()
    assert not dropped.exception
    _, again = started
    assert (again.settings["source"], again.settings["brought"]) == ("COCO", "shapes.zip")
    assert again.brought_file.exists()
    assert not look.folder.exists()
    look_here(laboratory.store, again)
    dropped.run()
    assert dropped.error, "why it cannot be read so"
    assert str(laboratory.home) not in dropped.error[0].value
    assert "Not recognised as COCO; you have chosen it." in captions(dropped)
    assert "It could also be PASCAL VOC: " in captions(dropped)
    assert "import brought" not in [button.key for button in dropped.button]


def test_other_settings_are_looked_at_before_they_are_imported(laboratory, started, dropped):
    [look] = started
    dropped.selectbox(key=f"widget look {look.id}.PASCAL VOC.difficult").select("keep").run()
    assert "import brought" not in [button.key for button in dropped.button]
    dropped.button(key="look again").click().run()
    _, again = started
    assert again.settings["source_settings"]["difficult"] == "keep"
    look_here(laboratory.store, again)
    dropped.run()
    dropped.button(key="import brought").click().run()
    assert started[-1].settings["source_settings"]["difficult"] == "keep"


def test_where_a_proposed_column_is_overruled_the_reason_says_so(laboratory, started, open_page, tmp_path):
    folder = tmp_path / "cars"
    folder.mkdir()
    for number in range(6):
        Image.new("RGB", (40, 30), (30 * number, 90, 0)).save(folder / f"{number}.png")
    rows = [f"{number}.png,{'old' if number % 2 else 'new'},{1950 + number}" for number in range(6)]
    (folder / "cars.csv").write_text("\n".join(["picture,label,year", *rows]))
    app = drop(open_page("image_sets"), zip_of(folder, tmp_path / "cars.zip").read_bytes(), "cars.zip")
    look_here(laboratory.store, started[0])
    app.run()
    assert "year numbers to order by" in captions(app)
    assert "by your settings instead" not in captions(app)
    app.multiselect(key=f"widget look {started[0].id}.Table of images.numbers 0").set_value([]).run()
    app.button(key="look again").click().run()
    look_here(laboratory.store, started[1])
    app.run()
    assert "It is read by your settings instead" in captions(app)


@pytest.fixture
def german(laboratory, started, open_page, tmp_path):
    """The page after a table was looked at whose columns of boxes are called as nobody knows."""
    folder = tmp_path / "fotos"
    folder.mkdir()
    rows = ["datei;art;links;oben;breit;hoch"]
    for number in range(6):
        Image.new("RGB", (40, 30), (30 * number, 90, 0)).save(folder / f"{number}.png")
        rows.append(f"{number}.png;{'Hund' if number % 2 else 'Katze'};{number};2;20;15")
    (folder / "fotos.csv").write_text("\n".join(rows))
    app = drop(open_page("image_sets"), zip_of(folder, tmp_path / "fotos.zip").read_bytes(), "fotos.zip")
    look_here(laboratory.store, started[0])
    return app.run()


def column_box(app, run, role):
    key = f"widget look {run.id}.Table of images.{role}"
    return next(part for part in [*app.selectbox, *app.multiselect] if part.key == key)


def test_what_each_column_is_stands_in_the_open_by_name(laboratory, started, german):
    [look] = started
    columns = ["datei", "art", "links", "oben", "breit", "hoch"]
    assert column_box(german, look, "image 0").value == "datei"
    assert column_box(german, look, "image 0").options == columns, "there has to be one"
    assert column_box(german, look, "labels 0").value == ["art"]
    assert column_box(german, look, "numbers 0").value == columns[2:], "as far as anybody could know"
    for role in ("box 0", "box 1", "box 2", "box 3", "group 0", "split 0", "size 0", "size 1"):
        assert column_box(german, look, role).value == ""
        assert column_box(german, look, role).options == ["not there", *columns]
    assert not [box for box in german.text_input if "column" in box.label.lower()]
    assert "import brought" in [button.key for button in german.button]


def test_a_column_that_is_given_another_role_begins_another_look(laboratory, started, german):
    [look] = started
    for part, name in enumerate(("links", "oben", "breit", "hoch")):
        column_box(german, look, f"box {part}").set_value(name).run()
        assert name not in column_box(german, look, "numbers 0").value, "a column has one role"
    assert "import brought" not in [button.key for button in german.button]
    column_box(german, look, "box_form").select("left, top, width, height").run()
    german.button(key="look again").click().run()
    _, again = started
    assert again.settings["source_settings"]["box_columns"] == "links, oben, breit, hoch"
    assert again.settings["source_settings"]["number_columns"] == "-"
    look_here(laboratory.store, again)
    german.run()
    assert not german.error
    assert "links, oben, breit, hoch the boxes (left, top, width, height, in pixels)" in captions(german)
    assert [column_box(german, again, f"box {part}").value for part in range(4)] == [
        "links",
        "oben",
        "breit",
        "hoch",
    ]
    assert column_box(german, again, "numbers 0").value == []
    german.button(key="import brought").click().run()
    done = look_here(laboratory.store, started[-1])
    assert load_image_set(done.draft).boxes.tolist()[:2] == [[0, 2, 20, 17], [1, 2, 21, 17]]


def test_what_cannot_be_read_so_says_why_and_keeps_what_was_chosen(laboratory, started, german):
    column_box(german, started[0], "box 0").set_value("links").run()
    column_box(german, started[0], "box 1").set_value("oben").run()
    german.button(key="look again").click().run()
    look_here(laboratory.store, started[1])
    german.run()
    assert "Columns of the boxes: 0 or 1 or 4, got 2" in plain(german.error[0])
    assert [column_box(german, started[1], f"box {part}").value for part in range(4)] == [
        "links",
        "oben",
        "",
        "",
    ]
    assert "import brought" not in [button.key for button in german.button]


def test_a_table_in_which_nothing_is_known_is_told_by_a_person(laboratory, started, open_page, tmp_path):
    folder = tmp_path / "x"
    folder.mkdir()
    for number in range(4):
        Image.new("RGB", (40, 30), (30 * number, 90, 0)).save(folder / f"{number}.png")
    (folder / "t.csv").write_text("was,wo\n" + "".join(f"Tier {n},{n}.png\n" for n in range(4)))
    app = drop(open_page("image_sets"), zip_of(folder, tmp_path / "x.zip").read_bytes(), "x.zip")
    look_here(laboratory.store, started[0])
    app.run()
    app.selectbox(key=f"widget read as {started[0].id}").select("Table of images").run()
    look_here(laboratory.store, started[1])
    app.run()
    assert app.error
    column_box(app, started[1], "image 0").set_value("wo").run()
    column_box(app, started[1], "labels 0").set_value(["was"]).run()
    app.button(key="look again").click().run()
    look_here(laboratory.store, started[2])
    app.run()
    assert not app.error
    assert {tile["left"] for tile in tiles(app)} == {f"Tier {n}" for n in range(4)}


def test_what_was_looked_at_waits_until_it_is_discarded(laboratory, started, dropped, open_page):
    [look] = started
    app = open_page("image_sets")
    app.button(key=f"widget decide {look.id}").click().run()
    assert app.query_params["import"] == look.id
    app.button(key="discard look").click().run()
    assert not app.exception
    assert not look.folder.exists()
    assert not [button for button in app.button if "for your decision" in button.label]
    app = open_page("image_sets", **{"import": look.id})
    assert any("was imported or discarded since" in element.value for element in app.markdown)


def test_what_nobody_knows_can_be_chosen_or_discarded(laboratory, started, open_page):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("letter.txt", "Dear Sir")
    app = drop(open_page("image_sets"), file.getvalue(), "letter.zip")
    look_here(laboratory.store, started[0])
    app.run()
    assert not app.exception
    assert "No source knows what is in it" in app.error[0].value
    assert app.selectbox(key=f"widget read as {started[0].id}").value is None
    assert "import brought" not in [button.key for button in app.button]
    assert app.button(key="discard look")


def test_the_first_problems_are_shown_and_can_be_saved(laboratory, started, open_page, tmp_path):
    for number in range(4):
        folder = tmp_path / "zoo" / ("cat" if number % 2 else "dog")
        folder.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (40, 30), (30 * number, 90, 0)).save(folder / f"{number}.png")
    (tmp_path / "zoo" / "cat" / "=1+1.png").write_bytes(b"no image")
    app = drop(
        open_page("image_sets"), zip_of(tmp_path / "zoo", tmp_path / "zoo.zip").read_bytes(), "zoo.zip"
    )
    look_here(laboratory.store, started[0])
    app.run()
    table = app.dataframe[0].value
    assert list(table.columns) == ["file", "expected", "came", "done"]
    assert list(table["file"]) == ["parts", "cat/=1+1.png"]
    assert "Report as CSV" in [button.label for button in app.get("download_button")]


def test_the_report_as_csv_has_no_formulas():
    rows = [{"file": "=1+1", "expected": "a, b", "came": 'say "x"', "done": "left out"}]
    assert problem_table.as_csv(rows) == ('file,expected,came,done\r\n\'=1+1,"a, b","say ""x""",left out\r\n')


@pytest.mark.parametrize("content", [None, "", "[1]", '{"seen": 1}', "[" * 100_000])
def test_a_look_that_cannot_be_read_can_be_discarded(laboratory, started, dropped, content):
    [look] = started
    if content is None:
        look.look_file.unlink()
    else:
        look.look_file.write_text(content)
    dropped.run()
    assert not dropped.exception
    assert "What was found cannot be read any more" in dropped.error[0].value
    dropped.button(key="discard look").click().run()
    assert not look.folder.exists()


def test_an_upload_whose_import_ended_is_dropped_once_more(laboratory, open_page):
    settings = {"source": "COCO", "source_settings": {}, "brought": "my *zoo*.zip"}
    run: Run = laboratory.store.create_run("import", settings)
    laboratory.store.end_run(run.id, "failed", "no box")
    app = open_page("image_sets", **{"import": run.id})
    assert not app.exception
    assert "no box" in app.error[0].value
    assert "Nothing is left of my *zoo*.zip" in captions(app)


# ------------------------------------------------------------------------------------------------ undoing


@pytest.fixture
def kept(laboratory, open_page, tmp_path):
    """The page after an import was kept."""
    folder = write_shapes(tmp_path / "more", images=6)
    run = import_here(laboratory.store, "PASCAL VOC", folder=str(folder))
    app = open_page("image_sets", **{"import": run.id})
    app.button(key="keep import").click().run()
    return app


def test_a_kept_import_is_undone_and_redone(laboratory, kept):
    key = kept.query_params["set"]
    assert any(element.value == "Kept: more." for element in kept.markdown)
    kept.button(key="widget undo Kept").click().run()
    assert not kept.exception
    assert key not in [row.key for row in laboratory.store.image_sets()]
    assert kept.query_params["set"] != key
    kept.button(key="widget undo Taken away").click().run()
    assert kept.query_params["set"] == key
    assert not [element for element in kept.markdown if element.value.startswith(("Kept", "Taken"))]
    kept.button(key="take set away").click().run()
    kept.button(key=f"widget restore set {key}").click().run()
    assert key in [row.key for row in laboratory.store.image_sets()]


def test_a_set_that_was_taken_away_goes_for_good(laboratory, kept):
    key = kept.query_params["set"]
    kept.button(key="take set away").click().run()
    kept.button(key="empty sets").click().run()
    assert not kept.exception
    assert "gone for good" in kept.toast[0].value
    assert not (laboratory.home / "sets" / key).exists()


def test_a_set_that_is_used_or_bundled_is_not_taken_away(laboratory, kept, open_page):
    key = kept.query_params["set"]
    run = laboratory.store.create_run("train", train_settings(key))
    laboratory.store.end_run(run.id, "failed", "no")
    kept.button(key="take set away").click().run()
    assert "1 run;" in plain(kept.warning[0])
    kept.run()
    assert kept.button(key="take set away").disabled
    assert not [button for button in kept.button if button.key == "widget undo Kept"]
    app = open_page("image_sets", set=laboratory.digits)
    assert "take set away" not in [button.key for button in app.button]
