from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from labelled_pictures import patches
from refusals import refused
from working import LONGEST, Held, here, trouble

from ranking.core.errors import InputError
from ranking.core.run_settings import ExperimentSettings, FeaturesSettings, ImportSettings, TrainSettings
from ranking.core.settings import settings_of
from ranking.datasets import make_source, source_class, source_names
from ranking.features import load_features, make_feature, matrix_files
from ranking.features.extract import to_compute
from ranking.jobs import jobs
from ranking.jobs.events import Report
from ranking.jobs.importing import PATHS, steps_of
from ranking.reports.at_home import results_at_home, trials_of
from ranking.workspace.answers import AnswerEvent, AnswerStore
from ranking.workspace.corrections import CorrectionStore
from ranking.workspace.home import Home
from ranking.workspace.job_queue import JobQueue
from ranking.workspace.room_layout import (
    CLASS_ROOM,
    FOLDERS,
    MARK,
    check_source,
    checked_room,
    is_room,
    server_of,
)
from ranking.workspace.room_places import DAY, EMPTY, USED
from ranking.workspace.room_quotas import (
    COUNT,
    DISK,
    JOBS,
    LIVE_FOR_EACH,
    FullError,
    NoRoomError,
    QuotaError,
    bytes_of,
    check_disk,
)
from ranking.workspace.rooms import Rooms, new_name
from ranking.workspace.row_files import ROW
from ranking.workspace.store import Store

HOSTILE = ["", "short", "../../../etc", "a/../../b-long-enough", ".bundled", "ends-so-", "Capital-letters"]
HOSTILE += ["letters-é-beyond", "ends-in-newline\n", "nul\0inside-of-it", "x" * 65, "`touch /tmp/room`"]
TEACHER = "of-the-teacher"


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("patches") / "set"
    patches(folder)
    return folder


@pytest.fixture
def rooms(tmp_path: Path) -> Rooms:
    return Rooms(tmp_path / "server")


@pytest.fixture
def room(rooms: Rooms) -> Store:
    """Of a visitor."""
    return Store(rooms.make("room-of-anna"))


def answer(run_id: str, key: str = "k" * 8) -> AnswerEvent:
    return AnswerEvent(
        "0123456789abcdef" * 2, 1, key, "one", "day", "yes", run_id, "random", None, None, 0, 1.0
    )


def test_names_that_are_paths_are_refused_and_never_generated(rooms):
    before = sorted(rooms.home.rglob("*"))
    for name in HOSTILE:
        for act in (rooms.make, rooms.find, rooms.visit, rooms.remove):
            with refused("name of a workspace", f"{name[:80]!r}"):
                act(name)
    assert sorted(rooms.home.rglob("*")) == before
    generated = {new_name() for _ in range(200)}
    assert len(generated) == 200
    assert all(checked_room(name) == name for name in generated)


def test_two_first_visits_at_once_make_one_room(rooms):
    together = threading.Barrier(8, timeout=LONGEST)

    def enter(_: int) -> Path:
        together.wait()
        return Store(rooms.make("both-at-once")).home

    with ThreadPoolExecutor(8) as pool:
        homes = list(pool.map(enter, range(8)))
    assert homes == [rooms.find("both-at-once")] * 8
    assert [row.name for row in rooms.all()] == ["both-at-once"]


def test_a_data_folder_at_the_path_of_a_workspace_is_none(tmp_path):
    home = Store(tmp_path / "rooms" / "mine-alone").home
    assert not is_room(home)
    assert server_of(home) == home
    assert sorted(path.name for path in (tmp_path).iterdir()) == ["rooms"]


# --------------------------------------------------------------------------------------- isolation


