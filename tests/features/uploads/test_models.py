"""Networks that a person uploads: what a file says of itself, how it is run and limited, how samples look to it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numbered_set import cards
from PIL import Image
from ranking.storage.room_layout import FOLDERS
from ranking.storage.rooms import Rooms
from refusals import refusal, refused
from tiny_models import (
    FLOAT,
    INT64,
    external,
    heavy,
    mean_colour,
    model,
    node,
    part,
    port,
    spacious,
    tensor,
    whole,
)

from ranking.core.run_settings import FeaturesSettings
from ranking.features import cached_features, feature_names, load_features, make_feature
from ranking.features.onnx.running import Network, check_runtime
from ranking.features.onnx_model import model_name, three_numbers
from ranking.features.uploads.model_preview import ModelPreview, preview_model, proposed
from ranking.files import Limits
from ranking.jobs import worker
from ranking.jobs.events import Report
from ranking.storage.space import DISK, FullError, bytes_of
from ranking.storage.store import Store
from ranking.storage.uploads import kept_networks

NAME = "onnx-" + "0" * 32
IMAGE, SAME = port("image", (1, 3, 4, 4)), port("y", (1, 3, 4, 4))


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    return cards(tmp_path_factory.mktemp("cards") / "set", [2, 1, 3, 1, 2, 1])


@pytest.fixture
def runtime():
    pytest.importorskip(
        "onnxruntime", reason="onnxruntime is not installed: pip install 'ranking-laboratory[onnx]'"
    )


@pytest.fixture
def uploaded(tmp_path):
    def write(data: bytes) -> Path:
        path = tmp_path / "uploaded.onnx"
        path.write_bytes(data)
        return path

    return write


def look(path, images, **chosen) -> ModelPreview:
    result = preview_model(path, images, chosen, lambda *_: None)
    assert ModelPreview.from_json(json.loads(json.dumps(result.to_json()))) == result
    return result


# ------------------------------------------------------------------------------------- what a file says of itself


@pytest.fixture
def described(runtime, uploaded):
    """A model as the runtime describes it, which is not asked anything."""

    def of(data: bytes) -> Network:
        network = Network(uploaded(data))
        network.close()
        return network

    return of


def test_inputs_outputs_and_metadata_are_described(described):
    metadata = {"mean": "0.5", "std": "0.25", "author": "me"}
    network = described(mean_colour(metadata={**metadata, "notes": "x" * 2_000}))
    assert network.inputs == [("image", "float32", (None, 3, 8, 6))]
    assert [port.name for port in network.outputs] == ["pooled", "features", "map"]
    assert network.metadata == metadata
    data = model(
        [node("Mul", ["image", "w"], ["y"])], [IMAGE, port("w", (1,))], [SAME], [tensor("w", (1,), [2])]
    )
    assert [port.name for port in described(data).inputs] == ["image"], "constants with a name are no inputs"


def test_tensors_in_other_files_are_refused_wherever_they_lie(described, tmp_path):
    """Also where such a file lies beside the model, and the runtime would take it."""
    (tmp_path / "weights.bin").write_bytes(bytes(4))
    sides = [port("image", (1, 3, 4, 4))], [port("y", (1, 3, 4, 4))]
    for path in ("weights.bin", str(tmp_path / "weights.bin"), "none.bin", "../../../../etc/passwd"):
        outside = external("w", (1,), path)
        attribute = part(5, part(1, "value") + part(5, outside) + whole(20, 4))
        for data in (
            model([node("Mul", ["image", "w"], ["y"])], *sides, [outside]),
            model([node("Constant", [], ["w"], attribute), node("Mul", ["image", "w"], ["y"])], *sides),
        ):
            message = refusal(described, data)[1]
            assert "external data" in message, message


def test_no_file_is_opened_once_the_model_is_read(runtime, uploaded, tmp_path):
    program = (
        "import os, sys; from ranking.features.onnx import network_program\n"
        "os.dup(1)  # as `main` does for its answers\n"
        "network_program.session_of(sys.argv[1], 1)\n"
        "try: open(sys.argv[1])\n"
        "except OSError as error: print(error.strerror)"
    )
    command = [sys.executable, "-c", program, str(uploaded(mean_colour()))]
    output = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=True).stdout
    assert output == b"Too many open files\n"


def test_the_runtime_keeps_no_record_of_its_use(runtime, uploaded, tmp_path):
    """Some releases write one into the user's folder, and send it to their maker."""
    program = (
        "import sys; from ranking.features.onnx import network_program\n"
        "network_program.session_of(sys.argv[1], 1)"
    )
    # Nothing else of the environment: where one tells of a test, the runtime keeps no record by itself.
    environment = {"HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program, str(uploaded(mean_colour()))]
    subprocess.run(command, env=environment, check=True)
    assert not (tmp_path / ".cache").exists()


def test_what_is_no_model_is_refused(described):
    deep = node("Constant", [], ["c"])
    for _ in range(200):
        deep = node("If", [], [], part(5, part(6, part(1, deep))))
    cut = mean_colour()[:-10]
    for data in (
        b"",
        b"\x08",
        b"\x08\x07",
        b"no model",
        bytes(100),
        b"\x08\x07\x3a\xff\xff\xff\xff\x0f",
        cut,
    ):
        subject, came = refusal(described, data)
        assert subject == "model"
        assert re.search("No graph was found|protobuf parsing failed", str(came)), (data, came)
    assert "protobuf parsing failed" in refusal(described, model([deep], [], []))[1]


# --------------------------------------------------------------------------------------------- what is proposed


@pytest.fixture
def settings_of(described):
    def of(**options):
        settings, read = proposed(described(mean_colour(**options)))
        return settings, set(read)

    return of


def test_size_and_normalisation_are_read_or_usual(settings_of):
    settings, read = settings_of(metadata={"x.mean": "[123.7, 116.3, 103.5]", "x.std": "58, 57, 57"})
    assert settings == {
        "type": "float32", "layout": "NCHW", "height": 8, "width": 6, "output": "pooled",
        "white": 255, "mean": "123.7, 116.3, 103.5", "deviation": "58, 57, 57",
    }  # fmt: skip
    assert read == {"height", "width", "white", "mean", "deviation", "layout", "type"}
    clip = {"mean": "[0.48145466, 0.4578275, 0.40821073]", "std": "[0.26862954, 0.26130258, 0.27577711]"}
    settings, _ = settings_of(metadata=clip)
    assert settings["white"] == 1
    for name, written in (("mean", clip["mean"]), ("deviation", clip["std"])):
        assert (three_numbers(settings[name]) == three_numbers(written)).all(), "to the last digit"
    settings, read = settings_of(sides=("n", None, None, 3))
    assert (settings["height"], settings["width"], settings["layout"]) == (224, 224, "NHWC")
    assert (settings["white"], settings["mean"]) == (1, "0.485, 0.456, 0.406")
    assert read == {"layout", "type"}
    for metadata in ({"mean": "0.5"}, {"mean": "0.5", "std": "0"}, {"mean": "0.5", "std": "much"}):
        assert settings_of(metadata=metadata)[0]["mean"] == "0.485, 0.456, 0.406", metadata


INPUT = "input of the model"


def takes(*inputs: bytes, element: int = FLOAT) -> bytes:
    return model([node("Identity", ["image"], ["y"])], inputs, [port("y", (), element)])


def test_models_that_take_no_image_are_refused(described):
    for data, subject, came in (
        (takes(port("image", (1, 3, 4, 4)), port("b", (1,))), "model", "2: image, b"),
        (takes(port("image", (1, 10))), INPUT, "1 × 10 (float32)"),
        (mean_colour((8, 3, 4, 4)), INPUT, "8 × 3 × 4 × 4 (float32)"),
        (mean_colour((1, 4, 8, 8)), INPUT, "1 × 4 × 8 × 8 (float32)"),
        (takes(port("image", (1, 3, 4, 4), INT64), element=INT64), INPUT, "int64"),
        (model([node("Identity", ["image"], ["y"])], [IMAGE], []), "model", "none"),
    ):
        assert refusal(proposed, described(data)) == (subject, came)


def test_three_numbers_are_read_as_people_write_them():
    assert three_numbers(" [0.5 1;2] ").tolist() == [0.5, 1, 2]
    for text in ("", "1, 2", "a", "nan", "1e999", None, "1,2,3,4"):
        with pytest.raises(ValueError):  # noqa: PT011 (of another package)
            three_numbers(text)


# ----------------------------------------------------------------------------------------------------- running it


def test_pixels_are_normalised_and_positions_pooled_as_the_settings_say(runtime, uploaded):
    crop = Image.new("RGB", (30, 20), (255, 0, 51))
    given = {"model": NAME, "width": 6, "height": 8}
    feature = make_feature(
        "ONNX model", output="features", columns=3, mean="0.5, 0.25, 0", deviation="0.5, 1, 2", **given
    )
    feature.network = Network(uploaded(mean_colour()))
    expected = np.array([1.0, -0.25, 0.1])
    assert feature.describe(crop) == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)
    feature.network.close()
    assert feature.pixels(crop).shape == (1, 3, 8, 6)
    last = make_feature("ONNX model", layout="NHWC", channels="BGR", white=255.0, type="float16", **given)
    assert last.pixels(crop).shape == (1, 8, 6, 3)
    assert last.pixels(crop)[0, 0, 0].tolist() == [51, 0, 255]
    assert last.pixels(crop).dtype == np.float16
    places = np.arange(24, dtype=np.float32).reshape(1, 2, 4, 3)
    assert last.pooled(places).tolist() == places[0].mean(axis=(0, 1)).tolist()


