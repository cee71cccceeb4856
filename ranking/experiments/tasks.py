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
from ranking.experiments.bag_task import BagTask
from ranking.experiments.label_task import LabelTask
from ranking.experiments.order_task import OrderTask
from ranking.experiments.sample_task import SampleTask
from ranking.experiments.task import Trained
from ranking.storage import run_settings


def train(images: ImageSet, settings: run_settings.AnyTrainSettings, cache: Path, **rest: Any) -> Trained:
    """Train by the task that `settings` belong to (`Task.train`)."""
    match settings:
        case run_settings.TrainSettings():
            return SampleTask().train(images, settings, cache, **rest)
        case run_settings.LabelTrainSettings():
            return LabelTask().train(images, settings, cache, **rest)
        case run_settings.OrderTrainSettings():
            return OrderTask().train(images, settings, cache, **rest)
        case run_settings.BagTrainSettings():
            return BagTask().train(images, settings, cache, **rest)
