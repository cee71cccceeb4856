"""HOG and colours of many windows of an image, in one pass over its pixels.

Each pixel adds to one of 16 colours and to two of 9 orientations. Sums over all pixels above and left of each (integral
images: Viola and Jones, CVPR 2001) give the sum over any cell by four numbers, whatever its size. They are whole
numbers, and so exact. Cells grow with their window; large windows are pooled from a reduced image, so that the edges in
a cell have about the same width in pixels in every window.

Unlike in `HOG`, gradients at the border of a window use the pixels beyond it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit
from PIL import Image

from ranking.core import Features, Floats, Ints
from ranking.core.errors import InputError

# of HOG: cells per side of a window, and per side of a block
ORIENTATIONS, CELLS, BLOCK = 9, 6, 2
# parts per side of a window, each with its own histogram of colours
COLOURS, PARTS = 16, 2
# columns of HOG
SHAPE = (CELLS - BLOCK + 1) ** 2 * BLOCK**2 * ORIENTATIONS
COLUMNS = SHAPE + PARTS**2 * COLOURS
# of HOG's blocks: their largest entry, and what is added to their squared length
CLIP, NOISE = 0.25, 1e-4
# of 255: colours less saturated are greys
GREY = 50
# gradients of length 1 (from black to white) as whole numbers
LENGTH = 8192
# side of a cell, within a factor of sqrt(2), in the level of the pyramid that its window is pooled from
PIXELS = 8
# pixels of the first level, so that the sums over a window stay below 2 ** 32
LARGEST = 1 << 18
LEVELS = 3


def describe_windows(picture: Image.Image, boxes: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Return (m, COLUMNS) the features of windows `boxes` (m, 4): HOG and colours, rows of length 1."""
    # HOG and colours have equal length. A window without edges has the colours only. InputError for boxes
    # that are empty or not inside the image.
    corners = _checked(boxes, picture.size)
    vectors = np.zeros((len(corners), COLUMNS), np.float32)
    level, reduced = picture.convert("RGB"), 1
    while level.width * level.height > LARGEST:
        level, reduced = level.reduce(2), 2 * reduced
    sides = np.sqrt((corners[:, 2:] - corners[:, :2]).prod(axis=1)) / reduced
    levels = np.clip(np.round(np.log2(sides / (CELLS * PIXELS))), 0, LEVELS - 1).astype(int)
    for number in range(max(levels, default=-1) + 1):
        if number:
            level, reduced = level.reduce(2), 2 * reduced
        rows = np.flatnonzero(levels == number)
        if len(rows):
            sums = _integral(_grey(level), np.asarray(level.convert("HSV"), np.int64))
            _pool(sums, corners[rows] / reduced, rows, vectors)
    return vectors


def _checked(boxes: npt.ArrayLike, size: tuple[int, int]) -> Floats:
    corners = np.asarray(boxes, np.float64).reshape(-1, 4)
    inside = (corners[:, :2] >= 0) & (corners[:, 2:] <= size) & (corners[:, :2] < corners[:, 2:])
    if not inside.all():
        wrong = corners[~inside.all(axis=1)][0].tolist()
        expected = f"left < right and top < bottom, inside the image of {size[0]} x {size[1]} pixels"
        raise InputError("boxes of windows", expected, wrong)
    return corners


def _grey(picture: Image.Image) -> Floats:
    """Return (height, width) square roots of brightness, from 0 to 1: edges in shadows count more."""
    return np.asarray(np.sqrt(np.asarray(picture.convert("L")) / 255.0))


