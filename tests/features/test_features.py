"""What every registered feature keeps to, and what each of ours measures."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest
from PIL import Image
from skimage.feature import hog as scikit_image_hog

from ranking.features import FEATURES, default_names, feature_class, feature_names, make_feature
from ranking.features.hog import _histograms
from ranking.settings import settings_of


def noise_of(width, height, seed=0):
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8))


CROPS = {
    "a photograph": noise_of(70, 45),
    "one pixel": noise_of(1, 1),
    "a thin line": noise_of(300, 1),
    "a thin column": noise_of(1, 50),
    "a huge picture": noise_of(1500, 1100),
    "grey": noise_of(40, 30).convert("L").convert("RGB"),
    "black": Image.new("RGB", (20, 20)),
    "white": Image.new("RGB", (20, 20), "white"),
}


def variants():
    """Every feature with its defaults and with each value that a setting may take at its ends."""
    for name in feature_names():
        yield name, {}
        for item in settings_of(feature_class(name)):
            for value in item.choices or (item.minimum, item.maximum):
                yield name, {item.name: value}


@pytest.mark.parametrize("crop", CROPS)
@pytest.mark.parametrize(("name", "settings"), list(variants()), ids=str)
def test_vectors(name, settings, crop):
    feature = make_feature(name, **settings)
    vector = feature.describe(CROPS[crop])
    assert vector.shape == (feature.size,)
    assert vector.dtype == np.float32
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5) or not vector.any()
    assert (vector == feature.describe(CROPS[crop])).all()


@pytest.mark.parametrize("name", feature_names())
def test_structure_is_seen(name):
    vectors = [make_feature(name).describe(noise_of(64, 64, seed)) for seed in (1, 2)]
    assert all(vector.any() for vector in vectors)
    assert (vectors[0] != vectors[1]).any()


def test_a_new_feature_is_offered_and_used_only_if_it_says_so(monkeypatch):
    before = default_names()
    assert before == ["HOG", "Colour"]
    for name, told in [("Silent", {}), ("Other", {"default": False}), ("Usual", {"default": True})]:
        monkeypatch.setitem(FEATURES._classes, name, type(name, (), {"order": -1, **told}))
        assert name in feature_names()
    assert default_names() == ["Usual", *before]


BOX_AND_IMAGE = [(name, f"{name} of the image") for name in ("HOG", "Colour", "GIST")]


def test_features_are_asked_for_in_this_order():
    of_boxes, of_images = zip(*BOX_AND_IMAGE, strict=True)
    assert feature_names() == [*of_boxes, *of_images]


@pytest.mark.parametrize(("of_box", "of_image"), BOX_AND_IMAGE)
def test_what_describes_a_box_describes_the_whole_image_alike(of_box, of_image):
    box, image = make_feature(of_box), make_feature(of_image)
    assert (box.whole_image, image.whole_image) == (False, True)
    assert settings_of(box) == settings_of(image)
    assert (box.describe(CROPS["a photograph"]) == image.describe(CROPS["a photograph"])).all()


@pytest.mark.parametrize("name", feature_names())
def test_what_a_feature_tells_of_itself(name):
    cls = feature_class(name)
    assert cls.version >= 1
    assert cls.whole_image in (True, False)
    for item in settings_of(cls):
        assert item.label[0].isupper()
        assert item.help.endswith(".")


def test_unknown_names_and_values():
    with pytest.raises(ValueError, match="no feature is called 'SIFT'; choose one of: HOG, Colour"):
        make_feature("SIFT")
    with pytest.raises(ValueError, match="HOG: side must be one of 32, 64, 96, 128, got 63"):
        make_feature("HOG", side=63)
    with pytest.raises(ValueError, match="Colour: bins must be between 2 and 16, got 17"):
        make_feature("Colour", bins=17)


# ---------------------------------------------------------------------------------------------------------
# HOG
# ---------------------------------------------------------------------------------------------------------


def edge(angle, centre=(20.0, 44.0)):
    """64 x 64, grey but for a disc inside of one cell, in which brightness rises in direction `angle`."""
    y, x = np.mgrid[:64, :64]
    across = (x - centre[0]) * np.cos(angle) + (y - centre[1]) * np.sin(angle)
    inside = np.hypot(x - centre[0], y - centre[1]) < 2.5
    return Image.fromarray(np.where(inside, 128 + 20 * across, 128).astype(np.uint8)).convert("RGB")


def slope(angle):
    """64 x 64: brightness rises everywhere in direction `angle` (radians, y down)."""
    y, x = np.mgrid[:64, :64]
    rising = 128 + 2 * (x - 32) * np.cos(angle) + 2 * (y - 32) * np.sin(angle)
    return Image.fromarray(np.rint(rising).astype(np.uint8)).convert("RGB")


def test_hog_size_is_its_layout():
    hog = make_feature("HOG")
    assert hog.layout == (7, 7, 2, 2, 9)
    assert hog.size == 1764
    assert make_feature("HOG", block=1, cell=16, orientations=4).layout == (4, 4, 1, 1, 4)


HOGS = [{}, {"side": 32, "orientations": 7, "block": 1}, {"cell": 16, "orientations": 5}, {"side": 128}]


def scikit_hog(grey, feature):
    vector = scikit_image_hog(
        np.asarray(grey, np.float32) / 255,
        orientations=feature.orientations,
        pixels_per_cell=(feature.cell, feature.cell),
        cells_per_block=(feature.block, feature.block),
        block_norm="L2-Hys",
    )
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("settings", HOGS, ids=str)
def test_hog_is_scikit_images(settings):
    feature = make_feature("HOG", **settings)
    noise = noise_of(feature.side, feature.side).convert("L")
    for grey in (noise, noise.resize((9, 9)).resize(noise.size), slope(0).convert("L").resize(noise.size)):
        assert feature.describe(grey) == pytest.approx(scikit_hog(grey, feature), abs=1e-6)


@pytest.mark.parametrize("orientations", [4, 8, 9, 12, 36])
def test_hog_light_to_dark_is_as_dark_to_light(orientations):
    """Also along diagonals, which are edges of bins where there is a multiple of four of them."""
    grey = np.asarray(noise_of(64, 64).convert("L"))
    np.testing.assert_array_equal(
        _histograms(grey, 8, orientations), _histograms(255 - grey, 8, orientations)
    )


def test_hog_kernel_runs_uncompiled_alike():
    grey = np.asarray(noise_of(16, 16).convert("L"))
    assert _histograms.py_func(grey, 8, 9) == pytest.approx(_histograms(grey, 8, 9))


def test_hog_of_a_flat_crop_is_zero():
    assert not make_feature("HOG").describe(CROPS["white"]).any()


def test_hog_sees_shape_and_not_brightness():
    picture = noise_of(64, 64)
    darker = Image.fromarray((np.asarray(picture) // 2 + 20).astype(np.uint8))
    hog = make_feature("HOG")
    assert hog.describe(picture) @ hog.describe(darker) > 0.99
    assert hog.describe(slope(0.3)) @ hog.describe(slope(1.9)) < 0.2


def test_hog_cells_are_where_the_edge_is():
    hog = make_feature("HOG")
    cells = hog.cells(hog.describe(edge(0.3)))
    assert cells.shape == (8, 8, 9)
    assert np.argwhere(cells.any(axis=2)).tolist() == [[44 // 8, 20 // 8]]


def test_hog_cells_sum_what_each_block_says_of_a_cell():
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
    found = []
    for angle in hog.angles:
        cells = hog.cells(hog.describe(slope(angle)))
        found.append(int(cells.sum(axis=(0, 1)).argmax()))
    assert found == list(range(9))


# ---------------------------------------------------------------------------------------------------------
# Colour
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bins", [2, 5, 8, 16])
def test_rgb_histogram_by_hand(bins):
    crop = noise_of(13, 9)
    counts = np.zeros((bins, bins, bins))
    for pixel in np.asarray(crop).reshape(-1, 3).tolist():
        counts[tuple(level * bins // 256 for level in pixel)] += 1
    vector = make_feature("Colour", space="RGB", bins=bins).describe(crop)
    assert vector**2 == pytest.approx(counts.ravel() / (13 * 9), abs=1e-6)


@pytest.mark.parametrize("colour", ["red", "yellow", "lime", "blue", "white", "black", "#804020"])
def test_hsv_histogram_of_one_colour(colour):
    crop = Image.new("RGB", (4, 4), colour)
    hsv = colorsys.rgb_to_hsv(*(level / 255 for level in crop.getpixel((0, 0))))
    place = tuple(min(int(level * 255) * 8 // 256, 7) for level in hsv)
    vector = make_feature("Colour").describe(crop).reshape(8, 8, 8)
    assert vector[place] == 1
    assert vector.sum() == 1


def test_colour_forgets_where():
    crop = noise_of(20, 20)
    turned = crop.transpose(Image.Transpose.ROTATE_180)
    assert (make_feature("Colour").describe(crop) == make_feature("Colour").describe(turned)).all()
