"""Corrections of labels: kept beside image sets, taken back press by press, and gone with their set."""

from __future__ import annotations

import csv
import io
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from labelled_pictures import patches_of

from ranking.storage import database_copies
from ranking.storage.corrections import CorrectionStore, csv_text
from ranking.storage.database_copies import COPIES, keep_copy, rebuild
from ranking.storage.home import DATABASE
from ranking.storage.space import DISK, FullError, bytes_of
from ranking.storage.rooms import Rooms
from ranking.storage.store import Store

SET, SECOND_SET = "a" * 16, "b" * 16


@pytest.fixture
def store(tmp_path: Path) -> CorrectionStore:
    return CorrectionStore(tmp_path / "home")


def labels(store: CorrectionStore, label: str = "sea", set_key: str = SET) -> dict[str, bool]:
    return {sample: each.corrected for sample, each in store.standing(set_key, label).items()}


def undo_last(store: CorrectionStore, set_key: str = SET, label: str = "sea") -> int:
    """Undo the last press that stands; of how many samples it was."""
    press = store.last_press(set_key, label)
    return 0 if press is None else store.undo(press.id)


def test_a_correction_stands_beside_the_original_until_it_is_undone_press_by_press(store):
    assert store.mark(SET, "sea", {"s1": False, "s2": True, "s3": False}, True) == 2, "s2 has that label"
    assert labels(store) == {"s1": True, "s3": True}
    assert [each.original for each in store.standing(SET, "sea").values()] == [False, False]
    assert store.mark(SET, "sea", {"s2": True}, False) == 1
    assert (labels(store, "sky"), labels(store, set_key=SECOND_SET)) == ({}, {})
    assert store.last_press(SET, "sea")[1:] == (1, False)
    assert undo_last(store) == 1
    assert labels(store) == {"s1": True, "s3": True}
    assert store.last_press(SET, "sea")[1:] == (2, True)
    assert (undo_last(store), labels(store)) == (2, {})
    assert store.last_press(SET, "sea") is None


def test_undo_takes_back_the_press_that_it_names_and_no_other(store):
    store.mark(SET, "sea", {"s1": False}, True)
    first = store.last_press(SET, "sea")
    store.mark(SET, "sea", {"s2": False, "s3": False}, True)
    assert store.undo(first.id) == 1, "though it is not the last"
    assert labels(store) == {"s2": True, "s3": True}
    assert store.undo(first.id) == 0, "it stands no more"
    assert labels(store) == {"s2": True, "s3": True}


def test_marks_and_undos_in_any_order_come_to_what_a_list_of_them_does(store):
    """The twin keeps a list of presses, and reads the labels off it from the first on."""
    for seed in range(5):
        draw, set_key, original = random.Random(seed), f"{seed}" * 16, {f"s{n}": n % 2 == 0 for n in range(6)}
        presses: list[dict[str, bool]] = []

        def now(presses=presses, original=original):
            return {sample: label for press in [original, *presses] for sample, label in press.items()}

        for _ in range(40):
            if draw.random() < 0.3:
                assert undo_last(store, set_key) == len(presses.pop() if presses else {}), seed
                continue
            chosen, corrected = draw.sample(sorted(original), draw.randint(1, 3)), draw.random() < 0.5
            changed = {sample: corrected for sample in chosen if now()[sample] != corrected}
            given = {sample: original[sample] for sample in chosen}
            assert store.mark(set_key, "sea", given, corrected) == len(changed), seed
            presses += [changed] if changed else []
            expected = {sample: label for sample, label in now().items() if label != original[sample]}
            assert labels(store, set_key=set_key) == expected, seed


