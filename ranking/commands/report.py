"""``python -m ranking report RUN_OR_FILE ... -o FILE.html``: write one self-contained HTML file about an experiment,
or about a comparison of two to four runs."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from ranking.commands.comparing import add_outputs, check_outputs, runs_of, write_comparison, write_experiment
from ranking.commands.watching import DONE, read_json
from ranking.core.errors import InputError
from ranking.core.run_settings import ExperimentSettings
from ranking.core.text import readable
from ranking.reports.compared import SPLITS, Compared
from ranking.reports.comparison_file import ComparisonSettings
from ranking.reports.findings import Findings
from ranking.storage.run import SAMPLES, Run, is_run_id
from ranking.storage.store import Store

SUMMARY = "write an HTML report about an experiment or a comparison"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN_OR_FILE",
        help="id of an experiment, ids of two to four training runs, or a JSON file of either",
    )
    parser.add_argument("-o", "--output", type=Path, required=True, help="HTML file to write")
    parser.add_argument("--split", choices=SPLITS, help="which samples a comparison ranks (default: test)")
    add_outputs(parser)


def run(options: argparse.Namespace) -> int:
    """Write the report from finished runs; nothing is trained."""
    check_outputs(options)
    store = Store(options.home)
    first = options.runs[0]
    record = read_json(Path(first)) if not is_run_id(first) and os.path.isfile(first) else None
    if record is not None and len(options.runs) > 1:
        raise InputError(
            f"arguments beside {readable(first)}",
            "none, because the file is a complete experiment or comparison",
            readable(", ".join(options.runs[1:])),
            "leave them out, or name two to four training runs by their ids",
        )
    if record is not None and "trainings" in record:
        return _comparison_of_file(store, ComparisonSettings.from_json(record), options)
    first_run = None if record is not None else _run(store, first)
    if len(options.runs) > 1 or (first_run is not None and first_run.task == SAMPLES):
        runs = [_run(store, run_id) for run_id in options.runs]
        write_comparison(store, Compared.at_home(store, runs, options.split or "test"), options)
        return DONE
    if first_run is None:
        assert record is not None
        return _experiment(store, ExperimentSettings.from_json(record), "", options)
    if first_run.task != "experiment":
        expected = "an experiment or training runs that rank samples"
        raise InputError(f"run {first_run.id}", expected, first_run.called)
    return _experiment(store, ExperimentSettings.from_json(first_run.settings), first_run.name, options)


def _run(store: Store, run_id: str) -> Run:
    if not is_run_id(run_id):
        expected = "the id of an experiment or of a training run, or a JSON file"
        raise InputError("RUN_OR_FILE", expected, readable(run_id))
    return store.runs.get(run_id)


def _comparison_of_file(store: Store, settings: ComparisonSettings, options: argparse.Namespace) -> int:
    known = runs_of(store, settings)
    runs = [run for run in known if run is not None]
    if len(runs) < len(known):
        raise InputError(
            "finished training runs of this comparison",
            f"{len(known)}",
            len(runs),
            "train the others first: python -m ranking comparison FILE.json",
        )
    write_comparison(store, Compared.at_home(store, runs, options.split or settings.split), options)
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
