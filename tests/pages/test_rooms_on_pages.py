"""Pages where visitors have rooms: which one they are in, that nothing crosses, what is lent, what they are told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs

import numpy as np
import pytest
from filled_home import Laboratory, copy_home, import_here
from shapes import write_shapes

from pages.parts import cache, keys, rooms, run_actions
from ranking import jobs, worker
from ranking.answers import AnswerStore
from ranking.events import Report
from ranking.home import HomeError
from ranking.networks.files import keep_network, model_name
from ranking.room_layout import CLASS_ROOM, FOLDERS
from ranking.room_quotas import COUNT, DISK
from ranking.rooms import Rooms
from ranking.run_settings import FeaturesSettings
from ranking.store import Store

ANNA, BERT, TEACHER = "room-of-anna", "room-of-bert", "of-the-teacher"


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server that has rooms."""
    monkeypatch.setenv("RANKING_HOME", str(tmp_path / "server"))
    monkeypatch.setenv("RANKING_ROOMS", "on")
    return Rooms(tmp_path / "server")


@pytest.fixture
def anna(server, filled: Laboratory) -> Laboratory:
    """Her room, which holds what `filled` does."""
    return Laboratory(**{**vars(filled), "home": filled_room(server, ANNA, filled)})


def filled_room(server: Rooms, name: str, filled: Laboratory) -> Path:
    copy_home(filled.home, server.home / "rooms" / name)
    return server.make(name)


def room_of(app) -> str:
    named = app.query_params["room"]
    return named if isinstance(named, str) else named[-1]


def text_of(app) -> str:
    parts = [*app.markdown, *app.caption, *app.error, *app.warning, *app.info, *app.title]
    boxes = [" ".join(box.options) for box in app.selectbox]
    tables = [table.value.to_csv() for table in app.dataframe]
    return " ".join([*(str(part.value) for part in parts), *boxes, *tables])


# -------------------------------------------------------------------------------------- which room


def test_one_person_on_their_own_machine_sees_nothing_of_rooms(empty_home, started, open_page):
    app = open_page("start")
    assert not app.exception
    assert "room" not in app.query_params
    assert "room" not in text_of(app).lower()
    assert sorted(path.name for path in empty_home.home.iterdir() if path.is_dir()) == [
        "edges",
        "features",
        "models",
        "runs",
        "sets",
        "trash",
        "vectors",
    ]


@pytest.mark.parametrize(
    ("said", "listens_at", "expected"),
    [
        ("auto", "localhost", False),
        ("", "127.0.0.1", False),
        ("auto", "::1", False),
        ("auto", "0.0.0.0", True),
        ("auto", None, True),
        ("auto", "192.168.1.7", True),
        ("auto", "laboratory.example", True),
        ("on", "localhost", True),
        ("off", "0.0.0.0", False),
    ],
)
def test_rooms_are_there_where_other_machines_reach_the_server(monkeypatch, said, listens_at, expected):
    monkeypatch.setenv("RANKING_ROOMS", said)
    monkeypatch.setattr(rooms.st, "get_option", {"server.address": listens_at}.get)
    assert rooms.used() is expected


def test_another_word_for_when_is_refused(monkeypatch):
    monkeypatch.setenv("RANKING_ROOMS", "yes")
    with pytest.raises(HomeError, match="RANKING_ROOMS must be on, off or auto, got 'yes'"):
        rooms.used()


def test_each_first_visit_makes_a_room_and_the_address_names_it(server, started, open_page):
    visits = [open_page(page) for page in ("start", "start", "image_sets")]
    assert not any(app.exception for app in visits)
    names = [room_of(app) for app in visits]
    assert len(set(names)) == 3
    assert sorted(row.name for row in server.all()) == sorted(names)
    assert f"Your room: {names[0][:4]}…" in text_of(visits[0])
    app = visits[0].run()
    assert room_of(app) == names[0], "a page that runs again stays in its room"
    app.switch_page("pages/train.py")
    assert room_of(app.run()) == names[0], "and so does a link that forgot it"