def test_a_look_shows_what_a_training_will_compute(runtime, uploaded, images, tmp_path):
    path = uploaded(mean_colour())
    flat = look(path, images, output="map", pooling="flatten")
    assert (flat.settings["columns"], flat.refused) == (3 * 8 * 6, "")
    result = look(path, images)
    assert result.inputs == {"image": "any × 3 × 8 × 6 (float32)"}
    assert result.settings["model"] == model_name(path)
    assert result.seconds > 0
    assert len(result.plot.samples) == len(images)
    os.rename(path, tmp_path / f"{model_name(path)}.onnx")
    parts = [("ONNX model", result.settings)]
    assert cached_features(images, parts, tmp_path) is None
    matrix = load_features(images, parts, tmp_path)
    assert matrix.shape == (len(images), 3)
    crop = images.open_image(0).crop(tuple(images.boxes[0].tolist()))
    pixels = np.asarray(crop.resize((6, 8), Image.Resampling.BILINEAR), np.float64) / 255
    expected = ((pixels - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]).mean(axis=(0, 1))
    assert matrix[0] == pytest.approx(expected / np.linalg.norm(expected), abs=1e-5)
    (tmp_path / f"{result.settings['model']}.onnx").unlink()
    kept = cached_features(images, parts, tmp_path)
    assert (kept == matrix).all(), "kept under a hash of model and settings"
    with pytest.raises(ValueError, match=result.settings["model"][:13]):
        load_features(images, [("ONNX model", {**result.settings, "mean": "0"})], tmp_path)


