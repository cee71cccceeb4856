"""The report of a comparison: its numbers, pictures and recipe, and that nothing of a stranger's comes alive in it."""

from __future__ import annotations

import base64
import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile_set import CLASSES, SCRIPT, TITLE, fill
from html_file import HtmlFile, look_over
from pyarrow import parquet

from ranking import jobs, worker
from ranking.__main__ import main
from ranking.comparison import most
from ranking.datasets import Thumbnails, ready_made_folder
from ranking.events import Report
from ranking.metrics import average_precision
from ranking.ranked import first_mistake
from ranking.reports import comparison_files, comparison_words
from ranking.reports.compared import Compared, names_of
from ranking.reports.comparison import comparison_html
from ranking.reports.comparison_file import ComparisonSettings, recipe, source_of
from ranking.run import Run
from ranking.run_settings import TrainSettings
from ranking.store import Store

QUERY = CLASSES[0]
MOST_BYTES = 500_000


def trained(store: Store, key: str, query: str, method: str, name: str = "", **settings: Any) -> Run:
    """A finished training in this process."""
    asked = TrainSettings(key, (("Colour", {}),), query, method, settings)
    run = store.create_run("train", asked.to_json())
    report = Report(run.folder / "events.jsonl")
    store.end_run(run.id, "finished", result=worker.train(store, run, report))
    report.flush()
    if name:
        store.name_run(run.id, name)
    return store.run(run.id)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    home = tmp_path_factory.mktemp("comparison-home")
    fill(home, tmp_path_factory.mktemp("hostile") / "set")
    return Store(home)


@pytest.fixture(scope="module")
def runs(store: Store) -> list[Run]:
    [row] = store.image_sets()
    by_chance = trained(store, row.key, QUERY, "SVM", C=1e-4)
    scores = np.load(by_chance.scores_file)  # these patches are easy: somebody has to be wrong
    np.save(by_chance.scores_file, np.random.default_rng(0).permutation(scores))
    return [
        by_chance,
        trained(store, row.key, QUERY, "AP-SVM", name=f"mine {SCRIPT}", C=10.0),
        trained(store, row.key, QUERY, "HOB-SVM"),
    ]


@pytest.fixture(scope="module")
def shown(store: Store, runs: list[Run]) -> Compared:
    return Compared.at_home(store, runs)


@pytest.fixture(scope="module")
def written(store: Store, shown: Compared) -> str:
    return comparison_html(shown, Thumbnails(shown.images.folder), recipe(store, shown))


def held(written: str) -> dict[str, str]:
    """The files in the file."""
    links = {str(one["download"]): str(one["href"]) for one in HtmlFile(written).all("a")}
    return {name: base64.b64decode(link.partition(",")[2]).decode() for name, link in links.items()}


def test_names_of_strangers_are_text_and_nothing_else(written: str) -> None:
    page = look_over(written)
    for name in (QUERY, TITLE, f"mine {SCRIPT}"):
        assert name in page.text
    assert len(written) < MOST_BYTES


def test_it_says_who_is_best_and_by_how_much(written: str, shown: Compared, runs: list[Run]) -> None:
    text = HtmlFile(written).text
    assert comparison_words.verdict(shown.names, shown.found) in text
    for number, run in enumerate(runs):
        rows = shown.images.test
        value = average_precision(shown.images.relevance(QUERY)[rows], np.load(run.scores_file)[rows])
        assert value == shown.found.values["AP"][number]
        assert not number or value == pytest.approx(run.result["test"]["AP"])
        told = shown.found.interval("AP", number)
        assert comparison_words.of_interval(told) in text
        if number:
            less = shown.found.difference("AP", number, 0)
            assert comparison_words.of_difference(less) in text
            assert f"From SVM to {shown.names[number]}" in text
    for setting in ("C", "Relative duality gap", "Features", runs[0].id):
        assert setting in text


def test_the_rows_mark_the_first_mistake_and_movers_are_those_that_give_most(
    written: str, shown: Compared
) -> None:
    page = HtmlFile(written)
    classes = [str(one.get("class")) for one in page.all("div")]
    firsts = [first_mistake(ranked.relevance) for ranked in shown.compared.rankings]
    marked = sum(first is not None and first <= 10 for first in firsts)
    assert classes.count("tile wrong first") == marked > 0
    gains = shown.compared.gains(0, 1)
    movers = len(most(gains, 6)) + len(most(-gains, 6))
    more = shown.compared.gains(0, 2)
    movers += len(most(more, 6)) + len(most(-more, 6))
    rows = sum(min(10, len(ranked)) for ranked in shown.compared.rankings)
    assert sum(one.startswith("tile ") for one in classes) == rows + movers
    assert len(page.all("polyline")) >= 3, "a curve each"


def test_the_files_in_it_are_whole(written: str, shown: Compared) -> None:
    files = held(written)
    assert set(files) == {"comparison.json", "ranks.csv", "measures.csv", "measures.tex"}
    rows = list(csv.DictReader(io.StringIO(files["ranks.csv"])))
    assert len(rows) == shown.images.test.sum()
    assert [int(row["rank by SVM"]) for row in rows] == list(range(1, len(rows) + 1))
    assert sorted(float(row["score by HOB-SVM"]) for row in rows) == sorted(shown.compared.scores[2])
    assert files["measures.tex"].count(r"\\") == 1 + len(shown.runs)
    signs = [comparison_files.sign_of(shown.found.difference("AP", number, 0)) for number in (1, 2)]
    drawn = files["measures.tex"].split(r"\hline")[2]
    assert drawn.count(r"\bigtriangleup") == signs.count("△") > 0
    for name in ("mine", "SVM"):
        assert name in files["measures.csv"]


