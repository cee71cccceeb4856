from __future__ import annotations

import io
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from PIL import Image
from refusals import refused

from ranking import home, jobs, run_store, store
from ranking.datasets import build_image_set, ready_made_folder
from ranking.home import HomeError
from ranking.jobs import take_lock
from ranking.run import CALLED, Run, State
from ranking.run_settings import LookSettings
from ranking.run_store import DELETED_DAYS
from ranking.store import Store
from ranking.types import SourceBox, SourceImage


@dataclass
class Squares:
    """Four plain images with one box each, two of them for testing."""

    name: ClassVar[str] = "Squares"
    called: str = "Squares"

    def title(self) -> str:
        return self.called

    def __len__(self) -> int:
        return 4

    def records(self) -> Iterator[SourceImage]:
        for number in range(4):
            file = io.BytesIO()
            Image.new("RGB", (20, 20), (60 * number, 0, 0)).save(file, "PNG")
            box = SourceBox((2, 2, 18, 18), ("dark" if number < 2 else "light",))
            yield SourceImage(f"square {number}", file.getvalue(), (box,), test=number % 2 == 1)


@pytest.fixture
def here(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


def imported(here: Store, title: str = "Squares") -> Run:
    """A finished import that waits for a decision, as the worker leaves it."""
    run = here.create_run("import", {"source": "Squares", "source_settings": {}})
    built, _ = build_image_set(Squares(title), run.draft)
    result = {"key": built.key, "title": title, "images": 4, "samples": 4, "problems": 0}
    assert here.end_run(run.id, "finished", result={**result, "classes": {"dark": 2, "light": 2}})
    return here.run(run.id)


def folders(here: Store) -> list[str]:
    """The folders of image sets that are there, and what waits to be removed."""
    return [path.name for folder in ("sets", "trash") for path in (here.home / folder).iterdir()]


# --------------------------------------------------------------------------------------------------- runs


def test_a_new_run_is_queued_and_has_an_empty_folder(here: Store) -> None:
    run = here.create_run("train", {"C": 1.0, "features": [["HOG", {}]]})
    assert (run.kind, run.state, run.result, run.reason) == ("train", "queued", {}, "")
    assert run.settings == {"C": 1.0, "features": [["HOG", {}]]}
    assert (run.started, run.ended) == (None, None)
    assert list(run.folder.iterdir()) == []
    assert here.run(run.id) == run
    assert len(run.id) == 10
    assert set(run.id) <= set("abcdefghijklmnopqrstuvwxyz0123456789")


def test_ids_differ(here: Store) -> None:
    assert len({here.create_run("train", {}).id for _ in range(20)}) == 20


def test_a_kind_or_setting_that_cannot_be_stored_is_refused_whole(here: Store) -> None:
    with pytest.raises(ValueError, match="no run is of kind 'test'; choose one of: import, train"):
        here.create_run("test", {})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not JSON compliant"):
        here.create_run("train", {"C": float("nan")})

    def refuse(folder: Path) -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        here.create_run("train", {}, prepare=refuse)
    assert here.runs() == []


def test_a_run_is_prepared_before_anyone_sees_it(here: Store) -> None:
    seen = []
    run = here.create_run("train", {}, prepare=lambda folder: seen.append((folder, Store(here.home).runs())))
    assert seen == [(run.folder, [])]


@pytest.mark.parametrize(
    "text",
    ["", "..", "../../etc", "/etc/passwd", "a" * 9, "a" * 11, "ABCDEFGHIJ", "aaaaaaaaaa\n", "aaaaaaaaa/"],
)
def test_what_is_no_run_id_reaches_no_path(here: Store, text: str) -> None:
    for ask in (here.run, here.keep, here.discard):
        with pytest.raises(ValueError, match="is not the id of a run: expected 10 letters a-z and digits"):
            ask(text)


def test_an_unknown_run_is_said_to_be_so(here: Store) -> None:
    with pytest.raises(ValueError, match=r"there is no run 'aaaaaaaaaa' in .*home; choose one from the list"):
        here.run("aaaaaaaaaa")
    with pytest.raises(ValueError, match="there is no run"):
        here.update_run("aaaaaaaaaa", state="failed")


def test_runs_are_listed_newest_first_whatever_the_clock_says(
    here: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(1000, 0, -100))
    monkeypatch.setattr(run_store.time, "time", lambda: float(next(clock)))
    ids = [here.create_run("train", {}).id for _ in range(3)]
    assert [run.id for run in here.runs()] == ids[::-1]
    here.update_run(ids[0], started=5000.0)
    here.end_run(ids[0], "finished")
    assert here.run(ids[0]).ended == 5000.0


def test_runs_are_filtered_by_kind_and_image_set(here: Store) -> None:
    first = here.create_run("import", {"source": "Digits"})
    here.update_run(first.id, result={"key": "k1"})
    second = here.create_run("train", {"set": "k1"})
    third = here.create_run("train", {"set": "k2"})
    assert [run.id for run in here.runs()] == [third.id, second.id, first.id]
    assert [run.id for run in here.runs("import")] == [first.id]
    assert [run.id for run in here.runs(set_key="k1")] == [second.id, first.id]
    assert [run.id for run in here.runs("train", "k1")] == [second.id]
    assert here.runs(set_key="' or 1 --") == []


def test_equal_runs_are_those_asked_for_the_same(here: Store) -> None:
    settings = {"set": "abc", "features": (("HOG", {}),)}
    first = here.create_run("train", settings)
    here.end_run(first.id, "failed")
    here.create_run("train", {**settings, "set": "other"})
    here.create_run("train", {**settings, "query": "more"})
    here.create_run("import", settings)
    gone = here.create_run("train", settings)
    here.end_run(gone.id, "finished")
    here.delete_run(gone.id)
    last = here.create_run("train", {"features": [["HOG", {}]], "set": "abc"})
    assert [run.id for run in here.equal_runs("train", settings)] == [last.id, first.id]
    source = here.create_run("import", {"source": "Digits"})
    assert [run.id for run in here.equal_runs("import", {"source": "Digits"})] == [source.id]


def test_a_run_has_scores_once_it_has_ended_with_their_metrics_and_their_file(here: Store) -> None:
    run = here.create_run("train", {"set": "abc"})
    run.scores_file.touch()
    here.update_run(run.id, result={"test": {"AP": 1.0}})
    assert not here.run(run.id).has_scores  # it still goes on
    here.end_run(run.id, "cancelled")
    assert here.run(run.id).has_scores
    run.scores_file.unlink()
    assert not here.run(run.id).has_scores
    run.scores_file.touch()
    here.update_run(run.id, result={})
    assert not here.run(run.id).has_scores


def test_update_run_writes_what_is_a_column_and_nothing_else(here: Store) -> None:
    run = here.create_run("train", {})
    here.update_run(run.id, state="running", result={"AP": 0.5}, started=1.0, pid=7)
    run = here.run(run.id)
    assert (run.state, run.result, run.started, run.pid) == ("running", {"AP": 0.5}, 1.0, 7)
    with pytest.raises(ValueError, match="no state is called 'done'; valid: queued, running, finished"):
        here.update_run(run.id, state="done")
    with pytest.raises(ValueError, match=r"cannot update \['id = 1; --'\] of a run; choose among"):
        here.update_run(run.id, **{"id = 1; --": 1})
    with pytest.raises(ValueError, match="cannot update nothing"):
        here.update_run(run.id)
    assert here.run(run.id) == run


def test_only_the_first_end_counts(here: Store) -> None:
    run = here.create_run("train", {})
    assert here.end_run(run.id, "finished", "", {"AP": 1.0})
    assert not here.end_run(run.id, "failed", "too late", {})
    run = here.run(run.id)
    assert (run.state, run.reason, run.result) == ("finished", "", {"AP": 1.0})


def test_a_run_lives_while_its_lock_is_held(here: Store) -> None:
    run = here.create_run("train", {})
    assert not run.alive
    lock = take_lock(run.folder)
    assert run.alive
    with pytest.raises(BlockingIOError):
        take_lock(run.folder)
    os.close(lock)
    assert not run.alive


# ------------------------------------------------------------------------- names, stars, deleting and undo


def ended_training(here: Store, state: State = "finished") -> Run:
    run = here.create_run("train", {"set": "abc"})
    (run.folder / "model.npz").write_text("weights")
    here.end_run(run.id, state)
    return here.run(run.id)


@pytest.mark.parametrize("name", ["", "first try", "=1+1", "Größe 🏅 排序", "👩‍🔬", "*" * 80, "<b>'--"])
def test_a_run_is_called_what_a_person_says(here: Store, name: str) -> None:
    run = ended_training(here)
    assert run.name == ""
    here.name_run(run.id, f"  {name} ")
    assert Store(here.home).run(run.id).name == name


@pytest.mark.parametrize("bad", ["a\nb", "a\0", "\x7f", "\x85", "\ud800", "\u2028", "a\u202eb", "\u2066x"])
def test_a_name_has_no_control_characters(here: Store, bad: str) -> None:
    run = ended_training(here)
    with pytest.raises(ValueError, match="a name must be plain text on one line, got the control character"):
        here.name_run(run.id, f"x{bad}y")
    with pytest.raises(ValueError, match="a name must have at most 80 characters, got 81; shorten it"):
        here.name_run(run.id, "x" * 81)
    assert here.run(run.id).name == ""


@pytest.mark.parametrize("bad", ["\u200b", "\u200d\ufeff", "\u3164", "\u2060 \u00ad", "\ufe0f", "\u2800" * 9])
def test_a_name_can_be_seen(here: Store, bad: str) -> None:
    run = ended_training(here)
    with pytest.raises(
        ValueError, match=r"must have a character that can be seen, got only '\\.*leave the name empty"
    ):
        here.name_run(run.id, bad)
    here.name_run(run.id, f"{bad}x")
    assert here.run(run.id).name == f"{bad}x"


def test_a_star_is_given_and_taken(here: Store) -> None:
    run = ended_training(here)
    for star in (True, True, False):
        here.star_run(run.id, star)
        assert here.run(run.id).star is star


def test_a_deleted_run_is_in_no_list_and_comes_back_whole(here: Store) -> None:
    run, other = ended_training(here), ended_training(here)
    here.name_run(run.id, "kept in mind")
    before = here.run(run.id)
    here.delete_run(run.id)
    deleted = here.run(run.id).deleted
    here.delete_run(run.id)
    assert here.run(run.id).deleted == deleted == pytest.approx(time.time(), abs=10), "the first time counts"
    for found in (here.runs(), here.runs("train"), here.runs(set_key="abc")):
        assert [one.id for one in found] == [other.id]
    assert [one.id for one in here.runs("train", deleted=True)] == [run.id]
    here.restore_run(run.id)
    assert here.run(run.id) == before
    assert (run.folder / "model.npz").read_text() == "weights"
    assert here.runs(deleted=True) == []


def test_a_live_run_must_be_cancelled_before_it_is_deleted(here: Store) -> None:
    run = here.create_run("train", {})
    with pytest.raises(
        ValueError, match=f"training {run.id} is still queued; cancel it first, then delete it"
    ):
        here.delete_run(run.id)
    with pytest.raises(
        ValueError, match="is an import; keep or discard it, only trainings and simulations are"
    ):
        here.delete_run(imported(here).id)
    assert here.runs(deleted=True) == []


def test_runs_of_every_kind_but_imports_are_deleted_and_emptied_by_kind(here: Store) -> None:
    runs = {}
    for kind in ("train", "label", "order", "asking", "study", "timing", "experiment"):
        runs[kind] = here.create_run(kind, {"set": "abc"}).id
        with pytest.raises(ValueError, match=f"{CALLED[kind]} {runs[kind]} is still queued; cancel it first"):
            here.delete_run(runs[kind])
        here.end_run(runs[kind], "finished")
        here.delete_run(runs[kind])
    assert here.runs() == []
    assert [run.id for run in here.runs("label", deleted=True)] == [runs["label"]]
    assert here.empty_deleted("train") == 1
    assert {run.id for run in here.runs(deleted=True)} == set(runs.values()) - {runs["train"]}
    here.restore_run(runs["asking"])
    assert [run.id for run in here.runs("asking", "abc")] == [runs["asking"]]
    assert here.empty_deleted() == len(runs) - 2


def test_deleted_runs_go_for_good_after_thirty_days_or_at_once(
    here: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    day, now = 86400.0, time.time()

    def deleted_at(moment: float) -> Run:
        with monkeypatch.context() as patch:
            patch.setattr(run_store.time, "time", lambda: moment)
            run = ended_training(here)
            here.delete_run(run.id)
        return run

    old, new = deleted_at(now - 30.01 * day), deleted_at(now - 29.99 * day)
    kept = ended_training(here)
    here.sweep()
    with pytest.raises(ValueError, match="there is no run"):
        here.restore_run(old.id)
    assert not old.folder.exists()
    assert new.folder.exists()
    assert here.empty_deleted() == 1
    assert here.empty_deleted() == 0
    assert not new.folder.exists()
    assert kept.folder.exists()
    assert [run.id for run in here.runs()] == [kept.id]
    assert folders(here) == []


def test_a_clock_that_went_back_costs_no_deleted_run(here: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ended_training(here)
    with monkeypatch.context() as patch:
        patch.setattr(run_store.time, "time", lambda: 0.0)
        here.delete_run(run.id)
    here.sweep()
    here.restore_run(run.id)
    assert here.run(run.id).deleted is None


def test_runs_of_the_first_layout_have_no_name_and_no_star(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(home, "MIGRATIONS", home.MIGRATIONS[:1])
        old = Store(tmp_path)
        with closing(sqlite3.connect(tmp_path / "ranking.sqlite")) as database, database:
            database.execute(
                "insert into run (id, kind, state, settings, created) values ('aaaaaaaaaa', 'train',"
                " 'finished', '{}', 1.0)"
            )
    run = Store(old.home).run("aaaaaaaaaa")
    assert (run.name, run.star, run.deleted, run.imported) == ("", False, None, None)


# -------------------------------------------------------------------------------------------- image sets


def test_importing_again_mends_an_image_set_that_lost_files(here: Store) -> None:
    key = here.keep(imported(here).id)
    images = here.image_set(key)
    lost = images.folder / str(images.image_files[2])
    lost.unlink()
    with pytest.raises(ValueError, match=r"^image square 2 of Squares"):
        images.open_image(2)
    lost.write_bytes(b"half")
    with pytest.raises(ValueError, match=r"^image square 2 of Squares"):
        images.open_image(2)
    assert here.keep(imported(here).id) == key
    assert here.image_set(key).open_image(2).size == (20, 20)
    assert folders(here) == [key]


def test_a_kept_import_is_an_image_set(here: Store) -> None:
    run = imported(here)
    assert here.image_sets() == []
    key = here.keep(run.id)
    (row,) = here.image_sets()
    assert (row.key, row.title, row.source, row.images, row.samples) == (key, "Squares", "Squares", 4, 4)
    assert row.classes == ("dark", "light")
    image_set = here.image_set(key)
    assert image_set.key == key
    assert image_set.folder == here.home / "sets" / key
    assert image_set.relevance("dark").tolist() == [1, 1, 0, 0]
    assert here.thumbnails(key).crop(0)[:4] == b"RIFF"
    assert not run.draft.exists()
    assert here.run(run.id).result["decision"] == "kept"


def test_keeping_again_and_keeping_the_known_are_harmless(here: Store) -> None:
    first, second = imported(here), imported(here)
    key = here.keep(first.id)
    assert here.keep(first.id) == key
    assert here.keep(second.id) == key
    assert len(here.image_sets()) == 1
    assert folders(here) == [key]
    assert not second.draft.exists()


def test_image_sets_are_listed_newest_first(here: Store) -> None:
    for title in ("A", "B"):
        here.keep(imported(here, title).id)
    assert [row.title for row in here.image_sets()] == ["B", "A"]


def test_a_discarded_import_is_gone_for_good(here: Store) -> None:
    run = imported(here)
    here.discard(run.id)
    here.discard(run.id)
    assert not run.draft.exists()
    assert folders(here) == []
    with pytest.raises(ValueError, match=f"import {run.id} was discarded before; import it again"):
        here.keep(run.id)
    assert here.image_sets() == []


def test_what_was_kept_cannot_be_discarded(here: Store) -> None:
    run = imported(here)
    key = here.keep(run.id)
    with pytest.raises(ValueError, match="was kept before"):
        here.discard(run.id)
    assert len(here.image_set(key)) == 4


def test_only_a_finished_import_can_be_kept(here: Store) -> None:
    training, going = here.create_run("train", {}), here.create_run("import", {})
    here.end_run(training.id, "finished")
    with pytest.raises(ValueError, match=r"only a finished import can be kept; run .* is a finished train"):
        here.keep(training.id)
    with pytest.raises(
        ValueError, match=r"only a finished import can be discarded; run .* is a queued import"
    ):
        here.discard(going.id)


def test_a_draft_that_has_vanished_is_said_to_have(here: Store) -> None:
    run = imported(here)
    shutil.rmtree(run.draft)
    with pytest.raises(ValueError, match=r"the files of import .* are gone from .*draft; import it again"):
        here.keep(run.id)


def test_a_key_that_is_a_path_is_refused(here: Store) -> None:
    run = imported(here)
    here.update_run(run.id, result={**run.result, "key": "../../somewhere"})
    with pytest.raises(ValueError, match="an image set's key must be 8 to 128 letters and digits"):
        here.keep(run.id)


@pytest.mark.parametrize("ask", ["image_set", "thumbnails"])
def test_an_unknown_image_set_is_answered_with_what_there_is(here: Store, ask: str) -> None:
    with pytest.raises(ValueError, match=r"no image set '\.\./x' in .*; there are: none yet, import one"):
        getattr(here, ask)("../x")
    key = here.keep(imported(here).id)
    with pytest.raises(ValueError, match=rf"there are: Squares \({key}\)"):
        getattr(here, ask)("0" * 64)
    shutil.rmtree(here.home / "sets" / key)
    with pytest.raises(ValueError, match=r"the files of Squares are gone from .*; import it again"):
        getattr(here, ask)(key)


# ------------------------------------------------------------------------------------------- ready-made sets


def test_a_prepared_folder_is_adopted_as_a_copy(here: Store, tmp_path: Path) -> None:
    built, _ = build_image_set(Squares("Prepared"), tmp_path / "prepared")
    key = here.adopt(tmp_path / "prepared", "ready-made")
    [row] = here.image_sets()
    assert (
        (row.key, row.title, row.source)
        == (key, "Prepared", "ready-made")
        == (built.key, "Prepared", row.source)
    )
    assert (row.images, row.samples, row.classes) == (4, 4, ("dark", "light"))
    shutil.rmtree(tmp_path / "prepared")
    here.sweep()
    assert here.image_set(key).open_image(3).size == (20, 20)
    assert here.thumbnails(key).crop(3)


def test_adopting_again_is_harmless_and_fast(here: Store) -> None:
    folder = ready_made_folder()
    assert folder is not None
    begin = time.monotonic()
    key = here.adopt(folder, "ready-made")
    assert time.monotonic() - begin < 1
    inode = (here.home / "sets" / key).stat().st_ino
    assert here.adopt(folder, "something else") == key
    assert [row.source for row in here.image_sets()] == ["ready-made"]
    assert folders(here) == [key]
    assert (here.home / "sets" / key).stat().st_ino == inode


def test_what_is_no_image_set_is_not_adopted(here: Store, tmp_path: Path) -> None:
    with refused(str(tmp_path)):
        here.adopt(tmp_path, "ready-made")
    build_image_set(Squares(), tmp_path / "damaged")
    (tmp_path / "damaged" / "columns.npz").write_bytes(b"PK")
    with refused(str(tmp_path / "damaged"), "damaged files"):
        here.adopt(tmp_path / "damaged", "ready-made")
    assert here.image_sets() == []
    assert folders(here) == []


def test_a_copy_that_fails_leaves_no_set_and_can_be_repeated(
    here: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_image_set(Squares(), tmp_path / "prepared")
    copytree = shutil.copytree

    def half(source: Path, target: Path) -> None:
        target.mkdir()
        shutil.copy(source / "manifest.json", target)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copytree", half)
    with pytest.raises(HomeError, match="No space left on device; free some space"):
        here.adopt(tmp_path / "prepared", "ready-made")
    assert here.image_sets() == []
    monkeypatch.setattr(shutil, "copytree", copytree)
    key = here.adopt(tmp_path / "prepared", "ready-made")
    assert folders(here) == [key]
    assert len(here.image_set(key)) == 4


def test_several_processes_may_adopt_at_once(here: Store, tmp_path: Path) -> None:
    build_image_set(Squares(), tmp_path / "prepared")
    code = (
        "import sys; from pathlib import Path; from ranking.store import Store; "
        "print(Store(sys.argv[1]).adopt(Path(sys.argv[2]), 'ready-made'))"
    )
    command = [sys.executable, "-c", code, str(here.home), str(tmp_path / "prepared")]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
    keys = {child.communicate()[0].decode().strip() for child in children}
    assert {child.returncode for child in children} == {0}
    assert keys == {row.key for row in here.image_sets()}
    assert len(keys) == len(here.image_sets()) == 1
    assert folders(here) == list(keys)


# ------------------------------------------------------------------------------------- crashes and sweeps


def crash_in_keep(here: Store, run: Run) -> None:
    """Die where it hurts most: the draft has been moved, its row is not committed."""
    program = """
import os, sys
from ranking import store
def move_and_die(draft, target):
    os.rename(draft, target)
    os._exit(9)
store.move_durably = move_and_die
store.Store(sys.argv[1]).keep(sys.argv[2])
"""
    died = subprocess.run([sys.executable, "-c", program, str(here.home), run.id], timeout=20)
    assert died.returncode == 9
    assert not run.draft.exists()
    assert folders(here) == [run.result["key"]]
    assert here.image_sets() == []


def test_a_crash_in_keep_is_mended_by_keeping_again(here: Store) -> None:
    run = imported(here)
    crash_in_keep(here, run)
    key = here.keep(run.id)
    assert len(here.image_set(key)) == 4
    assert [row.key for row in here.image_sets()] == [key]


def test_a_crash_in_keep_is_mended_by_the_sweep(here: Store) -> None:
    run = imported(here)
    crash_in_keep(here, run)
    here.sweep()
    (row,) = here.image_sets()
    assert len(here.image_set(row.key)) == 4
    assert here.run(run.id).result["decision"] == "kept"


def test_a_crash_in_keep_is_mended_by_importing_the_same_again(here: Store) -> None:
    crash_in_keep(here, imported(here))
    key = here.keep(imported(here).id)
    assert len(here.image_set(key)) == 4
    here.sweep()
    assert folders(here) == [key]


def test_nobody_sees_keep_between_its_move_and_its_row(here: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep at that moment would take the folder for a crash's: it must wait for the write lock."""
    run, refused = imported(here), []

    def move(draft: Path, target: Path) -> None:
        other = sqlite3.connect(here.home / "ranking.sqlite", timeout=0, isolation_level=None)
        try:
            other.execute("begin immediate")
        except sqlite3.OperationalError as error:
            refused.append(str(error))
        other.close()
        os.rename(draft, target)

    monkeypatch.setattr(store, "move_durably", move)
    here.keep(run.id)
    assert refused == ["database is locked"]


def test_an_error_in_keep_leaves_no_row_and_can_be_repeated(
    here: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = imported(here)
    with monkeypatch.context() as patch:
        patch.setattr(
            Store, "_decide", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device"))
        )
        with pytest.raises(HomeError, match="No space left on device; free some space there"):
            here.keep(run.id)
    assert here.image_sets() == []
    assert here.keep(run.id) == run.result["key"]


def test_the_sweep_removes_what_nobody_needs(here: Store) -> None:
    failed, cancelled, dead = (here.create_run("import", {}) for _ in range(3))
    here.end_run(failed.id, "failed", "no")
    here.end_run(cancelled.id, "cancelled")
    here.update_run(dead.id, state="running")
    for run in (failed, cancelled, dead):
        run.draft.mkdir()
    stray = [here.home / "sets" / ("0" * 64), here.home / "runs" / "aaaaaaaaaa", here.home / "trash" / "0"]
    for folder in stray:
        (folder / "deep").mkdir(parents=True)
    (here.features / "half.part").write_text("half a matrix")
    here.sweep()
    assert list(here.features.iterdir()) == []
    assert not any(folder.exists() for folder in [*stray, failed.draft, cancelled.draft, dead.draft])
    assert not failed.folder.exists(), "of an import that failed its row says why, and nothing else is left"


def test_the_sweep_leaves_what_somebody_needs(here: Store) -> None:
    kept, undecided = imported(here, "A"), imported(here, "B")
    key = here.keep(kept.id)
    live, training = here.create_run("import", {}), here.create_run("train", {})
    live.draft.mkdir()
    (training.folder / "model.npz").write_text("weights")
    for name in ("cached.npy", "being written.part"):
        (here.features / name).write_text("features")
    lock = take_lock(live.folder)
    try:
        here.sweep()
    finally:
        os.close(lock)
    assert len(here.image_set(key)) == 4
    assert live.draft.exists()
    assert (training.folder / "model.npz").exists()
    assert len(list(here.features.iterdir())) == 2
    assert here.keep(undecided.id) == undecided.result["key"]


# --------------------------------------------------------------------------------------- several at once

WRITER = """
import sys
from ranking.store import Store
for number in range(40):
    store = Store(sys.argv[1])
    run = store.create_run("train", {"who": sys.argv[2], "number": number})
    store.update_run(run.id, state="running")
    assert store.end_run(run.id, "finished", result={"number": number})
    store.runs()
"""


def test_processes_write_at_once_from_the_first_start_on(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path / "home")]
    writers = [subprocess.Popen([*command, who]) for who in "abc"]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    runs = Store(tmp_path / "home").runs()
    assert {run.state for run in runs} == {"finished"}
    for who in "abc":
        numbers = [run.result["number"] for run in runs if run.settings["who"] == who]
        assert numbers == list(range(39, -1, -1))


def test_readers_do_not_wait_for_a_writer(here: Store) -> None:
    run = here.create_run("train", {})
    with sqlite3.connect(here.home / "ranking.sqlite", isolation_level=None) as writer:
        assert writer.execute("pragma journal_mode").fetchone() == ("wal",)
        writer.execute("begin immediate")
        writer.execute("update run set state = 'failed'")
        begin = time.monotonic()
        assert here.run(run.id).state == "queued"
        assert time.monotonic() - begin < 1
        writer.execute("rollback")
    writer.close()


def test_a_writer_waits_its_turn_and_says_so_if_it_never_comes(
    here: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home, "BUSY_SECONDS", 0.1)
    writer = sqlite3.connect(here.home / "ranking.sqlite", isolation_level=None)
    writer.execute("begin immediate")
    with pytest.raises(HomeError, match="database is locked"):
        here.create_run("train", {})
    writer.close()
    assert here.runs() == []


# ----------------------------------------------------------------------------------------- the home folder


def test_the_home_is_the_argument_or_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKING_HOME", str(tmp_path / "variable"))
    assert Store().home == tmp_path / "variable"
    assert Store(str(tmp_path / "argument")).home == tmp_path / "argument"
    monkeypatch.delenv("RANKING_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Store().home == tmp_path / ".local/share/ranking-laboratory"
    assert Store().features.is_dir()


def test_a_home_that_cannot_be_written_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    expected = r"cannot use the home folder .*file/home: .*set RANKING_HOME to a folder that can be written"
    with pytest.raises(HomeError, match=expected):
        Store(tmp_path / "file" / "home")
    assert issubclass(HomeError, OSError)


def test_a_database_that_is_none_says_so(tmp_path: Path) -> None:
    (tmp_path / "ranking.sqlite").write_text("this is not a database" * 100)
    with pytest.raises(HomeError, match=r"file is not a database; .*set RANKING_HOME"):
        Store(tmp_path)


def test_a_database_of_a_newer_version_is_left_alone(here: Store) -> None:
    with sqlite3.connect(here.home / "ranking.sqlite") as database:
        database.execute("pragma user_version = 99")
    database.close()
    with pytest.raises(
        HomeError,
        match=r"^the home folder \S+ was written by a newer version .*; update this program, or set RANKING",
    ):
        Store(here.home)


def test_a_home_that_was_emptied_under_a_running_app_says_so(here: Store) -> None:
    run = here.create_run("train", {})
    for path in here.home.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    gone = "its files were moved or removed while the app was running: put them back, or start the app again"
    for ask in (here.runs, here.image_sets, lambda: here.run(run.id), lambda: here.create_run("train", {})):
        with pytest.raises(HomeError, match=gone) as caught:
            ask()
        assert "free some space" not in str(caught.value)
    shutil.rmtree(here.home)
    with pytest.raises(HomeError, match=gone):
        here.runs()
    assert Store(here.home).runs() == []


@pytest.mark.parametrize("damage", ["this is no database" * 300, "middle"])
def test_a_database_damaged_under_a_running_app_says_so(here: Store, damage: str) -> None:
    for number in range(30):
        here.create_run("train", {"text": "x" * 1000, "number": number})
    with closing(sqlite3.connect(here.home / "ranking.sqlite")) as database:
        database.execute("pragma wal_checkpoint(truncate)")
    file = here.home / "ranking.sqlite"
    whole = file.read_bytes()
    file.write_bytes(damage.encode() if damage != "middle" else whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(HomeError, match=r"the database is damaged: put back a copy of it, or") as caught:
        here.runs()
    assert "free some space" not in str(caught.value)


def test_a_database_in_use_says_to_try_again(here: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "BUSY_SECONDS", 0.05)
    with closing(sqlite3.connect(here.home / "ranking.sqlite", isolation_level=None)) as writer:
        writer.execute("begin immediate")
        with pytest.raises(HomeError, match="database is locked; another process is using it: try again"):
            here.create_run("train", {})


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (PermissionError(13, "Permission denied"), home.CLOSED),
        (OSError(30, "Read-only file system"), home.CLOSED),
        (OSError(28, "No space left on device"), home.FULL),
        (sqlite3.OperationalError("attempt to write a readonly database"), home.CLOSED),
        (sqlite3.OperationalError("database or disk is full"), home.FULL),
    ],
)
def test_every_trouble_with_the_home_has_its_remedy(
    here: Store, monkeypatch: pytest.MonkeyPatch, error: Exception, remedy: str
) -> None:
    def fail(_: object) -> None:
        raise error

    monkeypatch.setattr(home.Home, "_connect", fail)
    with pytest.raises(HomeError) as caught:
        here.runs()
    said = error.strerror if isinstance(error, OSError) else error
    assert str(caught.value) == f"cannot use the home folder {here.home}: {said}; {remedy}"


@pytest.mark.parametrize(
    ("path", "message"),
    [("a\0b", "holds a NUL; set RANKING_HOME"), ("~nosuch/x", "~nosuch/x is of no user; set RANKING_HOME")],
)
def test_a_home_that_cannot_be_a_path_says_so(path: str, message: str) -> None:
    with pytest.raises(HomeError, match=message):
        Store(path)


BROKEN_JSON = ["", "{", "[]", "null", '{"set": ']
NO_TIMES = ["yesterday", b"1", -1.0, 1e300, math.inf]


@pytest.mark.parametrize(
    ("column", "text"),
    [(column, text) for column in ("settings", "result") for text in BROKEN_JSON]
    + [("deleted", time) for time in NO_TIMES],
)
def test_a_damaged_row_does_not_block_the_others(here: Store, column: str, text: object) -> None:
    good = [here.create_run("train", {"set": "abc"}) for _ in range(2)]
    bad, ended = (here.create_run("train", {"set": "abc"}) for _ in range(2))
    here.end_run(ended.id, "finished")
    with closing(sqlite3.connect(here.home / "ranking.sqlite")) as database, database:
        database.execute(f"update run set {column} = ? where id in (?, ?)", (text, bad.id, ended.id))
    for found in (here.runs(), here.runs("train"), here.runs(set_key="abc")):
        assert [run.id for run in found] == [run.id for run in reversed(good)]
    assert not here.runs(deleted=True)
    with pytest.raises(
        ValueError, match=f"^run {bad.id} has failed: its row in the database is damaged; start it again"
    ):
        here.run(bad.id)
    jobs.recover(here)
    with closing(sqlite3.connect(here.home / "ranking.sqlite")) as database:
        states = dict(database.execute("select id, state from run"))
    assert (states[bad.id], states[ended.id]) == ("failed", "finished")
    assert bad.folder.is_dir()
    assert here.create_run("train", {"set": "abc"}, once=True).id not in (bad.id, ended.id)


ADD_STAR = "alter table image_set add column star integer not null default 7;"


def layout_of(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "ranking.sqlite")) as database:
        return int(database.execute("pragma user_version").fetchone()[0])


def test_a_home_of_an_older_layout_is_brought_up_to_date(
    here: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = here.keep(imported(here).id)
    run, rows, before = here.runs()[0], here.image_sets(), layout_of(here.home)
    monkeypatch.setattr(home, "MIGRATIONS", (*home.MIGRATIONS, ADD_STAR))
    for place in (here.home, here.home, tmp_path / "new"):  # older, already up to date, with nothing yet
        opened = Store(place)
        assert layout_of(place) == before + 1
        with closing(sqlite3.connect(place / "ranking.sqlite")) as database:
            stars = [star for (star,) in database.execute("select star from image_set")]
        assert stars == [7] * len(opened.image_sets())
    assert Store(here.home).run(run.id) == run
    assert Store(here.home).image_sets() == rows
    assert Store(here.home).image_set(key).key == key


def test_a_migration_that_fails_changes_nothing(here: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run, before = here.create_run("train", {"set": "x"}), layout_of(here.home)
    with monkeypatch.context() as patch:
        patch.setattr(home, "MIGRATIONS", (*home.MIGRATIONS, f"{ADD_STAR} drop table no_such_table;"))
        with pytest.raises(HomeError, match="no such table: no_such_table"):
            Store(here.home)
    assert layout_of(here.home) == before
    with closing(sqlite3.connect(here.home / "ranking.sqlite")) as database:
        assert "star" not in {row[1] for row in database.execute("pragma table_info(image_set)")}
    assert Store(here.home).runs() == [run]


def test_a_full_disk_says_what_to_do(here: Store) -> None:
    program = """
import resource, signal, sys
from ranking.store import Store
store = Store(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
try:
    for number in range(100):
        store.create_run("train", {"text": "x" * 5000})
except OSError as error:
    print(type(error).__name__, error)
"""
    told = subprocess.run(
        [sys.executable, "-c", program, str(here.home)], capture_output=True, text=True, timeout=20
    )
    assert told.stdout.startswith(f"HomeError cannot use the home folder {here.home}: ")
    assert "free some space there" in told.stdout
    assert 0 < len(here.runs()) < 100
    assert all(run.folder.is_dir() for run in here.runs())


# ------------------------------------------------------------------------------ image sets that are taken away


def test_a_set_is_taken_away_and_brought_back(here: Store) -> None:
    key, other = here.keep(imported(here, "A").id), here.keep(imported(here, "B").id)
    here.delete_set(key)
    here.delete_set(key)
    assert [row.key for row in here.image_sets()] == [other]
    (row,) = here.deleted_image_sets()
    assert (row.key, row.title) == (key, "A")
    assert row.deleted == pytest.approx(time.time(), abs=5)
    with pytest.raises(ValueError, match=r"no image set .*; there are: B \("):
        here.image_set(key)
    here.sweep()
    here.restore_set(key)
    assert {row.key for row in here.image_sets()} == {key, other}
    assert len(here.image_set(key)) == 4
    assert here.deleted_image_sets() == []


def test_a_set_that_a_run_uses_stays(here: Store) -> None:
    key = here.keep(imported(here).id)
    run = here.create_run("train", {"set": key})
    here.end_run(run.id, "finished")
    for change in (lambda: None, lambda: here.delete_run(run.id)):
        change()
        with pytest.raises(
            ValueError, match=r"that no run uses, this one is of 1 run; delete them and empty"
        ):
            here.delete_set(key)
    assert [row.key for row in here.image_sets()] == [key]
    here.empty_deleted()
    here.delete_set(key)
    assert here.image_sets() == []


@pytest.mark.parametrize("act", ["delete_set", "restore_set"])
def test_a_set_that_is_not_there_is_neither_taken_away_nor_brought_back(here: Store, act: str) -> None:
    with pytest.raises(ValueError, match="there is no image set 'nothing'"):
        getattr(here, act)("nothing")


@pytest.mark.parametrize("days", [29, 31])
def test_a_set_goes_for_good_after_thirty_days(
    here: Store, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    key = here.keep(imported(here).id)
    here.keep_edges(key, np.array([[0, 1]]))
    here.delete_set(key)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + days * 86400)
    here.sweep()
    gone = days > DELETED_DAYS
    assert folders(here) == ([] if gone else [key])
    assert [row.key for row in here.deleted_image_sets()] == ([] if gone else [key])
    assert (here.edges / key).exists() == (not gone)


def test_sets_that_were_taken_away_go_at_once_where_a_person_says_so(here: Store) -> None:
    key, other = here.keep(imported(here, "A").id), here.keep(imported(here, "B").id)
    here.delete_set(key)
    assert here.empty_deleted_sets() == 1
    assert folders(here) == [other]
    with pytest.raises(ValueError, match="there is no image set"):
        here.restore_set(key)


def test_importing_again_brings_back_what_was_taken_away(here: Store) -> None:
    key = here.keep(imported(here).id)
    here.delete_set(key)
    assert here.keep(imported(here).id) == key
    assert [row.key for row in here.image_sets()] == [key]
    assert here.deleted_image_sets() == []
    here.delete_set(key)
    run = here.run(here.runs("import")[0].id)
    assert here.keep(run.id) == key, "repeating it is harmless"


# -------------------------------------------------------------------------------- what was only looked at


def looked_at(here: Store) -> Run:
    """A look that has ended, with the copy of what was uploaded for it."""
    run = here.create_run("import", LookSettings("", brought="zoo.zip").to_json())
    run.brought_file.write_bytes(b"zip")
    run.look_file.write_text("{}")
    here.end_run(run.id, "finished", result={"source": "COCO"})
    return here.run(run.id)


def test_a_look_waits_and_cannot_be_kept(here: Store) -> None:
    run = looked_at(here)
    here.sweep()
    assert run.looks
    assert run.brought_file.exists()
    with pytest.raises(ValueError, match="has only looked at what was brought; import it, then keep it"):
        here.keep(run.id)
    here.discard(run.id)
    assert not run.folder.exists()
    assert here.run(run.id).result["decision"] == "discarded"


def test_what_was_uploaded_goes_when_its_import_is_kept(here: Store) -> None:
    run = imported(here)
    run.brought_file.write_bytes(b"zip")
    run.problems_file.write_text("[]")
    here.keep(run.id)
    assert not run.brought_file.exists()
    assert run.problems_file.exists(), "the report stays"


def test_the_sweep_removes_uploads_that_nobody_waits_for(here: Store) -> None:
    dead, kept = looked_at(here), imported(here)
    here.update_run(dead.id, state="running")
    here.keep(kept.id)
    kept.brought_file.write_bytes(b"a crash left it")
    here.sweep()
    assert not dead.brought_file.exists()
    assert not kept.brought_file.exists()
