"""Vectors that a person brought, as a feature: named by settings, as wide as their name says."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from ranking.datasets import build_image_set, make_source
from ranking.features import (
    FEATURES,
    cached_features,
    cached_vectors_file,
    default_names,
    feature_columns,
    feature_names,
    load_features,
    make_feature,
)
from ranking.types import SourceBox, SourceImage
from ranking.vector_files import vectors_name

NAME = f"own-{'0' * 32}-7"

CARD = next(make_source("Digits").records()).data


class Two:
    def __init__(self, features=None):
        self.features = features

    def title(self):
        return "Two"

    def __len__(self):
        return 2

    def records(self):
        for number in range(2):
            yield SourceImage(
                str(number), CARD, (SourceBox(None, ("a",)),), test=number == 1, features=self.features
            )


def test_its_name_tells_its_width_before_it_is_there():
    parts = [("Colour", {"bins": 2}), ("Own vectors", {"vectors": NAME})]
    assert [columns for _, columns in feature_columns(parts)] == [slice(0, 8), slice(8, 15)]


@pytest.mark.parametrize("name", ["", "x", f"own-{'0' * 32}-99999999999", "../../etc/passwd", 3, None])
def test_a_name_of_no_vectors_is_refused(name):
    with pytest.raises(ValueError, match="Own vectors: expected the name of vectors that were brought"):
        make_feature("Own vectors", vectors=name)


def test_no_set_offers_them_by_itself():
    assert "Own vectors" in FEATURES.names()
    assert "Own vectors" not in feature_names()
    assert "Own vectors" not in default_names()


def test_no_picture_has_them():
    with pytest.raises(ValueError, match="computed of no picture"):
        make_feature("Own vectors", vectors=NAME).describe(Image.new("RGB", (8, 8)))


def test_a_set_of_cards_takes_them_for_they_read_no_picture(tmp_path):
    images, _ = build_image_set(Two((1.0, 2.0)), tmp_path / "set")
    matrix = np.array([[1, 0], [0, 1]], np.float32)
    name = vectors_name(matrix)
    np.save(cached_vectors_file(tmp_path, images.key, name), matrix)
    assert (load_features(images, [("Own vectors", {"vectors": name})], tmp_path) == matrix).all()
    both = load_features(images, [("Given", {}), ("Own vectors", {"vectors": name})], tmp_path)
    assert both.shape == (2, 4)


def test_two_of_them_stand_side_by_side_and_one_does_so_once(tmp_path):
    images, _ = build_image_set(Two(), tmp_path / "set")
    parts = []
    for seed in (0, 1):
        matrix = np.random.default_rng(seed).normal(size=(2, 3)).astype(np.float32)
        parts.append(("Own vectors", {"vectors": vectors_name(matrix)}))
        np.save(cached_vectors_file(tmp_path, images.key, vectors_name(matrix)), matrix)
    assert cached_features(images, parts, tmp_path).shape == (2, 6)
    with pytest.raises(ValueError, match="every feature once"):
        cached_features(images, [parts[0], parts[0]], tmp_path)


def test_vectors_of_another_shape_than_their_name_are_not_read(tmp_path):
    images, _ = build_image_set(Two(), tmp_path / "set")
    np.save(cached_vectors_file(tmp_path, images.key, NAME), np.ones((2, 6), np.float32))
    assert cached_features(images, [("Own vectors", {"vectors": NAME})], tmp_path) is None
