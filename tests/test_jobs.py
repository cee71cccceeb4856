from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ranking import events, jobs
from ranking.events import MEASURING
from ranking.run import ENDED, Kind, Run
from ranking.store import Store
from ranking.worker_limits import LESS_URGENT, weigh_session

SCRIPTED = (sys.executable, str(Path(__file__).with_name("scripted_worker.py")))
FOREVER = ["iterate", 100_000, 0.01]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(jobs, "WORKER", SCRIPTED)
    store = Store(tmp_path / "home")
    yield store
    for run in store.runs():
        if run.alive and run.pid:
            os.kill(run.pid, signal.SIGKILL)
    wait(lambda: not any(run.alive for run in store.runs()) and not jobs._children)


def wait(condition: Callable[[], Any], seconds: float = 20.0) -> Any:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"nothing after {seconds} s")


def start(store: Store, *steps: list[Any], kind: Kind = "train") -> Run:
    return jobs.start(store, kind, {"steps": list(steps)})


def ended(store: Store, run: Run) -> Run:
    return wait(lambda: (now := jobs.poll(store, run.id)).state in ENDED and now)


def said(run: Run, kind: str) -> list[dict[str, Any]]:
    return [event for event in jobs.events(run)[0] if event["event"] == kind]


def iterating(store: Store, run: Run) -> Run:
    wait(lambda: said(run, "iteration"))
    return store.run(run.id)


def test_work_is_less_urgent_than_the_process_that_asks_for_it(store: Store) -> None:
    run = iterating(store, start(store, FOREVER))
    assert run.pid is not None
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, run.pid) == min(19, ours + LESS_URGENT)
    jobs.cancel(store, run.id)


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="sessions are not weighed here")
def test_the_session_of_a_worker_weighs_less_as_soon_as_the_system_lets_it(store: Store) -> None:
    for _ in range(2):  # the second at once: the system refuses it for a tenth of a second
        run = iterating(store, start(store, FOREVER))
        assert run.pid is not None
        weigh_session(run.pid)
        assert Path(f"/proc/{run.pid}/autogroup").read_text().endswith(f" nice {LESS_URGENT}\n")
        jobs.cancel(store, run.id)
    weigh_session(2**22 + 1)  # no such process: nothing to do


# ------------------------------------------------------------------------------------------- a quiet life


def test_a_run_is_queued_and_alive_at_once_and_ends_finished(store: Store) -> None:
    run = start(store, ["iterate", 3, 0.0])
    assert run.state == "queued"
    assert run.alive
    assert run.pid
    run = ended(store, run)
    assert (run.state, run.reason) == ("finished", "")
    assert run.result["certificate"]["converged"] is True
    assert run.created <= run.started <= run.ended
    assert [event["state"] for event in said(run, "state")] == ["running", "finished"]
    wait(lambda: not run.alive)


def test_no_infinity_reaches_the_events(store: Store) -> None:
    run = ended(store, start(store, ["iterate", 2, 0.06]))
    first, last = said(run, "iteration")
    assert (first["dual"], first["gap"], first["relative_gap"]) == (None, None, None)
    assert (last["dual"], last["gap"], last["relative_gap"]) == (1.0, 1.0, 0.5)
    assert "Infinity" not in (run.folder / "events.jsonl").read_text()


def test_a_worker_is_out_of_reach_of_the_terminal_that_stops_its_server(store: Store) -> None:
    run = start(store, FOREVER)
    assert os.getsid(run.pid) != os.getsid(0)


def test_workers_are_reaped(store: Store) -> None:
    run = ended(store, start(store, ["iterate", 1, 0.0]))
    wait(lambda: not jobs._children)
    with pytest.raises(ChildProcessError):
        os.waitpid(run.pid, os.WNOHANG)


def test_nobody_needs_to_look_for_a_death_to_be_noticed(store: Store) -> None:
    run = start(store, ["leave", 3])
    settled = wait(lambda: (now := store.run(run.id)).state == "failed" and now)
    assert settled.reason == "the worker ended with exit code 3"


