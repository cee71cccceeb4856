"""Models that a person uploads: what a file says of itself, how it is run, and how it is kept."""

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
from refusals import refusal, refused
from tiny_models import FLOAT, INT64, external, integer, mean_colour, model, node, part, port, tensor, whole

from ranking.features import cached_features, feature_names, load_features, make_feature
from ranking.features.onnx_model import PRESETS, Network, model_name, three_numbers
from ranking.features.uploads.model_preview import UNKNOWN, ModelPreview, preview_model
from ranking.storage import importing, workspaces
from ranking.storage.events import Report
from ranking.storage.home import SHARED
from ranking.storage.run_settings import FeaturesSettings
from ranking.storage.store import Store

NAME = "onnx-" + "0" * 32
IMAGE, SAME = port("image", (1, 3, 4, 4)), port("y", (1, 3, 4, 4))


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    return cards(tmp_path_factory.mktemp("cards") / "set", [2, 1, 3, 1, 2, 1])


@pytest.fixture
def uploaded(tmp_path):
    def write(data: bytes) -> Path:
        path = tmp_path / "uploaded.onnx"
        path.write_bytes(data)
        return path

    return write


def preview(path, images, **chosen) -> ModelPreview:
    result = preview_model(path, images, chosen, lambda *_: None)
    assert ModelPreview.from_json(json.loads(json.dumps(result.to_json()))) == result
    return result


# ------------------------------------------------------------------------------------- what a file says of itself


def test_input_and_outputs_are_described(uploaded):
    network = Network(uploaded(mean_colour()))
    assert (network.type, network.last, network.height, network.width) == ("float32", False, 8, 6)
    assert network.outputs["map"] == "any × 3 × 8 × 6 (tensor(float))"
    assert list(network.outputs) == ["pooled", "features", "map"]
    network = Network(uploaded(mean_colour(("n", None, None, 3))))
    assert (network.last, network.height, network.width) == (True, None, None)
    data = model(
        [node("Mul", ["image", "w"], ["y"])], [IMAGE, port("w", (1,))], [SAME], [tensor("w", (1,), [2])]
    )
    assert Network(uploaded(data)).height == 4, "constants with a name are no inputs"


