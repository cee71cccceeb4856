"""The lesson about the most violated ranking: its handful of images is the one that the algorithms rank."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from shown import all_steps, choose, components, numbers_in, page_of, press, texts

from pages.parts.app import cache
from pages.parts.lessons import training_planes
from pages.parts.lessons.lesson_settings import VIOLATED
from pages.parts.rankings.inference_scores import FEW_IRRELEVANT, FEW_RELEVANT, handful
from ranking.explain.inference_steps import InferenceProblem, trace_of
from ranking.inference import most_violated_ranking

# nothing is trained beside
pytestmark = pytest.mark.usefixtures("started")


def test_every_step_is_of_the_handful_and_of_the_ranking_that_the_algorithms_find(fresh_home, open_page):
    images, _ = cache.ready_made()
    [run] = fresh_home.runs.equal("train", VIOLATED.settings_of(images.key, "AP-SVM").to_json())
    few = handful(images, cache.ranking(run, "test"))
    assert (np.count_nonzero(few.relevant), len(few.scores)) == (FEW_RELEVANT, FEW_RELEVANT + FEW_IRRELEVANT)
    assert (np.diff(few.scores) <= 0).all()
    violated, problem = (
        most_violated_ranking(few.scores, few.relevant),
        InferenceProblem.of(few.scores, few.relevant),
    )
    ranks = trace_of(problem, "greedy").ranks

    app = open_page("violated_lesson", evaluated="2")
    orders = [[item["id"] for item in strip["items"]] for strip in components(app, "ranking_strip")]
    assert orders[1] == images.ids[few.rows].tolist(), "by score"
    assert orders[2] == images.ids[few.rows[problem.order_of(ranks)]].tolist()
    assert f"{violated.objective - violated.loss:.3f} + loss {violated.loss:.3f}" in texts(app)
    assert {comb(8, 3), 40_320} <= set(numbers_in(texts(app))), "patterns, and orders"

    press(app, "next step")
    [strip] = components(app, "ranking_strip")
    assert [numbers_in(item["right"]) for item in strip["items"]] == [[rank] for rank in ranks]
    assert ", ".join(map(str, ranks)) in texts(app)
    all_steps(app, page_of("violated_lesson").STEPS)
    assert len(app.get("plotly_chart")) == 5, "a chart for each step"
    choose(app.toggle, "all_steps", False)

    press(app, "next step")
    trained = cache.ranking(run, "train")
    whole = InferenceProblem.of(trained.scores, trained.relevance > 0)
    halves = trace_of(whole, "select")
    for done in (2, 0):
        low, high = halves.bounds_after(done, whole.highest)
        settled = [np.count_nonzero(low == high), len(low), done, len(halves.steps)]
        assert app.slider(key="widget evaluated").value == done
        below = np.count_nonzero(halves.ranks == whole.highest)
        assert numbers_in(app.caption[-1].value)[-5:] == [*settled, below], done
        choose(app.slider, "evaluated", 0)

    press(app, "next step")
    planes = training_planes.of(run)
    for value in (planes.cvxpy, planes.dual[-1]):
        assert f"**{value:.6g}**" in texts(app)
    assert f"{planes.active} of {len(planes.dual)} planes are active" in texts(app)

    press(app, "next step")
    page = page_of("violated_lesson")
    assert page.grown(page.counted()) in texts(app)
    press(app, "widget own scores")
    assert app.query_params["run"] == run.id
    assert app.title[0].value == "Most violated ranking"


def test_the_growth_of_the_counts_is_from_the_middle_to_the_end():
    text = page_of("violated_lesson").grown({"greedy": [1, 2, 10, 100, 1000], "select": [1, 2, 10, 20, 120]})
    assert numbers_in(text) == [10, 100, 1000, 100, 12]