def test_every_link_of_the_menu_and_every_next_step_carries_the_room_on(server, started, open_page):
    server.make(ANNA)
    app = open_page("start", room=ANNA)
    links = [link.proto.query_string for link in app.get("page_link")]
    assert len(links) > 10
    assert all(parse_qs(link)["room"] == [ANNA] for link in links)
    for label in ("Why optimise AP?", "Look at the images"):
        app = open_page("start", room=ANNA)
        next(button for button in app.button if button.label == label).click().run()
        assert room_of(app) == ANNA
    assert [row.name for row in server.all()] == [ANNA]


@pytest.mark.parametrize(
    "named", ["room-of-nobody", "../../etc/passwd", ".bundled", "<b>x</b>-long-enough", "x"]
)
def test_a_room_that_is_not_there_is_said_and_nothing_is_made(server, started, open_page, named):
    app = open_page("train", room=named)
    assert not app.exception
    assert "There is no room" in app.error[0].value
    assert server.all() == []
    next(button for button in app.button if button.label == "Begin a new room").click().run()
    assert not app.exception
    assert room_of(app) not in (named, TEACHER)
    assert [row.name for row in server.all()] == [room_of(app)]


def test_a_room_of_a_chosen_name_is_begun_and_entered(server, started, open_page):
    app = open_page("start")
    first = room_of(app)
    [field] = app.text_input
    field.set_value("short")
    enter = next(button for button in app.button if button.label == "Enter")
    enter.click().run()
    assert "name of a room: " in app.error[0].value.replace("\\", "")
    assert room_of(app) == first
    app.text_input[0].set_value("class-3b-anna")
    next(button for button in app.button if button.label == "Enter").click().run()
    assert not app.exception
    assert (list(app.query_params), room_of(app)) == (["room"], "class-3b-anna")
    assert "Your room: clas…" in text_of(app)
    assert sorted(row.name for row in server.all()) == sorted([first, "class-3b-anna"])


# --------------------------------------------------------------------------------------- isolation


# What a page tells of its training, or its image set, in the room that has it.
OF_ANNA = {
    "ranked_images": ("on_shapes", "on “disc"),
    "train": ("on_shapes", "on “disc"),
    "compare": ("on_shapes", "disc"),
    "most_violated": ("on_shapes", "on “disc"),
    "sample_graph": ("neighbours", "HOB-SVM on “playing instrument”"),
    "max_marginals": ("neighbours", "HOB-SVM on “playing instrument”"),
    "image_sets": ("on_shapes", "shapes — "),
}


@pytest.mark.parametrize("page", OF_ANNA)
def test_another_room_s_ids_in_the_address_show_nothing_of_it(anna, server, started, open_page, page):
    server.make(BERT)
    named, told = OF_ANNA[page]
    run = getattr(anna, named)
    query = {"run": run, "set": anna.shapes, "compared": f"{anna.on_shapes},{anna.finished}"}
    assert told in text_of(open_page(page, room=ANNA, **query))
    app = open_page(page, room=BERT, **query)
    assert not app.exception
    assert told not in text_of(app)
    assert str(anna.home) not in text_of(app)


def test_a_path_can_be_typed_where_the_host_has_named_folders(anna, server, started, open_page, monkeypatch):
    def fields() -> list[str]:
        app = open_page("image_sets", room=ANNA, set=anna.shapes)
        assert not app.exception
        return [one.label for one in app.text_input if "ile" in one.label]

    assert fields() == []
    monkeypatch.setenv(FOLDERS, "/srv/for-all")
    assert fields() == ["Folder or ZIP file", "File of features"]
    said = text_of(open_page("image_sets", room=ANNA, set=anna.shapes)).replace("\\", "")
    assert "In a folder that the host of this server has named: /srv/for-all." in said


def test_a_session_that_changes_rooms_forgets_what_it_knew(anna, server, started, open_page):
    server.make(BERT)
    app = open_page("train", room=ANNA, run=anna.finished)
    app.session_state[keys.JUST_DELETED] = [anna.finished]
    app.query_params["room"] = BERT
    app.run()
    assert not app.exception
    assert keys.JUST_DELETED not in app.session_state
    assert app.session_state[keys.IN_ROOM] == BERT


