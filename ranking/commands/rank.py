"""``python -m ranking rank RUN``: the samples of an image set as a trained model ranks them, as CSV."""

from __future__ import annotations

import argparse
import csv
import sys

import numpy as np

from ranking import method_class
from ranking import rank as ranked
from ranking.commands.watching import DONE
from ranking.errors import InputError
from ranking.features import load_features
from ranking.run import Run
from ranking.run_settings import TrainSettings
from ranking.spreadsheets import guarded
from ranking.store import Store
from ranking.training import projection_of, query_of
from ranking.types import Bools, Floats, ImageSet

SUMMARY = "rank the samples of an image set by a trained model, as CSV"
PARTS = ("test", "train", "all")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help="the id of a training, as the app and `train` tell it")
    parser.add_argument("--set", help="the key of another image set; its own where this is left out")
    parser.add_argument(
        "--part", choices=PARTS, default="test", help="which of its samples (default: %(default)s)"
    )
    parser.add_argument("--top", type=_places, help="so many from the top; all where this is left out")


def run(options: argparse.Namespace) -> int:
    """Print a line a sample, from the top."""
    store = Store(options.home)
    model = store.run(options.model)
    if model.kind != "train" or not model.has_model:
        came = f"{model.called} ({model.state})"
        raise InputError(f"run {model.id}", "a training run with a model", came, "choose another run")
    settings = TrainSettings.from_json(model.settings)
    images = store.image_set(options.set or settings.set)
    rows = np.flatnonzero(_chosen(images, options.part))
    scores = _scores(store, model, settings, images)[rows]
    known = settings.query in images.classes
    table = csv.writer(sys.stdout)
    table.writerow(["rank", "score", "relevant", "sample", "image"])
    for place, number in enumerate(ranked(scores)[: options.top], start=1):
        row = rows[number]
        relevant = int(images.relevance(settings.query)[row]) if known else ""
        names = guarded(str(images.ids[row])), guarded(str(images.image_names[images.image_of[row]]))
        table.writerow([place, float(scores[number]), relevant, *names])
    return DONE


def _places(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"expected a number of places, 1 or more, got {text!r:.80}")
    return int(text)


def _chosen(images: ImageSet, part: str) -> Bools:
    every: Bools = np.ones(len(images), np.bool_)
    return {"test": images.test, "train": ~images.test, "all": every}[part]


def _scores(store: Store, model: Run, settings: TrainSettings, images: ImageSet) -> Floats:
    """(n,) of all samples of a set."""
    method, projection = method_class(settings.method).load(model.model_file), projection_of(model)
    features = load_features(images, settings.features, store.features)
    edges = store.edges_of(settings.set, settings.graph) if images.key == settings.set else None
    scores: Floats = method.score(query_of(images, settings, features, edges=edges, projection=projection))
    return scores
