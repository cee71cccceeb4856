"""The network of CNN computes what its definition says, in one session, and is imported only where it is used."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import pytest
from numbered_set import cards
from PIL import Image
from reference import Layer, efficientnet_lite0
from refusals import refused

from ranking import features
from ranking.datasets import load_image_set
from ranking.features import cnn, default_names, make_feature
from ranking.features.cnn import CNN, FILE
from ranking.features.onnx_model import Network
from ranking.storage.examples import folder_of


def stored_layers() -> Iterator[Layer]:
    """The layers in the file: batch norms are a scale and a shift per output."""
    graph = onnx.load(FILE).graph
    stored = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    for name in [name.removesuffix(".kernel") for name in stored if name.endswith(".kernel")]:
        yield Layer(stored[f"{name}.kernel"], 0, 1, stored[f"{name}.scale"], stored[f"{name}.shift"])


def test_features_are_those_of_the_definition():
    layers = list(stored_layers())
    assert len(layers) == 49
    crop = load_image_set(folder_of("Hidden objects")).open_image(0)
    pixels = np.asarray(crop.resize((224, 224), Image.Resampling.BILINEAR), float)
    expected = efficientnet_lite0((pixels.transpose(2, 0, 1) - 127) / 128, layers)
    assert np.count_nonzero(expected) > 500
    expected /= np.linalg.norm(expected)
    assert np.linalg.norm(CNN().describe(crop) - expected) < 1e-5


def test_threads_open_one_session(monkeypatch):
    opened, network = [], Network(FILE)
    monkeypatch.setattr(cnn, "Network", lambda path: opened.append(path) or network)
    cnn._model.cache_clear()
    crop = Image.new("RGB", (9, 5), "#804020")
    with ThreadPoolExecutor(8) as pool:
        vectors = list(
            pool.map(lambda name: make_feature(name).describe(crop), ["CNN", "CNN of the image"] * 8)
        )
    assert opened == [FILE]
    assert all((vector == vectors[0]).all() for vector in vectors)


def test_the_network_is_small_and_has_its_licence():
    assert FILE.stat().st_size <= 7_000_000
    assert "Apache License" in (FILE.parent / "LICENSE").read_text()


def test_a_large_image_set_is_not_described_by_default(tmp_path, monkeypatch):
    images = cards(tmp_path / "set", [1, 1, 1])
    for most, names in ((3, ["HOG", "Colour", "CNN"]), (2, ["HOG", "Colour"])):
        monkeypatch.setattr(features, "MOST_BY_CNN", most)
        assert default_names(images) == names, most


def test_a_missing_file_is_refused_with_the_remedy(monkeypatch):
    monkeypatch.setattr(features, "FILE", Path("no such file"))
    assert default_names() == ["HOG", "Colour"]
    monkeypatch.setattr(cnn, "FILE", Path("no such file"))
    monkeypatch.setattr(cnn, "_model", cnn._model.__wrapped__)
    with refused("CNN") as caught:
        CNN().describe(Image.new("RGB", (5, 5)))
    assert "checkout" in caught.value.remedy


@pytest.mark.parametrize("module", ["ranking", "ranking.features.cnn", "ranking.features.opened"])
def test_the_runtime_is_not_imported_before_it_is_used(module):
    code = f"import sys, {module}; sys.exit('onnxruntime' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