def test_the_recipe_names_what_it_cannot_make(store: Store, shown: Compared, written: str) -> None:
    told = json.loads(held(written)["comparison.json"])
    again = ComparisonSettings.from_json(told)
    assert [one.to_json() for one in again.trainings] == [run.settings for run in shown.runs]
    assert again.source is None
    [lacking] = told["not_recreated"]
    assert shown.images.key in lacking
    assert "bring the same files" in lacking


def test_drawn_sets_are_made_again_from_their_settings_and_files_are_not(tmp_path: Path) -> None:
    fill(tmp_path / "home", tmp_path / "set")
    store = Store(tmp_path / "home")
    [row] = store.image_sets()
    for source, settings in (("PASCAL VOC", {"folder": "/x"}), ("Timeline cars", {"images": 40})):
        run = store.create_run("import", {"source": source, "source_settings": settings})
        store.end_run(run.id, "finished", result={"key": row.key})
        made = source_of(store, row)
        assert (made is not None) == (source == "Timeline cars")
        assert made is None or made.source_settings == settings


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"trainings": "x"}, "needs a list of trainings"),
        ({"trainings": []}, "2 to 4 trainings"),
        ({"split": "all"}, "expected split test or train"),
        ({"names": ["a"]}, "expected a name for each"),
        ({"image_set": 3}, "expected settings by name under image_set"),
        ({"more": 1}, "a comparison has no more"),
    ],
)
def test_a_file_that_is_no_comparison_is_told(written: str, change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ComparisonSettings.from_json({**json.loads(held(written)["comparison.json"]), **change})


def test_names_are_not_alike(runs: list[Run]) -> None:
    assert names_of([runs[0], runs[0]]) == [f"SVM, {runs[0].id}"] * 2
    assert names_of(runs) == ["SVM", f"mine {SCRIPT}", "HOB-SVM"]


def test_the_command_writes_all_files_by_ids_and_by_the_recipe(
    store: Store, runs: list[Run], tmp_path: Path, written: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out, home = tmp_path / "out.html", str(store.home)
    others = [f"--{kind}={tmp_path / kind}" for kind in ("csv", "parquet", "latex", "protocol")]
    assert main(["report", *(run.id for run in runs), "-o", str(out), "--home", home, *others]) == 0
    assert out.read_text() == written
    assert (tmp_path / "protocol").read_text() == held(written)["comparison.json"]
    assert (
        parquet.read_table(tmp_path / "parquet").num_rows
        == len((tmp_path / "csv").read_text().splitlines()) - 1
    )
    again = str(tmp_path / "protocol")
    assert main(["report", again, "-o", str(out), "--home", home]) == 0
    assert out.read_text() == written
    capsys.readouterr()
    assert main(["report", again, runs[0].id, "-o", str(out), "--home", home]) == 1
    assert (
        f"a whole experiment or comparison, expected nothing beside it, got {runs[0].id}; leave that"
        in capsys.readouterr().err
    )
    assert main(["report", runs[0].id, runs[0].id, *(["x"] * 3), "-o", str(out), "--home", home]) == 1
    assert "got 'x'" in capsys.readouterr().err
    assert main(["report", runs[0].id, runs[1].id, runs[0].id, "-o", str(out), "--home", home]) == 1
    assert f"every training once, got {runs[0].id} again; leave it out" in capsys.readouterr().err


def test_another_home_makes_the_same_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def here_and_now(store: Store, kind: str, told: dict[str, Any]) -> Run:
        asked = TrainSettings.from_json(told)
        return trained(store, asked.set, asked.query, asked.method, **asked.method_settings)

    monkeypatch.setattr(jobs, "start_once", here_and_now)
    folder = ready_made_folder()
    assert folder is not None
    here = Store(tmp_path / "here")
    key = here.adopt(folder, "ready-made")
    pair = [
        trained(here, key, "phoning", "SVM", C=c, name=name) for c, name in ((0.01, "one"), (1.0, "other"))
    ]
    shown = Compared.at_home(here, pair)
    file = tmp_path / "comparison.json"
    file.write_text(recipe(here, shown))
    assert json.loads(file.read_text())["not_recreated"] == [], "these images come with the program"
    assert main(["report", str(file), "-o", str(tmp_path / "x"), "--home", str(tmp_path / "there")]) == 1
    assert "2 of 2 trainings are not in this home yet" in capsys.readouterr().err
    assert (
        main(["comparison", str(file), "--home", str(tmp_path / "there"), "-o", str(tmp_path / "x.html")])
        == 0
    )
    there = Store(tmp_path / "there")
    *_, last = capsys.readouterr().out.strip().splitlines()
    made = Compared.at_home(there, [there.run(run_id) for run_id in last.split()[1:]])
    assert made.names == ["one", "other"]
    assert np.array_equal(made.compared.scores, shown.compared.scores)
    for measure, values in shown.found.values.items():
        assert np.array_equal(made.found.values[measure], values)
    assert (tmp_path / "x.html").stat().st_size > 10_000
    assert main(["comparison", str(file), "--home", str(tmp_path / "there")]) == 0
    assert capsys.readouterr().out.strip().splitlines()[-1] == last, "nothing is trained twice"


def test_a_set_that_is_not_here_is_named(
    written: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "comparison.json"
    file.write_text(held(written)["comparison.json"])
    assert main(["comparison", str(file), "--home", str(tmp_path / "empty")]) == 1
    assert "the file cannot make it; bring its files" in capsys.readouterr().err
