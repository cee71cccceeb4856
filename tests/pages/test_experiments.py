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
from shown import button_keys, counts_in, errors, plain

from pages.parts import experiment_form, experiment_tables, keys
from pages.parts.frame import escaped
from ranking.experiments.exports import shown
from ranking.reports import experiment_charts
from ranking.reports.differences import differences
from ranking.reports.findings import Findings
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


PROTOCOL = "protocol file"


def markdown_of(app) -> str:
    return "\n".join(item.value for item in [*app.markdown, *app.caption])


def experiments_in(started):
    return [run for run in started if run.kind == "experiment"]


def upload(app, data: bytes):
    """The page after a protocol file was dropped."""
    [place] = [box for box in app.file_uploader if box.key == PROTOCOL]
    app = place.set_value(("protocol.json", data, "application/json")).run()
    assert not app.exception
    return app


def test_tables_charts_and_galleries_show_what_the_trials_hold(here, open_page):
    app = open_page("experiments", experiment=here.run)
    assert not app.exception
    assert not app.error
    assert not app.warning
    text, findings = markdown_of(app), here.findings
    for query in CLASSES:
        assert escaped(query) in text
        for method in findings.results.contenders:
            folds = findings.results.validation(query, method.name)
            assert escaped(shown(float(np.mean(folds)))) in text
            assert escaped(shown(findings.results.test(query, method.name))) in text
    assert "<script" not in text.replace("\\<script", ""), "names are escaped for markdown"
    bars, lines = (json.loads(chart.proto.spec)["data"] for chart in app.get("plotly_chart"))
    assert [bar["name"].split(",")[0] for bar in bars] == ["folds", "test"]
    assert len(lines) == 1 + 2
    assert {line["line"]["color"] for line in lines} == {"#0072B2", "#009E73"}
    assert "<script" not in json.dumps([bars, lines])
    assert app.query_params["experiment"] == here.run
    assert app.query_params["experiment_set"] == here.key
    assert len(app.get("download_button")) >= 5, "report, trials in two formats, tables, protocol"
    [links] = [item.value for item in app.markdown if "](?" in item.value]
    addresses = [parse_qs(link) for link in re.findall(r"\]\(\?([^)]*)\)", links)]
    assert len(addresses) == 2 * 4
    wanted = {(query, words) for query in CLASSES for words in ("fold 1", "fold 2", "fold 3", "test")}
    assert {(link[keys.GALLERY][0], link[keys.GALLERY_SPLIT][0]) for link in addresses} == wanted
    address = {name: values[0] for name, values in addresses[1].items()}
    app = open_page("experiments", **address)
    assert not app.exception
    assert not app.warning
    for name, ranked in findings.rankings(address[keys.GALLERY], 1).items():
        assert f"**{escaped(name)}** · AP {ranked.average_precision:.3f}" in markdown_of(app)
    app.segmented_control(key="widget gallery_split").set_value("fold 3").run()
    assert not app.exception
    assert app.query_params["gallery_split"] == "fold 3"
    app.selectbox(key="widget places").set_value(16).run()
    assert app.query_params["places"] == "16"


def test_an_experiment_starts_with_what_the_form_shows_and_once(here, open_page, started):
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
    [run] = experiments_in(started)
    settings = ExperimentSettings.from_json(run.settings)
    assert settings.queries == CLASSES[:1]
    assert settings.methods == (("SVM", {}), ("AP-SVM", {}))
    assert (settings.grids, settings.folds, settings.seed) == ({"C": (0.5, 1.0)}, 2, 3)
    assert (settings.features, settings.graph, settings.measure) == ((("Colour", {}),), None, "AP")
    assert app.query_params["experiment"] == run.id
    assert "Cancel" in [button.label for button in app.button]
    app.button(key="start experiment").click().run()
    assert len(experiments_in(started)) == 1


def test_the_scale_of_the_paper_takes_all_queries_and_its_grids(here, open_page, started):
    app = open_page(
        "experiments", experiment_set=here.key, features="Colour", scale="As in the paper", folds="2"
    )
    trials = 2 * 2 * (6 + 6 + 30 + 30)
    assert any(counts[:1] == [trials] for counts in counts_in(app.caption))
    app.button(key="start experiment").click().run()
    [run] = experiments_in(started)
    settings = ExperimentSettings.from_json(run.settings)
    assert settings.grids == PAPER_GRIDS
    assert settings.queries == ()
    assert [name for name, _ in settings.methods] == ["SVM", "AP-SVM", "HOB-SVM", "HOAP-SVM"]


