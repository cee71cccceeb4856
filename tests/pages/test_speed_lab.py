"""The page Speed lab: what it asks the worker for, and that tables and charts are those of the outcome."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from pathlib import Path

import pytest

from pages.parts import timing_charts, timing_words
from pages.parts.frame import escaped
from pages.parts.timing_words import PAPER
from ranking.run_settings import TimingSettings
from ranking.timing_studies import BINARY, COMPETITORS, SAMPLES, TABLE, Point, Timed, TimingOutcome, sizes

PAPERS = Path(os.environ.get("RANKING_PAPERS", Path(__file__).parents[3] / "shared" / "papers"))

pytestmark = pytest.mark.usefixtures("started")


def made_up() -> TimingOutcome:
    """Greedy takes |P||N| nanoseconds a call, the others so many times less."""
    points = []
    for loss, names in COMPETITORS.items():
        for varied, p, n in sizes(1.0):
            timed = [
                Timed(name, 10, p * n * 1e-8 / (number + 1), p * n * 1e-9 / (number + 1), 1e-6)
                for number, name in enumerate(("greedy", BINARY, *names[1:]))
            ]
            points.append(Point(loss, varied, p, n, tuple(timed)))
    return TimingOutcome("Some processor, 2 cores", tuple(points))


OUTCOME = made_up()


@pytest.fixture
def timed(empty_home):
    run = empty_home.create_run("timing", TimingSettings().to_json())
    empty_home.end_run(run.id, "finished", result=OUTCOME.to_json())
    return empty_home.run(run.id)


def printed(loss):
    """The figures of a loss as the paper's text has them: seconds a training, then milliseconds a call, by method."""
    text = (PAPERS / "003_ab230bdeef1f6f46.txt").read_text("utf-8")
    plain = re.sub(r"[${}]|\\,", "", text).replace(r"\pm", " ± ")
    plain = re.sub(r" *± *", " ± ", plain)
    return [
        line.split("\t")
        for number in timing_words.TABLES[loss].removeprefix("Tables ").split(" and ")
        for line in [plain[: plain.index(f"Table {number}: Computation")].strip().splitlines()[-1]]
    ]


def said(app):
    return "\n".join(element.value for element in (*app.markdown, *app.caption)).replace("\\", "")


def test_a_timing_is_asked_for_once(empty_home, open_page, started):
    app = open_page("speed_lab")
    assert not app.exception
    assert app.button(key="start timing").proto.type == "primary"
    app.button(key="start timing").click().run()
    assert not app.exception
    assert "start timing" not in [button.key for button in app.button], "one at a time"
    [run] = [one for one in started if one.kind == "timing"]
    assert TimingSettings.from_json(run.settings) == TimingSettings(share=1 / 3, parts="tables", rounds=3)
    assert app.query_params["timing"] == run.id
    assert "Cancel" in [button.label for button in app.button]
    assert "| 16.294 ± 0.180 |" in said(app), "meanwhile there is the paper's to look at"


@pytest.mark.skipif(not PAPERS.is_dir(), reason=f"the text of the papers is not at {PAPERS}")
@pytest.mark.parametrize("loss", ["ap", "ndcg"])
def test_the_paper_s_figures_are_those_that_it_prints(loss):
    seconds, calls = printed(loss)
    told = PAPER[loss].values()
    assert [f"{one.total:.4f}" for one in told] == seconds
    assert [f"{one.call:.3f} ± {one.deviation:.3f}" for one in told] == calls


@pytest.mark.parametrize("loss", ["ap", "ndcg"])
def test_the_paper_s_tables_are_there_before_anything_is_measured(empty_home, open_page, loss):
    app = open_page("speed_lab", timed=f"tables {loss}")
    assert not app.exception
    lines = [line for line in said(app).splitlines() if line.startswith("| ")]
    assert [line.split(" | ")[0].strip("| ") for line in lines[2:]] == [
        timing_words.CALLED[name] for name in PAPER[loss]
    ]
    for line, one in zip(lines[2:], PAPER[loss].values(), strict=True):
        assert f"| {one.total:.4f} | {one.call:.3f} ± {one.deviation:.3f} |" in line
    [chart] = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    assert [trace["name"] for trace in chart["data"]] == ["the paper's machine, 2018"]
    assert chart["data"][0]["x"] == [one.call for one in PAPER[loss].values()]
    assert "And here?" in said(app)
    assert f"{timing_words.TABLES[loss]} as printed in Mohapatra" in said(app)


