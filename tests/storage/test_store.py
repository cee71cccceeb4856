"""Runs and image sets in a data folder: their records, lists, deletion and what crashes leave."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from labelled_pictures import SIDE, patches
from refusals import refused
from working import raising, trouble

from ranking.core import errors
from ranking.core.errors import HomeError
from ranking.datasets import Thumbnails
from ranking.storage import home
from ranking.storage.home import DELETED_DAYS
from ranking.storage.run import RECORD, Run
from ranking.storage.run_names import LONGEST_NAME
from ranking.storage.store import Store

DAY = 86400.0


def trained(store: Store, **settings: object) -> Run:
    run = store.runs.create("train", {"set": "abc", **settings})
    (run.folder / "model.npz").write_text("weights")
    store.runs.end(run.id, "finished")
    return store.runs.get(run.id)


def added(store: Store, folder: Path, count: int = 4) -> str:
    """The key of an image set of so many images that was added."""
    shutil.rmtree(folder, ignore_errors=True)
    patches(folder, count)
    return store.sets.add(folder, "Painter")


def ids(listed: list[Run]) -> list[str]:
    return [run.id for run in listed]


def names_in(store: Store, *folders: str) -> list[str]:
    return sorted(path.name for folder in folders for path in (store.home / folder).iterdir())


# --------------------------------------------------------------------------------------------------- runs


def test_a_new_run_is_queued_and_its_folder_has_only_a_record(store):
    run = store.runs.create("train", {"C": 1.0, "features": [["HOG", {}]]})
    assert (run.kind, run.state, run.result, run.reason) == ("train", "queued", {}, "")
    assert (run.started, run.ended, run.alive) == (None, None, False)
    assert [file.name for file in run.folder.iterdir()] == [RECORD]
    assert store.runs.get(run.id) == Store(store.home).runs.get(run.id) == run
    seen = []
    store.runs.create("train", {}, prepare=lambda folder: seen.append(Store(store.home).runs.all()))
    assert seen == [[run]], "it is prepared before other processes see it"


def test_a_run_that_cannot_be_stored_leaves_nothing(store):
    with refused("kind of a run", "test"):
        store.runs.create("test", {})
    with pytest.raises(ValueError):  # noqa: PT011 (of the JSON module)
        store.runs.create("train", {"C": float("nan")})
    with pytest.raises(RuntimeError):
        store.runs.create("train", {}, prepare=raising(RuntimeError("no")))
    assert store.runs.all() == []
    store.runs.empty_trash()
    assert names_in(store, "runs", "trash") == []


def test_an_invalid_id_or_key_becomes_no_path(store):
    texts = [
        "",
        "..",
        "../../etc",
        "/etc/passwd",
        "a" * 9,
        "a" * 11,
        "ABCDEFGHIJ",
        "aaaaaaaaaa\n",
        "aaaaaaaaa/",
    ]
    for text in texts:
        with refused("run", f"{text!r}"):
            store.runs.get(text)
        with refused("image set", f"{text!r}"):
            store.sets.delete(text)
        if text not in ("a" * 9, "a" * 11, "ABCDEFGHIJ"):
            with refused("key of an image set", f"{text!r}"):
                store.answers.events(text)
    with refused("run", "'aaaaaaaaaa'"):
        store.runs.update("aaaaaaaaaa", state="failed")


def test_runs_are_listed_newest_first_by_kind_task_and_image_set(store):
    first = store.runs.create("import", {"source": "Digits"}).id
    store.runs.update(first, result={"key": "k1"})
    second, third = (store.runs.create("train", {"set": key}).id for key in ("k1", "k2"))
    assert ids(store.runs.all()) == [third, second, first]
    assert ids(store.runs.all("import")) == [first]
    assert ids(store.runs.all(set_key="k1")) == [second, first]
    assert ids(store.runs.all("train", "k1")) == ids(store.runs.all(task="samples", set_key="k1")) == [second]


def test_equal_runs_have_the_same_kind_and_settings(store):
    settings = {"set": "abc", "features": (("HOG", {}),)}
    first, other = (
        store.runs.create("train", settings),
        store.runs.create("train", {**settings, "query": "more"}),
    )
    source, gone = store.runs.create("import", settings), trained(store, features=[["HOG", {}]])
    store.runs.delete(gone.id)
    assert ids(store.runs.equal("train", settings)) == [first.id]
    assert ids(store.runs.equal("import", settings)) == [source.id]
    assert ids(store.runs.equal("train", other.settings)) == [other.id]


def test_a_run_has_scores_once_it_has_ended_with_their_metrics_and_their_file(store):
    run = store.runs.create("train", {"set": "abc"})
    run.scores_file.touch()
    store.runs.update(run.id, result={"test": {"AP": 1.0}})
    # it is still running
    assert not store.runs.get(run.id).has_scores
    store.runs.end(run.id, "cancelled")
    assert store.runs.get(run.id).has_scores
    run.scores_file.unlink()
    assert not store.runs.get(run.id).has_scores


def test_columns_are_written_and_only_the_first_end_of_a_run_counts(store):
    run = store.runs.create("train", {})
    store.runs.update(run.id, state="running", result={"AP": 0.5}, started=1.0, pid=7)
    run = store.runs.get(run.id)
    assert (run.state, run.result, run.started, run.pid) == ("running", {"AP": 0.5}, 1.0, 7)
    with refused("state of a run", "done"):
        store.runs.update(run.id, state="done")
    for columns, came in (({"id": "x"}, "id"), ({}, "none")):
        with refused("columns of a run", came):
            store.runs.update(run.id, **columns)
    assert store.runs.get(run.id) == run
    assert store.runs.end(run.id, "finished", "", {"AP": 1.0})
    assert not store.runs.end(run.id, "failed", "too late", {})
    run = store.runs.get(run.id)
    assert (run.state, run.reason, run.result) == ("finished", "", {"AP": 1.0})


# ------------------------------------------------------------------------- names, stars, deleting and undo


CONTROLS = ["\n", "\0", "\x7f", "\x85", "\ud800", "\u2028", "\u202e", "\u2066"]
UNSEEN = ["\u200b", "\u200d\ufeff", "\u3164", "\u2060 \u00ad", "\ufe0f", "\u2800" * 9]


def test_a_run_is_starred_and_named_and_unprintable_names_are_refused(store):
    run = trained(store)
    for star in (True, True, False):
        store.runs.star(run.id, star)
        assert store.runs.get(run.id).star is star
    names = ["first try", "=1+1", "Größe 🏅 排序", "👩‍🔬", "*" * LONGEST_NAME, "<b>'--", ""]
    for name in (*names, *(f"{unseen}x" for unseen in UNSEEN), "kept"):
        store.runs.rename(run.id, f"  {name} ")
        assert Store(store.home).runs.get(run.id).name == name
    with refused("length of a name", LONGEST_NAME + 1):
        store.runs.rename(run.id, "x" * (LONGEST_NAME + 1))
    hostile = [(f"x{control}y", ascii(control)) for control in CONTROLS]
    for name, came in hostile + [(unseen, f"only {unseen[:4]!a}") for unseen in UNSEEN]:
        with refused("name", came):
            store.runs.rename(run.id, name)
    assert store.runs.get(run.id).name == "kept"


def test_a_deleted_run_is_in_no_list_and_is_restored_completely(store):
    run, rest = trained(store), trained(store)
    store.runs.delete(run.id)
    deleted = store.runs.get(run.id).deleted
    store.runs.delete(run.id)
    assert store.runs.get(run.id).deleted == deleted, "the first time counts"
    assert store.runs.all() == store.runs.all(set_key="abc") == [rest]
    assert ids(store.runs.all("train", deleted=True)) == [run.id]
    store.runs.restore(run.id)
    assert store.runs.get(run.id) == run
    assert (run.folder / "model.npz").read_text() == "weights"
    live = store.runs.create("train", {})
    with refused(f"training run {live.id}", "queued"):
        store.runs.delete(live.id)


def test_deleted_runs_are_removed_after_thirty_days_or_by_emptying_the_trash_of_a_task(store, monkeypatch):
    run, study, now = trained(store), store.runs.create("study", {"task": "timing"}), time.time()
    store.runs.end(study.id, "finished")
    for each in (run, study):
        store.runs.delete(each.id)
    assert store.runs.empty_trash("timing") == 1
    for days, left in ((DELETED_DAYS - 1, [run.id]), (DELETED_DAYS + 1, [])):
        monkeypatch.setattr(time, "time", lambda days=days: now + days * DAY)
        store.sweep()
        assert names_in(store, "runs", "trash") == left


def test_an_import_that_did_not_finish_leaves_its_record_and_no_files(store):
    run = store.runs.create("import", {"source": "Digits"})
    (run.folder / "upload.zip").write_text("zip")
    (run.folder / "draft").mkdir()
    store.runs.end(run.id, "failed", "no images")
    store.runs.clear(run)
    assert [file.name for file in run.folder.iterdir()] == [RECORD]
    assert store.runs.get(run.id).reason == "no images"


# -------------------------------------------------------------------------------------------- image sets


def test_a_folder_is_added_as_a_copy_or_moved(store, tmp_path):
    built = patches(tmp_path / "prepared", 4)
    key = store.sets.add(tmp_path / "prepared", "ready-made")
    assert key == built.key
    [row] = store.sets.rows()
    assert (row.key, row.title, row.source) == (key, "Patches", "ready-made")
    assert (row.images, row.samples, row.classes) == (4, 4, built.classes)
    inode = (store.home / "sets" / key).stat().st_ino
    assert store.sets.add(tmp_path / "prepared", "something else", move=True) == key
    assert store.sets.rows() == [row]
    assert (store.home / "sets" / key).stat().st_ino == inode, (
        "a set that is there already is not written again"
    )
    patches(tmp_path / "moved", 5)
    moved = store.sets.add(tmp_path / "moved", "ready-made", move=True)
    assert not (tmp_path / "moved").exists()
    shutil.rmtree(tmp_path / "prepared")
    assert store.sets.get(key).open_image(3).size == (SIDE, SIDE)
    assert Thumbnails(store.sets.folder(moved)).crop(3)
    assert names_in(store, "sets", "trash") == sorted([key, moved])


def test_a_folder_that_is_no_image_set_is_not_added(store, tmp_path):
    patches(tmp_path / "damaged", 4)
    (tmp_path / "damaged" / "columns.npz").write_bytes(b"PK")
    for folder in (tmp_path, tmp_path / "damaged"):
        with refused(str(folder)):
            store.sets.add(folder, "ready-made")
    assert store.sets.rows() == names_in(store, "sets", "trash") == []


def test_a_copy_that_fails_leaves_no_set_and_can_be_repeated(store, tmp_path, monkeypatch):
    patches(tmp_path / "prepared", 4)

    def half(source: Path, target: Path) -> None:
        target.mkdir()
        shutil.copy(source / "manifest.json", target)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, trouble(why="No space left on device", remedy=errors.FULL):
        patch.setattr(shutil, "copytree", half)
        store.sets.add(tmp_path / "prepared", "ready-made")
    assert store.sets.rows() == names_in(store, "sets", "trash") == []
    assert len(store.sets.get(store.sets.add(tmp_path / "prepared", "ready-made"))) == 4


def test_adding_a_set_again_mends_lost_files_and_keeps_its_answers(store, tmp_path):
    key = added(store, tmp_path / "set")
    store.corrections.mark(key, "day", {"s1": False}, True)
    columns = store.home / "sets" / key / "columns.npz"
    for damage in (columns.unlink, lambda: columns.write_bytes(bytes(columns.stat().st_size))):
        damage()
        assert added(store, tmp_path / "set") == key
        assert len(store.sets.get(key)) == 4
        assert len(store.corrections.all(key)) == 1


def test_the_error_about_an_unknown_image_set_lists_those_that_exist(store, tmp_path):
    with refused("image set", "'../x'") as caught:
        store.sets.get("../x")
    assert caught.value.remedy == "import one"
    key = added(store, tmp_path / "set")
    with refused("image set", f"{'0' * 64!r}") as caught:
        store.sets.folder("0" * 64)
    assert caught.value.remedy.endswith(f": Patches ({key})")


def test_a_set_is_deleted_and_restored(store, tmp_path):
    key, rest = added(store, tmp_path / "set", 4), added(store, tmp_path / "set", 5)
    store.sets.delete(key)
    [row] = store.sets.deleted_rows()
    store.sets.delete(key)
    assert store.sets.deleted_rows() == [row], "the first time counts"
    assert [each.key for each in store.sets.rows()] == [rest]
    with refused("image set", f"{key!r}"):
        store.sets.get(key)
    store.sweep()
    store.sets.restore(key)
    assert {each.key for each in store.sets.rows()} == {key, rest}
    assert store.sets.deleted_rows() == []
    store.sets.delete(key)
    assert added(store, tmp_path / "set", 4) == key
    assert store.sets.deleted_rows() == [], "adding it again restores it"


def test_a_set_that_a_run_uses_stays(store, tmp_path):
    key = added(store, tmp_path / "set")
    run = trained(store, set=key)
    for change in (lambda: None, lambda: store.runs.delete(run.id)):
        change()
        with refused("image set", "one used by 1 run"):
            store.sets.delete(key)
    store.runs.empty_trash()
    store.sets.delete(key)
    assert store.sets.rows() == []


def test_a_deleted_set_is_removed_with_its_uploads_after_thirty_days_or_by_emptying_the_trash(
    store, tmp_path, monkeypatch
):
    key, now = added(store, tmp_path / "set"), time.time()
    store.features.add_edges(key, np.array([[0, 1]]))
    store.sets.delete(key)
    for days in (DELETED_DAYS - 1, DELETED_DAYS + 1):
        with monkeypatch.context() as patch:
            patch.setattr(time, "time", lambda days=days: now + days * DAY)
            store.sweep()
        left = [key] if days < DELETED_DAYS else []
        assert names_in(store, "sets", "trash") == [row.key for row in store.sets.deleted_rows()] == left
        assert names_in(store, "edges") == left
    key = added(store, tmp_path / "set")
    store.sets.delete(key)
    assert store.sets.empty_trash() == 1
    assert names_in(store, "sets") == []
    with refused("image set", f"{key!r}"):
        store.sets.restore(key)


# ------------------------------------------------------------------------------------------- data folder


def test_a_sweep_removes_what_crashes_left_and_nothing_in_use(store, tmp_path):
    key, run = added(store, tmp_path / "set"), trained(store)
    for name in ("runs/abcdefghij.part", f"sets/{key}.part"):
        (store.home / name).mkdir()
    for name in ("features/x.npy.part", "edges/x.npy.part", "runs/unfinished-x"):
        (store.home / name).touch()
        os.utime(store.home / name, (0, 0))
    # what another process writes just now
    (store.home / "features" / "y.npy.part").touch()
    store.sweep()
    assert (store.home / "features" / "y.npy.part").exists()
    (store.home / "features" / "y.npy.part").unlink()
    assert names_in(store, "runs", "sets", "features", "edges", "trash") == sorted([run.id, key])


def test_the_data_folder_is_the_argument_or_the_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKING_HOME", str(tmp_path / "variable"))
    assert Store().home == tmp_path / "variable"
    assert Store(tmp_path / "argument").home == tmp_path / "argument"


def test_a_new_data_folder_takes_no_space(store):
    assert sum(file.stat().st_size for file in store.home.rglob("*") if file.is_file()) == 0


def test_a_data_folder_of_an_earlier_version_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "ranking.sqlite").touch()
    with pytest.raises(HomeError, match=r"an earlier version wrote it; set RANKING_HOME to a new folder$"):
        Store(tmp_path)


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_data_folder_without_permission_says_so(tmp_path):
    tmp_path.chmod(0o500)
    with trouble(remedy=errors.CLOSED):
        Store(tmp_path / "home")


def test_errors_name_the_data_folder_and_the_remedy(store, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with trouble(subject=f"the data folder {tmp_path / 'file'}", remedy=errors.CLOSED):
        Store(tmp_path / "file")
    with trouble(remedy="set RANKING_HOME to a path without one"):
        Store("nul\0inside")
    shutil.rmtree(store.home)
    with trouble(why="No such file or directory", remedy=errors.GONE):
        store.runs.create("train", {})
    full = OSError(28, "No space left on device")
    other = Store(tmp_path / "other")
    monkeypatch.setattr(home.os, "replace", raising(full))
    with trouble(why="No space left on device", remedy=errors.FULL):
        other.runs.create("train", {})
    assert names_in(other, "runs") == []


@pytest.mark.parametrize("marked_since", [False, True])
@pytest.mark.parametrize("added_again", [False, True])
def test_a_kill_while_a_damaged_set_is_replaced_loses_nothing(
    store, tmp_path, monkeypatch, marked_since, added_again
):
    key = added(store, tmp_path / "set")
    store.corrections.mark(key, "red", {"one": False}, True)
    (store.home / "sets" / key / "columns.npz").unlink()
    monkeypatch.setattr("ranking.storage.sets.move_durably", raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        added(store, tmp_path / "again")
    monkeypatch.undo()
    assert not (store.home / "sets" / key).exists()
    if marked_since:
        store.corrections.mark(key, "red", {"two": False}, True)
    added(store, tmp_path / "set") if added_again else store.sweep()
    assert [row.key for row in store.sets.rows()] == [key]
    assert len(store.corrections.all(key)) == 1 + marked_since
