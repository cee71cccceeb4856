"""Workspaces: visitors cannot reach each other's, all read the shared one, and errors name the limit."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from labelled_pictures import patches
from refusals import refused
from working import Held, here, trouble

from ranking.core.errors import HomeError, InputError
from ranking.storage import jobs, workspaces
from ranking.storage.answers import AnswerEvent
from ranking.storage.home import SHARED
from ranking.storage.run_settings import TrainSettings
from ranking.storage.space import DEFAULTS, SERVER_LIMIT, WORKSPACE_LIMIT, FullError, bytes_of, check_space
from ranking.storage.store import Store

HOSTILE = ["", "short", "../../../etc", "a/../../b-long-enough", "Capital" * 4, "é" * 26, "a" * 25, "a" * 27]
HOSTILE += ["a" * 25 + "\n", "nul\0" + "a" * 22, "`touch /tmp/workspace12345`"]


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("patches") / "set"
    patches(folder)
    return folder


@pytest.fixture
def server(tmp_path: Path) -> Path:
    return tmp_path / "server"


@pytest.fixture
def visitor(server: Path) -> Callable[[], Store]:
    return lambda: Store(server / "workspaces" / workspaces.create(server))


def answer(run_id: str, key: str) -> AnswerEvent:
    return AnswerEvent(
        "0123456789abcdef" * 2, 1, key, "one", "day", "yes", run_id, "random", None, None, 0, 1.0
    )


def test_names_cannot_be_guessed_and_no_other_text_becomes_a_path(server):
    names = {workspaces.create(server) for _ in range(50)}
    assert len(names) == 50
    assert all(workspaces.find(server, name) == server / "workspaces" / name for name in names)
    for name in HOSTILE:
        assert workspaces.find(server, name) is None, name
        with refused("workspace", f"{name}"):
            workspaces.remove(server, name)
    assert workspaces.find(server, "0" * 26) is None, "it does not exist"


def test_workspaces_cannot_read_or_change_each_other(server, visitor, pictures):
    mine, theirs = visitor(), visitor()
    key = mine.sets.add(pictures, "Patches")
    run = mine.runs.create("train", {"set": key})
    mine.features.add_edges(key, np.array([[0, 1]]))
    mine.answers.append([answer(run.id, key)])
    for store in (theirs, Store(server)):
        assert store.sets.rows() == store.runs.all() == store.runs.equal("train", {"set": key}) == []
        assert store.answers.events(key) == store.features.edge_names(key) == []
        store.sweep()
    acts: list[Callable[[], Any]] = [lambda: theirs.sets.get(key), lambda: theirs.sets.delete(key)]
    acts += [lambda act=act: act(run.id) for act in (theirs.runs.get, theirs.runs.delete, theirs.runs.star)]
    acts += [lambda: jobs.poll(theirs, run.id), lambda: jobs.cancel(theirs, run.id)]
    for act in acts:
        with pytest.raises(InputError) as caught:
            act()
        assert caught.value.came in (f"{run.id!r}", f"{key!r}")
        assert str(server) not in str(caught.value)
    assert mine.runs.get(run.id) == run
    assert mine.sets.get(key).key == key


def test_shared_data_is_read_in_every_workspace_and_changed_in_none(server, visitor, pictures):
    shared = Store(server / SHARED)
    key = shared.sets.add(pictures, "Patches")
    settings = TrainSettings(key, (("Colour", {}),), "red", "SVM").to_json()
    run = here(shared, settings)
    queued = shared.runs.create("train", {"set": key})
    anna, bert = visitor(), visitor()
    for store in (anna, bert):
        assert [(row.key, row.shared) for row in store.sets.rows()] == [(key, True)]
        assert [(each.id, each.shared) for each in store.runs.all()] == [(run.id, True)]
        assert store.runs.get(queued.id).shared, "a link to it opens it"
    acts = [lambda act=act: act(run.id) for act in (anna.runs.delete, anna.runs.star, anna.runs.restore)]
    for act in (*acts, lambda: anna.runs.update(run.id, state="failed")):
        with refused(f"training run {run.id}", "a shared one, which is read-only"):
            act()
    with refused("image set", f"{key!r}"):
        anna.sets.delete(key)
    assert anna.sets.add(pictures, "Patches") == key
    assert list((anna.home / "sets").iterdir()) == [], "a shared set is not copied"
    own = here(anna, settings)
    assert own.state == "finished"
    assert bytes_of(anna.home / "features") == 0, "features of the shared data folder are linked"
    anna.corrections.mark(key, "red", {"patch 001": False}, True)
    assert [len(store.corrections.all(key)) for store in (anna, bert, shared)] == [1, 0, 0]


def test_features_of_a_shared_set_are_computed_once_for_all_workspaces(server, visitor, pictures):
    anna, bert = visitor(), visitor()
    parts = (("HOG", {}),)
    key = anna.sets.add(pictures, "Patches")
    assert anna.features.cache_of(key, {}) == anna.home / "features", "a set of one's own"
    shared = Store(server / SHARED).sets
    assert shared.add(pictures, "Patches") == key
    # bundled sets are not named by their key either
    shared.folder(key).rename(server / SHARED / "sets" / "patches")
    here(anna, TrainSettings(key, parts, "red", "SVM").to_json())
    [file] = (server / "features").iterdir()
    assert (bert.features.cache / file.name).samefile(file)
    for given in ({"vectors": "own-0"}, {"bins": 4}):
        assert anna.features.cache_of(key, given) == anna.home / "features", "not shared, or without an end"


# ------------------------------------------------------------------------------------------------- limits


def test_a_full_workspace_or_server_refuses_more_and_says_what_to_do(server, visitor, monkeypatch, pictures):
    anna, bert = visitor(), visitor()
    key = anna.sets.add(pictures, "Patches")
    acts = [
        lambda: anna.runs.create("train", {"set": key}),
        lambda: anna.features.add_edges(key, np.array([[0, 1]])),
    ]
    for variable, subject, remedy in (
        (WORKSPACE_LIMIT, "this workspace", "delete runs or image sets and empty the trash"),
        (SERVER_LIMIT, "this server", "ask its administrator to remove unused workspaces"),
    ):
        monkeypatch.setenv(variable, "10000")
        for act in acts:
            with trouble(FullError, subject, "is full: it uses", remedy) as caught:
                act()
            assert str(server) not in str(caught.value)
        monkeypatch.delenv(variable)
    monkeypatch.setenv(SERVER_LIMIT, "10000")
    with trouble(FullError, "this server"):
        workspaces.create(server)
    # the data folder of the server itself has no limit
    Store(server).runs.create("train", {})
    monkeypatch.setenv(WORKSPACE_LIMIT, "10000")
    monkeypatch.delenv(SERVER_LIMIT)
    check_space(bert.home)


@pytest.mark.parametrize("value", ["0", "-1", "2 GB", "1e9"])
def test_a_limit_that_is_no_number_is_refused(visitor, monkeypatch, value):
    anna = visitor()
    for variable in DEFAULTS:
        with monkeypatch.context() as patch, trouble(HomeError, variable):
            patch.setenv(variable, value)
            anna.runs.create("train", {})


def test_features_end_when_the_workspace_is_full(visitor, monkeypatch, pictures, worker_here):
    anna = visitor()
    key = anna.sets.add(pictures, "Patches")
    run = anna.runs.create("train", TrainSettings(key, (("HOG", {}),), "red", "SVM").to_json())
    monkeypatch.setenv(WORKSPACE_LIMIT, str(bytes_of(anna.home)))
    from ranking.commands import worker

    worker.main([str(anna.home), run.id])
    run = anna.runs.get(run.id)
    assert (run.state, "this workspace is full" in run.reason) == ("failed", True)


# -------------------------------------------------------------------------------------------- administration


def test_workspaces_are_listed_and_removed_unless_a_run_is_live(server, visitor):
    anna, bert = visitor(), visitor()
    old = time.time() - 100
    os.utime(bert.home / workspaces.VISITED, (old, old))
    anna.runs.create("train", {})
    rows = workspaces.all_workspaces(server)
    assert [(row.name, row.sets, row.runs) for row in rows] == [
        (anna.home.name, 0, 1),
        (bert.home.name, 0, 0),
    ]
    assert rows[1].visited == pytest.approx(old)
    workspaces.visit(bert.home)
    assert workspaces.all_workspaces(server)[0].name == bert.home.name
    held = Held()
    held(bert)
    with refused(f"workspace {bert.home.name}", 1):
        workspaces.remove(server, bert.home.name)
    held.let_die()
    workspaces.remove(server, bert.home.name)
    assert [path.name for path in (server / "workspaces").iterdir()] == [anna.home.name]
