"""A person's own features on the pages: uploaded, previewed, kept, chosen, trained with, deleted."""

from __future__ import annotations

import json

import numpy as np
import pytest
from archives import npy, npz
from filled_home import train_settings
from imports_here import go_on, question_of
from refusals import refused
from shown import button_keys, errors, plain, press
from training_runs import finished
from uploading import drop, kept_here, pills, previewed, uploader

from pages.parts.app import cache
from pages.parts.training import export, feature_choice, runs
from ranking.features import load_features
from ranking.features.uploaded_vectors import short_name
from ranking.storage.run import RECORD
from ranking.storage.run_settings import FeaturesSettings, TrainSettings


@pytest.fixture
def images(laboratory):
    return laboratory.store.sets.get(laboratory.shapes)


@pytest.fixture
def vectors(images):
    """Features that tell the classes apart, the way a good network's would."""
    noise = np.random.default_rng(0).normal(size=(len(images), 6))
    return np.hstack([noise, 5.0 * images.labels])


def test_a_file_is_read_listed_added_and_chosen_on_train(laboratory, started, open_page, images, vectors):
    app = open_page("image_sets", set=laboratory.shapes)
    key = uploader(app).key
    drop(app, npy(vectors))
    [run] = started
    wanted = FeaturesSettings(laboratory.shapes, upload="resnet.npy").to_json()
    assert (run.kind, run.settings) == ("import", wanted)
    assert app.query_params["own"] == run.id
    assert any(part.value.startswith("**") and "resnet.npy" in plain(part) for part in app.markdown)
    go_on(laboratory.store, run)
    elsewhere = open_page("image_sets", set=laboratory.figures, own=run.id)
    assert (len(elsewhere.warning), len(elsewhere.metric)) == (1, 0), "it is for another set"
    app.query_params["own"] = "new"
    app.run()
    assert uploader(app).key != key, "a widget of its own, which holds nothing"
    press(app, f"widget open {run.id}")
    assert app.query_params["own"] == run.id
    counts = [f"{len(images)} of {len(images)}", str(vectors.shape[1]), "0"]
    assert [metric.value for metric in app.metric][:3] == counts, "samples, columns, constant columns"
    assert laboratory.store.features.vectors_of(laboratory.shapes) == [], (
        "nothing is stored before the person decides"
    )
    app.text_input(key=f"title {run.id}").input("my <b>net</b>").run()
    press(app, "add features")
    assert go_on(laboratory.store, run).state == "finished"
    [kept] = laboratory.store.features.vectors_of(laboratory.shapes)
    assert kept.title == "my <b>net</b>"
    assert [f"features={kept.name}" in link.proto.query_string for link in app.run().get("page_link")].count(
        True
    )
    train = open_page("train", set=laboratory.shapes, features=f"Colour,{kept.name}")
    assert pills(train).value == ["Colour", kept.name]
    assert plain(pills(train).options[-1]) == "my <b>net</b> (9 custom)"
    press(train, "train")
    colour, on_vectors = started[-1].settings["features"]
    assert (colour[0], on_vectors) == ("Colour", ["Own vectors", {"vectors": kept.name}])


def test_vectors_that_do_not_fit_are_listed_and_not_stored(laboratory, started, open_page, images, vectors):
    half = len(images) // 2
    data = npz(features=vectors[:half], ids=images.ids[:half])
    app = previewed(laboratory, started, open_page("image_sets", set=laboratory.shapes), data, "half.npz")
    missing = len(images) - half
    assert errors(app)[0].startswith(f"{missing:,} of {len(images)} ")
    assert missing in [len(table.value) for table in app.table]
    assert "add features" not in button_keys(app)
    app.query_params["own"] = "new"
    assert "half.npz could not be read" in plain(app.run().button(key=f"widget open {started[0].id}").label)
    for data, name in ((b"\x80\x04K\x01.", "my_pickle.npy"), (npy(vectors[:5]), "of_5.npy")):
        app.query_params["own"] = "new"
        app = previewed(laboratory, started, app.run(), data, name)
        run = laboratory.store.runs.get(started[-1].id)
        assert run.reason in errors(app)[0], "there is nothing to decide"
        assert name in run.reason
        assert [file.name for file in run.folder.iterdir() if file.name != "lock"] == [RECORD], (
            "nothing else is left"
        )


