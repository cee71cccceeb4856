"""Several processes write to one home at once, and some are killed: nothing is lost or half."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ranking.storage.answers import AnswerEvent
from ranking.storage.examples import folder_of
from ranking.storage.store import Store


@pytest.fixture
def here(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


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


def test_processes_write_at_once_from_the_first_start_on(tmp_path):
    writers = [begun(WRITER, tmp_path / "home", who) for who in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    runs = Store(tmp_path / "home").runs.all()
    assert {run.state for run in runs} == {"finished"}
    for who in "abc":
        numbers = [run.result["number"] for run in runs if run.settings["who"] == who]
        assert numbers == list(range(39, -1, -1))


ADOPT = """
import sys
from pathlib import Path
from ranking.storage.store import Store
print(Store(sys.argv[1]).sets.add(Path(sys.argv[2]), "ready-made"))
"""


def test_several_processes_may_adopt_at_once(here):
    children = [begun(ADOPT, here.home, folder_of("Action figures")) for _ in range(3)]
    keys = {child.communicate()[0].strip() for child in children}
    assert {child.returncode for child in children} == {0}
    assert keys == {row.key for row in here.sets.rows()}
    assert len(keys) == len(here.sets.rows()) == 1
    assert [folder.name for folder in (here.home / "sets").iterdir()] == list(keys)
    assert not list((here.home / "trash").iterdir())


APPEND = """
import json, os, signal, sqlite3, sys
from ranking.storage import home
from ranking.storage.answers import AnswerEvent, AnswerStore
class Dying(sqlite3.Connection):
    def execute(self, statement, *arguments):
        if statement == "commit":
            os.kill(os.getpid(), signal.SIGKILL)
        return super().execute(statement, *arguments)
store, end, connect = AnswerStore(sys.argv[1]), sys.argv[2], sqlite3.connect
if end == "killed before the commit":
    home.sqlite3.connect = lambda *arguments, **options: connect(*arguments, **options, factory=Dying)
store.append([AnswerEvent.from_json(event) for event in json.loads(sys.argv[3])])
if end == "killed after it":
    os.kill(os.getpid(), signal.SIGKILL)
"""
SET = "a" * 16


def answers_of(session: str, count: int) -> list[AnswerEvent]:
    rest = ("day", "yes", "b" * 10, "random", 0.41, 0.38)
    return [AnswerEvent(session * 32, n, SET, "7", *rest, n - 1, 1e9 + n) for n in range(1, count + 1)]


def appending(home: Path, end: str, events: list[AnswerEvent]) -> subprocess.Popen[str]:
    return begun(APPEND, home, end, json.dumps([event.to_json() for event in events]))


def test_a_process_that_is_killed_has_appended_all_answers_or_none(tmp_path):
    answers, log = Store(tmp_path).answers, answers_of("1", 5)
    for end, kept in (("killed before the commit", []), ("killed after it", log)):
        assert appending(tmp_path, end, log).wait() == -signal.SIGKILL
        assert answers.events(SET) == kept


def test_answers_of_several_processes_all_arrive(tmp_path):
    logs = [answers_of(session, 40) for session in "12"]
    children = [appending(tmp_path, "by itself", log) for log in logs]
    assert [child.wait() for child in children] == [0, 0]
    events = Store(tmp_path).answers.events(SET)
    for log in logs:
        assert [event for event in events if event.session == log[0].session] == log
