"""The page Max-marginals, and what it shares with the sample graph: numbers, selection, what is missing."""

from __future__ import annotations

import shutil
from urllib.parse import parse_qsl

import numpy as np
import pytest
from shown import address, button_keys, charts_of, components, numbers_in, texts, turn_to

from pages import max_marginals
from pages.parts import cache, neighbours
from ranking.features import load_features
from ranking.inference import AttractivePairs
from ranking.methods.hob_svm import HOBSVM
from ranking.metrics import average_precision
from ranking.neighbourhood import Neighbourhood
from ranking.ranked import Ranking
from ranking.run_settings import TrainSettings
from ranking.training import query_of

COMPUTE = "widget compute features"


def queried(laboratory):
    """The image set of the HOB-SVM run, its relevance, its method and the query with its graph."""
    run = laboratory.store.run(laboratory.neighbours)
    images, settings = laboratory.store.image_set(laboratory.figures), TrainSettings.from_json(run.settings)
    features = load_features(images, settings.features, laboratory.store.features)
    query = query_of(images, settings, features)
    return images, images.relevance(settings.query), HOBSVM.load(run.model_file), query


def use_graph(laboratory, graph):
    """Have the run be one with another graph, and its scores those with it; its image set."""
    run = laboratory.store.run(laboratory.neighbours)
    laboratory.store.update_run(run.id, settings={**run.settings, "graph": graph})
    images, _, method, query = queried(laboratory)
    np.save(run.scores_file, method.score(query))
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


def attractive(unary, edges, penalty, relevant, test):
    return Neighbourhood.of(unary, AttractivePairs(len(unary), edges), penalty, relevant, test)


@pytest.fixture
def found(laboratory):
    return cache.neighbourhood(laboratory.store.run(laboratory.neighbours))


# ------------------------------------------------------------------------------------------------------ the words


def test_sample_without_neighbours_was_not_moved_by_them():
    """Sample 2 stands alone; sample 1 falls behind it because of its neighbour 0."""
    relevant, test = np.array([False, False, True]), np.zeros(3, bool)
    hurt = attractive([-3.0, 1.0, 0.5], [[0, 1]], [-5.0], relevant, test)
    assert hurt.helped.tolist() == [0, 1, 1]
    assert neighbours.most_moved(hurt, False, 5).tolist() == [1]
    assert [neighbours.steps_of(places) for places in (1200, -3, 0)] == ["▲ 1,200", "▼ 3", "="]


def test_score_that_sinks_while_its_rank_rises_is_explained():
    """0 pays 1 for its neighbour 1, 2 pays 5 for its neighbour 3: so 0 passes 2, though its score sinks."""
    everybody, test = np.ones(4, bool), np.zeros(4, bool)
    pays = attractive([-2.0, -9.0, -1.0, -9.0], [[0, 1], [2, 3]], [-1.0, -5.0], everybody, test)
    assert pays.score[[0, 2]].tolist() == [-3.0, -6.0]
    assert pays.rise[[0, 2]].tolist() == [1, -1]
    assert neighbours.what_moved(pays, 0) == neighbours.LOWERED_BUT_RISES
    ordinary = neighbours.what_moved(pays, 2)
    assert ordinary not in (neighbours.LOWERED_BUT_RISES, neighbours.RAISED_BUT_FALLS)
    gains = attractive([2.0, 9.0, 1.0, 9.0], [[0, 1], [2, 3]], [-1.0, -5.0], everybody, test)
    assert gains.score[[0, 2]].tolist() == [3.0, 6.0]
    assert neighbours.what_moved(gains, 0) == neighbours.RAISED_BUT_FALLS


def test_curves_that_never_cross_are_not_said_to():
    for labelled, numbers, curve in ((0, [], "m⁻"), (1, [1, 1], None), (8, [8, 8], None), (9, [], "m⁺")):
        words = neighbours.crossing(labelled, 9)
        assert numbers_in(words) == numbers
        assert [each for each in ("m⁻", "m⁺") if each in words] == ([curve] if curve else [])


def test_labels_of_neighbours_that_hurt_are_counted():
    for relevant, other_labels, why in (
        ([True, False, False], 2, neighbours.MODEL_ERRS),
        ([True, True, True], 0, neighbours.SAME_LABEL_HURTS),
        ([True, True, False], 1, neighbours.SAME_LABEL_HURTS),
    ):
        hurt = attractive(
            [-1.0, -2.0, -2.0], [[0, 1], [2, 0]], [-1.0, -1.0], np.array(relevant), np.zeros(3, bool)
        )
        words = neighbours.why_hurt(hurt, np.array([0]))
        assert numbers_in(words) == [other_labels, 2]
        assert why in words


