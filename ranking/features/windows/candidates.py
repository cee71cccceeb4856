"""Candidate windows: boxes of an image, one of which may hold the object."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np
import numpy.typing as npt
from PIL import Image

from ranking.core import Ints
from ranking.core.errors import InputError
from ranking.features.windows.grouping import grouped_boxes
from ranking.features.windows.settings import GRID, SEGMENTS, WindowSettings

# of the image that is segmented: larger images are reduced
PIXELS = 30_000
# width and height of a window of segments, relative to the square root of the image's area
SMALLEST = 0.06
# Of the segmentation (Felzenszwalb and Huttenlocher, IJCV 2004): a larger scale makes larger segments; the standard
# deviation of the blur; and the smallest segment, in pixels.
SCALE, BLUR, LEAST = 64.0, 0.8, 15


def candidate_windows(
    picture: Image.Image, settings: WindowSettings, boxes: npt.ArrayLike | None = None
) -> Ints:
    """Return (m, 4) different left, top, right, bottom in pixels; the first is the whole image."""
    # segments: the image is segmented (Felzenszwalb and Huttenlocher, IJCV 2004), and similar neighbouring
    # segments are joined one pair after another; the windows bound what is joined, the last ones first
    # (selective search: Uijlings et al., IJCV 2013). grid: windows of the image's shape and of up to twice
    # its width or height, which overlap by half, the large ones first. boxes of the set: `boxes` (k, 4), the
    # part of each that is inside the image.
    # An image without candidates, such as one of a single colour or pixel, has the whole image only.
    whole = np.array([[0, 0, *picture.size]])
    if settings.source == SEGMENTS:
        candidates = _of_segments(picture)
    elif settings.source == GRID:
        candidates = _grid(*picture.size, settings.most)
    elif boxes is None:
        raise InputError("boxes", "those of the set for this image")
    else:
        corners = np.asarray(boxes, np.int64).reshape(-1, 4)
        candidates = np.clip(corners, 0, [*picture.size, *picture.size])
    filled = (candidates[:, :2] < candidates[:, 2:]).all(axis=1)
    windows = np.concatenate([whole, candidates[filled]])
    first = np.unique(windows, axis=0, return_index=True)[1]
    different: Ints = windows[np.sort(first)][: settings.most + 1]
    return different


def _of_segments(picture: Image.Image) -> Ints:
    # which loads scipy, for which the first page would wait
    from skimage.segmentation import felzenszwalb

    width, height = picture.size
    reduced = max(1.0, np.sqrt(width * height / PIXELS))
    size = max(1, round(width / reduced)), max(1, round(height / reduced))
    small = picture.convert("RGB").resize(size, Image.Resampling.BOX)
    smallest = SMALLEST * np.sqrt(small.width * small.height)
    if min(size) < max(2, smallest):
        return np.zeros((0, 4), np.int64)
    pixels = np.asarray(small)
    boxes = grouped_boxes(pixels, felzenszwalb(pixels, SCALE, BLUR, LEAST))[::-1]
    boxes = boxes[(boxes[:, 2:] - boxes[:, :2] >= smallest).all(axis=1)]
    scale = np.array([width / small.width, height / small.height])
    outward = [np.floor(boxes[:, :2] * scale), np.ceil(boxes[:, 2:] * scale - 1e-9)]
    corners: Ints = np.hstack(outward).astype(np.int64)
    return np.minimum(corners, [width, height, width, height])


def _grid(width: int, height: int, most: int) -> Ints:
    """Return (k, 4) at most `most` windows; of the grid that exceeds it, evenly spaced ones."""
    grids: list[Ints] = []
    left = most
    for rows, columns in _shapes():
        y, x = np.divmod(np.arange(rows * columns), columns)
        corners = np.stack([x / (columns + 1), y / (rows + 1), (x + 2) / (columns + 1), (y + 2) / (rows + 1)])
        grid = np.round(corners.T * [width, height, width, height]).astype(np.int64)
        grids.append(grid[np.linspace(0, len(grid) - 1, min(left, len(grid))).astype(int)])
        left -= len(grids[-1])
        if not left:
            break
    return np.concatenate(grids)


def _shapes() -> Iterator[tuple[int, int]]:
    """Yield the rows and columns of grids, few first."""
    # Neither is more than twice the other, and there is more than one window.
    for product in count(2):
        for rows in range(1, product + 1):
            columns, rest = divmod(product, rows)
            if not rest and max(rows, columns) <= 2 * min(rows, columns):
                yield rows, columns