def test_workspaces_cannot_read_each_other(rooms, room, pictures):
    mine, theirs, server = room, Store(rooms.make("room-of-bert")), Store(rooms.home)
    key = mine.adopt(pictures, "Patches")
    run = mine.create_run("train", {"set": key})
    draft = mine.create_run("import", {"source": "Patches", "source_settings": {}})
    mine.end_run(draft.id, "finished", result={"key": key, "title": "Patches", "images": 1, "problems": 0})
    mine.keep_edges(key, np.array([[0, 1]]))
    AnswerStore(mine.home).append([answer(run.id, key)])

    for store in (theirs, server):
        assert store.image_sets() == store.runs() == store.equal_runs("train", {"set": key}) == []
        assert AnswerStore(store.home).events(key) == list(store.edges.iterdir()) == []
        store.sweep()
    acts: list[Callable[[], Any]] = [lambda: theirs.image_set(key), lambda: theirs.thumbnails(key)]
    acts += [lambda act=act: act(run.id) for act in (theirs.run, theirs.delete_run, theirs.restore_run)]
    acts += [lambda: theirs.name_run(run.id, "stolen"), lambda: theirs.star_run(run.id)]
    acts += [lambda: jobs.poll(theirs, run.id), lambda: jobs.cancel(theirs, run.id)]
    for act in acts:
        with pytest.raises(InputError) as caught:
            act()
        assert caught.value.subject in ("run", "image set")
        assert caught.value.came in (f"{run.id!r}", f"{draft.id!r}", f"{key!r}")
        assert str(rooms.home) not in str(caught.value)
    assert mine.run(run.id) == run
    assert [each.id for each in mine.runs()] == [draft.id, run.id]
    assert mine.image_set(key).key == key


def test_errors_hide_the_folder_of_the_server(rooms, room):
    for database, called in (
        (Home(room.home), "this workspace"),
        (JobQueue(room.home), "the queue of this server"),
    ):
        with trouble(subject=called) as caught, database.read() as read:
            read.execute("select * from nowhere")
        assert str(rooms.home) not in str(caught.value)
    assert str(rooms.home) in Home(rooms.home).called


# ----------------------------------------------------------------------------------- what is lent


