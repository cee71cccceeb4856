"""The output files of `experiment` and `report`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from ranking.core.errors import InputError
from ranking.core.spreadsheets import rows_csv
from ranking.core.text import readable
from ranking.datasets import Thumbnails
from ranking.reports.compared import TOP, Compared
from ranking.reports.comparison import comparison_html
from ranking.reports.comparison_files import latex_table, rank_rows, ranks_csv
from ranking.reports.differences import differences
from ranking.reports.exports import rows_parquet, trial_rows
from ranking.reports.findings import Findings
from ranking.reports.report import latex_tables, protocol_json, report_html

# the options that name files
OUTPUTS = ("output", "csv", "parquet", "latex", "protocol")
# the content of each output file, by option
Contents = Mapping[str, Callable[[], str | bytes]]


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add the options for files that may be written in addition to a report."""
    parser.add_argument(
        "--csv",
        type=Path,
        help="write all trials (experiment) or all ranks and scores (comparison) to this CSV file",
    )
    parser.add_argument("--parquet", type=Path, help="write the same rows to this Parquet file")
    parser.add_argument("--latex", type=Path, help="write the tables to this LaTeX file (package booktabs)")
    parser.add_argument("--protocol", type=Path, help="write the JSON file that reproduces an experiment")


def check_outputs(options: argparse.Namespace) -> None:
    """Raise InputError for an output file whose folder does not exist, before any training starts."""
    for name in OUTPUTS:
        file: Path | None = getattr(options, name, None)
        if file is not None and (file.is_dir() or not file.parent.is_dir()):
            raise InputError(f"--{name}", "a file in a folder that exists", readable(str(file), 300))


def write_comparison(shown: Compared, options: argparse.Namespace) -> None:
    """Write the files of a comparison that the options name."""
    contents: Contents = {
        "output": lambda: comparison_html(shown, Thumbnails(shown.images.folder)),
        "csv": lambda: ranks_csv(shown.images, shown.compared, shown.names),
        "parquet": lambda: rows_parquet(rank_rows(shown.images, shown.compared, shown.names)),
        "latex": lambda: latex_table(shown, TOP),
    }
    _write_all(contents, options)


def write_experiment(findings: Findings, options: argparse.Namespace, name: str = "") -> None:
    """Write the files of an experiment that the options name."""
    # name: the user's name for the experiment.
    rows = differences(findings) if options.output or options.latex else []
    contents: Contents = {
        "output": lambda: report_html(findings, rows, Thumbnails(findings.images.folder), name),
        "csv": lambda: rows_csv(trial_rows(findings.results)),
        "parquet": lambda: rows_parquet(trial_rows(findings.results)),
        "latex": lambda: latex_tables(findings, rows),
        "protocol": lambda: protocol_json(findings.results.protocol),
    }
    part = f", {findings.done:,} of {findings.planned:,} runs"
    _write_all(contents, options, "" if findings.done == findings.planned else part)


def _write_all(contents: Contents, options: argparse.Namespace, part: str = "") -> None:
    """Write the files."""
    # part: how much of the experiment the report shows; "" for all of it.
    for option, content in contents.items():
        if file := getattr(options, option):
            write(file, content())
    if options.output:
        print(f"{options.output}: {options.output.stat().st_size / 1e6:.1f} MB{part}", file=sys.stderr)


def write(file: Path, content: str | bytes) -> None:
    """Write all of the file or none of it; devices and pipes, such as /dev/stdout, directly."""
    # Errors name `file`.
    data = content.encode() if isinstance(content, str) else content
    if file.exists() and not file.is_file():
        file.write_bytes(data)
        return
    partial = file.with_name(f"partial-{file.name}")
    try:
        try:
            partial.write_bytes(data)
            os.replace(partial, file)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(error.errno, reason, str(file)) from error
