"""A home with a small image set of many labels, and a ranker of labels with its rival, trained in this process."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from ranking import worker
from ranking.datasets import build_image_set, bundled_names
from ranking.events import Report
from ranking.run import Run
from ranking.store import Store
from ranking.types import SourceBox, SourceImage

IMAGES, LABELS, SIDE = 40, 36, 8
HOSTILE = "=<b>label & 0</b>"  # a name that markup, markdown and spreadsheets would misread
NAMES = (HOSTILE, *(f"label {number}" for number in range(1, LABELS)))


@dataclass
class Boards:
    """Boards of 6 x 6 fields; a label is a field that is lit. Neighbouring fields like to be lit together."""

    name: str = "Boards"

    def title(self) -> str:
        return "Boards"

    def __len__(self) -> int:
        return IMAGES

    def records(self) -> Iterator[SourceImage]:
        generator = np.random.default_rng(0)
        for number in range(IMAGES):
            lit = generator.random(LABELS) < 0.15
            lit[1:] |= lit[:-1] & (generator.random(LABELS - 1) < 0.7)
            lit[int(generator.integers(LABELS))] = True
            box = SourceBox(None, tuple(name for name, on in zip(NAMES, lit, strict=True) if on))
            yield SourceImage(f"board {number:02d}", board(lit), (box,), test=number % 4 == 0)


def board(lit: Any) -> bytes:
    picture = Image.new("RGB", (6 * SIDE, 6 * SIDE), "#202020")
    draw = ImageDraw.Draw(picture)
    for label in np.flatnonzero(lit):
        left, top = SIDE * (int(label) % 6), SIDE * (int(label) // 6)
        draw.rectangle((left, top, left + SIDE - 1, top + SIDE - 1), fill="#f0d060")
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    return stream.getvalue()


@dataclass
class OneEach:
    """Two plain images of one label each, in the place of a bundled set, so that no import of it begins."""

    name: str

    def title(self) -> str:
        return self.name

    def __len__(self) -> int:
        return 2

    def records(self) -> Iterator[SourceImage]:
        for number in range(2):
            lit = np.arange(LABELS) == number
            box = SourceBox(None, (f"only {number}",))
            yield SourceImage(f"{self.name} {number}", board(lit), (box,), test=number == 0)


@dataclass(frozen=True)
class LabelHome:
    """The home, the key of its set and the ids of its trainings."""

    home: Path
    key: str
    own: str
    rival: str

    @property
    def store(self) -> Store:
        return Store(self.home)


def fill(home: Path, scratch: Path) -> LabelHome:
    store = Store(home)
    for name in bundled_names():
        build_image_set(OneEach(name), scratch / name)
        store.adopt(scratch / name, name)
    build_image_set(Boards(), scratch / "boards")
    key = store.adopt(scratch / "boards", "Boards")
    own, rival = (train_labels_here(store, key, name).id for name in ("C-star p@k", "Independent p@k"))
    return LabelHome(home, key, own, rival)


def train_labels_here(store: Store, key: str, method: str) -> Run:
    settings = label_settings(key, method)
    run = store.create_run("label", settings)
    report = Report(run.folder / "events.jsonl")
    store.end_run(run.id, "finished", result=worker.train_labels(store, run, report))
    report.flush()
    return store.run(run.id)


def label_settings(key: str, method: str) -> dict[str, Any]:
    return {
        "set": key,
        "features": [["HOG", {"side": 32}]],
        "method": method,
        "method_settings": {"C": 1.0, "max_iterations": 20},
        "min_images": 1,
    }
