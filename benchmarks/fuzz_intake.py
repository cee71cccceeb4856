"""Does anything that a stranger brings take the server down, write where it must not, or take the machine's memory?

    python benchmarks/fuzz_intake.py [--files 100000] [--seed 0] [--processes 1] [--brought 200]

Good files of every kind that is read are broken (bits, blocks, lengths, words, names; see `mutations.py`), and each is
imported as a person's would be (`fuzz_bringing.py`), in processes that have a worker's limit of memory.
A finding is a process that dies of a signal or takes longer than --seconds for a file; an error that is no refusal in
the product's own words; a text that cannot be shown; a file read, written, moved or removed outside of the home, a
program or connection started; memory that ran out. Then a part of them is brought to a real server through its pages
(`fuzz_server.py`), which must still answer at the end, with nothing left in its home. The same --seed breaks the same
files the same way; --only with --first and --files repeats one, --keep FOLDER keeps what was found.
`--coverage-guided SECONDS` lets Atheris choose the files instead (pip install atheris; see `fuzz_guided.py`).
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

from fuzz_bringing import IMPORTED, REFUSED, WITH_PROBLEMS
from fuzz_kinds import KINDS
from fuzz_worker import file_of
from timing import machine, options_of, parser, table
from watching import listing

ROOT = Path(__file__).parents[1]
WORKER = ROOT / "benchmarks" / "fuzz_worker.py"
CHUNK = 5_000  # files of one process
SHOWN = 40
MEMORY = 2 * 10**9  # bytes of addresses that a process may have


@dataclass
class KindTally:
    """What became of the files of one kind. findings: the number of the file, and what was found."""

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
    """Files `start` to `stop` of a kind; where a process dies, the next one goes on behind the file it died of."""
    while start < stop:
        process = begin(kind_number, start, stop, options, home)
        number, cause = start - 1, ""
        for line in lines(process, options.seconds):
            if isinstance(line, int):
                number, cause = line, f"took longer than {options.seconds:g} s"
            elif "peak" in line:
                tally.peak = max(tally.peak, line["peak"], line["of programs"])
            else:
                tally.note(number, line)
                cause = ""
        code = process.wait()
        if code == 0:
            return
        stderr = last_words(home)
        if code > 0 or number < start:
            raise RuntimeError(f"{tally.name}: ended with {code} by itself, not by a file: {stderr}")
        killed = f"died of {signal.Signals(-code).name}: {stderr}"
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
    """What the process tells until its end. It is killed where nothing comes for that long (ten times, to begin)."""
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
    """The error, and where a dump of a crash begins."""
    lines = (home / "stderr.txt").read_text(errors="replace").strip().splitlines()
    crash = [number for number, line in enumerate(lines) if line.startswith("Fatal Python error")]
    return " | ".join(lines[crash[0] : crash[0] + 6] if crash else lines[-3:])[:600]


def run(options: argparse.Namespace, top: Path) -> list[KindTally]:
    """All kinds, in chunks, in so many processes at once as are asked for."""
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
    """Write each file that something was found of into the folder that was asked for."""
    folder = Path(options.keep)
    folder.mkdir(parents=True, exist_ok=True)
    for kind in (make() for make in KINDS):
        for tally in tallies:
            for number, text in tally.findings if tally.name == kind.name else ():
                good, data = file_of(kind, options.seed, number)
                (folder / f"{kind.name.replace('/', ' ')} {number} of good {good}").write_bytes(data)
                (folder / f"{kind.name.replace('/', ' ')} {number}.txt").write_text(text)


# ---------------------------------------------------------------------------------------------------------
# What is printed
# ---------------------------------------------------------------------------------------------------------


def report(tallies: list[KindTally], outside: list[str], seconds: float) -> bool:
    """The table; whether nothing was found."""
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
        f"\n{seconds / 60:.1f} minutes; files written, changed or removed outside of the home: {len(outside)}"
    )
    for text, count in alike.most_common(SHOWN):
        print(f"found {count} times, first of file {first[text]}: {text}")
    for path in outside[:SHOWN]:
        print(f"outside of the home: {path}")
    return not alike and not outside


def main() -> None:
    options = arguments()
    if options.coverage_guided:
        from fuzz_guided import guided

        raise SystemExit(guided(options.coverage_guided, options.only))
    print(f"{machine()}; seed {options.seed}, {options.memory / 1e9:g} GB a process\n")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        top = Path(folder)
        (top / "beside.txt").write_text("nobody writes here")
        before, begun = listing(top, top / "home"), time.monotonic()
        tallies = run(options, top)
        after = listing(top, top / "home")
        working = [str(path) for path in top.glob("home/*/cwd/*")]
        outside = sorted(name for name in {*before, *after} if before.get(name) != after.get(name)) + working
        good = report(tallies, outside, time.monotonic() - begun)
    if options.keep:
        keep(tallies, options)
    if options.brought:
        from fuzz_server import bring_to_server

        good &= bring_to_server(options.brought, options.seed)
    if not good:
        raise SystemExit("something was found")


def arguments() -> argparse.Namespace:
    arguments = parser(__doc__)
    arguments.add_argument(
        "--files", type=int, default=100_000, help="that are broken; with --only of that kind alone"
    )
    arguments.add_argument("--seed", default="0")
    arguments.add_argument("--processes", type=int, default=1, help="that work at the same time")
    arguments.add_argument("--seconds", type=float, default=60.0, help="that a file may take")
    arguments.add_argument(
        "--memory", type=int, default=MEMORY, help="bytes of addresses that a process may have"
    )
    arguments.add_argument("--only", default="", help="kinds whose name holds this")
    arguments.add_argument("--first", type=int, default=0, help="the number of the first file of a kind")
    arguments.add_argument("--keep", default="", help="a folder for the files that something was found of")
    arguments.add_argument(
        "--brought", type=int, default=200, help="files that are brought to a real server; 0: none"
    )
    arguments.add_argument(
        "--coverage-guided", type=int, default=0, metavar="SECONDS", help="with Atheris, for so long a kind"
    )
    # A process for each kind takes seconds to begin; tests/slow/test_fuzzing.py has some files of all kinds.
    options = options_of(arguments, only="XML of", files=10, brought=0)
    options.program = WORKER
    return options


if __name__ == "__main__":
    main()