def test_other_arrays_are_read_before_they_can_be_added(laboratory, started, open_page, images, vectors):
    shuffled = vectors[np.random.default_rng(1).permutation(len(images))]
    data = npz(features=shuffled, small=vectors[:, :3], ids=images.ids)
    app = previewed(laboratory, started, open_page("image_sets", set=laboratory.shapes), data, "two.npz")
    [first] = started
    assert len(app.warning) == 1, "the rows are in another order than the samples"
    ways = app.selectbox(key=f"widget ids {first.id} 1").options
    assert ways[1:] == ["ids"], "after the order of the samples"
    app.selectbox(key=f"widget vectors {first.id} 1").select("small").run()
    assert "add features" not in button_keys(app)
    press(app, "read again")
    reading = question_of(go_on(laboratory.store, first)).reading
    assert (reading["vectors"], reading["ids"]) == ("small", "ids")
    assert app.run().metric[1].value == "3"


def test_a_typed_path_is_not_shared(laboratory, started, open_page):
    app = open_page("image_sets", set=laboratory.shapes, own="new")
    press(app, "read own")
    assert len(app.error) == 1, "the path is empty"
    assert not started
    app.text_input(key="widget own features path").input(" /of/mine/net.npy ")
    press(app, "read own")
    [run] = started
    assert run.settings["place"] == "/of/mine/net.npy"
    assert "/of/mine" not in str(app.query_params), "a path of this machine is not shared"


@pytest.fixture
def own(laboratory, vectors):
    return kept_here(laboratory.store, laboratory.shapes, vectors)


@pytest.fixture
def on_own(laboratory, own):
    """A training on them."""
    settings = train_settings(laboratory.shapes, "disc", "AP-SVM", C=100.0)
    return finished(laboratory.store, {**settings, "features": [["Own vectors", {"vectors": own}]]})


def test_a_training_names_them_and_keeps_its_ranking_without_them(laboratory, open_page, on_own, own, images):
    assert on_own.result["test"]["AP"] > 0.95
    app = open_page("train", run=on_own.id)
    assert pills(app).value == [own], "the training stands for them"
    assert not open_page("experiments", experiment_set=laboratory.shapes, features=own).warning
    before = TrainSettings.from_json({**on_own.settings, "features": [["Colour", {}]]})
    after = TrainSettings.from_json(on_own.settings)
    assert runs.differences(before, after) == ["features Colour → resnet.npy"]
    assert " · resnet.npy · " in export.title_of(on_own, images, cache.ranking(on_own, "test"), "test")
    with_figures = open_page("train", set=laboratory.figures, features=own)
    assert [own[4:12] in warning.value for warning in with_figures.warning] == [True], (
        "they are for another set"
    )
    app = open_page("image_sets", set=laboratory.shapes, own="new")
    press(app, f"widget delete {own}")
    assert laboratory.store.features.vectors_of(laboratory.shapes) == []
    open_page("ranked_images", run=on_own.id)
    again = open_page("train", run=on_own.id)
    assert [own[4:12] in warning.value for warning in again.warning] == [True]
    with refused(f"vectors of {short_name(own)}", "none"):
        load_features(images, on_own.settings["features"], laboratory.store.features.cache)


def test_names_go_through_settings_and_equal_titles_become_unique(laboratory, own, vectors):
    features = json.loads(json.dumps(feature_choice.named(["HOG", own])))
    assert feature_choice.names_of(features) == ["HOG", own]
    assert feature_choice.by_words(features, laboratory.shapes) == {"HOG": {}, "resnet.npy": {}}
    elsewhere = feature_choice.by_words(features, laboratory.digits)
    assert elsewhere == {"HOG": {}, f"own {own[4:12]}": {}}, "not there"
    reversed_vectors = kept_here(laboratory.store, laboratory.shapes, vectors[:, ::-1])
    third = kept_here(laboratory.store, laboratory.shapes, vectors[::-1].copy(), "HOG")
    features = feature_choice.named(["HOG", own, reversed_vectors, third])
    titles = [
        f"{title} (own {name[4:12]})"
        for title, name in (("resnet.npy", own), ("resnet.npy", reversed_vectors), ("HOG", third))
    ]
    assert list(feature_choice.by_words(features, laboratory.shapes)) == ["HOG", *titles]
