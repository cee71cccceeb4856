"""Near copies: the candidates whose images match in detail after the second is aligned to the first."""

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

# of one image set: comparing more takes hours
MAX_IMAGES = 100_000
# pairs that each thread compares at a time, and the number of threads
AT_ONCE, THREADS = 200, 2
# Pixels of a side and steps of the first alignment, steps of the second alignment.
HALF, CROP_STEPS, STEPS = (24, 6, 4)
# correlation of details after the first alignment, below which there is no second alignment
LEAST_NEARLY = 0.4
# pixels of a side
PATCH = 6
# of the mean detail of all patches, from which a patch counts
LEAST_DETAIL = 0.3
# correlation of a patch that matches
LEAST_PATCH = 0.8
# Measured by benchmarks/near_copies.py: photographs and generated scenes that merely look alike stay below.
NEAR, LEAST_NEAR = 0.13, 1.48
FAR, LEAST_FAR = 0.2, 1.75


class Copies(NamedTuple):
    """The near copies among the images of a set."""

    # (p, 2) numbers of images, first < second
    pairs: Ints
    # (p,) the correlation of their details
    detail: Floats


class Match(NamedTuple):
    """How two aligned images match."""

    # (p,) the correlation of their differences from the surroundings
    detail: Floats
    # the share of patches with detail that match independently
    patches: Floats
    # the largest absolute entry of warp - identity
    moved: Floats


def near_copies(
    fingerprints: Sequence[Sequence[Fingerprint]], on_step: Callable[[], None] | None = None
) -> Copies:
    """Return the near copies among images with these fingerprints; none among more than MAX_IMAGES images.

    on_step is called every few seconds; an exception that it raises ends the search.
    """
    image_of = np.repeat(np.arange(len(fingerprints)), [len(each) for each in fingerprints])
    if len(image_of) < 2 or len(fingerprints) > MAX_IMAGES:
        return Copies(np.empty((0, 2), np.int64), np.empty(0))
    hashes = np.stack([fingerprint.hash for each in fingerprints for fingerprint in each])
    greys = np.stack([fingerprint.grey for each in fingerprints for fingerprint in each])
    framed = np.array([fingerprint.framed for each in fingerprints for fingerprint in each])
    best: dict[tuple[int, int], float] = {}

    def collect(compared: list[Future[Match]], of: list[Candidates]) -> None:
        for future, pairs in zip(compared, of, strict=True):
            match = future.result()
            for row in np.flatnonzero(is_copy(match)):
                pair = int(image_of[pairs.first[row]]), int(image_of[pairs.second[row]])
                best[pair] = max(best.get(pair, 0.0), float(match.detail[row]))

    # Candidates are searched while the previous ones are compared; matrix products use no further threads.
    waiting: tuple[list[Future[Match]], list[Candidates]] = [], []
    with threadpool_limits(1), ThreadPoolExecutor(THREADS) as pool:
        for block in candidates(hashes, greys, framed, image_of):
            if on_step is not None:
                on_step()
            few = [block.rows(slice(start, start + AT_ONCE)) for start in range(0, len(block.first), AT_ONCE)]
            begun = [pool.submit(matched, greys, pairs) for pairs in few]
            collect(*waiting)
            waiting = begun, few
        collect(*waiting)
    pairs = sorted(best)
    return Copies(np.array(pairs, np.int64).reshape(-1, 2), np.array([best[pair] for pair in pairs]))


def matched(greys: npt.NDArray[np.uint8], pairs: Candidates) -> Match:
    """Return how the images of each pair match once the second is aligned; zeros if they hardly match."""
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
    """Return (n,) the share of patches that match independently, among the patches with detail."""
    left, right, covered = (_patches(images) for images in (first, second, inside.astype(np.float32)))
    left, right = left - left.mean(axis=2, keepdims=True), right - right.mean(axis=2, keepdims=True)
    lengths = np.linalg.norm(left, axis=2), np.linalg.norm(right, axis=2)
    correlation = (left * right).sum(axis=2) / (lengths[0] * lengths[1] + 1e-6)
    any_detail = LEAST_DETAIL * np.sqrt((lengths[0] ** 2).mean(axis=1, keepdims=True))
    counted = (np.maximum(*lengths) > any_detail) & (covered.mean(axis=2) > 0.6)
    share: Floats = ((correlation > LEAST_PATCH) & counted).sum(axis=1) / np.maximum(counted.sum(axis=1), 1)
    return share


def is_copy(match: Match) -> npt.NDArray[np.bool_]:
    """Return whether each pair is a near copy."""
    # The farther the warp moves an image, the better it must match.
    score = match.detail + match.patches
    near, far = (match.moved <= NEAR) & (score >= LEAST_NEAR), (match.moved <= FAR) & (score >= LEAST_FAR)
    return near | far


def _detail(images: Stack) -> Stack:
    return images - smoothed(smoothed(smoothed(images)))


def _patches(images: Stack) -> Stack:
    """Return (n, patches, PATCH * PATCH) the patches of each image."""
    count, many = len(images), images.shape[1] // PATCH
    cut = images.reshape(count, many, PATCH, many, PATCH).transpose(0, 1, 3, 2, 4)
    return cut.reshape(count, many * many, PATCH * PATCH)
