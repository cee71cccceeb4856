"""``python -m ranking comparison FILE.json``: compare two to four runs, training those that do not exist yet."""

from __future__ import annotations

import argparse
from pathlib import Path

from ranking.commands.comparing import add_outputs, check_outputs, runs_of, write_comparison
from ranking.commands.watching import DONE, FAILED, ended_well, read_json, watch
from ranking.core.errors import InputError
from ranking.jobs import jobs
from ranking.reports.compared import TOP, Compared
from ranking.reports.comparison_file import ComparisonSettings, is_bundled
from ranking.reports.comparison_files import measures_table
from ranking.reports.exports import plain
from ranking.storage import examples
from ranking.storage.store import Store

SUMMARY = "compare two to four runs, training those that do not exist yet"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", type=Path, help="a comparison file (JSON), written by the page Compare or by `report`"
    )
    parser.add_argument("-o", "--output", type=Path, help="write an HTML report to this file")
    add_outputs(parser)


def run(options: argparse.Namespace) -> int:
    """Generate a missing image set, train missing runs, and print the table of measures."""
    check_outputs(options)
    settings, store = ComparisonSettings.from_json(read_json(options.file)), Store(options.home)
    if not _has_set(store, settings):
        return FAILED
    for training, name, known in zip(
        settings.training_runs, settings.names, runs_of(store, settings), strict=True
    ):
        if known is None:
            trained = watch(store, jobs.start_once(store, "train", training.to_json()))
            if not ended_well(trained):
                return FAILED
            if name:
                store.runs.rename(trained.id, name)
    runs = [run for run in runs_of(store, settings) if run is not None]
    shown = Compared.at_home(store, runs, settings.split)
    print(plain(measures_table(shown, TOP)))
    print("runs", *(run.id for run in runs))
    write_comparison(store, shown, options)
    return DONE


def _has_set(store: Store, settings: ComparisonSettings) -> bool:
    """Return whether the image set exists, after generating it if possible; ValueError if another set results."""
    if settings.set in {row.key for row in store.sets.rows()}:
        return True
    if is_bundled(settings.set):
        store.sets.add(examples.set_folders()[settings.set], "bundled")
        return True
    if settings.source is None:
        raise InputError(
            f"image set {settings.set}",
            "an image set that was imported before, or that the file can generate",
            "neither",
            "import its files with the same settings",
        )
    made = watch(store, jobs.start_once(store, "import", settings.source.to_json()))
    if not ended_well(made):
        return False
    if made.result["key"] != settings.set:
        raise InputError(
            f"image set of {settings.source.source}",
            settings.set,
            made.result["key"],
            "use the version of this app that wrote the file, because this one generates other images",
        )
    store.keep(made.id)
    return True
