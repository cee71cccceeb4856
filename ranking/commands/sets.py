"""``python -m ranking sets``: the image sets of a home, the newest first."""

from __future__ import annotations

import argparse

from ranking.commands.naming import line_of
from ranking.commands.watching import DONE
from ranking.workspace.store import Store

SUMMARY = "list the image sets"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none of its own."""


def run(options: argparse.Namespace) -> int:
    """Print a line for each."""
    for row in Store(options.home).image_sets():
        print(line_of(row))
    return DONE
