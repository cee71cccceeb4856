"""A training of a ranker of labels from an image set to how well it ranks (c-star, section 5).

Given an image set whose samples are images, for example from `ranking.datasets.load_image_set`::

    settings = LabelTrainSettings(image_set.key, (("GIST", {}),), "C-star p@k", {"core_size": 3})
    trained = train_labels(image_set, settings, Path("features"))
    trained.metrics["test"]["BEP"]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ranking.core import Certificate, ImageSet, LabelSet, OnProgress, OnStep
from ranking.core.run_settings import AskingSettings, LabelTrainSettings
from ranking.datasets.label_sets import label_set
from ranking.explain.asking import mean_break_even_precision
from ranking.features import load_features
from ranking.features.projection import Projection, fit_projection, projected
from ranking.methods import check_ranks, make_method
from ranking.methods.label_ranker import LabelRanker

BLOCK = 128  # images that are ranked at a time: what is known of them at once stays small


@dataclass(frozen=True, eq=False)
class TrainedLabels:
    """What came of a training: the fitted method, `label_metrics` of "train" and of "test", and what is proven.

    projection: through which the method sees features; None where it sees them as they are.
    """

    method: LabelRanker
    metrics: dict[str, dict[str, float]]
    certificate: Certificate | None
    projection: Projection | None = None


def train_labels(
    image_set: ImageSet,
    settings: LabelTrainSettings,
    feature_cache: Path,
    on_step: OnStep | None = None,
    on_iteration: OnProgress | None = None,
    on_fitted: Callable[[], None] | None = None,
) -> TrainedLabels:
    """Train a ranker of labels on the training images of a set, and evaluate both parts.

    on_step hears of the features and of the beginning of training, on_iteration every iteration, and on_fitted that
    there are weights. `settings.set` has been followed by the caller, who gives the set. ValueError for settings that
    make no training.
    """
    method = make_label_ranker(settings.method, settings.method_settings)
    images = label_set_of(image_set, settings, feature_cache, on_step)
    projection = fit_projection(settings.projection, images.features, ~images.test, on_step)
    images = seen_through(projection, images)
    if on_step is not None:
        on_step("Training", 0, 1)
    learn = images.part(~images.test)
    method.fit(learn, on_progress=on_iteration)
    if on_fitted is not None:
        on_fitted()
    metrics = {
        "train": label_metrics(method, learn),
        "test": label_metrics(method, images.part(images.test)),
    }
    return TrainedLabels(method, metrics, method.certificate, projection)


def make_label_ranker(name: str, settings: dict[str, Any]) -> LabelRanker:
    """The method `name`, not yet trained; ValueError unless it ranks the labels of images."""
    check_ranks(name, "labels")
    method: LabelRanker = make_method(name, **settings)
    return method


def label_set_of(
    image_set: ImageSet,
    settings: LabelTrainSettings | AskingSettings,
    feature_cache: Path,
    on_step: OnStep | None = None,
) -> LabelSet:
    """The images of a set, with the labels and the features that `settings` name, these before any projection."""
    features = load_features(image_set, settings.features, feature_cache, on_step)
    return label_set(image_set, features, settings.min_images)


def seen_through(projection: Projection | None, images: LabelSet) -> LabelSet:
    """The images with their features through a projection; as they are where there is none."""
    return images if projection is None else replace(images, features=projected(projection, images.features))


def label_metrics(method: LabelRanker, images: LabelSet) -> dict[str, float]:
    """BEP: the mean over images with labels of the precision at as many labels as the image has. images: how many.

    No BEP where no image has a label: there is no such precision.
    """
    total, count = 0.0, 0
    for block in labelled_blocks(images):
        scores = method.scores(block, block.labels.sum(axis=1))
        total += len(block) * mean_break_even_precision(block, scores)
        count += len(block)
    return {"BEP": total / count, "images": float(count)} if count else {"images": 0.0}


def labelled_blocks(images: LabelSet) -> Iterator[LabelSet]:
    """The images that have labels, BLOCK at a time."""
    rows = np.flatnonzero(images.labels.any(axis=1))
    for start in range(0, len(rows), BLOCK):
        yield images.part(rows[start : start + BLOCK])
