"""The page Max-marginals, and what it shares with the sample graph: numbers, selection, what is gone."""

from __future__ import annotations

import json
import re
import shutil

import numpy as np
import pytest
from test_ranked_images import components

from pages.parts import cache, neighbours
from ranking.features import load_features
from ranking.inference import AttractivePairs
from ranking.methods.hob_svm import HOBSVM
from ranking.metrics import average_precision
from ranking.neighbourhood import Neighbourhood
from ranking.ranked import Ranking
from ranking.run_settings import TrainSettings
from ranking.training import query_of


def queried(laboratory):
    """The image set of the HOB-SVM training, its relevance, its method and the query with its graph."""
    run = laboratory.store.run(laboratory.neighbours)
    images, settings = laboratory.store.image_set(laboratory.figures), TrainSettings.from_json(run.settings)
    features = load_features(images, settings.features, laboratory.store.features)
    query = query_of(images, settings, features)
    return images, images.relevance(settings.query), HOBSVM.load(run.model_file), query


def score_again(laboratory):
    """Have the training's scores be those with the graph that its settings name now; its image set."""
    images, _, method, query = queried(laboratory)
    np.save(laboratory.store.run(laboratory.neighbours).scores_file, method.score(query))
    cache._ranking.clear()
    cache._neighbourhood.clear()
    return images


def of_split(images, test=True):
    return np.flatnonzero(images.test == test)


def scores_of(laboratory):
    return np.load(laboratory.store.run(laboratory.neighbours).scores_file)


def grid_named(app, label):
    [grid] = [data for data in components(app, "ranking_image_grid") if data["label"].startswith(label)]
    return grid


def a_sample(images, found, turning, test=True):
    """The id of a sample with whose label so many samples turn."""
    rows = [row for row in of_split(images, test) if found.turning(int(row)).sum() == turning]
    return str(images.ids[rows[0]])


def attractive(unary, edges, penalty, relevant, test):
    return Neighbourhood.of(unary, AttractivePairs(len(unary), edges), penalty, relevant, test)


@pytest.fixture
def found(laboratory):
    return cache.neighbourhood(laboratory.store.run(laboratory.neighbours))


def test_who_has_no_neighbours_was_not_moved_by_them():
    """Sample 2 stands alone; sample 1 falls behind it because of its neighbour 0."""
    relevant, test = np.array([False, False, True]), np.zeros(3, bool)
    found = attractive([-3.0, 1.0, 0.5], [[0, 1]], [-5.0], relevant, test)
    assert found.helped.tolist() == [0, 1, 1]
    assert neighbours.most_moved(found, False, 5).tolist() == [1]


@pytest.mark.parametrize("split", ["test", "train"])
def test_the_measures_are_those_of_the_scores_and_of_the_unary_scores_alone(laboratory, open_page, split):
    app = open_page("max_marginals", run=laboratory.neighbours, split=split)
    assert not app.exception
    assert not app.error
    images, relevance, method, query = queried(laboratory)
    unary, _ = method.model_of(query)
    rows = of_split(images, split == "test")
    on = average_precision(relevance[rows], scores_of(laboratory)[rows])
    off = average_precision(relevance[rows], unary[rows])
    assert on != off, "the training must show something"
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["AP, edges off"] == f"{off:.3f}"
    assert shown["AP with neighbours"] == f"{on:.3f}"
    assert shown["Difference"] == f"{on - off:+.3f}"


def test_the_sentence_tells_both_ranks(laboratory, open_page):
    images, relevance, method, query = queried(laboratory)
    unary, _ = method.model_of(query)
    rows = of_split(images)
    before, after = (Ranking.of(rows, relevance[rows], s[rows]) for s in (unary, scores_of(laboratory)))
    places = {int(row): place for place, row in enumerate(before.samples, 1)}
    row = next(int(row) for place, row in enumerate(after.samples, 1) if places[int(row)] != place)
    rank = after.samples.tolist().index(row) + 1
    app = open_page("max_marginals", run=laboratory.neighbours, sample=str(images.ids[row]))
    assert any(f"moved it from rank {places[row]} to rank {rank}" in text.value for text in app.markdown)
    still = next(int(row) for place, row in enumerate(after.samples, 1) if places[int(row)] == place)
    app = open_page("max_marginals", run=laboratory.neighbours, sample=str(images.ids[still]))
    assert any(f"its neighbours left it at rank {places[still]}" in text.value for text in app.markdown)


def test_the_grid_is_the_ranking_and_a_click_selects_everywhere(laboratory, open_page):
    app = open_page("max_marginals", run=laboratory.neighbours)
    images, relevance, _, _ = queried(laboratory)
    rows = of_split(images)
    ranked = Ranking.of(rows, relevance[rows], scores_of(laboratory)[rows])
    items = grid_named(app, "Ranked test")["items"]
    assert [item["id"] for item in items] == images.ids[ranked.samples[:200]].tolist()
    assert [item["mark"] == "relevant" for item in items] == (ranked.relevance[:200] > 0).tolist()
    app.button(key="widget go to Hurt most").click().run()
    chosen = app.query_params["sample"]
    assert grid_named(app, "Ranked test")["told"][1] == chosen
    assert grid_named(app, "Hurt most")["items"][0]["id"] == chosen


