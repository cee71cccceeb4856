"""Pairs of fingerprints that may be near copies: similar hashes in one of a square's eight symmetries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ranking.core import Bools, Ints
from ranking.core.arrays import AnyArray
from ranking.datasets.copies.alignment import Rows, Stack, Warps, reduced, sampled, smoothed, unit

POSITIONS = range(8)
# of 64 bits, in which the hashes of near copies differ
MAX_BITS = 16
# Pixels of a side, least correlation, most pairs of one fingerprint.
COARSE, LEAST_COARSE, MAX_COARSE = (8, 0.75, 30)
# the same values after the best crop
SMALL, LEAST_SMALL, MAX_SMALL = 16, 0.93, 3
# of the sides, at the centre and in the corners
CROP = 0.95
SHIFTS = ((0, 0), (-1, -1), (-1, 1), (1, -1), (1, 1))
# pairs of hashes that are compared at a time
BLOCK = 1_000_000


class Candidates(NamedTuple):
    """Pairs of images that may be near copies."""

    # first, second: (p,) rows of fingerprints
    first: Ints
    second: Ints
    # (p,) the symmetry that makes the second resemble the first
    position: Ints
    # (p, 2, 3) the crop of the second after that
    warps: Warps

    def rows(self, rows: Ints | slice) -> Candidates:
        return Candidates(self.first[rows], self.second[rows], self.position[rows], self.warps[rows])


def turned(images: AnyArray, position: int) -> AnyArray:
    """Return (n, side, side) the images in one of the eight symmetries.

    >>> [turned(np.array([[[1, 2], [3, 4]]]), position).ravel().tolist() for position in (0, 1, 6)]
    [[1, 2, 3, 4], [2, 1, 4, 3], [2, 4, 1, 3]]
    """
    # They are mirrored, rotated by quarter turns, or both.
    across = images.transpose(0, 2, 1) if position & 4 else images
    down = across[:, ::-1] if position & 2 else across
    return down[:, :, ::-1] if position & 1 else down


def each_turned(images: Stack, positions: Ints) -> Stack:
    """Return each image in its own position."""
    result = np.empty_like(images)
    for position in POSITIONS:
        chosen = positions == position
        result[chosen] = turned(images[chosen], position)
    return result


def candidates(
    hashes: npt.NDArray[np.bool_], greys: npt.NDArray[np.uint8], framed: Bools, image_of: Ints
) -> Iterator[Candidates]:
    """Yield the candidates among f fingerprints of n images, in blocks."""
    # hashes: (f, side, side). image_of: (f,). BLOCK and MAX_COARSE bound the memory for any images.
    words = [_words(turned(hashes, position)) for position in POSITIONS]
    coarse = [unit(turned(_small(greys, COARSE), position).reshape(len(greys), -1)) for position in POSITIONS]
    crops = Crops.of(greys)
    rows = max(1, BLOCK // max(1, len(hashes)))
    for start in range(0, len(hashes), rows):
        block, later = np.arange(start, min(start + rows, len(hashes))), np.arange(start, len(hashes))
        apart = (image_of[block, None] < image_of[later]) & ~(framed[block, None] & framed[later])
        blocks = []
        for position in POSITIONS:
            bits = np.bitwise_count(words[0][block, None] ^ words[position][later])
            similar = coarse[0][block] @ coarse[position][later].T
            similar[(bits > MAX_BITS) | ~apart] = -1
            row, column = _largest(similar)
            blocks.append((block[row], later[column], np.full(len(row), position), similar[row, column]))
        first, second, positions, likeness = (np.concatenate(column) for column in zip(*blocks, strict=True))
        kept = most_similar(first, likeness, LEAST_COARSE, MAX_COARSE)
        yield crops.like(first[kept], second[kept], positions[kept])


def _largest(similar: Rows) -> tuple[Ints, Ints]:
    """Return rows and columns of similar enough entries, at most the MAX_COARSE largest per row."""
    enough = similar >= LEAST_COARSE
    crowded = np.flatnonzero(enough.sum(axis=1) > MAX_COARSE)
    if len(crowded):
        largest = np.argpartition(similar[crowded], -MAX_COARSE, axis=1)[:, -MAX_COARSE:]
        enough[crowded] = False
        enough[crowded[:, None], largest] = True
    row, column = np.nonzero(enough)
    return row, column


def most_similar(first: Ints, similar: Rows, least: float, most: int) -> Ints:
    """Return which pairs are similar enough: at most the `most` most similar pairs per first fingerprint.

    >>> most_similar(np.array([0, 0, 0, 1]), np.array([0.8, 0.9, 0.7, 0.1]), 0.5, 2).tolist()
    [1, 0]
    """
    order = np.lexsort((-similar, first))
    order = order[similar[order] >= least]
    _, starts, counts = np.unique(first[order], return_index=True, return_counts=True)
    kept: Ints = order[np.arange(len(order)) - np.repeat(starts, counts) < most]
    return kept


class Crops(NamedTuple):
    """Each whole image and its crops at SMALL pixels."""

    # Their warps are (c, 3, 3), the images (c, f, SMALL, SMALL).

    warps: npt.NDArray[np.float32]
    images: npt.NDArray[np.float32]

    @classmethod
    def of(cls, greys: npt.NDArray[np.uint8]) -> Crops:
        small = smoothed(_small(greys, SMALL))
        warps = np.stack([np.eye(3, dtype=np.float32), *(_crop(*shift) for shift in SHIFTS)])
        rows = [unit(*sampled(small, np.broadcast_to(warp[:2], (len(small), 2, 3)))) for warp in warps]
        return cls(warps, np.stack(rows).reshape(len(warps), *small.shape))

    def like(self, first: Ints, second: Ints, position: Ints) -> Candidates:
        """Return the pairs in which an image is similar to the other one or to its crop, with the crop."""
        best, warps = np.empty(len(first), np.float32), np.empty((len(first), 2, 3), np.float32)
        for number in POSITIONS:
            rows = np.flatnonzero(position == number)
            inside = np.stack([_turned_warp(crop, number) for crop in self.warps])
            choices = np.concatenate([inside, np.linalg.inv(self.warps)])[:, :2]
            similar = np.empty((len(choices), len(rows)), np.float32)
            whole = self.images[0, first[rows]], turned(self.images[0, second[rows]], number)
            for crop, images in enumerate(self.images):
                of_second, of_first = turned(images[second[rows]], number), images[first[rows]]
                similar[crop] = np.einsum("pij,pij->p", whole[0], of_second)
                similar[crop + len(inside)] = np.einsum("pij,pij->p", of_first, whole[1])
            chosen = similar.argmax(axis=0)
            warps[rows], best[rows] = choices[chosen], similar.max(axis=0)
        kept = most_similar(first, best, LEAST_SMALL, MAX_SMALL)
        return Candidates(first[kept], second[kept], position[kept], warps[kept])


def _crop(across: int, down: int) -> npt.NDArray[np.float32]:
    edge = 1 - CROP
    return np.array([[CROP, 0, edge * across], [0, CROP, edge * down], [0, 0, 1]], np.float32)


def _turned_warp(crop: npt.NDArray[np.float32], position: int) -> npt.NDArray[np.float32]:
    """Return the warp that, after `position` is applied, makes the same crop as `crop` makes before it."""
    across, down = (crop[1, 2], crop[0, 2]) if position & 4 else (crop[0, 2], crop[1, 2])
    result = crop.copy()
    result[:2, 2] = (-across if position & 1 else across), (-down if position & 2 else down)
    return result


def _small(greys: npt.NDArray[np.uint8], side: int) -> Stack:
    parts = np.array_split(greys, len(greys) // 1000 + 1)
    return np.concatenate([reduced(part.astype(np.float32), side) for part in parts])


def _words(hashes: npt.NDArray[np.generic]) -> npt.NDArray[np.uint64]:
    """Return (f,) the bits of each hash as one number."""
    packed = np.packbits(np.ascontiguousarray(hashes).reshape(len(hashes), 64), axis=1)
    return packed.view(np.uint64).ravel()
