"""The page Most violated ranking: what it shows is what the algorithms do with the chosen scores."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
from dataclasses import replace
from urllib.parse import parse_qsl

import numpy as np
import pytest
from shown import address, button_keys, components, numbers_in, texts, turn_to

from pages import most_violated
from pages.parts import frame, inference_scores, inference_words
from pages.parts.colours import IRRELEVANT, RELEVANT
from ranking.inference import most_violated_ranking
from ranking.inference_steps import TRACED, Problem, bins_of, trace_of
from ranking.ranked import Ranking

pytestmark = pytest.mark.usefixtures("started")

TYPED = {"scores": "typed", "scores.relevant": "1.4 0.6 0.1", "scores.irrelevant": "1.1, 0.8; 0.3 -0.2 -0.7"}
PROBLEM = Problem.of([1.4, 0.6, 0.1, 1.1, 0.8, 0.3, -0.2, -0.7], [True] * 3 + [False] * 5)
WAY_HERE = "widget go to most_violated"


def alts_of(app):
    return [chart.proto.alt for chart in app.get("plotly_chart")]


def headline_of(app):
    return next(element.value for element in app.markdown if element.value.startswith("## "))


def pattern_of(figure, base):
    """The kinds of the samples of one ranking of the picture, from the top."""
    places = {}
    for trace in figure["data"]:
        if trace["type"] == "bar" and np.ravel(trace["base"])[0] == base:
            kind = {RELEVANT: "+", IRRELEVANT: "-"}[trace["marker"]["color"]]
            places |= dict.fromkeys(decoded(trace["x"]), kind)
    return "".join(places[place] for place in sorted(places))


def decoded(values):
    """The numbers of a trace, which Plotly may send packed."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), np.dtype(values["dtype"])).tolist()
    return list(values)


def test_typed_scores_give_their_three_rankings(empty_home, open_page):
    app = open_page("most_violated", **TYPED)
    assert not app.exception
    assert not app.error
    ranks = trace_of(PROBLEM, "greedy").ranks
    patterns = json.loads(app.get("plotly_chart")[0].proto.spec)
    for base, three in zip((4, 2, 0), inference_words.three(PROBLEM, ranks).values(), strict=True):
        signs = np.where(PROBLEM.is_relevant[PROBLEM.order_of(three)], "+", "-")
        assert pattern_of(patterns, base) == "".join(signs)
    fast = most_violated_ranking(PROBLEM.scores, PROBLEM.is_relevant)
    violation = fast.objective - PROBLEM.value_of(np.full(5, 4)).score
    assert re.findall(r"\d\.\d+", headline_of(app)) == [f"{fast.loss:.3f}", f"{violation:.3f}"]
    assert f"| **{fast.objective:.3f}** |" in texts(app)
    assert texts(app).count(f"{fast.objective:.6f}") == 4, "all four algorithms agree"

    turn_to(app, **{**TYPED, "scores.times": "0"})
    worst = most_violated_ranking(np.zeros(8), PROBLEM.is_relevant)
    assert re.findall(r"\d\.\d+", headline_of(app)) == 2 * [f"{worst.loss:.3f}"], "violated by the loss alone"
    turn_to(app, loss="ndcg", **TYPED)
    rows = [line.split(" | ")[0].strip("| ") for line in texts(app).splitlines() if line.startswith("| ")]
    usable = [name for name in inference_words.NAMES if name != "search"]
    assert set(rows) & set(inference_words.NAMES.values()) == {inference_words.NAMES[name] for name in usable}
    assert inference_scores.LOSSES["ndcg"] in headline_of(app)
    for text, wrong in (("", None), ("1 two", "two"), ("1e9", "1e9"), ("nan", "nan")):
        refused = inference_scores.numbers_of(text)
        assert isinstance(refused, str)
        assert wrong is None or refused.endswith(wrong)
        turn_to(app, **{**TYPED, "scores.relevant": text})
        assert [element.value for element in app.info] == [refused]
        assert not app.get("plotly_chart")


def test_steps_settle_ranks_and_go_on(empty_home, open_page):
    app = open_page("most_violated", **TYPED)
    assert inference_words.BEFORE["select"] in texts(app)
    trace = trace_of(PROBLEM, "select")
    for done in range(1, len(trace.steps) + 1):
        app.button(key="widget look Next step").click().run()
        assert not app.exception
        assert address(app)["look"] == str(done)
        assert inference_words.of_step(PROBLEM, trace.steps[done - 1]) in texts(app)
        notice = inference_words.notice_step(PROBLEM, trace, done)
        assert notice in texts(app)
        low, high = trace.bounds_after(done, PROBLEM.highest)
        assert f"{np.count_nonzero(low == high)} of 5 " in notice
    assert app.button(key="widget look Next step").disabled
    app.button(key="widget look Start").click().run()
    assert address(app)["look"] == "0"
    app.button(key="widget look End").click().run()
    app.button(key="widget look Back").click().run()
    assert address(app)["look"] == str(len(trace.steps) - 1)
    app.text_input(key="widget scores.relevant").set_value("2 1").run()
    assert "look" not in address(app), "other scores begin anew"


