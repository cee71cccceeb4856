"""The page Label interactions: the star, the bars and the points are the model's and the data's own numbers."""

from __future__ import annotations

import base64
import csv
import html
import io
import json
from typing import Any

import numpy as np
import pytest
from label_home import HOSTILE, LabelHome

from pages import label_interactions
from pages.parts import cache, figures_file, frame, label_charts, label_words, star_picture
from ranking import method_class
from ranking.label_pairs import LabelPairs
from ranking.methods.label_ranker import LabelRanker

pytestmark = pytest.mark.usefixtures("started")  # nothing is imported or trained beside


@pytest.fixture
def pairs(labels_here: LabelHome) -> LabelPairs:
    return cache.label_pairs(labels_here.store.run(labels_here.own))


def charts_of(app: Any) -> list[dict[str, Any]]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def test_pairs_are_those_of_the_model_and_of_the_training_images(labels_here, pairs):
    run = labels_here.store.run(labels_here.own)
    method: LabelRanker = method_class("C-star p@k").load(run.model_file)
    images = labels_here.store.image_set(labels_here.key)
    for place in (0, 17, len(pairs) - 1):
        i, j = int(pairs.first[place]), int(pairs.second[place])
        row = method.core.tolist().index(i)
        assert pairs.weight[place] == method.weights.interactions[row, j]
        both = images.relevance(method.names[i]) & images.relevance(method.names[j])
        assert pairs.together[place] == both[~images.test].sum()
    assert pairs.images == (~images.test).sum()


def test_the_page_draws_the_star_the_bars_and_the_points(labels_here, open_page, pairs):
    app = open_page("label_interactions", label_run=labels_here.own)
    assert not app.exception
    assert not app.error
    star, bars, points = charts_of(app)
    drawn = [note["text"] for note in star["layout"]["annotations"]]
    core = [f"<b>{star_picture.short(pairs.names[int(label)])}</b>" for label in pairs.core]
    assert drawn[: len(core)] == core
    assert len(drawn) <= len(core) + star_picture.MOST_OUTER
    learnt, counted = bars["data"]
    chosen = np.concatenate([pairs.strongest(1, 8), pairs.strongest(-1, 8)[::-1]])
    assert numbers(learnt["x"]) == pytest.approx(pairs.weight[chosen])
    assert numbers(counted["x"]) == pytest.approx(pairs.log_lift[chosen])
    assert counted["text"][0] == f"{pairs.together[chosen[0]]} vs {pairs.expected[chosen[0]]:.3g}"
    attract, repel, _ = points["data"]
    assert len(attract["text"]) + len(repel["text"]) == np.count_nonzero(pairs.weight)
    alts = [chart.proto.alt for chart in app.get("plotly_chart")]
    assert all(alts)
    assert app.query_params["label_run"] == labels_here.own


def numbers(told: Any) -> np.ndarray:
    """What Plotly tells as a list, or packed."""
    if isinstance(told, dict):
        return np.frombuffer(base64.b64decode(told["bdata"]), told["dtype"])
    return np.array(told, float)


def test_captions_say_what_the_numbers_say(labels_here, open_page, pairs):
    app = open_page("label_interactions", label_run=labels_here.own)
    said = " ".join(caption.value for caption in app.caption)
    strongest = pairs.strongest(1, 1)[0]
    assert frame.escaped(label_words.told(pairs, int(strongest))) in said
    drawn = pairs.weight != 0
    alike = np.count_nonzero(drawn) - np.count_nonzero((pairs.against > 0) & drawn)
    assert f"on {alike} of {np.count_nonzero(drawn)} pairs" in said
    assert HOSTILE not in said


def test_one_label_of_the_core_has_its_own_star_and_is_in_the_address(labels_here, open_page, pairs):
    name = pairs.names[int(pairs.core[1])]
    app = open_page("label_interactions", label_run=labels_here.own)
    app.segmented_control(key="widget core").set_value(name).run()
    assert not app.exception
    assert app.query_params["core"] == name
    star, bars, _ = charts_of(app)
    assert star["layout"]["annotations"][0]["text"] == f"<b>{star_picture.short(name)}</b>"
    own = pairs.of(int(pairs.core[1]))
    assert max(numbers(bars["data"][0]["x"])) == own.weight.max()
    shared = open_page("label_interactions", label_run=labels_here.own, core=name)
    assert charts_of(shared)[0]["layout"]["annotations"][0]["text"] == f"<b>{star_picture.short(name)}</b>"
    wrong = open_page("label_interactions", label_run=labels_here.own, core="nothing")
    assert "core = 'nothing'" in wrong.warning[0].value.replace("\\", "")


