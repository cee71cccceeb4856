from __future__ import annotations

import csv
import io
import json
import os
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hidden_squares import settings_of, squares_of
from labelled_pictures import patches_of

from ranking.__main__ import COMMANDS, main
from ranking.commands.outputs import write
from ranking.commands.watching import Bar
from ranking.core import ImageSet, ProgressEvent
from ranking.explain.localisation import read_localisation
from ranking.features.graph.image_graph import default_graph, no_edges
from ranking.metrics import evaluate
from ranking.storage import jobs, workspaces
from ranking.storage.events import Report
from ranking.storage.run import Run
from ranking.storage.store import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("command-line"))


@pytest.fixture(scope="module")
def images(store):
    return patches_of(store)


@pytest.fixture
def command(command, store):
    return partial(command, home=store.home)


@pytest.fixture
def fails(command):
    """What stderr says of a command that fails."""
    return lambda *arguments, code=1: command(*arguments, code=code)[1]


def settings_file(folder: Path, images: ImageSet, **settings: Any) -> Path:
    file = folder / "settings.json"
    file.write_text(json.dumps({"set": images.key, "features": [["Colour", {}]], **settings}))
    return file


def test_help_names_every_command(capsys, fails):
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert all(command.SUMMARY in shown for command in COMMANDS.values())
    assert "dance" in fails("dance", code=2)


