"""Faults of the world around a training, with real workers: what is kept is whole, and nothing is lost unsaid."""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ranking import jobs, method_class
from ranking.run import ENDED, Run
from ranking.store import Store

SCRIPTED = (sys.executable, str(Path(__file__).with_name("scripted_worker.py")))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the digits, made once; tests work on copies."""
    home = tmp_path_factory.mktemp("faults") / "home"
    store = Store(home)
    run = jobs.start(store, "import", {"source": "Digits", "source_settings": {}})
    store.keep(ended(store, run).id)
    wait(lambda: not run.alive and not list(home.glob("*-wal")))  # which goes while a copy is being made
    return home


@pytest.fixture
def store(filled: Path, tmp_path: Path) -> Iterator[Store]:
    shutil.copytree(filled, tmp_path / "home")
    store = Store(tmp_path / "home")
    yield store
    for run in store.runs():
        if run.alive and run.pid:
            os.kill(run.pid, signal.SIGKILL)
    wait(lambda: not any(run.alive for run in store.runs()))


def wait(condition: Callable[[], Any], seconds: float = 60.0) -> Any:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"nothing after {seconds} s")


def ended(store: Store, run: Run) -> Run:
    found: Run = wait(lambda: (now := jobs.poll(store, run.id)).state in ENDED and now)
    return found


def training(store: Store, **changes: Any) -> dict[str, Any]:
    [row] = store.image_sets()
    asked = {"set": row.key, "features": [["Colour", {}]], "query": "3", "method": "AP-SVM"}
    return {**asked, "method_settings": {"C": 10.0}, "warm_start": None, **changes}


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


# ------------------------------------------------------------------------------------------------- SIGKILL

# Counts the steps by which files reach the disk, and dies just before the one that it is told. The scores that a
# training has so far are written by the clock, for another page to look at, and are not counted.
DYING = """
import os, signal, sys
from ranking import worker
fatal, steps = int(sys.argv[1]), []
def dying(step):
    def call(*arguments):
        steps.append(step)
        if len(steps) == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return step(*arguments)
    return call
worker._SoFar.keep = lambda self, scores: None
os.replace, os.fsync = dying(os.replace), dying(os.fsync)
code = worker.main(sys.argv[2:])
assert len(steps) == 5, steps
sys.exit(code)
"""


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5])
def test_a_kill_between_any_two_steps_of_writing_leaves_nothing_half(
    store: Store, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Steps: the features' rename, the model's fsync and rename, those of the scores."""
    with monkeypatch.context() as patch:
        patch.setattr(jobs, "WORKER", (sys.executable, "-c", DYING, str(step)))
        run = ended(store, jobs.start(store, "train", training(store)))
    assert run.state == "failed"
    assert "SIGKILL" in run.reason
    assert run.model_file.exists() == (step > 3)
    check_whole(run)
    jobs.recover(store)
    again = ended(store, jobs.start(store, "train", training(store)))
    assert again.state == "finished"
    check_whole(again)


def test_the_steps_of_writing_are_as_many_as_the_kills(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "WORKER", (sys.executable, "-c", DYING, "6"))
    run = ended(store, jobs.start(store, "train", training(store)))
    assert run.state == "finished"
    wait(lambda: not run.alive)
    assert run.stderr_file.read_text() == ""


@pytest.mark.parametrize("moment", np.random.default_rng(2014).uniform(0.0, 1.5, 5).round(3))
def test_a_kill_at_a_random_moment(store: Store, moment: float) -> None:
    run = jobs.start(store, "train", training(store, features=[["HOG", {}], ["Colour", {}]]))
    time.sleep(moment)
    if run.alive:
        os.kill(run.pid or 0, signal.SIGKILL)
    run = ended(store, run)
    assert run.state in ("failed", "finished")
    assert run.state == "finished" or "SIGKILL" in run.reason
    check_whole(run)
    wait(lambda: not run.alive)
    jobs.recover(store)
    assert not list(store.features.glob("*.part"))


# ----------------------------------------------------------------------------------- disks of their own kind


@functools.cache
def can_mount() -> bool:
    """Whether this machine lets a process mount for itself alone."""
    if shutil.which("unshare") is None:
        return False
    trial = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/tmp"]
    return subprocess.run(trial, capture_output=True).returncode == 0


def with_mount(mount: str, program: str, *arguments: str) -> list[str]:
    """The lines that a Python program prints where `mount`, a shell command, has been carried out for it alone."""
    if not can_mount():
        pytest.skip("this machine lets no process mount for itself (unshare -rm)")
    shell = f'{mount} && exec "$0" -c "$@"'
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", shell, sys.executable, program, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


FULL = """
import json, os, shutil, sys, time
from pathlib import Path
from ranking import jobs
from ranking.run import ENDED
from ranking.store import Store
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
    run = store.run(run.id)
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
print(sorted({run.state for run in store.runs("train")}))
train()
"""


