"""The feature matrix: which rows, from which pixels, and when the cache is read."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace

import numpy as np
import pytest
from import_folders import in_memory
from numbered_set import cards
from refusals import refused

from ranking.core import Feature, ImageSet
from ranking.features import FEATURES, cached_features, extract, feature_columns, load_features, make_feature

BOTH = [("HOG", {}), ("Colour", {"bins": 4})]
ALL = ["HOG", "Colour", "GIST", "HOG of the image", "Colour of the image", "GIST of the image"]
# of the set `noise`
BOXES, IMAGES = 9, 4


@pytest.fixture
def calls(monkeypatch):
    """The numbers of the images that were decoded, and the names of the features that described something."""
    images, names = [], []

    def record(cls, method, what, into):
        really = getattr(cls, method)

        def recording(self, argument):
            into.append(what(self, argument))
            return really(self, argument)

        monkeypatch.setattr(cls, method, recording)

    record(ImageSet, "open_image", lambda _, image: image, images)
    for cls in {FEATURES.get(name) for name in FEATURES.names()}:
        # the others inherit it
        if "describe" in vars(cls):
            record(cls, "describe", lambda feature, _: feature.name, names)
    return images, names


@pytest.fixture
def register(monkeypatch):
    FEATURES.names()
    monkeypatch.setattr(FEATURES, "_classes", dict(FEATURES._classes))

    def register(name, size, describe):
        def method(self, crop):
            return describe(crop)

        attributes = {"version": 1, "whole_image": False, "size": size, "describe": method}
        FEATURES.register(name)(dataclass(type(name, (Feature,), attributes)))

    return register


def slow(image_set, name, settings):
    """The definition: sample after sample."""
    feature = make_feature(name, **settings)
    rows = []
    for sample in range(len(image_set)):
        picture = image_set.open_image(int(image_set.image_of[sample]))
        crop = picture.crop(tuple(image_set.boxes[sample].tolist()))
        rows.append(feature.describe(picture if feature.whole_image else crop))
    return np.array(rows)


def test_one_part_is_each_sample_described(noise, tmp_path):
    """Also the box of a single pixel, which has no structure and stays 0."""
    for name, settings in [BOTH[1], *((name, {}) for name in ALL)]:
        matrix = load_features(noise, [(name, settings)], tmp_path)
        assert matrix.dtype == np.float32
        assert matrix == pytest.approx(slow(noise, name, settings), abs=1e-6), name


def test_parts_weigh_the_same_and_rows_have_length_1(noise, tmp_path):
    matrix = load_features(noise, BOTH, tmp_path)
    hog, colour = slow(noise, *BOTH[0]), slow(noise, *BOTH[1])
    joined = np.hstack([hog, colour])
    assert [columns for _, columns in feature_columns(BOTH)] == [slice(0, 1764), slice(1764, 1764 + 64)]
    assert matrix == pytest.approx(joined / np.linalg.norm(joined, axis=1, keepdims=True), abs=1e-6)
    # a box of one pixel has no shape, only a colour
    flat = (noise.boxes[:, 2] - noise.boxes[:, 0]) == 1
    assert flat.any()
    assert (hog.any(axis=1) == ~flat).all()


def test_rows_do_not_depend_on_the_order_of_samples(noise, tmp_path):
    order = np.random.default_rng(0).permutation(len(noise))
    columns = {name: getattr(noise, name)[order] for name in ("boxes", "image_of", "groups", "labels", "ids")}
    shuffled = replace(noise, key="shuffled", **columns)
    matrix = load_features(shuffled, BOTH, tmp_path)
    assert (matrix == load_features(noise, BOTH, tmp_path)[order]).all()


def test_cached_features_are_not_computed_again_and_each_image_is_decoded_once(noise, tmp_path, calls):
    decoded, described = calls

    def described_for(parts):
        described.clear()
        load_features(noise, parts, tmp_path)
        return sorted(described)

    parts = [("HOG", {}), ("GIST", {}), ("Colour of the image", {})]
    assert cached_features(noise, parts, tmp_path) is None
    assert not decoded
    first = ["Colour of the image"] * IMAGES + ["GIST"] * BOXES + ["HOG"] * BOXES
    assert described_for(parts) == first
    assert sorted(decoded) == list(range(IMAGES))
    assert [described_for(kept) for kept in (parts, parts[:1], parts[::-1])] == [[]] * 3
    assert (cached_features(noise, parts, tmp_path) == load_features(noise, parts, tmp_path)).all()
    assert cached_features(noise, [*parts, BOTH[1]], tmp_path) is None
    assert sorted(decoded) == list(range(IMAGES))
    assert len(list(tmp_path.iterdir())) == 3
    assert described_for([parts[0], ("GIST", {"blocks": 2}), parts[2]]) == ["GIST"] * BOXES
    assert described_for([*parts, ("HOG of the image", {})]) == ["HOG of the image"] * IMAGES
    changed = [*parts[:2], ("Colour of the image", {"bins": 2})]
    assert described_for(changed) == ["Colour of the image"] * IMAGES


def test_the_number_of_threads_changes_no_bit(noise, tmp_path, monkeypatch):
    parts = [(name, {}) for name in ALL]
    matrices = []
    for threads in (extract.THREADS, 1, 3):
        monkeypatch.setattr(extract, "THREADS", threads)
        matrices.append(load_features(noise, parts, tmp_path / f"{len(matrices)}"))
    assert (matrices[0] == matrices[1:]).all()


def test_training_that_is_cancelled_while_an_image_is_described_ends_at_once(noise, tmp_path, register):
    """One image has many boxes."""
    # The exception comes between two of its boxes, and no thread keeps running.
    calls = []

    def describe(crop):
        calls.append(crop)
        time.sleep(0.05)
        return np.ones(1, np.float32)

    register("Endless", 1, describe)
    many = cards(tmp_path / "set", [400])

    def end(what, done, total):
        assert (done, total) == (0, 1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_features(many, [("Endless", {})], tmp_path / "cache", end)
    at_the_end = len(calls)
    assert at_the_end < 400
    time.sleep(0.2)
    assert len(calls) == at_the_end
    assert list(tmp_path.glob("cache/*")) == []


def test_progress_names_the_features_that_are_not_cached(noise, tmp_path, monkeypatch):
    monkeypatch.setattr(extract, "BEAT", 60)
    seen = []
    for parts in (BOTH, [*BOTH, ("Colour", {})], BOTH):
        load_features(noise, parts, tmp_path, lambda *step: seen.append(step))
    missing = ("HOG and Colour", "Colour")
    assert seen == [(names, done, 4) for names in missing for done in (1, 2, 3, 4)]


def test_the_cache_name_depends_on_set_feature_version_and_settings(monkeypatch):
    def name(key="k", feature="HOG", **settings):
        return extract.cache_name(key, make_feature(feature, **settings))

    assert name() == name(side=64)
    names = {name(), name("l"), name(feature="Colour"), name(side=32), name(cell=16)}
    monkeypatch.setattr(type(make_feature("HOG")), "version", 99)
    names.add(name())
    assert len(names) == 6


DAMAGED = {
    "empty": b"",
    "a header alone": b"\x93NUMPY",
    "one byte short": in_memory(lambda file: np.save(file, np.zeros((9, 64), np.float32)))[:-1],
    "objects": in_memory(lambda file: np.save(file, np.array([[object()]]))),
    "(8, 64)": in_memory(lambda file: np.save(file, np.zeros((8, 64), np.float32))),
    "float64": in_memory(lambda file: np.save(file, np.zeros((9, 64)))),
    "NaN": in_memory(lambda file: np.save(file, np.full((9, 64), np.nan, np.float32))),
}


def test_a_damaged_cache_is_logged_and_computed_again(noise, tmp_path, caplog):
    good = load_features(noise, BOTH[1:], tmp_path)
    (path,) = tmp_path.iterdir()
    for name, content in DAMAGED.items():
        path.write_bytes(content)
        for warnings in (1, 0):
            caplog.clear()
            with caplog.at_level(logging.WARNING):
                assert (load_features(noise, BOTH[1:], tmp_path) == good).all(), name
            assert [path.name in record.getMessage() for record in caplog.records] == [True] * warnings, name


def test_no_features_and_a_feature_twice_are_refused(noise, tmp_path):
    for parts, came in (([], "none"), ([("HOG", {}), ("HOG", {"side": 64})], "HOG, HOG")):
        with refused("features", came):
            load_features(noise, parts, tmp_path)


def test_a_vector_that_is_too_long_or_not_finite_is_refused(noise, tmp_path, register):
    for wrong in (np.zeros(3, np.float32), np.array([1, np.nan], np.float32)):
        register("Wrong", 2, lambda crop, wrong=wrong: wrong)
        with refused("Wrong"):
            load_features(noise, [("Wrong", {})], tmp_path)
        assert list(tmp_path.iterdir()) == []