@pytest.fixture
def class_room(tmp_path: Path, pictures: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Of a teacher: a set, a finished training, one that failed, one that was deleted."""
    monkeypatch.setenv(CLASS_ROOM, TEACHER)
    store = Store(Rooms(tmp_path / "server").make(TEACHER))
    key = store.adopt(pictures, "Patches")
    load_features(store.image_set(key), (("Colour", {}),), store.features)
    for state in ("finished", "failed", "finished"):
        run = store.create_run("train", {"set": key, "features": [["Colour", {}]]})
        store.end_run(run.id, state)  # type: ignore[arg-type]
    store.delete_run(store.runs()[0].id)
    return store


def test_shared_sets_and_runs_are_listed_in_every_workspace_and_marked(rooms, class_room):
    finished = class_room.runs()[-1]
    key = class_room.image_sets()[0].key
    for name in ("room-of-anna", "room-of-bert"):
        room = Store(rooms.make(name))
        assert [(row.key, row.shared) for row in room.image_sets()] == [(key, True)]
        assert [(run.id, run.shared) for run in room.runs()] == [(finished.id, True)]
        assert room.run(finished.id).folder == finished.folder
        assert room.image_set(key).key == key
        assert room.equal_runs("train", finished.settings) == room.runs("train", key) == room.runs()
        assert room.runs(deleted=True) == room.own_runs() == room.runs(task="labels") == []
    assert [row.shared for row in class_room.image_sets()] == [False]


def test_an_open_workspace_sees_what_is_shared_later(rooms, room, pictures, monkeypatch):
    assert room.image_sets() == []
    bundled = Store(rooms.bundled)
    key = bundled.adopt(pictures, "Patches")
    monkeypatch.setenv(CLASS_ROOM, TEACHER)
    run = Store(Rooms(rooms.home).make(TEACHER)).create_run("train", {})
    assert [row.key for row in room.image_sets()] == [key]
    assert room.run(run.id).shared


def content(home: Path) -> dict[str, bytes]:
    """Everything below a home but what SQLite writes to read: its index of a log."""
    files = [file for file in home.rglob("*") if file.is_file() and not file.name.endswith(("-shm", "-wal"))]
    return {str(file.relative_to(home)): file.read_bytes() for file in files}


def test_shared_image_sets_and_runs_are_read_only(class_room, room):
    [run] = class_room.runs()[-1:]
    before, rows = content(class_room.home), class_room.runs()
    acts: list[Callable[[], Any]] = [lambda act=act: act(run.id) for act in (room.star_run, room.delete_run)]
    acts += [lambda: room.name_run(run.id, "ours"), lambda: room.update_run(run.id, state="failed")]
    acts += [lambda: room.restore_run(run.id), lambda: jobs.cancel(room, run.id)]
    for act in acts:
        with refused(f"training run {run.id}"):
            act()
    assert not room.end_run(run.id, "failed")
    room.empty_deleted()
    room.sweep()
    jobs.recover(room)
    AnswerStore(room.home).append([answer(run.id)])
    room.create_run("train", run.settings)
    assert class_room.runs() == rows
    assert content(class_room.home) == before
    for shared_home in room.shared_homes:
        with trouble(subject="the shared workspace"), shared_home.change():
            pytest.fail("a room changes the shared workspace")
        with shared_home.read() as database, pytest.raises(sqlite3.OperationalError) as denied:
            database.execute("delete from run")
        assert denied.value.sqlite_errorname == "SQLITE_READONLY"


def test_a_run_trains_on_a_shared_set_and_no_message_names_its_workspace(class_room, room):
    key = class_room.image_sets()[0].key
    columns = class_room.home / "sets" / key / "columns.npz"
    intact = columns.read_bytes()
    settings = {"set": key, "features": [["Colour", {}]], "query": "day", "method": "AP-SVM"}
    run = here(room, settings)
    assert (run.state, run.reason) == ("finished", "")
    assert run.folder.is_relative_to(room.home)
    columns.write_bytes(b"damaged")
    run = here(room, settings)
    assert (run.state, "the shared workspace" in run.reason) == ("failed", True)
    assert TEACHER not in run.reason
    columns.write_bytes(intact)
    os.rename(columns.parent, class_room.home / "elsewhere")
    with refused("image set Patches") as gone:
        room.image_set(key)
    assert TEACHER not in str(gone.value)
    (class_room.home / "ranking.sqlite").write_bytes(b"no database" * 1000)
    with trouble(subject="the shared workspace") as caught:
        room.runs()
    assert TEACHER not in str(caught.value)


def test_shared_features_are_neither_computed_nor_copied_again(class_room, room):
    [file] = class_room.features.iterdir()
    assert (room.features / file.name).samefile(file)
    assert bytes_of(room.features) == 0
    room.drop_features()
    assert file.exists()
    assert len(list(room.features.iterdir())) == 1, "linked once more"


def test_a_shared_experiment_is_complete_in_every_workspace(class_room, room):
    key = class_room.image_sets()[0].key
    parts = {"set": key, "features": [["Colour", {}]], "queries": ["day"], "methods": [["SVM", {}]]}
    settings = ExperimentSettings.from_json({**parts, "grids": {"C": [1.0]}, "folds": 2})
    here(class_room, settings.to_json(), "study")
    (_, done), (_, results) = (results_at_home(store, settings) for store in (class_room, room))
    assert repr(results.outcomes) == repr(done.outcomes)  # some figures are NaN
    assert set(results.outcomes) == set(results.keys)
    before = content(class_room.home)
    own, shared = (trials_of(store) for store in (class_room, room))
    for key_of_trial in results.keys.values():
        assert (own.scores(key_of_trial) == shared.scores(key_of_trial)).all()
    assert here(room, settings.to_json(), "study").result["done"] == len(results.keys)
    assert content(class_room.home) == before


# ----------------------------------------------------------------------------------- paths that visitors type


def test_workspaces_of_others_cannot_be_imported(rooms, room, pictures, tmp_path, monkeypatch):
    rest = Store(rooms.make("room-of-bert"))
    key = rest.adopt(pictures, "Patches")
    monkeypatch.setenv(FOLDERS, "/")
    (tmp_path / "link").symlink_to(rooms.home)
    hidden = [rooms.home, rooms.home / "rooms", rest.home / "sets" / key, tmp_path, "/", tmp_path / "link"]
    for folder in (*hidden, f"{room.home}/../room-of-bert"):
        with refused("path", f"{str(folder)!r}") as caught:
            check_source(room.home, [str(folder)])
        assert FOLDERS not in caught.value.expected, "it lies in a folder that the host has named"
    check_source(room.home, ["", str(pictures), str(tmp_path / "none")])
    check_source(rooms.home, [str(rooms.home)])
    monkeypatch.chdir(tmp_path)
    check_source(room.home, ["", " "])  # what is left empty is not the folder that the server was started in


def test_visitors_enter_paths_only_in_the_folders_that_the_host_allows(room, pictures, tmp_path, monkeypatch):
    def outside(path: str) -> str:
        with refused("path", f"{path!r}") as caught:
            check_source(room.home, [path])
        assert FOLDERS in caught.value.expected
        return caught.value.expected

    assert str(tmp_path) not in outside(str(pictures))
    named, link = tmp_path / "for all", tmp_path / "link"
    named.mkdir()
    (named / "out").symlink_to(pictures)
    link.symlink_to(named)
    monkeypatch.setenv(FOLDERS, f"/nowhere:{link}")
    check_source(room.home, [str(named), str(link / "x.zip"), ""])
    paths = [pictures, named / "out", named / "..", "~nobody-there/x", "nul\0", "data", "/none"]
    for path in map(str, paths):
        assert f"(/nowhere, {named})" in outside(path)
    check_source(tmp_path / "own", [str(pictures)])


def test_imports_read_only_the_folders_that_the_host_allows(room, pictures, tmp_path, monkeypatch):
    progress, key = Report(tmp_path / "events").progress, room.adopt(pictures, "Patches")
    run = room.create_run("import", ImportSettings("Corel5k", {"file": str(pictures / "x.npz")}).to_json())
    with refused("path"):
        next(steps_of(room, run, progress))
    file = tmp_path / "named" / "features.npy"
    file.parent.mkdir()
    np.save(file, np.random.default_rng(0).standard_normal((len(room.image_set(key)), 3)))
    run = room.create_run("import", FeaturesSettings(key, str(file)).to_json())
    with refused("path"):
        next(steps_of(room, run, progress))
    monkeypatch.setenv(FOLDERS, str(file.parent))
    assert next(steps_of(room, run, progress)).reading["columns"] == 3


def test_every_path_among_the_settings_of_sources_is_known(monkeypatch):
    opened, called, expanded = set[str](), set[str](), Path.expanduser

    def note(path: Path) -> Path:
        opened.add(path.name)
        return expanded(path)

    monkeypatch.setattr(Path, "expanduser", note)
    for source in source_names():
        for setting in settings_of(source_class(source)):
            if setting.kind is not str:
                continue
            if re.search("file|folder", setting.label, re.IGNORECASE):
                called.add(setting.name)
            if not setting.choices:
                made = make_source(source, **{setting.name: f"/nowhere/{setting.name}"})
                with contextlib.suppress(ValueError):
                    list(made.records())
    assert {"folder", "file"} <= opened <= {*PATHS, ""}
    assert called == set(PATHS), "also those that are opened after others"


# ------------------------------------------------------------------------------------------- quotas


def test_a_full_workspace_refuses_more_and_says_what_fills_it(rooms, room, pictures, monkeypatch):
    draft = room.create_run("import", {"source": "x", "source_settings": {}})
    room.end_run(draft.id, "finished", result={"key": "k" * 8, "title": "x"})
    (room.home / "runs" / "large").write_bytes(bytes(1_000_000))
    monkeypatch.setenv(DISK, "1000000")
    acts: list[Callable[[], Any]] = [lambda: room.create_run("train", {}), lambda: room.adopt(pictures, "x")]
    for act in acts:
        with trouble(FullError, "this workspace", " MB of 1 MB"):
            act()
    with trouble(FullError, why="and 3 MB more would exceed the limit"):
        check_disk(Store(rooms.make("room-of-carl")).home, 3_000_000)
    assert [run.id for run in room.runs()] == [draft.id]
    Store(rooms.make("room-of-bert")).create_run("train", {})
    Store(rooms.home).create_run("train", {})


@pytest.mark.parametrize("kind", ["train", "study"])
def test_features_are_computed_only_where_their_room_has_space_for_them(room, pictures, monkeypatch, kind):
    """When the training was asked for the room was not full."""
    key, features = room.adopt(pictures, "Patches"), (("HOG", {}),)
    query, size = room.image_set(key).classes[0], 4 * len(room.image_set(key)) * make_feature("HOG").size
    settings: Any = TrainSettings(key, features, query, "SVM")
    if kind == "study":
        svm = (("SVM", {}),)
        settings = ExperimentSettings(key, features, svm, (query,), folds=2, grids={"C": (1.0,)})
    monkeypatch.setenv(DISK, str(bytes_of(room.home) + size // 2))
    run = here(room, settings.to_json(), kind)
    assert (run.state, run.reason.startswith("this workspace ")) == ("failed", True)
    assert list(room.features.iterdir()) == []
    monkeypatch.setenv(DISK, str(bytes_of(room.home) + 10_000_000))
    assert here(room, settings.to_json(), kind).state in ("finished", "cancelled")
    assert len(list(room.features.glob("*.npy"))) == 1
    files = {file.stat().st_size for file in room.features.iterdir()}
    assert max(files) - size in range(64, 257), "a header besides the numbers"


def test_what_features_will_be_computed(room, pictures, monkeypatch):
    images = room.image_set(room.adopt(pictures, "Patches"))
    parts: list[tuple[str, dict[str, Any]]] = [("HOG", {}), ("Colour", {})]
    sizes = [4 * len(images) * make_feature(name).size for name, _ in parts]
    assert to_compute(images, parts, room.features) == ("HOG and Colour", sum(sizes))
    load_features(images, parts[:1], room.features)
    assert to_compute(images, parts, room.features) == ("Colour", sizes[1])
    monkeypatch.setattr(matrix_files, "LARGE", 1)
    assert to_compute(images, parts, room.features) == ("Colour", sizes[1] + sum(sizes)), "and side by side"
    load_features(images, parts, room.features)
    assert to_compute(images, parts, room.features) == ("", 0)


def test_running_imports_and_training_runs_of_a_workspace_are_limited(rooms, room, monkeypatch):
    monkeypatch.setenv(JOBS, "1")
    held, home = Held(), Store(rooms.home)
    for kind, most in (("import", 1), ("train", LIVE_FOR_EACH)):
        runs = [held(room, kind) for _ in range(most)]
        with trouble(QuotaError, why=f"already has {most} "):
            held(room, kind)
    held.let_die(runs[0])
    held(room)
    for _ in range(LIVE_FOR_EACH + 1):
        held(home)
    held.let_die()


def test_a_quota_that_is_no_number_is_refused(room, monkeypatch):
    for text in ("0", "-1", "2 GB"):
        for variable, act in ((DISK, lambda: room.create_run("train", {})),):
            with monkeypatch.context() as patch:
                patch.setenv(variable, text)
                with trouble(subject=variable, why=f"{text!r}"):
                    act()


def test_a_full_room_counts_what_its_sets_take_until_they_are_removed(room, pictures, monkeypatch):
    key = room.adopt(pictures, "Patches")
    taken = room.bytes_of_set(key)
    row = (room.home / "sets" / key / ROW).stat().st_size
    assert taken == row + sum(file.stat().st_size for file in pictures.rglob("*") if file.is_file())
    monkeypatch.setenv(DISK, f"{taken}")
    for act in (lambda: room.delete_set(key), lambda: None):
        act()
        with pytest.raises(FullError):
            room.create_run("train", {})
    room.empty_deleted_sets()
    assert room.bytes_of_set(key) == 0
    room.create_run("train", {})


def test_a_server_has_so_many_rooms_and_says_so(rooms, monkeypatch):
    monkeypatch.setenv(COUNT, "2")
    for name in ("room-of-anna", "room-of-bert"):
        Store(rooms.make(name)).create_run("train", {})
    with trouble(NoRoomError, "this server", "its limit of 2 workspaces") as caught:
        rooms.make("room-of-carl")
    assert COUNT in caught.value.remedy
    assert rooms.find("room-of-carl") is None
    rooms.make("room-of-anna")
    assert rooms.bundled.is_dir()
    monkeypatch.setenv(CLASS_ROOM, TEACHER)
    assert Rooms(rooms.home).find(TEACHER) is not None, "the host's own always has its place"
    for name in ("room-of-anna", "room-of-bert"):
        rooms.remove(name)
    rooms.make("room-of-carl")


def test_empty_workspaces_are_removed_to_make_new_ones(rooms, pictures, monkeypatch):
    """Each visit to the bare address begins one; of those that give their place up, that visited longest ago goes."""
    monkeypatch.setenv(COUNT, "6")
    kept = ("room-with-set", "room-with-run", "room-with-answer")
    Store(rooms.make(kept[0])).adopt(pictures, "Patches")
    run = Store(rooms.make(kept[1])).create_run("train", {"set": "0123456789"})
    AnswerStore(rooms.make(kept[2])).append([answer(run.id)])
    imports = Store(rooms.make("room-of-imports"))
    for state in ("failed", "cancelled"):
        imports.end_run(imports.create_run("import", {}).id, state)
    rooms.make("only-looked-into")
    rooms.make("looked-into-later")
    for age, name in enumerate(("looked-into-later", "only-looked-into", "room-of-imports", *kept)):
        os.utime(rooms.home / "rooms" / name / MARK, (time.time(), time.time() - 10 - age))
    left = {*kept, "only-looked-into", "looked-into-later"}
    for gone, new in (("room-of-imports", "room-of-carl"), ("only-looked-into", "room-of-dora")):
        rooms.make(new)
        left = left - {gone} | {new}
        assert {row.name for row in rooms.all()} == left
        Store(rooms.make(new)).adopt(pictures, "Patches")
    rooms.make("room-of-emil")
    Store(rooms.make("room-of-emil")).create_run("import", {})  # it waits for its turn
    with pytest.raises(NoRoomError):
        rooms.make("room-of-fred")
    assert Store(rooms.make(kept[1])).run(run.id).state == "queued"


def folders_of(rooms: Rooms) -> set[str]:
    """The names of all folders of rooms; those that are being made or removed are empty."""
    folder = rooms.home / "rooms"
    assert [*folder.glob(".making/*"), *folder.glob(".gone/*")] == []
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def unvisited(rooms: Rooms, days: float, *names: str) -> None:
    """Have nobody been in some rooms for so many days."""
    for name in names:
        os.utime(rooms.home / "rooms" / name / MARK, (0, time.time() - days * DAY))


def with_import(store: Store, **settings: Any) -> Store:
    """With a finished import whose image set was deleted."""
    run = store.create_run("import", {"source": "Patches", "source_settings": {}, **settings})
    store.end_run(run.id, "finished", result={"key": "k" * 8, "title": "x"})
    return store


def with_training(store: Store) -> Store:
    run = store.create_run("train", {"set": "x"})
    store.end_run(run.id, "finished", result={"test": {}})
    store.star_run(run.id)
    return store


def with_answer(store: Store) -> Store:
    AnswerStore(store.home).append([answer("r" * 10)])
    return store


def with_correction(store: Store) -> Store:
    CorrectionStore(store.home).mark("k" * 8, "day", {"one": False}, True)
    return store


@pytest.mark.parametrize(
    ("make", "opened", "days"),
    [
        (lambda store: store, 2, EMPTY),
        (with_import, 2, EMPTY),
        (with_training, 1, USED),
        (with_answer, 1, USED),
        (with_correction, 1, USED),
        (lambda store: store.adopt(store.home.parent / "patches", "Patches"), 1, USED),
    ],
)
def test_how_long_a_room_keeps_its_place(rooms, pictures, monkeypatch, make, opened, days):
    monkeypatch.setenv(COUNT, "1")
    store = Store(rooms.make("room-of-anna"))
    shutil.copytree(pictures, store.home.parent / "patches")
    make(store)
    for _ in range(opened):
        rooms.visit("room-of-anna", opens=True)
        rooms.visit("room-of-anna")
    if days:
        unvisited(rooms, days - 0.01, "room-of-anna")
        with pytest.raises(NoRoomError):
            rooms.make("room-of-bert")
    unvisited(rooms, days + 0.01, "room-of-anna")
    rooms.make("room-of-bert")
    assert {row.name for row in rooms.all()} == {"room-of-bert"}


def test_an_empty_room_goes_before_one_that_was_left_long_ago(rooms, monkeypatch):
    monkeypatch.setenv(COUNT, "2")
    with_training(Store(rooms.make("room-of-anna")))
    rooms.make("room-of-bert")
    unvisited(rooms, 400, "room-of-anna")
    for gone, new in (("room-of-bert", "room-of-carl"), ("room-of-anna", "room-of-dora")):
        rooms.make(new)
        assert rooms.find(gone) is None
        with_training(Store(rooms.home / "rooms" / new))


def test_simultaneous_first_visits_get_their_workspaces(rooms, monkeypatch):
    most = 12
    monkeypatch.setenv(COUNT, str(most))
    monkeypatch.setenv(CLASS_ROOM, TEACHER)
    kept = with_training(Store(Rooms(rooms.home).make("room-of-anna"))).home

    def come(_: int) -> str:
        visitor = Store(Rooms(rooms.home).make(new_name()))
        visitor.end_run(visitor.create_run("import", {}).id, "failed", "no such folder")
        return "came"

    for name in (new_name() for _ in range(most)):
        Home(rooms.home / "rooms" / name)  # half made, or left behind by who was in it when it went
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(come, range(60))) == ["came"] * 60
    rooms.make("room-of-bert")
    assert len(rooms.all()) == most
    assert folders_of(rooms) == {row.name for row in rooms.all()} >= {TEACHER, kept.name}


def test_a_room_that_was_put_back_by_hand_is_not_swept_away(rooms):
    home = with_training(Store(rooms.make("room-of-anna"))).home
    (home / MARK).unlink()
    rooms.make("room-of-bert")
    assert len(Store(rooms.make("room-of-anna")).own_runs()) == 1


def test_the_reason_why_workspaces_cannot_be_made_has_no_path(rooms, monkeypatch):
    rooms.make("room-of-anna")
    shutil.rmtree(rooms.home / "rooms")
    (rooms.home / "rooms").write_text("no folder")
    with trouble(subject="the workspaces of this server") as caught:
        rooms.make("room-of-bert")
    assert str(rooms.home) not in str(caught.value)


DAMAGE: list[Callable[[Path], Any]] = [
    lambda home: (home / "ranking.sqlite").write_bytes(os.urandom(5000)),
    lambda home: ((home / "ranking.sqlite").unlink(), (home / "runs" / "one").mkdir()),
    lambda home: (shutil.rmtree(home / "sets"), (home / "sets").write_text("")),
    lambda home: (home / "ranking.sqlite").write_bytes(b""),
]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_workspace_stays_and_others_can_be_made(rooms, monkeypatch, damage):
    monkeypatch.setenv(COUNT, "3")
    damaged = with_training(Store(rooms.make("room-of-anna"))).home
    for log in damaged.glob("ranking.sqlite-*"):
        log.unlink()
    damage(damaged)
    unvisited(rooms, 400, damaged.name)
    for name in ("room-of-bert", "room-of-carl", "room-of-dora", "room-of-emil"):
        rooms.make(name)
    assert {row.name for row in rooms.all()} == {damaged.name, "room-of-dora", "room-of-emil"}
    assert {row.name: row.damaged for row in rooms.all()}[damaged.name]
    assert not rooms.unused_for(1)
    assert rooms.make(damaged.name) == damaged
    rooms.remove(damaged.name)
    assert rooms.find(damaged.name) is None


def test_an_unreadable_workspace_stays_and_others_can_be_made(rooms, monkeypatch):
    monkeypatch.setenv(COUNT, "2")
    closed = rooms.make("room-of-anna")
    stat = os.stat

    def refuse(path, *arguments, **settings):
        if isinstance(path, Path) and path.is_relative_to(closed) and path != closed:
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, *arguments, **settings)

    monkeypatch.setattr(os, "stat", refuse)
    for name in ("room-of-bert", "room-of-carl"):
        rooms.make(name)
    assert {row.name: row.damaged for row in rooms.all()} == {closed.name: True, "room-of-carl": False}


def test_with_a_damaged_shared_workspace_others_can_be_made(rooms, class_room):
    (class_room.home / "ranking.sqlite").write_bytes(b"no database" * 1000)
    assert Rooms(rooms.home).make("room-of-anna").is_dir()
    assert {row.name: row.damaged for row in rooms.all()} == {TEACHER: True, "room-of-anna": False}


def test_the_shared_workspace_stays(rooms, pictures, monkeypatch):
    monkeypatch.setenv(CLASS_ROOM, TEACHER)
    monkeypatch.setenv(COUNT, "2")
    rooms = Rooms(rooms.home)
    os.utime(rooms.home / "rooms" / TEACHER / MARK, (0, 0))
    for name in ("room-of-anna", "room-of-berta", "room-of-carl"):
        rooms.make(name)
        assert {row.name for row in rooms.all()} == {TEACHER, name}


def test_after_a_thousand_visits_with_a_failed_import_workspaces_can_be_made(rooms, monkeypatch):
    monkeypatch.setenv(COUNT, "5")
    for _ in range(1000):
        visitor = Store(rooms.make(new_name()))
        visitor.end_run(visitor.create_run("import", {}).id, "failed", "no such folder")
    assert rooms.make("room-of-anna").is_dir()


def without_runs(store: Store) -> Store:
    for run in store.runs():
        store.delete_run(run.id)
    store.empty_deleted()
    return store


def test_a_shared_set_stays_while_other_workspaces_have_runs_on_it(class_room, room):
    [row] = without_runs(class_room).image_sets()
    run = room.create_run("train", {"set": row.key})
    room.end_run(run.id, "finished")
    for act in (lambda: None, lambda: room.delete_run(run.id)):
        act()
        with refused("image set") as caught:
            class_room.delete_set(row.key)
        assert re.findall(r"\d+ \w+", str(caught.value.came)) == ["1 run", "1 other"]
    assert class_room.image_sets() == [row]
    room.empty_deleted()
    class_room.delete_set(row.key)
    assert room.image_sets() == []


def test_an_own_set_hides_the_same_shared_one_which_may_be_deleted(class_room, room, pictures):
    key = room.adopt(pictures, "Own")
    room.create_run("train", {"set": key})
    assert room.home_of_set(key) == room.home
    for change in (lambda: None, lambda: without_runs(class_room).delete_set(key)):
        change()
        assert [(row.source, row.shared) for row in room.image_sets()] == [("Own", False)]


def test_corrections_of_a_shared_set_belong_to_the_workspace(class_room, room):
    [row] = room.image_sets()
    assert row.shared
    folder = class_room.home / "sets" / row.key
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert CorrectionStore(room.home).mark(row.key, "day", {"one": False}, True) == 1
    assert list(CorrectionStore(room.home).standing(row.key, "day")) == ["one"]
    assert CorrectionStore(class_room.home).standing(row.key, "day") == {}
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


# -------------------------------------------------------------------------------- list and remove


def test_rooms_are_listed_and_removed(rooms, pictures):
    for age, name in enumerate(("room-of-anna", "room-of-bert", "room-of-carl")):
        Store(rooms.make(name))
        os.utime(rooms.home / "rooms" / name / MARK, (1e9, 1e9 - age))
    anna = Store(rooms.make("room-of-anna"))
    anna.adopt(pictures, "Patches")
    anna.create_run("train", {})
    listed = rooms.all()
    assert [row.name for row in listed] == ["room-of-anna", "room-of-bert", "room-of-carl"]
    assert [(row.sets, row.runs) for row in listed] == [(1, 1), (0, 0), (0, 0)]
    assert listed[0].bytes > listed[1].bytes
    rooms.visit("room-of-carl")
    assert [row.name for row in rooms.unused_for(1)] == ["room-of-anna", "room-of-bert"]
    rooms.remove("room-of-anna")
    assert rooms.find("room-of-anna") is None
    assert [row.name for row in rooms.all()] == ["room-of-carl", "room-of-bert"]
    assert folders_of(rooms) == {"room-of-carl", "room-of-bert"}
    with refused("workspace", "room-of-anna"):
        rooms.remove("room-of-anna")


def test_a_room_with_running_work_is_not_removed(rooms, room):
    held = Held()
    held(room)
    with refused("workspace room-of-anna", 1):
        rooms.remove("room-of-anna")
    held.let_die()
    rooms.remove("room-of-anna")
