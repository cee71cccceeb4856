"""A small set for experiments: many images with two boxes, three classes, weakly informative features."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Any

import numpy as np
import pytest
from image_sets import image_set

from ranking.core import ImageSet
from ranking.experiments.cross_validation import trial_path as unit
from ranking.experiments.cross_validation.plan import Plan, plan_of
from ranking.experiments.cross_validation.results import Results
from ranking.experiments.cross_validation.running import run_experiment
from ranking.experiments.cross_validation.trial import Trial
from ranking.experiments.cross_validation.trial_data import SplitSide, TrialData
from ranking.experiments.cross_validation.trial_store import TrialStore
from ranking.features.graph.similarity import same_image
from ranking.storage.run_settings import Protocol

CLASSES = ("jump", "read", "run")


def images(count: int = 60, seed: int = 0, grouped: bool = False) -> ImageSet:
    """`count` images, a third of them for testing, every second with two boxes; `grouped` in threes."""
    generator = np.random.default_rng(seed)
    image = np.repeat(np.arange(count), np.where(np.arange(count) % 2, 1, 2)).astype(np.int32)
    n = len(image)
    labels = np.zeros((n, len(CLASSES)), bool)
    labels[np.arange(n), generator.integers(len(CLASSES), size=n)] = True
    key, groups = f"tiny-set-{count}-{seed}-{grouped}", image // 9 if grouped else image
    test = np.arange(count) % 3 == 2
    return image_set(image, test, key=key, classes=CLASSES, groups=groups, labels=labels)


def protocol(image_set: ImageSet, **changes: Any) -> Protocol:
    grids = {"C": (1.0, 10.0), "eta": (0.1, 1.0)}
    settings = {"folds": 3, "queries": ("jump",), "grids": grids, "widen": False}
    return Protocol(image_set.key, (("HOG", {}),), **{**settings, **changes})


def trial_data(plan: Plan, image_set: ImageSet, seed: int = 0) -> TrialData:
    """Features of the labels and of the image, with noise; the affinity compares the first half of them."""
    generator = np.random.default_rng(seed)
    patterns = generator.standard_normal((len(CLASSES), 12))
    shared = generator.standard_normal((len(image_set.image_names), 12))
    features = image_set.labels @ patterns + 0.5 * shared[image_set.image_of]
    features += 1.5 * generator.standard_normal(features.shape)
    features /= np.linalg.norm(features, axis=1, keepdims=True)

    def side(rows: Any) -> SplitSide:
        return SplitSide(rows, same_image(image_set.image_of[rows]))

    sides = {fold: (side(split.learn), side(split.held)) for fold, split in plan.splits.all.items()}
    relevance = {query: image_set.relevance(query) for query in plan.queries}
    return TrialData(features.astype(np.float32), relevance, sides, np.arange(6))


def planned(image_set: ImageSet, **changes: Any) -> Plan:
    return plan_of(protocol(image_set, **changes), image_set)


def count_training_runs(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each trial is trained from now on, by key; two that are trained at once overlap."""
    counts, plain, lock = Counter[str](), unit.train_trial, threading.Lock()

    def counted(trial_data: Any, trial: Trial, *rest: Any) -> Any:
        with lock:
            counts[trial.key] += 1
        time.sleep(0.002)
        return plain(trial_data, trial, *rest)

    monkeypatch.setattr(unit, "train_trial", counted)
    return counts


class Enough(Exception):
    """What a test raises to end an experiment."""


def run_tiny(plan: Plan, store: TrialStore, *rest: Any, count: int = 60, **options: Any) -> Results:
    """The experiment on the set `images(count)`; the rest goes to `run_experiment`."""
    return run_experiment(plan, lambda: trial_data(plan, images(count)), store, *rest, **options)
