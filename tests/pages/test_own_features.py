"""Features of a person's own on the pages: dropped, looked at, kept, chosen, trained with, deleted."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from filled_home import run_here, train_settings
from test_train import texts

from pages.parts import bringing, cache, export, feature_choice, runs
from ranking import worker
from ranking.events import Report
from ranking.features import load_features
from ranking.home import HomeError
from ranking.run_archive import export_run, import_run
from ranking.run_settings import FeaturesSettings, TrainSettings
from ranking.store import Store

PATH = "widget own features path"


def npy(array) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def npz(**arrays) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


@pytest.fixture
def images(laboratory):
    return laboratory.store.image_set(laboratory.shapes)


@pytest.fixture
def vectors(images):
    """Features that tell the classes apart, the way a good network's would."""
    noise = np.random.default_rng(0).normal(size=(len(images), 6))
    return np.hstack([noise, 5.0 * images.labels])


def uploader(app):
    [found] = [one for one in app.file_uploader if one.label == "Drop features here"]
    return found


def drop(app, data, name="resnet.npy"):
    uploader(app).set_value((name, data, "application/octet-stream")).run()
    assert not app.exception
    return app


def look_here(store, run):
    """A look that a page began, done as its worker does it."""
    report = Report(run.folder / "events.jsonl")
    try:
        store.end_run(run.id, "finished", result=worker.look_at_features(store, run, report))
    except ValueError as error:
        store.end_run(run.id, "failed", str(error))
        store.clear(run)
    return store.run(run.id)


def looked_at(laboratory, started, app, data, name="resnet.npy"):
    drop(app, data, name)
    look_here(laboratory.store, started[-1])
    app.run()
    assert not app.exception
    return app


def kept_here(store, key, array, title="resnet") -> str:
    """Vectors that were brought and kept."""
    run = store.create_run("features", FeaturesSettings(key, brought=f"{title}.npy").to_json())
    run.brought_file.write_bytes(npy(array))
    return store.keep_vectors(look_here(store, run).id)


def pills(app):
    [found] = [one for one in app.button_group if one.label == "Features"]
    return found


def errors(app):
    return [error.value.replace("\\", "") for error in app.error]


# --------------------------------------------------------------------------------------------------- bringing them


def test_what_is_dropped_is_looked_at_kept_and_chosen_on_train(
    laboratory, started, open_page, images, vectors
):
    app = open_page("image_sets", set=laboratory.shapes)
    drop(app, npy(vectors))
    [run] = started
    assert (run.kind, run.settings["set"], run.settings["brought"]) == (
        "features",
        laboratory.shapes,
        "resnet.npy",
    )
    assert app.query_params["own"] == run.id
    assert "#### Looking at resnet.npy" in [part.value.replace("\\", "") for part in app.markdown]
    look_here(laboratory.store, run)
    app.run()
    assert not app.exception
    assert [(one.label, one.value) for one in app.metric][:3] == [
        ("Samples", f"{len(images)} of {len(images)}"),
        ("Columns", str(vectors.shape[1])),
        ("Left out", "0"),
    ]
    assert laboratory.store.vectors_of(laboratory.shapes) == [], "nothing is kept before the person says so"
    app.text_input(key=f"title {run.id}").input("my <b>net</b>").run()
    app.button(key="keep features").click().run()
    assert not app.exception
    [told] = laboratory.store.vectors_of(laboratory.shapes)
    assert told.title == "my <b>net</b>"
    assert app.query_params["features"] == told.name
    train = open_page("train", set=laboratory.shapes, features=told.name)
    assert pills(train).value == [told.name]
    train.button(key="train").click().run()
    assert started[-1].settings["features"] == [["Own vectors", {"vectors": told.name}]]


def test_a_look_that_waits_is_listed(laboratory, started, open_page, vectors):
    looked_at(laboratory, started, open_page("image_sets", set=laboratory.shapes), npy(vectors))
    app = open_page("image_sets", set=laboratory.shapes)
    [waits] = [one for one in app.button if one.label.endswith("waits for your decision")]
    assert waits.label.replace("\\", "").startswith("resnet.npy, which you have looked at,")
    waits.click().run()
    assert not app.exception
    assert app.query_params["own"] == started[-1].id
    assert app.metric


def test_the_server_forgets_what_was_dropped(laboratory, started, open_page, vectors, monkeypatch):
    released = []
    monkeypatch.setattr(bringing, "_release", released.append)
    app = open_page("image_sets", set=laboratory.shapes)
    key = uploader(app).key
    drop(app, npy(vectors))
    assert [file.name for file in released] == ["resnet.npy"]
    app.query_params["own"] = "new"
    app.run()
    assert uploader(app).key != key


