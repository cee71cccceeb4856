"""``python -m ranking experiment SET``: compare methods and print the tables of the paper.

Methods that rank samples are compared by cross-validation, with a few queries and values of C unless a JSON protocol
is given. Label rankers are compared by a labelling simulation in folds. Sequence-ranking methods train and test on the
same sequences.

examples:
  python -m ranking experiment Holiday -o report.html
  python -m ranking experiment Holiday --methods "Independent p@k" "C-star p@k"
  python -m ranking experiment Cars --criterion year --methods RankSVM MidRank
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from ranking.commands.naming import add_samples, features_named, set_of, trained_methods
from ranking.commands.outputs import OUTPUTS, add_outputs, check_outputs, write_experiment
from ranking.commands.train import training_of, warn_without_edges
from ranking.commands.watching import DONE, finished, read_json
from ranking.core import ImageSet
from ranking.core.errors import InputError
from ranking.core.settings import Named
from ranking.core.text import readable
from ranking.experiments.cross_validation.comparisons import difference_table
from ranking.experiments.cross_validation.tables import (
    Row,
    Table,
    chosen_table,
    seconds_table,
    test_table,
    validation_table,
)
from ranking.explain.question_strategies import STRATEGIES
from ranking.features.graph.image_graph import default_graph
from ranking.methods import method_class
from ranking.metrics.fold_curves import curves_of
from ranking.reports.exports import plain
from ranking.reports.findings import Findings
from ranking.storage import jobs
from ranking.storage.run_settings import SMALL_GRIDS, ExperimentSettings, Protocol, SimulationSettings
from ranking.storage.store import Store

# number of queries compared by default
FEW_QUERIES = 3
SUMMARY = "compare methods by cross-validation and print the tables"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "set", metavar="SET", help="title, key or path of an image set, or a protocol (JSON file)"
    )
    parser.add_argument(
        "--methods", nargs="+", choices=trained_methods(), default=["SVM", "AP-SVM"], metavar="METHOD"
    )
    parser.add_argument("--queries", nargs="+", default=[], metavar="CLASS", help="default: the first three")
    add_samples(parser)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--scheduler", help="address of a Dask scheduler whose workers train")
    parser.add_argument("-o", "--output", type=Path, help="write an HTML report to this file")
    add_outputs(parser)


def run(options: argparse.Namespace) -> int:
    """Train what is missing, and print the tables."""
    check_outputs(options)
    store = Store(options.home)
    if not _is_file(options):
        images = set_of(store, options.set)
        ranks = {method_class(name).ranks for name in options.methods}
        if len(ranks) > 1 or ranks == {"windows"}:
            raise InputError(
                "--methods", "methods for one task: samples, labels or sequences", ", ".join(options.methods)
            )
        if ranks != {"samples"}:
            return (_ask if ranks == {"labels"} else _order)(store, images, options)
    settings = _settings(options) if _is_file(options) else _small(images, options)
    warn_without_edges(store, settings.set, settings.graph, [name for name, _ in settings.methods])
    finished(store, jobs.start_once(store, "study", settings.to_json()))
    findings = Findings.at_home(store, settings)
    tables = [
        make(findings.results)
        for make in (validation_table, test_table, chosen_table, difference_table, seconds_table)
    ]
    print("\n\n".join(map(plain, tables)))
    write_experiment(findings, options)
    return DONE


def _is_file(options: argparse.Namespace) -> bool:
    return bool(options.set.endswith(".json") and os.path.isfile(options.set))


def _small(images: ImageSet, options: argparse.Namespace) -> ExperimentSettings:
    """Return the settings of the small experiment, the app's default."""
    return ExperimentSettings(
        images.key,
        features_named(images, options.features),
        tuple((name, {}) for name in options.methods),
        tuple(options.queries) or images.classes[:FEW_QUERIES],
        SMALL_GRIDS,
        options.folds,
        graph=default_graph(images),
        scheduler=options.scheduler,
    )


def _ask(store: Store, images: ImageSet, options: argparse.Namespace) -> int:
    """Label rankers: print break-even precision after each question, one row per method and strategy."""
    _check_no_report(options)
    features = features_named(images, options.features)
    methods: Named = tuple((name, {}) for name in options.methods)
    settings = SimulationSettings(
        images.key, features, methods, tuple(STRATEGIES), folds=options.folds, min_images=options.min_images
    )
    ended = finished(store, jobs.start_once(store, "study", settings.to_json()))
    rows = [
        Row(f"{curve.name}, {curve.strategy}", tuple(map(float, curve.mean)), (False,) * len(curve.mean))
        for curve in curves_of(ended.result["curves"])
    ]
    after = tuple(str(count) for count in range(settings.questions + 1))
    print(plain(Table("Break-even precision by number of questions, mean over folds", after, tuple(rows))))
    return DONE


def _order(store: Store, images: ImageSet, options: argparse.Namespace) -> int:
    """Sequence-ranking methods: print the measures of each on the same test sequences."""
    _check_no_report(options)
    features, rows, names = features_named(images, options.features), [], tuple[str, ...]()
    for name in options.methods:
        settings = training_of(images, features, name, {}, options.criterion, options.min_images)
        ended = finished(store, jobs.start_once(store, "train", settings.to_json()))
        names = tuple(ended.result["test"])
        values = tuple(float(value) for value in ended.result["test"].values())
        rows.append(Row(name, values, (False,) * len(values)))
    print(plain(Table("Test sequences, each method with its default settings", names, tuple(rows))))
    return DONE


def _check_no_report(options: argparse.Namespace) -> None:
    outputs = [name for name in OUTPUTS if getattr(options, name) is not None]
    if outputs:
        raise InputError(
            f"--{outputs[0]}", "methods that rank samples, because other methods have no reports", "others"
        )


def _settings(options: argparse.Namespace) -> ExperimentSettings:
    """Return the settings in the file."""
    # Only the command may name a scheduler, because a scheduler can run any code.
    record = read_json(Path(options.set))
    scheduler = record.pop("scheduler", None)
    if scheduler is not None:
        raise InputError(
            f"scheduler in {readable(options.set, 300)}",
            "none, because this computer runs what a scheduler sends",
            readable(str(scheduler)),
            "remove it, and name a scheduler that you trust with --scheduler",
        )
    protocol = Protocol.from_json(record)
    return ExperimentSettings.from_json({**protocol.to_json(), "scheduler": options.scheduler})
