"""Runs wait for their turn in the order of pressing, and a dead worker gives its place back."""

from __future__ import annotations

import shutil

import pytest
from working import Held

from ranking.core.errors import HomeError
from ranking.storage import queue, workspaces
from ranking.storage.queue import IMPORTS_AT_ONCE, RUNS_AT_ONCE, leave, waits_for
from ranking.storage.store import Store


@pytest.fixture
def held():
    made = Held()
    yield made
    made.let_die()


def waiting(store, runs):
    return [waits_for(store.home, run) for run in runs]


def test_runs_start_in_the_order_of_pressing_and_imports_do_not_wait_for_them(store, held):
    runs = [held(store) for _ in range(RUNS_AT_ONCE + 3)]
    assert waiting(store, runs) == [0] * RUNS_AT_ONCE + [1, 2, 3]
    imports = [held(store, "import") for _ in range(IMPORTS_AT_ONCE + 1)]
    assert waiting(store, imports) == [0] * IMPORTS_AT_ONCE + [1]
    # one that waits is cancelled
    held.let_die(runs[RUNS_AT_ONCE])
    assert waiting(store, runs[-2:]) == [1, 2]
    # one that runs ends, or is killed
    held.let_die(runs[0])
    assert waiting(store, runs[-2:]) == [0, 1]
    # one lives on, without a place
    leave(store.home, runs[1])
    assert waiting(store, runs[-2:]) == [0, 0]
    queue.enter(store.home, runs[1])
    assert waiting(store, [*runs[-2:], runs[1]]) == [0, 0, 1], "who comes back is the last"


def test_running_jobs_never_exceed_the_limit_when_waiting_imports_resume(store, held):
    imports = [held(store, "import") for _ in range(3 * IMPORTS_AT_ONCE)]
    for run in imports:
        leave(store.home, run)
    for number, run in enumerate(reversed(imports), start=1):
        queue.enter(store.home, run)
        working = [each for each in imports[-number:] if waits_for(store.home, each) == 0]
        assert len(working) == min(number, IMPORTS_AT_ONCE)


def test_the_folder_of_the_queue_may_be_removed(store, held):
    runs = [held(store) for _ in range(RUNS_AT_ONCE + 1)]
    shutil.rmtree(store.home / "queue")
    for run in runs:
        queue.enter(store.home, run)
    assert waiting(store, runs) == [0] * RUNS_AT_ONCE + [1]


def test_visitors_share_one_queue_and_have_at_most_one_waiting_run_each(store, held):
    anna, bert = (Store(store.home / "workspaces" / workspaces.create(store.home)) for _ in range(2))
    runs = [held(anna) for _ in range(RUNS_AT_ONCE)]
    last = held(anna)
    with pytest.raises(HomeError, match="one of yours is already queued behind 1 run;"):
        anna.runs.create("train", {})
    together = anna.runs.create("train", {}, request=[last.id])
    anna.runs.end(together.id, "cancelled")
    assert waits_for(bert.home, held(bert)) == 2
    assert waits_for(store.home, held(store)) == 3, "the data folder of the server is in the same queue"
    held(anna, "import")
    held.let_die(*runs)
    assert waits_for(anna.home, last) == 0
    assert held(anna).state == "queued"


def test_entries_of_dead_workers_are_removed(store, held):
    held(store)
    dead = held(store)
    held.let_die(dead)
    queue.remove_dead(store.home)
    assert len(list((store.home / "queue" / "runs").iterdir())) == 1


def test_an_entry_removes_those_of_dead_workers(store, held):
    held.let_die(held(store))
    held(store)
    assert len(list((store.home / "queue" / "runs").iterdir())) == 1


def test_foreign_files_in_the_queue_are_ignored_and_a_clock_set_back_starts_no_extra_run(
    store, held, monkeypatch
):
    runs = [held(store) for _ in range(RUNS_AT_ONCE)]
    folder = store.home / "queue" / "runs"
    (folder / ".DS_Store").write_bytes(b"\xff\0")
    (folder / "folder").mkdir()
    (folder / f"{0:020}-{'a' * 10}").write_bytes(b"\xff\0")
    (folder / f"{1:020}-{'b' * 10}").write_text("a\0b")
    monkeypatch.setattr(queue.time, "time_ns", lambda: 5)
    assert waiting(store, [*runs, held(store)]) == [0] * RUNS_AT_ONCE + [1]
    store.sweep()
    assert {entry.name for entry in folder.iterdir() if "-" not in entry.name} == {".DS_Store", "folder"}
    assert len(list(folder.iterdir())) == 2 + RUNS_AT_ONCE + 1
