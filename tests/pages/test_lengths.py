"""The page Lengths: settings for the worker, and chart, words and table of its outcome."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pytest
from order_home import OrderHome
from shown import charts_of, choose, kinds, numbers_in, plain_texts, press, turn_to, values

from pages.parts.charts import ablation_charts
from pages.parts.charts.ablation_words import TAU, WORDS
from pages.parts.studies import ablation_form
from ranking.experiments import ablations
from ranking.experiments.ablations import AGREES, FIGURES, SECONDS, MidRankStudy
from ranking.experiments.study import Context
from ranking.metrics.ablation_curves import AblationResult, Curve, Measured
from ranking.storage.run import Run
from ranking.storage.run_settings import AblationSettings

# nothing is imported or measured beside
pytestmark = pytest.mark.usefixtures("started")


def settings_of(key: str, name: str) -> AblationSettings:
    given = {"subsequences": 20, "longest": 4}
    drawing = {"length": 9 if name == "test length" else 5, "train": 10, "test": 10}
    return AblationSettings(key, (("Colour", {"bins": 3}),), "year", name, given, drawing)


@pytest.fixture(scope="module")
def outcomes(order_home: OrderHome, tmp_path_factory: pytest.TempPathFactory) -> dict[str, AblationResult]:
    """Of a study of each kind, which was really made, of little."""
    images, features = order_home.store.sets.get(order_home.key), tmp_path_factory.mktemp("features")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ablations, "TEST_LENGTHS", (5, 8))
        patched.setattr(ablations, "EXHAUSTIVE_LENGTHS", (4, 8))
        patched.setattr(ablations, "SEARCH_LENGTHS", (4, 8))
        patched.setattr(ablations, "ROUND_SECONDS", 0.001)
        return {
            name: AblationResult.from_json(
                MidRankStudy().run(settings_of(order_home.key, name), Context(images, features))
            )
            for name in FIGURES
        }


@pytest.fixture
def save(orders_here: OrderHome, outcomes: dict[str, AblationResult]):
    """Keep the study of a name, as a run that has ended."""

    def save_it(name: str, state: Any = "finished", result: Any = None, reason: str = "") -> Run:
        run = orders_here.store.runs.create("study", settings_of(orders_here.key, name).to_json())
        if state == "finished":
            result = outcomes[name].to_json() if result is None else result
        orders_here.store.runs.end(run.id, state, reason, result=result)
        return orders_here.store.runs.get(run.id)

    return save_it


def check_chart(chart: dict[str, Any], name: str, measure: str, curves: list[Curve]) -> None:
    """The lines are the curves with their errors, and the stars what the paper prints."""
    lines, stars = chart["data"], WORDS[name].marks.get(measure, ())
    assert len(lines) == len(curves) + bool(stars), name
    times = 100 if measure in ablation_charts.SHARES else 1
    along, errors = ("x", "error_x") if isinstance(curves[0].at[0], str) else ("y", "error_y")
    for line, curve in zip(lines, curves, strict=False):
        assert line["name"] == curve.line
        assert values(line[along]) == pytest.approx(times * np.array(curve.measures[measure].mean)), name
        measured = times * np.array(curve.measures[measure].error)
        assert values(line[errors]["array"]) == pytest.approx(measured), name
    if stars:
        assert values(lines[-1][along]) == pytest.approx([times * value for _, value in stars]), name
    styles = {(line["marker"]["symbol"], line["marker"]["color"]) for line in lines}
    assert len(styles) == len(lines), name


def test_a_chart_and_a_text_of_every_study_are_of_its_outcome(outcomes):
    for name, outcome in outcomes.items():
        assert {"number of trees": AGREES, "time": SECONDS}.get(name, TAU) in outcome.curves[0].measures
        for measure in outcome.curves[0].measures:
            marks = WORDS[name].marks.get(measure, ())
            figure = ablation_charts.figure_of(outcome.curves, measure, "across", marks, "the paper")
            check_chart(figure.to_plotly_json(), name, measure, outcome.curves)


def test_a_study_is_shown_with_the_paper_and_others_are_one_choice_away(save, orders_here, open_page):
    time, run = save("time"), save("fusion")
    app = open_page("lengths", study_run=run.id)
    assert not app.error
    assert not app.warning
    words, curves = WORDS["fusion"], AblationResult.from_json(run.result).curves
    for sentence in (words.question, *words.paper, ablation_charts.notice(curves, TAU)):
        assert sentence in plain_texts(app)
    check_chart(charts_of(app)[0], "fusion", TAU, curves)
    assert (app.query_params["study"], app.query_params["order_set"]) == ("fusion", orders_here.key)
    choose(app.segmented_control, "measure", "pair accuracy")
    assert app.query_params["measure"] == "pair accuracy"
    check_chart(charts_of(app)[0], "fusion", "pair accuracy", curves)
    choose(app.segmented_control, "study", "time")
    assert app.query_params["study_run"] == time.id
    press(app, "delete runs")
    assert not app.warning
    assert not charts_of(app)
    assert orders_here.store.runs.get(time.id).deleted
    press(app, "undo just deleted")
    assert orders_here.store.runs.get(time.id).deleted is None


def test_a_study_is_started_once_with_the_settings_of_the_form(save, orders_here, open_page, started):
    save("fusion")
    drawing = {"length": 6, "train": 30, "test": 12, "seed": 0}
    address = {f"study.drawing.{name}": str(value) for name, value in drawing.items()}
    address |= {"study.MidRank.C": "10", "study.MidRank.constant": "0", "study": "fusion"}
    app = open_page("lengths", order_set=orders_here.key, criterion="brightness", **address)
    assert not charts_of(app), "nothing was measured by brightness"
    assert "widget study.MidRank.fusion" not in {item.key for item in app.selectbox}, "the study varies it"
    app.number_input(key="widget study.drawing.subsequences").set_value(50)
    press(app, "start study")
    [run] = kinds(started, "midrank")
    settings = AblationSettings.from_json(run.settings)
    assert (settings.set, settings.criterion, settings.study) == (orders_here.key, "brightness", "fusion")
    assert settings.method_settings == {"C": 10.0, "constant": 0.0, "subsequences": 50}
    assert settings.drawing == {"first": "highest number", "of": "any samples", **drawing}
    assert app.query_params["study_run"] == run.id
    assert app.get("progress")
    press(app, "start study")
    assert len(kinds(started, "midrank")) == 1


def test_a_study_without_an_outcome_gives_the_reason(save, orders_here, open_page):
    failed = save("fusion", "failed", reason="for *a* reason")
    broken = save("fusion", result={"curves": 3})
    app = open_page("lengths", study_run=failed.id)
    assert "for \\*a\\* reason" in app.error[0].value
    assert not charts_of(app)
    assert turn_to(app, study_run=broken.id).error
    with pytest.raises(ValueError, match=orders_here.store.runs.get(orders_here.own).kind_name):
        ablation_form.PAGE.read(orders_here.own)
    unknown = orders_here.store.runs.create("study", {**broken.settings, "study": "of tomorrow"})
    with pytest.raises(ValueError, match="of tomorrow"):
        ablation_form.PAGE.read(unknown.id)


def test_the_caption_has_the_greatest_value_of_each_curve_or_the_longest_times():
    def notice(measure, at, **means):
        curves = [Curve(line, at, {measure: Measured(mean, [0.0] * len(at))}) for line, mean in means.items()]
        return numbers_in(ablation_charts.notice(curves, measure))

    taus = {"one ranker alone": [0.5, 0.7], "RankSVM": [0.65, 0.65]}
    assert notice(TAU, [3, 4], **taus) == [0.7, 4, 0.65], "a curve that is constant has no best setting"
    assert notice(AGREES, [1, 2], **{"search trees": [0.5, 0.97]}) == [97.0, 2], "in percent, as in the chart"
    times = {"search trees": [0.001, 0.002], "exhaustive search": [0.05, 2.0]}
    assert notice(SECONDS, [8, 9], **times) == [9, 2, 0.002]


def test_the_csv_has_every_value(outcomes):
    measured = outcomes["fusion"].curves
    rows = list(csv.DictReader(io.StringIO(ablation_charts.csv_text(measured))))
    assert len(rows) == sum(len(curve.at) * len(curve.measures) for curve in measured)
    wanted = ("MidRank", "winner takes all", TAU)
    [row] = [row for row in rows if (row["curve"], row["setting"], row["measure"]) == wanted]
    assert float(row["mean"]) == measured[0].measures[TAU].mean[measured[0].at.index("winner takes all")]
