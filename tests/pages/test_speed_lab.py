"""The page Inference timing: what the worker is to time, and that tables and charts are those of the outcome."""

from __future__ import annotations

import csv
import io
import re

import pytest
from shown import address, button_keys, charts_of, kinds, plain_texts, press, turn_to

from pages.parts.studies import timing_charts, timing_words
from pages.parts.studies.timing_words import PAPER
from ranking.experiments.timing_studies import (
    BINARY,
    SAMPLES,
    TABLE,
    Point,
    Timed,
    TimingOutcome,
    competitors,
    sizes,
)
from ranking.methods import methods_by_loss
from ranking.storage.run_settings import TimingSettings

pytestmark = pytest.mark.usefixtures("started")


def made_up() -> TimingOutcome:
    """Greedy takes |P||N| nanoseconds a call, the others so many times less."""
    points = []
    for loss in methods_by_loss():
        names = competitors(loss)
        for varied, p, n in sizes(1.0):
            timed = [
                Timed(name, 10, p * n * 1e-8 / (number + 1), p * n * 1e-9 / (number + 1), 1e-6)
                for number, name in enumerate(("greedy", BINARY, *names[1:]))
            ]
            points.append(Point(loss.key, varied, p, n, tuple(timed)))
    return TimingOutcome("Some processor, 2 cores", tuple(points))


OUTCOME = made_up()


def rows_of(app):
    """The rows of the table, as lists of cells."""
    lines = [line for line in plain_texts(app).splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def ended(store, state, **end):
    run = store.runs.create("study", TimingSettings().to_json())
    store.runs.end(run.id, state, **end)
    return store.runs.get(run.id)


def test_before_anything_is_measured_there_are_the_paper_s_tables(empty_home, open_page, started):
    app = open_page("speed_lab")
    for loss, paper in PAPER.items():
        turn_to(app, timed=f"tables {loss}")
        for row, (name, printed_row) in zip(rows_of(app), paper.items(), strict=True):
            call = f"{printed_row.call:.3f} ± {printed_row.deviation:.3f}"
            assert row[:3] == [timing_words.DISPLAY_NAMES[name], f"{printed_row.total:.4f}", call]
        [chart] = charts_of(app)
        assert [trace["name"] for trace in chart["data"]] == [timing_words.PAPER_S]
        assert chart["data"][0]["x"] == [printed_row.call for printed_row in paper.values()]
        for sentence in (
            timing_words.headline(loss, None),
            timing_words.TABLES[loss],
            timing_words.PRINTED_IN,
        ):
            assert sentence in plain_texts(app)
    turn_to(app)
    assert app.button(key="start timing").proto.type == "primary"
    press(app, "start timing")
    assert "start timing" not in button_keys(app), "one at a time"
    [run] = kinds(started, "timing")
    assert TimingSettings.from_json(run.settings) == TimingSettings(share=1 / 3, parts="tables", rounds=3)
    assert address(app)["timing"] == run.id
    assert f"widget cancel {run.id}" in button_keys(app)
    assert rows_of(app), "meanwhile there is the paper's to look at"


def test_quick_measurement_has_the_tables_and_no_figures(empty_home, open_page):
    points = (point for point in OUTCOME.points if point.varied == TABLE)
    tables = tuple(point._replace(negatives=1040, positives=76) for point in points)
    ended(empty_home, "finished", result=TimingOutcome("x", tables).to_json())
    app = open_page("speed_lab", timed="figure ap")
    assert len(app.info) == 1
    assert not charts_of(app)
    [chart] = charts_of(turn_to(app, timed="tables ap"))
    paper, here = chart["data"]
    assert [paper["name"], here["name"]] == [timing_words.PAPER_S, timing_words.HERE]
    [point] = [each for each in tables if each.loss == "ap"]
    assert here["x"] == [1e3 * timed.mean for timed in point.timed]
    rows = chart["layout"]["yaxis"]["ticktext"]
    assert [rows[place] for place in paper["y"]] == [timing_words.SHORT[name] for name in PAPER["ap"]]
    assert timing_words.headline("ap", point) in plain_texts(app)
    assert app.button(key="start timing").proto.type == "secondary"


def test_tables_and_figures_stand_beside_the_paper(empty_home, open_page):
    run = ended(empty_home, "finished", result=OUTCOME.to_json())
    app = open_page("speed_lab")
    assert address(app)["timing"] == run.id
    [select] = [row for row in rows_of(app) if row[0] == timing_words.DISPLAY_NAMES["select"]]
    milliseconds = 1000 * 227 * 3120 * 1e-9 / 4
    assert select[3:] == [f"{milliseconds:.3f} ± 0.001", "**4.0×**", "0.0625", "1.482 ± 0.385", "11×"]
    assert OUTCOME.machine in plain_texts(app)
    headline = timing_words.headline("ap", timing_words.table_point(OUTCOME.points, "ap"))
    assert headline in plain_texts(app)
    assert re.findall(r"[\d.]+×", headline) == ["4.0×", "11×"]
    assert f"SELECT takes {milliseconds:.3f} ms" in plain_texts(app)
    names = [row[0] for row in rows_of(turn_to(app, timed="tables ndcg"))]
    assert timing_words.DISPLAY_NAMES["greedy"] in names
    assert timing_words.DISPLAY_NAMES["search"] not in names

    for loss in methods_by_loss():
        charts = charts_of(turn_to(app, timed=f"figure {loss.key}"))
        assert [len(chart["data"]) for chart in charts] == 3 * [1 + len(competitors(loss))]
        assert len({tuple(chart["layout"]["yaxis"]["range"]) for chart in charts}) == 1, "on one scale"
        first = next(trace for trace in charts[0]["data"] if trace["name"] == "greedy")
        expected = [point for point in OUTCOME.points if (point.loss, point.varied) == (loss.key, SAMPLES)]
        assert first["x"] == [point.positives + point.negatives for point in expected]
        assert first["y"] == [point.timed[0].total for point in expected]
        notice = timing_words.notice_figure(expected)
        assert notice in plain_texts(app)
        assert " 44 " in notice, "so many times as long takes a call of greedy"


def test_timing_that_failed_and_runs_that_are_none(empty_home, open_page):
    run = ended(empty_home, "failed", reason="the algorithms disagree")
    app = open_page("speed_lab", timing=run.id)
    assert run.reason in app.error[0].value
    assert not turn_to(app).error, "it is not shown to whoever did not open it"
    training = empty_home.runs.create("train", {})
    turn_to(app, timing=training.id)
    assert training.kind_name in app.warning[0].value


def test_csv_holds_every_time():
    rows = list(csv.DictReader(io.StringIO(timing_charts.csv_text(OUTCOME))))
    assert len(rows) == sum(len(point.timed) for point in OUTCOME.points)
    assert float(rows[0]["seconds a call"]) == OUTCOME.points[0].timed[0].mean
    assert {row["machine"] for row in rows} == {OUTCOME.machine}
    assert [timing_words.times(ratio) for ratio in (11.2, 1.26, 0.05)] == ["11×", "1.3×", "0.05×"]
