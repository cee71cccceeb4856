"""Grouping of segments (Uijlings et al., IJCV 2013): similar neighbours are joined, pair after pair.

scikit-image's `merge_hierarchical` calls Python functions for every pair: it takes ten times as long even if it
compares mean colours only.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from ranking.core import Bools, Floats, Ints

# of each colour channel; a histogram has TONES ** 3 bins
TONES = 4


def grouped_boxes(pixels: npt.NDArray[np.uint8], segments: Ints) -> Ints:
    """Return (2k - 1, 4) left, top, right, bottom of k segments, then of unions; the last is the image."""
    # pixels: (height, width, 3). segments: (height, width) from 0 to k - 1, none without pixels, connected
    # through pixels above or beside each other; with one union fewer for each part that is not connected to
    # the rest. The similarity of two neighbours is the intersection of their colour histograms, plus 1 minus
    # their share of the image's area, plus 1 minus the share of the area that their common box has beyond
    # them.
    segments = np.asarray(segments, np.int64)
    k = int(segments.max()) + 1
    tones = pixels.astype(np.int64) * TONES >> 8
    colours = (tones[..., 0] * TONES + tones[..., 1]) * TONES + tones[..., 2]
    counts = np.bincount((segments * TONES**3 + colours).ravel(), minlength=k * TONES**3)
    neighbours = np.zeros((k, k), np.bool_)
    for one, next_one in ((segments[1:], segments[:-1]), (segments[:, 1:], segments[:, :-1])):
        neighbours[one, next_one] = neighbours[next_one, one] = True
    np.fill_diagonal(neighbours, False)
    boxes = np.zeros((2 * k - 1, 4), np.int64)
    boxes[:k] = _bounds(segments, k)
    unions = _group(counts.reshape(k, TONES**3).astype(np.float64), neighbours, boxes, float(segments.size))
    return boxes[: k + unions]


def _bounds(segments: Ints, k: int) -> Ints:
    from scipy.ndimage import find_objects

    slices = find_objects(segments + 1, k)
    corners: Ints = np.array([(x.start, y.start, x.stop, y.stop) for y, x in slices])
    return corners


@njit(cache=True, nogil=True)
def _group(counts: Floats, neighbours: Bools, boxes: Ints, area: float) -> int:
    """Fill the boxes of the unions, after those of the k segments; return the number of unions."""
    # counts: (k, bins) of pixels. A union takes the place of the first of its two parts, so that matrices
    # stay (k, k). Of equally similar pairs the first is joined.
    k = len(counts)
    sizes = np.empty(k)
    for i in range(k):
        sizes[i] = counts[i].sum()
    # of the box of a region
    row = np.arange(k)
    alive = np.ones(k, np.bool_)
    similarity = np.full((k, k), -np.inf)
    best = np.empty(k, np.int64)
    for i in range(k):
        for j in range(i):
            if neighbours[i, j]:
                similarity[i, j] = similarity[j, i] = _similarity(
                    counts, sizes, boxes[i], boxes[j], i, j, area
                )
    for i in range(k):
        best[i] = np.argmax(similarity[i])
    for union in range(k, 2 * k - 1):
        i = -1
        for region in range(k):
            if alive[region] and (i < 0 or similarity[region, best[region]] > similarity[i, best[i]]):
                i = region
        j = best[i]
        if similarity[i, j] == -np.inf:
            return union - k
        _enclose(boxes[row[i]], boxes[row[j]], boxes[union])
        row[i] = union
        counts[i] += counts[j]
        sizes[i] += sizes[j]
        alive[j] = False
        for other in range(k):
            near = alive[other] and other != i and (neighbours[i, other] or neighbours[j, other])
            neighbours[i, other] = neighbours[other, i] = near
            neighbours[j, other] = neighbours[other, j] = False
            value = -np.inf
            if near:
                value = _similarity(counts, sizes, boxes[union], boxes[row[other]], i, other, area)
            similarity[i, other] = similarity[other, i] = value
            similarity[j, other] = similarity[other, j] = -np.inf
        for other in range(k):
            if alive[other] and (other == i or best[other] == i or best[other] == j):
                best[other] = np.argmax(similarity[other])
            elif alive[other]:
                held = similarity[other, best[other]]
                if similarity[other, i] > held or (similarity[other, i] == held and i < best[other]):
                    best[other] = i
    return k - 1


@njit(cache=True, nogil=True)
def _enclose(first: Ints, second: Ints, into: Ints) -> None:
    for side in range(2):
        into[side] = min(first[side], second[side])
        into[2 + side] = max(first[2 + side], second[2 + side])


@njit(cache=True, nogil=True)
def _similarity(
    counts: Floats, sizes: Floats, box: Ints, other_box: Ints, i: int, j: int, area: float
) -> float:
    common = 0.0
    for bin in range(counts.shape[1]):
        common += min(counts[i, bin] / sizes[i], counts[j, bin] / sizes[j])
    width = max(box[2], other_box[2]) - min(box[0], other_box[0])
    height = max(box[3], other_box[3]) - min(box[1], other_box[1])
    both = sizes[i] + sizes[j]
    similarity: float = common + (1.0 - both / area) + (1.0 - (width * height - both) / area)
    return similarity