def test_a_full_disk_is_said_and_nothing_else_is_lost(filled: Path, tmp_path: Path) -> None:
    """A real one: a file system of a few megabytes, in memory."""
    disk = tmp_path / "disk"
    disk.mkdir()
    settings = json.dumps(training(Store(filled)))
    pages = sum(-(-file.stat().st_size // 4096) for file in filled.rglob("*"))
    size = 4096 * pages + 8 * 2**20
    failed, refused, states, again = with_mount(
        f"mount -t tmpfs -o size={size} none {disk}", FULL, str(filled), str(disk), settings
    )
    assert failed.startswith("failed there is no space left on the disk of the home folder (")
    assert "free some, then start again" in failed
    assert "model.npz" not in failed
    assert refused.startswith(f"cannot use the home folder {disk}: ")
    assert "free some space there" in refused
    assert states == "['failed']"
    assert again.startswith("finished  [")
    assert "'model.npz', 'scores.npy'" in again


LIMITED = """
import resource, signal, sys
from ranking import worker
train = worker.train
def limited(*arguments):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that writing fails as it does on a full disk
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, most))
    try:
        return train(*arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
worker.train = limited
sys.exit(worker.main(sys.argv[1:]))
"""


def test_a_limit_on_files_is_a_full_disk_too(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody may mount: RLIMIT_FSIZE, which the matrix of features (some 450 kB) exceeds."""
    monkeypatch.setattr(jobs, "WORKER", (sys.executable, "-c", LIMITED))
    run = ended(store, jobs.start(store, "train", training(store)))
    assert run.state == "failed"
    assert run.reason.startswith("there is no space left on the disk of the home folder (")
    assert not list(store.features.iterdir()), "no half matrix is left"
    check_whole(run)


READ_ONLY = """
import sys
from ranking.store import Store
try:
    Store(sys.argv[1]).runs()
    print("opened")
except OSError as error:
    print(type(error).__name__, error)
"""


def test_a_home_that_is_read_only_says_what_to_do(filled: Path) -> None:
    mount = f"mount --bind {filled} {filled} && mount -o remount,bind,ro {filled}"
    [said] = with_mount(mount, READ_ONLY, str(filled))
    assert said == (
        f"HomeError cannot use the home folder {filled}: Read-only file system; "
        "set RANKING_HOME to a folder that can be written, or change its permissions"
    )


def test_a_home_that_moves_during_a_training_loses_no_run(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "WORKER", SCRIPTED)
    run = jobs.start(store, "train", {"steps": [["iterate", 60, 0.01]]})
    wait(lambda: len(jobs.events(run)[0]) > 5)
    child = jobs._children[run.id]
    store.home.rename(tmp_path / "moved")
    child.wait(20)
    (tmp_path / "moved").rename(store.home)
    jobs.recover(Store(store.home))
    found = store.run(run.id)
    assert found.state == "failed"
    assert "cannot use the home folder" in found.reason
    assert "last heard of: iteration " in found.reason


# --------------------------------------------------------------------------------------------- image files


def test_an_image_that_is_gone_is_named_by_the_training_that_needs_it(store: Store) -> None:
    [row] = store.image_sets()
    images = store.image_set(row.key)
    lost = images.folder / str(images.image_files[7])
    lost.unlink()
    run = ended(store, jobs.start(store, "train", training(store)))
    assert run.state == "failed"
    assert run.reason == (
        f"image {images.image_names[7]} of Digits is gone: expected it in {lost}; import the image set again"
    )


# ----------------------------------------------------------------------------- several servers, and new ones

STARTING = """
import json, sys
from ranking import jobs
from ranking.store import Store
store = Store(sys.argv[1])
jobs.WORKER = tuple(sys.argv[3:])
print("ready", flush=True)
sys.stdin.readline()
print(jobs.start_once(store, "train", json.loads(sys.argv[2])).id, flush=True)
"""


def test_two_servers_that_start_the_same_at_once_start_one(store: Store) -> None:
    command = [sys.executable, "-c", STARTING, str(store.home), '{"steps": [["iterate", 100000, 0.01]]}']
    servers = [
        subprocess.Popen([*command, *SCRIPTED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert [server.stdout.readline() for server in servers if server.stdout] == ["ready\n"] * 3
    for server in servers:
        assert server.stdin
        server.stdin.write("go\n")
        server.stdin.flush()
    ids = {server.communicate(timeout=30)[0] for server in servers}
    assert len(ids) == 1
    [run] = store.runs("train")
    assert ids == {f"{run.id}\n"}


@pytest.mark.parametrize(("steps", "state"), [(100, "finished"), (100_000, "running")])
def test_a_training_outlives_its_server(store: Store, steps: int, state: str) -> None:
    """It goes on, or ends by itself; either way the next server finds it."""
    asked = f'{{"steps": [["iterate", {steps}, 0.01]]}}'
    command = [sys.executable, "-c", STARTING, str(store.home), asked, *SCRIPTED]
    run_id = subprocess.run(command, input="go\n", capture_output=True, text=True, timeout=30).stdout.split()[
        1
    ]
    run = store.run(run_id)
    assert run.alive
    wait(lambda: store.run(run_id).state == state)
    restarted = Store(store.home)
    jobs.recover(restarted)
    assert jobs.poll(restarted, run_id).state == state
    before = len(jobs.events(run)[0])
    assert state == "finished" or wait(lambda: len(jobs.events(run)[0]) > before)
