"""The page Most violated ranking: what it shows is what the algorithms do with the chosen scores."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pytest
from filled_home import train_here
from shown import address, button_keys, components, headline_of, numbers_in, press, texts, turn_to

from pages import most_violated_ranking as page
from pages.parts.app import cache
from pages.parts.app.colours import IRRELEVANT, RELEVANT
from pages.parts.charts import inference_charts, inference_words
from pages.parts.rankings import inference_scores
from ranking.explain.inference_steps import TRACED, InferenceProblem, bins_of, trace_of
from ranking.inference import most_violated_ranking
from ranking.losses import make_loss
from ranking.metrics.ranked import Ranking

pytestmark = pytest.mark.usefixtures("started")

TYPED = {"scores": "typed", "scores.relevant": "1.4 0.6 0.1", "scores.irrelevant": "1.1, 0.8; 0.3 -0.2 -0.7"}
PROBLEM = InferenceProblem.of([1.4, 0.6, 0.1, 1.1, 0.8, 0.3, -0.2, -0.7], [True] * 3 + [False] * 5)


def alts_of(app):
    return [chart.proto.alt for chart in app.get("plotly_chart")]


def in_headline(app):
    """The headline and the decimals in it."""
    headline = headline_of(app)
    return headline, re.findall(r"\d\.\d+", headline)


def pattern_of(figure, base):
    """Which samples of one ranking of the picture are relevant, from the top."""
    places = {}
    for trace in figure.data:
        if trace.type == "bar" and np.ravel(trace.base)[0] == base:
            places |= dict.fromkeys(trace.x, {RELEVANT: True, IRRELEVANT: False}[trace.marker.color])
    return [places[place] for place in sorted(places)]


def test_typed_scores_give_their_three_rankings(empty_home, open_page):
    app = open_page("most_violated_ranking", **TYPED)
    assert not app.error
    rankings = inference_words.three(PROBLEM, trace_of(PROBLEM, "greedy").ranks)
    assert inference_words.patterns_alt(PROBLEM, rankings) in alts_of(app)
    figure = inference_charts.patterns(PROBLEM, list(rankings.items()))
    for base, ranks in zip((4, 2, 0), rankings.values(), strict=True):
        assert pattern_of(figure, base) == PROBLEM.is_relevant[PROBLEM.order_of(ranks)].tolist()
    fast = most_violated_ranking(PROBLEM.scores, PROBLEM.is_relevant)
    violation = fast.objective - PROBLEM.value_of(np.full(5, 4)).score
    assert in_headline(app)[1] == [f"{fast.loss:.3f}", f"{violation:.3f}"]
    assert f"| **{fast.objective:.3f}** |" in texts(app)
    assert texts(app).count(f"{fast.objective:.6f}") == 4, "all four algorithms agree"

    turn_to(app, **{**TYPED, "scores.times": "0"})
    worst = most_violated_ranking(np.zeros(8), PROBLEM.is_relevant)
    assert in_headline(app)[1] == 2 * [f"{worst.loss:.3f}"], "violated by the loss alone"
    turn_to(app, loss="ndcg", **TYPED)
    rows = {line.split(" | ")[0].strip("| ") for line in texts(app).splitlines() if line.startswith("| ")}
    unusable = {name for name, words in inference_words.NAMES.items() if words not in rows}
    assert unusable == {"search"}
    assert make_loss("ndcg").measure in in_headline(app)[0]


def test_text_that_is_no_scores_is_refused(empty_home, open_page):
    app = open_page("most_violated_ranking")
    for text in ("", "1e9", "nan"):
        turn_to(app, **{**TYPED, "scores.relevant": text})
        with pytest.raises(ValueError, match="Expected numbers") as refused:
            inference_scores.numbers_of(text)
        assert [element.value for element in app.info] == [str(refused.value)]
        assert not alts_of(app)


def test_steps_go_on_and_back_to_the_end_and_the_start(empty_home, open_page):
    app = open_page("most_violated_ranking", **TYPED)
    assert inference_words.BEFORE["select"] in texts(app)
    trace = trace_of(PROBLEM, "select")
    last = len(trace.steps)
    for button, done in (("Next step", 1), ("End", last), ("Back", last - 1), ("Start", 0)):
        press(app, f"widget evaluated {button}")
        assert address(app)["evaluated"] == str(done)
        if done:
            assert inference_words.of_step(trace.steps[done - 1]) in texts(app)
        assert inference_words.notice_step(PROBLEM, trace, done) in texts(app)
        assert app.button(key="widget evaluated Next step").disabled == (done == last)
    app.text_input(key="widget scores.relevant").set_value("2 1").run()
    assert "evaluated" not in address(app), "other scores begin anew"
    for done in range(1, last + 1):
        low, high = trace.bounds_after(done, PROBLEM.highest)
        settled = f"{np.count_nonzero(low == high)} of 5 "
        assert settled in inference_words.notice_step(PROBLEM, trace, done)


def test_every_algorithm_has_its_steps(empty_home, open_page):
    app = open_page("most_violated_ranking", algorithm="greedy", evaluated="2", **TYPED)
    fewest = len(alts_of(app))
    for algorithm in TRACED:
        turn_to(app, algorithm=algorithm, evaluated="2", **TYPED)
        trace, alts = trace_of(PROBLEM, algorithm), alts_of(app)
        assert inference_words.of_step(trace.steps[1]) in texts(app), algorithm
        assert len(alts) == fewest + (algorithm in ("select", "buckets"))
        assert (inference_words.tree_alt(trace, 2) in alts) == (algorithm == "select")
        bins = inference_words.notice_bins(PROBLEM, bins_of(PROBLEM), trace)
        assert (bins in alts) == (algorithm == "buckets")
        name = inference_words.NAMES[algorithm]
        row = next(line for line in texts(app).splitlines() if line.startswith(f"| {name} |"))
        assert f"| {trace.comparisons:,} |" in row
        assert f"| {trace.derivatives:,} |" in row


def test_without_runs_scores_are_sampled(empty_home, open_page):
    app = open_page("most_violated_ranking")
    assert any(re.search(r"\bof 24\b", caption.value) for caption in app.caption)
    assert button_keys(turn_to(app, scores=inference_scores.MODEL)) == ["widget go to train"]


def test_the_first_run_is_one_whose_training_uses_most_violated_rankings(laboratory, open_page):
    train_here(laboratory.store, laboratory.digits, "3", "SVM")
    app = open_page("most_violated_ranking")
    assert laboratory.store.runs.get(address(app)["run"]).settings["method"] == "AP-SVM"


def test_run_shows_its_samples(laboratory, open_page):
    app = open_page("most_violated_ranking", run=laboratory.neighbours, evaluated="1")
    assert not app.error
    ranked = cache.ranking(laboratory.store.runs.get(laboratory.neighbours), "train")
    images = laboratory.store.sets.get(laboratory.figures)
    given = inference_scores.thinned(images, ranked)
    violated = most_violated_ranking(given.scores, given.relevant)
    assert f"{violated.loss:.3f}" in in_headline(app)[1]
    shown = ranked.samples[np.isin(ranked.samples, given.rows)]
    irrelevant = shown[images.relevance("playing instrument")[shown] == 0]
    [strip] = components(app, "ranking_strip")
    ids = images.ids
    assert strip["items"][0]["id"] == ids[irrelevant[len(irrelevant) // 2]], "the median"


def test_run_that_is_trained_shows_the_scores_that_it_has(laboratory, open_page):
    store = laboratory.store
    trained = np.count_nonzero(~store.sets.get(laboratory.digits).test)
    run = store.runs.create("train", store.runs.get(laboratory.finished).settings)
    store.runs.update(run.id, state="running")
    app = open_page("most_violated_ranking", run=run.id)
    assert run.id in app.warning[0].value
    np.save(run.scores_so_far_file, np.linspace(0, 1, trained))
    turn_to(app, run=run.id)
    assert not app.warning
    assert f"{trained:,}" in texts(app)
    assert f"widget cancel {run.id}" in button_keys(app)
    np.save(run.scores_so_far_file, np.zeros(3))
    assert turn_to(app, run=run.id).error


def test_long_rankings_are_thinned_evenly_with_both_kinds(filled):
    run, images = filled.store.runs.get(filled.finished), filled.store.sets.get(filled.digits)
    scores = np.load(run.scores_file)
    ranked = Ranking.of(np.arange(len(images)), images.relevance("3"), scores)
    kept = inference_scores.thinned(images, ranked)
    assert (np.count_nonzero(kept.relevant), len(kept.scores)) == (60, 600)
    assert (np.diff(kept.rows) > 0).all(), "in the order of the set"
    np.testing.assert_array_equal(kept.scores, scores[kept.rows])
    assert {ranked.samples[0], ranked.samples[-1]} <= set(kept.rows.tolist())
    assert numbers_in(kept.note) == [600, 1797]


def test_table_holds_every_step():
    traces = {name: trace_of(PROBLEM, name) for name in ("select", "buckets")}
    rows = list(csv.DictReader(io.StringIO(page.csv_text(traces))))
    assert len(rows) == sum(len(trace.steps) for trace in traces.values())
    first, step = rows[0], traces["select"].steps[0]
    assert (first["algorithm"], first["step"], first["follows from"]) == ("select", "1", "")
    assert (float(first["score"]), int(first["rank"])) == (step.score, step.rank)
    assert (int(first["block from"]), int(first["block to"])) == (1, 5)


def test_runs_by_a_ranking_loss_have_its_address(filled):
    run = filled.store.runs.get(filled.finished)
    for method, loss in (("AP-SVM", "ap"), ("NDCG-SVM", "ndcg"), ("SVM", None)):
        by_method = replace(run, settings={**run.settings, "method": method})
        goal = {"run": run.id, "scores": inference_scores.MODEL, "split": "train", "loss": loss}
        assert inference_scores.address_of(by_method) == (goal if loss else None)
