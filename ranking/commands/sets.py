"""``python -m ranking sets``: list the image sets of a data folder, newest first."""

from __future__ import annotations

import argparse

from ranking.commands.naming import line_of
from ranking.commands.watching import DONE
from ranking.storage.store import Store

SUMMARY = "list the image sets"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the command has no arguments."""


def run(options: argparse.Namespace) -> int:
    """Print one line per image set."""
    for row in Store(options.home).sets.rows():
        print(line_of(row))
    return DONE
