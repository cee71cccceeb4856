"""The page Ask simulation: what it asks the worker for, and that curves, differences and table are its result's."""

from __future__ import annotations

import csv
import io
import time
from typing import Any

import numpy as np
import pytest
from label_home import LabelHome
from scipy import stats
from shown import charts_of, choose, kinds, lines_of, numbers_in, page_of, press, sound, values

from pages.parts import asking_charts, asking_table, asking_words, jobs_panel, label_looks
from ranking import jobs
from ranking.asking import STRATEGIES as STRATEGIES_KNOWN
from ranking.events import Report, said_of_cancelled
from ranking.fold_curves import FoldCurve, curves_of
from ranking.run import Run, State
from ranking.run_settings import AskingSettings

page = page_of("ask_simulation")
pytestmark = pytest.mark.usefixtures("started")  # nothing is imported or simulated beside

STRATEGIES = ("closest maxima", "core first", "random")
MODELS = ("Independent p@k", "C-star p@k")


def made_curves(questions: int = 10, folds: int = 5) -> list[dict[str, Any]]:
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
    home.store.update_run(run.id, result={"curves": made_curves() if curves is None else curves})
    reason = "" if state == "finished" else said_of_cancelled(home.store.run(run.id))
    home.store.end_run(run.id, state, reason)
    return home.store.run(run.id)


def check_curves(app, curves):
    """The lines are the means with bands of the spread over folds, and the differences have their intervals."""
    *panels, apart = charts_of(app)
    assert len(panels) == len(STRATEGIES)
    for panel, strategy in zip(panels, STRATEGIES, strict=True):
        own = [curve for curve in curves if curve.strategy == strategy]
        bands, lines = panel["data"][: len(own)], panel["data"][len(own) :]
        assert [line["name"] for line in lines] == [curve.name for curve in own]
        for band, line, curve in zip(bands, lines, own, strict=True):
            assert values(line["y"]) == pytest.approx(100 * curve.mean)
            upper = 100 * (curve.mean + curve.folds.std(axis=0, ddof=1))
            assert values(band["y"])[: len(upper)] == pytest.approx(upper)
    lines = [line for panel in panels for line in lines_of(panel)]
    looks = {(line["name"], line["line"]["color"], line["line"]["dash"]) for line in lines}
    star, alone = label_looks.LOOKS[:2]
    assert looks == {("C-star p@k", star.colour, star.dash), ("Independent p@k", alone.colour, alone.dash)}
    assert len({tuple(panel["layout"]["yaxis"]["range"]) for panel in panels}) == 1
    assert [line["name"] for line in apart["data"]] == ["closest maxima", "random"]
    for line, (_, _, found) in zip(apart["data"], asking_table.compared(curves), strict=True):
        assert values(line["y"]) == pytest.approx(100 * found.mean)
        low = values(line["y"]) - values(line["error_y"]["array"])
        assert low == pytest.approx(100 * found.low)


def tables_of(app):
    """The cells of each table by its title."""
    found = {}
    for text in app.markdown:
        title, _, table = text.value.partition("\n\n")
        if table.startswith("| "):
            lines = [line.strip("| ").split(" | ") for line in table.splitlines()]
            found[title.strip("*").replace("\\", "")] = lines
    return found


def check_table(app, curves):
    """It has the form of the paper's Table 1."""
    assert list(tables_of(app)) == [*MODELS, f"{MODELS[-1]} − {MODELS[0]}"]
    cells = {}
    for lines in tables_of(app).values():
        assert [numbers_in(head) for head in lines[0]] == [[], [], [1], [5], [10]]
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
    star, alone = (asking_table.by_name(curves, model, "random") for model in MODELS[::-1])
    between = stats.ttest_rel(star.folds[:, 5], alone.folds[:, 5]).confidence_interval(0.95)
    mean, low, high = 100 * (star.mean - alone.mean)[5], 100 * between.low, 100 * between.high
    assert cells["random"][10] == f"{mean:+.1f} ({low:+.1f} to {high:+.1f})"


