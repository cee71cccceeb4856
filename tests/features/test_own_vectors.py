"""Uploaded vectors as a feature: named by settings, as wide as their name says."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from refusals import refused

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


class TwoCards:
    def title(self):
        return "Two cards"

    def __len__(self):
        return 2

    def records(self):
        for number in range(2):
            boxes = (SourceBox(None, ("a",)),)
            yield SourceImage(str(number), CARD, boxes, test=number == 1, features=(1.0, 2.0))


@pytest.fixture
def images(tmp_path):
    return build_image_set(TwoCards(), tmp_path / "set")[0]


def test_the_name_says_how_wide_they_are_before_they_are_imported():
    parts = [("Colour", {"bins": 2}), ("Own vectors", {"vectors": NAME})]
    assert [columns for _, columns in feature_columns(parts)] == [slice(0, 8), slice(8, 15)]


@pytest.mark.parametrize("name", ["", "x", f"own-{'0' * 32}-99999999999", "../../etc/passwd", 3, None])
def test_a_name_of_no_vectors_is_refused(name):
    with refused("Own vectors", repr(name)):
        make_feature("Own vectors", vectors=name)


def test_no_set_offers_them_and_no_image_has_them():
    assert "Own vectors" in FEATURES.names()
    assert "Own vectors" not in feature_names()
    assert "Own vectors" not in default_names()
    with refused("vectors of own 00000000"):
        make_feature("Own vectors", vectors=NAME).describe(Image.new("RGB", (8, 8)))


def test_two_of_them_go_side_by_side_also_with_features_of_the_set_but_each_once(images, tmp_path):
    parts, matrices = [("Given", {})], []
    for seed in (0, 1):
        matrices.append(np.random.default_rng(seed).normal(size=(2, 3)).astype(np.float32))
        name = vectors_name(matrices[-1])
        parts.append(("Own vectors", {"vectors": name}))
        np.save(cached_vectors_file(tmp_path, images.key, name), matrices[-1])
    alone = load_features(images, parts[1:2], tmp_path)
    assert alone == pytest.approx(matrices[0] / np.linalg.norm(matrices[0], axis=1, keepdims=True), abs=1e-6)
    assert load_features(images, parts, tmp_path).shape == (2, 2 + 3 + 3)
    with refused("features", "Own vectors, Own vectors"):
        cached_features(images, [parts[1], parts[1]], tmp_path)


def test_vectors_of_another_shape_than_their_name_are_not_read(images, tmp_path):
    np.save(cached_vectors_file(tmp_path, images.key, NAME), np.ones((2, 6), np.float32))
    assert cached_features(images, [("Own vectors", {"vectors": NAME})], tmp_path) is None
