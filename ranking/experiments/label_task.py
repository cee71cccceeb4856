"""Training of label rankers, and their measures (c-star, section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from ranking.core import ImageSet, Ints, LabelSet, OnProgress, OnStep
from ranking.datasets.label_sets import label_set
from ranking.experiments.task import Measured, Task
from ranking.explain.question_strategies import mean_break_even_precision
from ranking.features import load_features
from ranking.features.projection import Projection, fit_projection, projected
from ranking.methods.label_ranker import LabelRanker
from ranking.storage.run_settings import LabelTrainSettings, SimulationSettings

# images that are ranked at a time, to save memory
BLOCK = 128


class LabelTask(Task[LabelTrainSettings, LabelSet, LabelRanker]):
    """Ranking the labels of each image."""

    settings = LabelTrainSettings
    method = LabelRanker

    def check(self, images: ImageSet, settings: LabelTrainSettings) -> None:
        """Check nothing: `label_set` raises the errors."""

    def data(
        self,
        images: ImageSet,
        settings: LabelTrainSettings,
        cache: Path,
        on_step: OnStep | None,
        edges: Ints | None,
    ) -> tuple[LabelSet, Projection | None]:
        labelled = label_set_of(images, settings, cache, on_step)
        projection = fit_projection(settings.projection, labelled.features, ~labelled.test, on_step)
        return seen_through(projection, labelled), projection

    def fit(
        self, method: LabelRanker, data: LabelSet, on_progress: OnProgress, warm_start: LabelRanker | None
    ) -> None:
        method.fit(data.part(~data.test), on_progress=on_progress)

    def measure(self, method: LabelRanker, data: LabelSet) -> Measured:
        parts = {"train": data.part(~data.test), "test": data.part(data.test)}
        return Measured({name: label_metrics(method, part) for name, part in parts.items()})


def label_set_of(
    image_set: ImageSet,
    settings: LabelTrainSettings | SimulationSettings,
    feature_cache: Path,
    on_step: OnStep | None = None,
) -> LabelSet:
    """Return the images of a set, with the labels and the features (before any projection) that `settings` name."""
    features = load_features(image_set, settings.features, feature_cache, on_step)
    return label_set(image_set, features, settings.min_images)


def seen_through(projection: Projection | None, images: LabelSet) -> LabelSet:
    """Return the images with projected features; unchanged for None."""
    return images if projection is None else replace(images, features=projected(projection, images.features))


def label_metrics(method: LabelRanker, images: LabelSet) -> dict[str, float]:
    """Return BEP, the mean break-even precision over images with labels, if any, and images, their number."""
    total, count = 0.0, 0
    for block in labelled_blocks(images):
        scores = method.scores(block, block.labels.sum(axis=1))
        total += len(block) * mean_break_even_precision(block, scores)
        count += len(block)
    return {"BEP": total / count, "images": float(count)} if count else {"images": 0.0}


def labelled_blocks(images: LabelSet) -> Iterator[LabelSet]:
    """Yield the images that have labels, in blocks of BLOCK."""
    rows = np.flatnonzero(images.labels.any(axis=1))
    for start in range(0, len(rows), BLOCK):
        yield images.part(rows[start : start + BLOCK])
