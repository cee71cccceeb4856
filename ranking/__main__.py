"""``python -m ranking experiment | train | comparison | rank | report | rooms``: what the app does, as commands.

Exit codes: 0 it is done, 1 it failed and stderr says why, 2 wrong arguments, 130 interrupted by Ctrl-C.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ranking.commands import comparison, experiment, rank, report, rooms, train
from ranking.commands.watching import FAILED, INTERRUPTED

COMMANDS = {
    "experiment": experiment,
    "train": train,
    "comparison": comparison,
    "rank": rank,
    "report": report,
    "rooms": rooms,
}


def parser() -> argparse.ArgumentParser:
    """What the command line may say."""
    made = argparse.ArgumentParser(
        prog="python -m ranking", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        of_command = commands.add_parser(name, help=command.SUMMARY, description=command.__doc__)
        of_command.add_argument("--home", help="the home folder (default: $RANKING_HOME, or the app's own)")
        command.add_arguments(of_command)
    return made


def main(arguments: Sequence[str]) -> int:
    """Do what the arguments say; the exit code."""
    options = parser().parse_args(arguments)
    try:
        code: int = COMMANDS[options.command].run(options)
        return code
    except (ValueError, OSError) as error:  # HomeError too
        print(f"{error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("interrupted; what was kept by then stays", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
