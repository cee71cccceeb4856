"""The page Search tree: every point is an order that the search of the trained ranker visited."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from order_home import Recomputed, film_of

from pages.parts import cache, order_export, tree_chart
from ranking import method_class
from ranking.tree_search import TreeSearch, tree_search

pytestmark = pytest.mark.usefixtures("started")


@pytest.fixture
def found(orders_here) -> TreeSearch:
    tested = Recomputed(orders_here, orders_here.own)
    method = method_class("MidRank").load(orders_here.store.run(orders_here.own).model_file)
    return tree_search(method, 4, tested.drawn.sequences.query(2).features, 2)


ASKED = {"sequence": "3", "length": "4", "trees": "2"}


def test_the_chart_shows_the_orders_and_the_best_of_all(orders_here, open_page, found):
    app = open_page("search_tree", order_run=orders_here.own, **ASKED)
    assert not app.exception
    assert not app.error
    [chart] = app.get("plotly_chart")
    spec = json.loads(chart.proto.spec)
    points = {}
    for trace in spec["data"]:
        if "customdata" in trace:
            points |= dict(zip(trace["customdata"], trace["y"], strict=True))
    assert sorted(points) == list(range(len(found.trees.values))), "all have room"
    assert [points[node] for node in sorted(points)] == pytest.approx(found.trees.values.tolist())
    [best] = [trace for trace in spec["data"] if trace.get("name") == "best of all orders"]
    assert best["y"] == pytest.approx([found.best_value] * 2)
    assert not spec["layout"].get("annotations"), "on a phone a text at the line lies under the marks"
    looks = {
        (trace["marker"]["color"], trace["marker"]["symbol"])
        for trace in spec["data"]
        if "customdata" in trace
    }
    assert looks == {(colour, symbol) for colour, _, symbol in tree_chart.LOOKS[:2]}
    assert chart.proto.alt
    said = " ".join(caption.value for caption in app.caption).replace("\\", "")
    assert f"to {found.trees.values[found.trees.best]:.3f}" in said
    assert "of 720 orders were looked at" in said


def test_steps_through_the_tree_show_their_orders(orders_here, open_page, found):
    app = open_page("search_tree", order_run=orders_here.own, **ASKED)
    trees = found.trees
    assert film_of(app)["strips"][0]["order"] == trees.orders[trees.best].tolist()
    app.button(key="widget visit Start").click().run()
    assert app.query_params["visit"] == "1"
    shown = film_of(app)
    assert [strip["title"] for strip in shown["strips"]] == ["Order 1", "The best of all orders"]
    assert shown["strips"][0]["order"] == trees.orders[0].tolist()
    assert shown["strips"][1]["order"] == found.best.tolist()
    app.button(key="widget visit Its best swap").click().run()
    children = np.flatnonzero(trees.parents == 0)
    best = children[np.argmax(trees.values[children])]
    assert app.query_params["visit"] == str(best + 1)
    assert film_of(app)["strips"][0]["order"] == trees.orders[best].tolist()
    assert film_of(app)["strips"][1]["title"] == "Where tree 1 began"
    app.button(key="widget visit One swap back").click().run()
    assert app.query_params["visit"] == "1"
    app.number_input(key="widget trees").set_value(1).run()
    assert "visit" not in app.query_params, "another search has other orders"


def test_the_film_tells_the_value_of_eq_3(orders_here, open_page, found):
    app = open_page("search_tree", order_run=orders_here.own, visit="5", **ASKED)
    assert f"value {found.trees.values[4]:.3f} · " in film_of(app)["strips"][0]["note"]


def test_the_table_holds_every_order(orders_here, found):
    tested = Recomputed(orders_here, orders_here.own)
    samples = tested.drawn.samples[tested.drawn.sequences.sequence(2)]
    text = order_export.visits_csv_text(tested.images, found, samples, tested.relevance[2])
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [float(row["value"]) for row in rows] == found.trees.values.tolist()
    assert [row["samples"].split(";") for row in rows] == tested.images.ids[
        samples[found.trees.orders]
    ].tolist()
    parents = [int(row["from order"] or 0) - 1 for row in rows]
    assert parents == found.trees.parents.tolist()


def test_where_features_are_gone_a_button_computes_them(orders_here, open_page):
    for file in orders_here.store.features.glob("**/*"):
        if file.is_file():
            file.unlink()
    app = open_page("search_tree", order_run=orders_here.own)
    assert not app.exception
    assert not app.get("plotly_chart")
    app.button(key="widget compute features").click().run()
    assert not app.exception
    assert app.get("plotly_chart")


def test_a_click_is_the_number_of_a_node(monkeypatch):
    for points, expected in (
        ([], None),
        ([{"customdata": 7}], 7),
        ([{"customdata": [7]}], 7),
        ([{"x": 1}], None),
    ):
        state = {"tree": {"selection": {"points": points}}}
        monkeypatch.setattr(tree_chart.st, "session_state", state)
        assert tree_chart.clicked("tree") == expected


def test_a_training_of_another_method_is_not_offered(orders_here, open_page):
    app = open_page("search_tree", order_run=orders_here.rival)
    assert not app.exception
    assert app.warning
    assert cache.store().run(orders_here.rival).settings["method"] == "RankSVM"
    assert [orders_here.own in option for option in app.selectbox(key="widget order_run").options] == [True]