def test_helped_and_hurt_are_the_most_helped_and_hurt_of_the_split(laboratory, open_page, found):
    app = open_page("max_marginals", run=laboratory.neighbours)
    images = laboratory.store.image_set(laboratory.figures)
    helped = {str(id): int(places) for id, places in zip(images.ids, found.helped, strict=True)}
    in_split = found.helped[images.test]
    for label, extreme in (("Helped most", in_split.max()), ("Hurt most", in_split.min())):
        ids = [item["id"] for item in grid_named(app, label)["items"]]
        assert helped[ids[0]] == extreme != 0
        values = [abs(helped[id]) for id in ids]
        assert values == sorted(values, reverse=True)
    assert grid_named(app, "Helped most")["items"][0]["right"].startswith(("▲", "▼", "="))


@pytest.mark.parametrize("turning", [1, 2])
def test_the_two_pictures_are_the_two_labellings(laboratory, open_page, found, turning):
    images = laboratory.store.image_set(laboratory.figures)
    sample = a_sample(images, found, turning)
    row = int(np.flatnonzero(images.ids == sample)[0])
    app = open_page("max_marginals", run=laboratory.neighbours, sample=sample)
    assert not app.exception
    members = np.flatnonzero(images.image_of == images.image_of[row])
    pictures = components(app, "ranking_picture")
    assert len(pictures) == 2
    for picture, label in zip(pictures, (True, False), strict=True):
        labels = found.marginals.labelling(row, label)[members]
        assert [box["label"][0] == "✓" for box in picture["boxes"]] == labels.tolist()
        assert [not box["dashed"] for box in picture["boxes"]] == labels.tolist()
        assert [box["strong"] for box in picture["boxes"]] == found.turning(row)[members].tolist()
        [own] = [box for box in picture["boxes"] if "selected" in box["label"]]
        assert own["label"] == ("✓ selected" if label else "✗ selected")
    said = "\n".join(caption.value for caption in app.caption)
    assert ("one other sample turns with it" if turning == 2 else "its neighbours stand firm") in said


def test_the_bars_add_up_to_the_score(laboratory, open_page, found):
    images = laboratory.store.image_set(laboratory.figures)
    sample = a_sample(images, found, 2)
    row = int(np.flatnonzero(images.ids == sample)[0])
    app = open_page("max_marginals", run=laboratory.neighbours, sample=sample)
    [bars] = [chart[0] for chart in charts_of(app) if chart[0]["type"] == "waterfall"]
    own, others, penalties, score = bars["y"]
    assert own == found.unary[row]
    assert others != 0
    assert own + others + penalties == pytest.approx(score) == pytest.approx(scores_of(laboratory)[row])
    [curves] = [chart for chart in charts_of(app) if chart[0]["type"] == "scatter"]
    assert [curve["name"].partition(":")[0] for curve in curves] == ["m⁺", "m⁻", "score m⁺ − m⁻", "relevant"]


def test_a_component_of_several_images_is_shown_as_thumbnails(laboratory, open_page):
    run = laboratory.store.run(laboratory.neighbours)
    laboratory.store.update_run(run.id, settings={**run.settings, "graph": "nearest"})
    score_again(laboratory)
    app = open_page("max_marginals", run=run.id)
    assert not app.exception
    assert not app.error
    assert not components(app, "ranking_picture")
    one, zero = components(app, "ranking_strip")
    assert one["items"][0]["mark"] == "relevant"
    assert zero["items"][0]["mark"] == "irrelevant"
    for strip in (one, zero):
        assert strip["items"][0]["flag"] == "selected"
        assert len(strip["items"]) == 16
    turns = [item["id"] for item in one["items"] if item["flag"]]
    marks = [{item["id"]: item["mark"] for item in strip["items"]} for strip in (one, zero)]
    assert all((marks[0][id] != marks[1][id]) == (id in turns) for id in marks[0])
    assert any(re.search(r"16 of the \d+ samples of its component", text.value) for text in app.caption)


def test_pairs_without_use_are_said(laboratory, open_page):
    run = laboratory.store.run(laboratory.neighbours)
    app = open_page("max_marginals", run=run.id)
    assert not app.info
    laboratory.store.update_run(run.id, settings={**run.settings, "graph": "none"})
    score_again(laboratory)
    app = open_page("max_marginals", run=run.id)
    assert not app.exception
    assert "no samples are paired here" in app.info[0].value
    assert [metric.value for metric in app.metric if metric.label == "Difference"] == ["+0.000"]
    [bars] = [chart for chart in charts_of(app) if chart[0]["type"] == "waterfall"]
    assert bars[0]["y"][1:3] == [0.0, 0.0]
    app = open_page("sample_graph", run=run.id)
    assert not app.exception
    [graph] = components(app, "ranking_sample_graph")
    assert {len(one["nodes"]) for one in graph["drawings"]} == {1}


def charts_of(app):
    return [json.loads(chart.proto.spec)["data"] for chart in app.get("plotly_chart")]


