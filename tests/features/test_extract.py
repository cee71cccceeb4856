"""The feature matrix: whose rows, from which pixels, and what the cache may answer."""

from __future__ import annotations

import io
import logging
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from PIL import Image

from ranking.datasets import build_image_set
from ranking.features import FEATURES, cached_features, extract, feature_columns, load_features, make_feature
from ranking.settings import setting
from ranking.types import ImageSet, SourceBox, SourceImage

BOTH = [("HOG", {}), ("Colour", {"bins": 4})]
ALL = ["HOG", "Colour", "GIST", "HOG of the image", "Colour of the image", "GIST of the image"]
BOXES, IMAGES = 9, 4  # of the set below


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
def described(monkeypatch):
    """The names of the features that described something, in alphabetical order."""
    calls = []
    for cls in {FEATURES.get(name) for name in FEATURES.names()}:
        if "describe" in vars(cls):  # the others inherit it

            def noting(self, crop, really=cls.describe):
                calls.append(self.name)
                return really(self, crop)

            monkeypatch.setattr(cls, "describe", noting)

    def since():
        told = sorted(calls)
        calls.clear()
        return told

    return since


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
        crop = picture.crop(tuple(image_set.boxes[sample].tolist()))
        rows.append(feature.describe(picture if feature.whole_image else crop))
    return np.array(rows)


@pytest.mark.parametrize(("name", "settings"), [*BOTH, *((name, {}) for name in ALL)])
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
    assert sorted(counted) == [0, 1, 2, 3]
    assert (load_features(noise, BOTH, tmp_path) == first).all()
    load_features(noise, BOTH[:1], tmp_path)
    load_features(noise, BOTH[::-1], tmp_path)
    assert sorted(counted) == [0, 1, 2, 3]
    load_features(noise, [*BOTH, ("Colour", {"bins": 3})], tmp_path)
    assert sorted(counted) == sorted([0, 1, 2, 3] * 2)
    assert len(list(tmp_path.iterdir())) == 3


def test_what_is_cached_is_given_whole_or_not_at_all_and_nothing_is_computed(noise, tmp_path, counted):
    one = load_features(noise, BOTH[:1], tmp_path)
    assert (cached_features(noise, BOTH[:1], tmp_path) == one).all()
    counted.clear()
    assert cached_features(noise, BOTH, tmp_path) is None
    assert not counted
    both = load_features(noise, BOTH, tmp_path)
    assert (cached_features(noise, BOTH, tmp_path) == both).all()


def test_changing_one_part_describes_with_that_part_only(noise, tmp_path, described):
    parts = [("HOG", {}), ("GIST", {}), ("Colour of the image", {})]
    load_features(noise, parts, tmp_path)
    assert described() == ["Colour of the image"] * IMAGES + ["GIST"] * BOXES + ["HOG"] * BOXES
    load_features(noise, parts, tmp_path)
    assert described() == []
    load_features(noise, [parts[0], ("GIST", {"blocks": 2}), parts[2]], tmp_path)
    assert described() == ["GIST"] * BOXES
    load_features(noise, [*parts, ("HOG of the image", {})], tmp_path)
    assert described() == ["HOG of the image"] * IMAGES
    load_features(noise, [*parts[:2], ("Colour of the image", {"bins": 2})], tmp_path)
    assert described() == ["Colour of the image"] * IMAGES


def test_boxes_of_one_image_share_the_vector_of_the_image(noise, tmp_path):
    matrix = load_features(noise, [("GIST of the image", {})], tmp_path)
    for image in range(IMAGES):
        rows = matrix[noise.image_of == image]
        assert (rows == rows[0]).all()
    assert len(np.unique(matrix, axis=0)) == IMAGES


@pytest.mark.parametrize("threads", [1, 3])
def test_the_number_of_threads_changes_no_bit(noise, tmp_path, monkeypatch, threads):
    parts = [(name, {}) for name in ALL]
    usual = load_features(noise, parts, tmp_path / "usual")
    monkeypatch.setattr(extract, "THREADS", threads)
    assert (load_features(noise, parts, tmp_path / "other") == usual).all()


def test_who_ends_it_while_an_image_is_described_is_heard_at_once(noise, tmp_path, registered):
    """One image with many boxes: the exception comes between two of its boxes, and nothing goes on behind."""
    calls = []

    @registered("Endless")
    @dataclass
    class Endless:
        version: ClassVar[int] = 1
        whole_image: ClassVar[bool] = False
        size: ClassVar[int] = 1

        def describe(self, crop):
            calls.append(crop)
            time.sleep(0.05)
            return np.ones(1, np.float32)

    columns = {name: np.repeat(getattr(noise, name)[:1], 400, axis=0) for name in ("boxes", "image_of")}
    others = {name: getattr(noise, name)[:400] for name in ("groups", "labels", "ids")}
    images = {
        f"image_{name}": getattr(noise, f"image_{name}")[:1] for name in ("names", "files", "sizes", "test")
    }
    many = ImageSet(key="many", title="", folder=noise.folder, classes=(), **columns, **others, **images)
    start = time.monotonic()

    def end(what, done, total):
        assert (done, total) == (0, 1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_features(many, [("Endless", {})], tmp_path, end)
    assert time.monotonic() - start < 1
    heard = len(calls)
    time.sleep(0.2)
    assert len(calls) == heard
    assert list(tmp_path.iterdir()) == []


def test_progress_names_what_is_missing(noise, tmp_path, monkeypatch):
    monkeypatch.setattr(extract, "BEAT", 60)
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
    monkeypatch.setattr(type(make_feature("HOG")), "version", 99)
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
    with pytest.raises(ValueError, match="no feature is called 'SIFT'"):
        load_features(noise, [("SIFT", {})], tmp_path)
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


def test_the_columns_of_a_part_are_those_of_the_part_alone(noise, tmp_path):
    parts = [("Colour", {"bins": 3}), ("HOG", {"side": 32}), ("HOG of the image", {"cell": 16})]
    together, end = load_features(noise, parts, tmp_path), 0
    for (name, settings), (feature, columns) in zip(parts, feature_columns(parts), strict=True):
        assert (feature.name, columns.start) == (name, end)
        end = columns.stop
        alone = load_features(noise, [(name, settings)], tmp_path)
        lengths = np.linalg.norm(together[:, columns], axis=1, keepdims=True)
        assert np.allclose(together[:, columns], lengths * alone, atol=1e-6)
    assert end == together.shape[1]
