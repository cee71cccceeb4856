"""What is kept of experiments: finished trials."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from refusals import refused
from tiny_actions import Enough, count_training_runs, images, planned, run_tiny

from ranking.core.errors import HomeError
from ranking.experiments.cross_validation.plan import paths_of
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
    second = run(TrialStore(tmp_path / "workspace", [tmp_path / "home"]), queries=("jump", "run"))
    assert first < second
    assert trained == dict.fromkeys(second, 1)
    assert sorted((tmp_path / "home").rglob("*")) == files, "nothing is written to a lender"


def test_a_trial_is_kept_to_the_last_bit(tmp_path):
    run(TrialStore(tmp_path), methods=METHODS[:1])
    store = TrialStore(tmp_path)
    key, outcome = next(iter(store.outcomes().items()))
    scores = store.scores(key)
    certificate = {**asdict(outcome.certificate), "gap": np.inf, "iterations": np.int64(7)}
    store.save("odd", type(outcome)(outcome.measures, 0.1, type(outcome.certificate)(**certificate)), scores)
    again = TrialStore(tmp_path).outcomes(["odd", "missing"])
    assert {name: vars(one) for name, one in again.items()} == {
        "odd": {**vars(outcome), "seconds": 0.1, "certificate": type(outcome.certificate)(**certificate)}
    }
    np.testing.assert_array_equal(store.scores("odd"), scores)
    with refused("trial", "missing"):
        store.scores("missing")


def test_an_unreadable_folder_of_trials_is_a_home_error(tmp_path):
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
