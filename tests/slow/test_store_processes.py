"""Several processes write to one data folder at the same time: nothing is lost."""

from __future__ import annotations

import json
import subprocess
import sys

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
import json, sys
from ranking.storage.answers import AnswerEvent
from ranking.storage.store import Store
for event in json.loads(sys.argv[2]):
    Store(sys.argv[1]).answers.append([AnswerEvent(**event)])
"""
SET = "a" * 16


def answers_of(session: str) -> list[AnswerEvent]:
    rest = ("day", "yes", "b" * 10, "random", 0.41, 0.38)
    return [AnswerEvent(session * 32, n, SET, "7", *rest, n - 1, 1e9 + n) for n in range(1, 41)]


def test_answers_of_several_processes_all_arrive(tmp_path):
    logs = [answers_of(session) for session in "12"]
    children = [begun(APPEND, tmp_path, json.dumps([event.to_json() for event in log])) for log in logs]
    assert [child.wait() for child in children] == [0, 0]
    events = Store(tmp_path).answers.events(SET)
    for log in logs:
        assert [event for event in events if event.session == log[0].session] == log
