from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ranking.answers import AnswerEvent, AnswerKind, AnswerStore, fold

SET, RUN = "a" * 16, "b" * 10
ONE, OTHER = "1" * 32, "2" * 32  # sessions


def event(
    number: int, label: str, kind: AnswerKind = "yes", session: str = ONE, image: str = "7"
) -> AnswerEvent:
    return AnswerEvent(
        session, number, SET, image, label, kind, RUN, "closest maxima", 0.41, 0.38, number - 1, 1e9 + number
    )


@pytest.fixture
def answers(tmp_path: Path) -> AnswerStore:
    return AnswerStore(tmp_path / "home")


def test_a_log_that_is_sent_again_and_again_counts_once(answers: AnswerStore) -> None:
    log = [event(number, f"label {number}") for number in range(1, 31)]
    new = [answers.append(log[: length + 1]) for length in range(30)]
    assert new == [1] * 30
    assert answers.append(log) == 0
    assert answers.events(SET, "7") == log
    assert answers.saved([ONE, OTHER]) == {ONE: 30, OTHER: 0}
    assert answers.append([]) == 0


def test_the_first_event_of_a_number_stands(answers: AnswerStore) -> None:
    answers.append([event(1, "sand", "yes")])
    assert answers.append([event(1, "sand", "no"), event(2, "sea", "no")]) == 1
    assert [one.kind for one in answers.events(SET, "7")] == ["yes", "no"]


def test_events_of_two_tabs_stand_in_the_order_of_arrival(answers: AnswerStore) -> None:
    for number in range(1, 4):
        answers.append([event(number, f"one {number}")])
        answers.append([event(number, f"other {number}", session=OTHER)])
    assert [one.label for one in answers.events(SET, "7")] == [
        f"{tab} {number}" for number in range(1, 4) for tab in ("one", "other")
    ]


def test_images_and_sets_are_kept_apart(answers: AnswerStore) -> None:
    answers.append([event(1, "sand", image="9"), event(2, "sea"), replace(event(3, "sky"), set="c" * 16)])
    assert [one.label for one in answers.events(SET)] == ["sand", "sea"]
    assert [one.label for one in answers.events(SET, "7")] == ["sea"]
    assert list(answers.images(SET)) == ["9", "7"]


def test_an_undo_takes_back_the_last_answer_of_its_label() -> None:
    told = [event(1, "sand", "no"), event(2, "sea", "yes"), event(3, "sand", "yes")]
    assert fold(told).answers == {"sand": True, "sea": True}
    once = fold([*told, event(4, "sand", "undo")])
    assert (once.answers, once.events) == ({"sand": False, "sea": True}, 4)
    twice = fold([*told, event(4, "sand", "undo"), event(5, "sand", "undo")])
    assert twice.answers == {"sea": True}
    assert fold([event(1, "sand", "undo")]).answers == {}, "nothing stands that it could take back"
    assert fold([event(1, "sand"), event(2, "sand", "skip")]).answers == {}
    assert fold([event(1, "sand"), event(2, "sand", "skip")]).skipped == {"sand"}
    assert fold([event(1, "sand", "skip"), event(2, "sand")]).skipped == set()


def test_folding_equals_a_stack_for_each_label() -> None:
    """Random events; the twin keeps the answers of each label on a stack of its own."""
    generator = random.Random(0)
    for _ in range(200):
        told = [
            event(number, generator.choice("abc"), generator.choice(["yes", "no", "skip", "undo"]))
            for number in range(1, generator.randrange(2, 20))
        ]
        stacks: dict[str, list[str]] = {name: [] for name in "abc"}
        for one in told:
            if one.kind != "undo":
                stacks[one.label].append(one.kind)
            elif stacks[one.label]:
                stacks[one.label].pop()
        last = {name: stack[-1] for name, stack in stacks.items() if stack}
        found = fold(told)
        assert found.answers == {name: kind == "yes" for name, kind in last.items() if kind != "skip"}
        assert found.skipped == {name for name, kind in last.items() if kind == "skip"}
        assert len(found.standing) == sum(map(len, stacks.values()))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("session", "1" * 31),
        ("session", None),
        ("number", 0),
        ("number", True),
        ("number", 2**60),
        ("set", "../../etc/passwd"),
        ("image", ""),
        ("label", "x" * 1001),
        ("label", "\ud800"),
        ("label", ["sand"]),
        ("kind", "maybe"),
        ("kind", ["yes"]),
        ("run", "../run"),
        ("inside", float("inf")),
        ("outside", "1"),
        ("counted", -1),
        ("time", float("nan")),
        ("time", 1e30),
    ],
)
def test_what_is_no_answer_is_refused(name: str, value: object) -> None:
    told = event(1, "sand").to_json()
    assert AnswerEvent.from_json(json.loads(json.dumps(told))) == event(1, "sand")
    with pytest.raises(ValueError, match=f"{name} of an answer cannot be"):
        AnswerEvent.from_json({**told, name: value})


@pytest.mark.parametrize("told", [None, [], "yes", {}, {**event(1, "sand").to_json(), "more": 1}])
def test_what_has_other_parts_is_refused(told: object) -> None:
    with pytest.raises(ValueError, match="an answer must be an object of session, number"):
        AnswerEvent.from_json(told)


KILLED = """
import json, os, signal, sys
from ranking.answers import AnswerEvent, AnswerStore
store = AnswerStore(sys.argv[1])
store.append([AnswerEvent.from_json(told) for told in json.loads(sys.argv[2])])
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_appended_survives_the_death_of_its_process(answers: AnswerStore, tmp_path: Path) -> None:
    log = [event(number, f"label {number}") for number in range(1, 6)]
    told = json.dumps([one.to_json() for one in log])
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "home"), told], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert answers.events(SET) == log


KILLED_IN_BETWEEN = """
import json, os, signal, sys, sqlite3
from ranking import home
from ranking.answers import AnswerEvent, AnswerStore
class Dying(sqlite3.Connection):
    def execute(self, statement, *arguments):
        if statement == "commit":
            os.kill(os.getpid(), signal.SIGKILL)
        return super().execute(statement, *arguments)
store = AnswerStore(sys.argv[1])
connect = sqlite3.connect
home.sqlite3.connect = lambda *arguments, **options: connect(*arguments, **options, factory=Dying)
store.append([AnswerEvent.from_json(told) for told in json.loads(sys.argv[2])])
"""


def test_a_death_before_the_commit_leaves_nothing_half(answers: AnswerStore, tmp_path: Path) -> None:
    answers.append([event(1, "sand")])
    told = json.dumps([event(number, f"label {number}").to_json() for number in (2, 3)])
    ended = subprocess.run(
        [sys.executable, "-c", KILLED_IN_BETWEEN, str(tmp_path / "home"), told], check=False
    )
    assert ended.returncode == -signal.SIGKILL
    assert [one.label for one in answers.events(SET)] == ["sand"]
    assert answers.append([event(2, "sea")]) == 1, "and the home goes on"


def test_appends_from_several_processes_all_arrive(answers: AnswerStore, tmp_path: Path) -> None:
    append = KILLED.replace("os.kill(os.getpid(), signal.SIGKILL)", "")
    logs = {
        session: [event(n, f"{session[0]} {n}", session=session) for n in range(1, 40)]
        for session in (ONE, OTHER)
    }
    children = [
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                append,
                str(tmp_path / "home"),
                json.dumps([one.to_json() for one in log]),
            ],
            env=os.environ,
        )
        for log in logs.values()
    ]
    assert [child.wait() for child in children] == [0, 0]
    for session, log in logs.items():
        assert [one for one in answers.events(SET) if one.session == session] == log
