"""The report of an experiment: its numbers and images, and that untrusted text stays text."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hostile_set import CLASSES, SCRIPT, TITLE, experiment_settings, run_here, store_of
from html_file import HtmlFile, checked_html

from pages.parts.studies.experiment_tables import as_markdown
from ranking.datasets import Thumbnails
from ranking.experiments.cross_validation.comparisons import comparisons
from ranking.experiments.cross_validation.tables import Row, Table, chosen_table, validation_table
from ranking.experiments.cross_validation.tables import test_table as on_test_table
from ranking.metrics.intervals import Interval, resample
from ranking.metrics.ranked import first_mistake
from ranking.reports.comparison_words import first_wrong
from ranking.reports.differences import difference_on_test, differences, signs_of_folds, signs_of_test
from ranking.reports.exports import plain, shown
from ranking.reports.findings import Findings
from ranking.reports.page import value_table
from ranking.reports.report import latex_tables, report_html
from ranking.storage.run_settings import ExperimentSettings


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return store_of(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def run(store):
    [row] = store.sets.rows()
    return run_here(store, experiment_settings(store.sets.get(row.key)), f"mine {SCRIPT}")


@pytest.fixture(scope="module")
def findings(store, run):
    return Findings.at_home(store, ExperimentSettings.from_json(run.settings))


@pytest.fixture(scope="module")
def written(findings, run):
    return report_html(findings, differences(findings), Thumbnails(findings.images.folder), run.name)


def test_untrusted_names_are_text_and_nothing_else(written):
    page = checked_html(written)
    for name in (*CLASSES, TITLE, f"mine {SCRIPT}"):
        assert name in page.text
    labels = " ".join(str(attributes.get("aria-label")) for _, attributes in page.tags)
    assert f"'{SCRIPT}\"" in labels


def test_the_tables_hold_the_results(written, findings):
    page, results = HtmlFile(written), findings.results
    assert findings.done == findings.planned == 2 * (3 * (2 + 4) + 2)
    for table in (validation_table(results), on_test_table(results), chosen_table(results)):
        assert table.title in page.text
        assert all(shown(value) in page.text for row in table.rows for value in row.values)
    assert "HOB-SVM − SVM" in page.text


def test_the_report_contains_the_thumbnail_of_each_sample_once(written, findings):
    page, crops = HtmlFile(written), Thumbnails(findings.images.folder)
    symbols = [symbol["id"] for symbol in page.all("symbol")]
    assert len(set(symbols)) == len(symbols) > 0
    assert {str(use["href"])[1:] for use in page.all("use")} == set(symbols)
    for symbol, image in zip(symbols, page.all("image"), strict=True):
        content = base64.b64decode(str(image["href"]).partition(",")[2])
        assert content == crops.crop(int(str(symbol)[1:]))


def test_galleries_show_the_first_by_each_method_and_mark_the_irrelevant(written, findings):
    classes = [str(tile.get("class")) for tile in HtmlFile(written).all("div")]
    ranked = [findings.rankings(query, fold).values() for query in CLASSES for fold in findings.splits]
    first = [one.relevance[:8] for each in ranked for one in each]
    frames = [
        frame
        for method in findings.results.compared_methods
        for frame in findings.frames(CLASSES[0], method.name)
    ]
    first += [np.array(frame.relevant[:6], int) for frame in frames]
    assert sum(name.startswith("tile ") for name in classes) == sum(map(len, first))
    assert classes.count("tile wrong") == sum((grades == 0).sum() for grades in first) > 0


def test_final_models_are_shown_at_the_iterations_that_were_recorded(written, findings):
    page = HtmlFile(written)
    columns = [tile for tile in page.all("div") if tile.get("class") == "multiple"]
    count = 0
    for method in findings.results.compared_methods:
        for query in CLASSES:
            frames, ranked = findings.frames(query, method.name), findings.ranking(query, method.name, None)
            assert 2 <= len(frames) <= 5
            assert frames[-1].measures["AP"] == pytest.approx(ranked.average_precision)
            assert frames[-1].top.tolist() == ranked.samples[: len(frames[-1].top)].tolist()
            point = findings.results.chosen(query, method.name)
            certificate = findings.results.outcomes[query, method.name, point, None].certificate
            assert frames[-1].iteration == certificate.iterations
        frames = findings.frames(CLASSES[0], method.name)
        count += len(frames)
        for frame in frames:
            assert f"Iteration {frame.iteration:,}, AP {frame.measures['AP']:.3f}" in page.text, method.name
    assert len(columns) == count


def test_a_ranking_of_a_fold_is_that_of_its_trial(findings):
    query = CLASSES[0]
    for fold in findings.splits:
        ranked = findings.ranking(query, "HOB-SVM", fold)
        point = findings.results.chosen(query, "HOB-SVM")
        value = findings.results.outcomes[query, "HOB-SVM", point, fold].measures["AP"]
        assert ranked.average_precision == pytest.approx(value)
        assert set(ranked.samples) == set(findings.plan.splits.all[fold].held)
    first = first_mistake(ranked.relevance)
    assert first is None or f" {first}" in first_wrong(ranked)


def test_differences_are_those_of_the_folds_and_of_the_test(findings):
    rows = differences(findings)
    assert [(row.query, row.left, row.right) for row in rows] == [
        (query, "HOB-SVM", "SVM") for query in findings.results.queries
    ]
    # NaN included
    assert repr([row.folds for row in rows]) == repr(comparisons(findings.results))
    for row in rows:
        ours, theirs = (findings.results.test(row.query, name) for name in ("HOB-SVM", "SVM"))
        assert row.test.value == pytest.approx(ours - theirs)
        assert row.test.low <= row.test.value <= row.test.high


def test_signs_show_the_side_and_the_significance(findings):
    row = differences(findings)[0]
    place = (row.query, "HOB-SVM")
    for t, holm, value, sign in (
        (0.01, 0.04, 0.1, "▲"),
        (0.01, 0.06, 0.1, "△"),
        (0.06, 0.06, 0.1, None),
        (0.01, 0.04, -0.1, "▼"),
        (0.01, 0.06, -0.1, "▽"),
        (float("nan"), float("nan"), 1.0, None),
    ):
        folds = row.folds._replace(t=t, holm=holm, difference=Interval(value, value, value))
        assert signs_of_folds([row._replace(folds=folds)], "SVM").get(place) == sign, (t, holm, value)
    assert signs_of_folds([row], "HOB-SVM") == {}, "signs are against the first method alone"
    for low, high, sign in ((0.1, 0.2, "△"), (-0.2, -0.1, "▽"), (-0.1, 0.1, None), (0.0, 0.1, None)):
        test = row._replace(test=Interval(0.0, low, high))
        assert signs_of_test([test], "SVM").get(place) == sign, (low, high)


def test_a_table_shows_its_signs_and_says_what_they_mean():
    rows = (Row("SVM", (0.5, 0.25), (True, False)), Row("AP-SVM", (0.5, None), (True, False)))
    table = Table("AP", ("jump", "run"), rows, "Few.")
    signed = table.signed({("jump", "AP-SVM"): "△"}, "△ better.")
    assert signed.note == "△ better. Few."
    for text in (HtmlFile(value_table(signed)).text, as_markdown(signed), plain(signed)):
        assert text.count("△") == 1 + text.count(signed.note)
        assert re.search(r"0\W{1,2}500\W{0,3}△", text)
    assert table.signed({}, "△ better.") == table


def test_test_images_of_one_group_are_resampled_together(findings, monkeypatch):
    images, held = findings.images, findings.plan.splits.all[None].held
    groups = images.groups.copy()
    # two test images each
    groups[held] = np.unique(images.image_of[held], return_inverse=True)[1] // 2
    wide = replace(findings, images=replace(images, groups=groups))
    scores = dict(zip(("HOB-SVM", "SVM"), np.random.default_rng(0).normal(size=(2, len(held))), strict=True))
    monkeypatch.setattr(Findings, "scores", lambda self, query, name, fold: scores[name])
    given = list(scores.values())
    expected = resample(images.relevance(CLASSES[0])[held], given, groups[held]).difference("AP", 0, 1)
    assert difference_on_test(wide, CLASSES[0], "HOB-SVM", "SVM") == expected
    assert difference_on_test(findings, CLASSES[0], "HOB-SVM", "SVM") != expected
    alone = replace(findings, images=replace(images, groups=np.zeros_like(groups)))
    assert difference_on_test(alone, CLASSES[0], "HOB-SVM", "SVM") is None


def test_a_part_of_an_experiment_is_shown_as_a_part(store, findings):
    settings = replace(
        experiment_settings(findings.images), grids={"C": (1.0, 10.0, 100.0), "eta": (0.1, 1.0)}
    )
    part = Findings.at_home(store, settings)
    assert 0 < part.done < part.planned
    page = HtmlFile(report_html(part, differences(part), Thumbnails(part.images.folder)))
    assert f"{part.done} of {part.planned}" in page.text
    assert part.rankings(CLASSES[0], None) == {}


def test_the_command_writes_all_files(store, run, tmp_path, written, command):
    out = tmp_path / "out.html"
    file_options = [f"--{kind}={tmp_path / kind}" for kind in ("csv", "parquet", "latex", "protocol")]
    assert command("report", run.id, "-o", out, *file_options, home=store.home)[1].startswith(f"{out}: ")
    assert out.read_text() == written
    within = HtmlFile(written).files()
    for kind, name in (("csv", "trials.csv"), ("latex", "tables.tex"), ("protocol", "protocol.json")):
        assert (tmp_path / kind).read_text() == within[name].replace("\r\n", "\n")
    assert len(within["trials.csv"].splitlines()) == 1 + run.result["done"]
    assert within["tables.tex"].count(r"\begin{table}") == 5
    assert (tmp_path / "parquet").stat().st_size
    command("report", tmp_path / "protocol", "-o", out, home=store.home)
    assert "<h1>mine" not in out.read_text()


def test_the_command_refuses_runs_that_are_not_experiments(store, run, tmp_path, command):
    training, imported = store.runs.create("train", {}), store.runs.create("import", {})
    for failed in (training, imported):
        store.runs.end(failed.id, "failed", "it was none")
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps({**run.settings, "seed": 7}))
    for arguments, subject in (
        (["no/where"], "RUN_OR_FILE: "),
        ([training.id], "comparison: "),
        ([imported.id], f"run {imported.id}: "),
        ([str(changed)], "finished trials of this experiment: "),
        ([run.id, "--split", "test"], "--split: "),
    ):
        _, output = command("report", *arguments, "-o", tmp_path / "x.html", home=store.home, code=1)
        assert output.startswith(subject)
    assert not (tmp_path / "x.html").exists()


def test_latex_carries_the_signs_that_the_page_shows(findings):
    row = differences(findings)[0]
    sure = row.folds._replace(t=0.001, holm=0.01, difference=Interval(0.1, 0.05, 0.15))
    apart = [row._replace(folds=sure, test=Interval(-0.1, -0.2, -0.05))]
    folds, test, _, pairs, _ = latex_tables(findings, apart).split("\n\n")
    filled = r"$\bigtriangleup\!\bigtriangleup$"
    for table, sign in ((folds, filled), (pairs, filled), (test, r"$\bigtriangledown$")):
        caption, body = table.split(r"\begin{tabular}")
        assert body.count(sign) == 1, "one difference is more than chance"
        assert sign in caption, "what the sign means"
