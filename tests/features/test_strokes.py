"""Weights as a picture: a stroke lies where its edge is, along it, and weighs what its cell adds to a score."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from ranking.features.colour import Colour
from ranking.features.hog import HOG
from ranking.features.strokes import LENGTH, strokes


def edge(turned: bool) -> Image.Image:
    """Dark on the left and light on the right of a line at 3/8 of the width; or the same from top to bottom."""
    pixels = np.zeros((64, 64), np.uint8)
    pixels[:, 20:] = 255  # in the middle of the third column of cells
    return Image.fromarray(pixels.T if turned else pixels).convert("RGB")


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("block", [1, 2])
def test_the_strongest_strokes_run_along_the_edge_where_it_is(turned, block):
    hog = HOG(block=block)
    ends, weights = strokes(hog, hog.describe(edge(turned)))
    x1, y1, x2, y2 = ends[-8:].T  # one for each cell of the line; the other cells are flat
    across, along = ((x1, x2), (y1, y2)) if not turned else ((y1, y2), (x1, x2))
    assert np.allclose((across[0] + across[1]) / 2, 2.5)
    assert sorted((along[0] + along[1]) / 2) == pytest.approx(np.arange(8) + 0.5)
    slope = np.abs(across[0] - across[1]) / np.abs(along[0] - along[1])
    assert (slope < np.tan(np.pi / hog.orientations)).all(), "along it, as far as orientations tell"
    assert (weights[-8:] > 0).all()
    assert np.allclose(weights[:-8], 0, atol=1e-6)


def test_strokes_weigh_what_the_cells_do_and_the_strongest_comes_last():
    hog, random = HOG(side=32, orientations=6), np.random.default_rng(0)
    vector = random.standard_normal(hog.size)
    ends, weights = strokes(hog, vector)
    assert np.hypot(ends[:, 0] - ends[:, 2], ends[:, 1] - ends[:, 3]) == pytest.approx(LENGTH)
    assert (np.diff(np.abs(weights)) >= 0).all()
    assert weights.sum() == pytest.approx(vector.sum())
    cells = hog.cells(vector)
    for end, weight in zip(ends, weights, strict=True):
        column, row = np.floor((end[:2] + end[2:]) / 2).astype(int)
        angle = np.arctan2(end[3] - end[1], end[2] - end[0]) - np.pi / 2
        [place] = np.flatnonzero(np.isclose(np.cos(2 * (hog.angles - angle)), 1))
        assert weight == cells[row, column, place]


def test_the_middle_of_a_bin_is_counted_in_it():
    for space in ("HSV", "RGB"):
        colour = Colour(space=space, bins=4)
        assert colour.middles.shape == (64, 3)
        for number, (red, green, blue) in enumerate(colour.middles.tolist()):
            if space == "HSV" and len({red, green, blue}) == 1:
                continue  # so dark or so pale that 8 bits keep no hue
            vector = colour.describe(Image.new("RGB", (2, 2), (red, green, blue)))
            assert int(vector.argmax()) == number, space
