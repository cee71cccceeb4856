"""Projections on the pages: chosen in every form that chooses features, told of a training, and used where it is."""

from __future__ import annotations

import numpy as np
import pytest
from filled_home import run_here, train_settings
from label_home import board, label_settings

from pages.parts import cache, keys
from pages.parts.own_image import _described
from ranking import worker
from ranking.events import Report
from ranking.features import load_features, make_feature
from ranking.features.projection import PCA
from ranking.training import projection_of

NINE = {"kind": "PCA", "components": 9, "whiten": False}
WHITE = {"kind": "PCA", "components": 5, "whiten": True}
IN_ADDRESS = {"projection": "PCA, whitened", "projected_to": "5"}
HOG = [["HOG", {"side": 32}]]

pytestmark = pytest.mark.usefixtures("started")  # nothing is imported or trained beside


def said(app):
    elements = [*app.markdown, *app.caption, *app.error, *app.warning, *app.success, *app.info]
    return "\n".join(element.value for element in elements)


@pytest.fixture
def through_nine(laboratory):
    """A training on digits by HOG, through nine components."""
    return run_here(
        laboratory.store, {**train_settings(laboratory.digits), "features": HOG, "projection": NINE}
    )


def test_it_is_chosen_beside_the_features(laboratory, started, open_page):
    app = open_page("train", set=laboratory.digits)
    chosen = app.selectbox(key=keys.widget("projection"))
    assert (chosen.value, list(chosen.options)) == ("None", ["None", "PCA", "PCA, whitened"])
    assert "fitted on the training samples alone" in chosen.help.lower()
    app.button(key="train").click().run()
    assert "projection" not in started[-1].settings
    app.selectbox(key=keys.widget("projection")).select("PCA").run()
    app.number_input(key=keys.widget("projected_to")).set_value(9).run()
    app.button(key="train").click().run()
    assert not app.exception
    assert started[-1].settings["projection"] == NINE
    assert app.query_params["run"] == started[-1].id


def test_a_training_says_how_much_it_kept(laboratory, through_nine, open_page):
    app = open_page("train", run=through_nine.id)
    assert not app.exception
    images = laboratory.store.image_set(laboratory.digits)
    features = load_features(images, HOG, laboratory.store.features)[~images.test].astype(np.float64)
    variances = np.sort(np.linalg.eigvalsh(np.cov(features.T)))[::-1]
    share = np.floor(1000 * variances[:9].sum() / variances.sum()) / 10
    assert f"**PCA kept 9 of 324 columns**, {share:g}% of the variance of the training samples." in said(app)
    assert app.selectbox(key=keys.widget("projection")).value == "PCA"
    assert app.number_input(key=keys.widget("projected_to")).value == 9
    assert "HOG, PCA to 9" in said(app) + str([table.value for table in app.dataframe])
    assert "Like **" not in said(app)
    app.number_input(key=keys.widget("projected_to")).set_value(8).run()
    assert "projection PCA to 9 → PCA to 8**: press **Train**" in said(app)
    app.selectbox(key=keys.widget("projection")).select("None").run()
    assert "projection PCA to 9 → none**: press **Train**" in said(app)


def test_fewer_directions_than_were_asked_for_are_said(laboratory, open_page):
    asked = {**train_settings(laboratory.digits), "projection": {"kind": "PCA", "components": 500}}
    run = run_here(laboratory.store, asked)
    found = projection_of(run)
    told = said(open_page("train", run=run.id))
    assert f"**PCA kept {found.kept} of 512 columns**, 100% of the variance" in told
    assert "500 were asked for: these samples vary in no more directions." in told


def test_a_projection_that_is_gone_is_said_in_its_place(laboratory, through_nine, open_page):
    through_nine.projection_file.unlink()
    app = open_page("train", run=through_nine.id)
    assert not app.exception
    assert "projection\\.npz" in said(app)
    assert "Converged" in said(app)


