"""``python -m ranking import PATH``: import an image set from a folder or a ZIP file.

example:
  python -m ranking import photographs/ --name Holiday
  python -m ranking experiment Holiday -o report.html
"""

from __future__ import annotations

import argparse
import sys

from ranking.commands.naming import file_sources, import_path, line_of
from ranking.commands.watching import DONE
from ranking.datasets.copies import stored_copies
from ranking.datasets.source_settings import GROUPS
from ranking.formats.tree_source import tree_sources
from ranking.storage.store import Store

SUMMARY = "import a folder or a ZIP file of images as an image set"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="a folder or a ZIP file of images with their labels")
    parser.add_argument(
        "--format",
        choices=[*tree_sources(), *file_sources()],
        help="format of the annotations (default: recognised automatically)",
    )
    parser.add_argument(
        "--name", default="", help="title of the image set (default: the name of the folder or file)"
    )
    parser.add_argument(
        "--group",
        choices=GROUPS,
        help="which images stay on one side of a split, for PASCAL VOC and YOLO (default: near copies)",
    )


def run(options: argparse.Namespace) -> int:
    """Import the image set, and print its key."""
    store = Store(options.home)
    key = import_path(store, options.path, options.format, options.name, options.group)
    images = store.sets.get(key)
    if (copies := stored_copies(images.folder)) is not None:
        row = copies.report_row(images)
        print(f"near copies: {row.came}; {row.done}", file=sys.stderr)
    print(next(line_of(row) for row in store.sets.rows() if row.key == key))
    return DONE
