from __future__ import annotations

import csv
import io
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from labelled_pictures import patches

from ranking import jobs
from ranking.__main__ import COMMANDS, main
from ranking.commands.comparing import write
from ranking.commands.watching import Bar
from ranking.events import Report
from ranking.experiments.exports import write_rows
from ranking.metrics import evaluate
from ranking.rooms import Rooms
from ranking.run import Run
from ranking.store import Store
from ranking.types import ImageSet, ProgressEvent


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("command-line"))


@pytest.fixture(scope="module")
def images(store, tmp_path_factory):
    folder = tmp_path_factory.mktemp("patches") / "set"
    patches(folder)
    return store.image_set(store.adopt(folder, "Patches"))


@pytest.fixture
def fails(store, capsys):
    """What stderr says of a command that fails."""

    def run(*arguments: str, code: int = 1) -> str:
        capsys.readouterr()
        if code == 2:  # wrong arguments
            with pytest.raises(SystemExit) as ended:
                main([*arguments, "--home", str(store.home)])
            assert ended.value.code == code
        else:
            assert main([*arguments, "--home", str(store.home)]) == code
        return capsys.readouterr().err

    return run


def settings_file(folder: Path, images: ImageSet, **settings: Any) -> str:
    file = folder / "settings.json"
    file.write_text(json.dumps({"set": images.key, "features": [["Colour", {}]], **settings}))
    return str(file)


def test_help_names_every_command(capsys, fails):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert all(command.SUMMARY in shown for command in COMMANDS.values())
    assert "dance" in fails("dance", code=2)


