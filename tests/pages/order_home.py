"""A home with a small image set whose samples have years, and trainings of orders, made in this process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dated_pictures import dated
from filled_home import Home
from training_runs import worked

from ranking import method_class
from ranking.commands import worker
from ranking.experiments.order_task import held_out_sequences, make_drawing, relevances
from ranking.features import load_features
from ranking.storage.run import Run
from ranking.storage.run_settings import OrderTrainSettings
from ranking.storage.store import Store

# a name that markup, markdown and spreadsheets would misread
HOSTILE = "=<b>mid & rank</b>"
DRAWING = {"length": 6, "train": 60, "test": 15}


@dataclass(frozen=True)
class OrderHome(Home):
    """The key of its set and the ids of its trainings: on the same sequences, and one on shorter ones."""

    key: str
    own: str
    baseline: str
    shorter: str


def fill(home: Path, scratch: Path) -> OrderHome:
    store = Store(home)
    dated(scratch / "dated")
    key = store.sets.add(scratch / "dated", "Dated")
    own = train_orders_here(store, key, "MidRank", longest=4, subsequences=100)
    baseline = train_orders_here(store, key, "RankSVM")
    shorter = train_orders_here(store, key, "RankSVM", {**DRAWING, "length": 4, "first": "lowest number"})
    store.runs.rename(own.id, HOSTILE)
    return OrderHome(home, key, own.id, baseline.id, shorter.id)


def train_orders_here(
    store: Store,
    key: str,
    method: str,
    drawing: dict[str, Any] | None = None,
    criterion: str = "year",
    **settings: Any,
) -> Run:
    features = (("Colour", {"bins": 3}),)
    settings_used = OrderTrainSettings(key, features, criterion, method, settings, drawing or DRAWING)
    return worked(store, store.runs.create("train", settings_used.to_json()), worker.train)


def film_of(app: Any) -> dict[str, Any]:
    [film] = [part for part in app.get("bidi_component") if part.proto.component_name == "ranking_film"]
    return json.loads(film.proto.json)


class Recomputed:
    """The test sequences of a training and its method's scores, computed once more from its files."""

    def __init__(self, home: OrderHome, run_id: str) -> None:
        run = home.store.runs.get(run_id)
        self.settings = OrderTrainSettings.from_json(run.settings)
        self.images = home.store.sets.get(home.key)
        features = load_features(self.images, self.settings.features, home.store.features.cache)
        self.sampled = held_out_sequences(self.images, self.settings, features)
        self.relevance = list(relevances(self.sampled, make_drawing(self.settings.drawing)))
        method = method_class(self.settings.method).load(run.model_file)
        self.scores = [
            method.score(self.sampled.sequences.query(number))
            for number in range(len(self.sampled.sequences))
        ]
