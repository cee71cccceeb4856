"""``python -m ranking report RUN_OR_FILE -o FILE.html``: an experiment as one file that needs nothing else."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ranking.commands.watching import DONE, read_json
from ranking.datasets import Thumbnails
from ranking.experiments.exports import cells_csv, write_parquet
from ranking.reports.differences import differences
from ranking.reports.files import latex_tables, protocol_json
from ranking.reports.findings import Findings
from ranking.reports.report import report_html
from ranking.run import is_run_id
from ranking.run_settings import ExperimentSettings
from ranking.store import Store

SUMMARY = "write an experiment as one HTML file, with its tables, charts and galleries"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("experiment", help="the id of an experiment, or its protocol as a JSON file")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the HTML file to write")
    parser.add_argument("--csv", type=Path, help="write all cells there")
    parser.add_argument("--parquet", type=Path, help="write all cells there")
    parser.add_argument("--latex", type=Path, help="write the tables there")
    parser.add_argument("--protocol", type=Path, help="write the JSON there that makes the experiment again")


def run(options: argparse.Namespace) -> int:
    """Write what is there of an experiment; nothing is trained."""
    store = Store(options.home)
    settings, name = asked(store, options.experiment)
    findings = Findings.at_home(store, settings)
    if not findings.done:
        raise ValueError(
            "nothing of this experiment is in this home yet; run it first: python -m ranking experiment FILE.json"
        )
    crops = Thumbnails(findings.images.folder)
    _write(options.output, report_html(findings, differences(findings), crops, name))
    if options.csv:
        _write(options.csv, cells_csv(findings.results))
    if options.parquet:
        write_parquet(findings.results, options.parquet)
    if options.latex:
        _write(options.latex, latex_tables(findings.results))
    if options.protocol:
        _write(options.protocol, protocol_json(settings))
    told = (
        "" if findings.done == findings.planned else f", {findings.done:,} of {findings.planned:,} trainings"
    )
    print(f"{options.output}: {options.output.stat().st_size / 1e6:.1f} MB{told}", file=sys.stderr)
    return DONE


def asked(store: Store, experiment: str) -> tuple[ExperimentSettings, str]:
    """The settings of an experiment and what a person calls it; ValueError where `experiment` is none."""
    if Path(experiment).is_file():
        return ExperimentSettings.from_json(read_json(Path(experiment))), ""
    if not is_run_id(experiment):
        raise ValueError(f"expected the id of an experiment or a JSON file, got {experiment!r:.80}")
    found = store.run(experiment)
    if found.kind != "experiment":
        raise ValueError(f"run {found.id} is a {found.called}, expected an experiment")
    return ExperimentSettings.from_json(found.settings), found.name


def _write(file: Path, content: str) -> None:
    """There whole or not at all."""
    partial = file.with_name(f"partial-{file.name}")
    partial.write_text(content, "utf-8")
    os.replace(partial, file)