def test_a_quick_measurement_has_the_tables_and_says_what_it_has_not(empty_home, open_page):
    run = empty_home.create_run("timing", TimingSettings(parts="tables", rounds=3).to_json())
    tables = tuple(
        point._replace(negatives=1040, positives=76) for point in OUTCOME.points if point.varied == TABLE
    )
    empty_home.end_run(run.id, "finished", result=TimingOutcome("x", tables).to_json())
    app = open_page("speed_lab", timed="figure ap")
    assert not app.exception
    assert "choose “figures too”" in app.info[0].value
    app = open_page("speed_lab", timed="tables ap")
    [chart] = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    paper, here = chart["data"]
    assert [paper["name"], here["name"]] == ["the paper's machine, 2018", "this machine"]
    [point] = [one for one in tables if one.loss == "ap"]
    assert here["x"] == [1e3 * one.mean for one in point.timed]
    rows = chart["layout"]["yaxis"]["ticktext"]
    assert "as greedy here, with fewer samples, 11× in the paper" in said(app)
    assert [rows[place] for place in paper["y"]] == [timing_words.SHORT[name] for name in PAPER["ap"]]
    assert app.button(key="start timing").proto.type == "secondary"


def test_the_table_stands_beside_the_paper(timed, open_page):
    app = open_page("speed_lab")
    assert not app.exception
    assert app.query_params["timing"] == timed.id
    rows = [line for line in said(app).splitlines() if line.startswith("| SELECT")]
    assert "0.0625" in rows[0]
    assert "1.482 ± 0.385 | 11×" in rows[0]
    call = 227 * 3120 * 1e-9 / 4
    assert f"{1000 * call:.3f} ± 0.001 | **4.0×**" in rows[0]
    assert "Some processor, 2 cores" in said(app)
    assert "SELECT is 4.0× as fast as greedy here, 11× in the paper" in said(app)
    app = open_page("speed_lab", timed="tables ndcg")
    assert "71.066 ± 1.569" in said(app)
    assert "| SEARCH" not in said(app)


@pytest.mark.parametrize("loss", ["ap", "ndcg"])
def test_the_figures_hold_every_training(timed, open_page, loss):
    app = open_page("speed_lab", timed=f"figure {loss}")
    assert not app.exception
    charts = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    assert len(charts) == 3
    assert all(len(chart["data"]) == 1 + len(COMPETITORS[loss]) for chart in charts)
    assert len({tuple(chart["layout"]["yaxis"]["range"]) for chart in charts}) == 1, "on one scale"
    first = next(trace for trace in charts[0]["data"] if trace["name"] == "greedy")
    expected = [point for point in OUTCOME.points if (point.loss, point.varied) == (loss, SAMPLES)]
    assert first["x"] == [point.positives + point.negatives for point in expected]
    assert first["y"] == [point.timed[0].total for point in expected]
    assert "a call of greedy takes 44 times as long" in said(app)


def test_a_timing_that_failed_says_why(empty_home, open_page):
    run = empty_home.create_run("timing", TimingSettings().to_json())
    empty_home.end_run(run.id, "failed", "the algorithms disagree")
    app = open_page("speed_lab", timing=run.id)
    assert not app.exception
    assert "the algorithms disagree" in app.error[0].value
    app = open_page("speed_lab")
    assert not app.error, "it is not shown to whoever did not ask for it"


def test_other_runs_are_no_timings(laboratory, open_page):
    app = open_page("speed_lab", timing=laboratory.finished)
    assert not app.exception
    assert escaped("expected a timing, got: training") in app.warning[0].value


def test_the_csv_holds_every_time():
    rows = list(csv.DictReader(io.StringIO(timing_charts.csv_text(OUTCOME))))
    assert len(rows) == sum(len(point.timed) for point in OUTCOME.points)
    assert float(rows[0]["seconds a call"]) == OUTCOME.points[0].timed[0].mean
    assert {row["machine"] for row in rows} == {"Some processor, 2 cores"}


def test_ratios_are_told_with_what_matters():
    assert [timing_words.times(ratio) for ratio in (11.2, 1.26, 0.05)] == ["11×", "1.3×", "0.05×"]
