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
from ranking.experiments.exports import write_rows
from ranking.metrics import evaluate
from ranking.rooms import Rooms
from ranking.store import Store
from ranking.types import ImageSet


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("command-line"))


@pytest.fixture(scope="module")
def images(store: Store, tmp_path_factory: pytest.TempPathFactory) -> ImageSet:
    folder = tmp_path_factory.mktemp("patches") / "set"
    patches(folder)
    return store.image_set(store.adopt(folder, "Patches"))


def settings_file(folder: Path, images: ImageSet, **settings: Any) -> str:
    file = folder / "settings.json"
    file.write_text(json.dumps({"set": images.key, "features": [["Colour", {}]], **settings}))
    return str(file)


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert all(command.SUMMARY in " ".join(said.split()) for command in COMMANDS.values())
    with pytest.raises(SystemExit) as ended:
        main(["dance"])
    assert ended.value.code == 2


def test_a_training_is_kept_and_ranks(
    store: Store, images: ImageSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = settings_file(tmp_path, images, query="day", method="AP-SVM", method_settings={"C": 10.0})
    assert main(["train", file, "--home", str(store.home)]) == 0
    said = capsys.readouterr().out.split()
    run = store.run(said[1])
    assert said[0] == "run"
    assert f"{run.result['test']['AP']:.4g}" in said
    assert main(["rank", run.id, "--home", str(store.home)]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == images.test.sum()
    scores = [float(row["score"]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert evaluate([int(row["relevant"]) for row in rows], scores)["AP"] == pytest.approx(
        run.result["test"]["AP"]
    )
    assert {row["image"] for row in rows} == set(images.image_names[images.image_test])
    assert main(["rank", run.id, "--home", str(store.home), "--part", "all", "--top", "3"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    for wrong in ("-3", "0", "three"):
        with pytest.raises(SystemExit) as ended:
            main(["rank", run.id, "--home", str(store.home), "--top", wrong])
        assert ended.value.code == 2
        assert f"expected a number of places, 1 or more, got '{wrong}'" in capsys.readouterr().err


def test_an_experiment_prints_and_writes_its_tables(
    store: Store, images: ImageSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    methods, grids = [["SVM", {}], ["AP-SVM", {}]], {"C": [1.0, 10.0]}
    file = settings_file(tmp_path, images, queries=["day"], methods=methods, grids=grids, folds=2)
    kinds = ("csv", "parquet", "latex", "protocol", "output")
    written, home = [f"--{kind}={tmp_path / kind}" for kind in kinds], ["--home", str(store.home)]
    assert main(["experiment", file, *home, *written]) == 0
    out, err = capsys.readouterr()
    assert "AP over 2 folds, best setting of each" in out
    assert "AP-SVM − SVM" in out
    assert "10 of 10" in err
    assert len((tmp_path / "csv").read_text().splitlines()) == 1 + 2 * (2 * 2 + 1)
    assert (tmp_path / "latex").read_text().count(r"\begin{table}") == 5
    assert (tmp_path / "parquet").stat().st_size
    again = str(tmp_path / "protocol")
    assert main(["report", again, *home, "-o", str(tmp_path / "report.html")]) == 0
    assert (tmp_path / "output").read_text() == (tmp_path / "report.html").read_text()


def test_an_experiment_without_features_says_so(
    store: Store, images: ImageSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = settings_file(tmp_path, images, features=[], queries=["day"], folds=2)
    assert main(["experiment", file, "--home", str(store.home)]) == 1
    assert "is failed: expected at least one feature, got none; choose one or more" in capsys.readouterr().err


def test_a_protocol_of_others_names_no_scheduler(
    store: Store, images: ImageSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """For whoever is connected to one runs what it sends; the command may name one."""
    experiments = len(store.runs("experiment"))
    file = settings_file(tmp_path, images, scheduler="tcp://127.0.0.1:1")
    assert main(["experiment", file, "--home", str(store.home), "--scheduler", "tcp://127.0.0.1:2"]) == 1
    assert "expected a protocol without a scheduler" in capsys.readouterr().err
    assert len(store.runs("experiment")) == experiments
    file = settings_file(tmp_path, images, queries=["day"], folds=2, scheduler=None)
    assert main(["experiment", file, "--home", str(store.home), "--scheduler", "http://there"]) == 1
    assert "expected a Dask scheduler at 'http://there'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "expected settings as JSON in "),
        ("[1]", "expected settings by name in "),
        ("[" * 100_000, "expected settings as JSON in "),
        ("{}", "settings of a training: "),
    ],
)
def test_what_is_wrong_is_said_and_is_exit_code_1(
    store: Store, tmp_path: Path, content: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "settings.json").write_text(content)
    assert main(["train", str(tmp_path / "settings.json"), "--home", str(store.home)]) == 1
    assert capsys.readouterr().err.startswith(said)
    assert main(["train", str(tmp_path / "none.json"), "--home", str(store.home)]) == 1


def test_a_file_that_cannot_be_written_is_told_before_anything_is_trained(
    store: Store, images: ImageSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    methods, grids = [["SVM", {}]], {"C": [1.0]}
    file = settings_file(tmp_path, images, queries=["day"], methods=methods, grids=grids, folds=2, seed=9)
    home, before = f"--home={store.home}", len(store.runs())
    for asked in (
        ["experiment", file, f"--csv={tmp_path / 'none' / 'cells.csv'}"],
        ["experiment", file, f"--latex={tmp_path}"],
        ["report", file, "-o", str(tmp_path / "none" / "report.html")],
    ):
        assert main([*asked, home]) == 1
        assert "expected a file in a folder that is there for --" in capsys.readouterr().err
    assert len(store.runs()) == before
    assert main(["report", "a" * 300, "-o", str(tmp_path / "report.html"), home]) == 1
    assert "expected the id of an experiment" in capsys.readouterr().err


def test_what_is_no_file_is_written_into_and_stays_what_it_is(tmp_path: Path) -> None:
    pipe, told = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: told.append(pipe.read_text("utf-8")))
    reader.start()
    write(pipe, "a table")
    reader.join()
    assert told == ["a table"]
    assert pipe.is_fifo()
    with pytest.raises(OSError, match="File name too long"):
        write(tmp_path / ("a" * 250), "a table")
    for write_it in (lambda file: write(file, "a table"), lambda file: write_rows([{"a": 1}], file)):
        with pytest.raises(FileNotFoundError) as failed:
            write_it(tmp_path / "none" / "x.html")
        assert failed.value.filename == str(tmp_path / "none" / "x.html"), "the file that was asked for"
        assert "partial" not in str(failed.value)
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


def test_a_run_that_fails_is_exit_code_1_with_its_reason(
    store: Store, images: ImageSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = settings_file(tmp_path, images, query="wind", method="AP-SVM")
    assert main(["train", file, "--home", str(store.home)]) == 1
    assert "is failed: no class 'wind' in Patches" in capsys.readouterr().err
    failed = store.runs("train")[0]
    assert main(["rank", failed.id, "--home", str(store.home)]) == 1
    assert "has no model to rank by" in capsys.readouterr().err


def test_an_interrupted_run_is_cancelled_and_is_exit_code_130(
    store: Store, images: ImageSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Bar, "show", interrupt)
    file = settings_file(tmp_path, images, query="day", method="AP-SVM")
    before = {run.id for run in store.runs()}
    assert main(["train", file, "--home", str(store.home)]) == 130
    (run,) = [run for run in store.runs() if run.id not in before]
    assert jobs.poll(store, run.id).state in ("cancelled", "finished")


def test_rooms_are_listed_and_removed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rooms, home = Rooms(tmp_path), ["--home", str(tmp_path)]
    for name in ("room-of-anna", "room-of-bert", "room-of-carl"):
        rooms.make(name)
    os.utime(rooms.home / "rooms" / "room-of-bert" / "room", (1e9, 1e9))
    assert main(["rooms", *home, "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[-1].split()[:2] == ["room-of-bert", "2001-09-09"]
    assert main(["rooms", *home, "remove", "--unused-for", "30"]) == 0
    assert capsys.readouterr().out == "1 of 1 rooms removed\n"
    assert main(["rooms", *home, "remove", "room-of-anna", "room-of-nobody", "../.."]) == 1
    told = capsys.readouterr()
    assert told.out == "1 of 3 rooms removed\n"
    assert "room-of-nobody" in told.err
    assert "name of a room: " in told.err
    assert [row.name for row in rooms.all()] == ["room-of-carl"]
    for arguments in ([], ["room-of-carl", "--unused-for", "0"]):
        assert main(["rooms", *home, "remove", *arguments]) == 1
        assert "say which rooms to remove" in capsys.readouterr().err
    for wrong in ("-1", "soon"):
        with pytest.raises(SystemExit):
            main(["rooms", *home, "remove", "--unused-for", wrong])
        assert f"expected a number of days, 0 or more, got '{wrong}'" in capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_is_one_line_on_a_terminal_and_lines_elsewhere() -> None:
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