def test_a_training_is_kept_and_ranks(store, images, tmp_path, capsys):
    file = settings_file(tmp_path, images, query="day", method="AP-SVM", method_settings={"C": 10.0})
    assert main(["train", file, "--home", str(store.home)]) == 0
    words = capsys.readouterr().out.split()
    run = store.run(words[1])
    assert f"{run.result['test']['AP']:.4g}" in words
    assert main(["rank", run.id, "--home", str(store.home)]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == images.test.sum()
    scores = [float(row["score"]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    measures = evaluate([int(row["relevant"]) for row in rows], scores)
    assert measures["AP"] == pytest.approx(run.result["test"]["AP"])
    assert {row["image"] for row in rows} == set(images.image_names[images.image_test])
    assert main(["rank", run.id, "--home", str(store.home), "--part", "all", "--top", "3"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_an_experiment_prints_and_writes_its_tables(store, images, tmp_path, capsys):
    methods, grids = [["SVM", {}], ["AP-SVM", {}]], {"C": [1.0, 10.0]}
    file = settings_file(tmp_path, images, queries=["day"], methods=methods, grids=grids, folds=2)
    home, page, again = ["--home", str(store.home)], tmp_path / "output.html", tmp_path / "again.html"
    assert main(["experiment", file, *home, "-o", str(page), f"--protocol={tmp_path / 'protocol'}"]) == 0
    out, err = capsys.readouterr()
    assert out.count("\n\n") == 4, "five tables"
    assert "AP-SVM − SVM" in out
    assert "10 of 10" in err
    assert main(["report", str(tmp_path / "protocol"), *home, "-o", str(again)]) == 0
    assert page.read_text() == again.read_text()


def test_a_protocol_of_others_names_no_scheduler_but_the_command_may(
    store, images, tmp_path, fails, monkeypatch
):
    """For whoever is connected to a scheduler runs what it sends."""
    started: list[dict[str, Any]] = []

    def start(store: Store, kind: str, settings: dict[str, Any]) -> Run:
        started.append(settings)
        run = store.create_run("experiment", settings)
        store.end_run(run.id, "failed", "it is not to be run")
        return store.run(run.id)

    monkeypatch.setattr(jobs, "start_once", start)
    file = settings_file(tmp_path, images, scheduler="tcp://file:1")
    assert "tcp://file:1" in fails("experiment", file, "--scheduler", "tcp://command:2")
    assert not started
    file = settings_file(tmp_path, images, scheduler=None)
    assert "it is not to be run" in fails("experiment", file, "--scheduler", "tcp://command:2")
    assert [settings["scheduler"] for settings in started] == ["tcp://command:2"]


def test_what_makes_no_run_is_exit_code_1_or_2(store, images, tmp_path, fails):
    file, before = tmp_path / "settings.json", len(store.runs())
    for content in ("{", "[1]", "[" * 100_000):
        file.write_text(content)
        assert fails("train", str(file)).startswith(f"{file}: "), content[:10]
    file.write_text("{}")
    assert all(name in fails("train", str(file)) for name in ("set", "features", "query", "method"))
    assert str(tmp_path / "none.json") in fails("train", str(tmp_path / "none.json"))
    for places in ("-3", "0", "three"):
        assert f"'{places}'" in fails("rank", "a run", "--top", places, code=2)
    assert len(store.runs()) == before


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_trained(store, images, tmp_path, fails):
    methods, grids = [["SVM", {}]], {"C": [1.0]}
    file = settings_file(tmp_path, images, queries=["day"], methods=methods, grids=grids, folds=2, seed=9)
    before = len(store.runs())
    for command, option, output in (
        ("experiment", "csv", tmp_path / "none" / "cells.csv"),
        ("experiment", "latex", tmp_path),
        ("report", "output", tmp_path / "none" / "report.html"),
    ):
        assert fails(command, file, f"--{option}={output}").startswith(f"--{option}: ")
    assert len(store.runs()) == before
    assert "a" * 50 in fails("report", "a" * 300, "-o", str(tmp_path / "report.html"))


def test_what_is_no_file_is_written_into_and_stays_what_it_is(tmp_path):
    pipe, texts = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: texts.append(pipe.read_text("utf-8")))
    reader.start()
    write(pipe, "a table")
    reader.join()
    assert texts == ["a table"]
    assert pipe.is_fifo()
    with pytest.raises(OSError, match="File name too long"):
        write(tmp_path / ("a" * 250), "a table")
    for write_it in (lambda file: write(file, "a table"), lambda file: write_rows([{"a": 1}], file)):
        with pytest.raises(FileNotFoundError) as failed:
            write_it(tmp_path / "none" / "x.html")
        assert failed.value.filename == str(tmp_path / "none" / "x.html"), "the file that was named"
        assert "partial" not in str(failed.value)
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


def test_a_run_that_fails_is_exit_code_1_with_its_reason(store, images, tmp_path, fails, monkeypatch):
    def start(store: Store, kind: str, settings: dict[str, Any]) -> Run:
        run = store.create_run("train", settings)
        report = Report(run.events_file)
        report.iteration(ProgressEvent(17, primal=2.0, dual=1.5, seconds=0.5, passes=3, planes=2))
        report.flush()
        store.end_run(run.id, "failed", "no class 'wind'")
        return store.run(run.id)

    monkeypatch.setattr(jobs, "start", start)
    file = settings_file(tmp_path, images, query="wind", method="AP-SVM")
    shown = fails("train", file)
    assert "iteration 17, gap 25.00%" in shown
    assert "no class 'wind'" in shown
    assert fails("rank", store.runs("train")[0].id).startswith(f"run {store.runs('train')[0].id}: ")


def test_an_interrupted_run_is_cancelled_and_is_exit_code_130(store, images, tmp_path, fails, monkeypatch):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Bar, "show", interrupt)
    file = settings_file(tmp_path, images, query="day", method="AP-SVM")
    before = {run.id for run in store.runs()}
    fails("train", file, code=130)
    (run,) = [run for run in store.runs() if run.id not in before]
    assert jobs.poll(store, run.id).state in ("cancelled", "finished")


def test_rooms_are_listed_and_removed(tmp_path, capsys):
    rooms, home = Rooms(tmp_path), ["--home", str(tmp_path)]
    for name in ("room-of-anna", "room-of-bert", "room-of-carl"):
        rooms.make(name)
    os.utime(rooms.home / "rooms" / "room-of-bert" / "room", (1e9, 1e9))
    assert main(["rooms", *home, "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[-1].split()[:2] == ["room-of-bert", "2001-09-09"]
    assert main(["rooms", *home, "remove", "--unused-for", "30"]) == 0
    assert capsys.readouterr().out.startswith("1 of 1 ")
    assert main(["rooms", *home, "remove", "room-of-anna", "room-of-nobody", "../.."]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("1 of 3 ")
    assert "room-of-nobody" in err
    assert len(err.splitlines()) == 2
    assert [row.name for row in rooms.all()] == ["room-of-carl"]
    for arguments in ([], ["room-of-carl", "--unused-for", "0"]):
        assert main(["rooms", *home, "remove", *arguments]) == 1
        assert capsys.readouterr().err.startswith("rooms to remove: ")
    for days in ("-1", "soon"):
        with pytest.raises(SystemExit):
            main(["rooms", *home, "remove", "--unused-for", days])
        assert f"'{days}'" in capsys.readouterr().err
    assert [row.name for row in rooms.all()] == ["room-of-carl"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_is_one_line_on_a_terminal_and_lines_elsewhere():
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        bar = Bar(stream)
        bar.show("jump, SVM, fold 1; about 3 s left", 1, 4)
        bar.show("jump, SVM, fold 1; about 2 s left", 2, 4)
        bar.show("jump, SVM, fold 2", 4, 4)
        bar.end()
    assert terminal.getvalue().count("\n") == 1
    assert terminal.getvalue().count("\r") == 3
    assert "[" + 15 * "#" + 15 * " " + "] 2 of 4  jump" in terminal.getvalue()
    assert file.getvalue().splitlines() == [
        "1 of 4: jump, SVM, fold 1; about 3 s left",
        "4 of 4: jump, SVM, fold 2",
    ]
