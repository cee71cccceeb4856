"""The page Ask simulation: what it asks the worker for, and that curves, differences and table are its result's."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
import pytest
from label_home import LabelHome
from scipy import stats
from test_label_interactions import numbers

from pages.parts import asking_charts, asking_table
from ranking.fold_curves import FoldCurve, curves_of
from ranking.run import Run
from ranking.run_settings import AskingSettings

pytestmark = pytest.mark.usefixtures("started")  # nothing is imported or simulated beside

STRATEGIES = ("closest maxima", "core first", "random")
MODELS = ("Independent p@k", "C-star p@k")


def told(questions: int = 10, folds: int = 5) -> list[dict[str, Any]]:
    """Made-up curves that rise with each question; the independent model cannot ask the core first."""
    random = np.random.default_rng(1)
    base = 0.6 + 0.02 * random.random((folds, 1)) + 0.01 * np.arange(questions + 1)
    curves = []
    for model, more in zip(MODELS, (0.0, 0.03), strict=True):
        for number, strategy in enumerate(STRATEGIES):
            if (model, strategy) == (MODELS[0], "core first"):
                continue
            gain = (1 + (2 - number) * 0.2) * np.arange(questions + 1) * 0.01
            values = base + more + gain + 0.004 * random.random((folds, questions + 1))
            values[:, 0] = (base + more)[:, 0]
            curves.append(
                {
                    "method": model,
                    "settings": {},
                    "strategy": strategy,
                    "mean": values.mean(axis=0).tolist(),
                    "folds": values.tolist(),
                }
            )
    return curves


def simulated(home: LabelHome, curves: list[dict[str, Any]] | None = None, **asked: Any) -> Run:
    """A simulation that has finished."""
    settings = AskingSettings(
        home.key, (("HOG", {}),), tuple((name, {}) for name in MODELS), STRATEGIES, **asked
    )
    run = home.store.create_run("asking", settings.to_json())
    home.store.end_run(run.id, "finished", result={"curves": told() if curves is None else curves})
    return home.store.run(run.id)


def test_a_first_simulation_is_started_with_what_the_form_says(labels_here, open_page, started):
    app = open_page("ask_simulation", label_set=labels_here.key, questions="7", folds="3")
    assert not app.exception
    assert not app.get("plotly_chart")
    app.button(key="start simulation").click().run()
    assert not app.exception
    [run] = [one for one in started if one.kind == "asking"]
    settings = AskingSettings.from_json(run.settings)
    assert settings.set == labels_here.key
    assert (settings.questions, settings.folds, settings.seed, settings.min_images) == (7, 3, 0, 20)
    assert [name for name, _ in settings.methods] == list(MODELS)
    assert settings.strategies == ("closest maxima", "entropy", "core first", "random")
    assert dict(settings.methods)["C-star p@k"]["core_size"] == 5
    assert app.query_params["simulation"] == run.id
    assert "Cancel" in [button.label for button in app.button]
    app.button(key="start simulation").click().run()
    assert len([one for one in started if one.kind == "asking"]) == 1, "pressed twice it starts one"


def test_the_form_says_what_is_missing(labels_here, open_page):
    app = open_page("ask_simulation", label_set=labels_here.key, strategies="", models="C-star p@k")
    assert app.button(key="start simulation").disabled
    assert any("one way to ask" in info.value for info in app.info)


def test_curves_are_those_of_the_result_with_bands_of_the_spread(labels_here, open_page):
    run = simulated(labels_here)
    app = open_page("ask_simulation", simulation=run.id)
    assert not app.exception
    assert not app.error
    *panels, apart = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    curves = curves_of(run.result["curves"])
    assert len(panels) == len(STRATEGIES)
    for panel, strategy in zip(panels, STRATEGIES, strict=True):
        own = [one for one in curves if one.strategy == strategy]
        bands, lines = panel["data"][: len(own)], panel["data"][len(own) :]
        assert [line["name"] for line in lines] == [one.name for one in own]
        for band, line, one in zip(bands, lines, own, strict=True):
            assert numbers(line["y"]) == pytest.approx(100 * one.mean)
            upper = 100 * (one.mean + one.folds.std(axis=0, ddof=1))
            assert numbers(band["y"])[: len(upper)] == pytest.approx(upper)
    lines = [line for panel in panels for line in panel["data"] if "name" in line]
    looks = {(line["name"], line["line"]["color"], line["line"]["dash"]) for line in lines}
    assert len(looks) == len(MODELS), "a model looks alike in all panels"
    ranges = {tuple(panel["layout"]["yaxis"]["range"]) for panel in panels}
    assert len(ranges) == 1
    assert [line["name"] for line in apart["data"]] == ["closest maxima", "random"]
    one, other = (next(c for c in curves if (c.method, c.strategy) == (m, "random")) for m in MODELS[::-1])
    found = stats.ttest_rel(one.folds[:, 3], other.folds[:, 3])
    line = apart["data"][1]
    assert numbers(line["y"])[3] == pytest.approx(100 * (one.mean - other.mean)[3])
    low = 100 * found.confidence_interval(0.95).low
    assert numbers(line["y"])[3] - numbers(line["error_y"]["array"])[3] == pytest.approx(low)


def test_panels_by_model_are_in_the_address(labels_here, open_page):
    run = simulated(labels_here)
    app = open_page("ask_simulation", simulation=run.id)
    app.segmented_control(key="widget panels").set_value("model").run()
    assert not app.exception
    assert app.query_params["panels"] == "model"
    assert len(app.get("plotly_chart")) == len(MODELS) + 1


def tables_of(app):
    """The cells of each table by its title."""
    found = {}
    for one in app.markdown:
        title, _, table = one.value.partition("\n\n")
        if table.startswith("| Asked by"):
            lines = [line.strip("| ").split(" | ") for line in table.splitlines()]
            found[title.strip("*").replace("\\", "")] = lines
    return found


def test_the_table_has_the_form_of_table_1(labels_here, open_page):
    run = simulated(labels_here)
    app = open_page("ask_simulation", simulation=run.id)
    curves = curves_of(run.result["curves"])
    assert list(tables_of(app)) == [*MODELS, f"{MODELS[-1]} − {MODELS[0]}"]
    cells = {}
    for lines in tables_of(app).values():
        assert lines[0] == ["Asked by", "Auto", "Q1", "Q5", "Q10"]
        assert [name for name, *_ in lines[2:]] == list(STRATEGIES)
        for name, *row in lines[2:]:
            cells.setdefault(name, []).extend(row)
    bold = []
    for strategy, row in cells.items():
        for place, (model, count) in enumerate([(m, q) for m in MODELS for q in (0, 1, 5, 10)]):
            one = asking_table.by_name(curves, model, strategy)
            if one is None:
                assert row[place] == "–"
                continue
            mean, spread = 100 * one.folds[:, count].mean(), 100 * one.folds[:, count].std(ddof=1)
            assert row[place].replace("*", "") == f"{mean:.1f} ± {spread:.1f}"
            bold += [(model, strategy, count)] if "**" in row[place] else []
    at_auto = [("C-star p@k", strategy, 0) for strategy in STRATEGIES]
    assert sorted(bold) == sorted(at_auto + [("C-star p@k", "closest maxima", count) for count in (1, 5, 10)])
    assert cells["core first"][8:] == ["–"] * 4
    one, other = (asking_table.by_name(curves, model, "random") for model in MODELS[::-1])
    between = stats.ttest_rel(one.folds[:, 5], other.folds[:, 5]).confidence_interval(0.95)
    mean, low, high = 100 * (one.mean - other.mean)[5], 100 * between.low, 100 * between.high
    assert cells["random"][10] == f"{mean:+.1f} ({low:+.1f} to {high:+.1f})"


def test_the_form_holds_what_an_opened_simulation_was_asked(labels_here, open_page, started):
    run = simulated(labels_here, questions=10, folds=4, seed=3)
    app = open_page("ask_simulation", simulation=run.id)
    assert app.number_input(key="widget folds").value == 4
    app.button(key="start simulation").click().run()
    [again] = [one for one in started if one.kind == "asking"]
    settings = AskingSettings.from_json(again.settings)
    assert (settings.folds, settings.seed, settings.strategies) == (4, 3, STRATEGIES)


def test_the_newest_simulation_is_shown_and_others_can_be_chosen(labels_here, open_page):
    old, new = simulated(labels_here), simulated(labels_here, told(questions=2), questions=2)
    app = open_page("ask_simulation")
    assert app.query_params["simulation"] == new.id
    assert app.number_input(key="widget questions").value == 2, "the form holds what it was asked"
    assert [lines[0] for lines in tables_of(app).values()] == [["Asked by", "Auto", "Q1", "Q2"]] * 3
    app.selectbox(key="widget simulation").set_value(old.id).run()
    assert app.query_params["simulation"] == old.id
    assert not app.exception


def test_ends_without_curves_are_said(labels_here, open_page):
    failed = simulated(labels_here, [])
    app = open_page("ask_simulation", simulation=failed.id)
    assert "equally many finite numbers" in app.error[0].value.replace("\\", "")
    assert not app.exception
    settings = AskingSettings(labels_here.key, (("HOG", {}),), (("C-star p@k", {}),), ("random",))
    run = labels_here.store.create_run("asking", settings.to_json())
    labels_here.store.end_run(run.id, "failed", "ran out of *memory*")
    app = open_page("ask_simulation", simulation=run.id)
    assert "This simulation failed" in app.error[0].value
    assert "\\*memory\\*" in app.error[0].value
    assert app.button(key="start simulation")
    finished = simulated(labels_here)
    labels_here.store.end_run(
        labels_here.store.create_run("asking", settings.to_json()).id, "cancelled", "cancelled"
    )
    assert open_page("ask_simulation").query_params["simulation"] == finished.id, "the newest with an outcome"
    app = open_page("ask_simulation", simulation=labels_here.own)
    assert "expected a simulation, got" in app.warning[0].value.replace("\\", "")


# ---------------------------------------------------------------------------------------------------------
# Parts
# ---------------------------------------------------------------------------------------------------------


def test_the_file_holds_every_fold_exactly():
    curves = curves_of(told())
    rows = list(csv.DictReader(io.StringIO(asking_table.csv_text(curves))))
    assert len(rows) == sum(len(one.mean) for one in curves)
    for row in rows:
        one = asking_table.by_name(curves, row["model"], row["strategy"])
        assert [float(row[f"fold {fold + 1}"]) for fold in range(5)] == one.folds[
            :, int(row["questions"])
        ].tolist()
        assert float(row["mean"]) == one.mean[int(row["questions"])]


def test_one_fold_has_no_interval_and_two_baselines_no_difference():
    single = curves_of(told(folds=1))
    text = "".join(asking_table.as_markdown(single).values())
    assert "(" not in text
    assert "nan" not in text
    assert asking_charts.differences([("random", asking_table.compared(single)[0][2])], ["random"]).data
    flat = np.full((3, 2), 0.5)
    two = [
        FoldCurve("Independent p@k", "random", flat, given="C = 1"),
        FoldCurve("Independent p@k", "random", flat, given="C = 9"),
        FoldCurve("C-star p@k", "random", flat),
    ]
    assert asking_table.compared(two) == []
    assert not [title for title in asking_table.as_markdown(two) if "−" in title]