def test_the_store_and_the_answers_are_those_of_the_room(anna, server, monkeypatch):
    server.make(BERT)
    monkeypatch.setattr(rooms, "get_script_run_ctx", lambda: SimpleNamespace())
    for name in (ANNA, BERT):
        monkeypatch.setattr(rooms, "name", lambda name=name: name)
        assert cache.store().home == server.find(name)
        assert cache.answers()._home.path == server.find(name)
        made = rooms.kept(lambda: cache.store().home)
        monkeypatch.setattr(rooms, "name", lambda: "somewhere-else")
        assert made() == server.find(name)
    assert AnswerStore(server.find(ANNA)).images(anna.digits) == {}


def test_beside_the_page_a_home_must_have_been_told(server):
    with pytest.raises(RuntimeError, match=r"wrap what is done there in `rooms\.kept`"):
        cache.store()


def test_what_is_taken_along_is_made_from_the_room_of_the_page(anna, server, open_page, started):
    made = []  # AppTest makes no files late, so what would make them is asked

    original = run_actions.st.download_button

    def catch(label, data, *arguments, **look):
        made.append(data)
        return original(label, b"", *arguments, **look)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_actions.st, "download_button", catch)
        app = open_page("train", room=ANNA, run=anna.finished)
    assert not app.exception
    files = [make() for make in made if callable(make)]
    assert any(file[:2] == b"PK" for file in files if isinstance(file, bytes))


# ----------------------------------------------------------------------------------- what is lent


def test_what_comes_with_the_program_is_made_once_for_all_rooms(server, started, open_page):
    for name in (ANNA, BERT):
        server.make(name)
        app = open_page("image_sets", room=name)
        assert not app.exception
        assert "Action figures (180 scenes) — 180 images" in text_of(app)
        assert "shared" in text_of(app)
    assert len(started) == 1, "one import of the first bundled set"
    assert started[0].folder.is_relative_to(server.bundled)
    open_page("start", room=ANNA)
    open_page("start", room=BERT)
    assert [run.settings.get("method") for run in started] == [None, "SVM", "AP-SVM"]
    assert all(Store(server.find(name)).own_runs() == [] for name in (ANNA, BERT))
    assert Store(server.home).runs() == []


def test_a_bundled_set_appears_in_a_room_as_soon_as_it_is_made(server, started, open_page):
    server.make(ANNA)
    open_page("image_sets", room=ANNA)
    bundled, [run] = Store(server.bundled), started
    assert bundled.run(run.id).kind == "import"
    app = open_page("image_sets", room=ANNA)
    assert "Preparing Action figures" in text_of(app)
    assert not [button for button in app.button if button.label == "Cancel"], "not theirs to cancel"


@pytest.fixture
def teacher(server, filled, monkeypatch) -> Laboratory:
    """The class room, which holds what `filled` does."""
    monkeypatch.setenv(CLASS_ROOM, TEACHER)
    return Laboratory(**{**vars(filled), "home": filled_room(server, TEACHER, filled)})


def test_trainings_of_the_class_room_are_looked_at_and_not_touched(teacher, server, started, open_page):
    server.make(BERT)
    app = open_page("train", room=BERT, run=teacher.finished)
    assert not app.exception
    assert "shared" in text_of(app)
    assert TEACHER not in text_of(app)
    states = {button.label: button.disabled for button in app.button if button.label in ("Star", "Delete")}
    assert states == {"Star": True, "Delete": True}
    before = Store(teacher.home).runs()
    app = open_page("ranked_images", room=BERT, run=teacher.finished)
    assert not app.exception
    assert not app.error
    assert any(metric.label == "AP" for metric in app.metric)
    assert Store(teacher.home).runs() == before


