"""What the tests of the pages fill a home with, all of it done in this process, for speed."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imports_here import import_here
from shapes import write_shapes
from training_runs import finished

from ranking.storage.examples import folder_of
from ranking.storage.run import Run
from ranking.storage.store import Store


@dataclass(frozen=True)
class Home:
    """A filled home."""

    home: Path

    @property
    def store(self) -> Store:
        return Store(self.home)


@dataclass(frozen=True)
class Laboratory(Home):
    """Keys of its image sets and ids of its runs."""

    digits: str
    shapes: str
    figures: str
    finished: str
    on_shapes: str
    neighbours: str
    not_converged: str
    cancelled: str
    failed: str


def fill(home: Path, scratch: Path) -> Laboratory:
    """The bundled sets, a small folder of shapes with hostile names, and trainings that ended in every way."""
    store = Store(home)
    figures = store.sets.add(folder_of("Action figures"), "Action figures")
    digits = import_here(store, "Digits").result["key"]
    folder = write_shapes(scratch / "shapes")
    shapes = import_here(store, "PASCAL VOC", folder=str(folder)).result["key"]
    ended = {}
    reasons = {"failed": "ran out of *memory* <b>", "cancelled": "cancelled before any weights"}
    for state, reason in reasons.items():
        run = store.runs.create("train", train_settings(digits))
        store.runs.end(run.id, state, f"{reason}. Last report: iteration 7, gap 0.5")
        ended[state] = run.id
    few = {"C": 1.0, "unit": "paper", "max_iterations": 20, "solver": "cutting plane"}
    return Laboratory(
        home,
        digits,
        shapes,
        figures,
        neighbours=train_here(store, figures, "playing instrument", "HOB-SVM", **few).id,
        not_converged=train_here(store, digits, "4", C=1e6, tolerance=1e-7, max_iterations=2).id,
        on_shapes=train_here(store, shapes, "disc").id,
        finished=train_here(store, digits, "3", C=100.0, tolerance=1e-2).id,
        **ended,
    )


def copy_home(home: Path, target: Path) -> None:
    """Copy `home` for a test that may change it, but removes files of image sets instead of changing them."""
    # Those thousands of files are links to the same content.
    sets = home / "sets"

    def copied(source: str, destination: str) -> None:
        (os.link if Path(source).is_relative_to(sets) else shutil.copy2)(source, destination)

    shutil.copytree(home, target, copy_function=copied)


def content_of_sets(home: Path) -> dict[Path, tuple[int, int]]:
    """The files of the image sets of `home`, with what changes when one is written."""
    return {
        file: (file.stat().st_size, file.stat().st_mtime_ns)
        for file in home.glob("sets/**/*")
        if file.is_file()
    }


def train_here(store: Store, key: str, query: str, method: str = "AP-SVM", **settings: Any) -> Run:
    """A finished training."""
    return finished(store, train_settings(key, query, method, **settings))


def train_settings(key: str, query: str = "3", method: str = "AP-SVM", **settings: Any) -> dict[str, Any]:
    """The settings of a training as the worker expects them."""
    return {
        "set": key,
        "features": [["Colour", {}]],
        "query": query,
        "method": method,
        "method_settings": settings,
        "warm_start": None,
        "graph": None,
    }