# ------------------------------------------------------------------------------------------------------- the page


def test_measures_grid_and_movers_are_those_of_the_scores_and_of_the_unary_scores(
    laboratory, open_page, found
):
    images, relevance, method, query = queried(laboratory)
    unary, _ = method.model_of(query)
    app = open_page("max_marginals")
    for split in ("train", "test"):
        turn_to(app, run=laboratory.neighbours, split=split)
        assert not app.error
        rows = of_split(images, split == "test")
        on = average_precision(relevance[rows], scores_of(laboratory)[rows])
        off = average_precision(relevance[rows], unary[rows])
        assert on != off, "the run must show something"
        assert [metric.value for metric in app.metric][:3] == [f"{off:.3f}", f"{on:.3f}", f"{on - off:+.3f}"]

    ranked = Ranking.of(rows, relevance[rows], scores_of(laboratory)[rows])
    items = grid_named(app, "Ranked test")["items"]
    assert [item["id"] for item in items] == images.ids[ranked.samples[:200]].tolist()
    assert [item["mark"] == "relevant" for item in items] == (ranked.relevance[:200] > 0).tolist()
    helped = {str(id): int(places) for id, places in zip(images.ids, found.helped, strict=True)}
    in_split = found.helped[images.test]
    for label, extreme in (("Helped most", in_split.max()), ("Hurt most", in_split.min())):
        ids = [item["id"] for item in grid_named(app, label)["items"]]
        assert helped[ids[0]] == extreme != 0
        values = [abs(helped[id]) for id in ids]
        assert values == sorted(values, reverse=True)
    assert grid_named(app, "Helped most")["items"][0]["right"].startswith(("▲", "▼", "="))
    app.button(key="widget go to Hurt most").click().run()
    chosen = address(app)["sample"]
    assert grid_named(app, "Ranked test")["told"][1] == chosen, "a click selects everywhere"
    assert grid_named(app, "Hurt most")["items"][0]["id"] == chosen


def test_selected_sample_has_its_ranks_labellings_and_parts_of_its_score(laboratory, open_page, found):
    images, relevance, method, query = queried(laboratory)
    unary, _ = method.model_of(query)
    rows = of_split(images)
    before, after = (Ranking.of(rows, relevance[rows], s[rows]) for s in (unary, scores_of(laboratory)))
    ranks = [{int(row): rank for rank, row in enumerate(each.samples, 1)} for each in (before, after)]
    moved = next(int(row) for row in after.samples if ranks[0][row] != ranks[1][row])
    still = next(int(row) for row in after.samples if ranks[0][row] == ranks[1][row])
    assert numbers_in(neighbours.moved(found, moved)) == [ranks[0][moved], ranks[1][moved]]
    assert numbers_in(neighbours.moved(found, still)) == [ranks[0][still]]
    turning = [next(int(row) for row in rows if found.turning(int(row)).sum() == count) for count in (1, 2)]
    app = open_page("max_marginals", run=laboratory.neighbours)
    for row in (moved, still, *turning):
        turn_to(app, run=laboratory.neighbours, sample=str(images.ids[row]))
        assert neighbours.moved(found, row) in texts(app)
        assert max_marginals.notice(found, row, int(found.turning(row).sum()) - 1) in texts(app)
        members = np.flatnonzero(images.image_of == images.image_of[row])
        pictures = components(app, "ranking_picture")
        for picture, label in zip(pictures, (True, False), strict=True):
            labels = found.marginals.labelling(row, label)[members]
            assert [box["label"][0] == "✓" for box in picture["boxes"]] == labels.tolist()
            assert [not box["dashed"] for box in picture["boxes"]] == labels.tolist()
            assert [box["strong"] for box in picture["boxes"]] == found.turning(row)[members].tolist()
            [own] = [box for box in picture["boxes"] if "selected" in box["label"]]
            assert own["label"] == ("✓ selected" if label else "✗ selected")
    assert (
        len({max_marginals.notice(found, row, count) for row, count in zip(turning, (0, 1), strict=True)})
        == 2
    )

    row, charts = turning[1], [figure["data"] for figure in charts_of(app)]
    [bars] = [chart[0] for chart in charts if chart[0]["type"] == "waterfall"]
    own, others, penalties, score = bars["y"]
    assert own == found.unary[row]
    assert others != 0
    assert own + others + penalties == pytest.approx(score) == pytest.approx(scores_of(laboratory)[row])
    [curves] = [chart for chart in charts if chart[0]["type"] == "scatter"]
    assert [curve["name"].partition(":")[0] for curve in curves] == ["m⁺", "m⁻", "score m⁺ − m⁻", "relevant"]


