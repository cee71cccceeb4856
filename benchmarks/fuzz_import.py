"""Can an untrusted file crash the server, write outside its data folder, or exhaust the machine's memory?

    python benchmarks/fuzz_import.py [--files 100000] [--seed 0] [--processes 1] [--uploaded 200]

Good files of every supported kind are broken (bits, blocks, lengths, words, names; see `mutations.py`), and each is
imported like a user's file (`fuzz_kinds.py`), in processes with the memory limit of a worker. A finding is a process
that is killed by a signal or needs longer than a minute for a file; an error that is not a refusal by the app; a text
that cannot be printed; a file read, written, moved or removed outside the data folder; a program or connection started;
or memory that ran out. Then some of the files are uploaded to a real server through its pages (`fuzz_server.py`), which
must still answer at the end, with nothing left in its data folder. The same --seed breaks the same files in the same
way; `fuzz_worker.file_of` returns one of them.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz_kinds import IMPORTED, KINDS, REFUSED, WITH_PROBLEMS
from timing import machine, options_of, table

ROOT = Path(__file__).parents[1]
# files of one process
CHUNK = 5_000
# findings of a kind
SHOWN = 40
# bytes of addresses that a process may have
MEMORY = 2 * 10**9


@dataclass
class KindTally:
    """The outcomes for the files of one kind."""

    name: str
    came: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    slowest: tuple[float, int] = (0.0, -1)
    peak: float = 0.0
    # The number of the file, and what was observed.
    findings: list[tuple[int, str]] = field(default_factory=list)

    def note(self, number: int, what: dict[str, Any]) -> None:
        self.came[what["came"]] += 1
        self.seconds += what["seconds"]
        self.slowest = max(self.slowest, (what["seconds"], number))
        self.findings += [(number, text) for text in what["findings"]]

    def row(self) -> list[str]:
        files = self.came.total()
        counts = [f"{self.came[what]:,}" for what in (REFUSED, WITH_PROBLEMS, IMPORTED)]
        each = f"{1000 * self.seconds / max(1, files):.1f}"
        slowest = f"{self.slowest[0]:.2f} (file {self.slowest[1]})"
        return [self.name, f"{files:,}", *counts, each, slowest, f"{self.peak:.0f}", str(len(self.findings))]


HEADER = ("kind", "files", REFUSED, WITH_PROBLEMS, IMPORTED, "ms each", "slowest, s", "MB", "findings")


# ---------------------------------------------------------------------------------------------------------
# Processes
# ---------------------------------------------------------------------------------------------------------


def feed(tally: KindTally, kind_number: int, start: int, stop: int, seed: str, home: Path) -> None:
    """Import files `start` to `stop` of a kind; after a crash continue behind the file that caused it."""
    while start < stop:
        process, number = begin(seed, kind_number, start, stop, home), start - 1
        assert process.stdout is not None
        for line in map(json.loads, process.stdout):
            if isinstance(line, int):
                number = line
            elif "peak" in line:
                tally.peak = max(tally.peak, line["peak"])
            else:
                tally.note(number, line)
        code = process.wait()
        if code == 0:
            return
        stderr = last_words(home)
        if code > 0 or number < start:
            raise RuntimeError(f"{tally.name}: ended with {code} by itself, not by a file: {stderr}")
        tally.findings.append((number, f"was killed by {signal.Signals(-code).name}: {stderr}"))
        tally.came["died"] += 1
        start = number + 1


def begin(seed: str, kind_number: int, start: int, stop: int, home: Path) -> subprocess.Popen[bytes]:
    home.mkdir(parents=True, exist_ok=True)
    program = ROOT / "benchmarks" / "fuzz_worker.py"
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1",
        "RANKING_WORKER_MEMORY": str(MEMORY), "RANKING_HOME": str(home / "store"), "TMPDIR": str(home),
    }  # fmt: skip
    with open(home / "stderr.txt", "wb") as errors:
        return subprocess.Popen(
            [sys.executable, *map(str, (program, seed, kind_number, start, stop, home))],
            stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL, env=environment,
        )  # fmt: skip


def last_words(home: Path) -> str:
    """Return the error, and the first lines of a crash dump."""
    lines = (home / "stderr.txt").read_text(errors="replace").strip().splitlines()
    crash = [number for number, line in enumerate(lines) if line.startswith("Fatal Python error")]
    return " | ".join(lines[crash[0] : crash[0] + 6] if crash else lines[-3:])[:600]


def run(options: argparse.Namespace, top: Path) -> list[KindTally]:
    """Run all kinds, in chunks, in as many concurrent processes as requested."""
    with ThreadPoolExecutor(options.processes) as pool:
        tallies, waiting, kinds = [], [], [make() for make in KINDS]
        shares = sum(kind.share for kind in kinds)
        for number, kind in enumerate(kinds):
            if options.only.lower() not in kind.name.lower():
                continue
            tally = KindTally(kind.name)
            tallies.append(tally)
            files = options.files if options.only else round(options.files * kind.share / shares)
            for start in range(0, files, CHUNK):
                stop, home = min(start + CHUNK, files), top / f"{number}-{start}"
                waiting.append(pool.submit(feed, tally, number, start, stop, options.seed, home))
        for each in waiting:
            each.result()
    return tallies


def report(tallies: list[KindTally], seconds: float) -> bool:
    """Print the table; return whether there are no findings."""
    total = KindTally("all")
    for tally in tallies:
        total.came += tally.came
        total.seconds += tally.seconds
        total.slowest, total.peak = max(total.slowest, tally.slowest), max(total.peak, tally.peak)
        total.findings += tally.findings
    print(table(HEADER, [tally.row() for tally in (*tallies, total)]))
    print(f"\n{seconds / 60:.1f} minutes")
    for tally in tallies:
        for number, text in tally.findings[:SHOWN]:
            print(f"{tally.name}, file {number}: {text}")
    return not total.findings


def main() -> None:
    # A process for each kind takes seconds to start; tests/slow/test_fuzzing.py has some files of all kinds.
    options = options_of(
        __doc__,
        files=(100_000, 10),
        seed=("0", "0"),
        processes=(1, 1),
        only=("", "XML of"),
        uploaded=(200, 0),
    )
    print(f"{machine()}; seed {options.seed}, {MEMORY / 1e9:g} GB a process\n")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        begun = time.monotonic()
        good = report(run(options, Path(folder)), time.monotonic() - begun)
    if options.uploaded:
        from fuzz_server import bring_to_server

        good &= bring_to_server(options.uploaded, options.seed)
    if not good:
        raise SystemExit("there are findings")


if __name__ == "__main__":
    main()
