"""Weights of HOG as strokes: each weight is shown as an edge of its direction in its cell."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ranking.core import Floats
from ranking.features.hog import HOG

# of a stroke, in cells
LENGTH = 0.92


class Strokes(NamedTuple):
    """The weights of HOG as strokes to plot."""

    # (n, 4) x1, y1, x2, y2 in cells, y downwards
    ends: Floats
    # (n,) of the strokes, weakest first
    weights: Floats


def strokes(hog: HOG, weights: npt.ArrayLike) -> Strokes:
    """Return one stroke per orientation and cell, through the centre of the cell.

    >>> strokes(HOG(side=32), np.ones(324)).ends.shape
    (144, 4)
    """
    # A stroke runs along the edge, at right angles to the gradient whose weight it shows (Dalal and Triggs,
    # fig. 6).
    cells = hog.cells(weights)
    rows, columns, orientations = cells.shape
    along = hog.angles + np.pi / 2
    half = LENGTH / 2 * np.stack([np.cos(along), np.sin(along)], axis=1)
    y, x = np.mgrid[:rows, :columns] + 0.5
    middles = np.repeat(np.stack([x, y], axis=2)[:, :, None], orientations, axis=2)
    ends = np.concatenate([middles - half, middles + half], axis=3).reshape(-1, 4)
    flat = cells.ravel()
    order = np.argsort(np.abs(flat), kind="stable")
    return Strokes(ends[order], flat[order])
