"""A database that is lost, damaged or older than its home: image sets, runs and answers come back."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from labelled_pictures import patches
from working import FOREVER, SCRIPTED, Held, cancelled, iterating, start, trouble

from ranking.core import errors
from ranking.core.errors import HomeError
from ranking.jobs import jobs
from ranking.workspace import database_copies, home
from ranking.workspace.answers import AnswerEvent, AnswerStore
from ranking.workspace.database_copies import COPIES, MOST, is_due, keep_copy, rebuild
from ranking.workspace.home import DATABASE
from ranking.workspace.room_quotas import DISK, bytes_of
from ranking.workspace.rooms import Rooms
from ranking.workspace.row_files import LATER, ROW
from ranking.workspace.run import VERSION, Run
from ranking.workspace.store import ImageSetRow, Store

PAINTER = {"source": "Painter", "source_settings": {}}


def furnished(folder: Path) -> Store:
    """A home with two image sets, one of them deleted, and four runs: named with a star, cancelled, deleted, failed."""
    here = Store(folder)
    keys = [keep(here, size) for size in (3, 4)]
    named, cancelled, deleted, failed = (
        here.create_run("train", {"set": "other-set", "number": n}) for n in range(4)
    )
    here.end_run(named.id, "finished", result={"test": {"AP": 0.5}})
    here.end_run(cancelled.id, "cancelled", "a person did")
    here.end_run(deleted.id, "finished")
    here.end_run(failed.id, "failed", "no memory")
    here.name_run(named.id, "the first one")
    here.star_run(named.id)
    here.delete_run(deleted.id)
    here.delete_set(keys[0])
    return here


def keep(here: Store, size: int) -> str:
    """An image set of so many pictures, imported."""
    run = here.create_run("import", PAINTER)
    key = finished_import(here, run, size)
    assert here.add_set(run.draft, "Painter") == key
    return key


def answer(number: int) -> AnswerEvent:
    return AnswerEvent("a" * 32, number, "k" * 8, "1", "sky", "yes", "b" * 10, "random", None, None, 0, 1.0)


def known(here: Store) -> tuple[list[Run], list[Run], list[ImageSetRow], list[ImageSetRow]]:
    """All that lists show, by name and not by the order, for clocks differ."""
    runs = (sorted(here.runs(deleted=deleted), key=lambda run: run.id) for deleted in (False, True))
    sets = (sorted(rows, key=lambda row: row.key) for rows in (here.image_sets(), here.deleted_image_sets()))
    return (*runs, *sets)  # type: ignore[return-value]


def opened(folder: Path) -> Store:
    """The home as a server opens it, its database rebuilt where that is offered: the one press of a person."""
    try:
        here = Store(folder)
        jobs.recover(here)
        known(here)
    except HomeError as error:
        if error.lost != folder:
            raise
        rebuild(folder)
        here = Store(folder)
        jobs.recover(here)
    return here


def missing(file: Path) -> None:
    file.unlink()


def empty(file: Path) -> None:
    file.write_bytes(b"")


def half(file: Path) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])


def garbage(file: Path) -> None:
    file.write_bytes(os.urandom(len(file.read_bytes())))


def pages_overwritten(file: Path) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def a_broken_link(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.with_name("nowhere") / "ranking.sqlite")


def of_another_program(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as database:
        database.execute("create table moz_places (id integer)")
        database.commit()


def without_tables(file: Path) -> None:
    with closing(sqlite3.connect(file)) as database:
        database.execute("drop table run")
        database.commit()


def without_rows(file: Path) -> None:
    with closing(sqlite3.connect(file)) as database:
        database.execute("delete from run")
        database.execute("delete from image_set")
        database.commit()


def text(file: Path) -> None:
    file.write_text("a note of mine")


def changed(name: str, *statements: str) -> Callable[[Path], None]:
    """The database after some statements of SQL."""

    def change(file: Path) -> None:
        with closing(sqlite3.connect(file)) as database:
            for statement in statements:
                database.execute(statement)
            database.commit()

    change.__name__ = name
    return change


def with_our_names(file: Path) -> None:
    """Another program's, whose tables are called as ours are."""
    file.unlink()
    with closing(sqlite3.connect(file)) as database:
        tables = "create table run (x); create table image_set (y); create table answer (z);"
        database.executescript(f"{tables} pragma user_version = {len(home.MIGRATIONS)};")


