from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from working import trouble

from ranking.storage import records
from ranking.storage.answers import ANSWERS, AnswerEvent, AnswerKind, Answers, fold

SET, RUN = "a" * 16, "b" * 10
# sessions
FIRST, SECOND = "1" * 32, "2" * 32


def event(
    number: int, label: str, kind: AnswerKind = "yes", session: str = FIRST, image: str = "7"
) -> AnswerEvent:
    return AnswerEvent(
        session, number, SET, image, label, kind, RUN, "closest maxima", 0.41, 0.38, number - 1, 1e9 + number
    )


@pytest.fixture
def answers(store) -> Answers:
    return store.answers


def lines_of(store) -> Path:
    return store.home / "sets" / SET / ANSWERS


def test_events_of_two_tabs_are_in_the_order_of_arrival(answers):
    answers.append([event(1, "sand"), event(2, "sea", "no")])
    answers.append([event(1, "sand", "no", SECOND)])
    answers.append([event(3, "sky")])
    stored = [(each.label, each.kind) for each in answers.events(SET, "7")]
    assert stored == [("sand", "yes"), ("sea", "no"), ("sand", "no"), ("sky", "yes")]


def test_deleted_answers_are_restored_or_removed_after_thirty_days_or_at_once(store, answers, monkeypatch):
    answers.append([event(1, "sand"), event(2, "sea"), replace(event(3, "sky"), set="c" * 16)])
    answers.delete(SET)
    assert (answers.events(SET), answers.images(SET), len(answers.deleted(SET))) == ([], {}, 2)
    assert len(answers.events("c" * 16)) == 1
    answers.append([event(4, "sky")])
    answers.restore(SET)
    assert {each.label for each in answers.events(SET)} == {"sand", "sea", "sky"}
    answers.delete(SET)
    now = time.time()
    for days, left in ((29, 3), (31, 0)):
        monkeypatch.setattr(time, "time", lambda days=days: now + days * 86400)
        store.sweep()
        assert len(answers.deleted(SET)) == left


def test_answers_are_on_disk_when_append_returns(store):
    program = (
        "import json, os, sys; from ranking.storage.answers import AnswerEvent\n"
        "from ranking.storage.store import Store\n"
        "Store(sys.argv[1]).answers.append([AnswerEvent(**json.loads(sys.argv[2]))]); os.kill(os.getpid(), 9)"
    )
    sent = json.dumps(event(1, "sand").to_json())
    subprocess.run([sys.executable, "-c", program, str(store.home), sent], check=False)
    assert store.answers.events(SET) == [event(1, "sand")]


def test_a_cut_line_costs_itself_only_and_is_named(store):
    store.answers.append([event(1, "sand"), event(2, "sea")])
    lines_of(store).write_bytes(lines_of(store).read_bytes()[:-20])
    store.answers.append([event(3, "sky")])
    assert [each.label for each in store.answers.events(SET)] == ["sand", "sky"]
    assert [damage.path for damage in store.damage()] == [lines_of(store)]


def test_a_kill_while_answers_are_deleted_doubles_none_and_a_damaged_line_stays(store, monkeypatch):
    store.answers.append([event(1, "sand"), event(2, "sea"), event(3, "sea", "undo")])
    with lines_of(store).open("a") as lines:
        lines.write("damaged\n")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", Mock(side_effect=OSError(5, "killed here")))
        with pytest.raises(OSError, match="killed"):
            store.answers.delete(SET)
    store.answers.delete(SET)
    store.answers.append([event(4, "sea", "no")])
    store.answers.delete(SET)
    assert [each.number for each in store.answers.deleted(SET)] == [1, 2, 3, 4]
    assert [damage.path.name for damage in store.damage()] == ["answers_deleted.jsonl"]
    store.answers.append([event(5, "sand", "no")])
    store.answers.restore(SET)
    assert store.answers.images(SET)["7"].answers == {"sand": False, "sea": False}, "the latest ones"


def test_answers_that_do_not_fit_on_the_disk_are_refused_whole(store, monkeypatch):
    store.answers.append([event(1, "sand")])
    write = os.write

    def half(handle: int, content: bytes) -> int:
        if len(content) < 50:
            raise OSError(28, "No space left on device")
        return write(handle, content[: len(content) // 2])

    with monkeypatch.context() as patch, trouble(why="No space left on device"):
        patch.setattr(records.os, "write", half)
        store.answers.append([event(2, "sea"), event(3, "sky")])
    assert [each.label for each in store.answers.events(SET)] == ["sand"]
    assert store.damage() == []
    store.answers.append([event(2, "sea")])
    assert [each.label for each in store.answers.events(SET)] == ["sand", "sea"]


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
