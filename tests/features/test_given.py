"""Features that came with an image set: kept with it, hashed with it, offered by it alone."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from ranking.datasets import build_image_set, load_image_set, make_source
from ranking.features import (
    cached_features,
    default_names,
    feature_columns,
    feature_names,
    load_features,
    make_feature,
)
from ranking.image_graph import image_graph
from ranking.types import Problem, SourceBox, SourceImage

CARD = next(make_source("Digits").records()).data
VECTORS = [(3.0, 4.0), (0.0, 0.0), (0.0, -2.0)]


class Cards:
    """A source of images with features."""

    def __init__(self, vectors):
        self.vectors = vectors

    def title(self):
        return "Cards"

    def __len__(self):
        return len(self.vectors)

    def records(self):
        for number, vector in enumerate(self.vectors):
            even = (SourceBox(None, ("even",)), SourceBox((0, 0, 4, 4), ()))
            boxes = (SourceBox(None, ()),) if number % 2 else even
            yield SourceImage(str(number), CARD, boxes, test=number == 2, features=vector)


@pytest.fixture(scope="module")
def cards(tmp_path_factory):
    return build_image_set(Cards(VECTORS), tmp_path_factory.mktemp("cards") / "set")[0]


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    return build_image_set(Cards([None] * 3), tmp_path_factory.mktemp("without") / "set")[0]


def test_all_boxes_of_an_image_have_its_features_with_length_1(cards, tmp_path):
    matrix = load_features(cards, [("Given", {})], tmp_path / "cache")
    expected = [[0.6, 0.8], [0.6, 0.8], [0, 0], [0, -1], [0, -1]]
    assert matrix.dtype == np.float32
    assert matrix == pytest.approx(np.array(expected), abs=1e-7)
    assert (cached_features(cards, [("Given", {})], tmp_path / "cache") == matrix).all()
    assert not (tmp_path / "cache").exists()
    assert image_graph(cards, "same image", [("Given", {})], matrix).edges.tolist() == [[0, 1], [3, 4]]


def test_they_are_kept_with_the_set_and_in_its_key(cards, without, tmp_path):
    assert (load_image_set(cards.folder).image_features == np.array(VECTORS, np.float32)).all()
    changed, _ = build_image_set(Cards([*VECTORS[:2], (0.0, -3.0)]), tmp_path / "changed")
    assert changed.key != cards.key
    assert without.image_features is None
    with np.load(without.folder / "columns.npz") as stored:
        assert "image_features" not in stored.files, "sets without them keep the keys that they had"


def test_a_set_offers_them_or_features_of_images(cards, without, tmp_path):
    assert feature_names(cards) == default_names(cards) == ["Given"]
    assert feature_names(without) == feature_names()
    assert default_names(without) == default_names() == ["HOG", "Colour"]
    assert "Given" not in feature_names()
    with refused("features", "HOG"):
        load_features(cards, [("Given", {}), ("HOG", {})], tmp_path)
    with refused("Given") as caught:
        load_features(without, [("Given", {})], tmp_path)
    assert "Cards" in caught.value.expected


def test_their_number_is_known_where_the_set_is(cards):
    [(feature, columns)] = feature_columns([("Given", {})], cards)
    assert (feature.name, feature.size, columns) == ("Given", 2, slice(0, 2))
    with refused("Given"):
        feature_columns([("Given", {})])
    with refused("Given"):
        make_feature("Given").describe(cards.open_image(0))


def test_images_have_the_same_number_of_finite_features(tmp_path):
    for number, second in enumerate(((1.0, 2.0, 3.0), None)):
        with pytest.raises(ValueError, check=lambda error: "'1'" in str(error)):  # the name of the image
            build_image_set(Cards([(1.0, 2.0), second]), tmp_path / f"uneven{number}")
    for number, bad in enumerate((np.nan, np.inf, 1e300)):
        images, [problem] = build_image_set(Cards([*VECTORS, (1.0, bad)]), tmp_path / f"bad{number}")
        assert len(images.image_names) == 3
        assert isinstance(problem, Problem)
        assert problem.file == "3"