def test_a_refused_process_is_a_failed_run(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "WORKER", ("/no/such/python",))
    run = start(store, ["iterate", 1, 0.0])
    assert run.state == "failed"
    assert "the system could not start a worker" in run.reason
    assert not run.alive


# --------------------------------------------------------------------------------------------------- once


def test_equal_starts_at_once_are_one_run(store: Store) -> None:
    settings = {"steps": [FOREVER]}
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(jobs.start_once, Store(store.home), "train", settings) for _ in range(8)]
        runs = [answer.result() for answer in asked]
    assert len({run.id for run in runs}) == 1
    assert len(store.runs()) == 1
    assert jobs.start_once(store, "train", {"steps": (tuple(FOREVER),)}).id == runs[0].id  # equal as JSON


def test_what_differs_or_is_not_live_is_a_new_run(store: Store) -> None:
    settings = {"steps": [FOREVER]}
    first = jobs.start_once(store, "train", settings)
    other = jobs.start_once(store, "train", {"steps": [["count", 1000, 0.01]]})
    imported = jobs.start_once(store, "import", settings)
    jobs.cancel(store, first.id)
    after_cancel = jobs.start_once(store, "train", settings)
    os.kill(after_cancel.pid, signal.SIGKILL)
    ended(store, after_cancel)
    after_death = jobs.start_once(store, "train", settings)
    assert len({run.id for run in (first, other, imported, after_cancel, after_death)}) == 5
    assert after_death.alive


# -------------------------------------------------------------------------------------------------- queue


@pytest.fixture
def full(store: Store) -> Iterator[list[int]]:
    """Locks of as many live trainings as may work at once; closing one is its end."""
    locks: list[int] = []
    for _ in range(jobs.MOST_AT_ONCE):
        store.create_run("train", {}, lambda folder: locks.append(jobs.take_lock(folder)))
    yield locks
    for lock in locks:
        os.close(lock)


def working(store: Store, run: Run) -> bool:
    return store.run(run.id).state != "queued"


def test_trainings_beyond_the_cores_wait_and_start_in_order(store: Store, full: list[int]) -> None:
    first, second = (start(store, ["count", 1000, 0.01]) for _ in range(2))
    time.sleep(1.0)
    assert [jobs.waits_for(store, run) for run in (first, second)] == [1, 2]
    assert not working(store, first)
    assert not working(store, second)
    os.close(full.pop())
    wait(lambda: working(store, first))
    assert jobs.waits_for(store, second) == 1
    time.sleep(0.3)
    assert not working(store, second)
    os.kill(store.run(first.id).pid, signal.SIGKILL)
    wait(lambda: working(store, second))
    assert store.run(second.id).started > store.run(first.id).started


@pytest.mark.parametrize("kind", ["label", "order", "asking", "study", "timing", "experiment"])
def test_trainings_and_simulations_stand_in_one_queue(store: Store, full: list[int], kind: Kind) -> None:
    first, second = start(store, ["iterate", 1, 0.0], kind=kind), start(store, ["iterate", 1, 0.0])
    assert [jobs.waits_for(store, run) for run in (first, second)] == [1, 2]
    os.close(full.pop())
    assert ended(store, first).state == ended(store, second).state == "finished"


def test_who_dies_in_the_queue_gives_its_place_up(store: Store, full: list[int]) -> None:
    first, second = (start(store, ["iterate", 1, 0.0]) for _ in range(2))
    os.kill(first.pid, signal.SIGKILL)
    assert ended(store, first).state == "failed"
    assert jobs.waits_for(store, second) == 1
    os.close(full.pop())
    assert ended(store, second).state == "finished"


@pytest.mark.parametrize("moment", [0.0, 0.8])
def test_cancel_while_it_waits(store: Store, full: list[int], moment: float) -> None:
    run = start(store, FOREVER)
    time.sleep(moment)
    run, seconds = cancel(store, run)
    assert run.state == "cancelled"
    assert seconds < 2


def test_an_import_never_waits(store: Store, full: list[int]) -> None:
    run = start(store, ["iterate", 1, 0.0], kind="import")
    assert jobs.waits_for(store, run) == 0
    assert ended(store, run).state == "finished"


