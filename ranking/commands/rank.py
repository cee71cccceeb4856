"""``python -m ranking rank RUN``: rank samples with a trained model, and print them as CSV.

A label ranker ranks the labels of each image; a model of sequences ranks its test sequences; a model of windows ranks
images, each with its best window.

examples:
  python -m ranking rank k3v9x2m1qa --top 20
  python -m ranking rank k3v9x2m1qa --set photographs/
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Iterable

import numpy as np

from ranking.commands.naming import set_of
from ranking.commands.watching import DONE
from ranking.core import Bools, Features, Floats, ImageSet, LabelSet, SampleMethod
from ranking.core.errors import InputError
from ranking.core.spreadsheets import guarded
from ranking.datasets.label_sets import label_set
from ranking.experiments.bag_task import make_windows
from ranking.experiments.order_task import Ordered, held_out_sequences, make_drawing
from ranking.experiments.sample_task import query_of
from ranking.features import load_features
from ranking.features.projection import projected
from ranking.features.windows.bags import windows_of
from ranking.inference.best_windows import best_windows
from ranking.methods import load_method
from ranking.methods.bag_method import BagMethod
from ranking.methods.label_ranker import LabelRanker
from ranking.methods.order_method import OrderMethod
from ranking.metrics import rank as ranked
from ranking.storage.run import Run
from ranking.storage.run_files import projection_of
from ranking.storage.run_settings import (
    BagTrainSettings,
    LabelTrainSettings,
    OrderTrainSettings,
    TrainSettings,
)
from ranking.storage.store import Store

SUMMARY = "rank the samples of an image set with a trained model (CSV)"
Write = Callable[[Iterable[object]], object]
PARTS = ("test", "train", "all")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", metavar="RUN", help="id of a training run, as printed by `train` or shown in the app"
    )
    parser.add_argument(
        "--set", help="title, key or path of another image set (default: the one it was trained on)"
    )
    parser.add_argument("--part", choices=PARTS, default="test", help="which samples (default: %(default)s)")
    parser.add_argument("--top", type=_places, help="number of top-ranked samples to print (default: all)")


def run(options: argparse.Namespace) -> int:
    """Print one line per sample, highest rank first."""
    store = Store(options.home)
    model = store.runs.get(options.model)
    if not model.is_training or not model.has_model:
        came = f"{model.kind_name} ({model.state})"
        raise InputError(f"run {model.id}", "a training run with a model", came, "choose another run")
    images = set_of(store, options.set or model.settings["set"])
    table = csv.writer(sys.stdout)
    rank_by = {
        "samples": _rank_samples,
        "labels": _rank_labels,
        "sequences": _rank_sequences,
        "windows": _rank_images,
    }[model.task]
    rank_by(store, model, images, options, table.writerow)
    return DONE


def _rank_samples(
    store: Store, model: Run, images: ImageSet, options: argparse.Namespace, write: Write
) -> None:
    settings = TrainSettings.from_json(model.settings)
    rows = np.flatnonzero(_chosen(images, options.part))
    scores = _scores(store, model, settings, images)[rows]
    known = settings.query in images.classes
    corrected = settings.corrections if images.key == settings.set else ()
    relevance = images.relevance(settings.query, corrected) if known else None
    write(["rank", "score", "relevant", "sample", "image"])
    for place, number in enumerate(ranked(scores)[: options.top], start=1):
        row = rows[number]
        relevant = "" if relevance is None else int(relevance[row])
        names = guarded(str(images.ids[row])), guarded(str(images.image_names[images.image_of[row]]))
        write([place, float(scores[number]), relevant, *names])


def _rank_labels(
    store: Store, model: Run, images: ImageSet, options: argparse.Namespace, write: Write
) -> None:
    """Print the labels of each image, highest rank first."""
    settings = LabelTrainSettings.from_json(model.settings)
    method = load_method(LabelRanker, settings.method, model.model_file)
    features = projected(projection_of(model), _features(store, settings, images))
    every = label_set(images, features)
    labels = np.zeros((len(every), len(method.names)), np.bool_)
    for column, name in enumerate(method.names):
        if name in every.names:
            labels[:, column] = every.labels[:, every.names.index(name)]
    known = LabelSet(every.features, labels, method.names, every.test, images.image_names)
    chosen = known.part(
        {"test": every.test, "train": ~every.test, "all": np.ones(len(every), np.bool_)}[options.part]
    )
    write(["image", "rank", "label", "score", "relevant"])
    for image, scores in enumerate(method.scores(chosen)):
        for place, label in enumerate(ranked(scores)[: options.top], start=1):
            relevant = int(chosen.labels[image, label])
            name = guarded(str(chosen.ids[image]))
            write([name, place, guarded(method.names[label]), float(scores[label]), relevant])


def _rank_sequences(
    store: Store, model: Run, images: ImageSet, options: argparse.Namespace, write: Write
) -> None:
    """Print the test sequences, first position first."""
    if options.part != "test":
        raise InputError("--part", "test for a model that orders sequences", options.part, "leave --part out")
    settings = OrderTrainSettings.from_json(model.settings)
    method = load_method(OrderMethod, settings.method, model.model_file)
    features = projected(projection_of(model), _features(store, settings, images))
    held_out = held_out_sequences(images, settings, features)
    ranked = Ordered.of(held_out, method.score_sequences(held_out.sequences), make_drawing(settings.drawing))
    numbers = images.numbers_of(settings.criterion)
    write(["sequence", "rank", settings.criterion, "sample", "image"])
    for number in range(len(ranked)):
        for place, row in enumerate(ranked.samples(number)[ranked.order(number)][: options.top], start=1):
            name = guarded(str(images.image_names[images.image_of[row]]))
            write([number + 1, place, float(numbers[row]), guarded(str(images.ids[row])), name])


def _rank_images(
    store: Store, model: Run, images: ImageSet, options: argparse.Namespace, write: Write
) -> None:
    """Print the images with their best windows, highest rank first."""
    settings = BagTrainSettings.from_json(model.settings)
    method = load_method(BagMethod, settings.method, model.model_file)
    bags = windows_of(images, make_windows(settings.windows), store.features.cache)
    windows = method.window_scores(bags)
    best = best_windows(windows, bags.starts)
    scores = windows[best]
    relevance = images.image_relevance(settings.query) if settings.query in images.classes else None
    parts = {"test": images.image_test, "train": ~images.image_test, "all": np.ones(len(bags), np.bool_)}
    rows = np.flatnonzero(parts[options.part])
    write(["rank", "score", "relevant", "image", "left", "top", "right", "bottom"])
    for place, number in enumerate(ranked(scores[rows])[: options.top], start=1):
        row = rows[number]
        relevant = "" if relevance is None else int(relevance[row])
        name = guarded(str(images.image_names[row]))
        write([place, float(scores[row]), relevant, name, *map(int, bags.boxes[best[row]])])


def _places(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text!r:.80}")
    return int(text)


def _chosen(images: ImageSet, part: str) -> Bools:
    every: Bools = np.ones(len(images), np.bool_)
    return {"test": images.test, "train": ~images.test, "all": every}[part]


def _features(
    store: Store, settings: TrainSettings | LabelTrainSettings | OrderTrainSettings, images: ImageSet
) -> Features:
    """Return the features of a set; given features are scaled as in the set that the model was trained on."""
    same = images.key == settings.set or images.image_features is None
    trained = images if same else store.sets.get(settings.set)
    return load_features(images, settings.features, store.features.cache, scaled_by=trained)


def _scores(store: Store, model: Run, settings: TrainSettings, images: ImageSet) -> Floats:
    """Return (n,) scores of all samples of a set."""
    method, projection = load_method(SampleMethod, settings.method, model.model_file), projection_of(model)
    features = _features(store, settings, images)
    edges = store.features.edges_of(settings.set, settings.graph) if images.key == settings.set else None
    scores: Floats = method.score(query_of(images, settings, features, edges=edges, projection=projection))
    return scores
