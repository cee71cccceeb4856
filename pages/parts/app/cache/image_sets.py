"""Image sets, their pictures, and what they can be asked for."""

from __future__ import annotations

import io
import threading
from contextlib import nullcontext
from pathlib import Path

import streamlit as st
from PIL import Image

from pages.parts.app.cache.homes import EACH, Gone, _opened, or_gone, store
from pages.parts.components.picture import data_url
from ranking.core import ImageSet
from ranking.datasets import Thumbnails, load_image_set, ready_made_folder
from ranking.workspace.store import Store

TINY = 80  # longest side of an image of which every pixel counts
WHOLE_SIDE = 1200  # longest side of an image that is shown whole
LARGE = 12_000_000  # pixels; decoding one takes fifteen bytes each for a moment, so larger ones go one after the other


_one_large = threading.Lock()


def image_set(key: str) -> ImageSet:
    with or_gone():
        return _image_set(str(store().home), key)


def _image_set(home: str, key: str) -> ImageSet:
    return _image_set_at(_home_of_set(home, key), key)


def _home_of_set(home: str, key: str) -> str:
    """Where the set lies, so that what many rooms are lent is here once."""
    return str(_opened(home).home_of_set(key))


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _image_set_at(home: str, key: str) -> ImageSet:
    return Store(home).image_set(key)


class GuardedThumbnails(Thumbnails):
    """Thumbnails whose files may go away between two reads: what cannot be read comes as Gone."""

    def crop(self, i: int) -> bytes:
        with or_gone():
            return super().crop(i)

    def image(self, j: int) -> bytes:
        with or_gone():
            return super().image(j)


def thumbnails(key: str) -> Thumbnails:
    with or_gone():
        return _thumbnails(str(store().home), key)


def _thumbnails(home: str, key: str) -> Thumbnails:
    return _thumbnails_at(_home_of_set(home, key), key)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _thumbnails_at(home: str, key: str) -> Thumbnails:
    return GuardedThumbnails(_image_set_at(home, key).folder)


def ready_made() -> tuple[ImageSet, Thumbnails]:
    """The scenes that come with the program, from where they lie, which needs no home; Gone where they did not."""
    folder = ready_made_folder()
    if folder is None:
        raise Gone(
            "the scenes of data/action_figures did not come with this installation; run the laboratory from its "
            "own folder, as README.md says"
        )
    with or_gone():
        return _ready_made(str(folder))


@st.cache_resource(show_spinner=False, max_entries=1)
def _ready_made(folder: str) -> tuple[ImageSet, Thumbnails]:
    return load_image_set(Path(folder)), GuardedThumbnails(Path(folder))


def whole_image(key: str, image: int) -> str:
    """Image number `image` as a data URL, its longest side at most WHOLE_SIDE."""
    with or_gone():
        return _whole_image(str(store().home), key, image)


@st.cache_data(show_spinner=False, max_entries=64)
def _whole_image(home: str, key: str, image: int) -> str:
    return shrunk(_image_set(home, key), image)


def shrunk(images: ImageSet, image: int) -> str:
    """Image number `image` of a set as a data URL, its longest side at most WHOLE_SIDE."""
    width, height = (int(side) for side in images.image_sizes[image])
    with _one_large if width * height > LARGE else nullcontext():
        picture = images.open_image(image)
        picture.thumbnail((WHOLE_SIDE, WHOLE_SIDE), Image.Resampling.LANCZOS)
    stream = io.BytesIO()
    if max(picture.size) <= TINY:
        picture.save(stream, "WEBP", lossless=True)
        return data_url(stream.getvalue())
    picture.save(stream, "JPEG", quality=88)  # in a twentieth of the time that WebP takes: one waits for it
    return data_url(stream.getvalue(), "image/jpeg")


def splits(images: ImageSet) -> list[str]:
    """Test and train, whichever has samples."""
    return [split for split in ("test", "train") if (images.test == (split == "test")).any()]


def criteria(key: str) -> tuple[str, ...]:
    """By what the samples of an image set can be put in order; () where that cannot be known."""
    with or_gone():
        return _criteria(str(store().home), key)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _criteria(home: str, key: str) -> tuple[str, ...]:
    return Store(home).image_set(key).criteria  # not from the cache, which holds few: all sets are looked at