def test_component_of_several_images_is_shown_as_thumbnails(laboratory, open_page):
    use_graph(laboratory, "nearest")
    app = open_page("max_marginals", run=laboratory.neighbours)
    assert not app.exception
    assert not app.error
    assert not components(app, "ranking_picture")
    positive, negative = components(app, "ranking_strip")
    assert positive["items"][0]["mark"] == "relevant"
    assert negative["items"][0]["mark"] == "irrelevant"
    for strip in (positive, negative):
        assert strip["items"][0]["flag"] == "selected"
        assert len(strip["items"]) == max_marginals.MOST_MEMBERS
    turns = [item["id"] for item in positive["items"] if item["flag"]]
    marks = [{item["id"]: item["mark"] for item in strip["items"]} for strip in (positive, negative)]
    assert all((marks[0][id] != marks[1][id]) == (id in turns) for id in marks[0])
    assert any(numbers_in(text.value)[:1] == [max_marginals.MOST_MEMBERS] for text in app.caption)


def test_pairs_without_use_change_nothing(laboratory, open_page):
    assert not open_page("max_marginals", run=laboratory.neighbours).info
    use_graph(laboratory, "none")
    app = open_page("max_marginals", run=laboratory.neighbours)
    assert not app.exception
    assert len(app.info) == 1
    assert [metric.value for metric in app.metric][2] == "+0.000"
    [bars] = [figure["data"] for figure in charts_of(app) if figure["data"][0]["type"] == "waterfall"]
    assert bars[0]["y"][1:3] == [0.0, 0.0]
    app = open_page("sample_graph", run=laboratory.neighbours)
    assert not app.exception
    [graph] = components(app, "ranking_sample_graph")
    assert {len(drawing["nodes"]) for drawing in graph["drawings"]} == {1}


# --------------------------------------------------------------------------------------------- what is missing


def test_run_without_neighbours_leads_to_one_that_has_them(laboratory, open_page):
    app = open_page("max_marginals", run=laboratory.finished)
    assert not app.exception
    assert "AP\\-SVM" in app.warning[0].value
    assert address(app)["run"] == laboratory.neighbours
    laboratory.store.update_run(laboratory.neighbours, result={})
    turn_to(app, run=laboratory.finished)
    assert button_keys(app) == ["widget go to train"], "the next step keeps the task"
    app.button[0].click().run()
    assert not app.exception
    assert "run" not in address(app)
    for name, value in (("method", "HOB-SVM"), ("query", "3")):
        assert address(app)[name] == value
        assert app.selectbox(key=f"widget {name}").value == value


def test_features_that_are_gone_are_computed_on_demand(laboratory, open_page):
    for page in ("max_marginals", "sample_graph"):
        cache._neighbourhood.clear()
        shutil.rmtree(laboratory.store.features)
        app = open_page(page, run=laboratory.neighbours)
        assert not app.exception
        assert not app.metric
        assert button_keys(app) == [COMPUTE]
        app.button(key=COMPUTE).click().run()
        assert not app.exception
        assert len(app.metric) == 5


def test_method_that_is_gone_or_another_is_an_error_on_the_page(laboratory, open_page):
    run = laboratory.store.run(laboratory.neighbours)
    np.save(run.scores_file, scores_of(laboratory)[::-1])
    cache._neighbourhood.clear()
    cache._ranking.clear()
    app = open_page("max_marginals", run=run.id)
    with pytest.raises(cache.Gone) as other_scores:
        cache.neighbourhood(run)
    assert str(other_scores.value) in app.error[0].value.replace("\\", "")
    run.model_file.unlink()
    with pytest.raises(cache.Gone) as no_method:
        cache.neighbourhood(run)
    turn_to(app, run=run.id)
    assert str(no_method.value) in app.error[0].value.replace("\\", "")
    assert str(no_method.value) != str(other_scores.value)


def test_only_ranked_images_of_such_a_run_lead_here(laboratory, open_page):
    app = open_page("ranked_images")
    for run, leads in ((laboratory.neighbours, 1), (laboratory.finished, 0)):
        turn_to(app, run=run)
        links = [dict(parse_qsl(link.proto.query_string)) for link in app.get("page_link")]
        assert len([link for link in links if {"run", "sample"} <= set(link) and "loss" not in link]) == leads
