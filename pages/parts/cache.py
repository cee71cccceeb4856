"""Every cache of the pages. Keys are content keys (image set, run) and the home folder, never arrays:
Streamlit samples large arrays when it hashes them, and would return stale answers."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from zipfile import BadZipFile

import numpy as np
import streamlit as st
from PIL import Image

from pages.parts.picture import data_url
from ranking import jobs
from ranking.datasets import Thumbnails
from ranking.metrics import average_precision, ndcg, precision_recall_curve, ranking_order
from ranking.store import ENDED, Run, Store
from ranking.types import Floats, ImageSet, Ints

WHOLE_SIDE = 1200  # longest side of an image that is shown whole


class Gone(Exception):
    """Something that the address or a run names is not there (any more). The message says what to do."""


def store() -> Store:
    """The store of this server's home; what dead workers left is settled when it is first opened."""
    return _store(os.environ.get("RANKING_HOME"))


@st.cache_resource(show_spinner=False)
def _store(home: str | None) -> Store:
    opened = Store(home)
    jobs.recover(opened)
    return opened


@contextmanager
def or_gone() -> Iterator[None]:
    """What the store lacks, or cannot read, comes as Gone, which pages show; any other error is a defect of ours."""
    try:
        yield
    except (ValueError, OSError, EOFError, BadZipFile) as error:
        raise Gone(str(error)) from error


def image_set(key: str) -> ImageSet:
    with or_gone():
        return _image_set(str(store().home), key)


@st.cache_resource(show_spinner=False, max_entries=4)
def _image_set(home: str, key: str) -> ImageSet:
    return Store(home).image_set(key)


def thumbnails(key: str) -> Thumbnails:
    with or_gone():
        return _thumbnails(str(store().home), key)


@st.cache_resource(show_spinner=False, max_entries=4)
def _thumbnails(home: str, key: str) -> Thumbnails:
    return Store(home).thumbnails(key)


def whole_image(key: str, image: int) -> str:
    """Image number `image` as a data URL, its longest side at most WHOLE_SIDE."""
    with or_gone():
        return _whole_image(str(store().home), key, image)


@st.cache_data(show_spinner=False, max_entries=64)
def _whole_image(home: str, key: str, image: int) -> str:
    picture = _image_set(home, key).open_image(image)
    picture.thumbnail((WHOLE_SIDE, WHOLE_SIDE), Image.Resampling.LANCZOS)
    stream = io.BytesIO()
    tiny = max(picture.size) <= 80
    picture.save(stream, "WEBP", lossless=tiny, quality=85, method=2)
    return data_url(stream.getvalue())


@dataclass(frozen=True, eq=False)
class Ranking:
    """The samples of one split in the order of a run's scores, best first.

    samples (n,) rows of the image set; relevance (n,) and scores (n,) of them in this order.
    """

    samples: Ints
    relevance: Ints
    scores: Floats

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def positives(self) -> int:
        return int(np.count_nonzero(self.relevance))

    @cached_property
    def average_precision(self) -> float:
        return average_precision(self.relevance, self.scores)

    @cached_property
    def ndcg(self) -> float:
        return ndcg(self.relevance, self.scores)

    @cached_property
    def curve(self) -> tuple[Floats, Floats]:
        """Precision (n,) and recall (n,) at every k; ValueError where nothing is relevant."""
        precision, recall, _ = precision_recall_curve(self.relevance, self.scores)
        return precision, recall


def ranking(run: Run, split: str) -> Ranking:
    """The ranking of an ended run; Gone where it left no scores."""
    if run.state not in ENDED or not run.scores_file.exists():
        raise Gone(f"training {run.id} is {run.state} and has no scores; train again")
    with or_gone():
        return _ranking(str(store().home), run.id, split)


@st.cache_resource(show_spinner=False, max_entries=16)
def _ranking(home: str, run_id: str, split: str) -> Ranking:
    run = Store(home).run(run_id)
    images = _image_set(home, run.settings["set"])
    try:
        scores = np.load(run.scores_file, allow_pickle=False)
    except (ValueError, OSError, EOFError, BadZipFile) as error:
        raise ValueError(f"the scores of training {run_id} cannot be read ({error}); train again") from error
    if scores.shape != (len(images),):
        raise ValueError(
            f"training {run_id} must have {len(images)} scores, one a sample, "
            f"it has {scores.shape}; train again"
        )
    rows = np.flatnonzero(images.test if split == "test" else ~images.test)
    relevance = images.relevance(run.settings["query"])[rows]
    order = ranking_order(relevance, scores[rows])
    return Ranking(rows[order], relevance[order], scores[rows[order]])
