from __future__ import annotations

import json
import math
import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from labelled_pictures import SIDE, patches
from refusals import refused
from working import Held, raising, trouble

from ranking.core import errors
from ranking.core.errors import HomeError, InputError
from ranking.core.run_settings import TrainSettings
from ranking.jobs import jobs
from ranking.workspace import home, image_set_store, run_store
from ranking.workspace.row_files import ROW
from ranking.workspace.run import VERSION, Run
from ranking.workspace.run_names import LONGEST_NAME
from ranking.workspace.run_store import DELETED_DAYS
from ranking.workspace.store import Store

DAY = 86400.0


@pytest.fixture
def here(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


def imported(here: Store, count: int = 4) -> str:
    """The key of an image set of so many images, built in a run's folder and added as an import does."""
    run = here.create_run("import", {"source": "Painter", "source_settings": {}})
    built = patches(run.draft, count)
    assert here.add_set(run.draft, "Painter") == built.key
    assert not run.draft.exists()
    result = {"key": built.key, "title": built.title, "images": count, "samples": count, "problems": 0}
    assert here.end_run(run.id, "finished", result={**result, "classes": dict.fromkeys(built.classes, 1)})
    return built.key


def trained(here: Store) -> Run:
    run = here.create_run("train", {"set": "abc"})
    (run.folder / "model.npz").write_text("weights")
    here.end_run(run.id, "finished")
    return here.run(run.id)


def ids(runs: list[Run]) -> list[str]:
    return [run.id for run in runs]


def folders(here: Store) -> list[str]:
    """The folders of image sets that are there, and what waits to be removed."""
    return [path.name for folder in ("sets", "trash") for path in (here.home / folder).iterdir()]


def database_of(folder: Path) -> Any:
    """A connection to the database of a home, past the store; its transactions begin and end by hand."""
    return closing(sqlite3.connect(folder / "ranking.sqlite", isolation_level=None))


# --------------------------------------------------------------------------------------------------- runs


def test_a_new_run_is_queued_and_has_an_empty_folder(here):
    run = here.create_run("train", {"C": 1.0, "features": [["HOG", {}]]})
    assert (run.kind, run.state, run.result, run.reason) == ("train", "queued", {}, "")
    assert run.settings == {"C": 1.0, "features": [["HOG", {}]]}
    assert (run.started, run.ended, run.alive) == (None, None, False)
    assert [file.name for file in run.folder.iterdir()] == [ROW]
    assert here.run(run.id) == run
    seen = []
    rest = here.create_run("train", {}, prepare=lambda folder: seen.append((folder, Store(here.home).runs())))
    assert seen == [(rest.folder, [run])], "it is prepared before anyone sees it"


def test_a_run_of_before_C_had_a_unit_keeps_what_its_settings_meant(here):
    """Its row does not say the unit; a new one always does."""
    old = {
        "set": "0123456789",
        "features": [["HOG", {}]],
        "query": "cat",
        "method": "SVM",
        "method_settings": {},
    }
    first = {"C": 0.01, "unit": "paper"}
    assert here.create_run("train", old).settings["method_settings"] == first
    ranked = here.create_run("train", old | {"method": "AP-SVM"})
    assert ranked.settings["method_settings"] == {}, "its C has no unit"
    settings = TrainSettings.from_json(old)
    assert settings.method_settings == first
    new = TrainSettings("0123456789", settings.features, "cat", "SVM", {"C": 3.0})
    run = here.create_run("train", new.to_json())
    assert run.settings["method_settings"] == {"unit": "ranking", "C": 3.0}
    assert TrainSettings.from_json(run.settings).method_settings == run.settings["method_settings"]


def test_runs_of_mid_rank_of_earlier_versions_keep_what_their_settings_meant(here):
    first = {"trees": 2, "ties": "forbidden", "votes": "kept"}
    old = {
        "set": "0123456789",
        "features": [["HOG", {}]],
        "criterion": "year",
        "method_settings": {"trees": 2},
    }
    old["task"] = "orders"
    ordered = here.create_run("train", old | {"method": "MidRank"})
    studied = here.create_run("study", old | {"study": "fusion", "task": "midrank"})
    assert ordered.settings["method_settings"] == studied.settings["method_settings"] == first
    assert here.create_run("train", old | {"method": "RankSVM"}).settings["method_settings"] == {"trees": 2}


def test_a_kind_or_setting_that_cannot_be_stored_is_refused_whole(here):
    with refused("kind of a run", "test"):
        here.create_run("test", {})
    with pytest.raises(ValueError):  # noqa: PT011 (of the JSON module)
        here.create_run("train", {"C": float("nan")})
    with pytest.raises(RuntimeError):
        here.create_run("train", {}, prepare=raising(RuntimeError("no")))
    assert here.runs() == []
    assert list((here.home / "runs").iterdir()) == []


def test_an_invalid_run_id_becomes_no_path(here):
    texts = ["", "..", "../../etc", "/etc/passwd", "a" * 9, "a" * 11, "ABCDEFGHIJ", "aaaaaaaaaa\n"]
    for text in (*texts, "aaaaaaaaa/"):
        for act in (here.run, here.own_run):
            with refused("run", f"{text!r}") as caught:
                act(text)
            assert str(here.home) not in caught.value.expected, f"{text!r} was looked for"
    with refused("run", "'aaaaaaaaaa'") as caught:
        here.update_run("aaaaaaaaaa", state="failed")
    assert str(here.home) in caught.value.expected


def test_runs_are_listed_newest_first_whatever_the_clock_says_by_kind_and_image_set(here, monkeypatch):
    clock = iter(range(1000, 0, -100))
    monkeypatch.setattr(run_store.time, "time", lambda: float(next(clock)))
    first = here.create_run("import", {"source": "Digits"}).id
    here.update_run(first, result={"key": "k1"})
    second, third = (here.create_run("train", {"set": key}).id for key in ("k1", "k2"))
    assert ids(here.runs()) == [third, second, first]
    assert ids(here.runs("import")) == [first]
    assert ids(here.runs(set_key="k1")) == [second, first]
    assert ids(here.runs("train", "k1")) == [second]
    assert here.runs(set_key="' or 1 --") == []
    here.update_run(first, started=5000.0)
    here.end_run(first, "finished")
    assert here.run(first).ended == 5000.0


def test_equal_runs_have_the_same_kind_and_settings(here):
    settings = {"set": "abc", "features": (("HOG", {}),)}
    first = here.create_run("train", settings)
    here.end_run(first.id, "failed")
    here.create_run("train", {**settings, "set": "other"})
    here.create_run("train", {**settings, "query": "more"})
    source = here.create_run("import", settings)
    gone = here.create_run("train", settings)
    here.end_run(gone.id, "finished")
    here.delete_run(gone.id)
    last = here.create_run("train", {"features": [["HOG", {}]], "set": "abc"})
    assert ids(here.equal_runs("train", settings)) == [last.id, first.id]
    assert ids(here.equal_runs("import", settings)) == [source.id]


def test_a_run_has_scores_once_it_has_ended_with_their_metrics_and_their_file(here):
    run = here.create_run("train", {"set": "abc"})
    run.scores_file.touch()
    here.update_run(run.id, result={"test": {"AP": 1.0}})
    assert not here.run(run.id).has_scores  # it is still running
    here.end_run(run.id, "cancelled")
    assert here.run(run.id).has_scores
    run.scores_file.unlink()
    assert not here.run(run.id).has_scores
    run.scores_file.touch()
    here.update_run(run.id, result={})
    assert not here.run(run.id).has_scores


def test_columns_of_a_run_are_written_and_only_its_first_end_counts(here):
    run = here.create_run("train", {})
    here.update_run(run.id, state="running", result={"AP": 0.5}, started=1.0, pid=7)
    run = here.run(run.id)
    assert (run.state, run.result, run.started, run.pid) == ("running", {"AP": 0.5}, 1.0, 7)
    with refused("state of a run", "done"):
        here.update_run(run.id, state="done")
    for columns, came in (({"id = 1; --": 1}, "id = 1; --"), ({}, "none")):
        with refused("columns of a run", came):
            here.update_run(run.id, **columns)
    assert here.run(run.id) == run
    assert here.end_run(run.id, "finished", "", {"AP": 1.0})
    assert not here.end_run(run.id, "failed", "too late", {})
    run = here.run(run.id)
    assert (run.state, run.reason, run.result) == ("finished", "", {"AP": 1.0})


# ------------------------------------------------------------------------- names, stars, deleting and undo


CONTROLS = ["\n", "\0", "\x7f", "\x85", "\ud800", "\u2028", "\u202e", "\u2066"]
UNSEEN = ["\u200b", "\u200d\ufeff", "\u3164", "\u2060 \u00ad", "\ufe0f", "\u2800" * 9]


def test_a_run_is_starred_and_named_and_unprintable_names_are_refused(here):
    run = trained(here)
    assert (run.name, run.star) == ("", False)
    for star in (True, True, False):
        here.star_run(run.id, star)
        assert here.run(run.id).star is star
    names = ["first try", "=1+1", "Größe 🏅 排序", "👩‍🔬", "*" * LONGEST_NAME, "<b>'--", ""]
    for name in (*names, *(f"{unseen}x" for unseen in UNSEEN), "kept"):
        here.name_run(run.id, f"  {name} ")
        assert Store(here.home).run(run.id).name == name
    with refused("length of a name", LONGEST_NAME + 1):
        here.name_run(run.id, "x" * (LONGEST_NAME + 1))
    hostile = [(f"x{control}y", ascii(control)) for control in CONTROLS]
    for name, came in hostile + [(unseen, f"only {unseen[:4]!a}") for unseen in UNSEEN]:
        with refused("name", came):
            here.name_run(run.id, name)
    assert here.run(run.id).name == "kept"


def test_a_deleted_run_is_in_no_list_and_is_restored_completely(here):
    run, rest = trained(here), trained(here)
    here.name_run(run.id, "kept in mind")
    before = here.run(run.id)
    here.delete_run(run.id)
    deleted = here.run(run.id).deleted
    here.delete_run(run.id)
    assert here.run(run.id).deleted == deleted, "the first time counts"
    assert deleted >= before.ended
    for listed in (here.runs(), here.runs("train"), here.runs(set_key="abc")):
        assert listed == [rest]
    assert ids(here.runs("train", deleted=True)) == [run.id]
    here.restore_run(run.id)
    assert here.run(run.id) == before
    assert (run.folder / "model.npz").read_text() == "weights"
    assert here.runs(deleted=True) == []


def test_a_run_deleted_while_the_clock_is_far_ahead_can_be_restored(here, monkeypatch):
    run, key = trained(here), imported(here)
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: 1e11)  # the year 5138
        here.delete_run(run.id)
        here.delete_set(key)
    here.sweep()
    assert ids(here.runs("train", deleted=True)) == [run.id]
    here.restore_run(run.id)
    here.restore_set(key)
    assert (ids(here.runs("train")), [row.key for row in here.image_sets()]) == ([run.id], [key])


