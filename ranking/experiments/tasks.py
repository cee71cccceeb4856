"""Training by the task that the settings belong to, for workers and scripts.

Given an image set, for example from `ranking.datasets.load_image_set`::

    settings = TrainSettings(image_set.key, (("HOG", {}),), "jumping", "AP-SVM", {"C": 100.0})
    trained = train(image_set, settings, Path("features"))
    trained.metrics["test"]["AP"]
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ranking.core import ImageSet
from ranking.experiments.bag_training import BagTask
from ranking.experiments.label_training import LabelTask
from ranking.experiments.order_training import OrderTask
from ranking.experiments.sample_task import SampleTask
from ranking.experiments.task import Trained
from ranking.storage.run_settings import (
    AnyTrainSettings,
    BagTrainSettings,
    LabelTrainSettings,
    OrderTrainSettings,
    TrainSettings,
)


def train(image_set: ImageSet, settings: AnyTrainSettings, feature_cache: Path, **rest: Any) -> Trained:
    """Train by the task that `settings` belong to (`Task.train`)."""
    match settings:
        case TrainSettings():
            return SampleTask().train(image_set, settings, feature_cache, **rest)
        case LabelTrainSettings():
            return LabelTask().train(image_set, settings, feature_cache, **rest)
        case OrderTrainSettings():
            return OrderTask().train(image_set, settings, feature_cache, **rest)
        case BagTrainSettings():
            return BagTask().train(image_set, settings, feature_cache, **rest)
