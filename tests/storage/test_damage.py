"""Each file of a data folder missing, empty, cut or garbage: what it held is lost and named, everything else opens."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from labelled_pictures import patches
from training_runs import finished

from ranking.core.run_settings import TrainSettings
from ranking.storage.answers import AnswerEvent
from ranking.storage.store import Store

DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "empty": lambda file: file.write_bytes(b""),
    "cut": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "garbage": lambda file: file.write_bytes(bytes(range(256)) * 40),
}
# The files whose loss is named in lists; others are named where they are opened.
NAMED = ("run.json", "set.json", "answers.jsonl", "corrections.jsonl")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with two sets, two trained runs, an answer and a correction."""
    store = Store(tmp_path_factory.mktemp("filled") / "home")
    for count in (12, 13):
        patches(store.home / "built", count)
        key = store.sets.add(store.home / "built", "Patches", move=True)
        finished(store, TrainSettings(key, (("Colour", {}),), "red", "SVM").to_json())
    store.answers.append(
        [AnswerEvent("1" * 32, 1, key, "one", "red", "yes", "a" * 10, "random", None, None, 0, 1.0)]
    )
    store.corrections.mark(key, "red", {"one": False}, True)
    return store.home


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_a_damaged_file_held_is_lost_and_named_and_everything_else_opens(filled, tmp_path, damage):
    home = tmp_path / "home"
    shutil.copytree(filled, home)
    before = Store(home)
    before.sweep()
    sets, runs = len(before.sets.rows()), len(before.runs.all())
    assert (sets, runs, before.damage()) == (2, 2, [])
    files = [file for file in home.rglob("*") if file.is_file()]
    assert len(files) > 30
    for file in files:
        content = file.read_bytes()
        DAMAGES[damage](file)
        store = Store(home)
        store.sweep()
        named = {found.path for found in store.damage()}
        listed = len(store.sets.rows()), len(store.runs.all())
        if file.name in NAMED[:2] or (file.name in NAMED and damage in ("cut", "garbage")):
            assert named == {file if file.suffix == ".jsonl" else file.parent}, file
        else:
            assert named == set(), file
        assert listed == (2, 1 if file.name == "run.json" else 2), file
        opened = 0
        for row in store.sets.rows():
            with contextlib.suppress(ValueError) if row.key in str(file) else contextlib.nullcontext():
                opened += len(store.sets.get(row.key)) > 0
        assert opened >= 1, file
        file.write_bytes(content)
