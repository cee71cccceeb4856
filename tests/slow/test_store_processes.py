"""Several processes write to one data folder at the same time, and some are killed: nothing is lost or half."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

from labelled_pictures import patches

from ranking.storage.answers import AnswerEvent
from ranking.storage.store import Store


def begun(program: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


WRITER = """
import sys
from ranking.storage.store import Store
for number in range(40):
    store = Store(sys.argv[1])
    run = store.runs.create("train", {"who": sys.argv[2], "number": number})
    store.runs.update(run.id, state="running")
    assert store.runs.end(run.id, "finished", result={"number": number})
    store.runs.all()
"""


def test_processes_write_runs_at_the_same_time_from_the_first_start_on(tmp_path):
    writers = [begun(WRITER, tmp_path / "home", who) for who in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    runs = Store(tmp_path / "home").runs.all()
    assert {run.state for run in runs} == {"finished"}
    for who in "abc":
        numbers = [run.result["number"] for run in runs if run.settings["who"] == who]
        assert numbers == list(range(39, -1, -1))


ADD = """
import sys
from pathlib import Path
from ranking.storage.store import Store
print(Store(sys.argv[1]).sets.add(Path(sys.argv[2]), "Patches"))
"""


def test_several_processes_may_add_one_set(tmp_path):
    store = Store(tmp_path / "home")
    patches(tmp_path / "set")
    children = [begun(ADD, store.home, tmp_path / "set") for _ in range(3)]
    keys = {child.communicate()[0].strip() for child in children}
    assert {child.returncode for child in children} == {0}
    assert keys == {row.key for row in store.sets.rows()}
    assert [folder.name for folder in (store.home / "sets").iterdir()] == list(keys)
    assert not list((store.home / "trash").iterdir())


APPEND = """
import json, os, signal, sys
from ranking.storage import records
from ranking.storage.answers import AnswerEvent
from ranking.storage.store import Store
end, write = sys.argv[2], os.write
def half(handle, content):
    write(handle, content[: len(content) // 2])
    os.kill(os.getpid(), signal.SIGKILL)
if end == "killed in the middle":
    records.os.write = half
Store(sys.argv[1]).answers.append([AnswerEvent(**event) for event in json.loads(sys.argv[3])])
if end == "killed after it":
    os.kill(os.getpid(), signal.SIGKILL)
"""
SET = "a" * 16


def answers_of(session: str, count: int, first: int = 1) -> list[AnswerEvent]:
    rest = ("day", "yes", "b" * 10, "random", 0.41, 0.38)
    return [
        AnswerEvent(session * 32, n, SET, "7", *rest, n - 1, 1e9 + n) for n in range(first, first + count)
    ]


def appending(home: Path, end: str, events: list[AnswerEvent]) -> subprocess.Popen[str]:
    return begun(APPEND, home, end, json.dumps([event.to_json() for event in events]))


def test_answers_are_kept_once_confirmed_and_a_killed_process_costs_at_most_its_own(tmp_path):
    answers, kept = Store(tmp_path).answers, answers_of("1", 5)
    assert appending(tmp_path, "killed after it", kept).wait() == -signal.SIGKILL
    assert answers.events(SET) == kept
    assert appending(tmp_path, "killed in the middle", answers_of("2", 1)).wait() == -signal.SIGKILL
    assert answers.events(SET) == kept
    more = answers_of("1", 5, first=6)
    answers.append(more)
    assert answers.events(SET) == [*kept, *more]


def test_answers_of_several_processes_all_arrive(tmp_path):
    logs = [answers_of(session, 40) for session in "12"]
    children = [appending(tmp_path, "by itself", log) for log in logs]
    assert [child.wait() for child in children] == [0, 0]
    events = Store(tmp_path).answers.events(SET)
    for log in logs:
        assert [event for event in events if event.session == log[0].session] == log
