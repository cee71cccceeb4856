"""The lesson about the most violated ranking: its handful of images is the one that the algorithms rank."""

from __future__ import annotations

import json
from math import comb

import numpy as np
from handed_out import every_step
from test_start import strips_of

from pages.parts import keys, lessons
from pages.parts.inference_scores import FEW_IRRELEVANT, FEW_RELEVANT, handful
from ranking.inference import most_violated_ranking
from ranking.inference_steps import Problem, trace_of
from ranking.ranked import Ranking

LESSON = lessons.VIOLATED


def few_of(store):
    [run] = store.runs("train")
    images = store.image_set(run.settings["set"])
    rows = np.flatnonzero(images.test)
    ranked = Ranking.of(rows, images.relevance(lessons.VIOLATED.query)[rows], np.load(run.scores_file)[rows])
    return images, handful(images, ranked)


def said(app):
    return "\n".join(element.value for element in (*app.markdown, *app.caption))


def test_the_worst_mistake_is_the_best_of_all_points(taught, open_page):
    app = open_page("violated_lesson")
    assert not app.exception
    images, few = few_of(taught)
    found = most_violated_ranking(few.scores, few.relevant)
    problem = Problem.of(few.scores, few.relevant)
    assert (
        f"**The most violated ranking**: score {found.objective - found.loss:.3f} + loss {found.loss:.3f}"
        in said(app)
    )
    orders = [[item["id"] for item in strip["items"]] for strip in strips_of(app)]
    assert len(orders) == 3
    expected = images.ids[few.rows[problem.order_of(trace_of(problem, "greedy").ranks)]]
    assert orders[2] == [str(one) for one in expected]
    assert orders[1] == [str(one) for one in images.ids[few.rows]], "by score"
    [chart] = app.get("plotly_chart")
    points = json.loads(chart.proto.spec)["data"][0]
    assert f"{comb(8, 3)} ± patterns" in said(app)
    assert "40,320 orders" in said(app)
    assert points["mode"] == "markers"


def test_each_image_has_its_best_rank(taught, open_page):
    app = open_page("violated_lesson", violated_step="2")
    assert not app.exception
    _, few = few_of(taught)
    ranks = trace_of(Problem.of(few.scores, few.relevant), "greedy").ranks
    [strip] = strips_of(app)
    assert [item["right"] for item in strip["items"]] == [f"rank {rank}" for rank in ranks]
    assert f"best ranks, {', '.join(map(str, ranks))}, never fall" in said(app)


def test_halving_goes_as_far_as_the_slider(taught, open_page):
    app = open_page("violated_lesson", violated_step="3", look="2")
    assert not app.exception
    assert app.slider(key="widget look").value == 2
    assert "are settled after 2 looks" in said(app)
    app.slider(key="widget look").set_value(0).run()
    assert "Nothing is known yet" in said(app)


def test_in_the_end_operations_are_compared_and_ways_lead_on(taught, open_page):
    app = open_page("violated_lesson", violated_step="4")
    assert not app.exception
    [run] = taught.runs("train")
    app.button(key="widget own scores").click().run()
    assert not app.exception
    assert app.query_params["run"] == run.id
    assert "How is it found?" in said(app)


def test_the_handful_has_both_kinds_from_the_top(taught):
    _, few = few_of(taught)
    assert np.count_nonzero(few.relevant) == FEW_RELEVANT
    assert len(few.scores) == FEW_RELEVANT + FEW_IRRELEVANT
    assert (np.diff(few.scores) <= 0).all()


def test_the_lesson_is_one_file_to_hand_out(taught, open_page):
    text = every_step(open_page("violated_lesson", violated_step="2", look="2"), keys.VIOLATED_STEP, 4)
    assert "Medians that were looked at: <b>2</b>" in text
    assert text.count('class="chart"') == 4, "a chart a step"
