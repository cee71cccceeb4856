"""Features that came with an image set: kept with it, hashed with it, offered by it alone."""

from __future__ import annotations

import numpy as np
import pytest

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


class Told:
    """A source of images with features."""

    def __init__(self, vectors):
        self.vectors = vectors

    def title(self):
        return "Told"

    def __len__(self):
        return len(self.vectors)

    def records(self):
        for number, vector in enumerate(self.vectors):
            boxes = (
                (SourceBox(None, ("even",)), SourceBox((0, 0, 4, 4), ()))
                if number % 2 == 0
                else (SourceBox(None, ()),)
            )
            yield SourceImage(str(number), CARD, boxes, test=number == 2, features=vector)


@pytest.fixture
def told(tmp_path):
    return build_image_set(Told(VECTORS), tmp_path / "set")[0]


def test_all_boxes_of_an_image_have_its_features_with_length_1(told, tmp_path):
    matrix = load_features(told, [("Given", {})], tmp_path / "cache")
    expected = [[0.6, 0.8], [0.6, 0.8], [0, 0], [0, -1], [0, -1]]
    assert matrix.dtype == np.float32
    assert matrix == pytest.approx(np.array(expected), abs=1e-7)
    assert (cached_features(told, [("Given", {})], tmp_path / "cache") == matrix).all()
    assert not (tmp_path / "cache").exists()


def test_they_are_kept_with_the_set_and_in_its_key(told, tmp_path):
    assert (load_image_set(told.folder).image_features == np.array(VECTORS, np.float32)).all()
    other, _ = build_image_set(Told([*VECTORS[:2], (0.0, -3.0)]), tmp_path / "other")
    assert other.key != told.key
    without, _ = build_image_set(Told([None] * 3), tmp_path / "without")
    assert without.image_features is None
    with np.load(without.folder / "columns.npz") as stored:
        assert "image_features" not in stored.files, "sets without them keep the keys that they had"


def test_a_set_offers_them_or_features_of_pictures(told, tmp_path):
    without, _ = build_image_set(Told([None] * 3), tmp_path / "without")
    assert feature_names(told) == default_names(told) == ["Given"]
    assert feature_names(without) == feature_names()
    assert default_names(without) == default_names() == ["HOG", "Colour"]
    assert "Given" not in feature_names()
    with pytest.raises(
        ValueError, match=r"HOG would read the labels of Told from its pictures, .*; choose Given"
    ):
        load_features(told, [("Given", {}), ("HOG", {})], tmp_path)
    with pytest.raises(ValueError, match="Told came without features; choose features of its pictures"):
        load_features(without, [("Given", {})], tmp_path)


def test_their_number_is_known_where_the_set_is(told):
    [(feature, columns)] = feature_columns([("Given", {})], told)
    assert (feature.name, feature.size, columns) == ("Given", 2, slice(0, 2))
    with pytest.raises(ValueError, match="came with an image set, which is not here; import the set first"):
        feature_columns([("Given", {})])
    with pytest.raises(ValueError, match="no picture has them"):
        make_feature("Given").describe(told.open_image(0))


def test_neighbours_are_compared_by_them(told, tmp_path):
    features = load_features(told, [("Given", {})], tmp_path)
    assert image_graph(told, "same image", [("Given", {})], features).edges.tolist() == [[0, 1], [3, 4]]


def test_images_have_equally_many_finite_ones(tmp_path):
    with pytest.raises(ValueError, match="the first has 2 numbers, '1' has 3"):
        build_image_set(Told([(1.0, 2.0), (1.0, 2.0, 3.0)]), tmp_path / "uneven")
    with pytest.raises(ValueError, match="the first has 2 numbers, '1' has 0"):
        build_image_set(Told([(1.0, 2.0), None]), tmp_path / "some")
    for place, bad in enumerate((np.nan, np.inf, 1e300)):
        images, [problem] = build_image_set(Told([*VECTORS, (1.0, bad)]), tmp_path / f"bad{place}")
        assert len(images.image_names) == 3
        assert isinstance(problem, Problem)
        assert problem.expected == "features that are finite numbers"
