"""Pages where visitors have rooms: which one they are in, that nothing crosses, what is lent, what is full."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs

import numpy as np
import pytest
from filled_home import Laboratory, copy_home
from shown import address, counts_in, errors, plain, press, text_of
from uploading import kept_here
from working import raising

from pages.parts.app import cache, home, keys, menu, rooms
from pages.parts.app.home import adopt_examples
from pages.parts.runs import run_actions
from ranking.core.errors import HomeError
from ranking.features.onnx_model import model_name
from ranking.jobs import jobs
from ranking.workspace import examples
from ranking.workspace.room_layout import CLASS_ROOM, FOLDERS
from ranking.workspace.room_quotas import COUNT, DISK
from ranking.workspace.rooms import Rooms
from ranking.workspace.store import Store
from ranking.workspace.uploads import keep_network

ANNA, BERT, TEACHER = "room-of-anna", "room-of-bert", "of-the-teacher"
SPACE = "Free up storage"


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server that has rooms."""
    monkeypatch.setenv("RANKING_HOME", str(tmp_path / "server"))
    monkeypatch.setenv("RANKING_ROOMS", "on")
    monkeypatch.setattr(home, "adopt_examples", adopt_examples)
    return Rooms(tmp_path / "server")


@pytest.fixture
def anna(server, filled: Laboratory) -> Laboratory:
    """Her room, which holds what `filled` does."""
    return filled_room(server, ANNA, filled)


@pytest.fixture
def teacher(server, filled, monkeypatch) -> Laboratory:
    """The class room, which holds what `filled` does."""
    monkeypatch.setenv(CLASS_ROOM, TEACHER)
    return filled_room(server, TEACHER, filled)


def filled_room(server: Rooms, name: str, filled: Laboratory) -> Laboratory:
    copy_home(filled.home, server.home / "rooms" / name)
    return Laboratory(**{**vars(filled), "home": server.make(name)})


def names_of(server: Rooms) -> list[str]:
    return sorted(row.name for row in server.all())


def press_on(app, label):
    """Press the button whose label begins so."""
    next(one for one in app.button if plain(one.label).startswith(label)).click().run()


def unfolded(app) -> list[str]:
    return [box.label for box in app.expander]


# -------------------------------------------------------------------------------------- which room