def test_every_algorithm_has_its_steps(empty_home, open_page):
    app = open_page("most_violated", **TYPED)
    for algorithm in TRACED:
        turn_to(app, algorithm=algorithm, look="2", **TYPED)
        trace = trace_of(PROBLEM, algorithm)
        assert inference_words.of_step(PROBLEM, trace.steps[1]) in texts(app), algorithm
        alts = alts_of(app)
        assert (inference_words.tree_alt(trace, 2) in alts) == (algorithm == "select")
        if algorithm == "buckets":
            assert inference_words.notice_bins(PROBLEM, bins_of(PROBLEM), trace) in alts
        assert len(alts) == len(alts_of(turn_to(app, algorithm="greedy", look="2", **TYPED))) + (
            algorithm in ("select", "buckets")
        )
        name = inference_words.NAMES[algorithm]
        row = next(line for line in texts(app).splitlines() if line.startswith(f"| {name} |"))
        assert f"| {trace.comparisons:,} |" in row
        assert f"| {trace.derivatives:,} |" in row


def test_without_runs_scores_are_sampled(empty_home, open_page):
    app = open_page("most_violated")
    assert not app.exception
    assert any(re.search(r"\bof 24\b", caption.value) for caption in app.caption)
    assert button_keys(turn_to(app, scores=inference_scores.MODEL)) == ["widget go to train"]


def test_run_shows_its_samples(laboratory, open_page):
    app = open_page("most_violated", run=laboratory.neighbours, look="1")
    assert not app.exception
    assert not app.error
    run = laboratory.store.run(laboratory.neighbours)
    images = laboratory.store.image_set(run.settings["set"])
    rows = np.flatnonzero(~images.test)
    scores, relevant = np.load(run.scores_file)[rows], images.relevance("playing instrument")[rows] > 0
    assert f"{most_violated_ranking(scores, relevant).loss:.3f}" in headline_of(app)
    [strip] = components(app, "ranking_strip")
    median = np.sort(scores[~relevant])[::-1][np.count_nonzero(~relevant) // 2]
    shown = list(images.ids).index(strip["items"][0]["id"])
    assert np.load(run.scores_file)[shown] == pytest.approx(median)


def test_run_that_is_trained_shows_the_scores_that_it_has(laboratory, open_page):
    store = laboratory.store
    finished = store.run(laboratory.finished)
    rows = np.flatnonzero(~store.image_set(laboratory.digits).test)
    run = store.create_run("train", finished.settings)
    store.update_run(run.id, state="running")
    app = open_page("most_violated", run=run.id)
    assert run.id in app.warning[0].value
    np.save(run.scores_so_far_file, np.linspace(0, 1, len(rows)))
    app = open_page("most_violated", run=run.id)
    assert not app.exception
    assert not app.warning
    assert f"{len(rows):,}" in texts(app)
    assert f"widget cancel {run.id}" in button_keys(app)
    np.save(run.scores_so_far_file, np.zeros(3))
    assert turn_to(app, run=run.id).error


def test_long_rankings_are_thinned_evenly_with_both_kinds(filled):
    run, images = filled.store.run(filled.finished), filled.store.image_set(filled.digits)
    ranked = Ranking.of(np.arange(len(images)), images.relevance("3"), np.load(run.scores_file))
    kept = inference_scores.thinned(images, ranked)
    assert np.count_nonzero(kept.relevant) == 60
    assert len(kept.scores) == 600
    assert (np.diff(kept.rows) > 0).all(), "in the order of the set"
    np.testing.assert_array_equal(kept.scores, np.load(run.scores_file)[kept.rows])
    assert {ranked.samples[0], ranked.samples[-1]} <= set(kept.rows.tolist())
    assert numbers_in(kept.note) == [1797, 600]


def test_table_holds_every_step():
    traces = {name: trace_of(PROBLEM, name) for name in ("select", "buckets")}
    rows = list(csv.DictReader(io.StringIO(most_violated.csv_text(PROBLEM, traces))))
    assert len(rows) == sum(len(trace.steps) for trace in traces.values())
    first, step = rows[0], traces["select"].steps[0]
    assert (first["algorithm"], first["step"], first["follows from"]) == ("select", "1", "")
    assert float(first["score"]) == step.score
    assert int(first["rank"]) == step.rank
    assert (int(first["run from"]), int(first["run to"])) == (1, 5)


def test_runs_by_a_ranking_loss_lead_on_to_it(laboratory, open_page):
    run = laboratory.store.run(laboratory.finished)
    for method, loss in (("AP-SVM", "ap"), ("NDCG-SVM", "ndcg"), ("SVM", None)):
        by_method = replace(run, settings={**run.settings, "method": method})
        goal = {"run": run.id, "scores": inference_scores.MODEL, "split": "train", "loss": loss}
        assert inference_scores.address_of(by_method) == (goal if loss else None)
    goal["loss"] = "ap"
    app = open_page("train", run=run.id)
    assert app.button(key=WAY_HERE).proto.type == "secondary", "the ranking is the obvious next step"
    app.button(key=WAY_HERE).click().run()
    assert not app.exception
    assert not app.warning
    assert app.title[0].value == frame.PAGES["most_violated"]
    assert goal.items() <= address(app).items()
    ranked = open_page("ranked_images", run=run.id, split="test")
    links = [dict(parse_qsl(link.proto.query_string)) for link in ranked.get("page_link")]
    assert any(goal.items() <= link.items() for link in links)
    assert WAY_HERE not in button_keys(open_page("train", run=laboratory.neighbours)), (
        "HOB-SVM has no such loss"
    )
    links = open_page("ranked_images", run=laboratory.neighbours).get("page_link")
    assert not any("loss" in dict(parse_qsl(link.proto.query_string)) for link in links)
