"""The page Labelling simulation: what the worker is to do, and that curves, differences and table are its result's."""

from __future__ import annotations

import csv
import io
import time
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from label_home import LabelHome
from shown import charts_of, choose, counts_in, kinds, numbers_in, page_of, plain, press, text_of, values

from pages.parts.labelling import label_styles
from pages.parts.studies import simulation_table
from pages.parts.training import jobs_panel
from ranking.explain.question_strategies import STRATEGIES as STRATEGIES_KNOWN
from ranking.metrics.fold_curves import FoldCurve
from ranking.reports.line_styles import STYLES
from ranking.storage import jobs
from ranking.storage.events import Report, cancel_reason
from ranking.storage.run import Run
from ranking.storage.run_settings import SimulationSettings

page = page_of("labelling_simulation")
# nothing is imported or simulated beside
pytestmark = pytest.mark.usefixtures("started")

STRATEGIES = ("closest maxima", "core first", "random")
MODELS = ("Independent p@k", "C-star p@k")


def made_curves(questions: int = 10, folds: int = 5) -> list[FoldCurve]:
    """Made-up curves; the independent model cannot ask the core first."""
    random = np.random.default_rng(1)
    ways = [way for way in product(MODELS, STRATEGIES) if way != (MODELS[0], "core first")]
    return [FoldCurve(*way, random.random((folds, questions + 1))) for way in ways]


def paired(strategy: str, *apart: float) -> list[FoldCurve]:
    """C-star above the independent model by so much on each fold, after one question; by nothing before it."""
    base = np.full((len(apart), 2), 0.5)
    above = base + np.stack([np.zeros(len(apart)), np.array(apart)], axis=1)
    return [FoldCurve("C-star p@k", strategy, above), FoldCurve("Independent p@k", strategy, base)]


def measured(curves: list[FoldCurve]) -> dict[str, Any]:
    """The result of a run that has measured these."""
    return {"curves": [curve.to_json() for curve in curves]}


def begun(home: LabelHome, **changes: Any) -> Run:
    """A simulation of which a worker has not heard yet."""
    models = tuple((name, {}) for name in MODELS)
    settings = SimulationSettings(home.key, (("HOG", {}),), models, STRATEGIES, **changes)
    return jobs.start_once(home.store, "study", settings.to_json())


def simulated(home: LabelHome, curves: list[FoldCurve], **changes: Any) -> Run:
    """A simulation that has finished."""
    run = begun(home, **changes)
    home.store.runs.end(run.id, "finished", result=measured(curves))
    return home.store.runs.get(run.id)


def tables_of(app):
    """The text of each table by its title."""
    texts = [plain(text).partition("\n\n") for text in app.markdown]
    return {title.strip("*"): table for title, _, table in texts if table.startswith("| ")}


def cells_of(table):
    """The numbers in the head of a table, and each further row by its name."""
    head, _, *rows = [line.strip("| ").split(" | ") for line in table.splitlines()]
    return [numbers_in(cell) for cell in head[1:]], {name: cells for name, *cells in rows}


def test_a_first_simulation_is_started_with_the_settings_of_the_form(labels_here, open_page, started):
    app = open_page("labelling_simulation", label_set=labels_here.key, questions="7", folds="3")
    assert not charts_of(app)
    press(app, "start simulation")
    [run] = kinds(started, "asking")
    settings = SimulationSettings.from_json(run.settings)
    assert settings.set == labels_here.key
    assert (settings.questions, settings.folds, settings.seed, settings.min_images) == (7, 3, 0, 20)
    assert [name for name, _ in settings.methods] == list(MODELS)
    assert settings.strategies == ("closest maxima", "entropy", "core first", "random")
    assert dict(settings.methods)["C-star p@k"]["core_size"] == 5
    assert app.query_params["simulation"] == run.id
    assert app.get("progress")
    press(app, "start simulation")
    assert len(kinds(started, "asking")) == 1, "pressed twice it starts one"


def test_a_simulation_is_shown_by_strategy_and_by_model(labels_here, open_page):
    curves = made_curves()
    app = open_page("labelling_simulation", simulation=simulated(labels_here, curves).id)
    styles = dict(zip(MODELS[::-1], STYLES, strict=False))
    *panels, apart = charts_of(app)
    for panel, strategy in zip(panels, STRATEGIES, strict=True):
        own = [curve for curve in curves if curve.strategy == strategy]
        bands, lines = panel["data"][: len(own)], panel["data"][len(own) :]
        for band, line, curve in zip(bands, lines, own, strict=True):
            style = styles[curve.name]
            assert (line["name"], line["line"]["color"], line["line"]["dash"]) == (curve.name, *style[:2])
            assert values(line["y"]) == pytest.approx(100 * curve.mean)
            upper = 100 * (curve.mean + curve.spread)
            assert values(band["y"])[: len(upper)] == pytest.approx(upper)
    assert len({tuple(panel["layout"]["yaxis"]["range"]) for panel in panels}) == 1
    for line, (_, strategy, comparison) in zip(apart["data"], simulation_table.compared(curves), strict=True):
        assert line["name"] == strategy
        assert values(line["y"]) == pytest.approx(100 * comparison.mean)
        low = values(line["y"]) - values(line["error_y"]["array"])
        assert low == pytest.approx(100 * comparison.low)
    assert tables_of(app) == {
        name: plain(text) for name, text in simulation_table.as_markdown(curves).items()
    }
    best = max(curves, key=lambda curve: curve.mean[-1])
    [title] = [text for text in app.markdown if text.value.startswith("## ")]
    assert numbers_in(title.value) == [*(round(100 * mean, 1) for mean in best.mean[[0, -1]]), 10]
    choose(app.segmented_control, "panels", "model")
    assert len(charts_of(app)) == len(MODELS) + 1