# ------------------------------------------------------------------------------------------------- deaths


@pytest.mark.parametrize("moment", [0.0, 0.05, 0.15, 0.3])
def test_a_worker_killed_while_it_starts_is_a_failed_run(store: Store, moment: float) -> None:
    run = start(store, FOREVER)
    time.sleep(moment)
    os.kill(run.pid, signal.SIGKILL)
    run = ended(store, run)
    assert run.state == "failed"
    assert "SIGKILL" in run.reason
    assert "memory runs out" in run.reason


@pytest.mark.parametrize("kind", ["label", "order", "asking", "study", "timing", "experiment"])
def test_a_killed_worker_of_any_kind_is_a_failed_run(store: Store, kind: Kind) -> None:
    run = start(store, ["count", 1000, 0.01], kind=kind)
    wait(lambda: said(run, "progress"))
    os.kill(run.pid, signal.SIGKILL)
    run = ended(store, run)
    assert run.state == "failed"
    assert run.reason.startswith("the worker was killed by SIGKILL, which is also what the system does when ")


def test_a_worker_killed_in_training_leaves_its_last_gap(store: Store) -> None:
    run = start(store, FOREVER)
    wait(lambda: len(said(run, "iteration")) > 2)
    os.kill(run.pid, signal.SIGKILL)
    run = ended(store, run)
    number = said(run, "iteration")[-1]["iteration"]
    assert run.state == "failed"
    assert run.reason.endswith(f"; last heard of: iteration {number}, gap 1 (50.00% of the objective)")
    assert run.ended >= run.started


def test_the_app_goes_on_after_a_death(store: Store) -> None:
    first = start(store, FOREVER)
    os.kill(first.pid, signal.SIGKILL)
    second = start(store, ["iterate", 2, 0.0])
    assert ended(store, first).state == "failed"
    assert ended(store, second).state == "finished"


def test_an_error_is_a_plain_reason_and_a_traceback_in_stderr(store: Store) -> None:
    run = ended(store, start(store, ["iterate", 5, 0.0], ["fail", "the oracle\nis silent"]))
    assert run.state == "failed"
    assert run.reason == (
        "RuntimeError: the oracle is silent; last heard of: iteration 4, gap 1 (50.00% of the objective)"
    )
    stderr = (run.folder / "stderr.txt").read_text()
    assert stderr.startswith("Traceback")
    assert "in fail" in stderr
    assert said(run, "state")[-1] == {"event": "state", "state": "failed", "reason": run.reason}


def test_a_crash_tells_its_signal_and_last_words_but_no_dump(store: Store) -> None:
    run = ended(store, start(store, ["iterate", 2, 0.0], ["crash"]))
    assert run.reason.startswith(
        "the worker was killed by SIGABRT; its last words: something went wrong inside"
        " | Fatal Python error: Aborted; last heard of: iteration "
    )
    assert "scripted_worker.py" not in run.reason
    assert "scripted_worker.py" in (run.folder / "stderr.txt").read_text()


