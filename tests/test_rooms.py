from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from labelled_pictures import patches
from PIL import Image

from ranking import jobs, worker
from ranking.answers import AnswerEvent, AnswerStore
from ranking.datasets import make_source, source_class, source_names
from ranking.events import Report
from ranking.experiments.at_home import cells_of, experiment_at_home, results_at_home
from ranking.features import load_features, make_feature, matrix_files
from ranking.features.extract import to_compute
from ranking.home import Home, HomeError
from ranking.job_queue import JobQueue
from ranking.room_layout import CLASS_ROOM, FOLDERS, MARK, check_source, checked_room, is_room, server_of
from ranking.room_quotas import (
    COUNT,
    DEFAULT_DISK,
    DEFAULT_STATES,
    DISK,
    JOBS,
    LIVE_FOR_EACH,
    STATES,
    DiskWatch,
    FullError,
    NoRoomError,
    QuotaError,
    bytes_of,
    most_states,
)
from ranking.rooms import Rooms, new_name
from ranking.run import Run
from ranking.run_archive import import_run_apart
from ranking.run_settings import ExperimentSettings, FeaturesSettings, ImportSettings, TrainSettings
from ranking.settings import settings_of
from ranking.store import Store
from ranking.worker import PATHS, import_images, look_at_features

HOSTILE = (
    "",
    "short",
    "..",
    "../../../etc",
    "a/../../b-long-enough",
    ".bundled",
    "-begins-so",
    "ends-so-",
    "Capital-letters",
    "with space in it",
    "letters-é-beyond",
    "new\nline-in-it",
    "ends-in-newline\n",
    "nul\0inside-of-it",
    "x" * 65,
    "C:\\windows\\room",
    "`touch /tmp/room`",
)
SHA = "0123456789abcdef" * 2


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("patches") / "set"
    patches(folder)
    return folder


@pytest.fixture
def rooms(tmp_path: Path) -> Rooms:
    return Rooms(tmp_path / "server")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_could_be_more_than_a_name_is_refused(rooms: Rooms, name: str) -> None:
    before = sorted(rooms.home.rglob("*"))
    for act in (rooms.make, rooms.find, rooms.visit, rooms.remove):
        with pytest.raises(ValueError, match="the name of a room must have 8 to 64"):
            act(name)
    assert sorted(rooms.home.rglob("*")) == before


def test_names_that_are_drawn_are_names_and_differ() -> None:
    drawn = {new_name() for _ in range(200)}
    assert len(drawn) == 200
    assert all(checked_room(name) == name for name in drawn)


