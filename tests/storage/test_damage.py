"""Each file of a data folder missing, empty, cut or garbage: its loss is named, everything else opens."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from labelled_pictures import patches
from training_runs import finished

from ranking.storage import workspaces
from ranking.storage.answers import AnswerEvent
from ranking.storage.run_settings import TrainSettings
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
def test_the_loss_of_a_damaged_file_is_named_and_everything_else_opens(filled, tmp_path, damage):
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


def test_a_line_with_a_field_too_many_and_a_record_without_a_new_one_are_not_lost_silently(filled, tmp_path):
    home = tmp_path / "home"
    shutil.copytree(filled, home)
    store = Store(home)
    [answers] = home.glob("sets/*/answers.jsonl")
    answers.write_text(answers.read_text() + answers.read_text().replace('"label"', '"name"'))
    assert [found.lost for found in store.damage()] == [
        f"1 damaged line of sets/{answers.parent.name}/answers.jsonl cannot be read; all others are used."
    ]
    run = store.runs.all_own()[0]
    record = json.loads((run.folder / "run.json").read_text())
    (run.folder / "run.json").write_text(
        json.dumps({name: record[name] for name in record if name != "star"})
    )
    assert store.runs.get(run.id) == run, "a field with a default may be missing"
    assert len(store.damage()) == 1


def test_damage_of_shared_folders_is_named(filled, tmp_path):
    server = tmp_path / "server"
    visitor = Store(server / "workspaces" / workspaces.create(server))
    shutil.copytree(filled, server / "shared")
    assert visitor.damage() == []
    broken = next((server / "shared" / "runs").iterdir())
    (broken / "run.json").write_text("{")
    assert [found.path for found in visitor.damage()] == [broken]