def test_runs_of_every_kind_but_imports_are_deleted_once_ended_and_emptied_by_kind(here):
    runs = {}
    for task in ("samples", "labels", "asking", "midrank", "timing", "experiment"):
        kind = "train" if task in ("samples", "labels") else "study"
        run = here.create_run(kind, {"set": "abc", "task": task})
        runs[task] = run.id
        with refused(f"{run.called} {run.id}", "queued"):
            here.delete_run(run.id)
        here.end_run(run.id, "finished")
        here.delete_run(run.id)
    assert here.runs() == []
    for settings in ({}, {"set": "abc", "task": "features"}):
        intake = here.create_run("import", settings)
        with refused(f"{intake.called} {intake.id}", intake.called):
            here.delete_run(intake.id)
    assert ids(here.runs(deleted=True, task="labels")) == [runs["labels"]]
    assert here.empty_deleted("samples") == 1
    assert set(ids(here.runs(deleted=True))) == set(runs.values()) - {runs["samples"]}
    here.restore_run(runs["asking"])
    assert ids(here.runs("study", "abc")) == ids(here.runs(task="asking")) == [runs["asking"]]
    assert here.empty_deleted() == len(runs) - 2


def test_deleted_runs_are_removed_permanently_after_thirty_days_or_at_once(here, monkeypatch):
    now, runs = time.time(), []
    for moment in (now - (DELETED_DAYS + 0.01) * DAY, now - (DELETED_DAYS - 0.01) * DAY, None):
        with monkeypatch.context() as patch:
            patch.setattr(run_store.time, "time", lambda moment=moment: moment or now)
            runs.append(trained(here))
            patch.setattr(run_store.time, "time", lambda moment=moment: moment or 0.0)
            here.delete_run(runs[-1].id)
    old, new, clock_went_back = runs
    kept = trained(here)
    here.sweep()
    with refused("run", f"{old.id!r}"):
        here.restore_run(old.id)
    assert [run.folder.exists() for run in (old, new, clock_went_back)] == [False, True, True]
    here.restore_run(clock_went_back.id)
    assert here.empty_deleted() == 1
    assert here.empty_deleted() == 0
    assert not new.folder.exists()
    assert ids(here.runs()) == [kept.id, clock_went_back.id]
    assert kept.folder.exists()
    assert folders(here) == []


