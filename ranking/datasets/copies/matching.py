"""Which candidates are near copies: those that match in detail after the second image is moved onto the first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from ranking.core import Floats, Ints
from ranking.datasets.copies.alignment import (
    ANY,
    CROP,
    Rows,
    Stack,
    aligned,
    reduced,
    sampled,
    smoothed,
    unit,
)
from ranking.datasets.copies.candidates import Candidates, candidates, each_turned
from ranking.datasets.copies.fingerprints import Fingerprint

MOST_IMAGES = 100_000  # of one set: comparing more takes hours
AT_ONCE, THREADS = 200, 2  # pairs that are compared at once, by each thread
HALF, CROP_STEPS, STEPS = (
    24,
    6,
    4,
)  # pixels of a side and steps of the first alignment, steps of the second one
LEAST_NEARLY = 0.4  # correlation of details after the first alignment, below which there is no second one
PATCH = 6  # pixels of a side
LEAST_DETAIL = 0.3  # of the mean detail of all patches, for a patch that has any
LEAST_PATCH = 0.8  # correlation of a patch that matches
# Measured by benchmarks/near_copies.py: photographs and generated scenes that merely look alike stay below.
NEAR, LEAST_NEAR = 0.13, 1.48
FAR, LEAST_FAR = 0.2, 1.75


class Copies(NamedTuple):
    """pairs: (p, 2) images, the first one below the second. detail: (p,) how well their details correlate."""

    pairs: Ints
    detail: Floats


class Match(NamedTuple):
    """How two aligned images match. detail: (p,) correlation of what differs from the surroundings. patches: the share
    of patches with any detail that match by themselves. moved: the largest entry by which the warp differs from the
    identity."""

    detail: Floats
    patches: Floats
    moved: Floats


def near_copies(prints: Sequence[Sequence[Fingerprint]], on_step: Callable[[], None] | None = None) -> Copies:
    """The near copies among images of which `prints` has the fingerprints; none among more than MOST_IMAGES.

    on_step is called every few seconds, so that what it raises is heard soon.
    """
    image_of = np.repeat(np.arange(len(prints)), [len(each) for each in prints])
    if len(image_of) < 2 or len(prints) > MOST_IMAGES:
        return Copies(np.empty((0, 2), np.int64), np.empty(0))
    hashes = np.stack([fingerprint.hash for each in prints for fingerprint in each])
    greys = np.stack([fingerprint.grey for each in prints for fingerprint in each])
    framed = np.array([fingerprint.framed for each in prints for fingerprint in each])
    best: dict[tuple[int, int], float] = {}

    def keep(compared: list[Future[Match]], of: list[Candidates]) -> None:
        for future, pairs in zip(compared, of, strict=True):
            match = future.result()
            for row in np.flatnonzero(is_copy(match)):
                pair = int(image_of[pairs.first[row]]), int(image_of[pairs.second[row]])
                best[pair] = max(best.get(pair, 0.0), float(match.detail[row]))

    # The next candidates are looked for while those before are compared; products of matrices take no more threads.
    waiting: tuple[list[Future[Match]], list[Candidates]] = [], []
    with threadpool_limits(1), ThreadPoolExecutor(THREADS) as pool:
        for block in candidates(hashes, greys, framed, image_of):
            if on_step is not None:
                on_step()
            few = [block.rows(slice(start, start + AT_ONCE)) for start in range(0, len(block.first), AT_ONCE)]
            begun = [pool.submit(matched, greys, pairs) for pairs in few]
            keep(*waiting)
            waiting = begun, few
        keep(*waiting)
    pairs = sorted(best)
    return Copies(np.array(pairs, np.int64).reshape(-1, 2), np.array([best[pair] for pair in pairs]))


def matched(greys: npt.NDArray[np.uint8], pairs: Candidates) -> Match:
    """How the two images of each pair match after the second is moved onto the first; zeros where they hardly do."""
    first = smoothed(greys[pairs.first].astype(np.float32))
    second = smoothed(each_turned(greys[pairs.second].astype(np.float32), pairs.position))
    halves = _detail(reduced(first, HALF)), _detail(reduced(second, HALF))
    warps = aligned(*halves, pairs.warps, CROP_STEPS, CROP)
    first, second = _detail(first), _detail(second)
    nearly = _correlation(first, *sampled(second, warps)) >= LEAST_NEARLY
    result = np.zeros((3, len(nearly)))
    if nearly.any():
        first, second = first[nearly], second[nearly]
        warps = aligned(first, second, warps[nearly], STEPS, ANY)
        values, inside = sampled(second, warps)
        result[0, nearly] = _correlation(first, values, inside)
        result[1, nearly] = matching_patches(first, values.reshape(first.shape), inside.reshape(first.shape))
        result[2, nearly] = np.abs(warps - np.eye(2, 3)).max(axis=(1, 2))
    return Match(*result)


def _correlation(first: Stack, values: Rows, inside: npt.NDArray[np.bool_]) -> Floats:
    result: Floats = (unit(first.reshape(len(first), -1), inside) * unit(values, inside)).sum(axis=1)
    return result


def matching_patches(first: Stack, second: Stack, inside: npt.NDArray[np.bool_]) -> Floats:
    """(n,) the share of patches that match by themselves, of those with any detail."""
    left, right, covered = (_patches(images) for images in (first, second, inside.astype(np.float32)))
    left, right = left - left.mean(axis=2, keepdims=True), right - right.mean(axis=2, keepdims=True)
    lengths = np.linalg.norm(left, axis=2), np.linalg.norm(right, axis=2)
    correlation = (left * right).sum(axis=2) / (lengths[0] * lengths[1] + 1e-6)
    any_detail = LEAST_DETAIL * np.sqrt((lengths[0] ** 2).mean(axis=1, keepdims=True))
    counted = (np.maximum(*lengths) > any_detail) & (covered.mean(axis=2) > 0.6)
    share: Floats = ((correlation > LEAST_PATCH) & counted).sum(axis=1) / np.maximum(counted.sum(axis=1), 1)
    return share


def is_copy(match: Match) -> npt.NDArray[np.bool_]:
    """Whether a pair is a near copy; the farther one image was moved, the better it must match."""
    score = match.detail + match.patches
    near, far = (match.moved <= NEAR) & (score >= LEAST_NEAR), (match.moved <= FAR) & (score >= LEAST_FAR)
    return near | far


def _detail(images: Stack) -> Stack:
    return images - smoothed(smoothed(smoothed(images)))


def _patches(images: Stack) -> Stack:
    """(n, patches, PATCH * PATCH)."""
    count, many = len(images), images.shape[1] // PATCH
    cut = images.reshape(count, many, PATCH, many, PATCH).transpose(0, 1, 3, 2, 4)
    return cut.reshape(count, many * many, PATCH * PATCH)