def test_a_training_is_kept_and_ranks(store, images, tmp_path, command):
    file = settings_file(tmp_path, images, query="day", method="AP-SVM", method_settings={"C": 10.0})
    words = command("train", file)[0].split()
    run = store.runs.get(words[1])
    assert f"{run.result['test']['AP']:.4g}" in words
    rows = list(csv.DictReader(io.StringIO(command("rank", run.id)[0])))
    assert len(rows) == images.test.sum()
    scores = [float(row["score"]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    measures = evaluate([int(row["relevant"]) for row in rows], scores)
    assert measures["AP"] == pytest.approx(run.result["test"]["AP"])
    assert {row["image"] for row in rows} == set(images.image_names[images.image_test])
    assert len(command("rank", run.id, "--part", "all", "--top", "3")[0].splitlines()) == 4


def test_a_localisation_run_is_kept_and_ranks_images_with_their_windows(store, tmp_path, command, fails):
    squares, file = squares_of(store), tmp_path / "settings.json"
    file.write_text(json.dumps(settings_of(squares.key).to_json()))
    run = store.runs.get(command("train", file)[0].split()[1])
    rows = list(csv.DictReader(io.StringIO(command("rank", run.id)[0])))
    measures = evaluate([int(row["relevant"]) for row in rows], [float(row["score"]) for row in rows])
    assert measures["AP"] == pytest.approx(run.result["test"]["AP"])
    located = read_localisation(run.localisation_file, len(squares.image_names)).boxes
    for row in rows:
        [image] = np.flatnonzero(squares.image_names == row["image"])
        assert [int(row[side]) for side in ("left", "top", "right", "bottom")] == located[image].tolist()
    named = squares.key, "--query", "red", "--method", "MI-SVM"
    assert fails("train", *named, "--features", "HOG").startswith("--features: ")
    assert fails("experiment", squares.key, "--methods", "MI-SVM").startswith("--methods: ")
    assert fails("report", run.id, "-o", tmp_path / "report.html").startswith(f"run {run.id}: ")


def test_a_method_with_neighbours_uses_the_graph_of_the_page_and_a_graph_without_edges_is_named(
    store, images, tmp_path, command
):
    """A file of settings without a graph means what it meant when it was stored."""
    given = ("--query", "day", "--setting", "max_iterations=5")
    out, err = command("train", images.key, "--method", "HOB-SVM", *given)
    assert store.runs.get(out.split()[1]).settings["graph"] == default_graph(images) == "nearest"
    assert "joins" not in err
    file = settings_file(
        tmp_path, images, query="day", method="HOB-SVM", method_settings={"max_iterations": 5}
    )
    out, err = command("train", file)
    assert err.startswith(no_edges(["HOB-SVM"]))
    assert store.runs.get(out.split()[1]).settings["graph"] is None
    file = settings_file(tmp_path, images, query="day", method="AP-SVM", graph="none")
    assert "joins" not in command("train", file)[1]


def test_an_experiment_prints_and_writes_its_tables(images, tmp_path, command):
    methods, grids = [["SVM", {}], ["AP-SVM", {}]], {"C": [1.0, 10.0]}
    file = settings_file(
        tmp_path, images, queries=["day"], methods=methods, grids=grids, folds=2, widen=False
    )
    page, again, protocol = (tmp_path / name for name in ("output.html", "again.html", "protocol"))
    out, err = command("experiment", file, "-o", page, f"--protocol={protocol}")
    assert out.count("\n\n") == 4, "five tables"
    assert "AP-SVM − SVM" in out
    assert "10 of 10" in err
    command("report", protocol, "-o", again)
    assert page.read_text() == again.read_text()


def test_a_protocol_of_others_names_no_scheduler_but_the_command_may(images, tmp_path, fails, monkeypatch):
    """For whoever is connected to a scheduler runs what it sends."""

    def start(store: Store, kind: str, settings: dict[str, Any]) -> Run:
        run = store.runs.create("study", settings)
        store.runs.end(run.id, "failed", f"not trained at {settings['scheduler']}")
        return store.runs.get(run.id)

    monkeypatch.setattr(jobs, "start_once", start)
    for scheduler, shown in (("tcp://file:1", "tcp://file:1"), (None, "not trained at tcp://command:2")):
        file = settings_file(tmp_path, images, scheduler=scheduler)
        assert shown in fails("experiment", file, "--scheduler", "tcp://command:2")


def test_an_experiment_uses_the_graph_of_the_page_and_names_a_graph_without_edges(
    images, tmp_path, fails, monkeypatch
):
    def start(store: Store, kind: str, settings: dict[str, Any]) -> Run:
        run = store.runs.create("study", settings)
        store.runs.end(run.id, "failed", f"graph {settings['graph']}")
        return store.runs.get(run.id)

    monkeypatch.setattr(jobs, "start_once", start)
    shown = fails("experiment", images.key, "--methods", "SVM", "HOB-SVM")
    assert "graph nearest" in shown
    assert "joins" not in shown
    shown = fails("experiment", settings_file(tmp_path, images, graph="none"))
    assert shown.startswith(no_edges(["HOB-SVM", "HOAP-SVM"]))


def test_invalid_settings_and_arguments_have_exit_code_1_or_2(store, tmp_path, fails):
    file, before = tmp_path / "settings.json", len(store.runs.all())
    for content in ("{", "[1]", "[" * 100_000):
        file.write_text(content)
        assert fails("train", file).startswith(f"{file}: "), content[:10]
    file.write_text("{}")
    assert all(name in fails("train", file) for name in ("set", "features", "query", "method"))
    assert str(tmp_path / "none.json") in fails("train", tmp_path / "none.json")
    for places in ("-3", "0", "three"):
        assert f"'{places}'" in fails("rank", "a run", "--top", places, code=2)
    assert len(store.runs.all()) == before


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_trained(store, images, tmp_path, fails):
    file, before = settings_file(tmp_path, images, queries=["day"]), len(store.runs.all())
    for command, option, output in (
        ("experiment", "csv", tmp_path / "none" / "trials.csv"),
        ("experiment", "latex", tmp_path),
        ("report", "output", tmp_path / "none" / "report.html"),
    ):
        assert fails(command, file, f"--{option}={output}").startswith(f"--{option}: ")
    # of labels there are no reports
    for option in ("output", "csv", "parquet", "latex", "protocol"):
        labels = ("experiment", images.key, "--methods", "C-star p@k", f"--{option}={tmp_path / 'x'}")
        assert fails(*labels).startswith(f"--{option}: ")
    assert len(store.runs.all()) == before
    assert "a" * 50 in fails("report", "a" * 300, "-o", tmp_path / "report.html")


def test_results_are_written_into_a_pipe_without_replacing_it(tmp_path):
    pipe, texts = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: texts.append(pipe.read_text("utf-8")), daemon=True)
    reader.start()
    write(pipe, "a table")
    reader.join()
    assert texts == ["a table"]
    assert pipe.is_fifo()
    with pytest.raises(OSError, match="File name too long"):
        write(tmp_path / ("a" * 250), "a table")
    for content in ("a table", b"PAR1"):
        with pytest.raises(FileNotFoundError) as failed:
            write(tmp_path / "none" / "x.html", content)
        assert failed.value.filename == str(tmp_path / "none" / "x.html"), "the file that was named"
        assert "partial" not in str(failed.value)
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


def test_a_run_that_fails_is_exit_code_1_with_its_reason(store, images, tmp_path, fails, monkeypatch):
    def start(store: Store, kind: str, settings: dict[str, Any]) -> Run:
        run = store.runs.create("train", settings)
        report = Report(run.events_file)
        report.iteration(ProgressEvent(17, primal=2.0, dual=1.5, seconds=0.5, passes=3, planes=2))
        report.flush()
        store.runs.end(run.id, "failed", "no class 'wind'")
        return store.runs.get(run.id)

    monkeypatch.setattr(jobs, "start", start)
    file = settings_file(tmp_path, images, query="wind", method="AP-SVM")
    shown = fails("train", file)
    assert "iteration 17, gap 25.00%" in shown
    assert "no class 'wind'" in shown
    assert fails("rank", store.runs.all("train")[0].id).startswith(f"run {store.runs.all('train')[0].id}: ")


def test_an_interrupted_run_is_cancelled_and_is_exit_code_130(store, images, tmp_path, fails, monkeypatch):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Bar, "show", interrupt)
    file = settings_file(tmp_path, images, query="day", method="AP-SVM")
    before = len(store.runs.all())
    fails("train", file, code=130)
    run, *others = store.runs.all()
    assert len(others) == before
    assert jobs.poll(store, run.id).state in ("cancelled", "finished")