def test_a_first_simulation_is_started_with_the_settings_of_the_form(labels_here, open_page, started):
    app = sound(open_page("ask_simulation", label_set=labels_here.key, questions="7", folds="3"))
    assert not charts_of(app)
    press(app, "start simulation")
    [run] = kinds(started, "asking")
    settings = AskingSettings.from_json(run.settings)
    assert settings.set == labels_here.key
    assert (settings.questions, settings.folds, settings.seed, settings.min_images) == (7, 3, 0, 20)
    assert [name for name, _ in settings.methods] == list(MODELS)
    assert settings.strategies == ("closest maxima", "entropy", "core first", "random")
    assert dict(settings.methods)["C-star p@k"]["core_size"] == 5
    assert app.query_params["simulation"] == run.id
    assert app.get("progress")
    press(app, "start simulation")
    assert len(kinds(started, "asking")) == 1, "pressed twice it starts one"


def test_a_simulation_is_shown_by_strategy_and_by_model_and_can_be_deleted(labels_here, open_page):
    run = simulated(labels_here)
    app = sound(open_page("ask_simulation", simulation=run.id))
    assert not app.error
    curves = curves_of(run.result["curves"])
    check_curves(app, curves)
    check_table(app, curves)
    assert any(asking_words.interactions_add(curves) in caption.value for caption in app.caption)
    choose(app.segmented_control, "panels", "model")
    assert app.query_params["panels"] == "model"
    assert len(charts_of(app)) == len(MODELS) + 1
    press(app, "delete runs")
    assert not app.warning
    assert not charts_of(app)
    assert labels_here.store.run(run.id).deleted
    press(app, "undo just deleted")
    assert labels_here.store.run(run.id).deleted is None


def test_the_newest_simulation_fills_the_form_and_others_can_be_chosen(labels_here, open_page, started):
    old = simulated(labels_here, questions=10, folds=4, seed=3)
    new = simulated(labels_here, made_curves(questions=2), questions=2)
    labels_here.store.end_run(
        labels_here.store.create_run("asking", new.settings).id, "cancelled", "cancelled"
    )
    app = open_page("ask_simulation")
    assert app.query_params["simulation"] == new.id, "the newest with an outcome"
    assert app.number_input(key="widget questions").value == 2
    heads = [[numbers_in(head) for head in lines[0]] for lines in tables_of(app).values()]
    assert heads == [[[], [], [1], [2]]] * 3
    choose(app.selectbox, "simulation", old.id)
    assert app.query_params["simulation"] == old.id
    press(app, "start simulation")
    [again] = kinds(started, "asking")
    settings = AskingSettings.from_json(again.settings)
    assert (settings.folds, settings.seed, settings.strategies) == (4, 3, STRATEGIES)


def test_folds_are_shown_while_it_runs_and_after_it_was_cancelled(labels_here, open_page, started):
    settings = AskingSettings(
        labels_here.key, (("HOG", {}),), tuple((name, {}) for name in MODELS), STRATEGIES
    )
    run = jobs.start_once(labels_here.store, "asking", settings.to_json())
    labels_here.store.update_run(run.id, state="running", started=time.time())
    report = Report(run.events_file)
    report.progress("Fold 1 of 5: training C-star p@k", 0.4, 5)
    app = open_page("ask_simulation", simulation=run.id)
    assert not charts_of(app)
    assert page.seconds_left(labels_here.store.run(run.id), jobs.events(run, 0)[0]) is None
    labels_here.store.update_run(run.id, result={"curves": made_curves(folds=2), "seconds": [50.0, 70.0]})
    report.progress("Fold 3 of 5: training C-star p@k", 2.5, 5)
    sound(app.run())
    assert any(jobs_panel.in_minutes(150) in text.value for text in app.caption), "2.5 folds of a minute"
    assert any(numbers_in(info.value) == [2, 5] for info in app.info), "2 of 5 folds"
    assert len(charts_of(app)) == len(STRATEGIES) + 1
    labels_here.store.update_run(run.id, result={"curves": made_curves(folds=1)})
    labels_here.store.end_run(run.id, "cancelled", said_of_cancelled(labels_here.store.run(run.id)))
    sound(app.run())
    assert app.query_params["simulation"] == run.id, "it has an outcome"
    assert app.warning
    assert any(numbers_in(info.value) == [1, 5] for info in app.info)
    assert len(charts_of(app)) == len(STRATEGIES) + 1, "one fold alone can be shown"


