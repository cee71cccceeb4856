"""``python -m ranking rooms list | remove NAME ... | remove --unused-for DAYS``: the rooms of a server's visitors."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime

from ranking.commands.watching import DONE, FAILED
from ranking.core.errors import InputError
from ranking.workspace.room_quotas import format_bytes
from ranking.workspace.rooms import Rooms

SUMMARY = "list the rooms of a server's visitors, or remove some for good"
COLUMNS = "{:<64}  {:<16}  {:>8}  {:>4}  {:>4}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    acts = parser.add_subparsers(dest="act", required=True, metavar="list | remove")
    acts.add_parser(
        "list", help="all rooms, that visited last first; “damaged” marks a room that cannot be read"
    )
    remove = acts.add_parser("remove", help="remove rooms with all that is in them, for good")
    remove.add_argument("names", nargs="*", metavar="NAME", help="as `list` tells them")
    remove.add_argument(
        "--unused-for",
        type=_days,
        metavar="DAYS",
        help="those that nobody was in for so many days; a damaged room is removed by its name only",
    )


def run(options: argparse.Namespace) -> int:
    """Print a line a room, or remove rooms; FAILED where one could not be removed."""
    rooms = Rooms(options.home)
    if options.act == "list":
        _list(rooms)
        return DONE
    if bool(options.names) == (options.unused_for is not None):
        came = "both" if options.names else "neither"
        raise InputError("rooms to remove", "their names or --unused-for DAYS", came)
    names = options.names or [row.name for row in rooms.unused_for(options.unused_for)]
    removed = [_removed(rooms, name) for name in names]
    print(f"{sum(removed)} of {len(removed)} rooms removed")
    return DONE if all(removed) else FAILED


def _list(rooms: Rooms) -> None:
    print(COLUMNS.format("room", "last visit", "size", "sets", "runs"))
    for row in rooms.all():
        visited = datetime.fromtimestamp(row.visited).strftime("%Y-%m-%d %H:%M")
        sets, runs = ("damaged", "") if row.damaged else (row.sets, row.runs)
        print(COLUMNS.format(row.name, visited, format_bytes(row.bytes), sets, runs).rstrip())


def _removed(rooms: Rooms, name: str) -> bool:
    """Whether the room could be removed; where not, stderr says why, and the next one has its turn."""
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