@pytest.mark.parametrize("file", ["columns.npz", "images/000001.webp", "crops.npy"])
def test_a_damaged_file_of_the_class_room_does_not_tell_its_name(teacher, server, started, open_page, file):
    """The file of an image, of the set, of its thumbnails: each error names the file, for the host."""
    server.make(BERT)
    damaged = teacher.home / "sets" / teacher.figures / file
    damaged.unlink()
    damaged.write_bytes(b"damaged")
    app = open_page("image_sets", room=BERT, set=teacher.figures)
    assert not app.exception
    assert app.error, "it is said"
    assert TEACHER not in " ".join(error.value.replace("\\", "") for error in app.error)


def test_the_teacher_can_still_change_the_class_room(teacher, server, started, open_page):
    app = open_page("train", room=TEACHER, run=teacher.finished)
    next(button for button in app.button if button.label == "Star").click().run()
    assert not app.exception
    assert Store(teacher.home).run(teacher.finished).star


# ------------------------------------------------------------------------------------------- quotas


def test_a_full_room_says_so_where_something_is_begun(anna, server, open_page, monkeypatch):
    monkeypatch.setenv(DISK, "100000")
    monkeypatch.setattr(cache, "common", cache.store)  # nothing bundled is begun in this test
    monkeypatch.setattr(jobs, "start_once", lambda store, kind, settings: store.create_run(kind, settings))
    app = open_page("train", room=ANNA, set=anna.digits, query="5", method="SVM")
    before = len(Store(anna.home).runs())
    app.button(key="train").click().run()
    assert not app.exception
    assert "this room is full" in " ".join(error.value for error in app.error)
    assert len(Store(anna.home).runs()) == before


def test_what_a_person_was_told_is_imported_can_be_kept_in_a_room_that_is_full_by_then(
    anna, server, open_page, monkeypatch, tmp_path
):
    monkeypatch.setattr(cache, "common", cache.store)  # nothing bundled is begun in this test
    monkeypatch.setenv(FOLDERS, str(tmp_path))
    write_shapes(tmp_path / "more", images=10)
    store = Store(anna.home)
    run = import_here(store, "PASCAL VOC", folder=str(tmp_path / "more"))
    app = open_page("image_sets", room=ANNA, **{"import": run.id})
    monkeypatch.setenv(DISK, "1")
    app.button(key="keep import").click().run()
    assert not app.exception
    assert not app.error
    assert run.result["key"] in [row.key for row in store.image_sets()]


def test_an_import_that_cannot_be_kept_can_be_discarded_at_once(
    anna, server, open_page, monkeypatch, tmp_path
):
    monkeypatch.setattr(cache, "common", cache.store)  # nothing bundled is begun in this test
    monkeypatch.setenv(FOLDERS, str(tmp_path))
    write_shapes(tmp_path / "more", images=10)
    store = Store(anna.home)
    run = import_here(store, "PASCAL VOC", folder=str(tmp_path / "more"))
    app = open_page("image_sets", room=ANNA, **{"import": run.id})

    def refuse(*_):
        raise HomeError("there is no space left")

    monkeypatch.setattr(Store, "keep", refuse)
    app.button(key="keep import").click().run()
    assert not app.exception
    assert "there is no space left" in " ".join(error.value for error in app.error)
    app.button(key="discard import").click().run()
    assert not app.exception
    assert not store.run(run.id).draft.exists()


def test_a_full_room_can_be_emptied_where_it_is_said_to_be_full(
    anna, server, open_page, monkeypatch, tmp_path
):
    monkeypatch.setattr(cache, "common", cache.store)  # nothing bundled is begun in this test
    monkeypatch.setattr(jobs, "start_once", lambda store, kind, settings: store.create_run(kind, settings))
    store = Store(anna.home)
    for run in store.own_runs():
        if run.settings.get("set") == anna.shapes:
            store.delete_run(run.id)
    files = anna.home / "sets" / anna.shapes
    shutil.copytree(files, tmp_path / "copy")  # what is linked from elsewhere takes no space here
    shutil.rmtree(files)
    shutil.move(tmp_path / "copy", files)
    monkeypatch.setenv(DISK, "1")
    app = open_page("train", room=ANNA, set=anna.digits, query="5", method="SVM")
    assert "Make space in this room" not in [box.label for box in app.expander]
    app.button(key="train").click().run()
    assert "Make space in this room" in [box.label for box in app.expander]
    assert "digits” takes" in text_of(app).lower(), "in use"

    def remove(told):
        [button] = [one for one in app.button if one.label.replace("\\", "").startswith(told)]
        button.click().run()
        assert not app.exception

    remove("Remove computed features")
    assert not list(store.features.iterdir())
    remove("Empty the list of deleted runs, ")
    assert store.runs(deleted=True) == []
    remove("Take away the image set “shapes”")
    assert [row.key for row in store.deleted_image_sets()] == [anna.shapes]
    remove("Empty the list of image sets that were taken away, 1")
    assert not (anna.home / "sets" / anna.shapes).exists()
    monkeypatch.delenv(DISK)
    app.run()
    assert "Make space in this room" not in [box.label for box in app.expander]