def test_what_does_not_fit_is_told_with_a_table_and_leaves_nothing(
    laboratory, started, open_page, images, vectors
):
    half = len(images) // 2
    data = npz(features=vectors[:half], ids=images.ids[:half])
    app = looked_at(laboratory, started, open_page("image_sets", set=laboratory.shapes), data, "half.npz")
    missing = len(images) - half
    assert errors(app)[0].startswith(f"{missing:,} of {len(images)} samples of ")
    table = next(frame.value for frame in app.dataframe if "expected" in frame.value)
    assert len(table) == missing
    assert set(table["came"]) == {"no row"}
    assert not [one for one in app.button if one.key == "keep features"]
    app.button(key="discard features").click().run()
    assert not started[-1].folder.exists()
    assert not list(laboratory.home.rglob("brought.zip"))
    assert "own" not in app.query_params


def test_a_file_that_cannot_be_read_leaves_nothing_but_words(laboratory, started, open_page):
    app = looked_at(
        laboratory, started, open_page("image_sets", set=laboratory.shapes), b"\x80\x04K\x01.", "my.npy"
    )
    assert "a pickle, which is never opened" in errors(app)[0]
    assert "Nothing is left of my.npy." in texts(app).replace("\\", "")
    assert not started[-1].folder.exists()


def test_other_arrays_are_looked_at_before_they_can_be_kept(laboratory, started, open_page, images, vectors):
    data = npz(features=vectors, small=vectors[:, :3], ids=images.ids)
    app = looked_at(laboratory, started, open_page("image_sets", set=laboratory.shapes), data, "two.npz")
    first = started[-1]
    assert app.selectbox(key=f"widget ids {first.id}").options == [
        "the order of the samples",
        f"ids ({len(images)} known)",
    ]
    app.selectbox(key=f"widget vectors {first.id}").select("small").run()
    assert not [one for one in app.button if one.key == "keep features"]
    app.button(key="look at arrays").click().run()
    second = started[-1]
    assert (second.settings["vectors"], second.settings["ids"]) == ("small", "ids")
    assert second.brought_file.read_bytes() == data
    assert not first.folder.exists(), "the copy was handed on"
    look_here(laboratory.store, second)
    app.run()
    assert [one.value for one in app.metric][1] == "3"


def test_a_typed_path_is_looked_at_and_not_shared(laboratory, started, open_page, vectors, tmp_path):
    np.save(tmp_path / "net.npy", vectors)
    app = open_page("image_sets", set=laboratory.shapes, own="new")
    app.button(key="look at features").click().run()
    assert errors(app) == ["**File of features** is empty: type a path, or drop a file above."]
    app.text_input(key=PATH).input(f" {tmp_path}/net.npy ").run()
    app.button(key="look at features").click().run()
    [run] = started
    assert run.settings["place"] == f"{tmp_path}/net.npy"
    assert str(tmp_path) not in str(app.query_params), "a path of this machine is not shared"
    assert look_here(laboratory.store, run).result["columns"] == vectors.shape[1]


def test_a_room_may_not_read_the_files_of_others(laboratory, vectors):
    from ranking.rooms import Rooms

    room = Store(Rooms(laboratory.home).make("visitor-1"))
    key = room.adopt(laboratory.store.image_set(laboratory.shapes).folder, "x")
    secret = laboratory.home / "secret.npy"
    np.save(secret, vectors)
    run = look_here(room, room.create_run("features", FeaturesSettings(key, str(secret)).to_json()))
    assert run.state == "failed"
    assert "RANKING_ROOM_FOLDERS" in run.reason


def test_a_home_that_cannot_take_the_file_is_said(laboratory, started, open_page, monkeypatch):
    def refuse(*_):
        raise HomeError("this room is *full*")

    app = open_page("image_sets", set=laboratory.shapes)
    monkeypatch.setattr("ranking.jobs.start", refuse)
    assert errors(drop(app, b"x")) == ["this room is *full*"]


def test_rows_in_another_order_are_warned_of(laboratory, started, open_page, images, vectors):
    wrong = vectors[np.random.default_rng(1).permutation(len(images))]
    app = looked_at(laboratory, started, open_page("image_sets", set=laboratory.shapes), npy(wrong))
    assert any("in another order than the samples" in warning.value for warning in app.warning)


def test_a_look_for_another_set_is_not_shown(laboratory, started, open_page, vectors):
    app = drop(open_page("image_sets", set=laboratory.shapes), npy(vectors))
    other = open_page("image_sets", set=laboratory.digits, own=app.query_params["own"])
    assert "expected a look at features for this image set" in other.warning[0].value


# --------------------------------------------------------------------------------------------------- using them


@pytest.fixture
def own(laboratory, vectors):
    return kept_here(laboratory.store, laboratory.shapes, vectors)


