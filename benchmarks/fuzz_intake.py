"""Can an untrusted file crash the server, write outside its data folder, or exhaust the machine's memory?

    python benchmarks/fuzz_intake.py [--files 100000] [--seed 0] [--processes 1] [--uploaded 200]

Good files of every supported kind are broken (bits, blocks, lengths, words, names; see `mutations.py`), and each is
imported like a user's file (`fuzz_imports.py`), in processes with the memory limit of a worker. A finding is a process
that is killed by a signal or needs longer than --seconds for a file; an error that is not a refusal by the app; a text
that cannot be printed; a file read, written, moved or removed outside the data folder; a program or connection started;
or memory that ran out. Then some of the files are uploaded to a real server through its pages (`fuzz_server.py`), which
must still answer at the end, with nothing left in its data folder. The same --seed breaks the same files in the same
way; --only with --first and --files repeats one, --keep FOLDER keeps files with findings.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz_imports import IMPORTED, REFUSED, WITH_PROBLEMS
from fuzz_kinds import KINDS
from fuzz_worker import file_of
from timing import machine, options_of, table
from watching import listing

ROOT = Path(__file__).parents[1]
WORKER = ROOT / "benchmarks" / "fuzz_worker.py"
CHUNK = 5_000  # files of one process
SHOWN = 40
MEMORY = 2 * 10**9  # bytes of addresses that a process may have


@dataclass
class KindTally:
    """The outcomes for the files of one kind. findings: the number of the file, and what was observed."""

    name: str
    came: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    slowest: tuple[float, int] = (0.0, -1)
    peak: float = 0.0
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
        return [
            self.name,
            f"{files:,}",
            *counts,
            each,
            f"{self.slowest[0]:.2f} (file {self.slowest[1]})",
            f"{self.peak:.0f}",
            str(len(self.findings)),
        ]


HEADER = ("kind", "files", REFUSED, WITH_PROBLEMS, IMPORTED, "ms each", "slowest, s", "MB", "findings")


# ---------------------------------------------------------------------------------------------------------
# Processes
# ---------------------------------------------------------------------------------------------------------


def feed(
    tally: KindTally, kind_number: int, start: int, stop: int, options: argparse.Namespace, home: Path
) -> None:
    """Import files `start` to `stop` of a kind; if a process dies, the next one continues after the file that killed
    it."""
    while start < stop:
        process = begin(kind_number, start, stop, options, home)
        number, cause = start - 1, ""
        for line in lines(process, options.seconds):
            if isinstance(line, int):
                number, cause = line, f"took longer than {options.seconds:g} s"
            elif "peak" in line:
                tally.peak = max(tally.peak, line["peak"])
            else:
                tally.note(number, line)
                cause = ""
        code = process.wait()
        if code == 0:
            return
        stderr = last_words(home)
        if code > 0 or number < start:
            raise RuntimeError(f"{tally.name}: ended with {code} by itself, not by a file: {stderr}")
        killed = f"was killed by {signal.Signals(-code).name}: {stderr}"
        tally.findings.append((number, cause if code == -signal.SIGKILL and cause else killed))
        tally.came["died"] += 1
        start = number + 1


def begin(
    kind_number: int, start: int, stop: int, options: argparse.Namespace, home: Path
) -> subprocess.Popen[bytes]:
    home.mkdir(parents=True, exist_ok=True)
    arguments = [options.seed, kind_number, start, stop, home]
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1",
        "RANKING_WORKER_MEMORY": str(options.memory), "RANKING_HOME": str(home / "store"), "TMPDIR": str(home),
    }  # fmt: skip
    with open(home / "stderr.txt", "wb") as errors:
        return subprocess.Popen(
            [sys.executable, str(options.program), *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL, env=environment,
        )  # fmt: skip


def lines(process: subprocess.Popen[bytes], seconds: float) -> Iterator[Any]:
    """Yield the output of the process until it exits. Kill it after `seconds` without output (ten times, at first)."""
    assert process.stdout is not None
    buffer, patience = b"", 10 * seconds
    while True:
        ready, _, _ = select.select([process.stdout], [], [], patience)
        if not ready:
            process.kill()
            return
        data, patience = os.read(process.stdout.fileno(), 2**16), seconds
        if not data:
            return
        *whole, buffer = (buffer + data).split(b"\n")
        yield from map(json.loads, whole)


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
            for start in range(options.first, options.first + files, CHUNK):
                stop, home = min(start + CHUNK, options.first + files), top / "home" / f"{number}-{start}"
                waiting.append(pool.submit(feed, tally, number, start, stop, options, home))
        for each in waiting:
            each.result()
    return tallies


def keep(tallies: list[KindTally], options: argparse.Namespace) -> None:
    """Write each file with a finding into the requested folder."""
    folder = Path(options.keep)
    folder.mkdir(parents=True, exist_ok=True)
    for kind in (make() for make in KINDS):
        for tally in tallies:
            for number, text in tally.findings if tally.name == kind.name else ():
                good, data = file_of(kind, options.seed, number)
                (folder / f"{kind.name.replace('/', ' ')} {number} of good {good}").write_bytes(data)
                (folder / f"{kind.name.replace('/', ' ')} {number}.txt").write_text(text)


# ---------------------------------------------------------------------------------------------------------
# Output
# ---------------------------------------------------------------------------------------------------------


def report(tallies: list[KindTally], outside: list[str], seconds: float) -> bool:
    """Print the table; return whether there are no findings."""
    total = KindTally("all")
    for tally in tallies:
        total.came += tally.came
        total.seconds += tally.seconds
        total.slowest, total.peak = max(total.slowest, tally.slowest), max(total.peak, tally.peak)
        total.findings += tally.findings
    print(table(HEADER, [tally.row() for tally in (*tallies, total)]))
    alike = Counter(f"{tally.name}: {text}" for tally in tallies for _, text in tally.findings)
    first = {
        f"{tally.name}: {text}": number
        for tally in reversed(tallies)
        for number, text in reversed(tally.findings)
    }
    print(
        f"\n{seconds / 60:.1f} minutes; files written, changed or removed outside the data folder: {len(outside)}"
    )
    for text, count in alike.most_common(SHOWN):
        print(f"found {count} times, first of file {first[text]}: {text}")
    for path in outside[:SHOWN]:
        print(f"outside the data folder: {path}")
    return not alike and not outside


def main() -> None:
    options = arguments()
    print(f"{machine()}; seed {options.seed}, {options.memory / 1e9:g} GB a process\n")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        top = Path(folder)
        (top / "beside.txt").write_text("no process writes here")
        before, begun = listing(top, top / "home"), time.monotonic()
        tallies = run(options, top)
        after = listing(top, top / "home")
        working = [str(path) for path in top.glob("home/*/cwd/*")]
        outside = sorted(name for name in {*before, *after} if before.get(name) != after.get(name)) + working
        good = report(tallies, outside, time.monotonic() - begun)
    if options.keep:
        keep(tallies, options)
    if options.uploaded:
        from fuzz_server import bring_to_server

        good &= bring_to_server(options.uploaded, options.seed)
    if not good:
        raise SystemExit("there are findings")


def arguments() -> argparse.Namespace:
    # A process for each kind takes seconds to start; tests/slow/test_fuzzing.py has some files of all kinds.
    options = options_of(
        __doc__, files=(100_000, 10), seed=("0", "0"), processes=(1, 1), seconds=(60.0, 60.0), memory=(MEMORY, MEMORY),
        only=("", "XML of"), first=(0, 0), keep=("", ""), uploaded=(200, 0),
    )  # fmt: skip
    options.program = WORKER
    return options


if __name__ == "__main__":
    main()
