"""The page Image sets: samples like the selected one, by features that are computed and by others."""

from __future__ import annotations

import numpy as np
import pytest
from shown import button_keys, captions, components, plain_texts, press, turn_to, warnings
from training_runs import worked
from uploading import kept_here
from working import ended

from pages.parts.app.frame import escaped
from pages.parts.importing import similar_samples
from ranking.commands import worker
from ranking.features import feature_names, load_features
from ranking.features.graph.similarity import mean_precision, nearest_samples

K = similar_samples.SHOWN


@pytest.fixture
def images(laboratory):
    return laboratory.store.sets.get(laboratory.digits)


def grids_of(app):
    """The grids of similar samples by their feature."""
    start = "Nearest samples by "
    return {
        data["label"].removeprefix(start): data["items"]
        for data in components(app, "ranking_image_grid")
        if data["label"].startswith(start)
    }


def vectors_of(laboratory, images, name):
    return load_features(images, ((name, {}),), laboratory.store.features.cache)


def test_the_nearest_samples_are_marked_by_class_and_their_precision_is_that_of_the_marks(
    laboratory, open_page, images
):
    vectors = {name: vectors_of(laboratory, images, name) for name in ("HOG", "Colour")}
    sample = 31
    [query] = images.classes_of(sample)
    app = open_page("image_sets", set=images.key, sample=str(images.ids[sample]), similar_by="HOG,Colour")
    shown = grids_of(app)
    assert [*shown] == [*vectors]
    for name, items in shown.items():
        near = nearest_samples(vectors[name], sample, K)
        assert [item["id"] for item in items] == images.ids[near].tolist()
        assert [item["left"] for item in items] == [images.classes_of(row)[0] for row in near]
        marks = [item["mark"] for item in items]
        assert marks == [
            "relevant" if images.labels[row] @ images.labels[sample] else "irrelevant" for row in near
        ]
        assert f"**{name}**: precision at {K} for {query} {marks.count('relevant') / K:.1f}" in plain_texts(
            app
        )
        assert f"{name} {mean_precision(vectors[name], images.labels, K):.2f}" in captions(app)
    assert len({item["mark"] for items in shown.values() for item in items}) == 2


def test_other_features_are_computed_in_a_worker_and_the_first_two_are_hog_and_cnn(
    laboratory, open_page, images, started
):
    assert {*similar_samples.FIRST} <= {*feature_names(images)}
    app = open_page("image_sets", set=images.key)
    assert app.button_group(key="widget similar_by").value == [*similar_samples.FIRST]
    turn_to(app, set=images.key, similar_by="GIST,Colour")
    assert [*grids_of(app)] == ["Colour"], "which runs have used"
    press(app, "widget compute GIST")
    [run] = started
    assert (run.task, run.settings["features"]) == ("describe", [["GIST", {}]])
    assert f"widget cancel {run.id}" in button_keys(app)
    assert "widget compute GIST" not in button_keys(app)
    laboratory.store.runs.end(run.id, "failed", "no *luck*")
    assert "no *luck*" in plain_texts(app.run())
    press(app, "widget compute GIST")
    worked(laboratory.store, started[1], worker.study)
    assert {*grids_of(app.run())} == {"GIST", "Colour"}


def test_uploaded_vectors_are_a_feature_and_their_title_is_plain_text(laboratory, open_page):
    shapes = laboratory.store.sets.get(laboratory.shapes)
    vectors = np.random.default_rng(0).normal(size=(len(shapes), 4)).astype(np.float32)
    own = kept_here(laboratory.store, shapes.key, vectors, title="*mine* [a](b)")
    app = open_page("image_sets", set=shapes.key, similar_by=own)
    [items] = grids_of(app).values()
    assert len(items) == K
    texts = [text.value for text in app.markdown if "mine" in text.value]
    assert texts
    assert all(escaped("*mine* [a](b)") in text for text in texts)
    turn_to(app, set=laboratory.digits, similar_by=own)
    assert own[:12] in warnings(app), "which are of another set"


def test_a_set_without_classes_has_no_marks_and_no_precision(orders_here, open_page):
    app = open_page("image_sets", set=orders_here.key, similar_by="Colour")
    press(app, "widget compute Colour")
    ended(orders_here.store, orders_here.store.runs.all(task="describe")[0])
    [items] = grids_of(app.run()).values()
    assert {item["mark"] for item in items} == {None}
    assert "year" in items[0]["left"]
    assert "recision" not in plain_texts(app)
