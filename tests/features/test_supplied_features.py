"""Features that came with an image set, and vectors that a person uploads for one."""

from __future__ import annotations

import numpy as np
import pytest
from numbered_set import cards, source_of_cards
from PIL import Image
from refusals import refused

from ranking.datasets import build_image_set
from ranking.features import (
    FEATURES,
    cached_features,
    cached_vectors_file,
    default_names,
    feature_columns,
    feature_names,
    load_features,
    make_feature,
    matrix_files,
)
from ranking.features.graph.image_graph import image_graph
from ranking.features.uploaded_vectors import vectors_name

VECTORS = [(3.0, 4.0), (0.0, 0.0), (0.0, -2.0)]
BOXES = [2, 1, 2]
LENGTH_1 = [("Given", {"scaling": "length 1"})]
SCALINGS = ("per column", "as they are", "length 1")


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    return cards(tmp_path_factory.mktemp("cards") / "set", BOXES, features=VECTORS)


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    return cards(tmp_path_factory.mktemp("without") / "set", BOXES)


def test_all_boxes_of_an_image_have_its_features(given, tmp_path):
    matrix = load_features(given, LENGTH_1, tmp_path / "cache")
    expected = [[0.6, 0.8], [0.6, 0.8], [0, 0], [0, -1], [0, -1]]
    assert matrix.dtype == np.float32
    assert matrix == pytest.approx(np.array(expected), abs=1e-7)
    assert (cached_features(given, LENGTH_1, tmp_path / "cache") == matrix).all()
    assert not (tmp_path / "cache").exists()
    assert image_graph(given, "same image", [("Given", {})], matrix).edges.tolist() == [[0, 1], [3, 4]]
    unscaled = load_features(given, [("Given", {"scaling": "as they are"})], tmp_path)
    assert unscaled.tolist() == [list(VECTORS[image]) for image in given.image_of]


def raw_set(folder, factor=1.0):
    """Two columns, of which one has a thousand times the numbers of the other, and one that is constant."""
    random = np.random.default_rng(3)
    rows = [(random.normal(17, 2), 1000 * factor * random.normal(90, 40), 0.1) for _ in range(40)]
    return cards(folder, [1] * 40, features=rows)


def test_columns_have_one_scale_by_the_training_images_and_no_row_its_own(tmp_path):
    images = raw_set(tmp_path / "set")
    matrix = load_features(images, [("Given", {})], tmp_path)
    learn = matrix[~images.test]
    assert 0 < len(learn) < 40
    assert learn.mean(axis=0) == pytest.approx(0, abs=1e-6)
    assert learn.std(axis=0) == pytest.approx([3**-0.5, 3**-0.5, 0], abs=1e-6)
    assert np.abs(np.corrcoef(matrix[:, 0], images.image_features[:, 0])[0, 1]) == pytest.approx(1)
    assert len(np.unique(np.linalg.norm(matrix, axis=1).round(3))) > 20


def test_another_set_is_scaled_as_the_set_of_the_model(tmp_path):
    first, second = raw_set(tmp_path / "first"), raw_set(tmp_path / "second", factor=5.0)
    own = load_features(second, [("Given", {})], tmp_path)
    of_model = load_features(second, [("Given", {})], tmp_path, scaled_by=first)
    assert own == pytest.approx(load_features(first, [("Given", {})], tmp_path), abs=1e-5)
    unscaled = [("Given", {"scaling": "as they are"})]
    raw = [load_features(images, unscaled, tmp_path).astype(float) for images in (first, second)]
    learn = raw[0][~first.test]
    expected = (raw[1][:, :2] - learn.mean(axis=0)[:2]) / (learn.std(axis=0)[:2] * 3**0.5)
    assert of_model[:, :2] == pytest.approx(expected, rel=1e-4, abs=1e-4)
    with refused("features of Cards", "2"):
        load_features(
            first, [("Given", {})], tmp_path, scaled_by=cards(tmp_path / "two", [1], features=[(1.0, 2.0)])
        )


def test_large_matrices_are_scaled_by_blocks_and_stored_for_each_scaling(tmp_path, monkeypatch):
    images = raw_set(tmp_path / "set")
    small = {
        scaling: load_features(images, [("Given", {"scaling": scaling})], tmp_path) for scaling in SCALINGS
    }
    monkeypatch.setattr(matrix_files, "LARGE", 1)
    monkeypatch.setattr("ranking.core.arrays.BLOCK", 9)
    for scaling in SCALINGS:
        for _ in range(2):
            mapped = load_features(images, [("Given", {"scaling": scaling})], tmp_path / "large")
            assert isinstance(mapped, np.memmap)
            assert mapped == pytest.approx(small[scaling], rel=1e-6)
    assert len(list((tmp_path / "large").iterdir())) == len(SCALINGS)