@njit(cache=True, nogil=True)
def _integral(grey: Floats, hsv: Ints) -> npt.NDArray[np.uint32]:
    """Return (height + 1, width + 1, ORIENTATIONS + COLOURS) sums over pixels above and left."""
    # Sums are modulo 2 ** 32.
    height, width = grey.shape
    sums = np.zeros((height + 1, width + 1, ORIENTATIONS + COLOURS), np.uint32)
    row = np.empty(ORIENTATIONS + COLOURS, np.uint32)
    for y in range(height):
        row[:] = 0
        for x in range(width):
            down = grey[min(y + 1, height - 1), x] - grey[max(y - 1, 0), x]
            right = grey[y, min(x + 1, width - 1)] - grey[y, max(x - 1, 0)]
            length = np.sqrt(down * down + right * right) * LENGTH
            angle = np.arctan2(down, right)
            # opposite gradients have the same direction
            if angle < 0:
                angle += np.pi
            place = angle * (ORIENTATIONS / np.pi) - 0.5
            lower = int(np.floor(place))
            upper_part = int(length * (place - lower) + 0.5)
            row[lower % ORIENTATIONS] += np.uint32(int(length + 0.5) - upper_part)
            row[(lower + 1) % ORIENTATIONS] += np.uint32(upper_part)
            row[ORIENTATIONS + _colour(hsv[y, x, 0], hsv[y, x, 1], hsv[y, x, 2])] += np.uint32(1)
            for channel in range(ORIENTATIONS + COLOURS):
                sums[y + 1, x + 1, channel] = sums[y, x + 1, channel] + row[channel]
    return sums


@njit(cache=True, nogil=True)
def _colour(hue: int, saturation: int, value: int) -> int:
    """Return one of four greys, or of six hues, each dark or bright."""
    if saturation < GREY:
        return value >> 6
    return 4 + (hue * 6 >> 8) * 2 + (value >> 7)


@njit(cache=True, nogil=True)
def _pool(sums: npt.NDArray[np.uint32], boxes: Floats, rows: Ints, vectors: Features) -> None:
    """Fill `rows` of `vectors` with the features of `boxes`, in pixels of the image of `sums`."""
    cells = np.empty((CELLS, CELLS, ORIENTATIONS))
    parts = np.empty((PARTS, PARTS, COLOURS))
    vector = np.empty(COLUMNS)
    for number in range(len(rows)):
        _means(sums[:, :, :ORIENTATIONS], boxes[number], cells)
        cells /= LENGTH
        column = 0
        for y in range(CELLS - BLOCK + 1):
            for x in range(CELLS - BLOCK + 1):
                block = np.minimum(_scaled(cells[y : y + BLOCK, x : x + BLOCK].copy().ravel(), NOISE), CLIP)
                vector[column : column + len(block)] = _scaled(block, NOISE)
                column += len(block)
        _means(sums[:, :, ORIENTATIONS:], boxes[number], parts)
        vector[:SHAPE] = _scaled(vector[:SHAPE], 0.0)
        vector[SHAPE:] = _scaled(np.sqrt(parts).ravel(), 0.0)
        vectors[rows[number]] = _scaled(vector, 0.0)


@njit(cache=True, nogil=True)
def _means(sums: npt.NDArray[np.uint32], box: Floats, means: Floats) -> None:
    """Fill `means` (side, side, channels) with the mean of each channel in each cell of a box."""
    # Neighbouring cells share no pixel unless the box has fewer pixels than cells: every cell has one or
    # more.
    side = len(means)
    height, width = sums.shape[0] - 1, sums.shape[1] - 1
    for row in range(side):
        top, bottom = _edges(box[1], box[3], row, side, height)
        for column in range(side):
            left, right = _edges(box[0], box[2], column, side, width)
            area = (bottom - top) * (right - left)
            for channel in range(sums.shape[2]):
                total = np.uint32(
                    sums[bottom, right, channel]
                    - sums[top, right, channel]
                    - sums[bottom, left, channel]
                    + sums[top, left, channel]
                )
                means[row, column, channel] = total / area


@njit(cache=True, nogil=True)
def _edges(low: float, high: float, number: int, side: int, size: int) -> tuple[int, int]:
    """Return the first pixel of cell `number` of `side`, and the one after its last."""
    first = min(int(low + (high - low) * number / side + 0.5), size - 1)
    return first, min(max(int(low + (high - low) * (number + 1) / side + 0.5), first + 1), size)


@njit(cache=True, nogil=True)
def _scaled(vector: Floats, noise: float) -> Floats:
    """Return a vector of length 1, or nearly 0 if its squared length is far below `noise`."""
    square = noise
    for entry in vector:
        square += entry * entry
    return vector / np.sqrt(square) if square > 0 else vector
