"""The page Experiments: what it asks the worker for, and that all it shows is what the cells hold."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qs

import numpy as np
import pytest
from filled_home import copy_home
from hostile_set import CLASSES, SCRIPT, asked, fill, run_here

from pages.parts import experiment_form, experiment_tables, keys
from pages.parts.frame import escaped
from ranking import jobs
from ranking.datasets import Thumbnails
from ranking.experiments.exports import shown
from ranking.reports import experiment_charts
from ranking.reports.differences import differences
from ranking.reports.findings import Findings
from ranking.reports.report import report_html
from ranking.run_settings import PAPER_GRIDS, ExperimentSettings
from ranking.store import Store

pytestmark = pytest.mark.usefixtures("started")  # nothing is imported or trained beside


@dataclass(frozen=True)
class Here:
    """A home with a hostile set, and the experiment on it that has finished."""

    home: Path
    key: str
    run: str

    @property
    def store(self) -> Store:
        return Store(self.home)

    @property
    def findings(self) -> Findings:
        return Findings.at_home(self.store, ExperimentSettings.from_json(self.store.run(self.run).settings))


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Here:
    home = tmp_path_factory.mktemp("experiments")
    images = fill(home, tmp_path_factory.mktemp("hostile") / "set")
    return Here(home, images.key, run_here(Store(home), asked(images)).id)


@pytest.fixture
def here(once: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    copy_home(once.home, tmp_path / "home")
    monkeypatch.setenv("RANKING_HOME", str(tmp_path / "home"))
    return replace(once, home=tmp_path / "home")


def said(app) -> str:
    return "\n".join(item.value for item in [*app.markdown, *app.caption])


def test_the_tables_charts_and_galleries_are_those_of_the_cells(here, open_page):
    app = open_page("experiments", experiment=here.run)
    assert not app.exception
    assert not app.error
    assert not app.warning
    told, findings = said(app), here.findings
    for query in CLASSES:
        assert escaped(query) in told
        for one in findings.results.contenders:
            folds = findings.results.validation(query, one.name)
            assert escaped(shown(float(np.mean(folds)))) in told
            assert escaped(shown(findings.results.test(query, one.name))) in told
    assert "<script" not in told.replace("\\<script", ""), "names are escaped for markdown"
    bars, lines = (json.loads(chart.proto.spec)["data"] for chart in app.get("plotly_chart"))
    assert [bar["name"].split(",")[0] for bar in bars] == ["folds", "test"]
    assert len(lines) == 1 + 2
    assert {line["line"]["color"] for line in lines} == {"#0072B2", "#009E73"}
    assert "<script" not in json.dumps([bars, lines])
    assert app.query_params["experiment"] == here.run
    assert app.query_params["experiment_set"] == here.key
    assert [button.label for button in app.get("download_button")][:5] == [
        "Report (HTML)",
        "Cells (CSV)",
        "Cells (Parquet)",
        "Tables (LaTeX)",
        "Protocol (JSON)",
    ]


def test_every_gallery_has_an_address_of_its_own(here, open_page):
    app = open_page("experiments", experiment=here.run)
    [links] = [item.value for item in app.markdown if "](?" in item.value]
    found = [parse_qs(link) for link in re.findall(r"\]\(\?([^)]*)\)", links)]
    assert len(found) == 2 * 4
    wanted = {(query, words) for query in CLASSES for words in ("fold 1", "fold 2", "fold 3", "test")}
    assert {(one[keys.GALLERY][0], one[keys.GALLERY_SPLIT][0]) for one in found} == wanted
    address = {name: values[0] for name, values in found[1].items()}
    app = open_page("experiments", **address)
    assert not app.exception
    assert not app.warning
    ranked = here.findings.rankings(address[keys.GALLERY], 1)
    for name, one in ranked.items():
        assert f"**{escaped(name)}** · AP {one.average_precision:.3f}" in said(app)


def test_another_difference_and_another_fold_are_kept_in_the_address(here, open_page):
    app = open_page("experiments", experiment=here.run)
    app.segmented_control(key="widget gallery_split").set_value("fold 2").run()
    assert not app.exception
    assert app.query_params["gallery_split"] == "fold 2"
    app.selectbox(key="widget places").set_value(16).run()
    assert app.query_params["places"] == "16"


def test_an_experiment_is_asked_for_as_the_form_says_and_once(here, open_page, started):
    address = {
        "queries": json.dumps(CLASSES[:1]),
        "contenders": "SVM,AP-SVM",
        "grid.C": "0.5,1",
        "folds": "2",
    }
    app = open_page("experiments", experiment_set=here.key, features="Colour", seed="3", **address)
    assert not app.exception
    assert not app.warning
    app.button(key="start experiment").click().run()
    assert not app.exception
    [run] = [one for one in started if one.kind == "experiment"]
    settings = ExperimentSettings.from_json(run.settings)
    assert settings.queries == CLASSES[:1]
    assert settings.methods == (("SVM", {}), ("AP-SVM", {}))
    assert (settings.grids, settings.folds, settings.seed) == ({"C": (0.5, 1.0)}, 2, 3)
    assert (settings.features, settings.graph, settings.measure) == ((("Colour", {}),), None, "AP")
    assert app.query_params["experiment"] == run.id
    assert "Cancel" in [button.label for button in app.button]
    app.button(key="start experiment").click().run()
    assert len([one for one in started if one.kind == "experiment"]) == 1


def test_the_paper_asks_for_all_queries_and_its_grids(here, open_page, started):
    app = open_page(
        "experiments", experiment_set=here.key, features="Colour", scale="As in the paper", folds="2"
    )
    cells = 2 * 2 * (6 + 6 + 30 + 30)
    assert f"**{cells} trainings**" in said(app)
    app.button(key="start experiment").click().run()
    [run] = [one for one in started if one.kind == "experiment"]
    settings = ExperimentSettings.from_json(run.settings)
    assert settings.grids == PAPER_GRIDS
    assert settings.queries == ()
    assert [name for name, _ in settings.methods] == ["SVM", "AP-SVM", "HOB-SVM", "HOAP-SVM"]


def test_what_makes_no_experiment_is_said_before_it_is_started(here, open_page):
    for address, reason in (
        ({"chosen_by": "P@100"}, "P@100 needs 100 samples in each fold, one has "),
        ({"folds": "10", "seed": "1"}, ""),
    ):
        app = open_page("experiments", experiment_set=here.key, features="Colour", **address)
        assert not app.exception
        assert [error.value.startswith(escaped(reason)) for error in app.error] == [True] * bool(reason)
        assert (not reason) == ("start experiment" in [button.key for button in app.button])


@pytest.mark.parametrize("state", ["cancelled", "failed"])
def test_one_that_stopped_goes_on_under_its_name(here, open_page, started, state):
    store = here.store
    settings = asked(store.image_set(here.key), grids={"C": [1.0, 10.0, 100.0], "eta": [0.1, 1.0]})
    run = store.create_run("experiment", settings.to_json())
    store.name_run(run.id, "lecture *7*")
    store.end_run(run.id, state, "killed <b>", {"done": 40, "total": 58})
    app = open_page("experiments", experiment=run.id)
    assert not app.exception
    told = said(app) + "".join(item.value for item in [*app.error, *app.warning])
    assert escaped("killed <b>") in told
    assert "36 of 58 trainings are there and stay." in told
    assert f"## {escaped('lecture *7*')}" in told
    app.button(key="go on").click().run()
    assert not app.exception
    [again] = [one for one in started if one.kind == "experiment"]
    assert again.settings == run.settings
    assert store.run(again.id).name == "lecture *7*"
    assert app.query_params["experiment"] == again.id
    assert [option.split(" · ")[-1] for option in app.selectbox(key="widget experiment").options] == [
        again.id,
        here.run,
    ]


def test_one_that_goes_on_shows_how_far_each_query_and_method_is(here, open_page, started):
    store = here.store
    settings = asked(store.image_set(here.key), grids={"C": [1.0, 10.0, 100.0], "eta": [0.1, 1.0]})
    run = jobs.start_once(store, "experiment", settings.to_json())
    app = open_page("experiments", experiment=run.id)
    assert not app.exception
    assert "6 of 9" in said(app)
    assert "12 of 18" in said(app)
    assert not app.get("plotly_chart")


def test_it_is_starred_named_deleted_and_brought_back(here, open_page):
    app = open_page("experiments", experiment=here.run)
    app.button(key="star runs").click().run()
    assert here.store.run(here.run).star
    app.button(key="delete runs").click().run()
    assert not app.exception
    assert here.store.run(here.run).deleted is not None
    assert "Which method ranks these images best" in said(app)
    app.button(key="undo just deleted").click().run()
    assert here.store.run(here.run).deleted is None


def test_a_run_that_is_no_experiment_is_complained_of(here, open_page):
    training = here.store.create_run("train", {})
    here.store.end_run(training.id, "failed", "it was none")
    app = open_page("experiments", experiment=training.id)
    assert not app.exception
    assert "expected an experiment" in app.warning[0].value
    app = open_page("experiments", queries="[1", experiment_set=here.key)
    assert not app.exception
    assert len(app.warning) == 1


def test_words_of_charts_hold_every_value(here):
    findings = here.findings
    curves = findings.curves(CLASSES[0])
    assert [chosen for _, chosen in curves].count(True) == 2
    words = experiment_charts.lines_in_words(curves, "AP")
    for curve, _ in curves:
        for one in curve.means:
            assert one is not None
            assert f"{one.value:.3f}" in words
    assert experiment_tables.progress_table(findings.results).rows[1].values == ("✓ 12", "✓ 12")
    cost = experiment_form.SECONDS
    assert cost[False] < cost[True]
    assert SCRIPT in experiment_charts.bars_in_words([_difference(findings)], "AP")


def _difference(findings: Findings):
    return next(row for row in differences(findings) if row.query == CLASSES[0])


def test_a_protocol_file_starts_its_experiment(here, open_page, started):
    def upload(told: object):
        app = open_page("experiments", experiment=here.run)
        [place] = [one for one in app.file_uploader if one.label.startswith("A protocol as JSON")]
        return place.set_value(("protocol.json", json.dumps(told).encode(), "application/json")).run()

    settings = here.store.run(here.run).settings
    app = upload({**settings, "seed": 4})
    assert not app.exception
    app.button(key="start from file").click().run()
    [run] = [one for one in started if one.kind == "experiment"]
    assert run.settings == {**settings, "seed": 4}
    for told, reason in (
        ({**settings, "set": f"x{SCRIPT}"}, f"Its image set is not here: x{SCRIPT}"),
        ([1], "This is no protocol: settings of an experiment: "),
        ({**settings, "set": None}, "This is no protocol: set: "),
        ({**settings, "folds": 1}, "folds must be at least 2, got 1"),
        ({**settings, "measure": "P@100"}, "P@100 needs 100 samples in each fold"),
    ):
        app = upload(told)
        assert not app.exception
        assert [error.value.startswith(escaped(reason)) for error in app.error] == [True]
        assert "start from file" not in [button.key for button in app.button]


def test_a_file_that_is_too_large_for_a_protocol_is_not_read(here, open_page, started):
    app = open_page("experiments", experiment=here.run)
    [place] = [one for one in app.file_uploader if one.label.startswith("A protocol as JSON")]
    assert place.proto.max_upload_size_mb == 1, "the browser asks no server either"
    app = place.set_value(("protocol.json", b"[" * (2**20 + 1), "application/json")).run()
    assert not app.exception
    assert [error.value for error in app.error] == ["A protocol has at most 1 MB."]


def test_a_protocol_file_does_not_choose_who_trains(here, open_page, started):
    settings = here.store.run(here.run).settings
    app = open_page("experiments", experiment=here.run)
    [place] = [one for one in app.file_uploader if one.label.startswith("A protocol as JSON")]
    told = json.dumps({**settings, "seed": 4, "scheduler": "tcp://elsewhere:8786"})
    app = place.set_value(("protocol.json", told.encode(), "application/json")).run()
    assert "The file names a scheduler, which is left out" in " ".join(info.value for info in app.info)
    app.button(key="start from file").click().run()
    [run] = [one for one in started if one.kind == "experiment"]
    assert run.settings == {**settings, "seed": 4, "scheduler": None}


@pytest.mark.parametrize(
    ("name", "text"), [("grid.C", "x"), ("grid.C", "1,1"), ("grid.eta", "nan"), ("queries", "[" * 3000)]
)
def test_what_the_address_asks_wrongly_is_told_and_left_out(here, open_page, name, text):
    app = open_page("experiments", experiment=here.run, **{name: text})
    assert not app.exception
    assert escaped(f"The address asks for {name} = ") in " ".join(one.value for one in app.warning)
    assert name not in app.query_params


def test_the_report_in_a_browser_runs_nothing_and_asks_nobody(here, browser, tmp_path):
    findings = here.findings
    file = tmp_path / "report.html"
    file.write_text(
        report_html(findings, differences(findings), Thumbnails(findings.images.folder), f"mine {SCRIPT}"),
        "utf-8",
    )
    page = browser.new_page(viewport={"width": 390, "height": 844})
    trouble: list[str] = []
    page.on("dialog", lambda dialog: trouble.append(dialog.message))
    page.on("console", lambda message: trouble.append(message.text))
    page.on(
        "request", lambda request: request.url.startswith(("data:", "file:")) or trouble.append(request.url)
    )
    page.goto(file.as_uri())
    assert page.evaluate("document.scripts.length") == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("h1").inner_text() == f"mine {SCRIPT}"
    shown_ones = page.locator("details[open] .tile svg")
    assert shown_ones.count() == 2 * 2 * 8
    assert min(box["width"] for box in [one.bounding_box() for one in shown_ones.all()]) > 40
    with page.expect_download() as download:
        page.get_by_text("Save protocol.json").click()
    assert json.loads(Path(download.value.path()).read_text("utf-8"))["set"] == here.key
    assert trouble == []
    page.close()
