"""A small set whose title, classes and image names try to break out of what shows them, and an experiment on it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from ranking.datasets import build_image_set
from ranking.experiments.at_home import experiment_at_home
from ranking.run import Run
from ranking.run_settings import ExperimentSettings
from ranking.store import Store
from ranking.types import ImageSet, Problem, SourceBox, SourceImage

SCRIPT = "<script>alert(1)</script>"
CLASSES = (f'red {SCRIPT}" onload="alert(2)', "blue [x](javascript:alert(3)) | $q$ & \\")
TITLE = f"Set </title>{SCRIPT}"
SIDE = 12


@dataclass
class HostilePatches:
    """Forty patches of one or two boxes, every fourth for testing; red ones and blue ones, not quite told apart."""

    count: int = 40

    def title(self) -> str:
        return TITLE

    def __len__(self) -> int:
        return self.count

    def records(self) -> Iterator[SourceImage | Problem]:
        random = np.random.default_rng(0)
        for number in range(self.count):
            is_red = bool(random.random() < 0.5)
            pixels = random.normal(100, 45, (SIDE, 2 * SIDE, 3))
            pixels[..., 0 if is_red else 2] += 45
            file = io.BytesIO()
            Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(file, "PNG")
            shown = (CLASSES[0] if is_red else CLASSES[1],)
            boxes = (SourceBox((0, 0, SIDE, SIDE), shown), SourceBox((SIDE, 0, 2 * SIDE, SIDE), shown))
            name = f"{number:02} '{SCRIPT}\""
            yield SourceImage(name, file.getvalue(), boxes[: 1 + number % 2], test=number % 4 == 3)


def fill(home: Path, folder: Path) -> ImageSet:
    """The set in the store of `home`, made in `folder`."""
    store = Store(home)
    build_image_set(HostilePatches(), folder)
    return store.image_set(store.adopt(folder, "Patches"))


def asked(images: ImageSet, **changes: Any) -> ExperimentSettings:
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
    run = store.create_run("experiment", settings.to_json())
    results = experiment_at_home(store, settings, lambda progress: None)
    done = len(results.outcomes)
    store.end_run(run.id, "finished", result={"done": done, "total": done, "unproven": 0})
    if name:
        store.name_run(run.id, name)
    return store.run(run.id)
