"""``python -m ranking report RUN_OR_FILE ... -o FILE.html``: write one self-contained HTML file.

It is about an experiment, or about a comparison of two to four runs.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from ranking.commands.outputs import add_outputs, check_outputs, write_comparison, write_experiment
from ranking.commands.watching import DONE, read_json
from ranking.core.errors import InputError
from ranking.core.text import readable
from ranking.reports.compared import SPLITS, Compared
from ranking.reports.findings import Findings
from ranking.storage.run import SAMPLES, Run, is_run_id
from ranking.storage.run_settings import ExperimentSettings
from ranking.storage.store import Store

SUMMARY = "write an HTML report about an experiment or a comparison"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN_OR_FILE",
        help="id of an experiment or its JSON file, or ids of two to four training runs",
    )
    parser.add_argument("-o", "--output", type=Path, required=True, help="HTML file to write")
    parser.add_argument("--split", choices=SPLITS, help="which samples a comparison ranks (default: test)")
    add_outputs(parser)


def run(options: argparse.Namespace) -> int:
    """Write the report from finished runs; nothing is trained."""
    check_outputs(options)
    store, first = Store(options.home), options.runs[0]
    if len(options.runs) == 1 and not is_run_id(first) and os.path.isfile(first):
        return _experiment(store, ExperimentSettings.from_json(read_json(Path(first))), "", options)
    runs = [_run(store, run_id) for run_id in options.runs]
    if len(runs) > 1 or runs[0].task == SAMPLES:
        return _comparison(store, runs, options)
    [run] = runs
    if run.task != "experiment":
        expected = "an experiment or training runs that rank samples"
        raise InputError(f"run {run.id}", expected, run.kind_name)
    return _experiment(store, ExperimentSettings.from_json(run.settings), run.name, options)


def _run(store: Store, run_id: str) -> Run:
    if not is_run_id(run_id):
        expected = "the id of an experiment or of a training run, or the JSON file of an experiment"
        raise InputError("RUN_OR_FILE", expected, readable(run_id))
    return store.runs.get(run_id)


def _comparison(store: Store, runs: list[Run], options: argparse.Namespace) -> int:
    if options.protocol is not None:
        expected = "none for a comparison, whose runs are reproduced by their settings"
        raise InputError("--protocol", expected, readable(str(options.protocol), 300), "remove it")
    write_comparison(Compared.at_home(store, runs, options.split or "test"), options)
    return DONE


def _experiment(store: Store, settings: ExperimentSettings, name: str, options: argparse.Namespace) -> int:
    if options.split is not None:
        expected = "none for an experiment, which reports its folds and the test split"
        raise InputError("--split", expected, options.split, "remove it")
    findings = Findings.at_home(store, settings)
    if not findings.done:
        raise InputError(
            "finished trials of this experiment",
            "at least one",
            0,
            "run the experiment first: python -m ranking experiment FILE.json",
        )
    write_experiment(findings, options, name)
    return DONE
