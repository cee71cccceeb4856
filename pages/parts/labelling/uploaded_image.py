"""An uploaded image whose labels are ranked: a worker computes its features, and the image is not kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.parts.app import cache, home
from pages.parts.labelling import label_models
from ranking.core import LabelSet
from ranking.features.projection import projected
from ranking.files.files import IMAGE_SUFFIXES
from ranking.storage.run import Run
from ranking.storage.store import Store
from ranking.storage.uploaded_image import described, name_of

# megabytes, as for an imported image
LARGEST = 50


class UploadedImage(NamedTuple):
    """An image with the features of a model: row `row` of `images`, its data URL, and its size in pixels."""

    images: LabelSet
    row: int
    source: str
    size: tuple[int, int]


def choose(run: Run) -> UploadedImage | None:
    """Return the uploaded image with the features of the model of `run`; None if there is none."""
    file = st.file_uploader(
        "Use your own image",
        type=[suffix.removeprefix(".") for suffix in IMAGE_SUFFIXES],
        max_upload_size=LARGEST,
    )
    st.caption(
        "The image is checked and its features are computed; it is not kept. Its checksum is kept with your answers."
    )
    if file is None:
        return None
    with home.missing_as_error():
        return _described(str(home.store().home), run.id, file.getvalue())


@st.cache_resource(show_spinner="Computing the features of your image …", max_entries=4)
def _described(home: str, run_id: str, data: bytes) -> UploadedImage:
    store = Store(home)
    run = store.runs.get(run_id)
    method, _ = label_models.label_ranker(run)
    with described(store, data, run.settings["features"]) as (images, features):
        projected_features = projected(cache.projection(run), features)
        picture = cache.shrunk(images, 0)
    width, height = (int(side) for side in images.image_sizes[0])
    labels = np.zeros((1, len(method.names)), np.bool_)
    ids = np.array([name_of(data)])
    return UploadedImage(
        LabelSet(projected_features, labels, method.names, ids=ids), 0, picture, (width, height)
    )
