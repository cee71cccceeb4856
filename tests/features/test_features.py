"""The contract of every registered feature, and what each feature measures."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest
import reference
from PIL import Image
from skimage.feature import hog as scikit_image_hog

from ranking.core import Feature
from ranking.core.settings import settings_of
from ranking.features import FEATURES, default_names, feature_class, feature_names, gist, make_feature
from ranking.features.colour import Colour
from ranking.features.gist import prefiltered
from ranking.features.hog import _histograms


def noise_of(width, height, seed=0):
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8))


FLAT = [Image.new("RGB", (20, 20), colour) for colour in ("black", "white", "#804020")]
PHOTOGRAPH, OTHER_PHOTOGRAPH = noise_of(70, 45), noise_of(64, 64, seed=1)
GREY = noise_of(40, 30).convert("L").convert("RGB")
CROPS = [
    *(PHOTOGRAPH, OTHER_PHOTOGRAPH, GREY, *FLAT),
    *(noise_of(1, 1), noise_of(300, 1), noise_of(1, 50), noise_of(1500, 1100)),
]


def variants(name):
    """A feature with its defaults and with each other value that a setting may have or that bounds it."""
    yield {}
    for item in settings_of(feature_class(name)):
        for value in item.choices or (item.minimum, item.maximum):
            if value != item.default:
                yield {item.name: value}


@pytest.mark.parametrize("name", feature_names())
def test_the_contract_of_a_feature(name):
    cls = feature_class(name)
    assert cls.version >= 1
    assert cls.whole_image in (True, False)
    # which describe as those of boxes do
    for settings in variants(name) if not cls.whole_image else [{}]:
        feature = make_feature(name, **settings)
        vectors = [feature.describe(crop) for crop in CROPS]
        for vector, crop in zip(vectors, CROPS, strict=True):
            assert (vector.shape, vector.dtype) == ((feature.size,), np.float32), settings
            assert np.isfinite(vector).all(), (settings, crop)
            assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5) or not vector.any(), (settings, crop)
        assert all(vector.any() for vector in vectors[:2]), settings
        assert (vectors[0] != vectors[1]).any(), settings
        assert (vectors[0] == feature.describe(PHOTOGRAPH)).all(), settings


def test_a_new_feature_is_offered_and_used_by_default_only_if_declared(monkeypatch):
    before = default_names()
    assert before == ["HOG", "Colour", "CNN"]
    for name, attributes in [("Silent", {}), ("Offered", {"default": False}), ("Usual", {"default": True})]:
        monkeypatch.setitem(FEATURES._classes, name, type(name, (Feature,), {"order": -1, **attributes}))
        assert name in feature_names()
    assert default_names() == ["Usual", *before]


def test_whole_image_features_have_the_settings_and_values_of_crop_features():
    names = ["HOG", "Colour", "GIST", "CNN"]
    twins = [f"{name} of the image" for name in names]
    assert [name for name in feature_names() if name in names + twins] == names + twins, "in this order"
    for name in names:
        box, image = make_feature(name), make_feature(f"{name} of the image")
        assert (box.whole_image, image.whole_image) == (False, True)
        assert settings_of(box) == settings_of(image)
        assert (box.describe(PHOTOGRAPH) == image.describe(PHOTOGRAPH)).all()


# ------------------------------------------------------------------------------------------------- HOG


def slope(angle):
    """64 x 64: brightness rises everywhere in direction `angle` (radians, y down)."""
    y, x = np.mgrid[:64, :64]
    rising = 128 + 2 * (x - 32) * np.cos(angle) + 2 * (y - 32) * np.sin(angle)
    return Image.fromarray(np.rint(rising).astype(np.uint8)).convert("RGB")


def scikit_hog(grey, feature):
    vector = scikit_image_hog(
        np.asarray(grey, np.float32) / 255,
        orientations=feature.orientations,
        pixels_per_cell=(feature.cell, feature.cell),
        cells_per_block=(feature.block, feature.block),
        block_norm="L2-Hys",
    )
    return vector / np.linalg.norm(vector)


def test_hog_is_scikit_images():
    for settings in ({}, {"side": 32, "orientations": 7, "block": 1}, {"cell": 16}, {"side": 128}):
        feature = make_feature("HOG", **settings)
        noise = noise_of(feature.side, feature.side).convert("L")
        for grey in (noise, noise.resize((9, 9)).resize(noise.size), slope(0).resize(noise.size)):
            expected = scikit_hog(grey.convert("L"), feature)
            assert feature.describe(grey.convert("L")) == pytest.approx(expected, abs=1e-6), settings


def test_hog_light_to_dark_is_as_dark_to_light():
    """Also along diagonals, which are edges of bins where there is a multiple of four of them."""
    grey = np.asarray(noise_of(64, 64).convert("L"))
    for orientations in (4, 8, 9, 12, 36):
        histograms = (_histograms(picture, 8, orientations) for picture in (grey, 255 - grey))
        np.testing.assert_array_equal(*histograms, err_msg=f"{orientations} orientations")


def test_hog_kernel_runs_uncompiled_alike():
    grey = np.asarray(noise_of(16, 16).convert("L"))
    assert _histograms.py_func(grey, 8, 9) == pytest.approx(_histograms(grey, 8, 9))


@pytest.mark.parametrize("name", ["HOG", "GIST"])
def test_a_flat_crop_has_no_structure(name):
    for crop in FLAT:
        assert not make_feature(name).describe(crop).any()


def test_hog_weights_of_a_cell_are_summed_over_its_blocks():
    hog = make_feature("HOG", side=32)
    weights = np.random.default_rng(0).normal(size=hog.size)
    slow = np.zeros((4, 4, 9))
    for place in np.ndindex(hog.layout):
        block_row, block_column, row, column, orientation = place
        slow[block_row + row, block_column + column, orientation] += weights.reshape(hog.layout)[place]
    assert hog.cells(weights) == pytest.approx(slow)


def test_hog_angles_name_the_direction_of_the_gradient():
    hog = make_feature("HOG")
    assert hog.angles == pytest.approx(np.radians(np.arange(10, 180, 20)))
    cells = [hog.cells(hog.describe(slope(angle))) for angle in hog.angles]
    assert [int(of_angle.sum(axis=(0, 1)).argmax()) for of_angle in cells] == list(range(9))


# ---------------------------------------------------------------------------------------------- Colour


def test_rgb_histogram_by_hand():
    crop = noise_of(13, 9)
    for bins in (2, 5, 8, 16):
        counts = np.zeros((bins, bins, bins))
        for pixel in np.asarray(crop).reshape(-1, 3).tolist():
            counts[tuple(level * bins // 256 for level in pixel)] += 1
        vector = make_feature("Colour", space="RGB", bins=bins).describe(crop)
        assert vector**2 == pytest.approx(counts.ravel() / (13 * 9), abs=1e-6), bins


def test_hsv_histogram_of_one_colour():
    for colour in ("red", "yellow", "lime", "blue", "white", "black", "#804020"):
        crop = Image.new("RGB", (4, 4), colour)
        hsv = colorsys.rgb_to_hsv(*(level / 255 for level in crop.getpixel((0, 0))))
        bin_of_colour = tuple(min(int(level * 255) * 8 // 256, 7) for level in hsv)
        vector = make_feature("Colour").describe(crop).reshape(8, 8, 8)
        assert np.argwhere(vector).tolist() == [list(bin_of_colour)], colour
        assert vector.max() == 1, colour


# --- GIST: the fast one equals the definition, and its channels answer to the stripes that they are named after


def smooth_noise(side, seed):
    """Noise, smoothed differently from seed to seed."""
    small = np.random.default_rng(seed).integers(0, 256, (side // (seed + 1), side // (seed + 1)), np.uint8)
    return Image.fromarray(small).resize((side, side), Image.Resampling.BICUBIC)


def grating(angle, wavelength, side=64):
    """Stripes; brightness changes in direction `angle` (radians, y down)."""
    y, x = np.mgrid[:side, :side]
    wave = np.cos(2 * np.pi * (x * np.cos(angle) + y * np.sin(angle)) / wavelength)
    return Image.fromarray(np.rint(128 + 100 * wave).astype(np.uint8)).convert("RGB")


@pytest.mark.parametrize(
    ("settings", "seeds"),
    [
        ({"orientations": 4}, [0]),
        ({"scales": 2, "orientations": 3, "blocks": 2}, [0, 3]),
        ({"scales": 1, "orientations": 2, "blocks": 8}, [0, 3]),
        ({"side": 128, "scales": 1, "orientations": 2}, [3]),
    ],
)
def test_gist_is_its_definition(settings, seeds):
    feature = make_feature("GIST", **settings)
    for seed in seeds:
        picture = smooth_noise(feature.side, seed)
        grey = np.asarray(picture, float)
        slow = reference.gist_of(grey, feature.scales, feature.orientations, feature.blocks)
        expected = slow.ravel() / np.linalg.norm(slow)
        assert feature.describe(picture) == pytest.approx(expected, abs=2e-6), seed


def test_the_prefilter_is_its_definition():
    for seed in range(3):
        grey = np.asarray(smooth_noise(32, seed), np.float32)
        assert prefiltered(grey) == pytest.approx(reference.prefiltered_of(grey), abs=1e-4), seed


def test_gist_kernels_run_uncompiled_alike():
    grey = np.asarray(smooth_noise(12, 0), np.float32)
    smoother = gist._smoother(12)
    slow = smoother.astype(float) @ grey @ smoother
    for kernel in (gist._smoothed, gist._smoothed.py_func):
        assert kernel(grey, smoother) == pytest.approx(slow, rel=1e-4, abs=1e-2)
    assert gist._evened.py_func(grey, smoother) == pytest.approx(gist._evened(grey, smoother), abs=1e-5)


@pytest.mark.parametrize("orientations", [4, 8])
def test_a_grating_is_strongest_in_the_channel_of_its_direction(orientations):
    feature = make_feature("GIST", orientations=orientations)
    energies = [feature.describe(grating(angle, 6)).reshape(feature.layout) for angle in feature.angles]
    assert [int(one.sum(axis=(0, 2, 3)).argmax()) for one in energies] == list(range(orientations))


def test_the_middle_of_a_bin_is_counted_in_it():
    for space in ("HSV", "RGB"):
        colour = Colour(space=space, bins=4)
        assert colour.middles.shape == (64, 3)
        for number, (red, green, blue) in enumerate(colour.middles.tolist()):
            if space == "HSV" and len({red, green, blue}) == 1:
                # so dark or so pale that 8 bits keep no hue
                continue
            vector = colour.describe(Image.new("RGB", (2, 2), (red, green, blue)))
            assert int(vector.argmax()) == number, space