def test_numbers_in_other_files_are_refused_with_the_remedy(uploaded, tmp_path, monkeypatch):
    """The name of a model is a hash of its one file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "weights.bin").write_bytes(bytes(4))
    for path in ("weights.bin", str(tmp_path / "weights.bin"), "none.bin", "../../../../etc/passwd"):
        outside = external("w", (1,), path)
        attribute = part(5, part(1, "value") + part(5, outside) + whole(20, 4))
        for data in (
            model([node("Mul", ["image", "w"], ["y"])], [IMAGE], [SAME], [outside]),
            model(
                [node("Constant", [], ["w"], attribute), node("Mul", ["image", "w"], ["y"])], [IMAGE], [SAME]
            ),
        ):
            with refused("model") as caught:
                Network(uploaded(data))
            assert "external data" in caught.value.came, path
            assert "one file" in caught.value.remedy, path
            assert "weights.bin" not in str(caught.value), "nothing that the runtime says"


def test_the_runtime_keeps_no_record_of_its_use(uploaded, tmp_path):
    """Some releases write one into the user's folder, and send it to their maker."""
    program = (
        "import sys; from pathlib import Path; from ranking.features.onnx_model import Network\n"
        "Network(Path(sys.argv[1]))"
    )
    # Nothing else of the environment: where one tells of a test, the runtime keeps no record by itself.
    environment = {"HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program, str(uploaded(mean_colour()))]
    subprocess.run(command, env=environment, check=True)
    assert not (tmp_path / ".cache").exists()


def test_files_that_are_not_models_are_refused(uploaded):
    for data in (b"", b"\x08", b"\x08\x07", b"no model", bytes(100), mean_colour()[:-10]):
        subject, came = refusal(Network, uploaded(data))
        assert subject == "model"
        assert re.search("No graph was found|protobuf parsing failed", str(came)), (data, came)
    ports = [port("image", (1, 3, 8, 6))], [port("y", (1, 3, 8, 6))]
    _, came = refusal(Network, uploaded(model([node("NoSuchOperator", ["image"], ["y"])], *ports)))
    assert "NoSuchOperator" in came


INPUT = "input of the model"


def takes(*inputs: bytes, element: int = FLOAT) -> bytes:
    return model([node("Identity", ["image"], ["y"])], inputs, [port("y", (), element)])


def test_models_that_take_no_image_are_refused(uploaded):
    for data, subject, came in (
        (takes(port("image", (1, 3, 4, 4)), port("b", (1,))), "model", "2: image, b"),
        (takes(port("image", (1, 10))), INPUT, "1 × 10 (tensor(float))"),
        (mean_colour((65, 3, 4, 4)), INPUT, "65 × 3 × 4 × 4 (tensor(float))"),
        (mean_colour((1, 4, 8, 8)), INPUT, "1 × 4 × 8 × 8 (tensor(float))"),
        (mean_colour((1, 3, 4096, 4096)), INPUT, "1 × 3 × 4,096 × 4,096 (tensor(float))"),
        (takes(port("image", (1, 3, 4, 4), INT64), element=INT64), INPUT, "1 × 3 × 4 × 4 (tensor(int64))"),
    ):
        assert refusal(Network, uploaded(data)) == (subject, came)
    with refused("model") as caught:
        Network(uploaded(takes(port("image", (1, 3, 4, 4)), port("input_ids", (1, 77), INT64))))
    assert "export the vision model" in caught.value.remedy


# ------------------------------------------------------------------------------------------------ how it is run


def test_three_numbers_are_read_in_common_notations():
    assert three_numbers(" [0.5 1;2] ").tolist() == [0.5, 1, 2]
    for text in ("", "1, 2", "a", "nan", "1e999", None, "1,2,3,4"):
        with pytest.raises(ValueError):  # noqa: PT011 (of another package)
            three_numbers(text)


@pytest.fixture
def described(uploaded):
    """The vector of a crop of one colour, (255, 0, 51)."""

    def of(data: bytes, **settings) -> np.ndarray:
        feature = make_feature("ONNX model", model=NAME, **settings)
        feature.network = Network(uploaded(data))
        return feature.vector(Image.new("RGB", (30, 20), (255, 0, 51)))

    return of


def test_pixels_are_normalised_and_positions_pooled_as_the_settings_say(described):
    normalised = {"output": "features", "mean": "0.5, 0.25, 0", "deviation": "0.5, 1, 2"}
    assert described(mean_colour(), **normalised) == pytest.approx([1.0, -0.25, 0.1], abs=1e-6)
    assert described(mean_colour(), output="map") == pytest.approx([1, 0, 0.2]), "over rows and columns"
    last = {"output": "map", "channels": "BGR", "white": 255.0, "side": 2}
    free = mean_colour(("n", None, None, 3))
    assert described(free, **last) == pytest.approx([51, 0, 255])
    assert described(free, pooling="flatten", **last) == pytest.approx([51, 0, 255] * 4), "2 × 2 pixels"


def test_a_fixed_number_of_images_is_filled_up(described):
    for batch in (2, 8):
        for sides, output in (((batch, 3, 8, 6), "features"), ((batch, None, None, 3), "map")):
            assert described(mean_colour(sides), output=output, side=2) == pytest.approx([1, 0, 0.2]), sides


def test_tokens_are_averaged_or_the_first_is_taken(described):
    axes = part(5, part(1, "axes") + whole(8, 3) + whole(20, 7)) + integer("keepdims", 0)
    nodes = [node("ReduceMean", ["image"], ["tokens"], axes), node("Identity", ["image"], ["map"])]
    for images in (1, 2):
        # a token for each channel, of four numbers
        sides = (images, 3, 4, 5)
        data = model(nodes, [port("image", sides)], [port("tokens", sides[:3]), port("map", sides)])
        assert described(data, output="tokens") == pytest.approx([0.4] * 4)
        assert described(data, output="tokens", pooling="first token") == pytest.approx([1] * 4)
        everything = described(data, output="tokens", pooling="flatten")
        assert everything == pytest.approx([1] * 4 + [0] * 4 + [0.2] * 4)
    with refused("output map"):
        described(data, output="map", pooling="first token")


def test_presets_are_the_values_that_models_are_trained_with(described):
    ends = {"−1 to 1": [1, -1, -0.6], "0 to 1": [1, 0, 0.2], "0 to 255": [255, 0, 51]}
    for means, deviations, name in (
        ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225), "ImageNet"),
        ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711), "CLIP"),
    ):
        ends[name] = (np.array([1, 0, 0.2]) - means) / deviations
    assert ends.keys() == PRESETS.keys()
    for name, expected in ends.items():
        assert described(mean_colour(), output="features", **PRESETS[name]) == pytest.approx(expected), name


