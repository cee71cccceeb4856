"""The page Experiments: what it asks the worker for, and that all it shows is what the cells hold."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qs

import numpy as np
import pytest
from filled_home import Home
from homes import copy_of, filled_once
from hostile_set import CLASSES, SCRIPT, experiment_settings, fill, run_here
from shown import address, button_keys, charts_of, choose, counts_in, kinds, plain, press, texts, turn_to

from pages.parts.app import keys
from pages.parts.app.frame import escaped
from pages.parts.studies import experiment_tables
from ranking.experiments.cross_validation.results import Results
from ranking.reports import experiment_charts
from ranking.reports.differences import differences
from ranking.reports.exports import shown
from ranking.reports.findings import Findings
from ranking.storage.run_settings import PAPER_GRIDS, ExperimentSettings
from ranking.storage.store import Store

# nothing is imported or trained beside
pytestmark = pytest.mark.usefixtures("started")


@dataclass(frozen=True)
class Here(Home):
    """A home with a hostile set, and the experiment on it that has finished."""

    key: str
    run: str

    @property
    def findings(self) -> Findings:
        return Findings.at_home(
            self.store, ExperimentSettings.from_json(self.store.runs.get(self.run).settings)
        )


def with_experiment(home: Path, scratch: Path) -> Here:
    images = fill(home, scratch / "set")
    return Here(home, images.key, run_here(Store(home), experiment_settings(images)).id)


once = filled_once("experiments", with_experiment)
here = copy_of("once")

PROTOCOL = "protocol file"


def upload(app, data: bytes):
    """The page after a protocol file was dropped."""
    return app.file_uploader(key=PROTOCOL).set_value(("protocol.json", data, "application/json")).run()


def test_tables_and_charts_show_what_the_trials_hold(here, open_page):
    app = open_page("experiments", experiment=here.run)
    assert not app.error
    assert not app.warning
    text, findings = texts(app), here.findings
    for query in CLASSES:
        assert escaped(query) in text
        for method in findings.results.compared_methods:
            folds = findings.results.validation(query, method.name)
            assert escaped(shown(float(np.mean(folds)))) in text
            assert escaped(shown(findings.results.test(query, method.name))) in text
    assert "<script" not in text.replace("\\<script", ""), "names are escaped for markdown"
    bars, lines = (chart["data"] for chart in charts_of(app))
    assert [bar["name"].split(",")[0] for bar in bars] == ["folds", "test"]
    assert len(lines) == 1 + 2
    assert {line["line"]["color"] for line in lines} == {"#0072B2", "#009E73"}
    assert "<script" not in json.dumps([bars, lines])
    assert address(app)["experiment_set"] == here.key
    assert len(app.get("download_button")) >= 5, "report, trials in two formats, tables, protocol"


def test_numbers_lead_to_the_rankings_of_a_fold_or_of_the_test(here, open_page):
    app = open_page("experiments", experiment=here.run)
    [links] = [item.value for item in app.markdown if "](?" in item.value]
    addresses = [parse_qs(link) for link in re.findall(r"\]\(\?([^)]*)\)", links)]
    assert len(addresses) == 2 * 4
    wanted = {(query, words) for query in CLASSES for words in ("fold 1", "fold 2", "fold 3", "test")}
    assert {(link[keys.GALLERY][0], link[keys.GALLERY_SPLIT][0]) for link in addresses} == wanted
    turn_to(app, **{name: values[0] for name, values in addresses[1].items()})
    assert not app.warning
    for name, ranked in here.findings.rankings(address(app)[keys.GALLERY], 1).items():
        assert f"**{escaped(name)}** · AP {ranked.average_precision:.3f}" in texts(app)
    choose(app.segmented_control, "gallery_split", "fold 3")
    choose(app.selectbox, "places", 16)
    assert {"gallery_split": "fold 3", "places": "16"}.items() <= address(app).items()


def test_an_experiment_starts_with_what_the_form_shows_and_once(here, open_page, started):
    given = {"compared_methods": "SVM,AP-SVM", "grid.C": "0.5,1", "folds": "2", "seed": "3"}
    given["queries"] = json.dumps(CLASSES[:1])
    app = open_page("experiments", experiment_set=here.key, features="Colour", **given)
    assert not app.warning
    press(app, "start experiment")
    [run] = kinds(started, "experiment")
    settings = ExperimentSettings.from_json(run.settings)
    assert settings.queries == CLASSES[:1]
    assert settings.methods == (("SVM", {}), ("AP-SVM", {}))
    assert (settings.grids, settings.folds, settings.seed) == ({"C": (0.5, 1.0)}, 2, 3)
    assert (settings.features, settings.graph, settings.measure) == ((("Colour", {}),), None, "AP")
    assert address(app)["experiment"] == run.id
    assert f"widget cancel {run.id}" in button_keys(app)
    press(app, "start experiment")
    assert len(kinds(started, "experiment")) == 1


def test_the_scale_of_the_paper_takes_all_queries_and_its_grids(here, open_page, started):
    given = {"experiment_set": here.key, "features": "Colour", "scale": "As in the paper", "folds": "2"}
    app = open_page("experiments", **given)
    trials = 2 * 2 * (6 + 6 + 30 + 30)
    assert any(counts[:1] == [trials] for counts in counts_in(app.caption))
    press(app, "start experiment")
    [run] = kinds(started, "experiment")
    settings = ExperimentSettings.from_json(run.settings)
    assert settings.grids == PAPER_GRIDS
    assert settings.queries == ()
    assert [name for name, _ in settings.methods] == ["SVM", "AP-SVM", "HOB-SVM", "HOAP-SVM"]


def test_a_stopped_experiment_resumes_under_its_name(here, open_page, started):
    store = here.store
    settings = experiment_settings(
        store.sets.get(here.key), grids={"C": [1.0, 10.0, 100.0], "eta": [0.1, 1.0]}
    )
    run = store.runs.create("study", settings.to_json())
    store.runs.rename(run.id, "lecture *7*")
    store.runs.end(run.id, "failed", "killed <b>", {"done": 40, "total": 58})
    app = open_page("experiments", experiment=run.id)
    assert escaped("killed <b>") in texts(app)
    assert [36, 58] in counts_in(app.markdown), "trials that exist, of all"
    assert f"## {escaped('lecture *7*')}" in texts(app)
    press(app, "go on")
    [again] = kinds(started, "experiment")
    assert again.settings == run.settings
    assert store.runs.get(again.id).name == "lecture *7*"
    assert address(app)["experiment"] == again.id
    latest, first = app.selectbox(key="widget experiment").options
    assert latest.startswith("lecture *7*")
    assert latest.count(" · ") == 1, "a name and the time, no id"
    assert first.startswith("SVM, HOB-SVM")
    assert "6 of 9" in texts(app), "trials of SVM for a query"
    assert "12 of 18" in texts(app), "and of HOB-SVM"
    assert not charts_of(app)


def test_a_choice_at_the_end_of_a_grid_offers_the_next_values(here, open_page, started, monkeypatch):
    grids = {"C": (1.0, 10.0, 100.0, 1e3), "eta": (0.1, 1.0)}
    before = here.store.runs.get(here.run).settings
    monkeypatch.setattr(Results, "longer_grids", lambda _: grids)
    app = open_page("experiments", experiment=here.run)
    [label] = [button.label for button in app.button if button.key == "longer grids"]
    assert label == "Try larger C"
    assert "with C = 100, 1000 in the grid" in texts(app)
    press(app, "longer grids")
    [run] = kinds(started, "experiment")
    settings = ExperimentSettings.from_json(run.settings)
    assert settings == replace(ExperimentSettings.from_json(before), grids=grids)
    assert address(app)["experiment"] == run.id


def test_a_choice_inside_its_grid_offers_nothing(here, open_page, monkeypatch):
    monkeypatch.setattr(Results, "at_end", lambda *_: [])
    app = open_page("experiments", experiment=here.run)
    assert "longer grids" not in button_keys(app)
    assert charts_of(app)


def test_invalid_url_parameters_are_reported_and_ignored(here, open_page):
    training = here.store.runs.create("train", {})
    here.store.runs.end(training.id, "failed", "it was none")
    wrong = {"experiment": training.id, "grid.C": "1,1", "queries": "[1"}
    app = open_page("experiments", experiment_set=here.key, **wrong)
    warnings = "\n".join(map(plain, app.warning))
    assert len(app.warning) == 3
    assert all(f"{name} = " in warnings for name in wrong)
    assert not {"grid.C", "queries"} & set(address(app))
    turn_to(app, experiment_set=here.key, features="Colour", chosen_by="P@100")
    [error] = map(plain, app.error)
    assert "P@100" in error, "folds have fewer samples"
    assert "start experiment" not in button_keys(app)


def test_words_of_charts_hold_every_value(here):
    findings = here.findings
    curves = findings.curves(CLASSES[0])
    assert [chosen for _, chosen in curves].count(True) == 2
    words = experiment_charts.lines_in_words(curves, "AP")
    assert all(f"{mean.value:.3f}" in words for curve, _ in curves for mean in curve.means)
    assert experiment_tables.progress_table(findings.results).rows[1].values == ("✓ 12", "✓ 12")
    row = next(row for row in differences(findings) if row.query == CLASSES[0])
    assert SCRIPT in experiment_charts.bars_in_words([row], "AP")


def test_seconds_of_a_query_that_was_not_reached_are_left_open(here):
    results = here.findings.results
    reached = {
        place: outcome for place, outcome in results.outcomes.items() if place[0] == results.queries[0]
    }
    for outcomes, count in ((reached, 1), ({}, 0)):
        table = experiment_tables.all_of_them(replace(results, outcomes=outcomes))
        for row in table.rows:
            first, *unreached, total = row.values
            assert unreached == [None] * (len(results.queries) - 1)
            assert (first, total) == ((total, total) if count else (None, None))
        assert "–" in experiment_tables.as_markdown(table)


def test_a_protocol_file_starts_its_experiment_but_does_not_choose_where_it_is_trained(
    here, open_page, started
):
    settings = here.store.runs.get(here.run).settings
    app = open_page("experiments", experiment=here.run)
    assert app.file_uploader(key=PROTOCOL).proto.max_upload_size_mb == 1, "the browser asks no server either"
    for named, content in (
        (f"x{SCRIPT}", json.dumps({**settings, "set": f"x{SCRIPT}"})),
        ("set, features", "[1]"),
        ("P@100", json.dumps({**settings, "measure": "P@100"})),
        (" 1 MB", "[" * (2**20 + 1)),
    ):
        upload(app, content.encode())
        [error] = app.error
        assert named in plain(error)
        assert "<script" not in error.value.replace("\\<script", "")
        assert "start from file" not in button_keys(app)
    upload(app, json.dumps({**settings, "seed": 4, "scheduler": "tcp://elsewhere:8786"}).encode())
    assert not app.error
    assert len(app.info) == 1, "the scheduler of the file is ignored"
    press(app, "start from file")
    [run] = kinds(started, "experiment")
    assert run.settings == {**settings, "seed": 4, "scheduler": None}


def test_the_time_of_a_preset_is_that_of_the_form_with_its_settings(here, open_page):
    app = open_page("experiments", experiment_set=here.key, experiment=here.run)
    labels = app.segmented_control(key="widget scale").options
    scales = ("The one above", "Small", "As in the paper")
    for scale, label in zip(scales, labels, strict=True):
        name, _, time = label.partition(" · about ")
        assert name == ("Same as above" if scale == "The one above" else scale)
        turn_to(app, experiment_set=here.key, experiment=here.run, scale=scale)
        assert f"about {time} on this computer" in texts(app)