def test_weights_are_drawn_in_the_space_of_the_features(laboratory, through_nine, open_page):
    run, found = laboratory.store.run(through_nine.id), projection_of(through_nine)
    app = open_page("ranked_images", run=run.id)
    app.session_state[keys.widget("weights")] = True
    app.run()
    assert not app.exception
    shown = [str(one.proto) for one in app.get("image")]
    assert ["4 by 4 cells" in alt for alt in shown if "Weights of HOG" in alt] == [True, True]
    direction = cache.direction(run)
    assert direction.shape == (make_feature("HOG", side=32).size,)
    images = laboratory.store.image_set(laboratory.digits)
    features = load_features(images, HOG, laboratory.store.features)
    scores = np.load(run.scores_file)
    np.testing.assert_allclose((features - found.mean) @ direction, scores, atol=1e-4 * np.abs(scores).max())


def test_what_neighbours_did_is_told_through_it(laboratory, open_page):
    asked = train_settings(laboratory.figures, "playing instrument", "HOB-SVM", C=1.0, max_iterations=5)
    run = run_here(laboratory.store, {**asked, "projection": WHITE})
    app = open_page("max_marginals", run=run.id)
    assert not app.exception
    assert not app.error


@pytest.mark.parametrize(
    ("page", "button", "kind"),
    [("orders", "train orders", "order"), ("lengths", "start study", "study")],
)
def test_orders_and_their_studies_are_learnt_through_one(orders_here, started, open_page, page, button, kind):
    app = open_page(page, order_set=orders_here.key, **IN_ADDRESS)
    app.button(key=button).click().run()
    assert not app.exception
    assert [run.settings["projection"] for run in started if run.kind == kind] == [WHITE]


@pytest.mark.parametrize(
    ("page", "button", "kind", "where"),
    [
        ("ask_simulation", "start simulation", "asking", "label_set"),
        ("experiments", "start experiment", "experiment", "experiment_set"),
    ],
)
def test_folds_are_learnt_through_one_and_the_form_holds_it(
    labels_here, started, open_page, page, button, kind, where
):
    app = open_page(page, **{where: labels_here.key}, features="Colour", folds="2", **IN_ADDRESS)
    app.button(key=button).click().run()
    assert not app.exception
    [run] = [run for run in started if run.kind == kind]
    assert run.settings["projection"] == WHITE
    labels_here.store.end_run(run.id, "cancelled", "enough")
    again = open_page(page, **{"simulation" if kind == "asking" else kind: run.id})
    assert again.selectbox(key=keys.widget("projection")).value == "PCA, whitened"
    assert again.number_input(key=keys.widget("projected_to")).value == 5


def test_a_ranker_of_labels_sees_own_images_through_it(labels_here, started, open_page):
    store = labels_here.store
    app = open_page("label_questions", label_run=labels_here.own)
    app.selectbox(key=keys.widget("label training projection")).select("PCA, whitened").run()
    app.number_input(key=keys.widget("label training projected_to")).set_value(5).run()
    app.button(key="widget train another").click().run()
    assert not app.exception
    assert [run.settings["projection"] for run in started if run.kind == "label"] == [WHITE]
    asked = {**label_settings(labels_here.key, "Independent p@k"), "projection": WHITE}
    run = store.create_run("label", asked)
    result = worker.train_labels(store, run, Report(run.events_file))
    store.end_run(run.id, "finished", result=result)
    method, shown = cache.label_ranker(store.run(run.id))
    assert (method.columns, shown.features.shape[1]) == (5, 5)
    images = store.image_set(labels_here.key)
    features = load_features(images, asked["features"], store.features)
    np.testing.assert_array_equal(shown.features, PCA(5, True).fitted(features, ~images.test)(features))
    brought = _described(str(store.home), run.id, board(np.arange(36) == 3))
    assert brought.images.features.shape == (1, 5)
    page = open_page("label_questions", label_run=run.id)
    assert not page.exception
