"""Candidate windows of images, their features, and the bags of an image set."""

from __future__ import annotations

import logging

import numpy as np
import pytest
import reference
from image_sets import image_set, pictures
from PIL import Image, ImageDraw
from refusals import refused
from skimage.segmentation import felzenszwalb

from ranking.core import ImageSet, SourceBox
from ranking.datasets import build_image_set
from ranking.features import extract
from ranking.features.windows import bags, description
from ranking.features.windows.bags import windows_of
from ranking.features.windows.candidates import candidate_windows
from ranking.features.windows.description import describe_windows
from ranking.features.windows.grouping import grouped_boxes
from ranking.features.windows.settings import SOURCES, WindowSettings
from ranking.metrics.detection import overlap

SETTINGS = WindowSettings(most=12)


def blocks(seed: int, width: int, height: int, size: int = 5) -> np.ndarray:
    """Squares of random colours, some of which are equal, with a little noise."""
    random = np.random.default_rng(seed)
    few = random.integers(0, 256, (4, 3))[random.integers(0, 4, (-(-height // size), -(-width // size)))]
    pixels = few.repeat(size, axis=0).repeat(size, axis=1)[:height, :width]
    return np.clip(pixels + random.integers(-9, 10, pixels.shape), 0, 255).astype(np.uint8)


def scene(seed: int, width: int, height: int, size: int = 5) -> Image.Image:
    return Image.fromarray(blocks(seed, width, height, size))


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    """Five images of different sizes; image n has n - 1 boxes, and image 0 none that differs from it."""

    def draw(number, random):
        size = 40 + 9 * number, 60 - 7 * number
        boxes = [SourceBox((5 * k, 3 + k, 20 + 4 * k, 30), ("thing",)) for k in range(number - 1)]
        return f"{number}", blocks(number, *size), tuple(boxes or [SourceBox((0, 0, *size), ("thing",))])

    return build_image_set(pictures("scenes", 5, draw), tmp_path_factory.mktemp("scenes") / "set")[0]


def test_groups_are_those_of_the_most_similar_neighbours():
    """Also of segments that are equally similar, and of parts that do not touch."""
    for seed in range(40):
        random = np.random.default_rng(seed)
        pixels = blocks(seed, 12, 9, 3) if seed % 4 else np.full((9, 12, 3), 77, np.uint8)
        numbers = random.permutation(12) if seed % 3 else random.integers(0, 7, 12)
        numbers = np.unique(numbers, return_inverse=True)[1].reshape(3, 4)
        segments = numbers.repeat(3, axis=0).repeat(3, axis=1)
        assert grouped_boxes(pixels, segments).tolist() == [
            list(box) for box in reference.grouped(pixels, segments)
        ], seed


def test_of_two_equally_similar_unions_the_first_is_joined():
    """Segment 0 has unions of two on both sides, equal in size and colours; the right one is made first."""
    light = np.repeat([1, 0] * 5, [8, 2, 2, 8, 40, 40, 5, 5, 5, 5])
    segments = np.repeat([1, 2, 0, 3, 4], [10, 10, 80, 10, 10])[None]
    pixels = (200 * light[None, :, None]).repeat(3, axis=2).astype(np.uint8)
    assert grouped_boxes(pixels, segments)[5:, ::2].tolist() == [[100, 120], [0, 20], [0, 100], [0, 120]]
    assert grouped_boxes(pixels, segments).tolist() == [
        list(box) for box in reference.grouped(pixels, segments)
    ]


def test_windows_of_segments_are_all_groups_of_some_size_the_last_first():
    for seed in range(8):
        picture = scene(seed, 45, 33)
        pixels = np.asarray(picture)
        every = reference.grouped(pixels, felzenszwalb(pixels, 64, 0.8, 15))[::-1]
        large = [box for box in every if min(box[2] - box[0], box[3] - box[1]) >= 0.06 * (45 * 33) ** 0.5]
        expected = list(dict.fromkeys([(0, 0, 45, 33), *large]))
        for most in (3, 150):
            windows = candidate_windows(picture, WindowSettings(most=most))
            assert windows.tolist() == [list(box) for box in expected[: most + 1]], (seed, most)


@pytest.mark.parametrize("size", [(200, 150), (1300, 1000), (150, 2100)])
def test_an_object_has_a_window(size):
    """Also in images that are reduced before they are segmented."""
    picture = Image.new("RGB", size, (90, 120, 200))
    box = [round(share * side) for share, side in zip((0.3, 0.25, 0.61, 0.8), size * 2, strict=True)]
    ImageDraw.Draw(picture).rectangle((box[0], box[1], box[2] - 1, box[3] - 1), (200, 60, 40))
    windows = candidate_windows(picture, SETTINGS)
    assert windows[0].tolist() == [0, 0, *size]
    assert (windows[:, :2] >= 0).all()
    assert (windows[:, 2:] <= size).all()
    assert overlap(windows, [box]).max() > 0.85


def test_windows_of_a_reduced_image_hold_all_pixels_of_their_groups():
    picture = scene(4, 301, 225, 30)
    small = picture.resize((200, 150), Image.Resampling.BOX)
    scale = np.array([301 / 200, 225 / 150] * 2)
    inside = candidate_windows(small, WindowSettings()) * scale
    windows = candidate_windows(picture, WindowSettings())
    assert len(windows) == len(inside) > 20
    outward = np.hstack([inside[:, :2] - windows[:, :2], windows[:, 2:] - inside[:, 2:]])
    assert outward.min() > -1e-9
    assert outward.max() < 1


def test_a_grid_has_the_requested_number_of_windows_and_covers_the_image():
    first = [[0, 0, 120, 60], [0, 0, 80, 60], [40, 0, 120, 60], [0, 0, 120, 40], [0, 20, 120, 60]]
    assert candidate_windows(Image.new("RGB", (120, 60)), WindowSettings("grid", 4)).tolist() == first
    for most in (1, 7, 150, 400):
        windows = candidate_windows(Image.new("RGB", (640, 480)), WindowSettings("grid", most))
        assert len(windows) == most + 1 == len(np.unique(windows, axis=0))
        areas = (windows[:, 2:] - windows[:, :2]).prod(axis=1)
        assert areas[0] == 640 * 480 > areas[1:].max()
        if most > 7:
            assert windows[1:].min(axis=0)[:2].tolist() == [0, 0]
            assert windows[1:].max(axis=0)[2:].tolist() == [640, 480]


def test_boxes_of_the_set_are_windows_as_far_as_they_are_inside():
    picture, settings = Image.new("RGB", (30, 20)), WindowSettings("boxes of the set", 3)
    boxes = [
        [5, 5, 9, 9],
        [0, 0, 30, 20],
        [5, 5, 9, 9],
        [-3, 2, 40, 8],
        [30, 0, 35, 5],
        [1, 1, 2, 2],
        [1, 1, 3, 3],
    ]
    windows = [[0, 0, 30, 20], [5, 5, 9, 9], [0, 2, 30, 8], [1, 1, 2, 2]]
    assert candidate_windows(picture, settings, boxes).tolist() == windows
    assert candidate_windows(picture, settings, []).tolist() == windows[:1]
    with refused("boxes"):
        candidate_windows(picture, settings)


def test_images_without_candidates_have_the_whole_image():
    for size in ((1, 1), (1, 300), (500, 1), (2, 2), (60, 40)):
        windows = candidate_windows(Image.new("RGB", size, (9, 200, 30)), WindowSettings())
        assert windows.tolist() == [[0, 0, *size]]
        described = describe_windows(Image.new("RGB", size, (9, 200, 30)), windows)
        assert np.linalg.norm(described) == pytest.approx(1)
        assert not described[:, : description.SHAPE].any(), "no edges"
    assert candidate_windows(Image.new("RGB", (1, 1)), WindowSettings("grid")).tolist() == [[0, 0, 1, 1]]


def test_invalid_settings_and_boxes_are_refused():
    with refused("source of windows", "'selective'"):
        WindowSettings("selective")
    with refused("most of windows", 0):
        WindowSettings(most=0)
    for box in ([0, 0, 11, 5], [-1, 0, 5, 5], [3, 3, 3, 5], [0, 4, 5, 2], [0, 0, np.nan, 5]):
        with refused(
            "boxes of windows", box if box[2] == box[2] else [0, 0, pytest.approx(np.nan, nan_ok=True), 5]
        ):
            describe_windows(Image.new("RGB", (10, 10)), [[0, 0, 10, 10], box])


def test_features_are_direct_sums_over_pixels():
    """Windows of each level of the pyramid, of odd sizes, of fewer pixels than cells."""
    for seed, (width, height) in enumerate([(203, 151), (31, 260), (9, 7)]):
        picture = scene(seed, width, height, 9)
        random = np.random.default_rng(seed)
        corners = random.integers(0, [width, height], (14, 2, 2))
        boxes = np.hstack([corners.min(axis=1), corners.max(axis=1) + 1])
        boxes = np.vstack(
            [[0, 0, width, height], boxes, [0, 0, 1, 1], [width - 1, height - 1, width, height]]
        )
        described = describe_windows(picture, boxes)
        assert described.shape == (len(boxes), description.COLUMNS)
        expected = np.array([reference.window_features(picture, tuple(box)) for box in boxes.tolist()])
        np.testing.assert_allclose(described, expected, atol=1e-6)


def test_a_large_image_is_described_from_a_reduced_one(monkeypatch):
    picture = scene(3, 120, 80, 7)
    boxes = np.array([[0, 0, 120, 80], [10, 20, 90, 70], [40, 40, 60, 60]])
    monkeypatch.setattr(description, "LARGEST", 120 * 80 - 1)
    expected = describe_windows(picture.reduce(2), boxes / 2)
    np.testing.assert_array_equal(describe_windows(picture, boxes), expected)


@pytest.mark.parametrize("source", SOURCES)
def test_bags_have_the_windows_of_each_image(scenes, tmp_path, source):
    settings = WindowSettings(source, 12)
    counted = []
    image_bags = windows_of(scenes, settings, tmp_path, lambda *count: counted.append(count))
    assert image_bags.ids.tolist() == scenes.image_names.tolist()
    assert image_bags.relevance is None
    assert image_bags.windows.dtype == np.float32
    assert sorted(set(counted))[-5:] == [(done, 5) for done in range(1, 6)]
    for image in range(5):
        rows = slice(*image_bags.starts[image : image + 2])
        picture, boxes = scenes.open_image(image), scenes.boxes[scenes.image_of == image]
        windows = candidate_windows(picture, settings, boxes)
        assert image_bags.boxes[rows].tolist() == windows.tolist()
        np.testing.assert_array_equal(image_bags.windows[rows], describe_windows(picture, windows))


def test_bags_are_kept_for_their_set_and_settings(scenes, tmp_path, monkeypatch):
    image_bags = windows_of(scenes, SETTINGS, tmp_path)
    opened = []
    really = ImageSet.open_image
    monkeypatch.setattr(ImageSet, "open_image", lambda *arguments: opened.append(1) or really(*arguments))
    again = windows_of(scenes, WindowSettings(most=12), tmp_path)
    assert not opened
    np.testing.assert_array_equal(again.windows, image_bags.windows)
    assert isinstance(again.windows.base, np.memmap)
    for settings in (WindowSettings(most=11), WindowSettings("grid", 12)):
        opened.clear()
        windows_of(scenes, settings, tmp_path)
        assert len(opened) == 5
    monkeypatch.setattr(bags, "VERSION", bags.VERSION + 1)
    opened.clear()
    windows_of(scenes, SETTINGS, tmp_path)
    assert len(opened) == 5
    assert not list(tmp_path.glob("*.part"))


def test_the_number_of_threads_changes_no_bit(scenes, tmp_path, monkeypatch):
    files = []
    for threads in (1, 3):
        monkeypatch.setattr(extract, "THREADS", threads)
        windows_of(scenes, SETTINGS, tmp_path / f"{threads}")
        files.append([file.read_bytes() for file in sorted((tmp_path / f"{threads}").iterdir())])
    assert files[0] == files[1] != []


def test_damaged_files_are_logged_and_written_again(scenes, tmp_path, caplog):
    image_bags = windows_of(scenes, SETTINGS, tmp_path)
    expected = np.array(image_bags.windows)
    for file in sorted(tmp_path.iterdir()):
        whole = file.read_bytes()
        for damaged in (b"", whole[:200], whole[:-4], whole[:-4] + b"\xff" * 4):
            # which the mapped matrix of above survives
            file.unlink()
            file.write_bytes(damaged)
            caplog.clear()
            with caplog.at_level(logging.WARNING):
                np.testing.assert_array_equal(windows_of(scenes, SETTINGS, tmp_path).windows, expected)
            assert "computing them again" in caplog.text
            assert file.read_bytes() == whole


def test_many_windows_are_kept_in_half_precision(scenes, tmp_path, monkeypatch):
    exact = windows_of(scenes, SETTINGS, tmp_path)
    monkeypatch.setattr(bags, "HALF", 5 * 13 * description.COLUMNS * 4 - 1)
    half = windows_of(scenes, SETTINGS, tmp_path / "half")
    assert half.windows.dtype == np.float16
    np.testing.assert_array_equal(half.windows, np.array(exact.windows).astype(np.float16))
    assert windows_of(scenes, WindowSettings(most=11), tmp_path / "half").windows.dtype == np.float32
    few = windows_of(scenes, WindowSettings("boxes of the set", 12), tmp_path / "half")
    assert few.windows.dtype == np.float32, "only the boxes that exist count"


def test_a_computation_that_is_cancelled_leaves_nothing(scenes, tmp_path):
    def cancel(done, total):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        windows_of(scenes, SETTINGS, tmp_path, cancel)
    assert not list(tmp_path.iterdir())


def test_a_damaged_image_and_a_set_without_pixels_are_refused(tmp_path):
    missing = image_set([0], [False], folder=tmp_path)
    with refused("image i000 of Set", "no file"):
        windows_of(missing, SETTINGS, tmp_path / "cache")
    assert not list((tmp_path / "cache").iterdir())
    with refused("images with windows"):
        windows_of(image_set([0], [False], image_features=np.ones((1, 2), np.float32)), SETTINGS, tmp_path)
