"""Several processes write to one home at once, and some are killed or run out of space: nothing is lost or half."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from ranking.answers import AnswerEvent, AnswerStore
from ranking.datasets import build_image_set
from ranking.home import FULL
from ranking.store import Store
from ranking.types import SourceBox, SourceImage


class Square:
    """One plain image with one box."""

    def title(self) -> str:
        return "Square"

    def __len__(self) -> int:
        return 1

    def records(self):
        file = io.BytesIO()
        Image.new("RGB", (20, 20)).save(file, "PNG")
        yield SourceImage("square", file.getvalue(), (SourceBox((2, 2, 18, 18), ("dark",)),))


@pytest.fixture
def here(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


def begun(program: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def imported(here: Store) -> Any:
    """A finished import that waits for a decision."""
    run = here.create_run("import", {"source": "Square", "source_settings": {}})
    built, _ = build_image_set(Square(), run.draft)
    result = {"key": built.key, "title": "Square", "images": 1, "samples": 1, "classes": {"dark": 1}}
    here.end_run(run.id, "finished", result=result)
    return here.run(run.id)


WRITER = """
import sys
from ranking.store import Store
for number in range(40):
    store = Store(sys.argv[1])
    run = store.create_run("train", {"who": sys.argv[2], "number": number})
    store.update_run(run.id, state="running")
    assert store.end_run(run.id, "finished", result={"number": number})
    store.runs()
"""


def test_processes_write_at_once_from_the_first_start_on(tmp_path):
    writers = [begun(WRITER, tmp_path / "home", who) for who in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    runs = Store(tmp_path / "home").runs()
    assert {run.state for run in runs} == {"finished"}
    for who in "abc":
        numbers = [run.result["number"] for run in runs if run.settings["who"] == who]
        assert numbers == list(range(39, -1, -1))


ADOPT = """
import sys
from pathlib import Path
from ranking.store import Store
print(Store(sys.argv[1]).adopt(Path(sys.argv[2]), "ready-made"))
"""


def test_several_processes_may_adopt_at_once(here, tmp_path):
    build_image_set(Square(), tmp_path / "prepared")
    children = [begun(ADOPT, here.home, tmp_path / "prepared") for _ in range(3)]
    keys = {child.communicate()[0].strip() for child in children}
    assert {child.returncode for child in children} == {0}
    assert keys == {row.key for row in here.image_sets()}
    assert len(keys) == len(here.image_sets()) == 1
    assert [folder.name for folder in (here.home / "sets").iterdir()] == list(keys)
    assert not list((here.home / "trash").iterdir())


DIE_IN_KEEP = """
import os, sys
from ranking import store
def move_and_die(draft, target):
    os.rename(draft, target)
    os._exit(9)
store.move_durably = move_and_die
store.Store(sys.argv[1]).keep(sys.argv[2])
"""


def test_a_process_that_dies_in_keep_leaves_what_the_sweep_mends(here):
    run = imported(here)
    assert begun(DIE_IN_KEEP, here.home, run.id).wait() == 9
    assert not run.draft.exists()
    assert here.image_sets() == []
    here.sweep()
    (row,) = here.image_sets()
    assert len(here.image_set(row.key)) == 1
    assert here.run(run.id).result["decision"] == "kept"


FILL = """
import resource, signal, sys
from ranking.store import Store
store = Store(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
try:
    for number in range(100):
        store.create_run("train", {"text": "x" * 5000})
except OSError as error:
    print(type(error).__name__, error.subject, error.remedy, sep="|")
"""


def test_a_full_disk_says_what_to_do(here):
    output, _ = begun(FILL, here.home).communicate()
    assert output.strip() == f"HomeError|the home folder {here.home}|{FULL}"
    assert 0 < len(here.runs()) < 100
    assert all(run.folder.is_dir() for run in here.runs())


# ------------------------------------------------------------------------------------------------- answers

APPEND = """
import json, os, signal, sqlite3, sys
from ranking import home
from ranking.answers import AnswerEvent, AnswerStore
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
    answers, log = AnswerStore(tmp_path), answers_of("1", 5)
    for end, kept in (("killed before the commit", []), ("killed after it", log)):
        assert appending(tmp_path, end, log).wait() == -signal.SIGKILL
        assert answers.events(SET) == kept


def test_answers_of_several_processes_all_arrive(tmp_path):
    logs = [answers_of(session, 40) for session in "12"]
    children = [appending(tmp_path, "by itself", log) for log in logs]
    assert [child.wait() for child in children] == [0, 0]
    events = AnswerStore(tmp_path).events(SET)
    for log in logs:
        assert [event for event in events if event.session == log[0].session] == log