# -------------------------------------------------------------------------------------------- image sets


def test_importing_again_mends_an_image_set_that_lost_files(here):
    key = imported(here)
    images = here.image_set(key)
    lost = images.folder / str(images.image_files[2])
    for damage in (lost.unlink, lambda: lost.write_bytes(b"half")):
        damage()
        with refused("image patch 002 of Patches"):
            images.open_image(2)
    assert imported(here) == key
    assert here.image_set(key).open_image(2).size == (SIDE, SIDE)
    assert folders(here) == [key]


def test_adding_a_known_set_changes_nothing(here):
    key = imported(here)
    (row,) = here.image_sets()
    assert (row.key, row.title, row.source, row.images, row.samples) == (key, "Patches", "Painter", 4, 4)
    image_set = here.image_set(key)
    assert (image_set.key, image_set.folder) == (key, here.home / "sets" / key)
    assert row.classes == image_set.classes
    assert image_set.relevance("day").tolist() == [0, 1, 0, 1]
    assert here.thumbnails(key).crop(0)[:4] == b"RIFF"
    assert imported(here) == key
    assert here.image_sets() == [row]
    assert folders(here) == [key]
    newer = imported(here, 5)
    assert [row.key for row in here.image_sets()] == [newer, key]


def test_the_error_about_an_unknown_image_set_lists_those_that_exist(here):
    def refuses(key: str, subject: str, came: Any, remedy: str) -> None:
        for read in (here.image_set, here.thumbnails):
            with refused(subject, came) as caught:
                read(key)
            assert str(here.home) in caught.value.expected
            assert caught.value.remedy.endswith(remedy)

    refuses("../x", "image set", "'../x'", "import one")
    key = imported(here)
    refuses("0" * 64, "image set", f"{'0' * 64!r}", f": Patches ({key})")
    shutil.rmtree(here.home / "sets" / key)
    refuses(key, "image set Patches", "none, because they are gone", "import it again")


