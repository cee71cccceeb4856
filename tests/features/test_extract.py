"""The feature matrix: whose rows, from which pixels, and what the cache may answer."""

from __future__ import annotations

import io
import logging
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from PIL import Image

from ranking.datasets import build_image_set
from ranking.features import FEATURES, extract, load_features, make_feature
from ranking.settings import setting
from ranking.types import ImageSet, SourceBox, SourceImage

BOTH = [("HOG", {}), ("Colour", {"bins": 4})]


class Noise:
    """A small image set of noise: several boxes an image, images of different sizes."""

    name = "Noise"

    def title(self):
        return "noise"

    def __len__(self):
        return 4

    def records(self):
        random = np.random.default_rng(0)
        for number in range(4):
            width, height = 30 + 7 * number, 50 - 5 * number
            stream = io.BytesIO()
            pixels = random.integers(0, 256, (height, width, 3), np.uint8)
            Image.fromarray(pixels).save(stream, "PNG")
            boxes = [(0, 0, width, height), (3, 2, 20, 30), (5, 5, 6, 6)][: number + 1]
            told = tuple(SourceBox(box, ("odd",) if number % 2 else ("even",)) for box in boxes)
            yield SourceImage(f"{number}", stream.getvalue(), told, test=number > 1)


@pytest.fixture(scope="module")
def noise(tmp_path_factory):
    return build_image_set(Noise(), tmp_path_factory.mktemp("noise") / "set")[0]


@pytest.fixture
def counted(monkeypatch):
    """How often images were decoded."""
    calls = []
    really = ImageSet.open_image

    def noting(self, image):
        calls.append(image)
        return really(self, image)

    monkeypatch.setattr(ImageSet, "open_image", noting)
    return calls


@pytest.fixture
def registered():
    """Registers a feature for one test."""
    before = dict(FEATURES._classes)
    FEATURES.names()
    yield FEATURES.register
    FEATURES._classes.clear()
    FEATURES._classes.update(before)


def slow(image_set, name, settings):
    """The definition: sample after sample."""
    feature = make_feature(name, **settings)
    rows = []
    for sample in range(len(image_set)):
        picture = image_set.open_image(int(image_set.image_of[sample]))
        rows.append(feature.describe(picture.crop(tuple(image_set.boxes[sample].tolist()))))
    return np.array(rows)


@pytest.mark.parametrize(("name", "settings"), BOTH)
def test_one_part_is_each_sample_described(noise, tmp_path, name, settings):
    matrix = load_features(noise, [(name, settings)], tmp_path)
    assert matrix.dtype == np.float32
    assert matrix == pytest.approx(slow(noise, name, settings), abs=1e-6)


def test_parts_weigh_the_same_and_rows_have_length_1(noise, tmp_path):
    matrix = load_features(noise, BOTH, tmp_path)
    assert matrix.shape == (9, 1764 + 64)
    hog, colour = slow(noise, *BOTH[0]), slow(noise, *BOTH[1])
    joined = np.hstack([hog, colour])
    lengths = np.linalg.norm(joined, axis=1, keepdims=True)
    assert matrix == pytest.approx(joined / lengths, abs=1e-6)
    assert np.linalg.norm(matrix, axis=1) == pytest.approx(np.ones(9), abs=1e-5)
    flat = (noise.boxes[:, 2] - noise.boxes[:, 0]) == 1  # a box of one pixel has no shape, only a colour
    assert flat.any()
    assert (hog.any(axis=1) == ~flat).all()


def test_rows_do_not_depend_on_the_order_of_samples(noise, tmp_path):
    order = np.random.default_rng(0).permutation(len(noise))
    columns = {name: getattr(noise, name)[order] for name in ("boxes", "image_of", "groups", "labels", "ids")}
    others = ("title", "folder", "classes", "image_names", "image_files", "image_sizes", "image_test")
    shuffled = ImageSet(key="other", **columns, **{name: getattr(noise, name) for name in others})
    matrix = load_features(shuffled, BOTH, tmp_path)
    assert (matrix == load_features(noise, BOTH, tmp_path)[order]).all()


def test_a_set_without_structure_stays_zero(noise, tmp_path, registered):
    @registered("Nothing")
    @dataclass
    class Nothing:
        version: ClassVar[int] = 1
        whole_image: ClassVar[bool] = False
        size: ClassVar[int] = 3

        def describe(self, crop):
            return np.zeros(3, np.float32)

    assert not load_features(noise, [("Nothing", {})], tmp_path).any()


