"""Caches of image sets and runs for several folders of pages, keyed by the data folder and by ids, never by arrays.

Streamlit hashes only a sample of a large array, and would return stale results.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from PIL import Image

from pages.parts.app import home
from pages.parts.app.home import EACH, of_home
from ranking import method_class
from ranking.core import ImageSet
from ranking.core.settings import Named
from ranking.datasets import Thumbnails, load_image_set
from ranking.features import cached_features, load_features
from ranking.features.projection import Projection
from ranking.metrics.ranked import Ranking
from ranking.reports.markup import data_url
from ranking.storage import examples
from ranking.storage.run import Run
from ranking.storage.run_files import projection_of, read_scores

# these imports would load compiled modules before the first page is shown
if TYPE_CHECKING:
    from ranking.core import Features

# longest side in pixels of an image that is encoded without loss
TINY = 80
# longest side in pixels of a whole image
WHOLE_SIDE = 1200
# pixels; decoding takes fifteen bytes per pixel, so larger images are decoded one at a time
LARGE = 12_000_000

_large_image_lock = threading.Lock()


class NoFeatures(home.Gone):
    """The features of a run are not in the store's cache: it was trained elsewhere, or they were removed."""


# ---------------------------------------------------------------------------------------------------------
# Image sets
# ---------------------------------------------------------------------------------------------------------


def image_set(key: str) -> ImageSet:
    with home.missing_as_error():
        return _image_set_at(home.store().sets.folder(key))


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _image_set_at(folder: Path) -> ImageSet:
    """Return the image set in a folder: a set that many workspaces share is cached once."""
    return load_image_set(folder)


class GuardedThumbnails(Thumbnails):
    """Thumbnails whose files may be removed between two reads; Gone if one cannot be read."""

    def crop(self, i: int) -> bytes:
        with home.missing_as_error():
            return super().crop(i)

    def image(self, j: int) -> bytes:
        with home.missing_as_error():
            return super().image(j)


def thumbnails(key: str) -> Thumbnails:
    with home.missing_as_error():
        return _thumbnails_at(home.store().sets.folder(key))


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _thumbnails_at(folder: Path) -> Thumbnails:
    return GuardedThumbnails(folder)


def ready_made(source: str = "Action figures") -> tuple[ImageSet, Thumbnails]:
    """A bundled image set, read from the program's own folder without any store; Gone if it is missing."""
    folder = examples.folder_of(source)
    if not folder.is_dir():
        raise home.Gone(home.NO_EXAMPLES)
    with home.missing_as_error():
        return _ready_made(str(folder))


@st.cache_resource(show_spinner=False, max_entries=3)
def _ready_made(folder: str) -> tuple[ImageSet, Thumbnails]:
    return load_image_set(Path(folder)), GuardedThumbnails(Path(folder))


@of_home(entries=64)
def whole_image(key: str, image: int) -> str:
    """The image with index `image` as a data URL, its longest side at most WHOLE_SIDE."""
    return shrunk(image_set(key), image)


@contextmanager
def opened(images: ImageSet, image: int) -> Iterator[Image.Image]:
    """The image with index `image`, decoded; large images wait for each other."""
    width, height = (int(side) for side in images.image_sizes[image])
    with _large_image_lock if width * height > LARGE else nullcontext():
        yield images.open_image(image)


def shrunk(images: ImageSet, image: int) -> str:
    """The image with index `image` as a data URL, its longest side at most WHOLE_SIDE."""
    with opened(images, image) as picture:
        picture.thumbnail((WHOLE_SIDE, WHOLE_SIDE), Image.Resampling.LANCZOS)
    stream = io.BytesIO()
    if max(picture.size) <= TINY:
        picture.save(stream, "WEBP", lossless=True)
        return data_url(stream.getvalue())
    # twenty times faster than WebP, and the visitor is waiting
    picture.save(stream, "JPEG", quality=88)
    return data_url(stream.getvalue(), "image/jpeg")


def splits(images: ImageSet) -> list[str]:
    """Those of the splits "test" and "train" that have samples."""
    return [split for split in ("test", "train") if (images.test == (split == "test")).any()]


# ---------------------------------------------------------------------------------------------------------
# Training runs of any task
# ---------------------------------------------------------------------------------------------------------


def features_of(run: Run, described: Named) -> Features:
    """(n, d) features that a run learned from, before any projection; NoFeatures if they are not stored."""
    # The features of a shared run are computed when they are first needed, those of an example in about a
    # second.
    images = image_set(run.settings["set"])
    if run.shared:
        return load_features(images, described, home.common_features())
    features = cached_features(images, described, home.store().features.cache)
    if features is None:
        raise NoFeatures(f"the features of run {run.id} are not stored in this workspace; compute them again")
    return features


def folder_of_features(run: Run) -> Path:
    """The folder where the features of a run are stored, or computed into."""
    return home.common_features() if run.shared else home.store().features.cache


def method_of(run: Run) -> Any:
    """The trained method of a run."""
    return method_class(run.settings["method"]).load(run.model_file)


@of_home()
def projection(run: Run) -> Projection | None:
    """The projection of a run's features; None without one."""
    return projection_of(run)


@of_home(needs="scores")
def ranking(run: Run, split: str) -> Ranking:
    """The ranking of a split by a run, with the labels that the run was evaluated with."""
    return ranked(run, split, run.corrections)


def ranked(run: Run, split: str, corrections: Sequence[str]) -> Ranking:
    """The ranking of a split by a run, with the labels of the samples `corrections` corrected."""
    images = image_set(run.settings["set"])
    scores = read_scores(run.scores_file, f"run {run.id}", len(images))
    rows = np.flatnonzero(images.test if split == "test" else ~images.test)
    return Ranking.of(rows, images.relevance(run.settings["query"], corrections)[rows], scores[rows])
