"""A model in ONNX on the pages: uploaded, previewed, used in another way, kept, chosen, trained with."""

from __future__ import annotations

from filled_home import train_settings
from imports_here import go_on, question_of
from shown import button_keys, errors, press
from tiny_models import mean_colour, model, node, port
from uploading import pills, previewed

from ranking.features.onnx_model import PRESETS
from ranking.storage.uploads import network_name


def pixels(app, run, question=1):
    return app.selectbox(key=f"widget network {run.id} {question} pixels")


def test_a_model_is_used_in_another_way_added_and_chosen_on_train(laboratory, started, open_page):
    store, app = laboratory.store, open_page("image_sets", set=laboratory.shapes)
    previewed(laboratory, started, app, mean_colour(metadata={"mean": "0.5", "std": "0.25"}), "colours.onnx")
    [run] = started
    mean = f"widget network {run.id} 1 Mean"
    assert app.metric[0].value == "3", "columns"
    assert pixels(app, run).value == "custom numbers"
    assert app.text_input(key=mean).value == "0.5, 0.5, 0.5", "as the file states"
    app.selectbox(key=f"widget output {run.id} 1").select("map").run()
    assert "add features" not in button_keys(app), "it is to be read first"
    assert len(app.text_input(key=mean).input("a").run().error) == 1, "no number"
    app.text_input(key=mean).input("0.1").run()
    press(app, "read again")
    settings = question_of(go_on(store, run)).reading["settings"]
    assert (settings["output"], settings["mean"]) == ("map", "0.1, 0.1, 0.1")
    assert app.run().metric[0].value == "3"
    assert store.features.networks() == [], "nothing is stored before the person decides"
    press(app, "add features")
    assert go_on(store, run).state == "finished"
    [kept] = store.features.networks()
    assert kept.title == "colours"
    assert not run.uploaded_file.exists()
    train = open_page("train", set=laboratory.shapes, features=kept.name)
    assert pills(train).value == [kept.name]
    press(train, "train")
    features = started[-1].settings["features"]
    assert features == [["ONNX model", kept.settings]]
    training = store.runs.create("train", {**train_settings(laboratory.shapes, "disc"), "features": features})
    store.runs.end(training.id, "failed", "no")
    assert pills(open_page("train", run=training.id)).value == [network_name(kept.settings)]


def test_a_file_that_does_not_state_its_normalisation_is_asked_about(laboratory, started, open_page):
    app = open_page("image_sets", set=laboratory.shapes)
    previewed(laboratory, started, app, mean_colour(), "colours.onnx")
    [run] = started
    assert pixels(app, run).value is None
    assert not {"add features", "read again"} & set(button_keys(app)), "nothing is chosen"
    assert not errors(app)
    pixels(app, run).select("CLIP").run()
    press(app, "read again")
    settings = question_of(go_on(laboratory.store, run)).reading["settings"]
    assert settings.items() >= PRESETS["CLIP"].items()
    assert pixels(app.run(), run, 2).value == "CLIP"
    assert "add features" in button_keys(app)


def test_a_constant_output_and_a_file_that_is_no_model_are_refused(laboratory, started, open_page):
    square = port("y", (1, 3, 8, 6))
    nothing = [node("Sub", ["image", "image"], ["y"])]
    data, app = (
        model(nothing, [port("image", (1, 3, 8, 6))], [square], metadata={"mean": "0", "std": "1"}),
        open_page("image_sets", set=laboratory.shapes),
    )
    app = previewed(laboratory, started, app, data, "zero.onnx")
    assert len(errors(app)) == 1
    assert "add features" not in button_keys(app)
    app.query_params["own"] = "new"
    previewed(laboratory, started, app.run(), b"\x08garbage", "net.onnx")
    run = laboratory.store.runs.get(started[-1].id)
    assert run.state == "failed"
    assert {file.name for file in run.folder.iterdir()} <= {"run.json", "lock"}
