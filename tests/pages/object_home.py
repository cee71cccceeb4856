"""A home with a small image set to find objects in, and localisation runs, made in this process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from filled_home import Home
from hidden_squares import settings_of, squares_of
from training_runs import worked

from ranking.commands import worker
from ranking.storage.run import Run
from ranking.storage.store import Store


@dataclass(frozen=True)
class ObjectHome(Home):
    """The key of its set and the ids of its runs: from several starts, and one that learned nothing."""

    key: str
    several: str
    nothing: str


def fill(home: Path, scratch: Path) -> ObjectHome:
    store = Store(home)
    key = squares_of(store).key
    several = train_here(store, key, start="several")
    nothing = train_here(store, key, C=1e-4)
    return ObjectHome(home, key, several.id, nothing.id)


def train_here(store: Store, key: str, **settings: float | str) -> Run:
    run = store.runs.create("train", settings_of(key, **settings).to_json())
    return worked(store, run, worker.train)
