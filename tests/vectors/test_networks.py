"""Networks that a person brings: what a file says of itself, how it is run and limited, how samples look to it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numbered_set import cards
from PIL import Image
from tiny_models import external, heavy, mean_colour, model, node, part, port, spacious, tensor

from ranking import worker
from ranking.events import Report
from ranking.features import cached_features, feature_names, load_features, make_feature
from ranking.features.onnx_model import three_numbers
from ranking.intake import Limits
from ranking.networks import network_program
from ranking.networks.files import checked_size, kept_networks, model_name
from ranking.networks.model_file import read_model
from ranking.networks.running import MISSING, Network, check_runtime
from ranking.room_layout import FOLDERS
from ranking.room_quotas import DISK, FullError, bytes_of
from ranking.rooms import Rooms
from ranking.run_settings import FeaturesSettings
from ranking.store import Store
from ranking.vectors.network_looking import NetworkLook, look_at_network, proposed

NAME = "onnx-" + "0" * 32


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    return cards(tmp_path_factory.mktemp("cards") / "set", [2, 1, 3, 1, 2, 1])


@pytest.fixture
def runtime():
    pytest.importorskip(
        "onnxruntime", reason="onnxruntime is not installed: pip install 'ranking-laboratory[onnx]'"
    )


@pytest.fixture
def brought(tmp_path):
    """Write a model to a file."""

    def write(data: bytes, name="brought.onnx"):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


def look(path, images, **asked) -> NetworkLook:
    found = look_at_network(path, images, asked, lambda *_: None)
    assert NetworkLook.from_json(json.loads(json.dumps(found.to_json()))) == found
    return found


# ------------------------------------------------------------------------------------- what a file says of itself


def test_inputs_outputs_and_metadata_are_read():
    found = read_model(mean_colour(told={"mean": "0.5", "std": "0.25", "author": "me"}))
    assert [(one.name, one.element, one.shape) for one in found.inputs] == [
        ("image", "float32", (None, 3, 8, 6))
    ]
    assert [one.name for one in found.outputs] == ["pooled", "features", "map"]
    assert found.told == {"mean": "0.5", "std": "0.25", "author": "me"}


def test_constants_that_have_a_name_are_no_inputs():
    inputs = [port("image", (1, 3, 4, 4)), port("w", (1,))]
    data = model(
        [node("Mul", ["image", "w"], ["y"])], inputs, [port("y", (1, 3, 4, 4))], [tensor("w", (1,), [2])]
    )
    assert [one.name for one in read_model(data).inputs] == ["image"]


@pytest.mark.parametrize("path", ["/etc/passwd", "../secret.bin", "weights.bin"])
def test_tensors_in_other_files_are_refused_wherever_they_lie(path):
    inputs, outputs = [port("image", (1, 3, 4, 4))], [port("y", (1, 3, 4, 4))]
    outside = external("w", (1,), path)

    attribute = part(5, part(1, "value") + part(5, outside))
    graph = part(5, part(1, "body") + part(6, part(1, node("Constant", [], ["c"], attribute))))
    for data in (
        model([], inputs, outputs, [outside]),
        model([node("Constant", [], ["w"], attribute)], inputs, outputs),
        model([node("If", ["b"], ["y"], graph)], inputs, outputs),
    ):
        with pytest.raises(ValueError, match=r"lie in other files \(external data\), which are never opened"):
            read_model(data)


@pytest.mark.parametrize(
    "data", [b"", b"\x08", b"\x08\x07", b"no model", bytes(100), b"\x08\x07\x3a\xff\xff\xff\xff\x0f"]
)
def test_what_is_no_model_is_refused(data):
    with pytest.raises(ValueError, match="it is no ONNX model"):
        read_model(data)


def test_mutated_models_are_read_or_refused():
    data, generator = mean_colour(told={"mean": "0.5"}), np.random.default_rng(0)
    outcomes = set()
    for _ in range(3000):
        told = bytearray(data)
        for _ in range(int(generator.integers(1, 4))):
            told[int(generator.integers(0, len(told)))] = int(generator.integers(0, 256))
        cut = int(generator.integers(0, 2)) * int(generator.integers(0, len(told)))
        try:
            proposed(read_model(bytes(told[cut:])))
            outcomes.add("read")
        except ValueError:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}


def test_deep_and_wide_models_end():
    data = node("Constant", [], ["c"])
    for _ in range(200):
        data = node("If", [], [], part(5, part(6, part(1, data))))
    with pytest.raises(ValueError, match="more parts than any model"):
        read_model(model([data], [], []))


# --------------------------------------------------------------------------------------------- what is proposed


def test_size_and_normalisation_are_read_or_usual():
    settings, read = proposed(
        read_model(mean_colour(told={"x.mean": "[123.7, 116.3, 103.5]", "x.std": "58, 57, 57"}))
    )
    assert (settings["height"], settings["width"], settings["layout"], settings["output"]) == (
        8,
        6,
        "NCHW",
        "pooled",
    )
    assert (settings["white"], settings["mean"], settings["deviation"]) == (
        255,
        "123.7, 116.3, 103.5",
        "58, 57, 57",
    )
    assert {"height", "width", "white", "mean", "deviation"} <= set(read)
    clip = {"mean": "[0.48145466, 0.4578275, 0.40821073]", "std": "[0.26862954, 0.26130258, 0.27577711]"}
    settings, _ = proposed(read_model(mean_colour(told=clip)))
    assert settings["white"] == 1
    for name, told in (("mean", clip["mean"]), ("deviation", clip["std"])):
        assert (three_numbers(settings[name]) == three_numbers(told)).all(), "to the last digit"
    settings, read = proposed(read_model(mean_colour(("n", None, None, 3))))
    assert (settings["height"], settings["width"], settings["layout"]) == (224, 224, "NHWC")
    assert (settings["white"], settings["mean"]) == (1, "0.485, 0.456, 0.406")
    assert read == ["layout", "type"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (
            model([], [port("a", (1, 3, 4, 4)), port("b", (1,))], [port("y", (1,))]),
            "with one input, an image; got 2: a, b",
        ),
        (
            model([], [port("a", (1, 10))], [port("y", (1,))]),
            r"an input of one image, .* got 1 × 10 \(float32\)",
        ),
        (mean_colour((8, 3, 4, 4)), "takes one image at a time"),
        (mean_colour((1, 4, 8, 8)), "an input of 3 channels"),
        (mean_colour((1, 3, 4096, 4096)), "at most 1,024 pixels a side"),
        (
            model([], [port("a", (1, 3, 4, 4), 7)], [port("y", (1,))]),
            "an input of float32, float16, float64, got int64",
        ),
        (model([], [port("a", (1, 3, 4, 4))], []), "with an output, got one without"),
    ],
)
def test_models_that_take_no_image_are_refused(brought, images, data, why):

    assert re.search(why, look(brought(data), images).refused)


def test_three_numbers_are_read_as_people_write_them():
    assert three_numbers(" [0.5 1;2] ").tolist() == [0.5, 1, 2]
    for text in ("", "1, 2", "a", "nan", "1e999", None, "1,2,3,4"):
        with pytest.raises(ValueError, match="expected three numbers"):
            three_numbers(text)


# ----------------------------------------------------------------------------------------------------- running it


def test_pixels_are_normalised_as_the_settings_say(runtime, brought):
    crop = Image.new("RGB", (30, 20), (255, 0, 51))
    feature = make_feature(
        "ONNX model",
        model=NAME,
        output="features",
        columns=3,
        width=6,
        height=8,
        mean="0.5, 0.25, 0",
        deviation="0.5, 1, 2",
    )
    feature.network = Network(brought(mean_colour()))
    expected = np.array([1.0, -0.25, 0.1])
    assert feature.describe(crop) == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)
    assert feature.pixels(crop).shape == (1, 3, 8, 6)
    other = make_feature(
        "ONNX model",
        model=NAME,
        layout="NHWC",
        channels="BGR",
        white=255.0,
        width=6,
        height=8,
        type="float16",
    )
    assert other.pixels(crop).shape == (1, 8, 6, 3)
    assert other.pixels(crop)[0, 0, 0].tolist() == [51, 0, 255]
    assert other.pixels(crop).dtype == np.float16
    feature.network.close()


def test_places_are_pooled_or_put_side_by_side(runtime, brought, images):
    path = brought(mean_colour())
    means = look(path, images, output="map")
    assert (means.settings["columns"], means.refused) == (3, "")
    flat = look(path, images, output="map", pooling="flatten")
    assert flat.settings["columns"] == 3 * 8 * 6
    places = np.arange(24, dtype=np.float32).reshape(1, 2, 4, 3)
    last = make_feature("ONNX model", model=NAME, layout="NHWC")
    assert last.pooled(places).tolist() == places[0].mean(axis=(0, 1)).tolist()


def test_a_look_tells_what_a_training_will_compute(runtime, brought, images, tmp_path):
    path = brought(mean_colour())
    found = look(path, images)
    assert found.inputs == {"image": "any × 3 × 8 × 6 (float32)"}
    assert found.settings["model"] == model_name(path)
    assert found.seconds > 0
    assert len(found.picture.samples) == len(images)
    os.rename(path, tmp_path / f"{model_name(path)}.onnx")
    parts = [("ONNX model", found.settings)]
    assert cached_features(images, parts, tmp_path) is None
    matrix = load_features(images, parts, tmp_path)
    assert matrix.shape == (len(images), 3)
    crop = (
        images.open_image(0).crop(tuple(images.boxes[0].tolist())).resize((6, 8), Image.Resampling.BILINEAR)
    )
    pixels = (np.asarray(crop, np.float64) / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    expected = pixels.mean(axis=(0, 1))
    assert matrix[0] == pytest.approx(expected / np.linalg.norm(expected), abs=1e-5)
    (tmp_path / f"{found.settings['model']}.onnx").unlink()
    assert (cached_features(images, parts, tmp_path) == matrix).all(), (
        "kept under a hash of model and settings"
    )
    with pytest.raises(ValueError, match="equal files have the same name"):
        load_features(images, [("ONNX model", {**found.settings, "mean": "0"})], tmp_path)


def test_a_model_that_takes_too_long_is_ended(runtime, brought):
    network = Network(brought(heavy(30)), Limits(image_seconds=1))
    began = time.monotonic()
    with pytest.raises(ValueError, match=r"longer for one image than it may; RANKING_INTAKE_IMAGE_SECONDS"):
        network.ask(np.zeros((1, 3, 512, 512), np.float32), "features")
    assert time.monotonic() - began < 10
    assert network._process.poll() is not None


def test_a_model_at_work_ends_with_the_worker_that_is_killed(runtime, brought):
    """Whoever cancels a look at it kills a worker that waits for an answer."""
    program = (
        "import numpy as np; from ranking.networks.running import Network; from pathlib import Path\n"
        f"network = Network(Path({str(brought(heavy(3000)))!r}))\n"
        "print(network._process.pid, flush=True)\n"
        "network.ask(np.zeros((1, 3, 512, 512), np.float32), 'features')"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as worker:
        child = int(worker.stdout.readline())
        time.sleep(1)  # it is at work
        worker.kill()
    until = time.monotonic() + 20
    while Path(f"/proc/{child}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    ended = not Path(f"/proc/{child}").exists()
    if not ended:
        os.kill(child, signal.SIGKILL)
    assert ended


def test_a_model_that_takes_too_much_memory_fails_alone(runtime, brought):
    network = Network(brought(spacious(40 * 2**30)))
    with pytest.raises(ValueError, match=r"may have 4.29 GB of memory, RANKING_INTAKE_NETWORK_MEMORY"):
        network.ask(np.zeros((1, 3, 8, 6), np.float32), "features")


def test_a_model_that_the_runtime_refuses_is_refused_in_words(runtime, brought, images):
    data = model(
        [node("NoSuchOperator", ["image"], ["y"])], [port("image", (1, 3, 4, 4))], [port("y", (1, 3, 4, 4))]
    )
    refused = look(brought(data), images).refused
    assert "cannot be run" in refused
    assert "NoSuchOperator" in refused


def test_outputs_that_tell_nothing_are_refused(runtime, brought, images):
    constant = model(
        [node("Mul", ["image", "zero"], ["y"])],
        [port("image", (1, 3, 8, 6))],
        [port("y", (1, 3, 8, 6))],
        [tensor("zero", (1,), [0])],
    )
    assert "is the same for all samples" in look(brought(constant), images).refused
    assert (
        "has no output 'z'; choose one of: pooled, features, map"
        in look(brought(mean_colour()), images, output="z").refused
    )


def test_without_the_runtime_the_remedy_is_said(monkeypatch, brought, images):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"ranking-laboratory\[onnx\]"):
        check_runtime()
    assert look(brought(mean_colour()), images).refused == MISSING


def test_the_program_imports_nothing_of_ours():
    source = Path(network_program.__file__).read_text()
    assert "from ranking" not in source
    assert "import ranking" not in source


def test_a_model_above_the_limit_is_not_read(brought, images, monkeypatch, tmp_path):

    monkeypatch.setenv("RANKING_INTAKE_NETWORK_BYTES", "100")
    with pytest.raises(ValueError, match=r"expected at most 100; RANKING_INTAKE_NETWORK_BYTES"):
        checked_size(brought(mean_colour()))


def test_no_copy_of_a_model_is_made_that_its_room_has_no_space_for(brought, images, tmp_path, monkeypatch):
    room = Store(Rooms(tmp_path / "server").make("room-of-anna"))
    path, key = brought(mean_colour()), room.adopt(images.folder, "x")
    run = room.create_run("features", FeaturesSettings(key, str(path)).to_json())
    report, used = Report(tmp_path / "events"), bytes_of(room.home)
    monkeypatch.setenv(FOLDERS, str(path.parent))
    monkeypatch.setattr(worker.shutil, "copyfile", lambda *_: pytest.fail("was copied"))
    monkeypatch.setenv(DISK, str(used + path.stat().st_size // 2))
    with pytest.raises(
        FullError, match=r"this room is full: it takes .*, and .* more would be too much; delete"
    ):
        worker.look_at_features(room, run, report)


# --------------------------------------------------------------------------------------------------- keeping it


@pytest.fixture
def kept(tmp_path, images):
    """A store with the set, and a look at a model that has ended well."""
    store = Store(tmp_path / "home")
    key = store.adopt(images.folder, "x")

    def looked(settings):
        run = store.create_run("features", FeaturesSettings(key, brought="net.onnx").to_json())
        run.brought_file.write_bytes(mean_colour())
        told = {"model": model_name(run.brought_file), "columns": 3, **settings}
        store.end_run(run.id, "finished", result={"network": told})
        return store.run(run.id)

    return store, looked


def test_a_model_is_kept_once_with_each_of_its_settings(kept):
    store, looked = kept
    first, second = (store.keep_network(looked({"mean": mean}).id, f"net {mean}") for mean in "01")
    assert store.keep_network(looked({"mean": "0"}).id) == first != second
    assert {one.name for one in store.networks()} == {first, second}
    models = store.home / "models"
    assert len(list(models.glob("*.onnx"))) == 1
    assert not list(store.home.glob("runs/*"))
    assert len(list(store.features.glob("onnx-*.onnx"))) == 1, "where features look for it"
    store.delete_network(first)
    assert [one.name for one in store.networks()] == [second]
    assert list(models.glob("*.onnx"))
    store.delete_network(second)
    store.delete_network(second)
    assert not list(models.iterdir())
    assert not list(store.features.glob("onnx-*"))


def test_what_is_told_of_a_model_must_be_what_its_name_says(kept):
    store, looked = kept
    name = store.keep_network(looked({}).id)
    file = store.home / "models" / f"{name}.json"
    told = json.loads(file.read_text())
    for text in ("", "[]", json.dumps({**told, "settings": {**told["settings"], "model": "../../x"}})):
        file.write_text(text)
        assert kept_networks(store.home / "models") == []


def test_no_set_offers_models_by_itself():
    assert "ONNX model" not in feature_names()


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"model": "../../x"}, "expected the name of a model"),
        ({"model": 3}, "expected the name of a model"),
        ({"columns": 10**9}, "columns"),
        ({"deviation": "1, 0, 1"}, "deviation"),
        ({"mean": 5}, "expected three numbers"),
        ({"width": 100_000}, "width"),
    ],
)
def test_settings_from_strangers_are_checked(settings, why):
    with pytest.raises(ValueError, match=why):
        make_feature("ONNX model", **{"model": NAME, **settings})