def a_folder_for(part: str) -> Callable[[Path], None]:
    def make(file: Path) -> None:
        beside = file.with_name(f"{file.name}{part}")
        beside.unlink(missing_ok=True)
        beside.mkdir()

    make.__name__ = f"a_folder_for{part}"
    return make


def missing_with_a_folder_in_the_way(file: Path) -> None:
    file.unlink()
    file.with_name(f"{file.name}.part").mkdir()


WAYS: list[Callable[[Path], None]] = [
    missing,
    empty,
    half,
    garbage,
    pages_overwritten,
    a_folder,
    a_broken_link,
]
WAYS += [of_another_program, without_tables, without_rows, text, with_our_names]
WAYS += [*map(a_folder_for, ("-wal", "-shm", "-journal")), missing_with_a_folder_in_the_way]
WAYS += [
    changed("without_a_result", "alter table run drop column result"),
    changed("without_stars", "alter table run drop column star"),
    changed("an_older_layout", "pragma user_version = 2"),
    changed("a_layout_before_the_first", "pragma user_version = -1"),
    changed("no_layout", "pragma user_version = 0"),
    changed("a_view", "alter table run rename to runs", "create view run as select * from runs"),
]


@pytest.mark.parametrize("with_copy", [True, False], ids=["with a copy", "without"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_sets_and_runs_are_recovered_however_the_database_is_lost(tmp_path, way, with_copy):
    here = furnished(tmp_path)
    AnswerStore(tmp_path).append([answer(1)])
    if with_copy:
        keep_copy(tmp_path)
    late = here.create_run("train", {"set": "other-set", "late": True})  # no copy knows it
    here.end_run(late.id, "finished")
    before = known(here)
    checkpointed(tmp_path)
    way(tmp_path / DATABASE)
    again = opened(tmp_path)
    recovered = known(again)
    assert [[run.id for run in runs] for runs in recovered[:2]] == [
        [run.id for run in runs] for runs in before[:2]
    ]
    assert [run.__dict__ for run in recovered[0]] == [run.__dict__ for run in before[0]]
    assert [[row.key for row in rows] for rows in recovered[2:]] == [
        [row.key for row in rows] for rows in before[2:]
    ]
    assert {row.source for row in recovered[2]} == {"Painter"}
    if with_copy and way is not without_rows:
        assert AnswerStore(tmp_path).events("k" * 8) == [answer(1)]


def checkpointed(folder: Path) -> None:
    """Have all of the database lie in its one file."""
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        database.execute("pragma wal_checkpoint(truncate)")


def test_restoring_an_older_copy_by_hand_loses_nothing_newer(tmp_path):
    """As the program's own message advised."""
    here = furnished(tmp_path)
    checkpointed(tmp_path)
    shutil.copy(tmp_path / DATABASE, tmp_path / "older")
    new = here.create_run("train", {"set": "other-set"})
    here.end_run(new.id, "finished", result={"test": {"AP": 1.0}})
    key, run = keep(here, 5), here.run(new.id)
    checkpointed(tmp_path)
    (tmp_path / "older").replace(tmp_path / DATABASE)
    again = Store(tmp_path)
    recovered = jobs.recover(again)
    assert again.run(new.id) == run
    assert key in {row.key for row in again.image_sets()}
    assert len(recovered.sets) == 1
    assert run in recovered.runs
    assert not recovered.refused


def checked_in(folder: Path) -> Callable[[], Store]:
    """Keep the database of a home as it is now; called, that takes its place again, and the home is opened."""
    checkpointed(folder)
    shutil.copy(folder / DATABASE, folder / "older")

    def back() -> Store:
        for file in folder.glob(f"{DATABASE}*"):
            file.unlink()
        shutil.copy(folder / "older", folder / DATABASE)
        return Store(folder)

    return back


def finished_import(here: Store, run: Run, size: int) -> str:
    built = patches(run.draft, size)
    result = {"key": built.key, "title": built.title, "images": size, "samples": size, "problems": 0}
    here.end_run(run.id, "finished", result={**result, "classes": dict.fromkeys(built.classes, 1)})
    return built.key


@pytest.mark.parametrize("rebuilt", [False, True], ids=["put back by hand", "rebuilt"])
def test_what_ran_when_the_copy_was_made_and_ended_since_stays_as_it_ended(tmp_path, rebuilt):
    here, held = Store(tmp_path), [Held(), Held()]
    imports, training = held[0](here, "import", PAINTER), held[1](here)
    for run in (imports, training):
        here.update_run(run.id, state="running", started=run.created)
    back = checked_in(tmp_path)
    keep_copy(tmp_path)
    key = finished_import(here, imports, 5)
    here.end_run(training.id, "finished", result={"test": {"AP": 0.5}})
    for each in held:
        each.let_die()
    before = [here.run(run.id) for run in (imports, training)]
    if rebuilt:
        for file in tmp_path.glob(f"{DATABASE}*"):
            file.unlink()
        again = opened(tmp_path)
    else:
        again = back()
        assert jobs.poll(again, imports.id) == before[0], "whoever asks first"
        jobs.recover(again)
    assert [again.run(run.id) for run in before] == before
    assert again.add_set(imports.draft, "Painter") == key
    assert again.image_set(key).key == key


def test_names_stars_and_deletions_since_the_copy_stand(tmp_path):
    here = furnished(tmp_path)
    named, failed = (
        next(run for run in here.runs() if run.state == state) for state in ("cancelled", "failed")
    )
    [deleted], [gone] = here.runs(deleted=True), here.deleted_image_sets()
    [kept] = here.image_sets()
    back = checked_in(tmp_path)
    with closing(sqlite3.connect(tmp_path / "older")) as database:  # to which what is restored now is overdue
        for table in ("run", "image_set"):
            database.execute(f"update {table} set created = 1.0, deleted = 2.0 where deleted is not null")
        database.commit()
    here.name_run(named.id, "since")
    here.star_run(named.id)
    here.delete_run(failed.id)
    here.restore_run(deleted.id)
    here.restore_set(gone.key)
    here.delete_set(kept.key)
    before = known(here)
    again = back()
    again.star_run(named.id, star=False)  # before anybody looked: it is the newest state that changes
    assert again.run(named.id).name == "since"
    again.star_run(named.id)
    jobs.recover(again)
    assert known(again) == before


def test_a_run_that_ends_before_an_older_database_is_looked_at_ends_as_its_worker_says(tmp_path):
    """The worker was started after the copy was made, so the database knows nothing of it."""
    here, held = Store(tmp_path), Held()
    here.create_run("train", {})
    back = checked_in(tmp_path)
    late = held(here, "import", PAINTER)
    again = back()
    again.update_run(late.id, state="running")
    finished_import(again, late, 5)
    held.let_die()
    jobs.recover(again)
    assert (again.run(late.id).state, late.draft.is_dir()) == ("finished", True)


@pytest.mark.parametrize("way", [garbage, empty, without_tables], ids=lambda way: way.__name__)
def test_a_run_that_ends_while_the_database_is_lost_has_ended(tmp_path, way):
    here, held = Store(tmp_path), Held()
    imports, training = held(here, "import", PAINTER), held(here)
    checkpointed(tmp_path)
    way(tmp_path / DATABASE)
    with trouble():
        finished_import(here, imports, 5)
    with trouble():
        here.end_run(training.id, "finished", result={"test": {"AP": 0.5}})
    held.let_die()
    again = opened(tmp_path)
    assert again.run(training.id).result == {"test": {"AP": 0.5}}
    assert again.image_set(again.add_set(imports.draft, "Painter"))


def test_a_worker_that_dies_of_a_lost_database_costs_no_draft(tmp_path):
    """Of a full disk it does, for there what is not whole fills it."""
    here = Store(tmp_path)
    run = here.create_run("import", PAINTER)
    run.draft.mkdir()
    checkpointed(tmp_path)
    garbage(tmp_path / DATABASE)
    jobs._await_end(here, run, subprocess.Popen(["false"]))
    assert run.draft.is_dir()


def test_no_database_is_replaced_that_cannot_be_read_just_now(tmp_path, monkeypatch):
    monkeypatch.setattr(
        home, "read_only", lambda file: sqlite3.connect(f"{file.as_uri()}?mode=ro", timeout=0, uri=True)
    )
    here = Store(tmp_path)
    run = here.create_run("train", {})
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        database.execute("pragma locking_mode = exclusive")
        database.execute("begin exclusive")
        rebuild(tmp_path)
    assert here.run(run.id).state == "queued"
    assert not list(tmp_path.glob("*.lost-*"))


def test_a_row_that_is_newer_than_its_file_stands(tmp_path, monkeypatch):
    here = Store(tmp_path)
    run = here.create_run("train", {})
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        here.end_run(run.id, "finished")
    jobs.recover(here)
    assert here.run(run.id).state == json.loads((run.folder / ROW).read_text())["state"] == "finished"


def test_a_change_that_died_before_it_was_committed_is_made_or_not(tmp_path):
    """The file is ahead of the row then; the change counts, and no later one is lost to it."""
    here = Store(tmp_path)
    run = here.create_run("train", {})
    with contextlib.suppress(ZeroDivisionError), here._home.change() as database:
        here._change(database, run.id, name="named as it died")
        raise ZeroDivisionError
    here.end_run(run.id, "finished")
    again = here.run(run.id)
    jobs.recover(here)
    assert here.run(run.id) == again
    assert (again.name, again.state) == ("named as it died", "finished")


def test_a_damaged_row_is_mended_by_its_file(tmp_path):
    here = Store(tmp_path)
    run = here.create_run("train", {"set": "other-set"})
    here.end_run(run.id, "finished")
    before = here.run(run.id)
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        database.execute("update run set result = '{'")
        database.commit()
    jobs.recover(here)
    assert here.run(run.id) == before


def test_files_of_an_earlier_version_are_as_new_as_their_rows(tmp_path):
    """They tell neither a revision nor a process; what they tell counts where the row says otherwise."""
    here = Store(tmp_path)
    run = here.create_run("train", {"set": "other-set"})
    here.end_run(run.id, "finished")
    file = run.folder / ROW
    earlier = {name: value for name, value in json.loads(file.read_text()).items() if name not in LATER}
    file.write_text(json.dumps(earlier))
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        database.execute("update run set revision = 0, pid = 17")
        database.commit()
    assert not jobs.recover(here).runs
    file.write_text(json.dumps(earlier | {"name": "told"}))
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        database.execute("update run set revision = 0")
        database.commit()
    [again] = jobs.recover(here).runs
    assert (again.name, again.pid) == ("told", 17)


@pytest.mark.parametrize("lost", [False, True])
def test_a_home_of_the_version_before_opens(tmp_path, monkeypatch, lost):
    """As that version left it: six layouts, files beside the rows that tell no version of what they hold."""
    before = furnished(tmp_path)
    AnswerStore(tmp_path).append([answer(1), answer(2)])
    runs, *rest = known(before)
    checkpointed(tmp_path)
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        database.executescript(
            "alter table run drop column version; drop table correction; pragma user_version = 6;"
        )
    for file in tmp_path.glob(f"runs/*/{ROW}"):
        row = json.loads(file.read_text())
        file.write_text(json.dumps({name: value for name, value in row.items() if name != "version"}))
    with monkeypatch.context() as patch:
        patch.setattr(home, "MIGRATIONS", home.MIGRATIONS[:6])
        patch.setattr(database_copies, "MIGRATIONS", home.MIGRATIONS)
        assert home.is_sound(tmp_path / DATABASE, home.MIGRATIONS), "it is one of that version"
        keep_copy(tmp_path)
    if lost:
        (tmp_path / DATABASE).unlink()
    after = opened(tmp_path)
    assert known(after) == (runs, *rest)
    assert {run.version for run in (*after.runs(), *after.runs(deleted=True))} == {0}
    assert AnswerStore(tmp_path).events("k" * 8) == [answer(1), answer(2)]
    assert after.create_run("train", {"set": "k"}).version == VERSION


def test_a_newer_version_s_database_is_left_alone(tmp_path):
    furnished(tmp_path)
    checkpointed(tmp_path)
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        database.execute("pragma user_version = 99")
    before = (tmp_path / DATABASE).read_bytes()
    with trouble(why="newer version") as caught:
        Store(tmp_path)
    assert caught.value.lost is None
    assert (tmp_path / DATABASE).read_bytes() == before
    assert len(list((tmp_path / "runs").iterdir())) == 6


def test_an_unreadable_folder_stays_and_is_reported_until_it_is_repaired(tmp_path):
    here = furnished(tmp_path)
    key, run = keep(here, 6), here.create_run("train", {"set": "other-set"})
    here.end_run(run.id, "finished")
    files = (tmp_path / "sets" / key / "columns.npz", tmp_path / "runs" / run.id / ROW)
    whole = [file.read_bytes() for file in files]
    for file in files:
        file.write_bytes(b"{")
    (tmp_path / "runs" / "Not a run").mkdir()
    (tmp_path / "runs" / "Not a run" / "letter.txt").write_text("mine")
    (tmp_path / DATABASE).unlink()
    shutil.rmtree(tmp_path / COPIES)
    again = opened(tmp_path)
    for _ in range(2):  # at each start
        refused = jobs.recover(again).refused
        assert len(refused) == 3
        assert (tmp_path / "runs" / "Not a run" / "letter.txt").read_text() == "mine"
    for file, content in zip(files, whole, strict=True):
        file.write_bytes(content)
    recovered = jobs.recover(again)
    assert ([each.id for each in recovered.runs], len(recovered.sets), len(recovered.refused)) == (
        [run.id],
        1,
        1,
    )
    assert again.image_set(key).key == key


IMPORT: dict[str, Any] = {"kind": "import", "settings": PAINTER}


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "trains"},
        {"state": "done"},
        {"settings": []},
        {"settings": {"set": "\ud800"}},
        {"created": None},
        {"name": "\ud800"},
        {"name": "a\nb"},
        {"reason": "\udfff"},
        {"result": {"a": math.nan}},
        {"result": {"a": [math.inf]}},
        {"pid": "1"},
        {"revision": -1},
        {**IMPORT, "result": {}},
        {**IMPORT, "result": {"key": [1]}},
        {**IMPORT, "result": {"key": "../../x", "title": "", "classes": {}, "images": 1, "samples": 1}},
    ],
    ids=str,
)
def test_a_row_that_no_run_of_ours_has_is_not_taken_in(tmp_path, change):
    here = Store(tmp_path)
    key = keep(here, 4)
    run, sound = (here.create_run("train", {"set": "other-set"}) for _ in range(2))
    for each in (run, sound):
        here.end_run(each.id, "finished")
    (run.folder / "model.npz").write_bytes(b"weights")
    file = run.folder / ROW
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    (tmp_path / DATABASE).unlink()
    again = opened(tmp_path)
    assert len(jobs.recover(again).refused) == 1
    assert [each.id for each in again.runs("train")] == [sound.id]
    assert [row.key for row in again.image_sets()] == [key]
    assert (run.folder / "model.npz").read_bytes() == b"weights"