def test_rooms_are_there_where_other_machines_reach_the_server(monkeypatch):
    for setting, listens_at, expected in (
        ("auto", "localhost", False),
        ("", "0.0.0.0", True),
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
    names = [address(app)["room"] for app in visits]
    assert len(set(names)) == 2
    assert names_of(server) == sorted(names)
    app, name = visits[0], names[0]
    assert f"{name[:4]}…" in text_of(app)
    assert name not in text_of(app), "the name is the key"
    links = [link.proto.query_string for link in app.get("page_link")]
    assert len(links) > len(menu.PLACES)
    assert all(parse_qs(link)["room"] == [name] for link in links)
    press(app, "widget go to image_sets")
    assert address(app)["room"] == name
    app.switch_page("pages/train.py")
    assert address(app.run())["room"] == name, "also by a link that forgot it"
    assert names_of(server) == sorted(names)


def test_a_room_that_is_not_there_is_reported_and_not_made(server, started, open_page):
    for name in ("room-of-nobody", "../../etc/passwd"):
        assert rooms._find(name) is None
    app = open_page("train", room="<b>x</b>-long-enough")
    [error] = app.error
    assert "<b>" not in error.value.replace("\\<", "")
    assert names_of(server) == []
    press(app, "widget new room")
    assert names_of(server) == [address(app)["room"]]


def test_a_room_of_a_chosen_name_is_begun_and_entered(server, started, open_page):
    app = open_page("start")
    first = address(app)["room"]
    app.text_input[0].set_value("short")
    press_on(app, "Open")
    assert [8, 64] in [counts[:2] for counts in counts_in(app.error)], "letters that a name must have"
    assert address(app)["room"] == first
    app.text_input[0].set_value("class-3b-anna")
    press_on(app, "Open")
    assert address(app) == {"room": "class-3b-anna"}
    assert "clas…" in text_of(app)
    assert names_of(server) == sorted([first, "class-3b-anna"])


# --------------------------------------------------------------------------------------- isolation


def test_nobody_is_offered_to_repair_the_room_of_somebody_else(server, started, open_page, monkeypatch):
    for name in (ANNA, BERT):
        server.make(name)
    lost = HomeError(
        "this workspace", "its database is damaged", "press the button", lost=server.home / "rooms" / ANNA
    )
    monkeypatch.setattr(Rooms, "visit", raising(lost))
    offered = {}
    for name in (ANNA, BERT):
        app = open_page("image_sets", room=name)
        assert "damaged" in text_of(app)
        offered[name] = "Rebuild the database" in {plain(one.label) for one in app.button}
    assert offered == {ANNA: True, BERT: False}


def test_a_damaged_room_is_mended_by_its_visitor_and_felt_by_nobody_else(
    server, started, open_page, monkeypatch
):
    monkeypatch.setenv(COUNT, "2")
    room = server.make(ANNA)
    for file in room.glob("ranking.sqlite*"):
        file.unlink()
    (room / "ranking.sqlite").write_bytes(b"no database" * 1000)
    for _ in range(2):
        assert address(open_page("start"))["room"] in names_of(server)
    app = open_page("image_sets", room=ANNA)
    press_on(app, "Rebuild the database")
    assert not errors(app)


def test_no_message_tells_where_the_host_keeps_rooms(server, monkeypatch):
    path = server.home / "rooms" / ANNA
    message = (
        f"cannot use the data folder {path}: disk I/O error; free some space in {path}/runs, or elsewhere"
    )
    expected = (
        "cannot use this workspace: disk I/O error; free some space in this workspace/runs, or elsewhere"
    )
    assert rooms.without_paths(message) == expected
    monkeypatch.setenv("RANKING_ROOMS", "off")
    assert rooms.without_paths(message) == message


def test_nothing_of_a_room_is_shown_in_another(anna, server, started, open_page):
    """Neither by ids in the address, nor from caches that the first room has filled, nor from the session."""
    server.make(BERT)
    compared = f"{anna.on_shapes},{anna.finished}"
    for page, run, shown in (
        ("compare", anna.on_shapes, "disc"),
        ("neighbours", anna.neighbours, "playing instrument"),
        ("image_sets", anna.on_shapes, "shapes — "),
    ):
        app = open_page(page, room=ANNA, run=run, set=anna.shapes, compared=compared)
        assert shown in text_of(app)
        app.session_state[keys.JUST_DELETED] = [anna.finished]
        app.query_params["room"] = BERT
        app.run()
        assert shown not in text_of(app)
        assert str(anna.home) not in text_of(app)
        assert keys.JUST_DELETED not in app.session_state
        assert app.session_state[keys.IN_ROOM] == BERT


def test_every_cache_of_what_a_home_holds_is_keyed_by_the_home():
    """What is asked for by an id alone would be found by visitors of all rooms."""
    lines = [line for module in (cache, home) for line in Path(module.__file__).read_text().splitlines()]
    cached = [
        definition
        for decorator, definition in pairwise(lines)
        if decorator.startswith(("@st.cache_data", "@st.cache_resource"))  # @of_home hands on the home itself
    ]
    assert len(cached) > 4
    # Files that come with the program; scores, by their content.
    of_no_home = "_ready_made", "inference_problem", "_inference_trace"
    for definition in cached:
        assert "(home: str" in definition or definition.removeprefix("def ").startswith(of_no_home), (
            definition
        )


def test_a_path_can_be_typed_where_the_host_has_named_folders(anna, server, started, open_page, monkeypatch):
    app = open_page("image_sets", room=ANNA, set=anna.shapes)
    typed = {"widget path of an import", "widget own features path"}
    assert not typed & {box.key for box in app.text_input}
    monkeypatch.setenv(FOLDERS, "/srv/for-all")
    app.run()
    assert typed <= {box.key for box in app.text_input}
    assert "/srv/for-all" in text_of(app)


def test_the_store_and_the_answers_are_those_of_the_room(server, monkeypatch):
    with pytest.raises(RuntimeError):
        home.store()  # beside the page, and not wrapped in rooms.kept
    monkeypatch.setattr(rooms, "get_script_run_ctx", lambda: SimpleNamespace())
    for name in (ANNA, BERT):
        server.make(name)
        monkeypatch.setattr(rooms, "name", lambda name=name: name)
        assert home.store().home == server.find(name)
        assert home.answers()._home.path == server.find(name)
        made = rooms.kept(lambda: home.store().home)
        monkeypatch.setattr(rooms, "name", lambda: "somewhere-else")
        assert made() == server.find(name)


def test_files_are_made_in_the_room_of_the_page(anna, server, open_page, started, monkeypatch):
    made = []  # AppTest makes no files late, so what would make them is called
    original = run_actions.st.download_button

    def catch(label, data, *arguments, **look):
        made.append(data)
        return original(label, b"", *arguments, **look)

    with monkeypatch.context() as patch:
        patch.setattr(run_actions.st, "download_button", catch)
        open_page("train", room=ANNA, run=anna.finished)
    files = [make() for make in made if callable(make)]
    assert any(file[:2] == b"PK" for file in files if isinstance(file, bytes))


# ----------------------------------------------------------------------------------- what is lent


def test_what_comes_with_the_program_is_there_once_for_all_rooms(server, started, open_page):
    for name in (ANNA, BERT):
        server.make(name)
        app = open_page("image_sets", room=name)
        assert "Action figures — 600 images" in text_of(app)
        assert "shared" in text_of(app)
        for page in ("neighbours", "label_questions", "lengths"):
            app = open_page(page, room=name)
            assert not app.error
            assert app.get("plotly_chart") or len(app.get("bidi_component")) > 1, page
        room = Store(server.find(name))
        assert room.own_runs() == []
        assert [row.shared for row in room.image_sets()] == [True] * len(examples.set_folders())
        kept = (room.home / "features").iterdir()
        assert all(file.stat().st_nlink > 1 for file in kept), "features too are kept once"
    assert {run.id for run in Store(server.bundled).runs()} == set(examples.run_folders())
    assert not started
    assert Store(server.home).runs() == []


def test_runs_of_the_class_room_are_changed_by_the_teacher_alone(teacher, server, started, open_page):
    server.make(BERT)
    before = Store(teacher.home).own_runs()
    app = open_page("train", room=BERT, run=teacher.finished)
    assert "shared" in text_of(app)
    assert TEACHER not in text_of(app)
    assert app.button(key="star runs").disabled
    assert app.button(key="delete runs").disabled
    app = open_page("ranked_images", room=BERT, run=teacher.finished)
    assert not app.error
    assert any(metric.label == "AP" for metric in app.metric)
    assert Store(teacher.home).own_runs() == before
    press(open_page("train", room=TEACHER, run=teacher.finished), "star runs")
    assert Store(teacher.home).run(teacher.finished).star


def test_a_damaged_file_of_the_class_room_does_not_tell_its_name(teacher, server, started, open_page):
    """The file of an image, of its thumbnails, of the set: each error names the file, for the host."""
    room, files = server.make(BERT), teacher.home / "sets" / teacher.figures
    for damaged, read in (
        (
            teacher.store.image_set(teacher.figures).image_files[0],
            lambda: cache.whole_image(teacher.figures, 0),
        ),
        ("crops.npy", lambda: cache.thumbnails(teacher.figures).crop(0)),
        ("columns.npz", None),
    ):
        (files / damaged).unlink()
        (files / damaged).write_bytes(b"damaged")
        if read is not None:
            with rooms._in(str(room)), pytest.raises(home.Gone) as caught:
                read()
            assert TEACHER not in str(caught.value)
    cache._image_set_at.clear()
    app = open_page("image_sets", room=BERT, set=teacher.figures)
    assert app.error
    assert TEACHER not in " ".join(errors(app))


# ------------------------------------------------------------------------------------------- quotas


def test_a_full_room_can_be_emptied_where_that_is_reported(anna, server, open_page, monkeypatch, tmp_path):
    monkeypatch.setattr(jobs, "start_once", lambda store, kind, settings: store.create_run(kind, settings))
    store, model, files = Store(anna.home), anna.home / "upload", anna.home / "sets" / anna.shapes
    vectors = np.random.default_rng(0).normal(size=(len(store.image_set(anna.figures)), 3))
    kept_here(store, anna.figures, vectors, "mine")
    model.write_bytes(bytes(5_000))
    keep_network(anna.home / "models", model, {"model": model_name(model), "columns": 3}, "net")
    for run in store.own_runs():
        if run.settings.get("set") == anna.shapes:
            store.delete_run(run.id)
    shutil.copytree(files, tmp_path / "copy")  # what is linked from elsewhere takes no space here
    shutil.rmtree(files)
    shutil.move(tmp_path / "copy", files)
    monkeypatch.setenv(DISK, "1")
    app = open_page("train", room=ANNA, set=anna.digits, query="5", method="SVM")
    assert SPACE not in unfolded(app)
    before = len(store.runs())
    press(app, "train")
    assert app.error
    assert len(store.runs()) == before
    assert SPACE in unfolded(app)
    titles = {row.key: row.title for row in store.image_sets()}
    in_use = f"“{titles[anna.digits]}”"
    assert any(in_use in caption.value for caption in app.caption), "what cannot be removed at once"
    for label, left in (
        # but links to what is kept
        ("Delete computed features", lambda: [f for f in store.features.iterdir() if f.stat().st_nlink == 1]),
        (f"Delete the features “mine” of “{titles[anna.figures]}”: ", lambda: store.vectors_of(anna.figures)),
        ("Delete the model “net”: 5 kB", lambda: list((anna.home / "models").glob("*.onnx"))),
        ("Empty the run trash (", lambda: store.runs(deleted=True)),
        ("Delete the image set “shapes”", lambda: not store.deleted_image_sets()),
        ("Empty the image-set trash (1)", files.exists),
    ):
        press_on(app, label)
        assert not left(), label
    monkeypatch.delenv(DISK)
    assert SPACE not in unfolded(app.run())


def test_a_server_that_has_no_more_rooms_states_how_many(server, started, open_page, monkeypatch):
    Store(server.make(ANNA)).create_run("train", {})
    monkeypatch.setenv(COUNT, "1")
    assert counts_in(open_page("start").error) == [[1]]
    assert names_of(server) == [ANNA]
    assert not open_page("start", room=ANNA).error


def test_how_full_a_room_is_shows_once_above_half(anna, server, started, open_page, monkeypatch):
    assert not [bar for bar in open_page("start", room=ANNA).get("progress") if "B of " in bar.text]
    monkeypatch.setenv(DISK, "4000000")
    app = open_page("start", room=ANNA)
    assert [bar for bar in app.get("progress") if "B of 4 MB" in bar.text]
    assert SPACE in unfolded(app)
