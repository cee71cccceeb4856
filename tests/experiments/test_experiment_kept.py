"""What is kept of experiments: finished trials, of earlier versions too."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from refusals import refused
from tiny_actions import Enough, count_training_runs, images, planned, run_tiny

from ranking.core.errors import HomeError
from ranking.core.json_numbers import json_numbers
from ranking.experiments.cross_validation.plan import paths_of
from ranking.experiments.cross_validation.running import results_of
from ranking.experiments.cross_validation.trial_store import TrialStore

IMAGES = images(30)
METHODS = (("AP-SVM", {}), ("HOAP-SVM", {}))


def run(store: TrialStore, **changes: Any) -> set[str]:
    """The keys of all trials of an experiment, those included that they begin from."""
    plan = planned(IMAGES, **{"methods": METHODS, "folds": 2, **changes})
    results = run_tiny(plan, store, count=30)
    trials = [*plan.validation.values(), *plan.tests(results).values()]
    return {trial.key for path in paths_of(trials) for trial in path}


def contents(store: TrialStore) -> dict[str, Any]:
    """What decides every table, by key, to the last bit."""
    return {key: (one.measures, store.scores(key).tobytes()) for key, one in store.outcomes().items()}


def test_finished_trials_are_reused_by_other_experiments_and_by_workspaces_that_share_them(
    tmp_path, monkeypatch
):
    trained = count_training_runs(monkeypatch)
    first = run(TrialStore(tmp_path / "home"))
    files = sorted((tmp_path / "home").rglob("*"))
    second = run(TrialStore(tmp_path / "room", [tmp_path / "home"]), queries=("jump", "run"))
    assert first < second
    assert trained == dict.fromkeys(second, 1)
    assert sorted((tmp_path / "home").rglob("*")) == files, "nothing is written to a lender"


def test_a_trial_is_kept_to_the_last_bit(tmp_path):
    run(TrialStore(tmp_path), methods=METHODS[:1])
    store = TrialStore(tmp_path)
    key, outcome = next(iter(store.outcomes().items()))
    scores = store.scores(key)
    certificate = {**asdict(outcome.certificate), "gap": np.inf, "iterations": np.int64(7)}
    store.keep("odd", type(outcome)(outcome.measures, 0.1, type(outcome.certificate)(**certificate)), scores)
    again = TrialStore(tmp_path).outcomes(["odd", "missing"])
    assert {name: vars(one) for name, one in again.items()} == {
        "odd": {**vars(outcome), "seconds": 0.1, "certificate": type(outcome.certificate)(**certificate)}
    }
    np.testing.assert_array_equal(store.scores("odd"), scores)
    with refused("trial", "missing"):
        store.scores("missing")


def test_experiments_of_earlier_versions_still_open_and_their_folders_of_states_go(tmp_path):
    """The table of these versions, under the keys that trials still have."""
    plan = planned(IMAGES, methods=METHODS, folds=2)
    run_tiny(plan, TrialStore(tmp_path / "now"), count=30)
    now, old = TrialStore(tmp_path / "now"), tmp_path / "old"
    for folder in ("claims", "states/passed", "ends"):
        (old / folder).mkdir(parents=True)
    (old / "states" / "passed" / "one").write_bytes(bytes(10))
    with sqlite3.connect(old / "cells.sqlite") as database:
        database.execute("pragma journal_mode = wal")
        database.execute(
            "create table cell (key text primary key, measures text not null, seconds real not null, "
            "certificate text not null, scores blob not null, made real not null)"
        )
        for key, one in now.outcomes().items():
            proof = json.dumps(json_numbers(asdict(one.certificate)))
            row = (key, json.dumps(dict(one.measures)), one.seconds, proof, now.scores(key).tobytes(), 0.0)
            database.execute("insert into cell values (?, ?, ?, ?, ?, ?)", row)
    database.close()
    results, expected = results_of(plan, TrialStore(old)), results_of(plan, now)
    assert len(results.outcomes) == len(plan.validation) + plan.most_tests
    for place, outcome in expected.outcomes.items():
        assert vars(results.outcomes[place]) == vars(outcome)
        np.testing.assert_array_equal(
            TrialStore(old).scores(results.keys[place]), now.scores(results.keys[place])
        )
    assert {file.name for file in old.iterdir()} >= {"cells.sqlite", "trials"}
    assert not {"claims", "states", "ends"} & {file.name for file in old.iterdir()}


def test_what_cannot_be_read_is_an_error_of_the_home(tmp_path):
    (tmp_path / "cells.sqlite").write_bytes(b"no database " * 100)
    with pytest.raises(HomeError, match=tmp_path.name):
        TrialStore(tmp_path).outcomes(["one"])
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(HomeError, match="file"):
        TrialStore(tmp_path / "file")


def test_a_widened_grid_has_the_numbers_of_one_that_was_ended_and_went_on(tmp_path, monkeypatch):
    plan = planned(IMAGES, methods=METHODS, folds=2, widen=True)
    widened = run_tiny(plan, TrialStore(tmp_path / "all"), count=30)
    assert {place[2] for place in widened.keys} > {place[2] for place in plan.validation}

    def enough(progress: Any) -> None:
        if progress.done > len(paths_of(plan.validation.values())):
            raise Enough

    with pytest.raises(Enough):
        run_tiny(plan, TrialStore(tmp_path / "ended"), enough, count=30)
    run_tiny(plan, TrialStore(tmp_path / "ended"), count=30)
    assert contents(TrialStore(tmp_path / "ended")) == contents(TrialStore(tmp_path / "all"))
