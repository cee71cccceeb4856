"""``python -m ranking COMMAND``: the functions of the app as commands.

example, from a folder of photographs (a folder for each class) to a report:
  python -m ranking import photographs/ --name Holiday
  python -m ranking experiment Holiday -o report.html

Exit codes: 0 success, 1 failure, with the reason on stderr, 2 invalid arguments, or files that can be read in
several ways, 130 interrupted by Ctrl-C or SIGTERM,
together with the worker.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence

from ranking.commands import experiment, import_images, rank, report, sets, train, workspaces
from ranking.commands.watching import FAILED, INTERRUPTED, UNDECIDED, NotFinished
from ranking.formats.import_preview import Undecided

COMMANDS = {
    "import": import_images,
    "sets": sets,
    "train": train,
    "experiment": experiment,
    "rank": rank,
    "report": report,
    "workspaces": workspaces,
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="python -m ranking", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        of_command = commands.add_parser(
            name,
            help=command.SUMMARY,
            description=str(command.__doc__).replace("``", ""),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        of_command.add_argument(
            "--home", help="the data folder (default: $RANKING_HOME, else ~/.local/share/ranking-laboratory)"
        )
        command.add_arguments(of_command)
    return made


def main(arguments: Sequence[str]) -> int:
    """Run the command of the arguments; return the exit code."""
    options = parser().parse_args(arguments)
    # Like Ctrl-C, so that the worker is stopped too.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        code: int = COMMANDS[options.command].run(options)
        return code
    except Undecided as error:
        print(f"{error}", file=sys.stderr)
        return UNDECIDED
    except NotFinished:
        return FAILED
    except (ValueError, OSError) as error:
        # this includes HomeError
        print(f"{error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("interrupted; results saved so far are kept", file=sys.stderr)
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