def test_files_hold_all_pairs_and_the_charts(pairs):
    rows = list(csv.DictReader(io.StringIO(label_interactions.csv_text(pairs))))
    assert len(rows) == len(pairs)
    assert [float(row["F"]) for row in rows] == pairs.weight.tolist()
    assert [int(row["images with both"]) for row in rows] == pairs.together.tolist()
    assert f"'{HOSTILE}" in {row["label"] for row in rows} | {row["core label"] for row in rows}
    star = star_picture.star_of(pairs)
    figure = star_picture.figure_of(star, 1.0, [""] * len(star.pairs))
    page = figures_file.as_html(HOSTILE, [(figure, HOSTILE)])
    assert html.escape(HOSTILE) in page
    assert HOSTILE not in page
    assert "<script src" not in page, "it needs no network"


def test_without_any_label_set_one_button_imports_scenes(empty_home, open_page, started):
    app = open_page("label_interactions")
    assert not app.exception
    assert not app.get("plotly_chart")
    [button] = [one for one in app.button if one.proto.type == "primary"]
    button.click().run()
    assert [run.kind for run in started if run.settings.get("source") == "Label scenes"] == ["import"]


def test_without_a_training_one_button_trains_both_rankers(labels_here, open_page, started):
    for run in labels_here.store.runs("label"):
        labels_here.store.delete_run(run.id)
    app = open_page("label_interactions")
    assert not app.exception
    before = len(started)
    [button] = [one for one in app.button if one.label == "Train C-star and its rival"]
    button.click().run()
    begun = {run.settings["method"] for run in started[before:] if run.kind == "label"}
    assert begun == {"Independent p@k", "C-star p@k"}


# ---------------------------------------------------------------------------------------------------------
# Parts
# ---------------------------------------------------------------------------------------------------------


def made_up(weights: list[float], together: list[int], expected: list[float]) -> LabelPairs:
    """A star of one label, "sea"."""
    count = len(weights)
    names = ("sea", *(f"label {i}" for i in range(count)))
    first, second = np.zeros(count, np.int64), np.arange(1, count + 1)
    return LabelPairs(
        names, np.array([0]), first, second, np.array(weights), np.array(together), np.array(expected), 100
    )


@pytest.mark.parametrize(
    ("weight", "together", "expected", "said"),
    [
        (
            0.41,
            12,
            2.4,
            "attracts label 0 (F = +0.41): together on 12% of images, 5 times as often as by chance",
        ),
        (
            -0.2,
            2,
            10.0,
            "repels label 0 (F = −0.2): together on 2% of images, only 0.2 times as often as by chance",
        ),
        (
            -0.2,
            0,
            9.4,
            "repels label 0 (F = −0.2): never together, where chance would have both on 9.4 images",
        ),
        (0.1, 0, 0.0, "attracts label 0 (F = +0.1): one of them is on no image"),
        (0.0, 5, 5.0, "leaves alone label 0 (F = +0): together on 5% of images, as often as by chance"),
    ],
)
def test_a_pair_in_words(weight, together, expected, said):
    assert label_words.told(made_up([weight], [together], [expected]), 0) == f"sea {said}"


def test_ties_are_as_wide_as_the_interaction_and_told_apart_without_colour():
    pairs = made_up([0.4, -0.2], [5, 5], [5.0, 5.0])
    star = star_picture.star_of(pairs)
    figure = star_picture.figure_of(star, 0.4, ["", ""])
    lines = [one for one in figure.data if one.mode == "lines" and one.x[0] is not None]
    looks = {(one.line.dash, round(one.line.width, 3)) for one in lines}
    assert looks == {("solid", 10.0), ("dash", 5.75)}


def test_no_two_names_of_a_star_lie_on_each_other():
    random = np.random.default_rng(2)
    count = star_picture.MOST_OUTER
    places = star_picture.arcs(random.normal(size=(count, 2)))
    across, up = (np.abs(places[:, None, axis] - places[None, :, axis]) for axis in (0, 1))
    np.fill_diagonal(across, 9)
    assert ((across > 0.5) | (up > 0.2)).all()


def test_only_what_goes_against_the_data_is_named_and_no_name_on_another():
    pairs = made_up([0.4, 0.39, -0.3, 0.2, 0.001], [1, 1, 30, 30, 4], [8.0, 8.0, 8.0, 8.0, 5.0])
    assert label_charts.most_against(pairs).tolist() == [0, 2]
    agreeing = made_up([0.4, -0.3], [30, 1], [8.0, 8.0])
    assert not len(label_charts.most_against(agreeing))
    assert "Furthest" not in label_words.compared(agreeing)
