"""The feature matrix of an image set.

Each part is computed once and stored under a hash of all that it depends on.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import islice
from pathlib import Path
from threading import Event
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ranking.core import Feature, ImageSet, OnCount
from ranking.core.errors import InputError
from ranking.core.settings import GivenSettings, settings_dict
from ranking.datasets.sequences import LENGTH_1, unit_rows
from ranking.features import matrix_files
from ranking.features.given import Given
from ranking.features.matrix_files import Matrix
from ranking.features.onnx_model import OnnxModel
from ranking.features.registry import FEATURES
from ranking.features.scaling import Scaled, scaling_of
from ranking.features.uploaded_vectors import OwnVectors

T = TypeVar("T")
# (name, finished images, all images)
OnFeatures = Callable[[str, int, int], None]

# Each holds a decoded image; more threads would wait for the interpreter.
THREADS = min(4, os.cpu_count() or 1)
# seconds
BEAT = 0.2


def load_features(
    image_set: ImageSet,
    parts: Sequence[tuple[str, GivenSettings]],
    cache: Path,
    on_progress: OnFeatures | None = None,
    scaled_by: ImageSet | None = None,
) -> Matrix:
    """Return (n, d) float32: the parts, e.g. [("HOG", {}), ("Colour", {"bins": 4})], side by side.

    Each feature of images has rows of length 1 (0 if a box has no structure), and so has their concatenation: all parts
    have the same weight, whatever their length. Given features and uploaded vectors are scaled by their setting
    `scaling`, and the concatenation with them as it is. Parts that `cache` lacks are computed together, and each image
    is decoded once.

    scaled_by: the set whose training images scale given features per column, None for `image_set`: a model of one set
    needs the same scaling in another.
    ValueError for unknown features or settings, no part, a repeated part, or features that the set does not offer.
    """
    features, paths = _files(image_set, parts, cache, scaled_by)
    if (whole := _whole(image_set, features, paths)) is not None:
        return whole
    cached = _at_hand(image_set, features, paths)
    missing = [place for place, matrix in enumerate(cached) if matrix is None]
    for feature in (features[place] for place in missing):
        if isinstance(feature, OnnxModel):
            feature.open(cache)
    computed = _compute(image_set, [features[place] for place in missing], on_progress)
    for place in reversed(missing):
        cached[place] = matrix_files.store(paths[place], computed.pop())
    return _joined(image_set, features, [part for part in cached if part is not None], paths, on_progress)


def cached_features(
    image_set: ImageSet, parts: Sequence[tuple[str, GivenSettings]], cache: Path
) -> Matrix | None:
    """Return the result of `load_features` if `cache` has all parts, otherwise None; nothing is computed."""
    features, paths = _files(image_set, parts, cache)
    if (whole := _whole(image_set, features, paths)) is not None:
        return whole
    cached = [matrix for matrix in _at_hand(image_set, features, paths) if matrix is not None]
    return _joined(image_set, features, cached, paths, None) if len(cached) == len(features) else None


def _display_name(features: Sequence[Feature]) -> str:
    return " and ".join(feature.name for feature in features)


def _files(
    image_set: ImageSet,
    parts: Sequence[tuple[str, GivenSettings]],
    cache: Path,
    scaled_by: ImageSet | None = None,
) -> tuple[list[Feature], list[Path]]:
    """Return each part, and its file in `cache`."""
    features = [feature for feature, _ in feature_columns(parts, image_set, scaled_by)]
    # uploaded vectors are stored once, whatever their scaling
    paths = [
        cached_vectors_file(cache, image_set.key, feature.vectors)
        if isinstance(feature, OwnVectors)
        else cache / cache_name(image_set.key, feature)
        for feature in features
    ]
    if not features:
        raise InputError("features", "at least one feature", "none", "choose one or more")
    if len(set(paths)) < len(paths):
        came = ", ".join(feature.name for feature in features)
        raise InputError("features", "each feature once", came, "remove the duplicates")
    return features, paths


def _at_hand(image_set: ImageSet, features: Sequence[Feature], paths: Sequence[Path]) -> list[Matrix | None]:
    """Return the matrix of each part from the set or its file, None where it must be computed."""
    return [
        feature.vectors
        if isinstance(feature, Given)
        else matrix_files.read(path, (len(image_set), feature.size))
        for feature, path in zip(features, paths, strict=True)
    ]


def _whole(image_set: ImageSet, features: Sequence[Feature], paths: Sequence[Path]) -> Matrix | None:
    """Return the concatenation that `_joined` stored; None where it is too small or not stored yet."""
    shape = (len(image_set), sum(feature.size for feature in features))
    return matrix_files.read(_joined_file(features, paths), shape) if matrix_files.is_large(shape) else None


def _joined(
    image_set: ImageSet,
    features: Sequence[Feature],
    parts: Sequence[Matrix],
    paths: Sequence[Path],
    on_progress: OnFeatures | None,
) -> Matrix:
    """Return the parts side by side, as `load_features` does; a large result is stored beside their files and
    mapped."""
    scaled = [_scaling(image_set, feature, part) for feature, part in zip(features, parts, strict=True)]
    all_length_1 = all(feature.scaling == LENGTH_1 for feature in features)

    def join(parts: Sequence[Matrix]) -> Matrix:
        together = np.hstack([scale(part) for scale, part in zip(scaled, parts, strict=True)])
        return unit_rows(together) if all_length_1 else together

    count = len(image_set)
    if not matrix_files.is_large((count, sum(part.shape[1] for part in parts))):
        return join(parts)
    report = on_progress or (lambda *_: None)
    return matrix_files.store_joined(
        _joined_file(features, paths), parts, join, lambda done: report("Features side by side", done, count)
    )


def _scaling(image_set: ImageSet, feature: Feature, part: Matrix) -> Scaled:
    if isinstance(feature, Given):
        return feature.scaled()
    return scaling_of(part, feature.scaling, ~image_set.test) if feature.supplied else lambda rows: rows


def _joined_file(features: Sequence[Feature], paths: Sequence[Path]) -> Path:
    """Return the file for the concatenation of parts; it follows from the names of their files and their scaling."""
    content = ["joined", *(path.name for path in paths)]
    content += [feature.scaling for feature in features if feature.scaling != LENGTH_1]
    content += [
        feature.scaled_by.key for feature in features if isinstance(feature, Given) and feature.scaled_by
    ]
    names = "\n".join(content)
    return paths[0].with_name(hashlib.sha256(names.encode()).hexdigest() + ".npy")


def feature_columns(
    parts: Sequence[tuple[str, GivenSettings]],
    image_set: ImageSet | None = None,
    scaled_by: ImageSet | None = None,
) -> list[tuple[Feature, slice]]:
    """Return each part with its columns of the matrix of `load_features`, and so of weights learned from it.

    ValueError if `image_set` does not offer a part; without a set, for features that belong to a set.

    >>> [(part.name, columns) for part, columns in feature_columns([("HOG", {"side": 32}), ("Colour", {"bins": 2})])]
    [('HOG', slice(0, 324, None)), ('Colour', slice(324, 332, None))]
    """
    columns, start = [], 0
    for name, settings in parts:
        feature = _for_set(FEATURES.make(name, **settings), image_set, scaled_by)
        columns.append((feature, slice(start, start + feature.size)))
        start += feature.size
    return columns


def _for_set(feature: Feature, image_set: ImageSet | None, scaled_by: ImageSet | None) -> Feature:
    if image_set is None:
        return feature
    if isinstance(feature, Given):
        return Given.of(image_set, feature.scaling, scaled_by or image_set)
    if image_set.image_features is not None and not isinstance(feature, OwnVectors):
        expected = f"features that came with {image_set.title}, because its images name the labels"
        raise InputError("features", expected, feature.name, f"choose {Given.name}")
    return feature


def cache_name(set_key: str, feature: Feature) -> str:
    """Return the file name of a part: a hash of the image set, the feature, its version and settings."""
    content = [set_key, feature.name, feature.version, settings_dict(feature)]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest() + ".npy"


def cached_vectors_file(cache: Path, set_key: str, name: str) -> Path:
    """Return the file in `cache` for the vectors of that name, which were uploaded for an image set."""
    return cache / cache_name(set_key, OwnVectors(name))


def _compute(
    image_set: ImageSet, features: Sequence[Feature], on_progress: OnFeatures | None
) -> list[Matrix]:
    """Return one matrix per feature; each image is decoded once and each box cropped once."""
    # Threads process the images and fill different rows, so that their number does not change the result.
    matrices = [np.empty((len(image_set), feature.size), np.float32) for feature in features]
    if not features:
        return matrices
    report = on_progress or (lambda *_: None)
    what, total = _display_name(features), len(image_set.image_names)
    by_image = np.argsort(image_set.image_of)
    ends = np.searchsorted(image_set.image_of[by_image], np.arange(total), side="right")
    samples = np.split(by_image, ends[:-1])

    def describe(image: int, stop: Event) -> None:
        _describe(image_set, image, samples[image], features, matrices, stop)

    for _ in by_threads(describe, total, lambda done, total: report(what, done, total)):
        pass
    return matrices


def by_threads(work: Callable[[int, Event], T], total: int, on_count: OnCount | None) -> Iterator[T]:
    """Yield work(0, stop), ..., work(total - 1, stop) in this order, computed by THREADS threads."""
    # `on_count` is called after each and every BEAT seconds; an exception that it raises ends the
    # computation. Work that takes long should end early when `stop` is set.
    report = on_count or (lambda *_: None)
    numbers, waiting, done, stop = iter(range(total)), deque[Future[T]](), 0, Event()
    with ThreadPoolExecutor(THREADS) as pool:
        try:
            while done < total:
                for number in islice(numbers, 2 * THREADS - len(waiting)):
                    waiting.append(pool.submit(work, number, stop))
                if wait([waiting[0]], BEAT).done:
                    result = waiting.popleft().result()
                    done += 1
                    report(done, total)
                    yield result
                else:
                    report(done, total)
        finally:
            stop.set()
            for future in waiting:
                future.cancel()


def _describe(
    image_set: ImageSet,
    image: int,
    samples: npt.NDArray[np.intp],
    features: Sequence[Feature],
    matrices: Sequence[Matrix],
    stop: Event,
) -> None:
    """Fill the rows of an image's `samples`; end early when `stop` is set."""
    picture = image_set.open_image(image)
    parts = list(zip(features, matrices, strict=True))
    for feature, matrix in parts:
        if feature.whole_image:
            matrix[samples] = _vector(feature, feature.describe(picture))
    of_boxes = [(feature, matrix) for feature, matrix in parts if not feature.whole_image]
    for sample in samples if of_boxes else ():
        if stop.is_set():
            return
        crop = picture.crop(tuple(image_set.boxes[sample].tolist()))
        for feature, matrix in of_boxes:
            matrix[sample] = _vector(feature, feature.describe(crop))


def _vector(feature: Feature, vector: Matrix) -> Matrix:
    if vector.shape != (feature.size,) or not np.isfinite(vector).all():
        raise InputError(feature.name, f"{feature.size:,} finite numbers per box", f"shape {vector.shape}")
    return vector
