"""Numbers by cell and orientation as strokes: weights of HOG, HOG of a crop, energies of GIST."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ranking.core import Floats

# of a stroke, in cells
LENGTH = 0.92


class Strokes(NamedTuple):
    """Weights as strokes to plot."""

    # (n, 4) x1, y1, x2, y2 in cells, y downwards
    ends: Floats
    # (n,) of the strokes, weakest first
    weights: Floats


def strokes(cells: Floats, angles: Floats) -> Strokes:
    """Return one stroke per orientation and cell, through the centre of the cell.

    >>> strokes(np.ones((4, 4, 9)), np.arange(9) * np.pi / 9).ends.shape
    (144, 4)
    """
    # cells: (rows, columns, orientations), such as `HOG.cells` of weights. angles: (orientations,) of the
    # gradients. A stroke runs along the edge, at right angles to the gradient whose weight it shows (Dalal
    # and Triggs, fig. 6).
    rows, columns, orientations = cells.shape
    along = angles + np.pi / 2
    half = LENGTH / 2 * np.stack([np.cos(along), np.sin(along)], axis=1)
    y, x = np.mgrid[:rows, :columns] + 0.5
    middles = np.repeat(np.stack([x, y], axis=2)[:, :, None], orientations, axis=2)
    ends = np.concatenate([middles - half, middles + half], axis=3).reshape(-1, 4)
    flat = cells.ravel()
    order = np.argsort(np.abs(flat), kind="stable")
    return Strokes(ends[order], flat[order])
