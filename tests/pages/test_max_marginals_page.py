"""The page Neighbours: the two labellings of a sample, and what both views share, what is missing."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from homes import use_graph
from neighbourhoods import attractive
from shown import (
    address,
    button_keys,
    charts_of,
    components,
    errors,
    numbers_in,
    press,
    texts,
    turn_to,
)
from training_runs import worked

from pages.parts.app import home
from pages.parts.neighbours import graph_models, labellings
from ranking.commands import worker

COMPUTE = "widget compute features"


def grid_named(app, label):
    [grid] = [data for data in components(app, "ranking_image_grid") if data["label"].startswith(label)]
    return grid


def waterfall_of(app):
    """The bars that a score adds up from."""
    [bars] = [figure["data"][0] for figure in charts_of(app) if figure["data"][0]["type"] == "waterfall"]
    return bars["y"]


def test_sample_without_neighbours_was_not_moved_by_them():
    """Sample 2 stands alone; sample 1 falls behind it because of its neighbour 0."""
    hurt = attractive([-3.0, 1.0, 0.5], [[0, 1]], [-5.0], [False, False, True])
    assert graph_models.most_moved(hurt, False, 5).tolist() == [1]


def test_score_that_sinks_while_its_rank_rises_is_explained():
    """0 pays 1 for its neighbour 1, 2 pays 5 for its neighbour 3: so 0 passes 2, though its score sinks."""
    edges, penalty = [[0, 1], [2, 3]], [-1.0, -5.0]
    pays = attractive([-2.0, -9.0, -1.0, -9.0], edges, penalty, np.ones(4, bool))
    gains = attractive([2.0, 9.0, 1.0, 9.0], edges, penalty, np.ones(4, bool))
    assert "score by -1 and the rank by ▲ 1" in graph_models.what_moved(pays, 0)
    assert "score by +1 and the rank by ▼ 1" in graph_models.what_moved(gains, 0)


def test_labels_of_neighbours_that_hurt_are_counted():
    for relevant, other_labels in (([True, False, False], 2), ([True, True, False], 1)):
        hurt = attractive([-1.0, -2.0, -2.0], [[0, 1], [2, 0]], [-1.0, -1.0], relevant)
        assert numbers_in(graph_models.why_hurt(hurt, np.array([0]))) == [other_labels, 2]


def test_measures_grid_and_movers_are_those_with_and_without_neighbours(
    laboratory, open_page, neighbourhood, figures
):
    app = open_page("neighbours")
    for test in (False, True):
        turn_to(app, run=laboratory.neighbours, split="test" if test else "train", page="1")
        assert not app.error
        on, off = (neighbourhood.ranking(test, alone=alone).average_precision for alone in (False, True))
        assert on != off, "the run must show something"
        rise = neighbourhood.rise[(neighbourhood.test == test) & neighbourhood.relevant]
        moved = [f"{(rise > 0).sum()} of {len(rise)}", f"{(rise < 0).sum()}"]
        shown = [metric.value for metric in app.metric]
        first, last, gain = f"{off:.3f}", f"{on:.3f}", f"{on - off:+.3f}"
        near = "" if f"{float(last) - float(first):+.3f}" == gain else "≈ "
        assert shown == [first, last, near + gain, *moved]

    ranked, items = neighbourhood.ranking(True), grid_named(app, "Ranked test")["items"]
    assert [item["id"] for item in items] == figures.ids[ranked.samples[:200]].tolist()
    assert [item["mark"] == "relevant" for item in items] == (ranked.relevance[:200] > 0).tolist()
    for label, sign in (("Helped most", 1), ("Hurt most", -1)):
        moved = graph_models.most_moved(neighbourhood, True, labellings.MAX_MOVED, hurt=sign < 0)
        helped = sign * neighbourhood.helped[moved]
        assert helped.tolist() == sorted(helped, reverse=True)
        assert helped[0] == max(sign * neighbourhood.helped[figures.test]) > 0
        assert [item["id"] for item in grid_named(app, label)["items"]] == figures.ids[moved].tolist()
    press(app, "widget go to Hurt most")
    chosen = address(app)["sample"]
    assert chosen == figures.ids[moved[0]]
    assert grid_named(app, "Ranked test")["selection"][1] == chosen, "a click selects everywhere"


def test_selected_sample_has_its_ranks_labellings_and_parts(laboratory, open_page, neighbourhood, figures):
    rows = np.flatnonzero(figures.test)
    turning = [
        next(int(row) for row in rows if neighbourhood.turning(int(row)).sum() == count) for count in (1, 2)
    ]
    app = open_page("neighbours", run=laboratory.neighbours)
    for row in turning:
        turn_to(app, run=laboratory.neighbours, sample=str(figures.ids[row]))
        ranks = neighbourhood.alone[row], neighbourhood.rank[row]
        assert "rank {} with edges off, {} with neighbours".format(*ranks) in texts(app)
        assert labellings.notice(int(neighbourhood.turning(row).sum()) - 1) in texts(app)
        members = np.flatnonzero(figures.image_of == figures.image_of[row])
        for picture, label in zip(components(app, "ranking_picture"), (True, False), strict=True):
            labels = neighbourhood.marginals.labelling(row, label)[members].tolist()
            assert [box["label"][0] == "✓" for box in picture["boxes"]] == labels
            assert [not box["dashed"] for box in picture["boxes"]] == labels
            assert [box["strong"] for box in picture["boxes"]] == neighbourhood.turning(row)[members].tolist()
            [own] = [box["label"] for box in picture["boxes"] if "selected" in box["label"]]
            assert own == ("✓ selected" if label else "✗ selected")
    own, other_samples, penalties, score = waterfall_of(app)
    assert (own, score) == (neighbourhood.unary[row], neighbourhood.score[row])
    assert own + other_samples == pytest.approx(neighbourhood.unary_part[row])
    assert penalties == neighbourhood.pairwise_part[row]
    assert other_samples != 0


def test_component_of_several_images_is_shown_as_thumbnails(laboratory, open_page):
    use_graph(laboratory, "nearest")
    app = open_page("neighbours", run=laboratory.neighbours)
    assert not app.error
    assert not components(app, "ranking_picture")
    positive, negative = (strip["items"] for strip in components(app, "ranking_strip"))
    assert len(positive) == len(negative) == labellings.MAX_MEMBERS
    assert [items[0]["mark"] for items in (positive, negative)] == ["relevant", "irrelevant"]
    assert [items[0]["flag"] for items in (positive, negative)] == ["selected"] * 2
    turns = {item["id"] for item in positive if item["flag"]}
    marks = [{item["id"]: item["mark"] for item in items} for items in (positive, negative)]
    assert {one for one, mark in marks[0].items() if mark != marks[1][one]} == turns
    assert any(numbers_in(text.value)[:1] == [labellings.MAX_MEMBERS] for text in app.caption)


def test_a_graph_without_edges_changes_no_score(laboratory, open_page):
    assert not open_page("neighbours", run=laboratory.neighbours).info
    use_graph(laboratory, "none")
    app = open_page("neighbours", run=laboratory.neighbours)
    assert len(app.info) == 1
    assert app.metric[2].value == "+0.000"
    assert waterfall_of(app)[1:3] == [0.0, 0.0]
    app = open_page("neighbours", neighbours_view="graph", run=laboratory.neighbours)
    [graph] = components(app, "ranking_sample_graph")
    assert {len(drawing["nodes"]) for drawing in graph["drawings"]} == {1}


def test_run_without_neighbours_leads_to_one_that_has_them(laboratory, open_page):
    app = open_page("neighbours", run=laboratory.finished)
    assert "AP\\-SVM" in app.warning[0].value
    assert address(app)["run"] == laboratory.neighbours
    laboratory.store.runs.update(laboratory.neighbours, result={})
    turn_to(app, run=laboratory.finished)
    assert button_keys(app) == ["widget go to train"], "the next step keeps the task"
    press(app, "widget go to train")
    assert "run" not in address(app)
    for name, value in (("method", "HOB-SVM"), ("query", "3")):
        assert address(app)[name] == value
        assert app.selectbox(key=f"widget {name}").value == value


def test_missing_features_are_computed_on_demand(laboratory, open_page, started):
    for view in ("labellings", "graph"):
        graph_models.neighbourhood.clear()
        shutil.rmtree(laboratory.store.features.cache)
        app = open_page("neighbours", neighbours_view=view, run=laboratory.neighbours)
        assert not app.metric
        assert button_keys(app) == [COMPUTE]
        press(app, COMPUTE)
        assert button_keys(app) == [f"widget cancel {started[-1].id}"]
        worked(laboratory.store, started[-1], worker.study)
        assert len(app.run().metric) == 5
    assert len(started) == 2, "features that were removed are computed again"


def test_a_missing_model_or_other_scores_are_an_error_on_the_page(laboratory, open_page):
    run, reasons = laboratory.store.runs.get(laboratory.neighbours), set()
    np.save(run.scores_file, np.load(run.scores_file)[::-1])
    app = open_page("neighbours")
    for harm in (graph_models.neighbourhood.clear, run.model_file.unlink):
        harm()
        with pytest.raises(home.Gone) as gone:
            graph_models.neighbourhood(run)
        assert str(gone.value) in errors(turn_to(app, run=run.id))[0]
        reasons.add(str(gone.value))
    assert len(reasons) == 2
