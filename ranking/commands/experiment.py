"""``python -m ranking experiment FILE.json``: methods compared by cross-validation, and the tables of the paper."""

from __future__ import annotations

import argparse
from pathlib import Path

from ranking import jobs
from ranking.commands.comparing import add_outputs, check_outputs, write_experiment
from ranking.commands.watching import DONE, FAILED, ended_well, read_json, watch
from ranking.errors import InputError
from ranking.experiments.comparisons import difference_table
from ranking.experiments.exports import plain
from ranking.experiments.tables import chosen_table, seconds_table, test_table, validation_table
from ranking.reports.findings import Findings
from ranking.run_settings import ExperimentSettings, Protocol
from ranking.store import Store
from ranking.text import readable

SUMMARY = "compare methods by cross-validation and print the tables"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", type=Path, help="a protocol as JSON: set, features, methods, grids, folds, seed, ..."
    )
    parser.add_argument("--scheduler", help="the address of a Dask scheduler whose workers train")
    parser.add_argument("-o", "--output", type=Path, help="write the report there as one HTML file")
    add_outputs(parser)


def run(options: argparse.Namespace) -> int:
    """Train what is not there yet, and print the tables."""
    check_outputs(options)
    settings, store = _settings(options), Store(options.home)
    if not ended_well(watch(store, jobs.start_once(store, "experiment", settings.to_json()))):
        return FAILED
    findings = Findings.at_home(store, settings)
    tables = [
        make(findings.results)
        for make in (validation_table, test_table, chosen_table, difference_table, seconds_table)
    ]
    print("\n\n".join(map(plain, tables)))
    write_experiment(findings, options)
    return DONE


def _settings(options: argparse.Namespace) -> ExperimentSettings:
    """Those of the file, and the scheduler of the command alone: whoever is connected to one runs what it sends."""
    told = read_json(options.file)
    scheduler = told.pop("scheduler", None)
    if scheduler is not None:
        raise InputError(
            f"scheduler in {readable(str(options.file), 300)}",
            "none, because this computer runs what a scheduler sends",
            readable(str(scheduler)),
            "remove it, and name a scheduler that you trust with --scheduler",
        )
    protocol = Protocol.from_json(told)
    return ExperimentSettings.from_json({**protocol.to_json(), "scheduler": options.scheduler})
