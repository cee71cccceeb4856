"""The page Most violated ranking: what it shows is what the algorithms do with the chosen scores."""

from __future__ import annotations

import csv
import io
import json
from urllib.parse import parse_qsl

import numpy as np
import pytest
from filled_home import run_here, train_settings
from test_start import strips_of

from pages import most_violated
from pages.parts import inference_scores, inference_words
from pages.parts.colours import IRRELEVANT, RELEVANT
from ranking.inference import most_violated_ranking
from ranking.inference_steps import Problem, trace_of

pytestmark = pytest.mark.usefixtures("started")

TYPED = {"scores": "typed", "scores.relevant": "1.4 0.6 0.1", "scores.irrelevant": "1.1, 0.8; 0.3 -0.2 -0.7"}
PROBLEM = Problem.of([1.4, 0.6, 0.1, 1.1, 0.8, 0.3, -0.2, -0.7], [True] * 3 + [False] * 5)


def charts_of(app):
    """Figures by the words that their alternative texts begin with."""
    return {
        chart.proto.alt.partition(" ")[0]: json.loads(chart.proto.spec) for chart in app.get("plotly_chart")
    }


def said(app):
    return "\n".join(element.value for element in (*app.markdown, *app.caption))


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
        import base64

        return np.frombuffer(base64.b64decode(values["bdata"]), np.dtype(values["dtype"])).tolist()
    return list(values)


def test_typed_scores_give_their_three_rankings(empty_home, open_page):
    app = open_page("most_violated", **TYPED)
    assert not app.exception
    assert not app.error
    ranks = trace_of(PROBLEM, "greedy").ranks
    patterns = charts_of(app)["Patterns"]
    for base, found in zip((4, 2, 0), inference_words.three(PROBLEM, ranks).values(), strict=True):
        signs = np.where(PROBLEM.is_relevant[PROBLEM.order_of(found)], "+", "-")
        assert pattern_of(patterns, base) == "".join(signs)
    fast = most_violated_ranking(PROBLEM.scores, PROBLEM.is_relevant)
    assert f"AP loss {fast.loss:.3f}" in said(app)
    right = PROBLEM.value_of(np.full(5, 4)).score
    assert f"violated by {fast.objective - right:.3f}" in said(app)
    assert f"| **{fast.objective:.3f}** |" in said(app)
    assert said(app).count(f"{fast.objective:.6f}") == 4, "all four algorithms agree"


def test_steps_settle_ranks_and_go_on(empty_home, open_page):
    app = open_page("most_violated", **TYPED)
    assert "Press *Next step*" in said(app)
    trace = trace_of(PROBLEM, "select")
    for done in range(1, len(trace.steps) + 1):
        app.button(key="widget look Next step").click().run()
        assert not app.exception
        assert app.query_params["look"] == str(done)
        step = trace.steps[done - 1]
        assert inference_words.of_step(PROBLEM, step) in said(app)
        low, high = trace.bounds_after(done, PROBLEM.highest)
        assert f"{np.count_nonzero(low == high)} of 5 are settled after {done} steps" in said(app)
    assert app.button(key="widget look Next step").disabled
    app.button(key="widget look Start").click().run()
    assert app.query_params["look"] == "0"
    app.button(key="widget look End").click().run()
    app.button(key="widget look Back").click().run()
    assert app.query_params["look"] == str(len(trace.steps) - 1)


@pytest.mark.parametrize("algorithm", ["greedy", "search", "select", "buckets"])
def test_every_algorithm_has_its_steps(empty_home, open_page, algorithm):
    app = open_page("most_violated", algorithm=algorithm, look="2", **TYPED)
    assert not app.exception
    trace = trace_of(PROBLEM, algorithm)
    assert inference_words.of_step(PROBLEM, trace.steps[1]) in said(app)
    told = [chart.proto.alt for chart in app.get("plotly_chart")]
    assert any(alt.startswith("The recursion of SELECT") for alt in told) == (algorithm == "select")
    assert any("bins of equal width" in alt for alt in told) == (algorithm == "buckets")
    row = next(
        line for line in said(app).splitlines() if line.startswith(f"| {inference_words.NAMES[algorithm]} |")
    )
    assert f"| {trace.comparisons:,} |" in row
    assert f"| {trace.derivatives:,} |" in row


def test_the_ndcg_loss_has_no_search(empty_home, open_page):
    app = open_page("most_violated", loss="ndcg", **TYPED)
    assert not app.exception
    assert "| SEARCH |" not in said(app)
    assert "NDCG loss 0." in said(app)


def test_another_algorithm_or_other_scores_begin_anew(empty_home, open_page):
    app = open_page("most_violated", look="3", **TYPED)
    app.text_input(key="widget scores.relevant").set_value("2 1").run()
    assert "look" not in app.query_params


def test_scores_of_0_violate_by_the_loss_alone(empty_home, open_page):
    app = open_page("most_violated", **{**TYPED, "scores.times": "0"})
    assert not app.exception
    worst = most_violated_ranking(np.zeros(8), PROBLEM.is_relevant)
    assert f"AP loss {worst.loss:.3f}, violated by {worst.loss:.3f}" in said(app)


