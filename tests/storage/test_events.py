"""What a worker writes, and what is read of it at any time."""

from __future__ import annotations

import errno
import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from ranking.core import ProgressEvent, StopTraining
from ranking.storage import events
from ranking.storage.events import NO_WEIGHTS, NOTHING_STORED, Cancelled, Report, cancel_reason
from ranking.storage.json_numbers import json_numbers
from ranking.storage.run import Kind, Run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "events.jsonl"


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


class Clock:
    """A monotonic clock that moves when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(events.time, "monotonic", lambda: self.now)


def event(number: int, dual: float = 1.0) -> ProgressEvent:
    return ProgressEvent(number, primal=2.0, dual=dual, seconds=0.5, passes=3, planes=2)


def test_an_iteration_is_written_whole_in_numbers_that_json_can_hold(file):
    report = Report(file)
    report.iteration(event(4))
    report.iteration(event(5, dual=-math.inf))
    numbers = {"primal": 2.0, "seconds": 0.5, "passes": 3, "planes": 2, "round": 0}
    whole = {"event": "iteration", "iteration": 4, "dual": 1.0, "gap": 1.0, "relative_gap": 0.5, **numbers}
    without = {"iteration": 5, "dual": None, "gap": None, "relative_gap": None}
    assert lines(file) == [whole, whole | without]
    values = {"a": np.float64("nan"), "b": -math.inf, "c": np.int64(3), "d": np.float32(0.5), "e": True}
    assert json_numbers(values) == {"a": None, "b": None, "c": 3, "d": 0.5, "e": True}


def test_the_first_iterations_and_the_last_one_of_a_round_are_written(file, monkeypatch):
    Clock(monkeypatch)
    report = Report(file)
    for number in range(50):
        report.iteration(event(number))
    for round_number in (1, 2, 3):
        for number in range(100):
            report.iteration(replace(event(100 * round_number + number), round=round_number))
    written = [(line["round"], line["iteration"]) for line in lines(file)[50:]]
    first = [(number, 100 * number + offset) for number in (1, 2, 3) for offset in range(50)]
    assert written == sorted([*first, (1, 199), (2, 299)])
    report.flush()
    assert lines(file)[-1]["iteration"] == 399


def test_iterations_are_thinned_to_twenty_a_second_and_the_last_is_written(file, monkeypatch):
    clock, report = Clock(monkeypatch), Report(file)
    for number in range(3001):
        report.iteration(event(number))
        clock.now += 0.001
    report.flush()
    report.flush()
    numbers = [line["iteration"] for line in lines(file)]
    first = events.FIRST_ITERATIONS
    assert numbers[:first] == list(range(first))
    assert 57 <= len(numbers) - first <= 61
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == 3000
    for number in range(3001, 3010):
        clock.now += 0.06
        report.iteration(event(number))
        assert lines(file)[-1]["iteration"] == number, "a slow one is written at once"


def test_the_last_of_one_kind_comes_before_the_first_of_the_next(file, monkeypatch):
    Clock(monkeypatch)
    report = Report(file)
    for what in ("HOG", "Colour"):
        for done in range(1, 101):
            report.progress(what, done, 100)
    report.state("finished")
    progress = [(line.get("what"), line.get("done")) for line in lines(file)]
    assert progress == [("HOG", 1), ("HOG", 100), ("Colour", 1), ("Colour", 100), (None, None)]


def test_a_report_to_a_stopped_run_is_written_before_it_raises(file):
    report = Report(file)
    report.stop(15, None)
    with pytest.raises(StopTraining):
        report.iteration(event(7))
    with pytest.raises(Cancelled):
        report.progress("HOG", 1, 2)
    assert [line["event"] for line in lines(file)] == ["iteration", "progress"]


def test_a_line_that_does_not_fit_on_the_disk_is_taken_back(file, monkeypatch):
    report = Report(file)
    report.state("running")
    real = os.write
    spare = iter([8])

    def write(descriptor: int, data: bytes) -> int:
        for size in spare:
            return real(descriptor, data[:size])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(events.os, "write", write)
        with pytest.raises(OSError) as caught:  # noqa: PT011
            report.iteration(event(1))
    assert caught.value.errno == errno.ENOSPC
    report.state("failed", "No space left")
    assert [line["state"] for line in lines(file)] == ["running", "failed"]


ITERATION: dict[str, Any] = {"event": "iteration", "iteration": 1, "primal": 2.0}
ITERATION |= {"dual": None, "gap": None, "relative_gap": None}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run("a" * 10, "train", "running", {}, {}, "", 0.0, None, None, folder=tmp_path)


def test_events_come_once_each_from_offset_to_offset(run):
    assert events.events(run) == ([], 0)
    run.events_file.write_text('{"event": "state"}\n')
    assert events.events(run) == ([{"event": "state"}], 19)
    assert events.events(run, 19) == ([], 19)
    assert events.events(run, 10**9) == ([], 10**9)


def test_a_half_written_line_or_character_waits_for_its_end(run):
    run.events_file.write_text('{"event": "a"}\n{"event": "é')
    assert events.events(run) == ([{"event": "a"}], 15)
    with run.events_file.open("a") as stream:
        stream.write('"}\n{"ev')
    assert events.events(run, 15)[0] == [{"event": "é"}]
    run.events_file.write_bytes('{"event": "é'.encode()[:-1])
    assert events.events(run) == ([], 0)


def test_lines_that_are_not_events_are_read_as_unreadable(run):
    wrong = [{"what": "no kind"}, {"event": "progress", "what": "Half"}, {**ITERATION, "primal": None}]
    for line in ("17", "[" * 100_000, *map(json.dumps, wrong)):
        run.events_file.write_text(f"{line}\n{json.dumps(ITERATION)}\n")
        assert events.events(run)[0] == [{"event": "unreadable", "line": line}, ITERATION], line[:60]


def test_the_last_gap_is_at_the_end_of_a_file_however_long(run):
    last = {**ITERATION, "iteration": 10_000, "gap": 0.125, "relative_gap": 0.0625}
    many = (json.dumps(ITERATION) + "\n") * 10_000
    for text, parts in (
        (many + json.dumps(last) + '\n{"event": "iter', ["10000", "0.125", "6.25%"]),
        (json.dumps({**last, "relative_gap": None}) + "\n", ["10000", "0.125"]),
        (json.dumps({**last, "round": 3}) + "\n", ["round 3", "10000", "0.125", "6.25%"]),
        (many, ["iteration 1", "2"]),
    ):
        run.events_file.write_text(text)
        gap = events.last_gap(run)
        assert all(part in gap for part in parts), gap
        assert ("round" in gap, "%" in gap) == ("round 3" in parts, "6.25%" in parts)
        reason = events.with_last_gap(run, "cancelled")
        assert (reason[:9], reason[-len(gap) :]) == ("cancelled", gap)
    end = events.last_events(run)
    assert len(end) < 1000
    assert {each["event"] for each in end} == {"iteration"}
    run.events_file.unlink()
    assert events.last_events(run) == []
    assert events.with_last_gap(run, "cancelled") == "cancelled"


def test_the_reason_of_a_cancelled_run_says_what_was_kept(run):
    curves = {"curves": [{"folds": [[0.5], [0.6]]}]}
    for kind in get_args(Kind):
        without = replace(run, kind=kind)
        assert cancel_reason(without) == (NO_WEIGHTS if without.is_training else NOTHING_STORED)
    folds = cancel_reason(replace(run, kind="study", result=curves, settings={"folds": 3, "task": "asking"}))
    assert all(count in folds for count in "23")
    cells = cancel_reason(replace(run, kind="study", result={"done": 4}, settings={"task": "experiment"}))
    assert cells not in (NO_WEIGHTS, NOTHING_STORED, folds)
