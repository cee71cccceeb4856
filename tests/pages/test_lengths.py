"""The page Lengths: what it asks the worker for, and that its chart, words and table are those of the outcome."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dated_home import DatedHome, fill
from filled_home import copy_home
from test_label_interactions import numbers

from pages.parts import study_charts
from pages.parts.frame import escaped
from pages.parts.study_words import WORDS
from ranking.order_studies import STUDIES, study_orders
from ranking.run import Run
from ranking.run_settings import StudySettings
from ranking.store import Store
from ranking.study_curves import Curve, Outcome

pytestmark = pytest.mark.usefixtures("started")  # nothing is imported or measured beside
FEATURES = (("Colour", {"bins": 3}),)


@pytest.fixture(scope="module")
def dated_once(tmp_path_factory: pytest.TempPathFactory) -> DatedHome:
    """A home with dated patches, and a study of each kind that was really made of them."""
    home, scratch = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("scratch")
    store, key = Store(home), fill(home, scratch).key
    images = store.image_set(key)
    for name in STUDIES:
        length = 5 if name == "number of trees" else 19 if name == "test length" else 8
        drawing = {"length": length, "train": 20, "test": 15}
        settings = StudySettings(key, FEATURES, "year", name, {"subsequences": 40}, drawing)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("ranking.order_studies.TEST_LENGTHS", (5, 10))
            patched.setattr("ranking.order_studies.EXHAUSTIVE_LENGTHS", (4, 8))
            outcome = study_orders(images, settings, store.features)
        run = store.create_run("study", settings.to_json())
        store.end_run(run.id, "finished", result=outcome.to_json())
    return DatedHome(home, key)


@pytest.fixture
def dated_here(dated_once: DatedHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DatedHome:
    """A copy that this test may change, as the home of the app."""
    home = tmp_path / "home"
    copy_home(dated_once.home, home)
    monkeypatch.setenv("RANKING_HOME", str(home))
    return DatedHome(home, dated_once.key)


def study_of(home: DatedHome, name: str) -> Run:
    [run] = [one for one in home.store.runs("study") if one.settings["study"] == name]
    return run


@pytest.mark.parametrize("name", list(STUDIES))
def test_every_study_is_shown_with_its_values_and_with_the_papers(dated_here, open_page, name):
    run = study_of(dated_here, name)
    app = open_page("lengths", study_run=run.id)
    assert not app.exception
    assert not app.error
    assert not app.warning
    assert f"## {WORDS[name].question}" in [item.value for item in app.markdown]
    curves = Outcome.from_json(run.result).curves
    measure = {"number of trees": "share of best orders found", "time": "seconds a sequence"}.get(
        name, "Kendall tau"
    )
    [chart] = app.get("plotly_chart")
    lines = json.loads(chart.proto.spec)["data"]
    stars = WORDS[name].marks.get(measure, ())
    assert len(lines) == len(curves) + bool(stars)
    times, (along, errors) = 100 if "share" in measure else 1, ("y", "error_y")
    if isinstance(curves[0].at[0], str):
        along, errors = "x", "error_x"
    for line, curve in zip(lines, curves, strict=False):
        assert line["name"] == curve.line
        assert numbers(line[along]) == pytest.approx(times * np.array(curve.measures[measure].mean))
        assert numbers(line[errors]["array"]) == pytest.approx(
            times * np.array(curve.measures[measure].error)
        )
    if stars:
        assert numbers(lines[-1][along]) == pytest.approx([times * value for _, value in stars])
    looks = [(line["marker"]["symbol"], line["marker"]["color"]) for line in lines]
    assert len(set(looks)) == len(looks)
    said = "\n".join(item.value for item in app.markdown)
    assert "**Notice**" in said
    for sentence in WORDS[name].paper:
        assert escaped(sentence) in said
    assert app.query_params["study"] == name
    assert app.query_params["order_set"] == dated_here.key


def test_another_measure_is_drawn_and_kept_in_the_address(dated_here, open_page):
    run = study_of(dated_here, "subsequence length")
    app = open_page("lengths", study_run=run.id)
    app.segmented_control(key="widget measure").set_value("pair accuracy").run()
    assert not app.exception
    assert app.query_params["measure"] == "pair accuracy"
    line = json.loads(app.get("plotly_chart")[0].proto.spec)["data"][0]
    told = Outcome.from_json(run.result).curves[0].measures["pair accuracy"].mean
    assert numbers(line["y"]) == pytest.approx(100 * np.array(told))


def test_a_study_is_asked_for_as_the_form_says_and_once(dated_here, open_page, started):
    app = open_page(
        "lengths",
        order_set=dated_here.key,
        criterion="brightness",
        study="fusion",
        **{"study.drawing.length": "6", "study.drawing.train": "30", "study.drawing.subsequences": "50"},
    )
    assert not app.exception
    assert not app.get("plotly_chart"), "nothing was measured by brightness"
    app.button(key="start study").click().run()
    assert not app.exception
    [run] = [one for one in started if one.kind == "study"]
    settings = StudySettings.from_json(run.settings)
    assert (settings.set, settings.criterion, settings.study) == (dated_here.key, "brightness", "fusion")
    assert settings.method_settings == {"subsequences": 50}
    assert settings.drawing == {
        "first": "highest number",
        "of": "any samples",
        "length": 6,
        "train": 30,
        "test": 500,
        "seed": 0,
    }
    assert app.query_params["study_run"] == run.id
    assert "Cancel" in [button.label for button in app.button]
    app.button(key="start study").click().run()
    assert len([one for one in started if one.kind == "study"]) == 1


def test_another_study_of_the_same_images_is_one_choice_away(dated_here, open_page):
    app = open_page("lengths", study_run=study_of(dated_here, "fusion").id)
    app.segmented_control(key="widget study").set_value("time").run()
    assert not app.exception
    assert app.query_params["study_run"] == study_of(dated_here, "time").id
    assert app.query_params["order_set"] == dated_here.key


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_a_study_that_did_not_finish_says_why(dated_here, open_page, state):
    settings = study_of(dated_here, "fusion").settings
    run = dated_here.store.create_run("study", {**settings, "drawing": {"length": 9}})
    dated_here.store.end_run(run.id, state, f"{state} for *a* reason")
    app = open_page("lengths", study_run=run.id)
    assert not app.exception
    told = app.error if state == "failed" else app.warning
    assert "for \\*a\\* reason" in told[0].value
    assert not app.get("plotly_chart")


def test_what_is_no_study_is_told_and_the_page_goes_on(dated_here, open_page):
    other = dated_here.store.create_run("order", {"set": dated_here.key})
    dated_here.store.end_run(other.id, "cancelled")
    app = open_page("lengths", study_run=other.id)
    assert not app.exception
    assert escaped("expected a study, got: training of orders") in app.warning[0].value
    broken = dated_here.store.create_run(
        "study", {**study_of(dated_here, "fusion").settings, "criterion": "year"}
    )
    dated_here.store.end_run(broken.id, "finished", result={"curves": 3})
    app = open_page("lengths", study_run=broken.id)
    assert "no outcome that can be read" in app.error[0].value


def curves(lines: dict[str, dict[str, Any]], at: list[Any]) -> dict[str, Curve]:
    def values(given: dict[str, list[float]]) -> dict[str, Any]:
        return {name: {"mean": means, "error": [0.0] * len(means)} for name, means in given.items()}

    told = [{"line": line, "at": at, "measures": values(given)} for line, given in lines.items()]
    return {one.line: one for one in Outcome.from_json({"curves": told, "proven": True}).curves}


def test_what_is_to_be_noticed_follows_from_the_values():
    tau, share, seconds = "Kendall tau", "share of best orders found", "seconds a sequence"
    lengths = {"one ranker alone": [0.5, 0.7], "MidRank, weighted votes": [0.6, 0.6], "RankSVM": [0.65, 0.65]}
    said = WORDS["subsequence length"].notice(curves({k: {tau: v} for k, v in lengths.items()}, [3, 4]))
    assert "that of length 4, with a Kendall tau of 0.700" in said
    assert "has 0.650: their vote is below it" in said
    trees = {
        "search trees": {tau: [0.4] * 5, share: [0.5, 0.6, 0.7, 0.8, 1.0]},
        "exhaustive search": {tau: [0.3] * 5, share: [1.0] * 5},
    }
    said = WORDS["number of trees"].notice(curves(trees, [1, 2, 3, 4, 5]))
    assert "50.0%, 70.0%, 100.0%" in said
    assert "One tree (0.400) puts the images in an order better than" in said
    times = {"search trees": {seconds: [0.001, 0.002]}, "exhaustive search": {seconds: [0.05, 2.0]}}
    said = WORDS["time"].notice(curves(times, [8, 9]))
    assert (
        "At 9 images the search is 1,000 times faster than all orders, 50 times at 8; 9 images take it 2 ms"
        in said
    )


def test_the_csv_has_every_value(dated_here):
    told = Outcome.from_json(study_of(dated_here, "fusion").result).curves
    rows = list(csv.DictReader(io.StringIO(study_charts.csv_text(told))))
    assert len(rows) == sum(len(one.at) * len(one.measures) for one in told)
    [row] = [
        r
        for r in rows
        if (r["curve"], r["setting"], r["measure"]) == ("MidRank", "winner takes all", "Kendall tau")
    ]
    assert float(row["mean"]) == told[0].measures["Kendall tau"].mean[told[0].at.index("winner takes all")]


def test_a_study_is_starred_deleted_and_brought_back(dated_here, open_page):
    run = study_of(dated_here, "fusion")
    app = open_page("lengths", study_run=run.id)
    app.button(key="star runs").click().run()
    assert app.selectbox(key="widget study_run").options[0].startswith("★ ")
    app.button(key="delete runs").click().run()
    assert not app.exception
    assert not app.warning
    assert not app.get("plotly_chart")
    assert dated_here.store.run(run.id).deleted
    app.button(key="undo just deleted").click().run()
    assert not app.exception
    assert dated_here.store.run(run.id).deleted is None


def test_a_study_takes_settings_of_midrank_but_not_what_it_varies(dated_here, open_page, started):
    asked = {"study.MidRank.C": "10", "study.MidRank.constant": "0", "study.drawing.train": "31"}
    app = open_page("lengths", order_set=dated_here.key, study="fusion", **asked)
    assert not app.exception
    assert "widget study.MidRank.fusion" not in {item.key for item in app.selectbox}
    app.button(key="start study").click().run()
    [run] = [one for one in started if one.kind == "study"]
    told = StudySettings.from_json(run.settings).method_settings
    assert told == {"C": 10.0, "constant": 0.0, "subsequences": 40}, "the rest as in the study that is shown"