@pytest.mark.parametrize("content", [b"{", b"\xff", json.dumps({"source": "\ud800"}).encode(), None], ids=str)
def test_a_set_without_a_valid_row_file_is_recovered(tmp_path, content):
    here = Store(tmp_path)
    key = keep(here, 4)
    file = tmp_path / "sets" / key / ROW
    file.unlink() if content is None else file.write_bytes(content)
    (tmp_path / DATABASE).unlink()
    again = opened(tmp_path)
    [row] = again.image_sets()
    assert (row.key, row.source) == (key, "")
    keep(again, 4)
    assert [row.source for row in again.image_sets()] == ["Painter"]


def test_a_live_run_that_was_taken_in_can_be_cancelled(tmp_path, monkeypatch):
    monkeypatch.setattr(jobs, "WORKER", SCRIPTED)
    here = Store(tmp_path)
    run = iterating(here, start(here, FOREVER))
    (tmp_path / DATABASE).unlink()
    again = opened(tmp_path)
    assert again.run(run.id).state == "running"
    assert cancelled(again, run).state == "cancelled"


def test_a_live_run_is_taken_in_alive(tmp_path):
    here, held = Store(tmp_path), Held()
    live = held(here)
    (tmp_path / DATABASE).unlink()
    again = opened(tmp_path)
    assert again.run(live.id).state == "queued"
    held.let_die()
    assert jobs.poll(again, live.id).state == "failed"


