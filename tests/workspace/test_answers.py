from __future__ import annotations

import json
import random
import sqlite3
import time
from collections import deque
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from refusals import refused

from ranking.storage import home
from ranking.storage.answers import AnswerEvent, AnswerKind, AnswerStore, fold
from ranking.storage.space import DISK, FullError, bytes_of
from ranking.storage.rooms import Rooms
from ranking.storage.store import Store

SET, RUN = "a" * 16, "b" * 10
FIRST, SECOND = "1" * 32, "2" * 32  # sessions


def event(
    number: int, label: str, kind: AnswerKind = "yes", session: str = FIRST, image: str = "7"
) -> AnswerEvent:
    return AnswerEvent(
        session, number, SET, image, label, kind, RUN, "closest maxima", 0.41, 0.38, number - 1, 1e9 + number
    )


@pytest.fixture
def answers(tmp_path: Path) -> AnswerStore:
    return AnswerStore(tmp_path / "home")


def test_a_log_that_is_sent_again_and_again_counts_once(answers):
    log = [event(number, f"label {number}") for number in range(1, 31)]
    new = [answers.append(log[: length + 1]) for length in range(30)]
    assert new == [1] * 30
    assert answers.append(log) == 0
    assert answers.events(SET, "7") == log
    assert answers.saved([FIRST, SECOND]) == {FIRST: 30, SECOND: 0}
    assert answers.append([]) == 0


def test_the_first_event_of_a_number_stands_and_those_of_two_tabs_in_the_order_of_arrival(answers):
    answers.append([event(1, "sand", "yes")])
    assert answers.append([event(1, "sand", "no"), event(2, "sea", "no")]) == 1
    answers.append([event(1, "sand", "no", SECOND)])
    answers.append([event(3, "sky")])
    stored = [(each.label, each.kind) for each in answers.events(SET, "7")]
    assert stored == [("sand", "yes"), ("sea", "no"), ("sand", "no"), ("sky", "yes")]


def test_deleted_answers_come_back_and_are_removed_for_good_at_once_or_after_thirty_days(
    answers, monkeypatch
):
    answers.append([event(1, "sand"), event(2, "sea"), replace(event(3, "sky"), set="c" * 16)])
    answers.delete(SET)
    assert (
        answers.events(SET),
        answers.images(SET),
        answers.count(SET),
        answers.count(SET, deleted=True),
    ) == ([], {}, 0, 2)
    assert answers.count("c" * 16) == 1
    assert answers.saved([FIRST]) == {FIRST: 3}, "the browser sends them no more"
    answers.restore(SET)
    assert [each.label for each in answers.events(SET)] == ["sand", "sea"]
    answers.delete(SET)
    here = Store(answers.home)
    now = time.time()
    for days, left in ((29, 2), (31, 0)):
        monkeypatch.setattr(time, "time", lambda days=days: now + days * 86400)
        here.sweep()
        assert answers.count(SET, deleted=True) == left
    answers.delete("c" * 16)
    assert answers.bytes_of(deleted=True) > 100
    answers.empty_deleted()
    assert (answers.bytes_of(deleted=True), answers.count("c" * 16, deleted=True)) == (0, 0)


def test_what_is_removed_for_good_gives_its_space_back(answers):
    file = answers.home / "ranking.sqlite"
    answers.append([event(number, "x" * 900) for number in range(1, 1000)])
    full = file.stat().st_size
    answers.delete(SET)
    answers.empty_deleted()
    assert file.stat().st_size < full / 5


def test_a_room_takes_no_more_answers_than_it_has_space_for(tmp_path, monkeypatch):
    room = Rooms(tmp_path).make("room-of-anna")
    monkeypatch.setenv(DISK, "3000000")
    answers = Store(room).answers
    messages = ([event(100 * number + i, "é" * 1000) for i in range(1, 101)] for number in range(1000))
    with pytest.raises(FullError):
        deque(map(answers.append, messages), maxlen=0)
    assert bytes_of(room) <= 3_000_000
    assert answers.count(SET) >= 100


def test_images_and_sets_are_kept_apart(answers):
    answers.append([event(1, "sand", image="9"), event(2, "sea"), replace(event(3, "sky"), set="c" * 16)])
    assert [each.label for each in answers.events(SET)] == ["sand", "sea"]
    assert [each.label for each in answers.events(SET, "7")] == ["sea"]
    assert list(answers.images(SET)) == ["9", "7"]


def test_an_undo_takes_back_the_last_answer_of_its_label():
    log = [event(1, "sand", "no"), event(2, "sea", "yes"), event(3, "sand", "yes"), event(4, "sand", "undo")]
    folded = fold(log)
    assert (folded.answers, folded.events) == ({"sand": False, "sea": True}, 4)


def test_folding_equals_a_stack_for_each_label():
    """Random events; the twin keeps the answers of each label on a stack of its own."""
    generator = random.Random(0)
    for _ in range(200):
        log = [
            event(number, generator.choice("abc"), generator.choice(["yes", "no", "skip", "undo"]))
            for number in range(1, generator.randrange(2, 20))
        ]
        stacks: dict[str, list[str]] = {name: [] for name in "abc"}
        for each in log:
            if each.kind != "undo":
                stacks[each.label].append(each.kind)
            elif stacks[each.label]:
                stacks[each.label].pop()
        last = {name: stack[-1] for name, stack in stacks.items() if stack}
        folded = fold(log)
        assert folded.answers == {name: kind == "yes" for name, kind in last.items() if kind != "skip"}
        assert folded.skipped == {name for name, kind in last.items() if kind == "skip"}
        assert len(folded.standing) == sum(map(len, stacks.values()))


def test_what_is_no_answer_is_refused():
    answer = event(1, "sand").to_json()
    assert AnswerEvent.from_json(json.loads(json.dumps(answer))) == event(1, "sand")
    for name, values in (
        ("session", ["1" * 31, None]),
        ("number", [0, True, 2**60]),
        ("set", ["../../etc/passwd"]),
        ("image", [""]),
        ("label", ["x" * 1001, "\ud800", ["sand"]]),
        ("kind", ["maybe", ["yes"]]),
        ("run", ["../run"]),
        ("inside", [float("inf")]),
        ("outside", ["1"]),
        ("counted", [-1]),
        ("time", [float("nan"), 1e30]),
    ):
        for value in values:
            with refused(f"{name} of an answer", f"{value!r:.80}"):
                AnswerEvent.from_json({**answer, name: value})
    for value in (None, [], "yes", {}, {**answer, "more": 1}):
        with refused("answer", f"{value!r:.80}"):
            AnswerEvent.from_json(value)


def test_an_error_before_the_commit_leaves_nothing_half(answers, monkeypatch):
    class Dying(sqlite3.Connection):
        def execute(self, statement, *arguments):
            if statement == "commit":
                raise KeyboardInterrupt
            return super().execute(statement, *arguments)

    answers.append([event(1, "sand")])
    with monkeypatch.context() as patch:
        patch.setattr(home.sqlite3, "connect", partial(sqlite3.connect, factory=Dying))
        with pytest.raises(KeyboardInterrupt):
            answers.append([event(2, "sea"), event(3, "sky")])
    assert [each.label for each in answers.events(SET)] == ["sand"]
    assert answers.append([event(2, "sea")]) == 1, "and the home can be used"