def test_normalisation_is_read_or_asked(uploaded, images):
    metadata = {"x.mean": "[123.7, 116.3, 103.5]", "x.std": "58, 57, 57"}
    settings = preview(uploaded(mean_colour(metadata=metadata)), images).settings
    assert (
        settings.items() >= {"white": 255, "mean": "123.7, 116.3, 103.5", "deviation": "58, 57, 57"}.items()
    )
    clip = {"mean": "[0.48145466, 0.4578275, 0.40821073]", "std": "[0.26862954, 0.26130258, 0.27577711]"}
    settings = preview(uploaded(mean_colour(metadata=clip)), images).settings
    assert settings["white"] == 1
    for name, written in (("mean", clip["mean"]), ("deviation", clip["std"])):
        assert (three_numbers(settings[name]) == three_numbers(written)).all(), "to the last digit"
    for metadata in ({"mean": "0.5"}, {"mean": "0.5", "std": "0"}, {"mean": "0.5", "std": "much"}):
        asked = preview(uploaded(mean_colour(metadata=metadata)), images)
        assert (asked.refused, asked.plot) == (UNKNOWN, None), metadata
        assert not asked.settings.keys() & PRESETS["CLIP"].keys()


def test_a_preview_shows_what_a_training_will_compute(uploaded, images, tmp_path):
    path = uploaded(mean_colour())
    flat = preview(path, images, output="map", pooling="flatten", **PRESETS["CLIP"])
    assert (flat.settings["columns"], flat.refused) == (3 * 8 * 6, "")
    result = preview(path, images, **PRESETS["ImageNet"])
    assert (result.settings["model"], result.settings["output"]) == (model_name(path), "pooled")
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


def test_constant_and_infinite_outputs_are_refused(uploaded, images, tmp_path):
    ports = [port("image", (1, 3, 8, 6))], [port("y", (1, 3, 8, 6))]
    for factor, words in ((0, "the same for all samples"), (np.inf, "NaN or infinity")):
        data = model([node("Mul", ["image", "z"], ["y"])], *ports, [tensor("z", (1,), [factor])])
        assert words in preview(uploaded(data), images, **PRESETS["0 to 1"]).refused
    labels = cards(tmp_path / "set", [1, 1], features=[[1.0], [2.0]])
    with refused(labels.title):
        preview(uploaded(mean_colour()), labels)


def test_a_model_of_a_visitor_of_a_server_is_refused(uploaded, images, tmp_path):
    workspace = Store(tmp_path / "workspaces" / workspaces.create(tmp_path))
    key = workspace.sets.add(images.folder, "x")
    run = workspace.runs.create("import", FeaturesSettings(key, upload="vectors.npy").to_json())
    shutil.copyfile(uploaded(mean_colour()), run.uploaded_file)
    with refused("vectors.npy", "an ONNX model"):
        next(importing.steps_of(workspace, run, Report(tmp_path / "events").progress))


# --------------------------------------------------------------------------------------------------- keeping it


@pytest.fixture
def kept(tmp_path, images):
    """A store, and what adds a model with these settings to it, as an import does."""
    store = Store(tmp_path / "home")

    def add(settings, title="net"):
        uploaded = tmp_path / "net.onnx"
        uploaded.write_bytes(mean_colour())
        return store.features.add_network(
            uploaded, {"model": model_name(uploaded), "columns": 3, **settings}, title
        )

    return store, add


def test_a_model_is_kept_once_with_each_of_its_settings(kept):
    store, add = kept
    first, second = (add({"mean": mean}, f"net {mean}") for mean in "01")
    assert add({"mean": "0"}) == first != second
    assert {network.name for network in store.features.networks()} == {first, second}
    models = store.home / "models"
    assert len(list(models.glob("*.onnx"))) == 1
    assert len(list(store.features.cache.glob("onnx-*.onnx"))) == 1, "where features look for it"
    store.features.delete_network(first)
    assert [network.name for network in store.features.networks()] == [second]
    assert list(models.glob("*.onnx"))
    store.features.delete_network(second)
    store.features.delete_network(second)
    assert not list(models.iterdir())
    assert not list(store.features.cache.glob("onnx-*"))


def test_models_of_a_shared_workspace_are_available(kept, tmp_path, monkeypatch):
    store, add = kept
    name = add({})
    server = tmp_path / "server"
    shared_home = Store(server / SHARED)
    visitor = Store(server / "workspaces" / workspaces.create(server))
    shutil.copytree(store.home / "models", shared_home.home / "models", dirs_exist_ok=True)
    assert [(network.name, network.shared) for network in shared_home.features.networks()] == [(name, False)]
    assert [(network.name, network.shared) for network in visitor.features.networks()] == [(name, True)]


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
