"""Projections on the pages: chosen in every form for features, shown with a run, and used."""

from __future__ import annotations

import re

import numpy as np
import pytest
from filled_home import train_settings
from homes import trained_besides
from image_sets import png
from label_home import board, label_settings
from shown import address, choose, compared, kinds, press, turn_to
from training_runs import finished

from pages.parts.app import cache, home
from pages.parts.labelling import label_models
from pages.parts.labelling.uploaded_image import _described
from pages.parts.rankings import weights
from pages.parts.training import certificate, projections, runs
from ranking.commands import worker
from ranking.features.projection import projection_words
from ranking.storage.events import Report
from ranking.storage.run_files import projection_of

NINE = {"kind": "PCA", "components": 9, "whiten": False}
WHITE = {"kind": "PCA", "components": 5, "whiten": True}
IN_ADDRESS = {"projection": "PCA, whitened", "projected_to": "5"}
HOG = [["HOG", {"side": 32}]]

# nothing is imported or trained beside
pytestmark = pytest.mark.usefixtures("started")


@pytest.fixture
def through_nine(laboratory, homes, monkeypatch):
    """A run on digits by HOG, through nine components, in the home of the app."""

    def train(here):
        settings = {**train_settings(here.digits), "features": HOG, "projection": NINE}
        return finished(here.store, settings).id

    here, run_id = trained_besides("through nine", train, laboratory, homes, monkeypatch)
    return here.store.runs.get(run_id)


def kept_by(app):
    """The numbers of the caption that tells how many columns a projection kept, with their percent signs."""
    [caption] = [each.value for each in app.caption if each.value.startswith("**PCA ")]
    return re.findall(r"[\d.]*\d%?", caption)


def test_a_projection_is_chosen_beside_the_features(laboratory, started, open_page):
    app = open_page("train", set=laboratory.digits)
    box = app.selectbox(key="widget projection")
    assert (box.value, tuple(box.options)) == (projections.NONE, projections.KINDS)
    press(app, "train")
    assert "projection" not in started[-1].settings
    choose(app.selectbox, "projection", projections.WHITENED)
    choose(app.number_input, "projected_to", 5)
    press(app, "train")
    assert started[-1].settings["projection"] == WHITE
    assert address(app)["run"] == started[-1].id


def test_run_shows_how_much_was_kept(laboratory, through_nine, open_page):
    app = open_page("train", run=through_nine.id)
    assert kept_by(app) == ["9", "324", certificate.floored(projection_of(through_nine).share)]
    assert app.selectbox(key="widget projection").value == "PCA"
    assert app.number_input(key="widget projected_to").value == 9
    assert runs.features_shown(through_nine) in str([table.value for table in app.dataframe])
    descriptions = [projection_words(projection) for projection in (NINE, {**NINE, "components": 8}, None)]
    assert runs.features_shown(through_nine).endswith(descriptions[0])
    assert not compared(app)
    choose(app.number_input, "projected_to", 8)
    assert [f"{descriptions[0]} → {descriptions[1]}" in difference for difference in compared(app)] == [True]
    choose(app.selectbox, "projection", projections.NONE)
    assert [f"{descriptions[0]} → {descriptions[2]}" in difference for difference in compared(app)] == [True]

    many = {**train_settings(laboratory.digits), "projection": {"kind": "PCA", "components": 500}}
    run = finished(home.store(), many)
    kept = projection_of(run).kept
    assert kept < 500, "these samples vary in no more directions"
    assert kept_by(turn_to(app, run=run.id)) == [str(kept), "512", "100%", "500"]

    through_nine.projection_file.unlink()
    cache.projection.clear()
    turn_to(app, run=through_nine.id)
    assert len(app.error) == 1
    assert app.success, "it converged nevertheless"


def test_weights_are_shown_in_the_space_of_the_features(through_nine, open_page):
    app = open_page("ranked_images", run=through_nine.id)
    app.session_state["widget weights"] = True
    app.run()
    alts = [chart.proto.alt for chart in app.get("plotly_chart")]
    assert sum("4 by 4" in alt for alt in alts) == 2
    assert weights.direction_of(through_nine).shape == (324,)


def test_the_effect_of_neighbours_is_shown_for_projected_features(laboratory, open_page):
    settings = train_settings(laboratory.figures, "playing instrument", "HOB-SVM", C=1.0, max_iterations=5)
    run = finished(laboratory.store, {**settings, "projection": WHITE})
    assert not open_page("neighbours", run=run.id).error


def test_sequence_ranking_and_its_studies_use_a_projection(orders_here, started, open_page):
    for page, button, kind in (
        ("sequences", "train sequences", "sequences"),
        ("lengths", "start study", "midrank"),
    ):
        press(open_page(page, order_set=orders_here.key, **IN_ADDRESS), button)
        assert [run.settings["projection"] for run in kinds(started, kind)] == [WHITE]


def test_experiments_use_a_projection_and_the_form_keeps_it(labels_here, started, open_page):
    for page, button, kind, where, named in (
        ("labelling_simulation", "start simulation", "asking", "label_set", "simulation"),
        ("experiments", "start experiment", "experiment", "experiment_set", "experiment"),
    ):
        press(open_page(page, **{where: labels_here.key}, features="Colour", folds="2", **IN_ADDRESS), button)
        [run] = kinds(started, kind)
        assert run.settings["projection"] == WHITE
        labels_here.store.runs.end(run.id, "cancelled", "enough")
        again = open_page(page, **{named: run.id})
        assert again.selectbox(key="widget projection").value == projections.WHITENED
        assert again.number_input(key="widget projected_to").value == 5


def test_label_ranking_projects_uploaded_images(labels_here, started, open_page):
    store = labels_here.store
    app = open_page("interactive_labelling", label_run=labels_here.own)
    choose(app.selectbox, "projection", projections.WHITENED)
    choose(app.number_input, "projected_to", 5)
    press(app, "train labels")
    assert [run.settings["projection"] for run in kinds(started, "labels")] == [WHITE]
    settings = {**label_settings(labels_here.key, "Independent p@k"), "projection": WHITE}
    run = store.runs.create("train", settings)
    store.runs.end(run.id, "finished", result=worker.train(store, run, Report(run.events_file)))
    method, shown = label_models.label_ranker(store.runs.get(run.id))
    assert (method.columns, shown.features.shape[1]) == (5, 5)
    own = _described(str(store.home), run.id, png(board(np.arange(36) == 3)))
    assert own.images.features.shape == (1, 5)
    turn_to(app, label_run=run.id)
