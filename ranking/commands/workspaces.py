"""``python -m ranking workspaces [--remove-unused DAYS]``: the workspaces of a server."""

from __future__ import annotations

import argparse
import sys
import time
from datetime import datetime

from ranking.commands.watching import DONE, FAILED
from ranking.storage import workspaces
from ranking.storage.home import home_folder
from ranking.storage.space import format_bytes

SUMMARY = "list the workspaces of a server, or permanently remove unused ones"
COLUMNS = "{:<26}  {:<16}  {:>8}  {:>4}  {:>4}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--remove-unused",
        type=_days,
        metavar="DAYS",
        help="permanently remove the workspaces that were not visited for DAYS days",
    )


def run(options: argparse.Namespace) -> int:
    """Print a line per workspace, most recently used first, or remove unused ones."""
    # Returns FAILED if one could not be removed.
    server = home_folder(options.home)
    rows = workspaces.all_workspaces(server)
    if options.remove_unused is None:
        print(COLUMNS.format("workspace", "last visit", "size", "sets", "runs"))
        for row in rows:
            visited = datetime.fromtimestamp(row.visited).strftime("%Y-%m-%d %H:%M")
            print(COLUMNS.format(row.name, visited, format_bytes(row.bytes), row.sets, row.runs))
        return DONE
    unused = [row.name for row in rows if row.visited <= time.time() - options.remove_unused * 86400]
    removed = 0
    for name in unused:
        try:
            workspaces.remove(server, name)
            removed += 1
        except ValueError as error:
            print(error, file=sys.stderr)
    none = f"no workspace was unused for {options.remove_unused:g} day{'s' * (options.remove_unused != 1)}"
    print(f"{removed} of {len(unused)} unused workspaces removed" if unused else none)
    return DONE if removed == len(unused) else FAILED


def _days(text: str) -> float:
    try:
        days = float(text)
    except ValueError:
        days = -1.0
    if not 0 <= days < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of days, 0 or more, got {text!r:.80}")
    return days
