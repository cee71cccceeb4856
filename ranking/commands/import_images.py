"""``python -m ranking import PATH``: import an image set from a folder or an archive.

example:
  python -m ranking import photographs/ --name Holiday
  python -m ranking experiment Holiday -o report.html
"""

from __future__ import annotations

import argparse
import shlex
import sys

from ranking.commands.naming import file_sources, import_unattended, line_of, settings_from
from ranking.commands.watching import DONE
from ranking.core.text import counted
from ranking.datasets import source_class, source_names
from ranking.datasets.copies import stored_copies
from ranking.datasets.readings import READING
from ranking.formats.tree_source import tree_sources
from ranking.storage.run_settings import ImportSettings
from ranking.storage.store import Store

# rows of the report that are printed
MAX_SHOWN = 20
SUMMARY = "import a folder or an archive of images as an image set"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="a folder or an archive (ZIP, tar) of images with their labels")
    parser.add_argument(
        "--format",
        choices=[*tree_sources(), *file_sources()],
        help="format of the annotations (default: recognised automatically)",
    )
    parser.add_argument(
        "--name", default="", help="title of the image set (default: the name of the folder or file)"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="read the files otherwise, by a setting of the format such as split=random or group=folder; the report "
        "names settings and values",
    )
    parser.add_argument(
        "--strict", action="store_true", help="refuse files of which anything would be left out"
    )


def run(options: argparse.Namespace) -> int:
    """Import the image set, print how it was read on standard error, and its key."""
    store = Store(options.home)
    formats = source_names() if options.format is None else [options.format]
    given = settings_from("--set", options.set, map(source_class, formats))
    settings = ImportSettings(options.format, given, title=options.name, strict=options.strict)
    key = import_unattended(store, options.path, settings)
    images, reading = store.sets.get(key), store.sets.reading(key)
    print(f"format: {reading.source}", file=sys.stderr)
    for row in reading.decisions:
        others = " or ".join(map(shlex.quote, row.alternatives))
        change = f"; --set {row.setting}={others}" if others else ""
        print(f"{row.about}: {row.chosen} ({row.evidence}{change})", file=sys.stderr)
    if (copies := stored_copies(images.folder)) is not None:
        near = copies.report_row(images)
        print(f"near copies: {near.came}; {near.done}", file=sys.stderr)
    print(counted(len(reading.problems), "problem"), file=sys.stderr)
    for problem in reading.problems[:MAX_SHOWN]:
        print(
            f"  {problem.file}: expected {problem.expected}, got {problem.came}. Action: {problem.done}",
            file=sys.stderr,
        )
    if len(reading.problems) > MAX_SHOWN:
        print(f"  and more: {images.folder / READING}", file=sys.stderr)
    print(next(line_of(row) for row in store.sets.rows() if row.key == key))
    return DONE