def test_an_experiment_that_stopped_goes_on_under_its_name(here, open_page, started):
    store = here.store
    settings = asked(store.image_set(here.key), grids={"C": [1.0, 10.0, 100.0], "eta": [0.1, 1.0]})
    run = store.create_run("experiment", settings.to_json())
    store.name_run(run.id, "lecture *7*")
    store.end_run(run.id, "failed", "killed <b>", {"done": 40, "total": 58})
    app = open_page("experiments", experiment=run.id)
    assert not app.exception
    text = markdown_of(app) + "".join(item.value for item in [*app.error, *app.warning])
    assert escaped("killed <b>") in text
    assert [36, 58] in counts_in(app.markdown), "trials that exist, of all"
    assert f"## {escaped('lecture *7*')}" in text
    app.button(key="go on").click().run()
    assert not app.exception
    [again] = experiments_in(started)
    assert again.settings == run.settings
    assert store.run(again.id).name == "lecture *7*"
    assert app.query_params["experiment"] == again.id
    assert [option.split(" · ")[-1] for option in app.selectbox(key="widget experiment").options] == [
        again.id,
        here.run,
    ]
    assert "6 of 9" in markdown_of(app), "trials of SVM for a query"
    assert "12 of 18" in markdown_of(app), "and of HOB-SVM"
    assert not app.get("plotly_chart")


def test_an_experiment_is_starred_deleted_and_restored(here, open_page):
    app = open_page("experiments", experiment=here.run)
    app.button(key="star runs").click().run()
    assert here.store.run(here.run).star
    app.button(key="delete runs").click().run()
    assert not app.exception
    assert here.store.run(here.run).deleted is not None
    assert not app.get("plotly_chart")
    app.button(key="undo just deleted").click().run()
    assert here.store.run(here.run).deleted is None


def test_what_is_wrong_in_the_address_is_reported_and_ignored(here, open_page):
    for parse, text in (
        (experiment_form._parse_values, "x"),
        (experiment_form._parse_values, "1,1"),
        (experiment_form._parse_values, "nan"),
        (lambda text: experiment_form._parse_queries(text, CLASSES), "[" * 3000),
        (lambda text: experiment_form._parse_queries(text, CLASSES), "[1"),
        (lambda text: experiment_form._parse_queries(text, CLASSES), '["neither"]'),
    ):
        with pytest.raises(ValueError):  # noqa: PT011
            parse(text)
    training = here.store.create_run("train", {})
    here.store.end_run(training.id, "failed", "it was none")
    wrong = {"experiment": training.id, "grid.C": "1,1", "queries": "[1"}
    app = open_page("experiments", experiment_set=here.key, **wrong)
    assert not app.exception
    assert sorted(name for name in wrong for warning in app.warning if f"{name} = " in plain(warning)) == (
        sorted(wrong)
    )
    assert not {"grid.C", "queries"} & set(app.query_params)
    app = open_page("experiments", experiment_set=here.key, features="Colour", chosen_by="P@100")
    assert not app.exception
    assert ["P@100" in error for error in errors(app)] == [True], "folds have fewer samples"
    assert "start experiment" not in button_keys(app)


def test_words_of_charts_hold_every_value(here):
    findings = here.findings
    curves = findings.curves(CLASSES[0])
    assert [chosen for _, chosen in curves].count(True) == 2
    words = experiment_charts.lines_in_words(curves, "AP")
    for curve, _ in curves:
        for mean in curve.means:
            assert mean is not None
            assert f"{mean.value:.3f}" in words
    assert experiment_tables.progress_table(findings.results).rows[1].values == ("✓ 12", "✓ 12")
    cost = experiment_form.SECONDS
    assert cost[False] < cost[True]
    row = next(row for row in differences(findings) if row.query == CLASSES[0])
    assert SCRIPT in experiment_charts.bars_in_words([row], "AP")


def test_a_protocol_file_starts_its_experiment_but_does_not_choose_where_it_is_trained(
    here, open_page, started
):
    settings = here.store.run(here.run).settings
    app = open_page("experiments", experiment=here.run)
    [place] = [box for box in app.file_uploader if box.key == PROTOCOL]
    assert place.proto.max_upload_size_mb == 1, "the browser asks no server either"
    refused = {
        f"x{SCRIPT}": {**settings, "set": f"x{SCRIPT}"},
        "set, features": [1],
        "None": {**settings, "set": None},
        "folds": {**settings, "folds": 1},
        "P@100": {**settings, "measure": "P@100"},
        " 1 MB": None,
    }
    for named, content in refused.items():
        app = upload(app, b"[" * (2**20 + 1) if content is None else json.dumps(content).encode())
        assert [named in error for error in errors(app)] == [True], named
        assert "<script" not in app.error[0].value.replace("\\<script", "")
        assert "start from file" not in button_keys(app)
    app = upload(app, json.dumps({**settings, "seed": 4, "scheduler": "tcp://elsewhere:8786"}).encode())
    assert not app.error
    assert len(app.info) == 1, "the scheduler of the file is ignored"
    app.button(key="start from file").click().run()
    [run] = experiments_in(started)
    assert run.settings == {**settings, "seed": 4, "scheduler": None}