def test_the_next_start_writes_the_rows_that_a_full_disk_refused(tmp_path, monkeypatch):
    here = Store(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        run = here.create_run("train", {"set": "other-set"})
        here.end_run(run.id, "finished")
    assert not (run.folder / ROW).exists()
    jobs.recover(here)
    assert json.loads((run.folder / ROW).read_text())["state"] == "finished"


# ------------------------------------------------------------------------------------------------ answers


def page_of(file: Path, table: str) -> int:
    """Where the first page of a table lies in a database."""
    with closing(sqlite3.connect(file)) as database:
        (page,) = database.execute("select rootpage from sqlite_master where name = ?", (table,)).fetchone()
    return int(page - 1) * 4096


@pytest.mark.parametrize("with_copy", [True, False], ids=["with a copy", "without"])
def test_answers_that_can_be_read_in_a_damaged_database_are_taken_over(tmp_path, with_copy):
    here, answers = furnished(tmp_path), AnswerStore(tmp_path)
    answers.append([answer(number) for number in range(1, 6)])
    if with_copy:
        keep_copy(tmp_path)
    answers.append([answer(number) for number in range(6, 400)])
    answers.delete("k" * 8)
    answers.append([answer(number) for number in range(400, 500)])
    checkpointed(tmp_path)
    file = tmp_path / DATABASE
    at, whole = page_of(file, "run"), file.read_bytes()
    file.write_bytes(whole[:at] + b"\xff" * 4096 + whole[at + 4096 :])
    again = opened(tmp_path)
    assert AnswerStore(tmp_path).events("k" * 8) == [answer(number) for number in range(400, 500)]
    assert AnswerStore(tmp_path).count("k" * 8, deleted=True) == 399
    assert len(again.runs()) == len(here.runs())


def test_answers_around_damage_are_taken_over_and_those_that_are_none_are_not(tmp_path):
    Store(tmp_path).create_run("train", {})
    AnswerStore(tmp_path).append([answer(number) for number in range(1, 1000)])
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        database.execute("update answer set kind = 'perhaps' where number = 1")
        database.commit()
    checkpointed(tmp_path)
    file = tmp_path / DATABASE
    whole = bytearray(file.read_bytes())
    leaves = [
        at for at in range(0, len(whole), 4096) if whole[at] == 0x0D and b"sky" in whole[at : at + 4096]
    ]
    middle = leaves[len(leaves) // 2]
    whole[middle : middle + 4096] = b"\xff" * 4096
    file.write_bytes(whole)
    opened(tmp_path)
    numbers = [event.number for event in AnswerStore(tmp_path).events("k" * 8)]
    assert numbers == sorted(numbers)
    assert (numbers[0], numbers[-1]) == (2, 999)
    assert 900 < len(numbers) < 998


# ------------------------------------------------------------------------------------------------- copies


def copies(folder: Path) -> list[str]:
    return sorted(file.name for file in (folder / COPIES).iterdir())


def test_the_last_three_states_are_kept_each_once(tmp_path, monkeypatch):
    here = Store(tmp_path)
    keep_copy(tmp_path)
    assert copies(tmp_path) == [], "of nothing"
    names = iter(f"2026-01-01-00000{second}" for second in range(9))
    monkeypatch.setattr(database_copies.time, "strftime", lambda *_: next(names))
    for number in range(5):
        here.create_run("train", {"number": number})
        keep_copy(tmp_path)
        keep_copy(tmp_path) if number == 0 else None  # nothing is new
    assert len(copies(tmp_path)) == MOST
    assert copies(tmp_path)[-1] == "2026-01-01-000005.sqlite"
    with closing(sqlite3.connect(tmp_path / COPIES / copies(tmp_path)[-1])) as copy:
        assert copy.execute("select count(*) from run").fetchone() == (5,)


def test_copies_that_lost_their_answers_push_none_out_that_has_them(tmp_path, monkeypatch):
    here = Store(tmp_path)
    names = iter(f"2026-01-01-0000{second:02}" for second in range(99))
    monkeypatch.setattr(database_copies.time, "strftime", lambda *_: next(names))
    AnswerStore(tmp_path).append([answer(1), answer(2)])
    keep_copy(tmp_path)
    [full] = (tmp_path / COPIES).iterdir()
    without_rows(tmp_path / DATABASE)
    changed("none", "delete from answer")(tmp_path / DATABASE)
    for _ in range(5):
        AnswerStore(tmp_path).append([answer(3)])
        here.create_run("train", {})
        keep_copy(tmp_path)
    assert len(copies(tmp_path)) == MOST
    assert full.name in copies(tmp_path)
    os.utime(full, (1, 1))  # what was deleted weeks ago goes
    here.create_run("train", {})
    keep_copy(tmp_path)
    assert full.name not in copies(tmp_path)
    assert len(copies(tmp_path)) == MOST


def test_an_hour_later_another_is_due(tmp_path):
    Store(tmp_path).create_run("train", {})
    assert is_due(tmp_path)
    keep_copy(tmp_path)
    assert not is_due(tmp_path)
    [copy] = (tmp_path / COPIES).iterdir()
    os.utime(copy, (1, copy.stat().st_mtime - 3601))
    assert is_due(tmp_path)


def test_a_damaged_database_takes_no_copy_s_place(tmp_path):
    Store(tmp_path).create_run("train", {})
    keep_copy(tmp_path)
    before = copies(tmp_path)
    checkpointed(tmp_path)
    for damage in (garbage, pages_overwritten):
        damage(tmp_path / DATABASE)
        keep_copy(tmp_path)
        assert copies(tmp_path) == before


def test_a_damaged_copy_is_passed_over(tmp_path):
    here = Store(tmp_path)
    AnswerStore(tmp_path).append([answer(1)])
    keep_copy(tmp_path)
    (tmp_path / COPIES / "2999-01-01-000000.sqlite").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    (tmp_path / DATABASE).unlink()
    rebuild(here.home)
    assert AnswerStore(tmp_path).events("k" * 8) == [answer(1)]


def test_rebuilding_twice_is_rebuilding_once(tmp_path):
    furnished(tmp_path)
    (tmp_path / DATABASE).write_text("no database")
    again = opened(tmp_path)
    new = again.create_run("train", {"set": "other-set"})
    rebuild(tmp_path)
    assert again.run(new.id).state == "queued"
    lost = [file for file in tmp_path.iterdir() if "lost" in file.name]
    assert [file.read_text() for file in lost] == ["no database"]


def test_copies_do_not_count_towards_the_storage_limit(tmp_path, monkeypatch):
    room = Rooms(tmp_path).make("room-of-anna")
    AnswerStore(room).append([answer(number) for number in range(1, 2000)])
    monkeypatch.setenv(DISK, str(bytes_of(room) + 1000))
    keep_copy(room)
    assert copies(room) == []
    monkeypatch.setenv(DISK, str(10 * bytes_of(room)))
    keep_copy(room)
    assert len(copies(room)) == 1


def test_a_data_folder_that_cannot_be_written_is_not_reported_as_missing(tmp_path, monkeypatch):
    here = Store(tmp_path)
    monkeypatch.setattr(home.os, "access", lambda *_: False)
    error = sqlite3.OperationalError("unable to open database file")
    monkeypatch.setattr(home.Home, "_connect", lambda *_: (_ for _ in ()).throw(error))
    with trouble(remedy=errors.CLOSED) as caught:
        here.runs()
    assert caught.value.lost is None
