"""Experiments whose processes are killed: stored trials survive, and the numbers are the same."""

from __future__ import annotations

from typing import Any

from labelled_pictures import patches
from working import ended, kill, wait

from ranking.reports.at_home import trials_of
from ranking.storage import jobs
from ranking.storage.store import Store


def scores(store: Store) -> dict[str, bytes]:
    trials = trials_of(store)
    return {key: trials.scores(key).tobytes() for key in trials.outcomes()}


def test_a_killed_experiment_loses_no_trial_and_resumes_to_the_same_bits(tmp_path):
    store, alone = (Store(tmp_path / name) for name in ("killed", "alone"))
    patches(tmp_path / "set")
    keys = {home.sets.add(tmp_path / "set", "Patches") for home in (store, alone)}
    settings: dict[str, Any] = {
        "task": "experiment",
        "set": keys.pop(),
        "features": [["Colour", {}]],
        "methods": [["HOB-SVM", {}], ["HOAP-SVM", {}]],
        "queries": ["day", "calm"],
        "grids": {"C": [1.0, 10.0]},
        "folds": 3,
    }
    run = jobs.start(store, "study", settings)
    wait(lambda: len(trials_of(store).outcomes()) >= 3)
    kill(run)
    assert ended(store, run).state == "failed"
    kept = scores(store)
    for home in (store, alone):
        assert ended(home, jobs.start(home, "study", settings)).state == "finished"
    assert kept.items() < scores(store).items(), "it was killed in the midst of it"
    assert scores(store) == scores(alone)