# ------------------------------------------------------------------------------------------- ready-made sets


def test_a_prepared_folder_is_adopted_as_a_copy(here, tmp_path):
    built = patches(tmp_path / "prepared", 4)
    key = here.adopt(tmp_path / "prepared", "ready-made")
    assert key == built.key
    [row] = here.image_sets()
    assert (row.key, row.title, row.source) == (key, "Patches", "ready-made")
    assert (row.images, row.samples, row.classes) == (4, 4, built.classes)
    inode = (here.home / "sets" / key).stat().st_ino
    assert here.adopt(tmp_path / "prepared", "something else") == key
    assert here.image_sets() == [row]
    assert folders(here) == [key]
    assert (here.home / "sets" / key).stat().st_ino == inode, "adopting again copies nothing"
    shutil.rmtree(tmp_path / "prepared")
    here.sweep()
    assert here.image_set(key).open_image(3).size == (SIDE, SIDE)
    assert here.thumbnails(key).crop(3)


def test_a_folder_that_is_no_image_set_is_not_adopted(here, tmp_path):
    patches(tmp_path / "damaged", 4)
    (tmp_path / "damaged" / "columns.npz").write_bytes(b"PK")
    for folder in (tmp_path, tmp_path / "damaged"):
        with refused(str(folder)):
            here.adopt(folder, "ready-made")
    assert here.image_sets() == folders(here) == []