def test_workspaces_are_listed_and_unused_ones_removed(tmp_path, command):
    names = [workspaces.create(tmp_path) for _ in range(3)]
    os.utime(tmp_path / "workspaces" / names[1] / workspaces.VISITED, (1e9, 1e9))
    lines = command("workspaces", home=tmp_path)[0].splitlines()
    assert len(lines) == 4
    assert lines[-1].split()[:2] == [names[1], "2001-09-09"]
    assert command("workspaces", "--remove-unused", "30", home=tmp_path)[0].startswith("1 of 1 ")
    assert "unused for 30 days" in command("workspaces", "--remove-unused", "30", home=tmp_path)[0]
    assert {row.name for row in workspaces.all_workspaces(tmp_path)} == {names[0], names[2]}
    for days in ("-1", "soon"):
        assert f"'{days}'" in command("workspaces", "--remove-unused", days, code=2, home=tmp_path)[1]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_is_one_line_on_a_terminal_and_lines_elsewhere(monkeypatch):
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        monkeypatch.setattr("sys.stderr", stream)
        bar = Bar()
        bar.show("Reading", 0, 1)
        bar.show("jump, SVM, fold 1; about 3 s left", 1, 4)
        bar.show("jump, SVM, fold 1; about 2 s left", 2, 4)
        bar.show("jump, SVM, fold 2", 4, 4)
        bar.end()
    assert (terminal.getvalue().count("\n"), terminal.getvalue().count("\r")) == (1, 4)
    assert "[" + 15 * "#" + 15 * " " + "] 2 of 4: jump" in terminal.getvalue()
    lines = ["Reading", "1 of 4: jump, SVM, fold 1; about 3 s left", "4 of 4: jump, SVM, fold 2"]
    assert file.getvalue().splitlines() == lines