def test_each_image_is_decoded_once_and_then_never(noise, tmp_path, counted):
    first = load_features(noise, BOTH, tmp_path)
    assert counted == [0, 1, 2, 3]
    assert (load_features(noise, BOTH, tmp_path) == first).all()
    load_features(noise, BOTH[:1], tmp_path)
    load_features(noise, BOTH[::-1], tmp_path)
    assert counted == [0, 1, 2, 3]
    load_features(noise, [*BOTH, ("Colour", {"bins": 3})], tmp_path)
    assert counted == [0, 1, 2, 3] * 2
    assert len(list(tmp_path.iterdir())) == 3


def test_progress_names_what_is_missing(noise, tmp_path):
    seen = []
    load_features(noise, BOTH, tmp_path, lambda *told: seen.append(told))
    assert seen == [("HOG and Colour", done, 4) for done in (1, 2, 3, 4)]
    load_features(noise, [*BOTH, ("Colour", {})], tmp_path, lambda *told: seen.append(told))
    assert seen[4:] == [("Colour", done, 4) for done in (1, 2, 3, 4)]
    load_features(noise, BOTH, tmp_path, lambda *told: seen.append(told))
    assert len(seen) == 8


def test_the_cache_name_hangs_on_set_feature_version_and_settings(monkeypatch):
    def name(key="k", feature="HOG", **settings):
        return extract.cache_name(key, make_feature(feature, **settings))

    assert name() == name(side=64)
    names = {name(), name("l"), name(feature="Colour"), name(side=32), name(cell=16)}
    monkeypatch.setattr(type(make_feature("HOG")), "version", 2)
    names.add(name())
    assert len(names) == 6


def saved(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cannot be read"),
        (b"\x93NUMPY", "cannot be read"),
        (b"not an array", "cannot be read"),
        (saved(np.zeros((9, 64), np.float32))[:-1], "cannot be read"),
        (saved(np.array([[object()]])), "cannot be read"),
        (saved(np.zeros((8, 64), np.float32)), r"got float32 of shape (8, 64)"),
        (saved(np.zeros((9, 64))), r"got float64 of shape (9, 64)"),
        (saved(np.full((9, 64), np.nan, np.float32)), "must be finite"),
    ],
)
def test_a_damaged_cache_is_said_and_computed_again(noise, tmp_path, caplog, content, message):
    good = load_features(noise, BOTH[1:], tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert (load_features(noise, BOTH[1:], tmp_path) == good).all()
    assert message in caplog.text
    caplog.clear()
    assert (load_features(noise, BOTH[1:], tmp_path) == good).all()
    assert caplog.text == ""


def test_a_failed_write_leaves_nothing(noise, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(extract.np, "save", full)
    with pytest.raises(OSError, match="No space left"):
        load_features(noise, BOTH, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_is_refused(noise, tmp_path):
    with pytest.raises(ValueError, match="expected at least one feature, got none"):
        load_features(noise, [], tmp_path)
    with pytest.raises(ValueError, match="every feature once, got HOG, HOG"):
        load_features(noise, [("HOG", {}), ("HOG", {"side": 64})], tmp_path)
    with pytest.raises(ValueError, match="no feature is called 'GIST'"):
        load_features(noise, [("GIST", {})], tmp_path)
    with pytest.raises(ValueError, match="HOG has no setting 'sides'"):
        load_features(noise, [("HOG", {"sides": 3})], tmp_path)


def test_a_feature_of_the_whole_image_is_one_new_class(noise, tmp_path, registered):
    @registered("Whole")
    @dataclass
    class Whole:
        version: ClassVar[int] = 1
        whole_image: ClassVar[bool] = True
        scale: float = setting(1.0, label="Scale", help="A setting.")
        size: ClassVar[int] = 2

        def describe(self, crop):
            return np.array(crop.size, np.float32) * self.scale

    matrix = load_features(noise, [("Whole", {"scale": 2.0})], tmp_path)
    sizes = noise.image_sizes[noise.image_of].astype(float)
    assert matrix == pytest.approx(sizes / np.linalg.norm(sizes, axis=1, keepdims=True))


@pytest.mark.parametrize("wrong", [np.zeros(3, np.float32), np.array([1, np.nan], np.float32)])
def test_a_feature_that_breaks_its_word(noise, tmp_path, registered, wrong):
    @registered("Wrong")
    @dataclass
    class Wrong:
        version: ClassVar[int] = 1
        whole_image: ClassVar[bool] = False
        size: ClassVar[int] = 2

        def describe(self, crop):
            return wrong

    with pytest.raises(ValueError, match="Wrong must describe a box by 2 finite numbers"):
        load_features(noise, [("Wrong", {})], tmp_path)
    assert list(tmp_path.iterdir()) == []
