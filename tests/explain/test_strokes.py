"""Weights of HOG as a picture: a stroke lies where its edge is, along it, and weighs what its cell adds to a score."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from ranking.explain.strokes import LENGTH, strokes
from ranking.features import make_feature
from ranking.features.hog import HOG


def test_strokes_have_the_weights_of_the_cells_with_the_strongest_last():
    hog, random = HOG(side=32, orientations=6), np.random.default_rng(0)
    vector = random.standard_normal(hog.size)
    ends, weights = strokes(hog.cells(vector), hog.angles)
    assert np.hypot(ends[:, 0] - ends[:, 2], ends[:, 1] - ends[:, 3]) == pytest.approx(LENGTH)
    assert (np.diff(np.abs(weights)) >= 0).all()
    assert weights.sum() == pytest.approx(vector.sum())
    cells = hog.cells(vector)
    for end, weight in zip(ends, weights, strict=True):
        column, row = np.floor((end[:2] + end[2:]) / 2).astype(int)
        angle = np.arctan2(end[3] - end[1], end[2] - end[0]) - np.pi / 2
        [place] = np.flatnonzero(np.isclose(np.cos(2 * (hog.angles - angle)), 1))
        assert weight == cells[row, column, place]


@pytest.mark.parametrize("name", ["HOG", "GIST"])
def test_the_strongest_strokes_of_a_crop_run_along_its_stripes(name):
    feature = make_feature(name)
    x, y = np.meshgrid(np.arange(64), np.arange(64))
    # on the left from top to bottom, on the right from side to side
    pixels = np.where(x < 32, np.sin(x), np.sin(y)) * 100 + 128
    crop = Image.fromarray(pixels.astype(np.uint8))
    cells = feature.cells(feature.describe(crop))
    ends, weights = strokes(cells, feature.angles)
    places, columns = {}, cells.shape[1]
    # the strongest of a cell comes last
    for end in ends:
        places[tuple(np.floor((end[:2] + end[2:]) / 2).astype(int))] = np.abs(end[:2] - end[2:])
    assert len(places) == cells.shape[0] * columns
    assert weights.sum() == pytest.approx(feature.describe(crop).sum())
    for (column, _), (across, down) in places.items():
        if column not in (columns // 2 - 1, columns // 2):
            assert (down > 2 * across) == (column < columns / 2)
