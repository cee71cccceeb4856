"""``python -m ranking train FILE.json``: one training, kept in the home like those of the app."""

from __future__ import annotations

import argparse
from pathlib import Path

from ranking import jobs
from ranking.commands.watching import DONE, FAILED, ended_well, read_json, watch
from ranking.run_settings import TrainSettings
from ranking.store import Store

SUMMARY = "train one method and print its measures"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", type=Path, help="settings of a training as JSON: set, features, query, method, ..."
    )


def run(options: argparse.Namespace) -> int:
    """Train, and print the run with its measures."""
    settings = TrainSettings.from_json(read_json(options.file))
    store = Store(options.home)
    trained = watch(store, jobs.start(store, "train", settings.to_json()))
    if not ended_well(trained):
        return FAILED
    print(f"run {trained.id}")
    for part in ("train", "test"):
        print(part, *(f"{name} {value:.4g}" for name, value in trained.result[part].items()), sep="  ")
    return DONE
