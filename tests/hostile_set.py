"""A small set whose names try to break out of what shows them, and an experiment on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from image_sets import Drawing, pictures

from ranking.core import ImageSet, SourceBox
from ranking.datasets import build_image_set
from ranking.experiments.cross_validation.experiment import Experiment
from ranking.experiments.cross_validation.trial_store import FOLDER
from ranking.experiments.study import Context
from ranking.storage.run import Run
from ranking.storage.run_settings import ExperimentSettings
from ranking.storage.store import Store

SCRIPT = "<img src=x onerror=alert(1)><script>alert(1)</script>"
CLASSES = (f'red {SCRIPT}" onload="alert(2)', "blue [x](javascript:alert(3)) | $q$ & \\")
CRITERION = f"year {SCRIPT}"
TITLE = f"Set </title>{SCRIPT}"
SIDE = 12


def draw(number: int, random: np.random.Generator) -> Drawing:
    """One box or two; red ones and blue ones, not quite told apart."""
    is_red = bool(random.random() < 0.5)
    pixels = random.normal(100, 45, (SIDE, 2 * SIDE, 3))
    pixels[..., 0 if is_red else 2] += 45
    shown = (CLASSES[0] if is_red else CLASSES[1],)
    numbers = {CRITERION: 1920.0 + number}
    boxes = [SourceBox((left, 0, left + SIDE, SIDE), shown, numbers=numbers) for left in (0, SIDE)]
    return f"{number:02} '{SCRIPT}\"", pixels, tuple(boxes[: 1 + number % 2])


PICTURES = pictures(TITLE, 40, draw, turn=4)


def fill(home: Path, folder: Path) -> ImageSet:
    """The set in the store of `home`, made in `folder`."""
    store = Store(home)
    build_image_set(PICTURES, folder)
    return store.sets.get(store.sets.add(folder, "Patches"))


def store_of(home: Path) -> Store:
    """A home with the set."""
    fill(home, home / "built")
    return Store(home)


def experiment_settings(images: ImageSet, **changes: Any) -> ExperimentSettings:
    """A small experiment on the set."""
    settings = {
        "set": images.key,
        "features": [["Colour", {}]],
        "methods": [["SVM", {}], ["HOB-SVM", {}]],
        "grids": {"C": [1.0, 10.0], "eta": [0.1, 1.0]},
        "folds": 3,
    }
    return ExperimentSettings.from_json({**settings, **changes})


def run_here(store: Store, settings: ExperimentSettings, name: str = "") -> Run:
    """An experiment that has finished, run in this process."""
    run = store.runs.create("study", settings.to_json())
    images = store.sets.get(settings.set)
    result = Experiment().run(settings, Context(images, store.features.cache, (store.home / FOLDER,)))
    store.runs.end(run.id, "finished", result={**result, "unproven": 0})
    if name:
        store.runs.rename(run.id, name)
    return store.runs.get(run.id)
