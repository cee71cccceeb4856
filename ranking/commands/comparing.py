"""What `comparison`, `experiment` and `report` have in common: the trainings of a comparison, and the files of both."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ranking.core.errors import InputError
from ranking.core.text import readable
from ranking.datasets import Thumbnails
from ranking.reports.compared import TOP, Compared
from ranking.reports.comparison import comparison_html
from ranking.reports.comparison_file import ComparisonSettings, recipe
from ranking.reports.comparison_files import latex_table, ranks_csv, ranks_parquet
from ranking.reports.differences import differences
from ranking.reports.exports import trials_csv, whole, write_parquet
from ranking.reports.files import latex_tables, protocol_json
from ranking.reports.findings import Findings
from ranking.reports.report import report_html
from ranking.workspace.run import Run
from ranking.workspace.store import Store


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """The files that may be written beside a report."""
    parser.add_argument("--csv", type=Path, help="write every cell, or every rank and score, there")
    parser.add_argument("--parquet", type=Path, help="write the same there")
    parser.add_argument("--latex", type=Path, help="write the tables there")
    parser.add_argument("--protocol", type=Path, help="write the JSON there that makes all of it again")


def check_outputs(options: argparse.Namespace) -> None:
    """ValueError where a file that is asked for has no folder to lie in, told before anything is trained."""
    for name in ("output", "csv", "parquet", "latex", "protocol"):
        file: Path | None = getattr(options, name, None)
        if file is not None and (file.is_dir() or not file.parent.is_dir()):
            raise InputError(f"--{name}", "a file in a folder that exists", readable(str(file), 300))


def runs_of(store: Store, settings: ComparisonSettings) -> list[Run | None]:
    """For each training of a comparison the newest equal one that has a ranking; None where there is none."""
    found: list[Run | None] = []
    for asked in settings.trainings:
        equal = store.equal_runs("train", asked.to_json())
        found.append(next((run for run in equal if run.has_scores and run.state == "finished"), None))
    return found


def write_report(store: Store, shown: Compared, options: argparse.Namespace) -> None:
    """The files that the options ask for."""
    made_again, crops = recipe(store, shown), Thumbnails(shown.images.folder)
    if options.output:
        write(options.output, comparison_html(shown, crops, made_again))
        print(f"{options.output}: {options.output.stat().st_size / 1e6:.1f} MB", file=sys.stderr)
    if options.csv:
        write(options.csv, ranks_csv(shown.images, shown.compared, shown.names))
    if options.parquet:
        ranks_parquet(shown, options.parquet)
    if options.latex:
        write(options.latex, latex_table(shown, TOP))
    if options.protocol:
        write(options.protocol, made_again)


def write_experiment(findings: Findings, options: argparse.Namespace, name: str = "") -> None:
    """The files of an experiment that the options ask for. name: what a person calls it."""
    apart = differences(findings) if options.output or options.latex else []
    if options.output:
        crops = Thumbnails(findings.images.folder)
        write(options.output, report_html(findings, apart, crops, name))
        part = f", {findings.done:,} of {findings.planned:,} trainings"
        told = "" if findings.done == findings.planned else part
        print(f"{options.output}: {options.output.stat().st_size / 1e6:.1f} MB{told}", file=sys.stderr)
    if options.csv:
        write(options.csv, trials_csv(findings.results))
    if options.parquet:
        write_parquet(findings.results, options.parquet)
    if options.latex:
        write(options.latex, latex_tables(findings.results, apart))
    if options.protocol:
        write(options.protocol, protocol_json(findings.results.protocol))


def write(file: Path, content: str) -> None:
    """There whole or not at all; straight into what is no file, as /dev/stdout or a pipe."""
    if file.exists() and not file.is_file():
        file.write_text(content, "utf-8")
        return
    with whole(file) as partial:
        partial.write_text(content, "utf-8")
