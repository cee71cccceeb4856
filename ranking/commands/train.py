"""``python -m ranking train SET``: one training run, stored in the data folder like those of the app.

examples:
  python -m ranking train Holiday --query beach --method AP-SVM --setting C=100
  python -m ranking train Holiday --method "C-star p@k"
  python -m ranking train Cars --criterion year --method MidRank
  python -m ranking train Scenes --query horse --method "Latent AP-SVM"
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ranking.commands.naming import add_samples, features_named, set_of, settings_from, trained_methods
from ranking.commands.watching import DONE, finished, read_json
from ranking.core import ImageSet
from ranking.core.errors import InputError
from ranking.core.settings import Named, Settings
from ranking.datasets.sequences import usual_drawing
from ranking.features.graph.image_graph import UNNAMED_GRAPH, default_graph, has_edges, no_edges
from ranking.methods import method_class
from ranking.storage import jobs
from ranking.storage.run_settings import (
    AnyTrainSettings,
    BagTrainSettings,
    LabelTrainSettings,
    OrderTrainSettings,
    TrainSettings,
    train_settings,
)
from ranking.storage.store import Store

SUMMARY = "train one method and print its measures"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "set", metavar="SET", help="title, key or path of an image set, or a JSON file of settings"
    )
    parser.add_argument("--query", help="the class to rank first (methods that rank samples or images)")
    parser.add_argument("--method", choices=trained_methods(), default="AP-SVM", help="default: %(default)s")
    parser.add_argument(
        "--setting", action="append", default=[], metavar="NAME=VALUE", help="a setting of the method"
    )
    add_samples(parser)


def run(options: argparse.Namespace) -> int:
    """Train, and print the run with its measures."""
    store = Store(options.home)
    settings = _settings(store, options)
    warn_without_edges(store, settings.set, settings.graph, [settings.method])
    trained = finished(store, jobs.start(store, "train", settings.to_json()))
    print(f"run {trained.id}")
    for part in ("train", "test"):
        print(part, *(f"{name} {value:.4g}" for name, value in trained.result[part].items()), sep="  ")
    return DONE


def warn_without_edges(store: Store, key: str, graph: str | None, methods: list[str]) -> None:
    """Print to stderr which of the methods use a similarity graph, if `graph` joins no training samples."""
    # key: of an image set. graph: as in `TrainSettings`.
    using = [name for name in methods if method_class(name).uses_graph]
    edges = store.features.edges_of(key, graph)
    if using and not has_edges(store.sets.get(key), graph or UNNAMED_GRAPH, edges):
        print(no_edges(using), file=sys.stderr)


def _settings(store: Store, options: argparse.Namespace) -> AnyTrainSettings:
    if options.set.endswith(".json") and os.path.isfile(options.set):
        return train_settings(read_json(Path(options.set)))
    images = set_of(store, options.set)
    if method_class(options.method).ranks == "windows" and options.features is not None:
        raise InputError(
            "--features", f"none for {options.method}, whose windows have their own", options.features
        )
    given = settings_from("--setting", options.setting, [method_class(options.method)])
    named = options.criterion if method_class(options.method).ranks == "sequences" else options.query
    features = features_named(images, options.features)
    return training_of(images, features, options.method, given, named, options.min_images)


def training_of(
    images: ImageSet, features: Named, method: str, given: Settings, named: str | None, min_images: int
) -> AnyTrainSettings:
    """Return settings of a run of `method` on an image set: of samples, labels, sequences or images."""
    # named: the class to rank first, or the criterion to rank by; None where the set has exactly one.
    # min_images: as in `LabelTrainSettings`.
    ranks = method_class(method).ranks
    if ranks == "labels":
        return LabelTrainSettings(images.key, features, method, given, min_images)
    option, there = (
        ("--criterion", tuple(images.criteria)) if ranks == "sequences" else ("--query", images.classes)
    )
    name = there[0] if named is None and len(there) == 1 else named
    if name is None or name not in there:
        known = ", ".join(there) or f"none, because {images.title} has none"
        raise InputError(option, f"one of: {known}", name or "nothing", f"{method} needs it")
    if ranks == "windows":
        return BagTrainSettings(images.key, name, method, given)
    if ranks == "sequences":
        return OrderTrainSettings(images.key, features, name, method, given, usual_drawing(images, name))
    graph = default_graph(images) if method_class(method).uses_graph else None
    return TrainSettings(images.key, features, name, method, given, graph=graph)
