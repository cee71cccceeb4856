"""Pages where visitors have rooms: which one they are in, that nothing crosses, what is lent, what is full."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs

import numpy as np
import pytest
from filled_home import Laboratory, copy_home, import_here
from shapes import write_shapes
from shown import counts_in, errors, text_of

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
SPACE = "Make space in this room"


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


def press(app, label):
    """Press the button whose label begins so."""
    next(one for one in app.button if one.label.replace("\\", "").startswith(label)).click().run()
    assert not app.exception


# -------------------------------------------------------------------------------------- which room


def test_rooms_are_there_where_other_machines_reach_the_server(monkeypatch):
    for setting, listens_at, expected in (
        ("auto", "localhost", False),
        ("", "127.0.0.1", False),
        ("auto", "::1", False),
        ("auto", "0.0.0.0", True),
        ("auto", None, True),
        ("auto", "192.168.1.7", True),
        ("auto", "laboratory.example", True),
        ("on", "localhost", True),
        ("off", "0.0.0.0", False),
    ):
        monkeypatch.setenv("RANKING_ROOMS", setting)
        monkeypatch.setattr(rooms.st, "get_option", {"server.address": listens_at}.get)
        assert rooms.used() is expected, (setting, listens_at)
    monkeypatch.setenv("RANKING_ROOMS", "yes")
    with pytest.raises(HomeError, match=r"RANKING_ROOMS.*'yes'"):
        rooms.used()


def test_each_first_visit_makes_a_room_which_every_link_carries_on(server, started, open_page):
    visits = [open_page(page) for page in ("start", "image_sets")]
    names = [room_of(app) for app in visits]
    assert len(set(names)) == 2
    assert sorted(row.name for row in server.all()) == sorted(names)
    app, name = visits[0], names[0]
    assert f"{name[:4]}…" in text_of(app)
    assert name not in text_of(app), "the name is the key"
    links = [link.proto.query_string for link in app.get("page_link")]
    assert len(links) > 10
    assert all(parse_qs(link)["room"] == [name] for link in links)
    app.button(key="widget go to image_sets").click().run()
    assert room_of(app) == name
    app.switch_page("pages/train.py")
    assert room_of(app.run()) == name, "also by a link that forgot it"
    assert not any(app.exception for app in visits)
    assert len(server.all()) == 2


def test_a_room_that_is_not_there_is_reported_and_not_made(server, started, open_page):
    for name in ("room-of-nobody", "../../etc/passwd", ".bundled", "<b>x</b>-long-enough", "x"):
        assert rooms._find(name) is None
    app = open_page("train", room="<b>x</b>-long-enough")
    assert not app.exception
    [error] = app.error
    assert "<b>" not in error.value.replace("\\<", "")
    assert server.all() == []
    app.button(key="widget new room").click().run()
    assert not app.exception
    assert [row.name for row in server.all()] == [room_of(app)]


def test_a_room_of_a_chosen_name_is_begun_and_entered(server, started, open_page):
    app = open_page("start")
    first = room_of(app)
    app.text_input[0].set_value("short")
    press(app, "Enter")
    assert [8, 64] in [counts[:2] for counts in counts_in(app.error)], "letters that a name must have"
    assert room_of(app) == first
    app.text_input[0].set_value("class-3b-anna")
    press(app, "Enter")
    assert (list(app.query_params), room_of(app)) == (["room"], "class-3b-anna")
    assert "clas…" in text_of(app)
    assert sorted(row.name for row in server.all()) == sorted([first, "class-3b-anna"])


# --------------------------------------------------------------------------------------- isolation


def test_nothing_of_a_room_is_shown_in_another(anna, server, started, open_page):
    """Neither by ids in the address, nor from caches that the first room has filled, nor from the session."""
    server.make(BERT)
    for page, run, shown in (
        ("compare", "on_shapes", "disc"),
        ("sample_graph", "neighbours", "playing instrument"),
        ("image_sets", "on_shapes", "shapes — "),
    ):
        query = {
            "run": getattr(anna, run),
            "set": anna.shapes,
            "compared": f"{anna.on_shapes},{anna.finished}",
        }
        app = open_page(page, room=ANNA, **query)
        assert shown in text_of(app)
        app.session_state[keys.JUST_DELETED] = [anna.finished]
        app.query_params["room"] = BERT
        app.run()
        assert not app.exception
        assert shown not in text_of(app)
        assert str(anna.home) not in text_of(app)
        assert keys.JUST_DELETED not in app.session_state
        assert app.session_state[keys.IN_ROOM] == BERT


def test_every_cache_of_what_a_home_holds_is_keyed_by_the_home():
    """What is asked for by an id alone would be found by visitors of all rooms."""
    folder = Path(cache.__file__).parent
    lines = [line for file in sorted(folder.glob("*.py")) for line in file.read_text().splitlines()]
    cached = [
        definition
        for decorator, definition in pairwise(lines)
        if decorator.startswith(("@st.cache_data", "@st.cache_resource"))
    ]
    assert len(cached) > 20
    of_no_home = ("def counted(", "def _ready_made(", "def _inference_", "def _taught(", "def _examples(")
    of_no_home += (
        "def _curves(",
        "def _picture(",
    )  # files that come with the program; scores, by their content
    for definition in cached:
        assert definition.startswith(of_no_home) or "(home: str" in definition, definition


def test_a_path_can_be_typed_where_the_host_has_named_folders(anna, server, started, open_page, monkeypatch):
    app = open_page("image_sets", room=ANNA, set=anna.shapes)
    typed = {"widget brought path", "widget own features path"}
    assert not typed & {box.key for box in app.text_input}
    monkeypatch.setenv(FOLDERS, "/srv/for-all")
    app.run()
    assert not app.exception
    assert typed <= {box.key for box in app.text_input}
    assert "/srv/for-all" in text_of(app)


def test_the_store_and_the_answers_are_those_of_the_room(anna, server, monkeypatch):
    with pytest.raises(RuntimeError):
        cache.store()  # beside the page, and not wrapped in rooms.kept
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


def test_files_are_made_in_the_room_of_the_page(anna, server, open_page, started, monkeypatch):
    made = []  # AppTest makes no files late, so what would make them is called
    original = run_actions.st.download_button

    def catch(label, data, *arguments, **look):
        made.append(data)
        return original(label, b"", *arguments, **look)

    with monkeypatch.context() as patch:
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
        assert "Cancel" not in [button.label for button in app.button], "not theirs to cancel"
    [run] = started
    assert run.folder.is_relative_to(server.bundled)
    assert Store(server.bundled).run(run.id).kind == "import"
    for name in (ANNA, BERT):
        open_page("start", room=name)
        assert Store(server.find(name)).own_runs() == []
    assert [run.settings.get("method") for run in started] == [None, "SVM", "AP-SVM"]
    assert Store(server.home).runs() == []


@pytest.fixture
def teacher(server, filled, monkeypatch) -> Laboratory:
    """The class room, which holds what `filled` does."""
    monkeypatch.setenv(CLASS_ROOM, TEACHER)
    return Laboratory(**{**vars(filled), "home": filled_room(server, TEACHER, filled)})


def test_runs_of_the_class_room_are_read_by_all_and_changed_by_the_teacher(
    teacher, server, started, open_page
):
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
    app = open_page("train", room=TEACHER, run=teacher.finished)
    next(button for button in app.button if button.label == "Star").click().run()
    assert not app.exception
    assert Store(teacher.home).run(teacher.finished).star


def test_a_damaged_file_of_the_class_room_does_not_tell_its_name(teacher, server, started, open_page):
    """The file of an image, of its thumbnails, of the set: each error names the file, for the host."""
    room, files = server.make(BERT), teacher.home / "sets" / teacher.figures

    def damage(name):
        (files / name).unlink()
        (files / name).write_bytes(b"damaged")

    damage(str(teacher.store.image_set(teacher.figures).image_files[0]))
    damage("crops.npy")
    for read in (
        lambda: cache.whole_image(teacher.figures, 0),
        lambda: cache.thumbnails(teacher.figures).crop(0),
    ):
        with rooms._in(str(room)), pytest.raises(cache.Gone) as caught:
            read()
        assert TEACHER not in str(caught.value)
    damage("columns.npz")
    cache.image_sets._image_set_at.clear()
    app = open_page("image_sets", room=BERT, set=teacher.figures)
    assert not app.exception
    assert app.error
    assert TEACHER not in " ".join(errors(app))


# ------------------------------------------------------------------------------------------- quotas


def test_an_import_that_is_done_can_be_kept_in_a_room_that_is_full_by_then(anna, monkeypatch, tmp_path):
    monkeypatch.setenv(FOLDERS, str(tmp_path))
    store, folder = Store(anna.home), write_shapes(tmp_path / "more", images=10)
    run = import_here(store, "PASCAL VOC", folder=str(folder))
    monkeypatch.setenv(DISK, "1")
    assert store.keep(run.id) in [row.key for row in store.image_sets()]


def looked_at_features(store: Store, key: str, called: str) -> str:
    """A look at features for a set of `store` that waits for a decision."""
    run = store.create_run("features", FeaturesSettings(key, brought=called).to_json())
    np.save(run.folder / "array.npy", np.random.default_rng(0).normal(size=(len(store.image_set(key)), 3)))
    (run.folder / "array.npy").rename(run.brought_file)
    found = worker.look_at_features(store, run, Report(run.events_file))
    store.end_run(run.id, "finished", result=found)
    return run.id


def bring(anna: Laboratory) -> str:
    """Fill her room with features that are kept, a model, and a look at features that waits: the id of that."""
    store = Store(anna.home)
    store.keep_vectors(looked_at_features(store, anna.figures, "kept.npy"), "mine")
    (anna.home / "brought").write_bytes(bytes(5_000))
    settings = {"model": model_name(anna.home / "brought"), "columns": 3}
    keep_network(anna.home / "models", anna.home / "brought", settings, "net")
    return looked_at_features(store, anna.figures, "waits.npy")


def test_a_full_room_can_be_emptied_where_it_is_reported_to_be_full(
    anna, server, open_page, monkeypatch, tmp_path
):
    monkeypatch.setattr(cache, "common", cache.store)  # nothing bundled is begun in this test
    monkeypatch.setattr(jobs, "start_once", lambda store, kind, settings: store.create_run(kind, settings))
    store, waits = Store(anna.home), bring(anna)
    for run in store.own_runs():
        if run.settings.get("set") == anna.shapes:
            store.delete_run(run.id)
    files = anna.home / "sets" / anna.shapes
    shutil.copytree(files, tmp_path / "copy")  # what is linked from elsewhere takes no space here
    shutil.rmtree(files)
    shutil.move(tmp_path / "copy", files)
    monkeypatch.setenv(DISK, "1")
    app = open_page("train", room=ANNA, set=anna.digits, query="5", method="SVM")
    assert SPACE not in [box.label for box in app.expander]
    before = len(store.runs())
    app.button(key="train").click().run()
    assert not app.exception
    assert app.error
    assert len(store.runs()) == before
    assert SPACE in [box.label for box in app.expander]
    titles = {row.key: row.title for row in store.image_sets()}
    in_use = [caption.value for caption in app.caption if f"“{titles[anna.digits]}”" in caption.value]
    assert in_use, "what cannot be removed at once"
    press(app, "Remove computed features")
    assert not [file for file in store.features.iterdir() if file.stat().st_nlink == 1], (
        "but links to what is kept"
    )
    press(app, "Discard the features in “waits.npy”: ")
    assert store.run(waits).result["decision"] == "discarded"
    press(app, f"Delete the features “mine” of “{titles[anna.figures]}”: ")
    assert store.vectors_of(anna.figures) == []
    press(app, "Delete the model “net”: 5 kB")
    assert (store.networks(), list((anna.home / "models").glob("*.onnx"))) == ([], [])
    press(app, "Empty the list of deleted runs, ")
    assert store.runs(deleted=True) == []
    press(app, "Take away the image set “shapes”")
    assert [row.key for row in store.deleted_image_sets()] == [anna.shapes]
    press(app, "Empty the list of image sets that were taken away, 1")
    assert not files.exists()
    monkeypatch.delenv(DISK)
    app.run()
    assert SPACE not in [box.label for box in app.expander]


def test_a_server_that_has_no_more_rooms_states_how_many(server, started, open_page, monkeypatch):
    server.make(ANNA)
    monkeypatch.setenv(COUNT, "1")
    app = open_page("start")
    assert not app.exception
    assert counts_in(app.error) == [[1]]
    assert [row.name for row in server.all()] == [ANNA]
    assert not open_page("start", room=ANNA).error


def test_how_full_a_room_is_shows_once_above_half(anna, server, started, open_page, monkeypatch):
    assert not [bar for bar in open_page("start", room=ANNA).get("progress") if "B of the " in bar.text]
    monkeypatch.setenv(DISK, "4000000")
    app = open_page("start", room=ANNA)
    assert [bar for bar in app.get("progress") if "B of the 4 MB" in bar.text]
    assert SPACE in [box.label for box in app.expander]
