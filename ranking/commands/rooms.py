"""``python -m ranking rooms list | remove NAME ... | remove --unused-for DAYS``: the workspaces of a server."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime

from ranking.commands.watching import DONE, FAILED
from ranking.core.errors import InputError
from ranking.workspace.room_quotas import format_bytes
from ranking.workspace.rooms import Rooms

SUMMARY = "list or permanently remove the workspaces of a server"
COLUMNS = "{:<64}  {:<16}  {:>8}  {:>4}  {:>4}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    acts = parser.add_subparsers(dest="act", required=True, metavar="list | remove")
    acts.add_parser(
        "list", help="list all workspaces, most recently used first; “damaged” marks one that cannot be read"
    )
    remove = acts.add_parser("remove", help="remove workspaces and their contents permanently")
    remove.add_argument("names", nargs="*", metavar="NAME", help="as printed by `list`")
    remove.add_argument(
        "--unused-for",
        type=_days,
        metavar="DAYS",
        help="remove workspaces unused for this many days; a damaged workspace can be removed by name only",
    )


def run(options: argparse.Namespace) -> int:
    """Print one line per workspace, or remove workspaces; FAILED if any could not be removed."""
    rooms = Rooms(options.home)
    if options.act == "list":
        _list(rooms)
        return DONE
    if bool(options.names) == (options.unused_for is not None):
        came = "both" if options.names else "neither"
        raise InputError("workspaces to remove", "either names or --unused-for DAYS", came)
    names = options.names or [row.name for row in rooms.unused_for(options.unused_for)]
    removed = [_removed(rooms, name) for name in names]
    print(f"{sum(removed)} of {len(removed)} workspaces removed")
    return DONE if all(removed) else FAILED


def _list(rooms: Rooms) -> None:
    print(COLUMNS.format("workspace", "last visit", "size", "sets", "runs"))
    for row in rooms.all():
        visited = datetime.fromtimestamp(row.visited).strftime("%Y-%m-%d %H:%M")
        sets, runs = ("damaged", "") if row.damaged else (row.sets, row.runs)
        print(COLUMNS.format(row.name, visited, format_bytes(row.bytes), sets, runs).rstrip())


def _removed(rooms: Rooms, name: str) -> bool:
    """Remove a workspace and return True; if that fails, print why to stderr and return False."""
    try:
        rooms.remove(name)
    except ValueError as error:
        print(f"{error}", file=sys.stderr)
        return False
    return True


def _days(text: str) -> float:
    try:
        days = float(text)
    except ValueError:
        days = -1.0
    if not 0 <= days < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of days, 0 or more, got {text!r:.80}")
    return days