def test_a_model_that_takes_too_long_or_too_much_memory_is_ended(runtime, uploaded):
    network = Network(uploaded(heavy(30)), Limits(image_seconds=1))
    with refused("model") as caught:
        network.ask(np.zeros((1, 3, 512, 512), np.float32), "features")
    assert "RANKING_INTAKE_IMAGE_SECONDS" in caught.value.remedy
    assert not Path(f"/proc/{network.program.pid}").exists()
    network = Network(uploaded(spacious(40 * 2**30)))
    with refused("model") as caught:
        network.ask(np.zeros((1, 3, 8, 6), np.float32), "features")
    assert "4.29 GB" in caught.value.remedy
    assert "RANKING_INTAKE_NETWORK_MEMORY" in caught.value.remedy


def test_models_that_cannot_be_used_are_refused(runtime, uploaded, images):
    ports = [port("image", (1, 3, 8, 6))], [port("y", (1, 3, 8, 6))]
    for data, chosen, parts in (
        (model([node("Mul", ["image", "z"], ["y"])], *ports, [tensor("z", (1,), [0])]), {}, ["output y"]),
        (mean_colour(), {"output": "z"}, ["pooled, features, map", "'z'"]),
        (mean_colour((1, 3, 4096, 4096)), {}, ["4,096"]),
    ):
        message = look(uploaded(data), images, **chosen).refused
        assert all(part in message for part in parts), message
    with refused("model") as caught:
        look(uploaded(model([node("NoSuchOperator", ["image"], ["y"])], *ports)), images)
    assert "NoSuchOperator" in str(caught.value)