def test_a_training_without_neighbours_leads_to_one_that_has_them(laboratory, open_page):
    app = open_page("max_marginals", run=laboratory.finished)
    assert not app.exception
    assert "is by AP\\-SVM\\, which scores each sample by itself" in app.warning[0].value
    assert app.query_params["run"] == laboratory.neighbours


@pytest.mark.parametrize("page", ["max_marginals", "sample_graph"])
def test_with_no_such_training_the_next_step_keeps_the_task(laboratory, open_page, page):
    laboratory.store.update_run(laboratory.neighbours, result={})
    app = open_page(page, run=laboratory.finished)
    assert not app.exception
    assert [button.label for button in app.button] == ["Train HOB-SVM"]
    app.button[0].click().run()
    assert not app.exception
    assert app.query_params["method"] == "HOB-SVM"
    assert app.query_params["query"] == "3"
    assert "run" not in app.query_params
    assert app.selectbox(key="widget method").value == "HOB-SVM"
    assert app.selectbox(key="widget query").value == "3"


@pytest.mark.parametrize("page", ["max_marginals", "sample_graph"])
def test_features_that_are_gone_are_computed_on_demand(laboratory, open_page, page):
    cache._neighbourhood.clear()
    shutil.rmtree(laboratory.store.features)
    app = open_page(page, run=laboratory.neighbours)
    assert not app.exception
    assert not app.metric
    [button] = app.button
    assert button.label == "Compute them once more"
    button.click().run()
    assert not app.exception
    assert {metric.label for metric in app.metric} >= {"AP, edges off", "AP with neighbours"}


def test_a_method_that_is_gone_or_another_is_said(laboratory, open_page):
    run = laboratory.store.run(laboratory.neighbours)
    np.save(run.scores_file, scores_of(laboratory)[::-1])
    cache._neighbourhood.clear()
    cache._ranking.clear()
    app = open_page("max_marginals", run=run.id)
    assert not app.exception
    assert "are not those of the method that it left" in app.error[0].value
    run.model_file.unlink()
    app = open_page("max_marginals", run=run.id)
    assert not app.exception
    assert "has no method" in app.error[0].value


def test_only_ranked_images_of_such_a_training_lead_here(laboratory, open_page):
    for run, leads in ((laboratory.neighbours, True), (laboratory.finished, False)):
        app = open_page("ranked_images", run=run)
        assert not app.exception
        links = [link.proto for link in app.get("page_link")]
        found = [link for link in links if link.label == "What its neighbours did to it"]
        assert len(found) == leads
        if leads:
            assert f"run={run}" in found[0].query_string
            assert "sample=" in found[0].query_string


def test_moves_are_said_by_arrows():
    assert [neighbours.steps_of(places) for places in (1200, -3, 0)] == ["▲ 1,200", "▼ 3", "="]


def test_a_score_that_sinks_while_its_rank_rises_is_explained():
    """0 pays 1 for its neighbour 1, 2 pays 5 for its neighbour 3: so 0 passes 2, though its score sinks."""
    everybody, test = np.ones(4, bool), np.zeros(4, bool)
    found = attractive([-2.0, -9.0, -1.0, -9.0], [[0, 1], [2, 3]], [-1.0, -5.0], everybody, test)
    assert found.score[[0, 2]].tolist() == [-3.0, -6.0]
    assert found.rise[[0, 2]].tolist() == [1, -1]
    assert "it rises since those whom it passes lose more" in neighbours.what_moved(found, 0)
    assert neighbours.what_moved(found, 2) == "which of the other bars moved it"
    gains = attractive([2.0, 9.0, 1.0, 9.0], [[0, 1], [2, 3]], [-1.0, -5.0], everybody, test)
    assert gains.score[[0, 2]].tolist() == [3.0, 6.0]
    assert "it falls since those who pass it gain more" in neighbours.what_moved(gains, 0)


@pytest.mark.parametrize(
    ("labelled", "words"),
    [
        (0, ": m⁻ everywhere, as the best labelling calls no sample ✓"),
        (1, "; they cross after rank 1: the best labelling calls 1 sample ✓"),
        (8, "; they cross after rank 8: the best labelling calls 8 samples ✓"),
        (9, ": m⁺ everywhere, as the best labelling calls every sample ✓"),
    ],
)
def test_curves_that_never_cross_are_not_said_to(labelled, words):
    assert neighbours.crossing(labelled, 9) == words


@pytest.mark.parametrize(
    ("relevant", "words"),
    [
        ([True, False, False], "2 of 2: the model believes that neighbours share it, and here it errs."),
        ([True, True, True], "0 of 2: those of the same label hurt too "),
        ([True, True, False], "1 of 2: those of the same label hurt too "),
    ],
)
def test_the_labels_of_those_who_hurt_are_counted(relevant, words):
    found = attractive(
        [-1.0, -2.0, -2.0], [[0, 1], [2, 0]], [-1.0, -1.0], np.array(relevant), np.zeros(3, bool)
    )
    assert words in neighbours.why_hurt(found, np.array([0]))
