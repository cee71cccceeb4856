"""An image of a person's own, to rank its labels: checked as imports are, described, and not kept."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.parts import cache
from ranking.datasets import build_image_set
from ranking.datasets.build import check
from ranking.features import load_features
from ranking.features.projection import projected
from ranking.run import Run
from ranking.store import Store
from ranking.types import LabelSet, SourceBox, SourceImage

LARGEST = 50  # megabytes, as of an image of an import


class Brought(NamedTuple):
    """An image as a model sees it: row `row` of `images`, its picture as a data URL, and its size in pixels."""

    images: LabelSet
    row: int
    source: str
    size: tuple[int, int]


@dataclass(frozen=True)
class OneImage:
    """A source of one image. Imports need a class; this one says nothing of the image, and nobody looks at it."""

    name: str
    data: bytes

    def title(self) -> str:
        return "This file"

    def __len__(self) -> int:
        return 1

    def records(self) -> Iterator[SourceImage]:
        yield SourceImage(self.name, self.data, (SourceBox(None, ("?",)),), test=True)


def choose(run: Run) -> Brought | None:
    """The image that a person has brought, as the model of `run` sees it; None where there is none."""
    file = st.file_uploader(
        "An image of your own: JPEG, PNG or WebP",
        type=["jpg", "jpeg", "png", "webp"],
        max_upload_size=LARGEST,
    )
    st.caption(
        "It is checked, described by the features of the model, and not kept. Your answers are, under its checksum."
    )
    if file is None:
        return None
    with cache.or_gone():
        return _described(str(cache.store().home), run.id, file.getvalue())


@st.cache_resource(show_spinner="Describing your image …", max_entries=4)
def _described(home: str, run_id: str, data: bytes) -> Brought:
    run = Store(home).run(run_id)
    method, _ = cache.label_ranker(run)
    name = f"own-{hashlib.sha256(data).hexdigest()[:16]}"
    source = OneImage(name, data)
    outcome = check(next(source.records()))
    if outcome.image is None:
        wrong = outcome.problems[0]
        raise ValueError(f"this file cannot be ranked: expected {wrong.expected}, came: {wrong.came}")
    with tempfile.TemporaryDirectory() as folder:
        images, _ = build_image_set(source, Path(folder) / "set")
        features = load_features(images, run.settings["features"], Path(folder))
        seen = projected(cache.projection(run), features)
        picture = cache.shrunk(images, 0)
    width, height = (int(side) for side in images.image_sizes[0])
    labels = np.zeros((1, len(method.names)), np.bool_)
    return Brought(LabelSet(seen, labels, method.names, ids=np.array([name])), 0, picture, (width, height))
