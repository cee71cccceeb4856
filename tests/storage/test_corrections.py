"""Corrections of labels: kept beside image sets, taken back press by press, and gone with their set."""

from __future__ import annotations

import csv
import io
import random
import subprocess
import sys
import time

import pytest
from labelled_pictures import patches_of

from ranking.storage.corrections import Corrections, csv_text
from ranking.storage.store import Store

SET, SECOND_SET = "a" * 16, "b" * 16


@pytest.fixture
def corrections(store) -> Corrections:
    return store.corrections


def labels(corrections: Corrections, label: str = "sea", set_key: str = SET) -> dict[str, bool]:
    return {sample: each.corrected for sample, each in corrections.standing(set_key, label).items()}


def undo_last(corrections: Corrections, set_key: str = SET, label: str = "sea") -> int:
    """Undo the last press that stands; of how many samples it was."""
    press = corrections.last_press(set_key, label)
    return 0 if press is None else corrections.undo(set_key, press.id)


def test_a_correction_stands_beside_the_original_until_it_is_undone_press_by_press(corrections):
    assert corrections.mark(SET, "sea", {"s1": False, "s2": True, "s3": False}, True) == 2, (
        "s2 has that label"
    )
    assert labels(corrections) == {"s1": True, "s3": True}
    assert [each.original for each in corrections.standing(SET, "sea").values()] == [False, False]
    assert corrections.mark(SET, "sea", {"s2": True}, False) == 1
    assert (labels(corrections, "sky"), labels(corrections, set_key=SECOND_SET)) == ({}, {})
    assert corrections.last_press(SET, "sea")[1:] == (1, False)
    assert undo_last(corrections) == 1
    assert labels(corrections) == {"s1": True, "s3": True}
    assert corrections.last_press(SET, "sea")[1:] == (2, True)
    assert (undo_last(corrections), labels(corrections)) == (2, {})
    assert corrections.last_press(SET, "sea") is None


def test_undo_takes_back_the_press_that_it_names_and_no_other(corrections):
    corrections.mark(SET, "sea", {"s1": False}, True)
    first = corrections.last_press(SET, "sea")
    corrections.mark(SET, "sea", {"s2": False, "s3": False}, True)
    assert corrections.undo(SET, first.id) == 1, "though it is not the last"
    assert labels(corrections) == {"s2": True, "s3": True}
    assert corrections.undo(SET, first.id) == 0, "it stands no more"
    assert labels(corrections) == {"s2": True, "s3": True}


def test_marks_and_undos_in_any_order_come_to_what_a_list_of_them_does(corrections):
    """The twin keeps a list of presses, and reads the labels off it from the first on."""
    for seed in range(5):
        draw, set_key, original = random.Random(seed), f"{seed}" * 16, {f"s{n}": n % 2 == 0 for n in range(6)}
        presses: list[dict[str, bool]] = []

        def now(presses=presses, original=original):
            return {sample: label for press in [original, *presses] for sample, label in press.items()}

        for _ in range(40):
            if draw.random() < 0.3:
                assert undo_last(corrections, set_key) == len(presses.pop() if presses else {}), seed
                continue
            chosen, corrected = draw.sample(sorted(original), draw.randint(1, 3)), draw.random() < 0.5
            changed = {sample: corrected for sample in chosen if now()[sample] != corrected}
            given = {sample: original[sample] for sample in chosen}
            assert corrections.mark(set_key, "sea", given, corrected) == len(changed), seed
            presses += [changed] if changed else []
            expected = {sample: label for sample, label in now().items() if label != original[sample]}
            assert labels(corrections, set_key=set_key) == expected, seed


def test_corrections_are_on_disk_when_mark_returns(tmp_path):
    program = (
        "import os, sys; from ranking.storage.store import Store\n"
        f"Store(sys.argv[1]).corrections.mark('{SET}', 'sea', {{'s1': False}}, True); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert labels(Store(tmp_path).corrections) == {"s1": True}


def test_csv_has_a_line_per_corrected_label_of_all_classes(corrections, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 86400.0)
    corrections.mark(SET, "sky", {"=1": True, "s2": True}, False)
    undo_last(corrections, label="sky")
    corrections.mark(SET, "sky", {"=1": True}, False)
    corrections.mark(SET, "sea", {"s9": False, "s1": False}, True)
    corrections.mark(SECOND_SET, "sea", {"s7": False}, True)
    rows = list(csv.DictReader(io.StringIO(csv_text(corrections.all(SET)))))
    when = {"when": "1970-01-02T00:00:00Z"}
    assert rows == [
        {"id": "s1", "class": "sea", "original": "0", "corrected": "1", **when},
        {"id": "s9", "class": "sea", "original": "0", "corrected": "1", **when},
        {"id": "'=1", "class": "sky", "original": "1", "corrected": "0", **when},
    ]


@pytest.mark.parametrize("remove", ["empty the trash", "thirty days"])
def test_corrections_are_deleted_and_restored_with_their_image_set(store, monkeypatch, remove):
    patches_of(store, 12)
    [row] = store.sets.rows()
    corrections = store.corrections
    for key in (row.key, SECOND_SET):
        corrections.mark(key, "day", {"s1": False}, True)
    store.sets.delete(row.key)
    store.sets.restore(row.key)
    assert labels(corrections, "day", row.key) == {"s1": True}
    store.sets.delete(row.key)
    if remove == "empty the trash":
        store.sets.empty_trash()
    else:
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 31 * 86400)
        store.sweep()
    assert corrections.all(row.key) == []
    assert labels(corrections, "day", SECOND_SET) == {"s1": True}