def test_a_copy_that_fails_leaves_no_set_and_can_be_repeated(here, tmp_path, monkeypatch):
    patches(tmp_path / "prepared", 4)

    def half(source: Path, target: Path) -> None:
        target.mkdir()
        shutil.copy(source / "manifest.json", target)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, trouble(why="No space left on device", remedy=errors.FULL):
        patch.setattr(shutil, "copytree", half)
        here.adopt(tmp_path / "prepared", "ready-made")
    assert here.image_sets() == []
    key = here.adopt(tmp_path / "prepared", "ready-made")
    assert folders(here) == [key]
    assert len(here.image_set(key)) == 4


# ------------------------------------------------------------------------------------- crashes and sweeps


def test_a_set_whose_process_died_before_its_row_is_whole_and_listed_after_the_next_start(here, monkeypatch):
    def move_and_die(draft: Path, target: Path) -> None:
        os.rename(draft, target)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(image_set_store, "move_durably", move_and_die)
        with pytest.raises(KeyboardInterrupt):
            imported(here)
    assert here.image_sets() == []
    jobs.recover(here)
    [row] = here.image_sets()
    assert len(here.image_set(row.key)) == 4
    assert imported(here) == row.key


def test_the_sweep_removes_unused_files(here):
    failed, cancelled, dead = (here.create_run("import", {}) for _ in range(3))
    here.end_run(failed.id, "failed", "no")
    here.end_run(cancelled.id, "cancelled")
    here.update_run(dead.id, state="running")
    for run in (failed, cancelled, dead):
        run.draft.mkdir()
    begun = here.home / "runs" / "aaaaaaaaaa"  # by a process that died at once
    begun.mkdir()
    (begun / "lock").touch()
    stray = [here.home / "sets" / f"{'0' * 64}.part", begun, here.home / "trash" / "0"]
    for folder in (stray[0], stray[2]):
        (folder / "deep").mkdir(parents=True)
    (here.features / "half.part").write_text("half a matrix")
    here.sweep()
    assert list(here.features.iterdir()) == []
    assert not any(folder.exists() for folder in [*stray, failed.draft, cancelled.draft])
    assert jobs.poll(here, dead.id).state == "failed"
    assert not dead.folder.exists()
    assert not failed.folder.exists(), "of an import that failed its row says why, and nothing else is left"


def test_the_sweep_leaves_files_in_use(here):
    key = imported(here)
    training, held = trained(here), Held()
    live = held(here, "import")
    live.draft.mkdir()
    for name in ("cached.npy", "being written.part"):
        (here.features / name).write_text("features")
    here.sweep()
    held.let_die()
    assert len(here.image_set(key)) == 4
    assert live.draft.exists()
    assert (training.folder / "model.npz").exists()
    assert len(list(here.features.iterdir())) == 2


# --------------------------------------------------------------------------------------- several at once


def test_readers_do_not_wait_for_a_writer_and_a_writer_says_so_if_its_turn_never_comes(here, monkeypatch):
    run = here.create_run("train", {})
    monkeypatch.setattr(home, "BUSY_SECONDS", 0.05)  # a reader that had to wait would fail
    with database_of(here.home) as writer:
        assert writer.execute("pragma journal_mode").fetchone() == ("wal",)
        writer.execute("begin immediate")
        writer.execute("update run set state = 'failed'")
        assert here.run(run.id).state == "queued"
        with trouble(why="database is locked", remedy=errors.BUSY):
            here.create_run("train", {})
    assert here.runs() == [run]


# ----------------------------------------------------------------------------------------- the data folder


