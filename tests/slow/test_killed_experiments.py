"""Experiments whose processes are killed: nothing that was kept is lost, and they go on to the same numbers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any

from labelled_pictures import patches
from tiny_actions import images, planned, run_tiny
from working import ended, kill, wait

from ranking.experiments.cross_validation.pace import Progress
from ranking.experiments.cross_validation.plan import paths_of
from ranking.experiments.cross_validation.running import WAITING
from ranking.experiments.cross_validation.trial_store import CellStore
from ranking.jobs import jobs
from ranking.reports.at_home import cells_of
from ranking.workspace.store import Store

IMAGES = images()

CLAIM = """
import sys, time
from pathlib import Path
from ranking.experiments.cross_validation.trial_store import CellStore
with CellStore(Path(sys.argv[1])).claimed(sys.argv[2]) as ours:
    print(ours, flush=True)
    time.sleep(3600)
"""


def test_a_claim_is_waited_for_and_ends_with_a_claimer_that_is_killed(tmp_path):
    plan, store = planned(IMAGES, methods=(("AP-SVM", {}),), folds=2), CellStore(tmp_path)
    begins = paths_of(plan.validation.values())[0][0].key
    claimer = subprocess.Popen(
        [sys.executable, "-c", CLAIM, str(tmp_path), begins], stdout=subprocess.PIPE, text=True
    )
    assert claimer.stdout is not None
    assert claimer.stdout.readline() == "True\n"
    with store.claimed(begins) as ours:
        assert not ours
    with store.claimed("another") as ours:
        assert ours
    heard: list[Progress] = []

    def hear(progress: Progress) -> None:
        heard.append(progress)
        if progress.what == WAITING:  # all but the path that is claimed is there
            assert progress.done == 2
            os.kill(claimer.pid, signal.SIGKILL)
            claimer.wait()

    results = run_tiny(plan, store, hear)
    assert WAITING in [progress.what for progress in heard]
    assert len(results.outcomes) == 2 * 2 + 1
    assert list((tmp_path / "claims").iterdir()) == []


def scores(store: Store) -> dict[str, bytes]:
    cells = cells_of(store)
    return {key: cells.scores(key).tobytes() for key in cells.outcomes()}


def test_a_killed_experiment_lost_nothing_and_goes_on_to_the_same_bits(tmp_path):
    store, alone = (Store(tmp_path / name) for name in ("killed", "alone"))
    patches(tmp_path / "set")
    keys = {home.adopt(tmp_path / "set", "Patches") for home in (store, alone)}
    settings: dict[str, Any] = {
        "set": keys.pop(),
        "features": [["Colour", {}]],
        "methods": [["HOB-SVM", {}], ["HOAP-SVM", {}]],
        "queries": ["day", "calm"],
        "grids": {"C": [1.0, 10.0]},
        "folds": 3,
    }
    run = jobs.start(store, "experiment", settings)
    wait(lambda: len(cells_of(store).outcomes()) >= 3)
    kill(run)
    assert ended(store, run).state == "failed"
    kept = scores(store)
    for home in (store, alone):
        assert ended(home, jobs.start(home, "experiment", settings)).state == "finished"
    assert kept.items() < scores(store).items(), "it was killed in the midst of it"
    assert scores(store) == scores(alone)