def test_two_first_visits_at_once_make_one_room(rooms: Rooms) -> None:
    start, found = threading.Barrier(8), list[Path]()

    def enter() -> None:
        start.wait()
        found.append(Store(rooms.make("both-at-once")).home)

    threads = [threading.Thread(target=enter) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [rooms.find("both-at-once")] * 8
    assert [row.name for row in rooms.all()] == ["both-at-once"]


def test_a_home_that_lies_where_a_room_would_is_none(tmp_path: Path) -> None:
    home = Store(tmp_path / "rooms" / "mine-alone").home
    assert not is_room(home)
    assert server_of(home) == home
    assert sorted(path.name for path in (tmp_path).iterdir()) == ["rooms"]


# --------------------------------------------------------------------------------------- isolation


def test_nothing_of_one_room_is_found_in_another(rooms: Rooms, pictures: Path) -> None:
    mine, theirs = (Store(rooms.make(f"room-of-{name}")) for name in ("anna", "bert"))
    key = mine.adopt(pictures, "Patches")
    run = mine.create_run("train", {"set": key})
    draft = mine.create_run("import", {"source": "Patches", "source_settings": {}})
    mine.end_run(draft.id, "finished", result={"key": key, "title": "Patches", "images": 1, "problems": 0})
    mine.keep_edges(key, mine.image_set(key).boxes[:0, :2].reshape(0, 2).astype("int64"))
    event = AnswerEvent(SHA, 1, key, "one", "day", "yes", run.id, "random", None, None, 0, 1.0)
    AnswerStore(mine.home).append([event])

    assert theirs.image_sets() == theirs.runs() == theirs.equal_runs("train", {"set": key}) == []
    assert AnswerStore(theirs.home).events(key) == []
    assert list(theirs.edges.iterdir()) == []
    acts: list[Callable[[], Any]] = [lambda: theirs.image_set(key), lambda: theirs.thumbnails(key)]
    acts += [lambda act=act: act(run.id) for act in (theirs.run, theirs.delete_run, theirs.restore_run)]
    acts += [lambda: theirs.name_run(run.id, "stolen"), lambda: theirs.star_run(run.id)]
    acts += [lambda: theirs.keep(draft.id), lambda: theirs.discard(draft.id)]
    acts += [lambda: jobs.poll(theirs, run.id), lambda: jobs.cancel(theirs, run.id)]
    for act in acts:
        with pytest.raises(ValueError, match="there is no"):
            act()
    assert mine.run(run.id) == run
    assert [one.id for one in mine.runs()] == [draft.id, run.id]


def test_a_server_s_own_home_and_its_rooms_do_not_see_each_other(rooms: Rooms, pictures: Path) -> None:
    server, room = Store(rooms.home), Store(rooms.make("room-of-anna"))
    key = server.adopt(pictures, "Patches")
    run = room.create_run("train", {"set": key})
    assert room.image_sets() == []
    assert server.runs() == []
    server.sweep()
    assert room.run(run.id) == run


# ----------------------------------------------------------------------------------- what is lent


@pytest.fixture
def class_room(tmp_path: Path, pictures: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Of a teacher: a set, a finished training, one that failed, one that was deleted."""
    monkeypatch.setenv(CLASS_ROOM, "of-the-teacher")
    store = Store(Rooms(tmp_path / "server").make("of-the-teacher"))
    key = store.adopt(pictures, "Patches")
    load_features(store.image_set(key), (("Colour", {}),), store.features)
    for state in ("finished", "failed", "finished"):
        run = store.create_run("train", {"set": key, "features": [["Colour", {}]]})
        store.end_run(run.id, state)  # type: ignore[arg-type]
    store.delete_run(store.runs()[0].id)
    return store


def test_what_the_class_room_holds_is_listed_in_every_room_and_marked(
    rooms: Rooms, class_room: Store
) -> None:
    finished = class_room.runs()[-1]
    key = class_room.image_sets()[0].key
    for name in ("room-of-anna", "room-of-bert"):
        room = Store(rooms.make(name))
        assert [(row.key, row.lent) for row in room.image_sets()] == [(key, True)]
        assert [(run.id, run.lent) for run in room.runs()] == [(finished.id, True)]
        assert room.run(finished.id).folder == finished.folder
        assert room.image_set(key).key == key
        assert room.equal_runs("train", finished.settings) == room.runs("train", key) == room.runs()
        assert room.runs(deleted=True) == room.own_runs() == room.runs("label") == []
    assert [row.lent for row in class_room.image_sets()] == [False]


def test_a_room_s_own_set_goes_before_the_same_one_that_is_lent(
    rooms: Rooms, class_room: Store, pictures: Path
) -> None:
    room = Store(rooms.make("room-of-anna"))
    key = room.adopt(pictures, "Own")
    assert [(row.source, row.lent) for row in room.image_sets()] == [("Own", False)]
    assert room.home_of_set(key) == room.home


def test_a_room_that_is_open_already_is_lent_what_comes_later(
    rooms: Rooms, pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = Store(rooms.make("room-of-anna"))
    assert room.image_sets() == []
    bundled = Store(rooms.bundled)
    key = bundled.adopt(pictures, "Patches")
    monkeypatch.setenv(CLASS_ROOM, "of-the-teacher")
    run = Store(Rooms(rooms.home).make("of-the-teacher")).create_run("train", {})
    assert [row.key for row in room.image_sets()] == [key]
    assert room.run(run.id).lent


def content(home: Path) -> dict[str, bytes]:
    """Everything below a home but what SQLite writes to read: its index of a log."""
    files = [file for file in home.rglob("*") if file.is_file() and not file.name.endswith(("-shm", "-wal"))]
    return {str(file.relative_to(home)): file.read_bytes() for file in files}


def test_nothing_that_is_lent_can_be_changed(rooms: Rooms, class_room: Store) -> None:
    room, [run] = Store(rooms.make("room-of-anna")), class_room.runs()[-1:]
    before, rows = content(class_room.home), class_room.runs()
    acts: list[Callable[[], Any]] = [lambda act=act: act(run.id) for act in (room.star_run, room.delete_run)]
    acts += [lambda: room.name_run(run.id, "ours"), lambda: room.update_run(run.id, state="failed")]
    acts += [lambda: room.restore_run(run.id), lambda: jobs.cancel(room, run.id)]
    for act in acts:
        with pytest.raises(ValueError, match="is of the class workspace, which can only be looked at"):
            act()
    assert not room.end_run(run.id, "failed")
    room.empty_deleted()
    room.sweep()
    jobs.recover(room)
    AnswerStore(room.home).append(
        [AnswerEvent(SHA, 1, "k" * 8, "one", "day", "yes", run.id, "random", None, None, 0, 1.0)]
    )
    room.create_run("train", run.settings)
    assert class_room.runs() == rows
    assert content(class_room.home) == before
    for lender in room._lenders:
        with pytest.raises(HomeError, match="the class workspace can only be looked at"):
            lender.create_run("train", {})
        with lender._home.read() as database, pytest.raises(sqlite3.OperationalError, match="readonly"):
            database.execute("delete from run")


def test_no_message_tells_the_name_of_the_class_room(rooms: Rooms, class_room: Store) -> None:
    room, key = Store(rooms.make("room-of-anna")), class_room.image_sets()[0].key
    os.rename(class_room.home / "sets" / key, class_room.home / "elsewhere")
    with pytest.raises(ValueError, match="are gone") as told:
        room.image_set(key)
    assert "of-the-teacher" not in str(told.value)
    (class_room.home / "ranking.sqlite").write_bytes(b"no database" * 1000)
    with pytest.raises(HomeError, match="cannot use the class workspace") as told:
        room.runs()
    assert "of-the-teacher" not in str(told.value)


def test_no_message_of_a_store_tells_a_visitor_where_the_room_lies(rooms: Rooms) -> None:
    room = Store(rooms.make("room-of-anna"))
    for ask in (lambda: room.run("aaaaaaaaaa"), lambda: room.image_set("0" * 64)):
        with pytest.raises(ValueError, match="in this room; ") as told:
            ask()
        assert str(rooms.home) not in str(told.value)


def test_what_fails_in_a_lent_file_does_not_tell_it_either(rooms: Rooms, class_room: Store) -> None:
    room, key = Store(rooms.make("room-of-anna")), class_room.image_sets()[0].key
    (class_room.home / "sets" / key / "columns.npz").write_bytes(b"damaged")
    settings = {"set": key, "features": [["Colour", {}]], "query": "day", "method": "AP-SVM"}
    run = jobs.start(room, "train", settings)
    while jobs.poll(room, run.id).state in ("queued", "running"):
        threading.Event().wait(0.05)
    assert (room.run(run.id).state, "the class workspace" in room.run(run.id).reason) == ("failed", True)
    assert "of-the-teacher" not in room.run(run.id).reason


def test_features_that_are_lent_are_neither_computed_nor_copied_again(
    rooms: Rooms, class_room: Store
) -> None:
    room = Store(rooms.make("room-of-anna"))
    [file] = class_room.features.iterdir()
    assert (room.features / file.name).samefile(file)
    assert bytes_of(room.features) == 0
    room.drop_features()
    assert file.exists()
    assert len(list(room.features.iterdir())) == 1, "linked once more"


def test_a_training_in_a_room_works_on_a_set_that_is_lent(rooms: Rooms, class_room: Store) -> None:
    room, key = Store(rooms.make("room-of-anna")), class_room.image_sets()[0].key
    settings = {"set": key, "features": [["Colour", {}]], "query": "day", "method": "AP-SVM"}
    run = jobs.start(room, "train", settings)
    while jobs.poll(room, run.id).state in ("queued", "running"):
        threading.Event().wait(0.05)
    ended = room.run(run.id)
    assert (ended.state, ended.reason) == ("finished", "")
    assert ended.folder.is_relative_to(room.home)


def test_an_experiment_of_the_class_room_is_whole_in_every_room(rooms: Rooms, class_room: Store) -> None:
    key, room = class_room.image_sets()[0].key, Store(rooms.make("room-of-anna"))
    told = {"set": key, "features": [["Colour", {}]], "queries": ["day"], "methods": [["SVM", {}]]}
    settings = ExperimentSettings.from_json({**told, "grids": {"C": [1.0]}, "folds": 2})
    experiment_at_home(class_room, settings, lambda progress: None)
    (_, done), (_, results) = (results_at_home(store, settings) for store in (class_room, room))
    assert repr(results.outcomes) == repr(done.outcomes)  # some figures are NaN
    assert set(results.outcomes) == set(results.keys)
    before = content(class_room.home)
    own, lent = (cells_of(store) for store in (class_room, room))
    for key_of_cell in results.keys.values():
        assert (own.scores(key_of_cell) == lent.scores(key_of_cell)).all()
    experiment_at_home(room, settings, lambda progress: None)
    assert content(class_room.home) == before


def test_nobody_imports_the_rooms_of_others(
    rooms: Rooms, pictures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, other = Store(rooms.make("room-of-anna")), Store(rooms.make("room-of-bert"))
    key = other.adopt(pictures, "Patches")
    monkeypatch.setenv(FOLDERS, "/")
    (tmp_path / "link").symlink_to(rooms.home)
    hidden = [
        rooms.home,
        rooms.home / "rooms",
        other.home / "sets" / key,
        tmp_path,
        Path("/"),
        tmp_path / "link",
    ]
    hidden += [Path(f"{room.home}/../room-of-bert")]
    for folder in hidden:
        with pytest.raises(
            ValueError, match="keeps the work of its visitors; type the path of a folder or file"
        ):
            check_source(room.home, [str(folder)])
    check_source(room.home, ["", str(pictures), str(tmp_path / "none")])
    check_source(rooms.home, [str(rooms.home)])
    monkeypatch.chdir(tmp_path)
    check_source(room.home, ["", " "])  # what is left empty is not the folder that the server was started in
    run = jobs.start(room, "import", {"source": "PASCAL VOC", "source_settings": {"folder": str(other.home)}})
    while jobs.poll(room, run.id).state in ("queued", "running"):
        threading.Event().wait(0.05)
    assert "keeps the work of its visitors" in room.run(run.id).reason


def test_a_visitor_types_paths_in_folders_that_the_host_has_named_alone(
    rooms: Rooms, pictures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, link = Store(rooms.make("room-of-anna")), tmp_path / "link"
    with pytest.raises(ValueError, match="has named, which has named none"):
        check_source(room.home, [str(pictures)])
    named = tmp_path / "for all"
    named.mkdir()
    (named / "out").symlink_to(pictures)
    link.symlink_to(named)
    monkeypatch.setenv(FOLDERS, f"/nowhere:{link}")
    check_source(room.home, [str(named), str(link / "x.zip"), ""])
    outside = [
        str(pictures),
        str(named / "out"),
        str(named / ".."),
        "~nobody-there/x",
        "nul\0",
        "data",
        "/none",
    ]
    for text in outside:
        with pytest.raises(
            ValueError, match="lies in no folder that the host of this server has named; those are"
        ):
            check_source(room.home, [text])
    run = room.create_run("import", ImportSettings("Corel5k", {"file": str(pictures / "x.npz")}).to_json())
    with pytest.raises(ValueError, match="lies in no folder"):
        import_images(room, run, Report(tmp_path / "events"))
    check_source(tmp_path / "own", [str(pictures)])


def test_every_setting_of_a_source_that_is_a_path_is_known_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    opened, expanded = set[str](), Path.expanduser

    def note(path: Path) -> Path:
        opened.add(path.name)
        return expanded(path)

    monkeypatch.setattr(Path, "expanduser", note)
    for source in source_names():
        for setting in settings_of(source_class(source)):
            if setting.kind is str and not setting.choices:
                made = make_source(source, **{setting.name: f"/nowhere/{setting.name}"})
                with contextlib.suppress(ValueError):
                    list(made.records())
    assert {"folder", "file"} <= opened <= {*PATHS, ""}
    called = {
        setting.name
        for source in source_names()
        for setting in settings_of(source_class(source))
        if setting.kind is str and re.search("file|folder", setting.label, re.IGNORECASE)
    }
    assert called == set(PATHS), "also those that are opened after others"


def test_a_visitor_is_not_told_where_the_server_keeps_its_rooms(rooms: Rooms) -> None:
    room = rooms.make("room-of-anna")
    for database, called in ((Home(room), "this room"), (JobQueue(room), "the queue of this server")):
        with (
            pytest.raises(HomeError, match=f"^cannot use {called}: no such table") as told,
            database.read() as read,
        ):
            read.execute("select * from nowhere")
        assert str(rooms.home) not in str(told.value)
    assert str(rooms.home) in Home(rooms.home).called


def test_features_are_read_in_folders_that_the_host_has_named_alone(
    rooms: Rooms, pictures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = Store(rooms.make("room-of-anna"))
    key = room.adopt(pictures, "Patches")
    file = tmp_path / "named" / "features.npy"
    file.parent.mkdir()
    np.save(file, np.random.default_rng(0).standard_normal((len(room.image_set(key)), 3)))
    run = room.create_run("features", FeaturesSettings(key, str(file)).to_json())
    with pytest.raises(ValueError, match="lies in no folder"):
        look_at_features(room, run, Report(tmp_path / "events"))
    monkeypatch.setenv(FOLDERS, str(file.parent))
    assert look_at_features(room, run, Report(tmp_path / "events"))["columns"] == 3


# ------------------------------------------------------------------------------------------- quotas


def test_a_full_room_says_of_what_and_what_to_do(
    rooms: Rooms, pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, other = Store(rooms.make("room-of-anna")), Store(rooms.make("room-of-bert"))
    draft = room.create_run("import", {"source": "x", "source_settings": {}})
    room.end_run(draft.id, "finished", result={"key": "k" * 8, "title": "x"})
    (room.home / "runs" / "large").write_bytes(bytes(1_000_000))
    monkeypatch.setenv(DISK, "1000000")
    acts: list[Callable[[], Any]] = [lambda: room.create_run("train", {}), lambda: room.adopt(pictures, "x")]
    acts += [lambda: room.admit_run(room.run(draft.id), lambda folder: None)]
    for act in acts:
        with pytest.raises(QuotaError, match=r"this room is full: it takes 1\.\d+ MB of 1 MB") as told:
            act()
        assert "empty the list of deleted ones" in str(told.value)
    assert [run.id for run in room.runs()] == [draft.id]
    other.create_run("train", {})
    server = Store(rooms.home)
    server.create_run("train", {})


def test_an_import_ends_where_its_room_is_full(
    rooms: Rooms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However little was brought: each row of a few letters becomes a crop."""
    pixels = np.random.default_rng(0).integers(0, 256, (160, 160, 3), np.uint8)
    folder = tmp_path / "brought"
    folder.mkdir()
    for name in "ab":
        Image.fromarray(pixels).save(folder / f"{name}.png")
        (folder / f"{name}.txt").write_text("0 .5 .5 1 1\n" * 40)
    (folder / "classes.txt").write_text("noise")
    room = Store(rooms.make("room-of-anna"))
    monkeypatch.setenv(FOLDERS, str(folder))
    monkeypatch.setenv(DISK, "300000")
    monkeypatch.setattr(DiskWatch, "SECONDS", 0.0)
    settings = {"source": "YOLO", "source_settings": {"folder": str(folder)}}
    run = room.create_run("import", settings)
    with pytest.raises(FullError, match="this room is full"):
        import_images(room, run, Report(tmp_path / "events"))


@pytest.mark.parametrize("kind", ["train", "experiment"])
def test_features_are_computed_only_where_their_room_has_space_for_them(
    rooms: Rooms, pictures: Path, monkeypatch: pytest.MonkeyPatch, kind: Any
) -> None:
    """When the training was asked for the room was not full."""
    room = Store(rooms.make("room-of-anna"))
    key, features = room.adopt(pictures, "Patches"), (("HOG", {}),)
    query, size = room.image_set(key).classes[0], 4 * len(room.image_set(key)) * make_feature("HOG").size
    if kind == "train":
        settings = TrainSettings(key, features, query, "SVM").to_json()
    else:
        settings = ExperimentSettings(
            key, features, (("SVM", {}),), (query,), folds=2, grids={"C": (1.0,)}
        ).to_json()

    def ended() -> Run:
        run = room.create_run(kind, settings)
        assert worker.main([str(room.home), run.id]) == 0
        return room.run(run.id)

    monkeypatch.setenv(DISK, str(bytes_of(room.home) + size // 2))
    run = ended()
    assert (run.state, "this room is full: it takes " in run.reason) == ("failed", True)
    assert re.search(r", and .* more would be too much; delete trainings", run.reason)
    assert list(room.features.iterdir()) == []
    monkeypatch.setenv(DISK, str(bytes_of(room.home) + 10_000_000))
    assert ended().state in ("finished", "cancelled")
    assert len(list(room.features.glob("*.npy"))) == 1
    files = {file.stat().st_size for file in room.features.iterdir()}
    assert max(files) - size in range(64, 257), "a header besides the numbers"


def test_what_features_will_be_computed(
    rooms: Rooms, pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = Store(rooms.make("room-of-anna"))
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


def test_a_full_room_that_is_brought_a_training_says_so_as_pages_understand_it(
    rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They offer to make space then; what another process says is words alone."""
    room = Store(rooms.make("room-of-anna"))
    monkeypatch.setenv(DISK, "1")
    with pytest.raises(FullError, match="this room is full"):
        import_run_apart(room, b"whatever it is")


def test_imports_do_not_wait_for_trainings(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MOST_AT_ONCE", 1)
    monkeypatch.setattr(jobs, "MOST_IMPORTS_AT_ONCE", 1)
    room, locks = Store(rooms.make("room-of-anna")), list[int]()
    kinds: list[Any] = ["train", "train", "import", "import"]
    asked = [room.create_run(kind, {}, lambda folder: locks.append(jobs.take_lock(folder))) for kind in kinds]
    assert [jobs.claim_turn(room, run) for run in asked] == [0, 1, 0, 1]
    for lock in locks:
        os.close(lock)


def test_a_room_has_so_many_imports_and_trainings_at_once(
    rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(JOBS, "1")
    room, locks = Store(rooms.make("room-of-anna")), list[int]()

    def ask(store: Store, kind: Any) -> Run:
        return store.create_run(kind, {}, lambda folder: locks.append(jobs.take_lock(folder)))

    ask(room, "import")
    with pytest.raises(QuotaError, match="this room has 1 imports going on, as many as it may have"):
        ask(room, "import")
    for _ in range(LIVE_FOR_EACH):
        ask(room, "train")
    with pytest.raises(QuotaError, match="5 trainings and simulations that work or wait"):
        ask(room, "train")
    os.close(locks.pop())
    ask(room, "train")
    home = Store(rooms.home)
    for _ in range(LIVE_FOR_EACH + 1):
        ask(home, "train")
    for lock in locks:
        os.close(lock)


@pytest.mark.parametrize("text", ["0", "-1", "2 GB", "1e9", "x"])
def test_a_quota_that_is_no_number_is_refused(
    rooms: Rooms, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv(DISK, text)
    with pytest.raises(HomeError, match="RANKING_ROOM_DISK must be a number of bytes, 1 or more"):
        Store(rooms.make("room-of-anna")).create_run("train", {})


def test_what_experiments_can_go_on_from_takes_a_fourth_of_a_room_at_most(
    rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = rooms.make("room-of-anna")
    assert most_states(rooms.home) == DEFAULT_STATES
    assert most_states(room) == DEFAULT_DISK // 4
    monkeypatch.setenv(DISK, "1000")
    assert (most_states(rooms.home), most_states(room)) == (DEFAULT_STATES, 250)
    monkeypatch.setenv(STATES, "100")
    assert (most_states(rooms.home), most_states(room)) == (100, 100)
    states = cells_of(Store(room)).states
    for key in ("one", "two"):
        states.keep(key, bytes(40))
    assert (states.get("one"), states.get("two")) == (None, bytes(40))
    monkeypatch.setenv(STATES, "2 GB")
    with pytest.raises(HomeError, match="RANKING_STATE_BYTES must be a number of bytes, 1 or more"):
        cells_of(Store(room))


def test_a_full_room_counts_what_its_sets_take_until_they_are_removed_for_good(
    rooms: Rooms, pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = Store(rooms.make("room-of-anna"))
    key = room.adopt(pictures, "Patches")
    taken = room.bytes_of_set(key)
    assert taken == sum(file.stat().st_size for file in pictures.rglob("*") if file.is_file())
    monkeypatch.setenv(DISK, f"{taken}")
    for act in (lambda: room.delete_set(key), lambda: None):
        act()
        with pytest.raises(FullError):
            room.create_run("train", {})
    room.empty_deleted_sets()
    assert room.bytes_of_set(key) == 0
    room.create_run("train", {})


def test_a_server_has_so_many_rooms_and_says_so(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(COUNT, "2")
    rooms.make("room-of-anna")
    rooms.make("room-of-bert")
    with pytest.raises(NoRoomError, match=r"this server has 2 rooms.*higher RANKING_ROOM_COUNT"):
        rooms.make("room-of-carl")
    assert rooms.find("room-of-carl") is None
    rooms.make("room-of-anna")
    assert rooms.bundled.is_dir()
    monkeypatch.setenv(CLASS_ROOM, "of-the-teacher")
    assert Rooms(rooms.home).find("of-the-teacher") is not None, "the host's own always has its place"
    rooms.remove("room-of-anna")
    rooms.remove("room-of-bert")
    rooms.make("room-of-carl")


def test_rooms_in_which_there_is_nothing_make_place_for_others(
    rooms: Rooms, pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each visit to the bare address begins one; an hour after the last one it is worth nothing."""
    monkeypatch.setenv(COUNT, "4")
    kept = ("room-with-set", "room-with-run", "room-with-answer")
    Store(rooms.make(kept[0])).adopt(pictures, "Patches")
    run = Store(rooms.make(kept[1])).create_run("train", {"set": "0123456789"})
    AnswerStore(rooms.make(kept[2])).append(
        [AnswerEvent(SHA, 1, "k" * 8, "one", "day", "yes", run.id, "random", None, None, 0, 1.0)]
    )
    rooms.make("only-looked-into")
    for name in (*kept, "only-looked-into"):
        os.utime(rooms.home / "rooms" / name / MARK, (0, 0))
    rooms.visit("only-looked-into")
    with pytest.raises(NoRoomError):
        rooms.make("room-of-carl")
    os.utime(rooms.home / "rooms" / "only-looked-into" / MARK, (0, 0))
    rooms.make("room-of-carl")
    assert sorted(row.name for row in rooms.all()) == sorted([*kept, "room-of-carl"])
    assert Store(rooms.make(kept[1])).run(run.id).state == "queued"
    with pytest.raises(NoRoomError):
        rooms.make("room-of-dora")


def test_a_set_that_is_lent_stays_while_other_rooms_have_runs_on_it(rooms: Rooms, class_room: Store) -> None:
    [row], room = class_room.image_sets(), Store(rooms.make("room-of-anna"))
    for run in class_room.runs():
        class_room.delete_run(run.id)
    class_room.empty_deleted()
    asked = room.create_run("train", {"set": row.key})
    room.end_run(asked.id, "finished")
    for act in (lambda: None, lambda: room.delete_run(asked.id)):
        act()
        with pytest.raises(ValueError, match="lent to all rooms, and in 1 room of others 1 run used it"):
            class_room.delete_set(row.key)
    assert class_room.image_sets() == [row]
    room.empty_deleted()
    class_room.delete_set(row.key)
    assert room.image_sets() == []


def test_a_set_that_is_lent_goes_where_rooms_that_use_it_have_it_themselves(
    rooms: Rooms, class_room: Store, pictures: Path
) -> None:
    room = Store(rooms.make("room-of-anna"))
    key = room.adopt(pictures, "Own")
    room.create_run("train", {"set": key})
    for run in class_room.runs():
        class_room.delete_run(run.id)
    class_room.empty_deleted()
    class_room.delete_set(key)
    assert [(one.key, one.lent) for one in room.image_sets()] == [(key, False)]


# -------------------------------------------------------------------------------- list and remove


def test_rooms_are_listed_and_removed(rooms: Rooms, pictures: Path) -> None:
    for age, name in enumerate(("room-of-anna", "room-of-bert", "room-of-carl")):
        Store(rooms.make(name))
        os.utime(rooms.home / "rooms" / name / "room", (1e9, 1e9 - age))
    anna = Store(rooms.make("room-of-anna"))
    anna.adopt(pictures, "Patches")
    anna.create_run("train", {})
    listed = rooms.all()
    assert [(row.name, row.sets, row.runs) for row in listed] == [
        ("room-of-anna", 1, 1),
        ("room-of-bert", 0, 0),
        ("room-of-carl", 0, 0),
    ]
    assert listed[0].bytes > listed[1].bytes
    rooms.visit("room-of-carl")
    assert [row.name for row in rooms.unused_for(1)] == ["room-of-anna", "room-of-bert"]
    rooms.remove("room-of-anna")
    assert rooms.find("room-of-anna") is None
    assert [row.name for row in rooms.all()] == ["room-of-carl", "room-of-bert"]
    assert list((rooms.home / "trash").iterdir()) == []
    with pytest.raises(ValueError, match="there is no room room-of-anna"):
        rooms.remove("room-of-anna")


def test_a_room_in_which_work_goes_on_is_not_removed(rooms: Rooms) -> None:
    room, locks = Store(rooms.make("room-of-anna")), list[int]()
    room.create_run("train", {}, lambda folder: locks.append(jobs.take_lock(folder)))
    with pytest.raises(ValueError, match="in room room-of-anna 1 imports or trainings go on"):
        rooms.remove("room-of-anna")
    os.close(locks[0])
    rooms.remove("room-of-anna")