def test_the_home_is_the_argument_or_the_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKING_HOME", str(tmp_path / "variable"))
    assert Store().home == tmp_path / "variable"
    assert Store(str(tmp_path / "argument")).home == tmp_path / "argument"
    monkeypatch.delenv("RANKING_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Store().home == tmp_path / ".local/share/ranking-laboratory"


def test_a_home_that_cannot_be_used_says_which_and_what_to_do(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "ranking.sqlite").write_text("this is not a database" * 100)
    for path, subject, remedy in (
        (tmp_path / "file" / "home", f"{tmp_path}/file/home", errors.CLOSED),
        (tmp_path, f"{tmp_path}", errors.DAMAGED),
        ("a\0b", r"'a\x00b'", ""),
        ("~nosuch/x", "~nosuch/x", ""),
    ):
        with trouble(subject=f"the data folder {subject}") as caught:
            Store(path)
        assert caught.value.why
        assert remedy in caught.value.remedy
        assert "RANKING_HOME" in caught.value.remedy
    assert issubclass(HomeError, OSError)


def test_a_home_that_was_emptied_under_a_running_app_says_so(here):
    run = here.create_run("train", {})
    for path in here.home.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for act in (here.runs, here.image_sets, lambda: here.run(run.id), lambda: here.create_run("train", {})):
        with trouble(remedy=errors.GONE):
            act()
    shutil.rmtree(here.home)
    with trouble(remedy=errors.GONE):
        here.runs()
    assert Store(here.home).runs() == []


def test_a_database_damaged_under_a_running_app_says_so(here):
    for number in range(30):
        here.create_run("train", {"text": "x" * 1000, "number": number})
    with database_of(here.home) as database:
        database.execute("pragma wal_checkpoint(truncate)")
    file = here.home / "ranking.sqlite"
    whole = file.read_bytes()
    for damage in (b"this is no database" * 300, whole[:4096] + b"\xff" * (len(whole) - 4096)):
        file.write_bytes(damage)
        with trouble(remedy=errors.DAMAGED):
            here.runs()


def test_every_error_of_the_data_folder_has_its_remedy(here, monkeypatch):
    for error, why, remedy in (
        (PermissionError(13, "Permission denied"), "Permission denied", errors.CLOSED),
        (OSError(30, "Read-only file system"), "Read-only file system", errors.CLOSED),
        (OSError(28, "No space left on device"), "No space left on device", errors.FULL),
        (sqlite3.OperationalError("attempt to write a readonly database"), None, errors.CLOSED),
        (sqlite3.OperationalError("database or disk is full"), None, errors.FULL),
    ):
        monkeypatch.setattr(home.Home, "_connect", raising(error))
        with trouble(why=why or str(error), remedy=remedy):
            here.runs()


BROKEN_JSON = ["", "{", "[]", "null", '{"set": ']
NO_TIMES = ["yesterday", b"1", -1.0, 1e300, math.inf]


def test_a_damaged_row_does_not_block_the_others(here):
    good = [here.create_run("train", {"set": "abc"}).id for _ in range(2)]
    damages: list[tuple[str, Any]] = [("deleted", moment) for moment in NO_TIMES]
    damages += [(column, text) for column in ("settings", "result") for text in BROKEN_JSON]
    for column, content in damages:
        bad, ended = (here.create_run("train", {"set": "abc"}) for _ in range(2))
        here.end_run(ended.id, "finished")
        with database_of(here.home) as database:
            database.execute(f"update run set {column} = ? where id in (?, ?)", (content, bad.id, ended.id))
        for run in (bad, ended):
            (run.folder / ROW).unlink()  # which would mend it
        for listed in (here.runs(), here.runs("train"), here.runs(set_key="abc")):
            assert ids(listed) == good[::-1], (column, content)
        assert not here.runs(deleted=True)
        with refused(f"run {bad.id}"):
            here.run(bad.id)
        jobs.recover(here)
        with database_of(here.home) as database:
            states = dict(database.execute("select id, state from run"))
        assert (states[bad.id], states[ended.id]) == ("failed", "finished"), (column, content)
        assert bad.folder.is_dir()
        good.append(here.create_run("train", {"set": "abc"}, once=True).id)
        assert good[-1] not in (bad.id, ended.id), (column, content)


ADD_STAR = "alter table image_set add column star integer not null default 7;"


def layout_of(folder: Path) -> int:
    with database_of(folder) as database:
        return int(database.execute("pragma user_version").fetchone()[0])


def test_a_data_folder_of_an_older_layout_is_migrated(here, tmp_path, monkeypatch):
    imported(here)
    runs, rows, before = here.runs(), here.image_sets(), layout_of(here.home)
    monkeypatch.setattr(home, "MIGRATIONS", (*home.MIGRATIONS, ADD_STAR))
    for place in (here.home, here.home, tmp_path / "new"):  # older, already up to date, with nothing yet
        opened = Store(place)
        assert layout_of(place) == before + 1
        with database_of(place) as database:
            stars = [star for (star,) in database.execute("select star from image_set")]
        assert stars == [7] * len(opened.image_sets())
    assert Store(here.home).runs() == runs
    assert Store(here.home).image_sets() == rows


def test_runs_of_the_first_layout_have_no_name_and_no_star(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(home, "MIGRATIONS", home.MIGRATIONS[:1])
        Store(tmp_path)
    with database_of(tmp_path) as database:
        database.execute(
            "insert into run (id, kind, state, settings, created) values ('aaaaaaaaaa', 'train',"
            " 'finished', '{}', 1.0)"
        )
    run = Store(tmp_path).run("aaaaaaaaaa")
    assert (run.name, run.star, run.deleted, run.version) == ("", False, None, 0)


def test_settings_and_results_have_a_version_and_newer_ones_are_not_misread(here):
    here_now, newer, old = (here.create_run("train", {"set": f"k{n}"}) for n in range(3))
    assert here_now.version == VERSION
    with here._home.change() as database:
        database.execute("update run set version = ? where id = ?", (VERSION + 1, newer.id))
        database.execute("update run set version = 0 where id = ?", (old.id,))
    assert here.runs() == [old, here_now]
    assert here.run(old.id).version == 0
    came = f"settings of version {VERSION + 1}, from a newer version of this program"
    with refused(f"run {newer.id}", came) as caught:
        here.run(newer.id)
    assert caught.value.remedy == "update this program"
    here.sweep()
    with here._home.read() as database:
        rows = database.execute("select state, version from run where id = ?", (newer.id,)).fetchall()
    assert [tuple(row) for row in rows] == [("queued", VERSION + 1)], "nothing of it was changed"


def test_runs_of_each_task_that_had_a_kind_of_its_own_have_one_of_three(tmp_path, monkeypatch):
    stored = {"set": "abc", "method": "RankSVM", "method_settings": {}}
    kinds = ("train", "label", "order", "experiment", "asking", "study", "timing", "features", "import")
    with monkeypatch.context() as patch:
        patch.setattr(home, "MIGRATIONS", home.MIGRATIONS[:6])
        Store(tmp_path)
    with database_of(tmp_path) as database:
        for name, kind in zip("abcdfghij", kinds, strict=True):
            database.execute(
                "insert into run (id, kind, state, settings, created) values (?, ?, 'finished', ?, 1.0)",
                (name * 10, kind, json.dumps(stored)),
            )
        database.execute(
            "insert into run (id, kind, state, settings, created) values ('eeeeeeeeee', 'label', 'finished', '}', 1.0)"
        )
    here = Store(tmp_path)
    assert [(run.kind, run.task) for run in reversed(here.runs())] == [
        ("train", "samples"),
        ("train", "labels"),
        ("train", "orders"),
        ("study", "experiment"),
        ("study", "asking"),
        ("study", "midrank"),
        ("study", "timing"),
        ("import", "features"),
        ("import", "images"),
    ]
    assert here.run("b" * 10).settings == {**stored, "task": "labels"}
    assert here.run("d" * 10).settings == {**stored, "task": "experiment"}
    for task, name in (("labels", "b"), ("orders", "c"), ("midrank", "g"), ("features", "i")):
        assert ids(here.runs(set_key="abc", task=task)) == [name * 10]
    assert here.run("a" * 10).settings == here.run("j" * 10).settings == stored
    with pytest.raises(InputError):
        here.run("e" * 10)


@pytest.mark.parametrize(
    ("first", "kind", "task"),
    [
        ("order", "train", "orders"),
        ("experiment", "study", "experiment"),
        ("asking", "study", "asking"),
        ("study", "study", "midrank"),
        ("timing", "study", "timing"),
        ("features", "import", "features"),
    ],
)
def test_the_file_of_a_run_of_an_earlier_version_is_read_with_its_new_kind_and_task(here, first, kind, task):
    run = here.create_run(kind, {"set": "abc", "method": "RankSVM", "task": task})
    file = run.folder / ROW
    row = json.loads(file.read_text())
    del row["settings"]["task"]
    file.write_text(json.dumps({**row, "kind": first, "revision": row["revision"] + 1, "name": "renamed"}))
    assert here.caught_up(run.id).name == "renamed"
    migrated = here.run(run.id)
    assert (migrated.kind, migrated.task, migrated.settings) == (kind, task, run.settings)


def test_a_migration_that_fails_or_is_not_known_changes_nothing(here, monkeypatch):
    run, before = here.create_run("train", {"set": "x"}), layout_of(here.home)
    with monkeypatch.context() as patch:
        patch.setattr(home, "MIGRATIONS", (*home.MIGRATIONS, f"{ADD_STAR} drop table no_such_table;"))
        with trouble(why="no such table: no_such_table"):
            Store(here.home)
    assert layout_of(here.home) == before
    with database_of(here.home) as database:
        assert "star" not in {row[1] for row in database.execute("pragma table_info(image_set)")}
    assert Store(here.home).runs() == [run]
    with database_of(here.home) as database:
        database.execute("pragma user_version = 99")
    with trouble(why=f"(layout 99, not {before})"):
        Store(here.home)
    assert layout_of(here.home) == 99


# ------------------------------------------------------------------------------ image sets that are deleted


def test_a_set_is_deleted_and_restored(here):
    key, rest = imported(here, 4), imported(here, 5)
    before = time.time()
    here.delete_set(key)
    (row,) = here.deleted_image_sets()
    here.delete_set(key)
    assert here.deleted_image_sets() == [row], "the first time counts"
    assert row.key == key
    assert before <= row.deleted <= time.time()
    assert [each.key for each in here.image_sets()] == [rest]
    with refused("image set", f"{key!r}"):
        here.image_set(key)
    here.sweep()
    here.restore_set(key)
    assert {each.key for each in here.image_sets()} == {key, rest}
    assert len(here.image_set(key)) == 4
    assert here.deleted_image_sets() == []
    for act in (here.delete_set, here.restore_set):
        with refused("image set", "'nothing'"):
            act("nothing")


def test_a_set_that_a_run_uses_stays(here):
    key = imported(here)
    run = here.create_run("train", {"set": key})
    here.end_run(run.id, "finished")
    for change in (lambda: None, lambda: here.delete_run(run.id)):
        change()
        with refused("image set", "one used by 1 run"):
            here.delete_set(key)
    assert [row.key for row in here.image_sets()] == [key]
    here.empty_deleted()
    here.delete_set(key)
    assert here.image_sets() == []


def test_a_deleted_set_is_removed_permanently_after_thirty_days_or_at_once(here, monkeypatch):
    key, now = imported(here), time.time()
    here.keep_edges(key, np.array([[0, 1]]))
    here.delete_set(key)
    for days in (DELETED_DAYS - 1, DELETED_DAYS + 1):
        with monkeypatch.context() as patch:
            patch.setattr(time, "time", lambda days=days: now + days * DAY)
            here.sweep()
        left = [key] if days < DELETED_DAYS else []
        assert folders(here) == [row.key for row in here.deleted_image_sets()] == left
        assert (here.edges / key).exists() == bool(left)
    key, rest = imported(here, 4), imported(here, 5)
    here.delete_set(key)
    assert here.empty_deleted_sets() == 1
    assert folders(here) == [rest]
    with refused("image set", f"{key!r}"):
        here.restore_set(key)


def test_importing_again_restores_what_was_deleted(here):
    key = imported(here)
    here.delete_set(key)
    assert imported(here) == key
    assert [row.key for row in here.image_sets()] == [key]
    assert here.deleted_image_sets() == []