def test_running_out_of_memory_is_told_with_the_limit(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKING_WORKER_MEMORY", str(2 * 10**9))
    run = ended(store, start(store, ["iterate", 2, 0.0], ["allocate", 3 * 10**9]))
    assert run.state == "failed"
    assert "ran out of memory (it may use 2 GB, set by RANKING_WORKER_MEMORY)" in run.reason
    assert "last heard of: iteration 1" in run.reason


def test_memory_that_runs_out_in_small_pieces_leaves_room_to_say_so(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKING_WORKER_MEMORY", str(6 * 10**8))
    run = ended(store, start(store, ["hoard"]))
    assert run.reason.startswith("the worker ran out of memory (it may use 0.6 GB"), run.reason


def test_within_the_memory_limit_all_is_well(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKING_WORKER_MEMORY", str(2 * 10**9))
    assert ended(store, start(store, ["allocate", 10**6])).state == "finished"


@pytest.mark.parametrize("limit", ["2 GB", "0", "-1", str(2**63), "9" * 5000, "٣"])
def test_a_memory_limit_that_is_no_number_is_refused(
    store: Store, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setenv("RANKING_WORKER_MEMORY", limit)
    run = ended(store, start(store, ["iterate", 1, 0.0]))
    assert run.state == "failed"
    assert run.reason.startswith(
        "RANKING_WORKER_MEMORY must be a number of bytes, 1 to 9223372036854775807, got "
    )
    assert len(run.reason) < 200


def test_a_killed_import_leaves_no_draft(store: Store) -> None:
    run = start(store, ["draft"], FOREVER, kind="import")
    wait(run.draft.exists)
    os.kill(run.pid, signal.SIGKILL)
    assert ended(store, run).state == "failed"
    wait(lambda: not run.draft.exists())


def test_a_failed_import_leaves_no_draft(store: Store) -> None:
    run = ended(store, start(store, ["draft"], ["fail", "no"], kind="import"))
    assert run.state == "failed"
    wait(lambda: not run.draft.exists())


# ------------------------------------------------------------------------------------------------- cancel


def cancel(store: Store, run: Run) -> tuple[Run, float]:
    """The run after it was cancelled, and the seconds until its worker was gone."""
    begin = time.monotonic()
    jobs.cancel(store, run.id)
    assert time.monotonic() - begin < 0.3, "cancel blocked its caller"
    wait(lambda: not run.alive)
    seconds = time.monotonic() - begin
    return ended(store, run), seconds


def test_cancel_in_training_keeps_the_best_weights(store: Store) -> None:
    run, seconds = cancel(store, iterating(store, start(store, FOREVER)))
    assert run.state == "cancelled"
    assert seconds < 2
    assert run.reason.startswith("cancelled; the best weights so far were kept; last heard of: iteration ")
    assert run.result["certificate"]["converged"] is False
    assert (run.folder / "model.npz").exists()


def test_cancel_during_features_stops_at_the_next_progress(store: Store) -> None:
    run = start(store, ["count", 100_000, 0.01])
    wait(lambda: said(run, "progress"))
    run, seconds = cancel(store, run)
    assert (run.state, run.reason) == ("cancelled", "cancelled before any weights were saved")
    assert seconds < 2
    assert run.result == {}
    assert (run.folder / "stderr.txt").read_text() == ""


def test_cancel_during_an_import_removes_its_draft(store: Store) -> None:
    run = start(store, ["draft"], ["count", 100_000, 0.01], kind="import")
    wait(lambda: said(run, "progress"))
    run, seconds = cancel(store, run)
    assert run.state == "cancelled"
    assert seconds < 2
    assert not run.draft.exists()


def test_a_deaf_worker_is_killed_within_a_second(store: Store) -> None:
    run = start(store, ["iterate", 3, 0.0], ["be_deaf", 60])
    run, seconds = cancel(store, iterating(store, run))
    assert run.state == "cancelled"
    assert 0.7 < seconds < 2
    assert run.reason.startswith("cancelled before any weights were saved; last heard of: iteration ")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("label", "cancelled before any weights were saved"),
        ("order", "cancelled before any weights were saved"),
        ("asking", "cancelled before there was anything to keep"),
        ("study", "cancelled before there was anything to keep"),
        ("timing", "cancelled before there was anything to keep"),
        ("import", "cancelled before there was anything to keep"),
    ],
)
def test_what_a_deaf_worker_leaves_depends_on_its_work(store: Store, kind: Kind, expected: str) -> None:
    run = start(store, ["count", 1, 0.0], ["be_deaf", 60], kind=kind)
    wait(lambda: said(run, "progress"))
    run, seconds = cancel(store, run)
    assert (run.state, run.reason, run.result) == ("cancelled", expected, {})
    assert seconds < 2


def test_a_stopped_ranker_of_labels_keeps_its_best_weights(store: Store) -> None:
    run, _ = cancel(store, iterating(store, start(store, FOREVER, kind="label")))
    assert run.state == "cancelled"
    assert run.reason.startswith("cancelled; the best weights so far were kept; last heard of: iteration ")


def test_a_cancelled_worker_has_time_to_save(store: Store) -> None:
    run = start(store, FOREVER, ["save", 1.5])
    run, seconds = cancel(store, iterating(store, run))
    assert run.state == "cancelled"
    assert 1.5 < seconds < 4
    assert (run.folder / "scores.npy").exists()


def test_a_cancelled_worker_has_longer_to_measure_what_it_learnt(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "SAVE_SECONDS", 0.9)
    run = start(store, FOREVER, ["measure", 1.5], kind="order")
    run, seconds = cancel(store, iterating(store, run))
    assert run.reason.startswith("cancelled; the best weights so far were kept; ")
    assert 1.5 < seconds < 4


@pytest.mark.parametrize("killed", [False, True])
def test_weights_outlive_the_death_of_who_measures_them(
    store: Store, monkeypatch: pytest.MonkeyPatch, killed: bool
) -> None:
    monkeypatch.setattr(jobs, "MEASURE_SECONDS", 0.9)
    run = start(store, ["iterate", 3, 0.0], ["measure", 60], kind="order")
    wait(lambda: any(event.get("what") == MEASURING for event in jobs.events(run)[0]))
    if killed:
        os.kill(jobs.poll(store, run.id).pid or 0, signal.SIGKILL)
        run = ended(store, run)
    else:
        run, _ = cancel(store, run)
    assert run.state == ("failed" if killed else "cancelled")
    assert "; its weights were kept in its folder (model.npz), but not what they are worth" in run.reason
    assert (run.folder / "model.npz").read_text() == "the weights"


@pytest.mark.parametrize("moment", [0.0, 0.02, 0.1, 0.2])
def test_cancel_while_the_worker_starts(store: Store, moment: float) -> None:
    run = start(store, ["be_deaf", 0.01], ["count", 1000, 0.01])
    time.sleep(moment)
    run, seconds = cancel(store, run)
    assert run.state == "cancelled"
    assert seconds < 2


def test_cancel_before_the_pid_is_known(store: Store) -> None:
    """Another browser may cancel between the new row and the new process: the worker reads it first."""
    run = store.create_run("train", {"steps": [FOREVER]})
    store.update_run(run.id, cancelled=time.monotonic() + 100)
    subprocess.run([*SCRIPTED, str(store.home), run.id], check=True, timeout=20)
    assert store.run(run.id).state == "cancelled"


def test_cancelling_twice_or_too_late_changes_nothing(store: Store) -> None:
    run = ended(store, start(store, ["iterate", 1, 0.0]))
    jobs.cancel(store, run.id)
    assert store.run(run.id) == run
    other = iterating(store, start(store, FOREVER))
    jobs.cancel(store, other.id)
    jobs.cancel(store, other.id)
    assert ended(store, other).state == "cancelled"


def test_a_signal_goes_to_no_process_but_the_worker(store: Store) -> None:
    """The pid of a dead worker may be somebody else's: here it is a bystander's."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as bystander:
        run = store.create_run("train", {"steps": []})
        store.update_run(run.id, state="running", pid=bystander.pid)
        dead = store.run(run.id)
        jobs._signal(dead, signal.SIGKILL)
        jobs.cancel(store, run.id)
        time.sleep(0.1)
        assert bystander.poll() is None
        bystander.kill()
    assert store.run(run.id).state == "failed"


# --------------------------------------------------------------------------------------- another process

SERVER = """
import sys, time
from ranking import jobs
from ranking.store import Store
jobs.WORKER = tuple(sys.argv[2:])
run = jobs.start(Store(sys.argv[1]), "train", {"steps": [["iterate", 100000, 0.01]]})
print(run.id, flush=True)
"""


@pytest.fixture
def orphan(store: Store) -> Run:
    """A live run whose server has gone."""
    command = [sys.executable, "-c", SERVER, str(store.home), *SCRIPTED]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=20)
    return iterating(store, store.run(done.stdout.strip()))


def test_a_restarted_server_finds_its_workers_running(store: Store, orphan: Run) -> None:
    jobs.recover(Store(store.home))
    run = jobs.poll(Store(store.home), orphan.id)
    assert run.state == "running"
    events, offset = jobs.events(run)
    wait(lambda: jobs.events(run, offset)[0])
    assert events


def test_a_restarted_server_can_cancel(store: Store, orphan: Run) -> None:
    run, seconds = cancel(Store(store.home), orphan)
    assert run.state == "cancelled"
    assert seconds < 2
    assert run.result["certificate"]["converged"] is False


def test_a_restarted_server_notices_a_death(store: Store, orphan: Run) -> None:
    os.kill(orphan.pid, signal.SIGKILL)
    wait(lambda: not orphan.alive)
    jobs.recover(store)
    run = store.run(orphan.id)
    assert run.state == "failed"
    assert run.reason.startswith("the worker died without saying why; last heard of: iteration ")


def test_an_overdue_worker_is_killed_by_whoever_polls(store: Store, orphan: Run) -> None:
    """The server that cancelled may have gone before it could kill."""
    store.update_run(orphan.id, cancelled=time.monotonic() - 1)
    jobs.poll(store, orphan.id)
    wait(lambda: not orphan.alive, 2)
    assert jobs.poll(store, orphan.id).state == "cancelled"


# ------------------------------------------------------------------------------------------------- events


@pytest.fixture
def quiet(store: Store) -> Run:
    return store.create_run("train", {})


def test_events_come_once_each_from_offset_to_offset(quiet: Run) -> None:
    file = quiet.folder / "events.jsonl"
    assert jobs.events(quiet) == ([], 0)
    file.write_text('{"event": "state"}\n')
    first, offset = jobs.events(quiet)
    assert (first, offset) == ([{"event": "state"}], 19)
    assert jobs.events(quiet, offset) == ([], 19)
    assert jobs.events(quiet, 10**9) == ([], 10**9)


def test_a_half_written_line_waits_for_its_end(quiet: Run) -> None:
    file = quiet.folder / "events.jsonl"
    file.write_text('{"event": "a"}\n{"event": "é')
    found, offset = jobs.events(quiet)
    assert (found, offset) == ([{"event": "a"}], 15)
    with file.open("a") as stream:
        stream.write('"}\n{"ev')
    assert jobs.events(quiet, offset)[0] == [{"event": "é"}]


def test_half_a_character_waits_too(quiet: Run) -> None:
    (quiet.folder / "events.jsonl").write_bytes('{"event": "é'.encode()[:-1])
    assert jobs.events(quiet) == ([], 0)


def test_a_line_that_is_no_event_is_shown_as_such(quiet: Run) -> None:
    (quiet.folder / "events.jsonl").write_bytes(b'\0\0\xff\n17\n{"event": "a"}\n')
    found, _ = jobs.events(quiet)
    assert [event["event"] for event in found] == ["unreadable", "unreadable", "a"]
    assert jobs.last_gap(quiet) == ""


def test_the_last_gap_is_found_at_the_end_of_a_long_file(quiet: Run) -> None:
    line = {
        "event": "iteration",
        "iteration": 1,
        "primal": 2.0,
        "dual": None,
        "gap": None,
        "relative_gap": None,
    }
    last = {**line, "iteration": 10_000, "gap": 0.125, "relative_gap": 0.0625}
    lines = [json.dumps(line)] * 10_000
    (quiet.folder / "events.jsonl").write_text("\n".join([*lines, json.dumps(last)]) + '\n{"event": "iter')
    assert jobs.last_gap(quiet) == "iteration 10000, gap 0.125 (6.25% of the objective)"
    (quiet.folder / "events.jsonl").write_text("\n".join(lines) + "\n")
    assert jobs.last_gap(quiet) == "iteration 1, objective 2, no lower bound yet"
    (quiet.folder / "events.jsonl").write_text(json.dumps({**last, "round": 3}) + "\n")
    assert jobs.last_gap(quiet) == "round 3, iteration 10000, gap 0.125 (6.25% of the objective)"
    (quiet.folder / "events.jsonl").write_text("\n".join(lines) + "\n")
    told = events.last_events(quiet)
    assert len(told) < 1000
    assert {event["event"] for event in told} == {"iteration"}