def test_the_newest_simulation_fills_the_form_and_others_can_be_chosen(labels_here, open_page, started):
    old = simulated(labels_here, made_curves(), questions=10, folds=4, seed=3)
    new = simulated(labels_here, made_curves(questions=2), questions=2)
    labels_here.store.runs.end(begun(labels_here).id, "cancelled", "cancelled")
    app = open_page("labelling_simulation")
    assert app.query_params["simulation"] == new.id, "the newest with an outcome"
    assert app.number_input(key="widget questions").value == 2
    assert [cells_of(table)[0] for table in tables_of(app).values()] == [[[], [1], [2]]] * 3
    choose(app.selectbox, "simulation", old.id)
    press(app, "start simulation")
    settings = SimulationSettings.from_json(started[-1].settings)
    assert (settings.folds, settings.seed, settings.strategies) == (4, 3, STRATEGIES)


def test_folds_are_shown_while_it_runs_and_after_it_was_cancelled(labels_here, open_page, started):
    store, run = labels_here.store, begun(labels_here)
    store.runs.update(run.id, state="running", started=time.time())
    report = Report(run.events_file)
    report.progress("Fold 1 of 5: training C-star p@k", 0.4, 5)
    app = open_page("labelling_simulation", simulation=run.id)
    assert not charts_of(app)
    assert page.seconds_left(store.runs.get(run.id), jobs.events(run, 0)[0]) is None
    store.runs.update(run.id, result={**measured(made_curves(folds=2)), "seconds": [50.0, 70.0]})
    report.progress("Fold 3 of 5: training C-star p@k", 2.5, 5)
    app.run()
    assert jobs_panel.in_minutes(150) in text_of(app), "2.5 folds of a minute"
    assert [2, 5] in counts_in(app.info), "2 of 5 folds"
    assert len(charts_of(app)) == len(STRATEGIES) + 1
    store.runs.update(run.id, result=measured(made_curves(folds=1)))
    store.runs.end(run.id, "cancelled", cancel_reason(store.runs.get(run.id)))
    app.run()
    assert app.warning
    assert [1, 5] in counts_in(app.info)
    assert len(charts_of(app)) == len(STRATEGIES) + 1, "one fold alone can be shown"
    assert "nan" not in "".join(tables_of(app).values()), "without intervals"


def test_what_cannot_be_shown_or_started_is_reported(labels_here, open_page):
    empty = simulated(labels_here, [])
    app = open_page("labelling_simulation", simulation=empty.id, strategies="", models="C-star p@k")
    assert app.error
    assert app.button(key="start simulation").disabled, "a way to ask is missing"
    stopped = begun(labels_here)
    labels_here.store.runs.end(stopped.id, "cancelled", "cancelled before the first fold")
    app = open_page("labelling_simulation", simulation=stopped.id)
    assert app.warning
    assert not app.error, "nothing else is wrong with it"


# ------------------------------------------------------------------------------------------------------------ parts


def test_tables_have_the_form_of_the_papers_table_1():
    curves, counts = made_curves(), (0, 1, 5, 10)
    best = {count: max(curve.mean[count] for curve in curves) for count in counts}
    tables = {title: cells_of(table) for title, table in simulation_table.as_markdown(curves).items()}
    assert list(tables) == [*MODELS, f"{MODELS[-1]} − {MODELS[0]}"]
    for head, rows in tables.values():
        assert head == [[], [1], [5], [10]]
        assert list(rows) == list(STRATEGIES)
    for curve in curves:
        cells = tables[curve.name][1][curve.strategy]
        for cell, count in zip(cells, counts, strict=True):
            mean, spread = 100 * curve.mean[count], 100 * curve.folds[:, count].std(ddof=1)
            assert cell.replace("*", "") == f"{mean:.1f} ± {spread:.1f}"
            assert ("**" in cell) == (curve.mean[count] == best[count])
    (_, alone), (_, apart) = tables[MODELS[0]], list(tables.values())[-1]
    assert alone["core first"] == apart["core first"] == ["–"] * 4
    comparison = simulation_table.compared(curves)[-1][2]
    mean, low, high = (100 * end[5] for end in comparison)
    assert apart["random"][2] == f"{mean:+.1f} ({low:+.1f} to {high:+.1f})".replace("-", "−")


def test_the_file_holds_every_fold_exactly():
    curves = made_curves()
    rows = list(csv.DictReader(io.StringIO(simulation_table.csv_text(curves))))
    assert len(rows) == sum(len(curve.mean) for curve in curves)
    for row in rows:
        one, count = simulation_table.by_name(curves, row["model"], row["strategy"]), int(row["questions"])
        assert [float(row[f"fold {fold + 1}"]) for fold in range(5)] == one.folds[:, count].tolist()
        assert float(row["mean"]) == one.mean[count]


def test_nothing_is_compared_with_a_baseline_of_two_settings():
    star, alone = paired("random", 0.1)
    two = [replace(alone, variant=variant) for variant in ("C = 1", "C = 9")]
    assert len(simulation_table.compared([star, alone])) == 1
    assert simulation_table.compared([star, *two]) == []


def test_two_settings_of_a_method_and_a_new_method_have_line_styles_of_their_own():
    methods = {name: name for name in ("Independent p@k", "of tomorrow", "C-star p@k")}
    styles = label_styles.of_models({**methods, "C-star p@k (core_size = 3)": "C-star p@k"})
    assert [styles[name] for name in ("C-star p@k", "Independent p@k")] == list(STYLES[:2])
    assert len(set(styles.values())) == 4
    assert len(set(label_styles.of_ways(list(STRATEGIES_KNOWN)).values())) == 4