def test_ends_without_curves_are_reported(labels_here, open_page):
    empty = simulated(labels_here, [])
    app = sound(open_page("ask_simulation", simulation=empty.id, strategies="", models="C-star p@k"))
    assert app.error
    assert app.button(key="start simulation").disabled, "a way to ask is missing"
    assert app.info
    run = labels_here.store.create_run("asking", empty.settings)
    labels_here.store.end_run(run.id, "failed", "ran out of *memory*")
    app = open_page("ask_simulation", simulation=run.id)
    assert "\\*memory\\*" in app.error[0].value
    assert app.button(key="start simulation")
    with pytest.raises(ValueError, match=labels_here.store.run(labels_here.own).called):
        page.simulation(labels_here.own)


# ---------------------------------------------------------------------------------------------------------
# Parts
# ---------------------------------------------------------------------------------------------------------


def test_the_file_holds_every_fold_exactly():
    curves = curves_of(made_curves())
    rows = list(csv.DictReader(io.StringIO(asking_table.csv_text(curves))))
    assert len(rows) == sum(len(curve.mean) for curve in curves)
    for row in rows:
        one = asking_table.by_name(curves, row["model"], row["strategy"])
        assert [float(row[f"fold {fold + 1}"]) for fold in range(5)] == one.folds[
            :, int(row["questions"])
        ].tolist()
        assert float(row["mean"]) == one.mean[int(row["questions"])]


def test_one_fold_has_no_interval_and_two_baselines_no_difference():
    single = curves_of(made_curves(folds=1))
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


def paired(strategy: str, *apart: float) -> list[FoldCurve]:
    """C-star above the independent model by so much on each fold, after one question; by nothing before it."""
    base = np.full((len(apart), 2), 0.5)
    above = base + np.stack([np.zeros(len(apart)), np.array(apart)], axis=1)
    return [FoldCurve("C-star p@k", strategy, above), FoldCurve("Independent p@k", strategy, base)]


def test_interactions_add_what_the_papers_own_strategy_measures():
    curves = paired("random", 0.03, 0.0) + paired("closest maxima", 0.011, 0.009)
    text = asking_words.interactions_add(curves).replace("\\", "")
    assert [name in text for name in ("C-star p@k", "closest maxima", "Independent p@k")] == [True] * 3
    assert numbers_in(text)[-4:] == [1.0, -0.3, 2.3, 1], "the mean and its interval at Q1"
    assert "random" in asking_words.interactions_add(paired("random", 0.03, 0.0))
    assert asking_words.interactions_add(curves[:1]) == ""


def test_only_an_interval_that_holds_0_is_not_certain():
    def last(*apart: float) -> str:
        return asking_words.interactions_add(paired("closest maxima", *apart)).partition(" and ")[2]

    for apart, uncertain in (
        ((0.020, 0.021, 0.019), False),
        ((-0.020, -0.021, -0.019), False),
        ((0.02, -0.01, 0.0), True),
    ):
        assert (asking_words.UNCERTAIN in last(*apart)) == uncertain, apart
    assert len(numbers_in(last(0.02))) == 2, "one fold alone gives no interval"


def test_two_settings_of_a_method_and_a_method_of_tomorrow_have_looks_of_their_own():
    names = ["Independent p@k", "of tomorrow", "C-star p@k (core_size = 3)", "C-star p@k"]
    looks = label_looks.of_models(names)
    assert [looks[name] for name in ("C-star p@k", "Independent p@k")] == list(label_looks.LOOKS[:2])
    assert len(set(looks.values())) == 4
    assert len(set(label_looks.of_ways(list(STRATEGIES_KNOWN)).values())) == 4
