"""A data folder with a small image set of many labels, and two label rankers trained in this process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filled_home import Home
from image_sets import Drawing, Records, pictures
from training_runs import worked

from ranking.commands import worker
from ranking.core import SourceBox
from ranking.datasets import build_image_set
from ranking.storage.run import Run
from ranking.storage.store import Store

IMAGES, LABELS, SIDE = 40, 36, 8
# a name that markup, markdown and spreadsheets would misread
HOSTILE = "=<b>label & 0</b>"
NAMES = (HOSTILE, *(f"label {number}" for number in range(1, LABELS)))


def boards(title: str, image: str, lit: Any) -> Records:
    """Images of boards, every fourth for testing; a label is a field that is lit."""

    def draw(number: int, _: np.random.Generator) -> Drawing:
        labels = tuple(name for name, on in zip(NAMES, lit[number], strict=True) if on)
        return f"{image} {number:02d}", board(lit[number]), (SourceBox(None, labels),)

    return pictures(title, len(lit), draw, turn=4, tested=0)


def neighbours_lit() -> Iterator[Any]:
    """Which fields of each board are lit: neighbouring ones like to be so together."""
    generator = np.random.default_rng(0)
    for _ in range(IMAGES):
        lit = generator.random(LABELS) < 0.15
        lit[1:] |= lit[:-1] & (generator.random(LABELS - 1) < 0.7)
        lit[int(generator.integers(LABELS))] = True
        yield lit


def board(lit: Any) -> np.ndarray:
    """The pixels of 6 x 6 fields, those yellow that are lit."""
    fields = np.where(np.reshape(lit, (6, 6, 1)), [240, 208, 96], 32)
    return fields.repeat(SIDE, axis=0).repeat(SIDE, axis=1)


@dataclass(frozen=True)
class LabelHome(Home):
    """The key of its set and the ids of its trainings."""

    key: str
    own: str
    baseline: str


def fill(home: Path, scratch: Path) -> LabelHome:
    store = Store(home)
    build_image_set(boards("Boards", "board", [*neighbours_lit()]), scratch / "boards")
    key = store.sets.add(scratch / "boards", "Boards")
    own, baseline = (train_labels_here(store, key, name).id for name in ("C-star p@k", "Independent p@k"))
    return LabelHome(home, key, own, baseline)


def train_labels_here(store: Store, key: str, method: str) -> Run:
    return worked(store, store.runs.create("train", label_settings(key, method)), worker.train)


def label_settings(key: str, method: str) -> dict[str, Any]:
    return {
        "task": "labels",
        "set": key,
        "features": [["HOG", {"side": 32}]],
        "method": method,
        "method_settings": {"C": 1.0, "max_iterations": 20},
        "min_images": 1,
    }
