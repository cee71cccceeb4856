"""Kills at any moment and faults of the world around real workers: what is kept is whole, and losses are told."""

from __future__ import annotations

import errno
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from working import FOREVER, LONGEST, SCRIPTED, cancelled, ended, heard, kill, kill_all, start, wait

from ranking import method_class
from ranking.datasets import build_image_set, make_source
from ranking.storage import home, jobs
from ranking.storage.events import last_gap
from ranking.storage.memory import reason_of
from ranking.storage.run import Run
from ranking.storage.store import Store


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("digits") / "set"
    build_image_set(make_source("Digits"), folder)
    return folder


@pytest.fixture
def store(digits: Path, tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "home")
    store.sets.add(digits, "Digits")
    yield store
    kill_all(store)


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "WORKER", SCRIPTED)


def training(store: Store, **changes: Any) -> dict[str, Any]:
    [row] = store.sets.rows()
    settings = {"set": row.key, "features": [["Colour", {}]], "query": "3", "method": "AP-SVM"}
    return {**settings, "method_settings": {"C": 10.0}, "warm_start": None, **changes}


def check_whole(run: Run) -> None:
    """Files are whole or not there, and a run with results has all of them."""
    if run.model_file.exists():
        assert method_class("AP-SVM").load(run.model_file).certificate is not None
    if run.scores_file.exists():
        assert np.load(run.scores_file).shape == (1797,)
    if run.state == "finished":
        assert run.model_file.exists()
        assert run.scores_file.exists()
    else:
        assert run.result == {}


# Counts the steps by which files reach the disk, and dies just before the one that it is told. What a
# training has so far, scores and recording, is written by the clock, for a page to look at, and is not counted.
DYING = """
import os, signal, sys
from ranking.experiments import recording
from ranking.commands import worker
fatal, steps = int(sys.argv[1]), []
def dying(step):
    def call(*arguments):
        steps.append(step)
        if len(steps) == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return step(*arguments)
    return call
worker._SoFar.save = lambda self, scores: None
recording.SECONDS = 1e9
os.replace, os.fsync = dying(os.replace), dying(os.fsync)
code = worker.main(sys.argv[2:])
assert len(steps) == 13, steps
sys.exit(code)
"""


def test_a_kill_between_any_two_steps_of_writing_leaves_nothing_half(store, monkeypatch):
    """Writing has thirteen steps."""
    # The renaming of the features; the fsync and renaming of the record that names the process, of the record
    # when the run begins and ends, of the model, of the recording and of the scores.
    monkeypatch.setattr(home, "ABANDONED_SECONDS", -60)
    for step in range(1, 15):
        shutil.rmtree(store.features.cache)
        with monkeypatch.context() as patch:
            patch.setattr(jobs, "WORKER", (sys.executable, "-c", DYING, str(step)))
            run = ended(store, jobs.start(store, "train", training(store)))
        wait(lambda run=run: not run.alive)
        assert run.state == ("finished" if step == 14 else "failed"), step
        assert ("SIGKILL" in run.reason) == (step < 14)
        assert run.model_file.exists() == (step > 7), step
        check_whole(run)
        jobs.recover(store)
        assert not list(store.features.cache.glob("*.part"))
    assert run.stderr_file.read_text() == ""


@pytest.mark.parametrize("moment", np.random.default_rng(2014).uniform(0.0, 1.5, 5).round(3))
def test_a_kill_at_a_random_moment(store, moment):
    run = jobs.start(store, "train", training(store, features=[["HOG", {}], ["Colour", {}]]))
    time.sleep(moment)
    if run.alive:
        kill(run)
    run = ended(store, run)
    assert run.state in ("failed", "finished")
    assert run.state == "finished" or "SIGKILL" in run.reason
    check_whole(run)
    wait(lambda: not run.alive)
    jobs.recover(store)
    assert not list(store.features.cache.glob("*.part"))


@pytest.mark.parametrize("moment", [0.0, 0.05, 0.15, 0.3])
def test_a_worker_killed_or_cancelled_while_it_starts_is_settled(store, scripted, moment):
    first, second = start(store, FOREVER), start(store, FOREVER)
    time.sleep(moment)
    kill(first)
    assert cancelled(store, second).state == "cancelled"
    assert ended(store, first).state == "failed"
    assert "SIGKILL" in store.runs.get(first.id).reason