def looked_at_features(store: Store, key: str, called: str) -> str:
    """A look at features for a set of `store` that waits for a decision."""
    run = store.create_run("features", FeaturesSettings(key, brought=called).to_json())
    np.save(run.folder / "array.npy", np.random.default_rng(0).normal(size=(len(store.image_set(key)), 3)))
    (run.folder / "array.npy").rename(run.brought_file)
    found = worker.look_at_features(store, run, Report(run.events_file))
    store.end_run(run.id, "finished", result=found)
    return run.id


def test_what_was_brought_can_be_removed_where_a_room_is_full(anna, server, open_page, monkeypatch):
    monkeypatch.setattr(cache, "common", cache.store)  # nothing bundled is begun in this test
    store = Store(anna.home)
    waits = looked_at_features(store, anna.digits, "waits.npy")
    store.keep_vectors(looked_at_features(store, anna.digits, "kept.npy"), "mine")
    (anna.home / "brought").write_bytes(bytes(5_000))
    settings = {"model": model_name(anna.home / "brought"), "columns": 3}
    keep_network(anna.home / "models", anna.home / "brought", settings, "net")
    monkeypatch.setattr(jobs, "start_once", lambda store, kind, settings: store.create_run(kind, settings))
    monkeypatch.setenv(DISK, "1")
    app = open_page("train", room=ANNA, set=anna.digits, query="5", method="SVM")
    app.button(key="train").click().run()
    assert not app.exception
    assert "this room is full" in " ".join(error.value for error in app.error)

    def remove(told):
        [button] = [one for one in app.button if one.label.replace("\\", "").startswith(told)]
        button.click().run()
        assert not app.exception

    remove("Discard the features in “waits.npy”: ")
    assert store.run(waits).result["decision"] == "discarded"
    remove(f"Delete the features “mine” of “{title_of(store, anna.digits)}”: ")
    assert store.vectors_of(anna.digits) == []
    remove("Delete the model “net”: 5 kB")
    assert (store.networks(), list((anna.home / "models").glob("*.onnx"))) == ([], [])


def title_of(store: Store, key: str) -> str:
    return next(row.title for row in store.image_sets() if row.key == key)


def test_a_server_with_as_many_rooms_as_it_may_have_says_so(server, started, open_page, monkeypatch):
    server.make(ANNA)
    monkeypatch.setenv(COUNT, "1")
    app = open_page("start")
    assert not app.exception
    assert "this server has 1 room, as many as it may have" in app.error[0].value.replace("\\", "")
    assert [row.name for row in server.all()] == [ANNA]
    assert not open_page("start", room=ANNA).error


def test_how_full_a_room_is_shows_once_above_half(anna, server, started, open_page, monkeypatch):
    told = "that it may take"
    assert told not in json.dumps([bar.value for bar in open_page("start", room=ANNA).get("progress")])
    monkeypatch.setenv(DISK, "4000000")
    app = open_page("start", room=ANNA)
    assert [bar for bar in app.get("progress") if told in bar.text]
    features = Store(anna.home).features
    assert list(features.iterdir())
    next(one for one in app.button if one.label.startswith("Remove computed features")).click().run()
    assert not app.exception
    assert not list(features.iterdir())
