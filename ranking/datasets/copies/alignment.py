"""Alignment of small grey images to others of equal size, many pairs at a time.

A warp (2, 3) maps (x, y, 1) of the first image to (x, y) of the second; coordinates run from -1 to 1. The inverse
compositional algorithm of Lucas and Kanade (Baker and Matthews, IJCV 2004) finds it on images of zero mean and unit
length, so that it does not depend on brightness or contrast.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

# (n, side, side) images
Stack = npt.NDArray[np.floating]
# (n, side * side) the same images, one per row
Rows = npt.NDArray[np.floating]
# (n, 2, 3)
Warps = npt.NDArray[np.floating]

# the free entries of a warp without rotation: the size and the position of a crop
CROP = (0, 2, 4, 5)
ANY = range(6)
# pixels farther out are not compared: paper borders, parts that a crop cut off
MARGIN = 0.8
# of a warp's entries
LONGEST_STEP = 0.1
# of the normal equations, relative to their mean diagonal
DAMPING = 1e-3


def aligned(first: Stack, second: Stack, warps: Warps, steps: int, free: Sequence[int]) -> Warps:
    """Return improved `warps`, by which the warped `second` resembles `first`."""
    # free: which of the six entries change.
    count = len(first)
    target = unit(first.reshape(count, -1))
    slopes = _slopes(first, target)[:, list(free)]
    normal = slopes @ slopes.transpose(0, 2, 1)
    damping = DAMPING * np.trace(normal, axis1=1, axis2=2) / len(free) + 1e-9
    normal += damping[:, None, None] * np.eye(len(free), dtype=np.float32)
    solver = np.linalg.inv(normal) @ slopes
    for _ in range(steps):
        values, inside = sampled(second, warps)
        wrong = (unit(values) - target) * inside
        step = np.zeros((count, 6), np.float32)
        step[:, list(free)] = (solver @ wrong[:, :, None])[:, :, 0]
        warps = _undone(warps, np.clip(step, -LONGEST_STEP, LONGEST_STEP).reshape(count, 2, 3))
    return warps


def sampled(images: Stack, warps: Warps) -> tuple[Rows, npt.NDArray[np.bool_]]:
    """Return the pixels of each warped image, and which of them lie inside both images."""
    # with Numba, for which the first page would wait
    from ranking.datasets.copies.sampling import sample

    count, side, _ = images.shape
    values, inside = np.empty((count, side * side), np.float32), np.empty((count, side * side), np.bool_)
    edge = _grid(side)[0, :side]
    sample(
        np.ascontiguousarray(images, np.float32),
        np.ascontiguousarray(warps, np.float32),
        edge,
        MARGIN,
        values,
        inside,
    )
    return values, inside


def unit(rows: Rows, weights: npt.NDArray[np.bool_] | None = None) -> Rows:
    """Return rows with zero mean and length 1; with weights, over the pixels with weight True only."""
    mask: Rows = np.ones_like(rows) if weights is None else weights.astype(np.float32)
    total: Rows = (rows * mask).sum(axis=1, keepdims=True)
    count: Rows = mask.sum(axis=1, keepdims=True)
    centred: Rows = (rows - total / np.maximum(count, 1)) * mask
    length: Rows = np.linalg.norm(centred, axis=1, keepdims=True) + 1e-6
    scaled: Rows = centred / length
    return scaled


def smoothed(images: Stack) -> Stack:
    """Return images in which each pixel is averaged with its neighbours, weights 1 2 1 in each direction."""
    wide = np.pad(images, ((0, 0), (1, 1), (1, 1)), mode="edge")
    tall = (wide[:, :-2] + 2 * wide[:, 1:-1] + wide[:, 2:]) / 4
    result: Stack = (tall[:, :, :-2] + 2 * tall[:, :, 1:-1] + tall[:, :, 2:]) / 4
    return result


def reduced(images: Stack, side: int) -> Stack:
    """Return images with a smaller side, which must divide theirs."""
    factor = images.shape[1] // side
    result: Stack = images.reshape(len(images), side, factor, side, factor).mean(axis=(2, 4))
    return result


def _grid(side: int) -> Rows:
    """Return (3, side * side) x, y and 1 of each pixel."""
    edge = (np.arange(side, dtype=np.float32) + 0.5) / side * 2 - 1
    y, x = np.meshgrid(edge, edge, indexing="ij")
    return np.stack([x.ravel(), y.ravel(), np.ones(side * side, np.float32)])


def _slopes(images: Stack, target: Rows) -> Rows:
    """Return (n, 6, side * side) the derivative of each pixel of the unit image by each entry of a warp."""
    count, side, _ = images.shape
    grid = _grid(side)
    down, right = np.gradient(images, axis=(1, 2))
    centred = images - images.mean(axis=(1, 2), keepdims=True)
    scale = side / 2 / (np.linalg.norm(centred, axis=(1, 2)) + 1e-6)
    of_pixels = np.stack([right.reshape(count, -1), down.reshape(count, -1)], axis=1) * scale[:, None, None]
    slopes = (of_pixels[:, :, None] * grid[None, None]).reshape(count, 6, -1)
    slopes -= slopes.mean(axis=2, keepdims=True)
    across: Rows = slopes - target[:, None] * (slopes @ target[:, :, None])
    return across


def _undone(warps: Warps, step: Warps) -> Warps:
    """Return each warp composed with the inverse of the warp identity + `step`."""
    moved = np.tile(np.eye(3, dtype=np.float32), (len(step), 1, 1))
    moved[:, :2] += step
    whole = np.tile(np.eye(3, dtype=np.float32), (len(step), 1, 1))
    whole[:, :2] = warps
    result: Warps = (whole @ np.linalg.inv(moved))[:, :2]
    return result