def test_without_the_runtime_the_remedy_is_shown(monkeypatch, uploaded, images):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with refused("models in ONNX") as caught:
        check_runtime()
    assert "ranking-laboratory[onnx]" in caught.value.remedy
    with refused("models in ONNX"):
        look(uploaded(mean_colour()), images)


def test_a_model_that_does_not_fit_into_the_room_is_not_copied(uploaded, images, tmp_path, monkeypatch):
    """One above the limit: tests/files/test_limits.py."""
    room = Store(Rooms(tmp_path / "server").make("room-of-anna"))
    path, key = uploaded(mean_colour()), room.sets.add(images.folder, "x")
    run = room.runs.create("import", FeaturesSettings(key, str(path)).to_json())
    monkeypatch.setenv(FOLDERS, str(path.parent))
    monkeypatch.setattr(worker.shutil, "copyfile", lambda *_: pytest.fail("was copied"))
    monkeypatch.setenv(DISK, str(bytes_of(room.home) + path.stat().st_size // 2))
    with pytest.raises(FullError):
        worker.preview_uploaded_features(room, run, Report(tmp_path / "events"))


# --------------------------------------------------------------------------------------------------- keeping it


@pytest.fixture
def kept(tmp_path, images):
    """A store with the set, and what makes a finished look at a model."""
    store = Store(tmp_path / "home")
    key = store.sets.add(images.folder, "x")

    def looked(settings):
        run = store.runs.create("import", FeaturesSettings(key, brought="net.onnx").to_json())
        run.uploaded_file.write_bytes(mean_colour())
        network = {"model": model_name(run.uploaded_file), "columns": 3, **settings}
        store.runs.end(run.id, "finished", result={"network": network})
        return store.runs.get(run.id)

    return store, looked


def test_a_model_is_kept_once_with_each_of_its_settings(kept):
    store, looked = kept
    first, second = (store.features.keep_network(looked({"mean": mean}).id, f"net {mean}") for mean in "01")
    assert store.features.keep_network(looked({"mean": "0"}).id) == first != second
    assert {network.name for network in store.features.networks()} == {first, second}
    models = store.home / "models"
    assert len(list(models.glob("*.onnx"))) == 1
    assert not list(store.home.glob("runs/*"))
    assert len(list(store.features.cache.glob("onnx-*.onnx"))) == 1, "where features look for it"
    store.features.delete_network(first)
    assert [network.name for network in store.features.networks()] == [second]
    assert list(models.glob("*.onnx"))
    store.features.delete_network(second)
    store.features.delete_network(second)
    assert not list(models.iterdir())
    assert not list(store.features.cache.glob("onnx-*"))


def test_models_of_a_shared_workspace_are_available(kept, tmp_path, monkeypatch):
    store, looked = kept
    name = store.features.keep_network(looked({}).id)
    monkeypatch.setenv("RANKING_CLASS_ROOM", "class-room")
    rooms = Rooms(tmp_path / "server")
    shared_home, visitor = Store(rooms.find("class-room")), Store(rooms.make("visitor-1"))
    shutil.copytree(store.home / "models", shared_home.home / "models", dirs_exist_ok=True)
    assert [(network.name, network.shared) for network in shared_home.features.networks()] == [(name, False)]
    assert [(network.name, network.shared) for network in visitor.features.networks()] == [(name, True)]


def test_settings_beside_a_model_must_be_those_of_its_name(kept):
    store, looked = kept
    name = store.features.keep_network(looked({}).id)
    file = store.home / "models" / f"{name}.json"
    record = json.loads(file.read_text())
    for text in ("", "[]", json.dumps({**record, "settings": {**record["settings"], "model": "../../x"}})):
        file.write_text(text)
        assert kept_networks(store.home / "models") == []


def test_untrusted_settings_are_checked():
    assert "ONNX model" not in feature_names(), "no image set offers models by itself"
    for settings in (
        {"model": "../../x"},
        {"model": 3},
        {"columns": 10**9},
        {"deviation": "1, 0, 1"},
        {"mean": 5},
        {"width": 100_000},
    ):
        with pytest.raises(ValueError):  # noqa: PT011 (of another package)
            make_feature("ONNX model", **{"model": NAME, **settings})
