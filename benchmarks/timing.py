"""Parts that the benchmarks share: options, interleaved timing, memory, tables, and where photographs are."""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from ranking.core import ImageSet, Source
from ranking.datasets import build_image_set
from ranking.experiments.timing_studies import machine

__all__ = [
    "REAL_DATA",
    "generated_set",
    "generated_source",
    "machine",
    "medians",
    "memory_of",
    "milliseconds",
    "options_of",
    "points",
    "real_data",
    "table",
]

REAL_DATA = Path(os.environ.get("RANKING_REAL_DATA") or Path(__file__).parents[2] / "shared" / "data")


def real_data(name: str) -> Path | None:
    """Return a folder of real data, or None if it is absent, which is printed."""
    if (REAL_DATA / name).is_dir():
        return REAL_DATA / name
    print(f"{REAL_DATA / name} is absent: skipped\n")
    return None


def options_of(docstring: str | None, **options: tuple[Any, ...]) -> argparse.Namespace:
    """Parse the command line of a benchmark with the docstring of its module."""
    # options: for each name its default, its value with --smoke, and its choices where they are limited.
    # --smoke runs the same code on a small problem, in some seconds, to check that it still runs; its figures
    # mean nothing.
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=docstring, formatter_class=form)
    parser.add_argument("--smoke", action="store_true", help="a small problem: does this still run?")
    for name, (default, small, *choices) in options.items():
        flag, several = f"--{name.replace('_', '-')}", isinstance(default, list | tuple)
        if isinstance(default, bool):
            parser.add_argument(flag, action="store_true")
            continue
        kind = type(next(iter([*default, *small]), "") if several else default)
        count = "+" if several else None
        parser.add_argument(
            flag, nargs=count, type=kind, default=default, choices=choices[0] if choices else None
        )
    if parser.parse_known_args()[0].smoke:
        parser.set_defaults(**{name: small for name, (_, small, *_) in options.items()})
    return parser.parse_args()


def generated_source(name: str, **settings: Any) -> Source:
    """Return the program that generates the set `name`, with other settings than those of the bundled set."""
    sys.path.append(str(Path(__file__).parents[1] / "data"))
    from drawing.sets import SETS

    return next(type(made) for made in SETS if made.name == name)(**settings)


def generated_set(name: str, folder: Path, **settings: Any) -> ImageSet:
    """Generate the set `name` in `folder`; print its size, and how long that takes."""
    start, before = time.perf_counter(), os.times()
    images, problems = build_image_set(generated_source(name, **settings), folder)
    wall, after = time.perf_counter() - start, os.times()
    busy = after.user + after.system - before.user - before.system
    print(
        f"{name}: {len(images.image_names):,} images, {len(images):,} samples, {len(problems)} problems: "
        f"{wall:.1f} s ({busy:.1f} s of processor time)\n"
    )
    return images


def medians(
    tasks: dict[str, Callable[[], object]],
    rounds: int,
    cold: bool = False,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Return the median seconds of each task; every round runs all of them in turn."""
    # Slow moments then affect all tasks. In its turn a task first runs once uncounted, so that its code and
    # data are in the caches as in repeated calls; not if `cold`. A first round, not counted, compiles.
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for number in range(rounds + 1):
        for name, task in tasks.items():
            if not cold:
                task()
            start = clock()
            task()
            if number:
                times[name].append(clock() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a Markdown table with aligned columns."""
    lines = [list(header), *[list(row) for row in rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    texts = [
        "| " + " | ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in lines
    ]
    texts.insert(1, "|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|")
    return "\n".join(texts)


def memory_of(process: int | None = None) -> dict[str, float]:
    """Return the bytes of a process, by default of this one, as the kernel counts them; 0 if it has exited."""
    try:
        status = Path(f"/proc/{process or 'self'}/status").read_text()
    except OSError:
        status = ""
    found = {name: 1024.0 * int(size) for name, size in re.findall(r"(\w+):\s+(\d+) kB", status)}
    return {"VmRSS": 0.0, "VmHWM": 0.0, "RssAnon": 0.0, "RssShmem": 0.0, **found}


def points(value: float) -> str:
    """Format an AP as tables in papers do.

    >>> points(0.5126), points(1.0), points(-0.02)
    ('.513', '1.000', '-.020')
    """
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"


def milliseconds(seconds: float | None) -> str:
    """Format 0.0123 as "12.3", and None, for tasks that were not run, as "-"."""
    return "-" if seconds is None else f"{1000 * seconds:.3g}"
