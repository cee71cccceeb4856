"""``python -m ranking COMMAND``: what the app does, as commands.

example, from a folder of photographs (a folder for each class) to a report:
  python -m ranking import photographs/ --name Holiday
  python -m ranking experiment Holiday -o report.html

Exit codes: 0 it is done, 1 it failed and stderr says why, 2 wrong arguments, 130 ended by Ctrl-C or SIGTERM, with all
that it had begun.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence

from ranking.commands import comparison, experiment, import_images, rank, report, rooms, sets, train
from ranking.commands.watching import FAILED, INTERRUPTED, NotFinished

COMMANDS = {
    "import": import_images,
    "sets": sets,
    "train": train,
    "experiment": experiment,
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
        of_command = commands.add_parser(
            name,
            help=command.SUMMARY,
            description=command.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        of_command.add_argument("--home", help="the home folder (default: $RANKING_HOME, or the app's own)")
        command.add_arguments(of_command)
    return made


def main(arguments: Sequence[str]) -> int:
    """Do what the arguments say; the exit code."""
    options = parser().parse_args(arguments)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: the worker is ended too
    try:
        code: int = COMMANDS[options.command].run(options)
        return code
    except NotFinished:
        return FAILED
    except (ValueError, OSError) as error:  # HomeError too
        print(f"{error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("interrupted; what was kept by then stays", file=sys.stderr)
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
