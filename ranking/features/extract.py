"""The feature matrix of an image set: each part computed once and kept on disk under a hash of its causes."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import numpy.typing as npt

from ranking.features.given import Given
from ranking.features.onnx_model import OnnxModel
from ranking.features.own_vectors import OwnVectors
from ranking.features.registry import FEATURES
from ranking.settings import settings_dict
from ranking.types import Feature, ImageSet

OnFeatures = Callable[[str, int, int], None]  # (what, images done, images in all)
Matrix = npt.NDArray[np.float32]

THREADS = min(4, os.cpu_count() or 1)  # each holds a decoded image, and more of them wait for the interpreter
BEAT = 0.2  # seconds

log = logging.getLogger(__name__)


def load_features(
    image_set: ImageSet,
    parts: Sequence[tuple[str, Mapping[str, Any]]],
    cache: Path,
    on_progress: OnFeatures | None = None,
) -> Matrix:
    """(n, d) float32: the parts, e.g. [("HOG", {}), ("Colour", {"bins": 4})], side by side, rows of length 1.

    Each part has rows of length 1 (0 where a box has no structure), and so has their concatenation: every
    part weighs the same, however long it is. What `cache` does not hold is computed, all missing parts in one
    pass that decodes every image once. ValueError for unknown features or settings, none, one part twice, or
    features that the set does not offer.
    """
    features, paths, cached = _look_up(image_set, parts, cache)
    missing = [place for place, matrix in enumerate(cached) if matrix is None]
    with ExitStack() as opened:
        for feature in (features[place] for place in missing):
            if isinstance(feature, OnnxModel):
                opened.enter_context(feature.opened(cache))
        found = _compute(image_set, [features[place] for place in missing], on_progress)
    computed = dict(zip(missing, found, strict=True))
    for place, matrix in computed.items():
        _keep(paths[place], matrix)
    return _joined([computed[i] if matrix is None else matrix for i, matrix in enumerate(cached)])


def cached_features(
    image_set: ImageSet, parts: Sequence[tuple[str, Mapping[str, Any]]], cache: Path
) -> Matrix | None:
    """What `load_features` gives, where `cache` holds every part; None where it lacks one: nothing is computed."""
    _, _, cached = _look_up(image_set, parts, cache)
    found = [matrix for matrix in cached if matrix is not None]
    return _joined(found) if len(found) == len(cached) else None


def _look_up(
    image_set: ImageSet, parts: Sequence[tuple[str, Mapping[str, Any]]], cache: Path
) -> tuple[list[Feature], list[Path], list[Matrix | None]]:
    """Each part, its file in `cache` and what that holds."""
    features = [feature for feature, _ in feature_columns(parts, image_set)]
    paths = [cache / cache_name(image_set.key, feature) for feature in features]
    if not features:
        raise ValueError("expected at least one feature, got none; choose one or more")
    if len(set(paths)) < len(paths):
        raise ValueError(f"every feature once, got {', '.join(feature.name for feature in features)}")
    at_hand = [
        feature.vectors if isinstance(feature, Given) else _cached(path, (len(image_set), feature.size))
        for feature, path in zip(features, paths, strict=True)
    ]
    return features, paths, at_hand


def _joined(matrices: Sequence[Matrix]) -> Matrix:
    """Side by side, rows of length 1 (0 where all are 0)."""
    joined = np.hstack(matrices)
    norms = np.linalg.norm(joined, axis=1, keepdims=True)
    np.divide(joined, norms, out=joined, where=norms > 0)
    return joined


def feature_columns(
    parts: Sequence[tuple[str, Mapping[str, Any]]], image_set: ImageSet | None = None
) -> list[tuple[Feature, slice]]:
    """Each part with its columns of the matrix of `load_features`, and so of weights learnt from it.

    ValueError where `image_set` does not offer a part; without a set, for features that come with one.

    >>> [(part.name, columns) for part, columns in feature_columns([("HOG", {"side": 32}), ("Colour", {"bins": 2})])]
    [('HOG', slice(0, 324, None)), ('Colour', slice(324, 332, None))]
    """
    found, start = [], 0
    for name, settings in parts:
        feature = _for_set(FEATURES.make(name, **settings), image_set)
        found.append((feature, slice(start, start + feature.size)))
        start += feature.size
    return found


def _for_set(feature: Feature, image_set: ImageSet | None) -> Feature:
    if image_set is None:
        return feature
    if isinstance(feature, Given):
        return Given.of(image_set)
    if image_set.image_features is not None and not isinstance(feature, OwnVectors):
        raise ValueError(
            f"{feature.name} would read the labels of {image_set.title} from its pictures, which are cards that "
            f"name them; choose {Given.name}"
        )
    return feature


def cache_name(set_key: str, feature: Feature) -> str:
    """The file of one part: a hash of the image set, the feature, its version and all its settings."""
    content = [set_key, feature.name, feature.version, settings_dict(feature)]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest() + ".npy"


def cached_vectors_file(cache: Path, set_key: str, name: str) -> Path:
    """Where in `cache` the vectors of that name are looked for, which a person brought for an image set."""
    return cache / cache_name(set_key, OwnVectors(name))


def _compute(
    image_set: ImageSet, features: Sequence[Feature], on_progress: OnFeatures | None
) -> list[Matrix]:
    """One matrix for each of `features`; each image is decoded once and each box cut out once.

    Images are shared out to threads. Each fills rows of its own, so their number changes no result. Besides
    after every image, `on_progress` is called every BEAT seconds, so that what it raises is heard in time.
    """
    matrices = [np.empty((len(image_set), feature.size), np.float32) for feature in features]
    if not features:
        return matrices
    report = on_progress or (lambda *_: None)
    what, total = " and ".join(feature.name for feature in features), len(image_set.image_names)
    by_image = np.argsort(image_set.image_of)
    ends = np.searchsorted(image_set.image_of[by_image], np.arange(total), side="right")
    samples = np.split(by_image, ends[:-1])
    images, waiting, done, stop = iter(range(total)), set[Future[None]](), 0, Event()
    with ThreadPoolExecutor(THREADS) as pool:
        try:
            while done < total:
                for image in islice(images, 2 * THREADS - len(waiting)):
                    task = (image_set, image, samples[image], features, matrices, stop)
                    waiting.add(pool.submit(_describe, *task))
                finished, waiting = wait(waiting, BEAT, FIRST_COMPLETED)
                for future in finished:
                    future.result()
                    done += 1
                    report(what, done, total)
                if not finished:
                    report(what, done, total)
        finally:
            stop.set()
    return matrices


def _describe(
    image_set: ImageSet,
    image: int,
    samples: npt.NDArray[np.intp],
    features: Sequence[Feature],
    matrices: Sequence[Matrix],
    stop: Event,
) -> None:
    """Fill the rows of an image's `samples`, or as many as there is time for until `stop`."""
    if stop.is_set():
        return
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
        raise ValueError(
            f"{feature.name} must describe a box by {feature.size} finite numbers, got {vector.shape}"
        )
    return vector


def _cached(path: Path, shape: tuple[int, int]) -> Matrix | None:
    """The matrix in `path`; None where there is none, or (as the log says) no sound one."""
    try:
        matrix = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, EOFError) as error:
        log.warning("feature cache %s cannot be read (%s); computing it again", path.name, error)
        return None
    if matrix.shape != shape or matrix.dtype != np.float32 or not np.isfinite(matrix).all():
        came = f"{matrix.dtype} of shape {matrix.shape}"
        log.warning("feature cache %s must be finite float32 of shape %s, got %s", path.name, shape, came)
        return None
    return np.asarray(matrix)


def _keep(path: Path, matrix: Matrix) -> None:
    """Write under another name, then rename: a reader never sees half a matrix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, half_written = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.save(file, matrix)
        os.replace(half_written, path)
    except BaseException:
        Path(half_written).unlink(missing_ok=True)
        raise