@pytest.mark.parametrize("megabytes", [150, 450])
def test_too_little_memory_for_the_libraries_is_reported(store, monkeypatch, megabytes):
    """What gives way differs from library to library: an exception, an exit, an abort; but never a standstill."""
    monkeypatch.setenv("RANKING_WORKER_MEMORY", str(megabytes * 10**6))
    run = ended(store, jobs.start(store, "train", training(store)))
    assert run.state == "failed"
    assert "memory" in run.reason.lower()


# what is told before the details
NO_SPACE = reason_of(OSError(errno.ENOSPC, "?")).partition("(")[0]
FULL = """
import json, os, shutil, sys, time
from pathlib import Path
from ranking.storage import jobs
from ranking.storage.run import ENDED
from ranking.storage.store import Store
shutil.copytree(sys.argv[1], sys.argv[2], dirs_exist_ok=True)
store = Store(sys.argv[2])
settings = json.loads(sys.argv[3])
def leave(kilobytes):
    disk = os.statvfs(store.home)
    ballast.write_bytes(bytes(disk.f_bavail * disk.f_frsize - 1024 * kilobytes))
def train():
    run = jobs.start(store, "train", settings)
    while jobs.poll(store, run.id).state not in ENDED:
        time.sleep(0.02)
    while run.alive or jobs._children:
        time.sleep(0.02)
    run = store.runs.get(run.id)
    print(run.state, run.reason, sorted(path.name for path in run.folder.iterdir() if "partial" not in path.name))
ballast = store.home / "ballast"
leave(kilobytes=200)
train()
ballast.unlink()
leave(kilobytes=0)
try:
    train()
except OSError as error:
    print(error)
ballast.unlink()
jobs.recover(store)
print(sorted({run.state for run in store.runs.all_own("train")}))
train()
"""


def test_a_full_disk_is_reported_and_nothing_else_is_lost(store, tmp_path):
    """A real one: a file system of a few megabytes, in memory."""
    trial = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/tmp"]
    if shutil.which("unshare") is None or subprocess.run(trial, capture_output=True).returncode != 0:
        pytest.skip("this machine lets no process mount for itself (unshare -rm)")
    disk = tmp_path / "disk"
    disk.mkdir()
    pages = sum(-(-file.stat().st_size // 4096) for file in store.home.rglob("*"))
    mount = f"mount -t tmpfs -o size={4096 * pages + 8 * 2**20} none {disk}"
    shell = ["unshare", "-rm", "sh", "-c", f'{mount} && exec "$0" -c "$@"']
    program = [sys.executable, FULL, str(store.home), str(disk), json.dumps(training(store))]
    done = subprocess.run([*shell, *program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    failed, refused, states, again = done.stdout.splitlines()
    assert failed.startswith(f"failed {NO_SPACE}")
    assert "model.npz" not in failed
    assert str(disk) in refused
    assert states == "['failed']"
    assert again.startswith("finished  [")
    assert "'model.npz', 'playback.npz', 'run.json', 'scores.npy'" in again


def test_a_home_that_moves_during_a_training_loses_no_run(store, scripted, tmp_path):
    run = start(store, ["iterate", 60, 0.01])
    heard(run, iteration=5)
    child = jobs._children[run.id]
    store.home.rename(tmp_path / "moved")
    child.wait()
    (tmp_path / "moved").rename(store.home)
    jobs.recover(Store(store.home))
    settled = store.runs.get(run.id)
    assert settled.state == "failed"
    assert str(store.home) in settled.reason
    assert last_gap(run) in settled.reason


def test_a_command_that_is_ended_leaves_no_worker(store):
    command = [sys.executable, "-m", "ranking", "experiment", "Digits", "--home", str(store.home)]
    running = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        wait(lambda: [run for run in store.runs.all("study") if run.state == "running" and run.pid])
        [run] = store.runs.all("study")
        running.send_signal(signal.SIGTERM)
        _, errors = running.communicate(timeout=LONGEST)
    finally:
        running.kill()
    assert running.returncode == 130
    assert b"interrupted" in errors
    assert store.runs.get(run.id).state == "cancelled"
    wait(lambda: not Path(f"/proc/{run.pid}").exists())
