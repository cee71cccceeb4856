"""The page MidRank search: every point is an order that the search of the trained ranker visited."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from order_home import HOSTILE, Recomputed, film_of
from shown import charts_of, choose, numbers_in, page_of, press
from training_runs import worked

from pages.parts.charts import plots
from pages.parts.sequences import tree_chart
from ranking import method_class
from ranking.commands import worker
from ranking.explain.tree_search import TreeSearch, tree_search

page = page_of("midrank_search")
pytestmark = pytest.mark.usefixtures("started")


@pytest.fixture
def tested(orders_here) -> Recomputed:
    return Recomputed(orders_here, orders_here.own)


@pytest.fixture
def search(orders_here, tested) -> TreeSearch:
    method = method_class("MidRank").load(orders_here.store.runs.get(orders_here.own).model_file)
    return tree_search(method, 4, tested.sampled.sequences.query(2).features, 2)


def test_the_chart_and_the_steps_through_the_tree_show_its_orders(orders_here, open_page, search):
    address = {"sequence": "3", "length": "4", "trees": "2"}
    app = open_page("midrank_search", order_run=orders_here.own, **address)
    assert not app.error
    trees = search.trees
    [chart] = charts_of(app)
    traces = [trace for trace in chart["data"] if "customdata" in trace]
    points = {}
    for trace in traces:
        points |= dict(zip(trace["customdata"], trace["y"], strict=True))
    assert points == pytest.approx(dict(enumerate(trees.values.tolist(), start=1))), "all have room"
    assert any(trace["y"] == pytest.approx([search.best_value] * 2) for trace in chart["data"]), "the best"
    assert not chart["layout"].get("annotations"), "on a phone a text at the line lies under the marks"
    styles = {(trace["marker"]["color"], trace["marker"]["symbol"]) for trace in traces}
    assert styles == {(colour, symbol) for colour, _, symbol in tree_chart.STYLES[:2]}
    assert app.get("plotly_chart")[0].proto.alt
    assert film_of(app)["strips"][0]["order"] == trees.orders[trees.best].tolist()

    def strips_after(key):
        press(app, f"widget visit {key}")
        return [strip["order"] for strip in film_of(app)["strips"]]

    assert strips_after("Start") == [trees.orders[0].tolist(), search.best.tolist()]
    assert app.query_params["visit"] == "1"
    children = np.flatnonzero(trees.parents == 0)
    best = children[np.argmax(trees.values[children])]
    assert strips_after("Best swap")[:2] == [trees.orders[best].tolist(), trees.orders[0].tolist()]
    assert app.query_params["visit"] == str(best + 1)
    strips_after("Swap back")
    assert app.query_params["visit"] == "1"
    choose(app.number_input, "trees", 1)
    assert "visit" not in app.query_params, "another search has other orders"


def test_texts_give_the_values_of_the_search(tested, search):
    relevance, values = tested.relevance[2], search.trees.values
    assert numbers_in(page.words_of(search, relevance, 4))[0] == pytest.approx(values[4], abs=5e-4)
    numbers = numbers_in(page.notice(search, relevance))
    ends = [values[0], values[search.trees.best]]
    assert numbers[:2] == pytest.approx(ends, abs=5e-4)
    assert numbers[4:6] == [len(values), 720], "of all orders of 6 images"
    assert numbers[6] == pytest.approx(search.best_value, abs=5e-4)


def test_the_table_holds_every_order(tested, search):
    samples = tested.sampled.samples[tested.sampled.sequences.sequence(2)]
    text = page.csv_text(tested.images, search, samples, tested.relevance[2])
    rows, trees = list(csv.DictReader(io.StringIO(text))), search.trees
    assert [float(row["value"]) for row in rows] == trees.values.tolist()
    assert [row["samples"].split(";") for row in rows] == tested.images.ids[samples[trees.orders]].tolist()
    assert [int(row["from order"] or 0) - 1 for row in rows] == trees.parents.tolist()


def test_a_button_computes_missing_features(orders_here, open_page, started):
    for file in (orders_here.home / "features").glob("**/*"):
        if file.is_file():
            file.unlink()
    app = open_page("midrank_search", order_run=orders_here.baseline)
    assert app.warning, "a training of another method is not offered"
    [option] = app.selectbox(key="widget order_run").options
    assert HOSTILE in option, "the name of the only MidRank"
    assert not app.get("plotly_chart")
    press(app, "widget compute features")
    assert not app.get("plotly_chart")
    worked(orders_here.store, started[0], worker.study)
    app.run()
    assert app.get("plotly_chart")


def test_a_click_is_what_the_point_carries(monkeypatch):
    for points, expected in (
        ([], None),
        ([{"customdata": 7}], 7),
        ([{"customdata": [7]}], 7),
        ([{"x": 1}], None),
        ([{"customdata": [{"hostile": 1}]}], None),
    ):
        state = {"tree": {"selection": {"points": points}}}
        monkeypatch.setattr(plots.st, "session_state", state)
        assert plots.clicked_in("tree") == expected
