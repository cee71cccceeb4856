"""The report of a comparison: its numbers and images, and that untrusted text stays text."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hostile_set import CLASSES, SCRIPT, TITLE, store_of
from html_file import HtmlFile, checked_html, without_scripts
from pyarrow import parquet
from training_runs import finished

from ranking.datasets import Thumbnails
from ranking.explain.playback import frames_of, read_playback, spread_geometrically
from ranking.metrics import average_precision
from ranking.metrics.comparison import largest
from ranking.metrics.intervals import Interval
from ranking.metrics.ranked import first_mistake
from ranking.reports import comparison_words
from ranking.reports.compared import Compared
from ranking.reports.comparison import comparison_html
from ranking.reports.differences import sign_of
from ranking.reports.settings_words import names_of, settings_facts
from ranking.storage.run import Run
from ranking.storage.run_settings import TrainSettings
from ranking.storage.store import Store

QUERY = CLASSES[0]
MAX_BYTES = 500_000


def trained(store: Store, key: str, query: str, method: str, name: str = "", **settings: Any) -> Run:
    return finished(store, TrainSettings(key, (("Colour", {}),), query, method, settings).to_json(), name)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return store_of(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def runs(store):
    [row] = store.sets.rows()
    by_chance = trained(store, row.key, QUERY, "SVM", C=1e-4)
    # these patches are easy: somebody has to be wrong
    scores = np.load(by_chance.scores_file)
    np.save(by_chance.scores_file, np.random.default_rng(0).permutation(scores))
    return [
        by_chance,
        trained(store, row.key, QUERY, "AP-SVM", name=f"mine {SCRIPT}", C=10.0),
        trained(store, row.key, QUERY, "HOB-SVM"),
    ]


@pytest.fixture(scope="module")
def shown(store, runs):
    return Compared.at_home(store, runs)


@pytest.fixture(scope="module")
def written(shown):
    return comparison_html(shown, Thumbnails(shown.images.folder))


def test_untrusted_names_are_text_and_nothing_else(written):
    page = checked_html(written)
    for name in (QUERY, TITLE, f"mine {SCRIPT}"):
        assert name in page.text
    assert len(without_scripts(written)) < MAX_BYTES


def test_the_report_names_the_best_method_and_its_lead(written, shown, runs):
    text = HtmlFile(written).text
    assert comparison_words.verdict(shown.names, shown.resampled) in text
    rows = shown.images.test
    for number, run in enumerate(runs):
        value = average_precision(shown.images.relevance(QUERY)[rows], np.load(run.scores_file)[rows])
        assert value == shown.resampled.values["AP"][number]
        assert comparison_words.of_interval(shown.resampled.interval("AP", number)) in text
        if number:
            assert value == pytest.approx(run.result["test"]["AP"])
            assert comparison_words.of_difference(shown.resampled.difference("AP", number, 0)) in text
            assert f"SVM to {shown.names[number]}" in text
    assert all(name in text for name in (*settings_facts(runs[0]), runs[0].id))


def test_an_end_of_an_interval_shows_its_side_of_zero():
    text = comparison_words.of_difference(Interval(-0.044, -0.088, -0.0003))
    assert text.endswith("−0.0003]")


def test_rows_mark_the_first_error_and_movers_have_the_largest_gain_of_ap(written, shown):
    page = HtmlFile(written)
    classes = [str(tile.get("class")) for tile in page.all("div")]
    firsts = [first_mistake(ranked.relevance) for ranked in shown.compared.rankings]
    marked = sum(first is not None and first <= 10 for first in firsts)
    assert classes.count("tile wrong first") == marked > 0
    gains = [sign * shown.compared.gains(0, number) for number in (1, 2) for sign in (1, -1)]
    movers = sum(len(largest(gain, 6)) for gain in gains)
    rows = sum(min(10, len(ranked)) for ranked in shown.compared.rankings)
    # iterations
    rows += 6 * classes.count("multiple")
    assert sum(name.startswith("tile ") for name in classes) == rows + movers
    [curves] = [json.loads(str(one["data-figure"])) for one in page.all("div") if "data-figure" in one]
    assert [len(trace["x"]) > 2 for trace in curves["data"]] == [True] * 3, "a curve each"


def test_files_inside_the_report_are_complete(written, shown):
    files = HtmlFile(written).files()
    assert set(files) == {"ranks.csv", "measures.csv", "measures.tex"}
    rows = list(csv.DictReader(io.StringIO(files["ranks.csv"])))
    assert len(rows) == shown.images.test.sum()
    assert [int(row["rank by SVM"]) for row in rows] == list(range(1, len(rows) + 1))
    assert sorted(float(row["score by HOB-SVM"]) for row in rows) == sorted(shown.compared.scores[2])
    assert files["measures.tex"].count(r"\\") == 1 + len(shown.runs)
    signs = [sign_of(shown.resampled.difference("AP", number, 0)) for number in (1, 2)]
    latex_rows = files["measures.tex"].split(r"\midrule")[1]
    assert latex_rows.count(r"\bigtriangleup") == signs.count("△") > 0
    assert shown.names == ["SVM", f"mine {SCRIPT}", "HOB-SVM"]
    assert "mine" in files["measures.csv"]
    again = shown.runs[0]
    second = replace(again, id="again")
    assert names_of([again, second]) == [f"SVM, {again.id}", "SVM, again"], "nothing but the id differs"


def test_the_command_writes_all_files_by_ids(store, runs, tmp_path, written, command):
    out, report = tmp_path / "out.html", partial(command, "report", home=store.home)
    file_options = [f"--{kind}={tmp_path / kind}" for kind in ("csv", "parquet", "latex")]
    report(*(run.id for run in runs), "-o", out, *file_options)
    assert out.read_text() == written
    lines = (tmp_path / "csv").read_text().splitlines()
    assert parquet.read_table(tmp_path / "parquet").num_rows == len(lines) - 1
    first, second = runs[0].id, runs[1].id
    for arguments, subject in (
        ((first, first, "x", "x", "x"), "RUN_OR_FILE: "),
        ((first, second, first), "repeated training runs: "),
        ((first, second, "--protocol", tmp_path / "x"), "--protocol: "),
    ):
        assert report(*arguments, "-o", out, code=1)[1].startswith(subject)
    assert out.read_text() == written


def test_iterations_that_were_recorded_stand_in_a_row_of_small_multiples(store, runs, shown, written):
    page = HtmlFile(written)
    columns = [tile for tile in page.all("div") if tile.get("class") == "multiple"]
    captions = page.text
    count = 0
    for run in runs:
        playback = read_playback(run.playback_file, len(shown.images))
        assert playback is not None
        relevance, test = shown.images.relevance(QUERY), shown.images.test
        frames = spread_geometrically(frames_of(playback, relevance, test, None), 5)
        count += len(frames)
        for frame in frames:
            assert f"Iteration {frame.iteration:,}, AP {frame.measures['AP']:.3f}" in captions, run.id
    assert len(columns) == count > len(runs)


def test_without_a_recording_there_are_no_iterations(store, runs, shown, tmp_path):
    kept = [(run.playback_file, run.playback_file.read_bytes()) for run in runs]
    try:
        for file, _ in kept:
            file.unlink()
        bare = comparison_html(shown, Thumbnails(shown.images.folder))
    finally:
        for file, content in kept:
            file.write_bytes(content)
    assert "multiples" not in {tile.get("class") for tile in HtmlFile(bare).all("div")}
