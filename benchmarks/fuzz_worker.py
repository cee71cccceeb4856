"""A program that breaks files of one kind and has the app import them, with the memory limit of a worker.

`python fuzz_worker.py SEED KIND START STOP HOME` writes two lines per file: its number, and then the outcome as JSON.
The process that started it reports why it ended.
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import resource
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

from fuzz_kinds import KINDS, REFUSED, Kind, is_ours
from mutations import mutated
from watching import Watch

from ranking.storage.memory import limit_memory

# for a file; then the process is killed by a signal
SECONDS = 60


def main(seed: str, kind_number: int, start: int, stop: int, home: Path) -> None:
    faulthandler.enable()
    # of file readers, which a worker writes to its log
    warnings.simplefilter("ignore")
    limit_memory()
    (home / "cwd").mkdir(parents=True, exist_ok=True)
    os.chdir(home / "cwd")
    kind = KINDS[kind_number]()
    check_good(kind, home)
    watch = Watch(home)
    for number in range(start, stop):
        tell(number)
        signal.alarm(SECONDS)
        outcome = fed(kind, file_of(kind, seed, number), home, watch)
        signal.alarm(0)
        outcome["findings"] += [f"left in the working folder: {name}" for name in os.listdir()]
        tell(outcome)
    tell({"peak": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)})


def file_of(kind: Kind, seed: str, number: int) -> tuple[int, bytes]:
    """Return the broken file with that number, and which of the good ones it was."""
    draw = random.Random(f"{seed} {kind.name} {number}")
    index = number % len(kind.good)
    return index, mutated(draw, kind.good[index], kind.good, kind.also)


def check_good(kind: Kind, home: Path) -> None:
    """Raise RuntimeError if a good file is refused, because breaking it would then test nothing."""
    for number, data in enumerate(kind.good):
        try:
            outcome = kind.bring(number, data, home).what
        except ValueError as error:
            outcome = f"{REFUSED}: {error}"
        if outcome.startswith(REFUSED):
            raise RuntimeError(f"{kind.name}: good file {number} was not imported ({outcome})")


def fed(kind: Kind, broken: tuple[int, bytes], home: Path, watch: Watch) -> dict[str, Any]:
    """Return the outcome for one file, with findings."""
    findings, messages, what = list[str](), list[str](), REFUSED
    begun = time.perf_counter()
    try:
        what, messages = kind.bring(*broken, home)
    except ValueError as error:
        messages = [" ".join(str(error).split())]
        if not is_ours(error):
            findings.append(f"no refusal of ours: {error_text(error)}")
    except Exception as error:
        findings.append(error_text(error))
    seconds = time.perf_counter() - begun
    findings += [f"cannot be printed: {text[:200]!r}" for text in messages if not text.isprintable()]
    findings += watch.taken()
    return {"came": what, "seconds": round(seconds, 4), "bytes": len(broken[1]), "findings": findings}


def error_text(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(last.filename).name}:{last.lineno}: {error}"[:500]


def tell(what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    seed_, place_, start_, stop_, home_ = sys.argv[1:]
    main(seed_, int(place_), int(start_), int(stop_), Path(home_))
