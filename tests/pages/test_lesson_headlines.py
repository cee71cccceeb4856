"""The numbers in the headline of each lesson are those that its screen shows beside it."""

from __future__ import annotations

import json
from math import comb, factorial

import numpy as np
import pytest
from homes import runs_of_labels_lesson
from shown import charts_of, components, headline_of, numbers_in, press, values

from pages.parts.lessons import labels_lesson_data, subsequence_worth
from ranking.metrics import average_precision

pytestmark = pytest.mark.usefixtures("started")


def test_the_headlines_of_the_lesson_on_ap_agree_with_its_numbers(fresh_home, open_page):
    app = open_page("lesson")
    precisions = [float(metric.value) for metric in app.metric if metric.label == "AP"]
    headline = headline_of(app, "### AP-SVM ranks")
    assert numbers_in(headline)[0] == pytest.approx(precisions[1] - precisions[0], abs=1.1e-3)
    press(app, "next step")
    [strip] = components(app, "ranking_strip")
    relevant = sum(item["mark"] == "relevant" for item in strip["items"])
    assert numbers_in(headline_of(app)) == [relevant, len(strip["items"])]


def test_the_headlines_of_the_lesson_on_neighbours_agree_with_its_numbers(fresh_home, open_page):
    app = open_page("neighbours_lesson")
    precisions = [numbers_in(text.value)[-1] for text in app.markdown if ": AP " in text.value]
    assert numbers_in(headline_of(app, "### With neighbours")) == precisions
    for step, more in (("2", True), ("3", False)):
        app = open_page("neighbours_lesson", neighbours_step=step)
        [chart] = charts_of(app)
        name, *_ = headline_of(app, "### ").split()[1:]
        [line] = [trace for trace in chart["data"] if name in trace["text"]]
        ranks = dict(zip(values(line["x"]).round(6), values(line["y"]), strict=True))
        relevant = [trace["line"]["dash"] == "solid" for trace in chart["data"] if trace is not line]
        assert numbers_in(headline_of(app, "### ")) == [ranks[0.0], ranks[1.0], sum(relevant), len(relevant)]
        assert (ranks[1.0] < ranks[0.0]) == more


def test_the_headlines_of_the_lesson_on_pairs_agree_with_its_numbers(fresh_home, open_page):
    app = open_page("pairs_lesson", pairs_step="3")
    [chart] = charts_of(app)
    taus = {
        line["name"]: (values(line["y"])[0], values(line["error_y"]["array"])[0]) for line in chart["data"]
    }
    shown = [*taus["MidRank, weighted votes"], *taus["RankSVM"]]
    assert numbers_in(headline_of(app, "### Kendall tau")) == pytest.approx(shown, abs=5e-4)
    press(app, "next step")
    table = headline_of(app, "| Digits")
    differ, others = (numbers_in(row)[:2] for row in table.splitlines()[2:])
    assert numbers_in(headline_of(app)) == [*differ, *others]
    stored = json.loads(subsequence_worth.MEASURED.read_text())["sampled"]
    assert differ == [round(stored["one of each group"][name], 3) for name in ("RankSVM", "MidRank")]


def test_the_headlines_of_the_lesson_on_violated_rankings_agree_with_its_numbers(fresh_home, open_page):
    app = open_page("violated_lesson")
    strips = components(app, "ranking_strip")
    count = len(strips[0]["items"])
    assert numbers_in(headline_of(app)) == [count, factorial(count)]
    sums = [numbers_in(text.value) for text in app.markdown if text.value.startswith("**The")]
    for (score, loss, total), strip in zip(sums, strips, strict=True):
        marks = np.array([item["mark"] == "relevant" for item in strip["items"]]).astype(int)
        assert loss == round(1 - average_precision(marks, -np.arange(count, dtype=float)), 3)
        assert total == pytest.approx(score + loss, abs=1.1e-3)
    [caption] = [text.value for text in app.caption if "**Notice**" in text.value]
    patterns = comb(count, int(marks.sum()))
    assert numbers_in(caption) == [
        factorial(count),
        patterns,
        pytest.approx(sums[2][2] - sums[0][2], abs=1.1e-3),
    ]


@pytest.mark.parametrize("scene", ["A", "C", "D"])
def test_the_headlines_of_the_lesson_on_labels_agree_with_its_numbers(scene, scenes_home, open_page):
    app = open_page("labels_lesson", label_scene=scene)
    [chart] = charts_of(app)
    # the last one is below the line
    *ticks, _ = chart["layout"]["yaxis"]["ticktext"]
    right = sum(tick.startswith("✓") for tick in ticks)
    assert numbers_in(headline_of(app)) == [right, len(ticks), round(right / len(ticks), 3)]
    assert numbers_in(app.caption[-1].value)[-2:] == [len(ticks) - right, len(ticks)]


def test_the_headline_on_answers_agrees_with_the_simulation(scenes_home, open_page):
    app = open_page("labels_lesson", labels_step="4")
    curves = labels_lesson_data.curves(*runs_of_labels_lesson(scenes_home))
    table = next(text.value for text in app.markdown if text.value.startswith("|  | Auto"))
    own, baseline, _ = (numbers_in(row) for row in table.splitlines()[2:])
    assert own[1] == round(100 * curves["C-star"][1].mean(), 1)
    shown = numbers_in(headline_of(app, "### With").replace("C-star", ""))
    assert shown == [10, own[0], own[-1], baseline[0], baseline[-1]]
