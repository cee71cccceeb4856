"""The page Label interactions: star, bars and points show the numbers of the model and of the data."""

from __future__ import annotations

import csv
import html
import io

import numpy as np
import pytest
from label_home import HOSTILE, LabelHome
from shown import charts_of, choose, numbers_in, page_of, texts, values

from pages.parts.app import figures_file, frame
from pages.parts.labelling import label_charts, label_models, star_picture
from ranking import method_class
from ranking.explain.label_pairs import LabelPairs
from ranking.methods.label_ranker import LabelRanker

page = page_of("label_interactions")
# nothing is imported or trained beside
pytestmark = pytest.mark.usefixtures("started")


@pytest.fixture
def pairs(labels_here: LabelHome) -> LabelPairs:
    return label_models.label_pairs(labels_here.store.runs.get(labels_here.own))


def test_pairs_are_those_of_the_model_and_of_the_training_images(labels_here, pairs):
    run = labels_here.store.runs.get(labels_here.own)
    method: LabelRanker = method_class("C-star p@k").load(run.model_file)
    images = labels_here.store.sets.get(labels_here.key)
    place = len(pairs) - 1
    i, j = int(pairs.first[place]), int(pairs.second[place])
    assert pairs.weight[place] == method.weights.interactions[method.core.tolist().index(i), j]
    both = images.relevance(method.names[i]) & images.relevance(method.names[j])
    assert pairs.together[place] == both[~images.test].sum()
    assert pairs.images == (~images.test).sum()


def test_the_page_shows_the_star_the_bars_and_the_points_of_all_and_of_one_label(
    labels_here, open_page, pairs
):
    app = open_page("label_interactions", label_run=labels_here.own, core="nothing")
    assert "nothing" in app.warning[0].value
    assert all(chart.proto.alt for chart in app.get("plotly_chart"))
    star, bars, points = charts_of(app)
    names_shown = [note["text"] for note in star["layout"]["annotations"]]
    core = [f"<b>{star_picture.short(pairs.names[int(label)])}</b>" for label in pairs.core]
    assert names_shown[: len(core)] == core
    assert len(names_shown) <= len(core) + star_picture.MAX_OUTER
    learned, counted = bars["data"]
    chosen = np.concatenate([pairs.strongest(1, page.MAX_BARS), pairs.strongest(-1, page.MAX_BARS)[::-1]])
    assert values(learned["x"]) == pytest.approx(pairs.weight[chosen])
    assert values(counted["x"]) == pytest.approx(pairs.log_lift[chosen])
    first = chosen[0]
    assert counted["text"][0] == f"{pairs.together[first]} vs {pairs.expected[first]:.3g}"
    attract, repel, _ = points["data"]
    assert len(attract["text"]) + len(repel["text"]) == np.count_nonzero(pairs.weight)
    assert label_charts.strongest(pairs) in texts(app)
    assert label_charts.compared(pairs) in texts(app)
    assert HOSTILE not in texts(app)

    label = int(pairs.core[1])
    choose(app.segmented_control, "core", pairs.names[label])
    star, bars, _ = charts_of(app)
    assert star["layout"]["annotations"][0]["text"] == f"<b>{star_picture.short(pairs.names[label])}</b>"
    assert max(values(bars["data"][0]["x"])) == pairs.of(label).weight.max()


def test_texts_give_the_strongest_pairs_and_those_that_agree_with_the_data(pairs):
    strongest = int(pairs.strongest(1, 1)[0])
    assert frame.escaped(label_charts.in_words(pairs, strongest)) in label_charts.strongest(pairs)
    nonzero = pairs.weight != 0
    alike = np.count_nonzero(nonzero) - np.count_nonzero((pairs.against > 0) & nonzero)
    assert numbers_in(label_charts.compared(pairs))[:2] == [alike, np.count_nonzero(nonzero)]


def test_files_hold_all_pairs_and_the_charts(pairs):
    rows = list(csv.DictReader(io.StringIO(page.csv_text(pairs))))
    assert len(rows) == len(pairs)
    assert [float(row["F"]) for row in rows] == pairs.weight.tolist()
    assert [int(row["images with both"]) for row in rows] == pairs.together.tolist()
    assert f"'{HOSTILE}" in {row["label"] for row in rows} | {row["core label"] for row in rows}
    star = star_picture.star_of(pairs)
    figure = star_picture.figure_of(star, 1.0, [""] * len(star.pairs))
    whole = figures_file.as_html(HOSTILE, [(figure, HOSTILE)])
    assert html.escape(HOSTILE) in whole
    assert HOSTILE not in whole
    assert "<script src" not in whole, "it needs no network"


# ------------------------------------------------------------------------------------------------------ parts


def made_up(weights: list[float], together: list[int], expected: list[float]) -> LabelPairs:
    """A star of one label, "sea"."""
    count = len(weights)
    names = ("sea", *(f"label {i}" for i in range(count)))
    ends = np.zeros(count, np.int64), np.arange(1, count + 1)
    return LabelPairs(names, np.array([0]), *ends, *map(np.array, (weights, together, expected)), 100)


def test_ties_are_as_wide_as_the_interaction_and_distinct_without_colour():
    star = star_picture.star_of(made_up([0.4, -0.2], [5, 5], [5.0, 5.0]))
    figure = star_picture.figure_of(star, 0.4, ["", ""])
    lines = [trace for trace in figure.data if trace.mode == "lines" and trace.x[0] is not None]
    styles = {(trace.line.dash, round(trace.line.width, 3)) for trace in lines}
    assert styles == {("solid", 10.0), ("dash", 5.75)}


def test_no_two_names_of_a_star_lie_on_each_other():
    random = np.random.default_rng(2)
    count = star_picture.MAX_OUTER
    places = star_picture.arcs(random.normal(size=(count, 2)))
    across, up = (np.abs(places[:, None, axis] - places[None, :, axis]) for axis in (0, 1))
    np.fill_diagonal(across, 9)
    assert ((across > 0.5) | (up > 0.2)).all()


def test_only_what_goes_against_the_data_is_named_and_no_name_on_another():
    pairs = made_up([0.4, 0.39, -0.3, 0.2, 0.001], [1, 1, 30, 30, 4], [8.0, 8.0, 8.0, 8.0, 5.0])
    assert label_charts.most_against(pairs).tolist() == [0, 2]
    agreeing = made_up([0.4, -0.3], [30, 1], [8.0, 8.0])
    assert not len(label_charts.most_against(agreeing))