@pytest.fixture
def on_own(laboratory, own):
    """A training on them."""
    asked = train_settings(laboratory.shapes, "disc", "AP-SVM", C=100.0)
    return run_here(laboratory.store, {**asked, "features": [["Own vectors", {"vectors": own}]]})


def test_they_stand_beside_the_features_of_pictures(laboratory, started, open_page, own, images):
    app = open_page("train", set=laboratory.shapes, features=f"Colour,{own}")
    assert pills(app).value == ["Colour", own]
    assert pills(app).options[-1].replace("\\", "") == "resnet.npy (9 own)"
    app.button(key="train").click().run()
    assert [name for name, _ in started[-1].settings["features"]] == ["Colour", "Own vectors"]
    assert cache.store().vectors_of(laboratory.digits) == []
    other = open_page("train", set=laboratory.digits, features=own)
    assert "were not brought for this image set in this home" in other.warning[0].value.replace("\\", "")


@pytest.mark.parametrize("page", ["experiments", "ask_simulation", "lengths", "orders", "label_questions"])
def test_other_pages_open_with_them_kept(laboratory, own, open_page, page):
    assert not open_page(page).exception


def test_a_training_on_them_ranks_and_is_told_by_their_name(laboratory, open_page, on_own, own, images):
    assert on_own.result["test"]["AP"] > 0.95
    app = open_page("train", run=on_own.id)
    assert not app.exception
    assert pills(app).value == [own], "the training stands for them"
    for page in ("ranked_images", "compare"):
        assert not open_page(page, run=on_own.id).exception
    before = TrainSettings.from_json({**on_own.settings, "features": [["Colour", {}]]})
    after = TrainSettings.from_json(on_own.settings)
    assert runs.differences(before, after) == ["features Colour → resnet.npy"]
    assert " · resnet.npy · " in export.title_of(on_own, images, cache.ranking(on_own, "test"), "test")


def test_without_them_a_training_keeps_its_ranking_and_says_what_is_missing(
    laboratory, open_page, on_own, own
):
    app = open_page("image_sets", set=laboratory.shapes, own="new")
    app.button(key=f"widget delete {own}").click().run()
    assert not app.exception
    assert laboratory.store.vectors_of(laboratory.shapes) == []
    ranked = open_page("ranked_images", run=on_own.id)
    assert not ranked.exception
    again = open_page("train", run=on_own.id)
    assert not again.exception
    assert "bring the file once more, equal files have the same name" in again.warning[0].value.replace(
        "\\", ""
    )
    with pytest.raises(ValueError, match="bring the file once more"):
        load_features(
            laboratory.store.image_set(laboratory.shapes),
            on_own.settings["features"],
            laboratory.store.features,
        )


def test_an_export_goes_without_them_and_is_checked_where_they_are(
    laboratory, on_own, own, tmp_path, vectors
):
    data = export_run(laboratory.store, on_own.id)
    assert import_run(laboratory.store, data).imported["checked"] == {"metrics": True, "scores": True}
    other = Store(tmp_path / "other")
    key = other.adopt(laboratory.store.image_set(laboratory.shapes).folder, "x")
    run = import_run(other, data)
    assert run.imported["checked"] == {"metrics": True, "scores": False}
    assert kept_here(other, key, vectors) == own, "equal vectors have the same name"
    assert import_run(other, data).imported["checked"] == {"metrics": True, "scores": True}


def test_names_go_through_settings_and_back(laboratory, own):
    features = feature_choice.named(["HOG", own])
    assert feature_choice.names_of(features) == ["HOG", own]
    assert feature_choice.names_of(json.loads(json.dumps(features))) == ["HOG", own]
    assert feature_choice.by_words(features, laboratory.shapes) == {"HOG": {}, "resnet.npy": {}}
    assert feature_choice.by_words(features, laboratory.digits) == {"HOG": {}, f"own {own[4:12]}": {}}, (
        "not there"
    )


def test_two_of_one_title_are_told_apart_and_no_title_is_taken_for_a_feature(laboratory, own, vectors):
    other = kept_here(laboratory.store, laboratory.shapes, vectors[:, ::-1])
    run = laboratory.store.create_run(
        "features", FeaturesSettings(laboratory.shapes, brought="x.npy").to_json()
    )
    run.brought_file.write_bytes(npy(vectors[::-1].copy()))
    third = laboratory.store.keep_vectors(look_here(laboratory.store, run).id, "HOG")
    features = feature_choice.named(["HOG", own, other, third])
    assert list(feature_choice.by_words(features, laboratory.shapes)) == [
        "HOG",
        f"resnet.npy (own {own[4:12]})",
        f"resnet.npy (own {other[4:12]})",
        f"HOG (own {third[4:12]})",
    ]