def test_supplied_features_change_the_key_of_the_set(given, without, tmp_path):
    changed = cards(tmp_path / "changed", BOXES, features=[*VECTORS[:2], (0.0, -3.0)])
    assert changed.key != given.key
    with np.load(without.folder / "columns.npz") as stored:
        assert "image_features" not in stored.files, "sets without them keep the keys that they had"


def test_a_set_offers_either_supplied_features_or_features_of_images(given, without, tmp_path):
    assert feature_names(given) == default_names(given) == ["Given"]
    assert feature_names(without) == feature_names()
    assert default_names(without) == default_names() == ["HOG", "Colour", "CNN"]
    assert "Given" not in feature_names()
    with refused("features", "HOG"):
        load_features(given, [("Given", {}), ("HOG", {})], tmp_path)
    for call in (
        lambda: load_features(without, [("Given", {})], tmp_path),
        lambda: feature_columns([("Given", {})]),
        lambda: make_feature("Given").describe(given.open_image(0)),
    ):
        with refused("Given"):
            call()
    [(feature, columns)] = feature_columns([("Given", {})], given)
    assert (feature.name, feature.size, columns) == ("Given", 2, slice(0, 2))


def test_images_have_the_same_number_of_finite_features(tmp_path):
    for number, second in enumerate(((1.0, 2.0, 3.0), None)):
        with pytest.raises(ValueError, match=r"'img/001\.jpg'"):
            cards(tmp_path / f"uneven{number}", [1, 1], features=[(1.0, 2.0), second])
    for number, bad in enumerate((np.nan, np.inf, 1e300)):
        source = source_of_cards([1, 1], ["good", "bad"], [(1.0, 2.0), (1.0, bad)])
        images, problems = build_image_set(source, tmp_path / f"bad{number}")
        assert images.image_names.tolist() == ["good"]
        assert problems[0].file == "bad"


# ----------------------------------------------------------------------- Vectors that a person uploads

NAME = f"own-{'0' * 32}-7"


def test_the_name_of_vectors_says_how_wide_they_are_before_they_are_imported():
    parts = [("Colour", {"bins": 2}), ("Own vectors", {"vectors": NAME})]
    assert [columns for _, columns in feature_columns(parts)] == [slice(0, 8), slice(8, 15)]


def test_an_invalid_name_of_vectors_is_refused():
    for name in ("", f"own-{'0' * 32}-99999999999", "../../etc/passwd", 3, None):
        with refused("Own vectors", repr(name)):
            make_feature("Own vectors", vectors=name)


def test_uploaded_vectors_are_not_offered_by_default_and_not_computed_from_an_image():
    assert "Own vectors" in FEATURES.names()
    assert "Own vectors" not in feature_names()
    assert "Own vectors" not in default_names()
    with refused("vectors of own 00000000"):
        make_feature("Own vectors", vectors=NAME).describe(Image.new("RGB", (8, 8)))


def test_uploaded_vectors_are_concatenated_with_other_features_each_once(given, tmp_path):
    parts, matrices = [("Given", {})], []
    for seed in (0, 1):
        matrices.append(np.random.default_rng(seed).normal(size=(5, 3)).astype(np.float32))
        name = vectors_name(matrices[-1])
        parts.append(("Own vectors", {"vectors": name}))
        np.save(cached_vectors_file(tmp_path, given.key, name), matrices[-1])
    name, own = parts[1]
    alone = load_features(given, [(name, {**own, "scaling": "length 1"})], tmp_path)
    assert alone == pytest.approx(matrices[0] / np.linalg.norm(matrices[0], axis=1, keepdims=True), abs=1e-6)
    per_column = load_features(given, parts[1:2], tmp_path)
    assert per_column[~given.test].std(axis=0) == pytest.approx(3**-0.5, abs=1e-6)
    assert load_features(given, parts, tmp_path).shape == (5, 2 + 3 + 3)
    with refused("features", "Own vectors, Own vectors"):
        cached_features(given, [parts[1], parts[1]], tmp_path)


def test_vectors_of_another_shape_than_their_name_are_not_read(given, tmp_path):
    np.save(cached_vectors_file(tmp_path, given.key, NAME), np.ones((5, 6), np.float32))
    assert cached_features(given, [("Own vectors", {"vectors": NAME})], tmp_path) is None
