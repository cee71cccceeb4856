"""The windows of an image set as bags: computed once, and stored under a hash of all that they depend on."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from threading import Event

import numpy as np
import numpy.typing as npt

from ranking.core import BagSet, Features, ImageSet, Ints, OnCount
from ranking.core.errors import InputError
from ranking.features import matrix_files
from ranking.features.extract import by_threads
from ranking.features.windows.candidates import candidate_windows
from ranking.features.windows.description import COLUMNS, describe_windows
from ranking.features.windows.settings import GIVEN, WindowSettings

# raised whenever the same settings give other windows or features
VERSION = 1
# bytes of float32 from which windows are stored as float16
HALF = 1 << 30

log = logging.getLogger(__name__)


def windows_of(
    image_set: ImageSet, settings: WindowSettings, cache: Path, on_count: OnCount | None = None
) -> BagSet:
    """Return one bag per image, without relevance, in the order of `image_set.image_names`, their ids."""
    # The features are a mapped file in `cache`: float32, or float16 if the windows allowed by `settings`
    # could have more than HALF bytes. If it does not exist, windows are computed and written image after
    # image; `on_count` is called after each image and every BEAT seconds, and an exception that it raises
    # ends the computation. InputError for a damaged image, and for a set that was imported with features,
    # because its images are placeholders.
    if image_set.image_features is not None:
        expected = f"images, but {image_set.title} was imported with features and has placeholders"
        raise InputError("images with windows", expected, remedy="choose a set that was imported with images")
    name = hashlib.sha256(json.dumps(["windows", VERSION, image_set.key, asdict(settings)]).encode())
    windows_file = cache / f"{name.hexdigest()}.npy"
    boxes_file = windows_file.with_suffix(".boxes.npy")
    if (bags := _read(image_set, windows_file, boxes_file)) is not None:
        return bags
    boxes: list[Ints] = []
    matrix_files.store_blocks(
        windows_file,
        _computed(image_set, settings, boxes, on_count),
        COLUMNS,
        _precision(image_set, settings),
    )
    image_of = np.repeat(np.arange(len(boxes)), [len(windows) for windows in boxes])
    matrix_files.store(boxes_file, np.column_stack([image_of, np.concatenate(boxes)]))
    kept = _read(image_set, windows_file, boxes_file)
    assert kept is not None
    return kept


def _computed(
    image_set: ImageSet, settings: WindowSettings, boxes: list[Ints], on_count: OnCount | None
) -> Iterator[Features]:
    """Yield the features of each image's windows, and append these to `boxes`."""
    by_image = np.argsort(image_set.image_of, kind="stable")
    ends = np.searchsorted(image_set.image_of[by_image], np.arange(len(image_set.image_names)), side="right")

    def windows(image: int, stop: Event) -> tuple[Ints, Features]:
        picture = image_set.open_image(image)
        samples = by_image[ends[image - 1] if image else 0 : ends[image]]
        candidates = candidate_windows(picture, settings, image_set.boxes[samples])
        return candidates, describe_windows(picture, candidates)

    for candidates, features in by_threads(windows, len(ends), on_count):
        boxes.append(candidates)
        yield features


def _precision(image_set: ImageSet, settings: WindowSettings) -> npt.DTypeLike:
    images = len(image_set.image_names)
    most = np.full(images, settings.most)
    if settings.source == GIVEN:
        most = np.minimum(most, np.bincount(image_set.image_of, minlength=images))
    return np.float16 if int((most + 1).sum()) * COLUMNS * 4 > HALF else np.float32


def _read(image_set: ImageSet, windows_file: Path, boxes_file: Path) -> BagSet | None:
    """Return the bags in two files; None if one is missing or, with a warning in the log, damaged."""
    try:
        windows = np.load(windows_file, mmap_mode="r", allow_pickle=False)
        image_of, *corners = np.load(boxes_file, allow_pickle=False).T
        images = len(image_set.image_names)
        starts = np.append(0, np.cumsum(np.bincount(image_of, minlength=images)))
        return BagSet(windows, starts, np.stack(corners, axis=1), ids=image_set.image_names)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, EOFError) as error:
        log.warning("windows %s cannot be read (%s); computing them again", windows_file.name, error)
        return None