def test_it_is_on_disk_when_mark_returns(tmp_path):
    program = (
        "import os, sys; from ranking.storage.corrections import CorrectionStore\n"
        f"CorrectionStore(sys.argv[1]).mark('{SET}', 'sea', {{'s1': False}}, True); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert labels(Store(tmp_path).corrections) == {"s1": True}


def test_csv_has_a_line_per_corrected_label_of_all_classes(store, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 86400.0)
    store.mark(SET, "sky", {"=1": True, "s2": True}, False)
    undo_last(store, label="sky")
    store.mark(SET, "sky", {"=1": True}, False)
    store.mark(SET, "sea", {"s9": False, "s1": False}, True)
    store.mark(SECOND_SET, "sea", {"s7": False}, True)
    rows = list(csv.DictReader(io.StringIO(csv_text(store.all(SET)))))
    when = {"when": "1970-01-02T00:00:00Z"}
    assert rows == [
        {"id": "s1", "class": "sea", "original": "0", "corrected": "1", **when},
        {"id": "s9", "class": "sea", "original": "0", "corrected": "1", **when},
        {"id": "'=1", "class": "sky", "original": "1", "corrected": "0", **when},
    ]


@pytest.mark.parametrize("remove", ["empty the trash", "thirty days"])
def test_corrections_go_with_their_image_set_and_come_back_with_it(tmp_path, monkeypatch, remove):
    here = Store(tmp_path)
    patches_of(here, 12)
    [row] = here.image_sets()
    store = Store(tmp_path).corrections
    for key in (row.key, SECOND_SET):
        store.mark(key, "day", {"s1": False}, True)
    here.delete_set(row.key)
    here.restore_set(row.key)
    assert labels(store, "day", row.key) == {"s1": True}
    here.delete_set(row.key)
    if remove == "empty the trash":
        here.empty_deleted_sets()
    else:
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 31 * 86400)
        here.sweep()
    assert store.all(row.key) == []
    assert store.last_press(row.key, "day") is None
    assert labels(store, "day", SECOND_SET) == {"s1": True}


def test_a_full_room_refuses_a_correction_and_keeps_those_that_it_has(tmp_path, monkeypatch):
    room = Rooms(tmp_path).make("room-of-anna")
    Store(room).corrections.mark(SET, "sea", {"s1": False}, True)
    monkeypatch.setenv(DISK, str(bytes_of(room)))
    with pytest.raises(FullError):
        Store(room).corrections.mark(SET, "sea", {"s2": False}, True)
    assert labels(Store(room).corrections) == {"s1": True}


# ------------------------------------------------------------------------------- a database that is lost


def damaged(home: Path, table: str) -> None:
    """Overwrite the first page of a table in the database of a home."""
    with closing(sqlite3.connect(home / DATABASE)) as database:
        database.execute("pragma wal_checkpoint(truncate)")
        (page,) = database.execute("select rootpage from sqlite_master where name = ?", (table,)).fetchone()
    with open(home / DATABASE, "r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)


@pytest.mark.parametrize("with_copy", [True, False], ids=["with a copy", "without"])
def test_corrections_that_can_be_read_in_a_damaged_database_are_taken_over(tmp_path, with_copy):
    store = Store(tmp_path).corrections
    store.mark(SET, "sea", {f"s{n:03}": False for n in range(300)}, True)
    store.mark(SET, "sea", {"t1": False}, True)
    if with_copy:
        keep_copy(tmp_path)
    undo_last(store)
    store.mark(SET, "sea", {"t2": True}, False)
    expected = store.all(SET)
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        database.execute("update correction set corrected = 2 where sample = 's000'")
        database.commit()
    damaged(tmp_path, "run")
    rebuild(tmp_path)
    kept = Store(tmp_path).corrections.all(SET)
    assert [each.sample for each in kept][-1] == "t2"
    assert kept == (expected if with_copy else expected[1:]), (
        "a row that is none of ours comes from the copy alone"
    )


def test_the_copy_with_most_corrections_stays(tmp_path, monkeypatch):
    names = iter(f"2026-01-01-0000{second:02}" for second in range(99))
    monkeypatch.setattr(database_copies.time, "strftime", lambda *_: next(names))
    store = Store(tmp_path).corrections
    store.mark(SET, "sea", {"s1": False, "s2": False}, True)
    keep_copy(tmp_path)
    [full] = (tmp_path / COPIES).iterdir()
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        database.execute("delete from correction")
        database.commit()
    for _ in range(5):
        Store(tmp_path).runs.create("train", {})
        keep_copy(tmp_path)
    assert full in list((tmp_path / COPIES).iterdir())
