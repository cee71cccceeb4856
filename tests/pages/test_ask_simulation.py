"""The page Ask simulation: what it asks the worker for, and that curves, differences and table are its result's."""

from __future__ import annotations

import csv
import io
import json
import time
from typing import Any

import numpy as np
import pytest
from label_home import LabelHome
from scipy import stats
from test_label_interactions import numbers

from pages.parts import asking_charts, asking_table, asking_words, jobs_panel, label_looks
from ranking import jobs
from ranking.asking import STRATEGIES as STRATEGIES_KNOWN
from ranking.events import Report, said_of_cancelled
from ranking.fold_curves import FoldCurve, curves_of
from ranking.run import Run, State
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


def simulated(
    home: LabelHome, curves: list[dict[str, Any]] | None = None, state: State = "finished", **asked: Any
) -> Run:
    """A simulation that has ended."""
    settings = AskingSettings(
        home.key, (("HOG", {}),), tuple((name, {}) for name in MODELS), STRATEGIES, **asked
    )
    run = home.store.create_run("asking", settings.to_json())
    home.store.update_run(run.id, result={"curves": told() if curves is None else curves})
    reason = "" if state == "finished" else said_of_cancelled(home.store.run(run.id))
    home.store.end_run(run.id, state, reason)
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
    star, alone = label_looks.LOOKS[:2]
    assert looks == {("C-star p@k", star.colour, star.dash), ("Independent p@k", alone.colour, alone.dash)}
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


def test_a_simulation_that_was_cancelled_shows_its_finished_folds(labels_here, open_page):
    run = simulated(labels_here, told(folds=3), state="cancelled")
    app = open_page("ask_simulation")
    assert app.query_params["simulation"] == run.id, "it has an outcome"
    assert not app.exception
    assert "cancelled; the finished folds" in app.warning[0].value.replace("\\", "")
    assert any("3 of 5 folds, cancelled" in info.value for info in app.info)
    assert len(app.get("plotly_chart")) == len(STRATEGIES) + 1
    assert any("the mean of 3 folds" in text.value for text in app.caption)


def test_a_simulation_that_goes_on_shows_its_folds_and_how_long_it_takes(labels_here, open_page, started):
    settings = AskingSettings(
        labels_here.key, (("HOG", {}),), tuple((name, {}) for name in MODELS), STRATEGIES
    )
    run = jobs.start_once(labels_here.store, "asking", settings.to_json())
    labels_here.store.update_run(run.id, state="running", started=time.time())
    report = Report(run.events_file)
    report.progress("Fold 1 of 5: training C-star p@k", 0.4, 5)
    app = open_page("ask_simulation", simulation=run.id)
    assert any("known after the first fold" in text.value for text in app.caption)
    assert not app.get("plotly_chart")
    labels_here.store.update_run(run.id, result={"curves": told(folds=2), "seconds": [50.0, 70.0]})
    report.progress("Fold 3 of 5: training C-star p@k", 2.5, 5)
    app.run()
    assert not app.exception
    assert any("Roughly 2.5 minutes to go" in text.value for text in app.caption), "2.5 folds of a minute"
    assert any("2 of 5 folds, so far" in info.value for info in app.info)
    assert len(app.get("plotly_chart")) == len(STRATEGIES) + 1


def test_a_simulation_is_starred_deleted_and_brought_back(labels_here, open_page):
    run = simulated(labels_here)
    app = open_page("ask_simulation", simulation=run.id)
    app.button(key="star runs").click().run()
    assert app.selectbox(key="widget simulation").options[0].startswith("★ ")
    app.button(key="delete runs").click().run()
    assert not app.exception
    assert not app.warning
    assert not app.get("plotly_chart")
    assert labels_here.store.run(run.id).deleted
    app.button(key="undo just deleted").click().run()
    assert not app.exception
    assert labels_here.store.run(run.id).deleted is None


@pytest.mark.parametrize("state", ["finished", "cancelled"])
def test_one_fold_alone_can_be_shown(labels_here, open_page, state):
    run = simulated(labels_here, told(folds=1), state=state)
    app = open_page("ask_simulation", simulation=run.id)
    assert not app.exception
    assert not app.error


def test_ends_without_curves_are_said(labels_here, open_page):
    failed = simulated(labels_here, [])
    app = open_page("ask_simulation", simulation=failed.id)
    assert "curves" in app.error[0].value
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
    apart = asking_table.compared(single)[0][2]
    assert asking_charts.differences([("random", apart)], label_looks.of_ways(["random"])).data
    flat = np.full((3, 2), 0.5)
    two = [
        FoldCurve("Independent p@k", "random", flat, given="C = 1"),
        FoldCurve("Independent p@k", "random", flat, given="C = 9"),
        FoldCurve("C-star p@k", "random", flat),
    ]
    assert asking_table.compared(two) == []
    assert not [title for title in asking_table.as_markdown(two) if "−" in title]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "5 seconds"), (48, "50 seconds"), (80, "1.5 minutes"), (599, "10 minutes"), (9000, "2.5 hours")],
)
def test_a_time_that_is_roughly_known_is_rounded(seconds, said):
    assert jobs_panel.in_minutes(seconds) == said


def paired(strategy: str, *apart: float) -> list[FoldCurve]:
    """C-star above the independent model by so much on each fold, after one question; by nothing before it."""
    base = np.full((len(apart), 2), 0.5)
    above = base + np.stack([np.zeros(len(apart)), np.array(apart)], axis=1)
    return [FoldCurve("C-star p@k", strategy, above), FoldCurve("Independent p@k", strategy, base)]


def test_what_interactions_add_is_told_of_the_papers_own_way_to_ask():
    curves = paired("random", 0.03, 0.0) + paired("closest maxima", 0.011, 0.009)
    said = asking_words.interactions_add(curves).replace("\\", "")
    assert "C-star p@k by closest maxima differs from Independent p@k" in said
    assert "+1.0 (−0.3 to +2.3, not certain) at Q1 points" in said
    assert "by random" in asking_words.interactions_add(paired("random", 0.03, 0.0))
    assert asking_words.interactions_add(curves[:1]) == ""


def test_only_an_interval_that_holds_0_is_not_certain():
    def said(*apart: float) -> str:
        return asking_words.interactions_add(paired("closest maxima", *apart)).partition(" and ")[2]

    assert "not certain" not in said(0.020, 0.021, 0.019)
    assert "not certain" not in said(-0.020, -0.021, -0.019)
    assert "not certain" in said(0.02, -0.01, 0.0)
    assert "(" not in said(0.02), "one fold alone tells of no interval"


def test_two_settings_of_a_method_and_a_method_of_tomorrow_have_looks_of_their_own():
    names = ["Independent p@k", "of tomorrow", "C-star p@k (core_size = 3)", "C-star p@k"]
    looks = label_looks.of_models(names)
    assert [looks[name] for name in ("C-star p@k", "Independent p@k")] == list(label_looks.LOOKS[:2])
    assert len(set(looks.values())) == 4
    assert len(set(label_looks.of_ways(list(STRATEGIES_KNOWN)).values())) == 4