@pytest.mark.parametrize(
    ("text", "told"), [("", "got: nothing"), ("1 two", "got: two"), ("1e9", "got: 1e9"), ("nan", "got: nan")]
)
def test_what_is_no_number_is_told(empty_home, open_page, text, told):
    app = open_page("most_violated", **{**TYPED, "scores.relevant": text})
    assert not app.exception
    assert told in " ".join(info.value for info in app.info)
    assert not app.get("plotly_chart")


def test_without_trainings_scores_are_sampled(empty_home, open_page):
    app = open_page("most_violated")
    assert not app.exception
    assert "24 irrelevant samples" in said(app)
    app = open_page("most_violated", scores="a model's")
    assert not app.exception
    assert "Nothing is ranked yet" in said(app)


def test_a_training_shows_its_samples(laboratory, open_page):
    app = open_page("most_violated", run=laboratory.neighbours, look="1")
    assert not app.exception
    assert not app.error
    run = laboratory.store.run(laboratory.neighbours)
    images = laboratory.store.image_set(run.settings["set"])
    rows = np.flatnonzero(~images.test)
    scores, relevant = np.load(run.scores_file)[rows], images.relevance("playing instrument")[rows] > 0
    found = most_violated_ranking(scores, relevant)
    assert f"AP loss {found.loss:.3f}" in said(app)
    [strip] = strips_of(app)
    median = np.sort(scores[~relevant])[::-1][np.count_nonzero(~relevant) // 2]
    shown = list(images.ids).index(strip["items"][0]["id"])
    assert np.load(run.scores_file)[shown] == pytest.approx(median)


def test_a_training_under_way_shows_the_scores_that_it_has(laboratory, open_page):
    store = laboratory.store
    old = store.run(laboratory.finished)
    images = store.image_set(old.settings["set"])
    rows = np.flatnonzero(~images.test)
    run = store.create_run("train", old.settings)
    store.update_run(run.id, state="running")
    app = open_page("most_violated", run=run.id)
    assert "has no scores" in " ".join(warning.value for warning in app.warning)
    np.save(run.scores_so_far_file, np.linspace(0, 1, len(rows)))
    app = open_page("most_violated", run=run.id)
    assert not app.exception
    assert "This training goes on" in said(app)
    assert "Cancel" in [button.label for button in app.button]
    np.save(run.scores_so_far_file, np.zeros(3))
    app = open_page("most_violated", run=run.id)
    assert "must hold" in " ".join(error.value for error in app.error)


def test_long_rankings_are_thinned_evenly_with_both_kinds(laboratory):
    run = laboratory.store.run(laboratory.finished)
    images = laboratory.store.image_set(run.settings["set"])
    from ranking.ranked import Ranking

    rows = np.arange(len(images))
    ranked = Ranking.of(rows, images.relevance("3"), np.load(run.scores_file))
    found = inference_scores.thinned(images, ranked)
    assert np.count_nonzero(found.relevant) == 60
    assert len(found.scores) == 600
    assert (np.diff(found.rows) > 0).all(), "in the order of the set"
    np.testing.assert_array_equal(found.scores, np.load(run.scores_file)[found.rows])
    assert {ranked.samples[0], ranked.samples[-1]} <= set(found.rows.tolist())
    assert "Of 1,797 samples, 600 evenly" in found.note


def test_the_table_holds_every_step():
    traces = {name: trace_of(PROBLEM, name) for name in ("select", "buckets")}
    rows = list(csv.DictReader(io.StringIO(most_violated.csv_text(PROBLEM, traces))))
    assert len(rows) == sum(len(trace.steps) for trace in traces.values())
    first, step = rows[0], traces["select"].steps[0]
    assert (first["algorithm"], first["step"], first["follows from"]) == ("select", "1", "")
    assert float(first["score"]) == step.score
    assert int(first["rank"]) == step.rank
    assert (int(first["run from"]), int(first["run to"])) == (1, 5)


@pytest.mark.parametrize("method", ["AP-SVM", "NDCG-SVM"])
def test_trainings_by_a_ranking_loss_lead_on_to_it(laboratory, open_page, method):
    asked = train_settings(laboratory.digits, method=method)
    run = run_here(laboratory.store, asked)
    goal = {"run": run.id, "scores": "a model's", "split": "train", "loss": method[:-4].lower()}
    app = open_page("train", run=run.id)
    [button] = [button for button in app.button if button.label == "Most violated ranking"]
    assert button.proto.type == "secondary", "the ranking is the obvious next step"
    button.click().run()
    assert not app.exception
    assert not app.warning
    assert app.title[0].value == "Most violated ranking"
    assert goal.items() <= dict(app.query_params).items()
    link = links_to_it(open_page("ranked_images", run=run.id, split="test"))[0]
    assert goal.items() <= parsed(link.query_string).items()


def test_other_methods_have_no_such_way(laboratory, open_page):
    run = run_here(laboratory.store, train_settings(laboratory.digits, method="SVM"))
    assert "Most violated ranking" not in [button.label for button in open_page("train", run=run.id).button]
    assert not links_to_it(open_page("ranked_images", run=run.id))


def links_to_it(app):
    """Links to the page from within another; those of the menu have its name."""
    return [
        link.proto
        for link in app.get("page_link")
        if "Most violated ranking by its scores" in link.proto.label
    ]


def parsed(query):
    return dict(parse_qsl(query))
