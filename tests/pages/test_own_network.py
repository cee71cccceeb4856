"""A model in ONNX on the pages: dropped, looked at, used in another way, kept, chosen, trained with."""

from __future__ import annotations

import pytest
from filled_home import run_here, train_settings
from test_own_features import drop, errors, look_here, looked_at, pills
from test_train import texts
from tiny_models import mean_colour, model, port

from ranking.networks.files import network_name

pytest.importorskip(
    "onnxruntime", reason="onnxruntime is not installed: pip install 'ranking-laboratory[onnx]'"
)


def test_a_model_is_looked_at_kept_and_chosen_on_train(laboratory, started, open_page):
    app = open_page("image_sets", set=laboratory.shapes)
    looked_at(laboratory, started, app, mean_colour(told={"mean": "0.5", "std": "0.25"}), "colours.onnx")
    [run] = started
    assert (app.metric[0].label, app.metric[0].value) == ("Columns", "3")
    assert "height, width, white, mean, deviation" in texts(app).replace("\\", "")
    assert laboratory.store.networks() == [], "nothing is kept before the person says so"
    app.button(key="keep network").click().run()
    assert not app.exception
    [told] = laboratory.store.networks()
    assert told.title == "colours"
    assert not run.folder.exists()
    train = open_page("train", set=laboratory.shapes, features=told.name)
    assert pills(train).value == [told.name]
    train.button(key="train").click().run()
    features = started[-1].settings["features"]
    assert features == [["ONNX model", told.settings]]
    trained = run_here(laboratory.store, {**train_settings(laboratory.shapes, "disc"), "features": features})
    assert trained.result["train"]["samples"] > 0
    again = open_page("train", run=trained.id)
    assert not again.exception
    assert pills(again).value == [network_name(told.settings)]


def test_another_use_is_looked_at_before_it_can_be_kept(laboratory, started, open_page):
    app = looked_at(
        laboratory, started, open_page("image_sets", set=laboratory.shapes), mean_colour(), "net.onnx"
    )
    first = started[-1]
    app.selectbox(key=f"widget output {first.id}").select("map").run()
    assert not [one for one in app.button if one.key == "keep network"]
    app.text_input(key=f"widget network {first.id}.ONNX model.mean").input("a").run()
    assert any("expected three numbers" in said for said in errors(app))
    app.text_input(key=f"widget network {first.id}.ONNX model.mean").input("0.1").run()
    app.button(key="look at network").click().run()
    second = look_here(laboratory.store, started[-1])
    assert (second.settings["network"]["output"], second.settings["network"]["mean"]) == ("map", "0.1")
    assert not first.folder.exists(), "the copy was handed on"
    assert app.run().metric[0].value == "3"


def test_a_model_that_takes_no_image_is_refused_in_words(laboratory, started, open_page):
    data = model([], [port("words", (1, 10))], [port("y", (1, 3))])
    app = looked_at(laboratory, started, open_page("image_sets", set=laboratory.shapes), data, "text.onnx")
    assert "1 × 10" in errors(app)[0]
    app.button(key="discard features").click().run()
    assert not started[-1].folder.exists()


def test_what_only_begins_like_a_model_leaves_nothing(laboratory, started, open_page):
    app = drop(open_page("image_sets", set=laboratory.shapes), b"\x08garbage", "net.onnx")
    run = look_here(laboratory.store, started[-1])
    assert run.state == "failed"
    assert "an ONNX model" in run.reason
    assert not run.folder.exists()
    assert "an ONNX model" in errors(app.run())[0]
