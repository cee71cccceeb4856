"""Weights of HOG as a picture: a stroke lies where its edge is, along it, and weighs what its cell adds to a score."""

from __future__ import annotations

import numpy as np
import pytest

from ranking.explain.strokes import LENGTH, strokes
from ranking.features.hog import HOG


def test_strokes_have_the_weights_of_the_cells_with_the_strongest_last():
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
