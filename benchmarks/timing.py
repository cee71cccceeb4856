"""What the benchmarks share: interleaved timing, medians, and tables for people."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence

from ranking.timing_studies import machine

__all__ = ["machine", "medians", "milliseconds", "table"]


def medians(tasks: dict[str, Callable[[], object]], rounds: int, cold: bool = False) -> dict[str, float]:
    """Median seconds of each task; every round runs all of them in turn, so that a slow moment hits all.

    In its turn a task runs once uncounted, so that each finds its own code and data in the caches as it does where
    it is called again and again; not so if `cold`. A first round, not counted, compiles.
    """
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for number in range(rounds + 1):
        for name, task in tasks.items():
            if not cold:
                task()
            start = time.perf_counter()
            task()
            if number:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, columns aligned."""
    lines = [list(header), *[list(row) for row in rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    drawn = [
        "| " + " | ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in lines
    ]
    drawn.insert(1, "|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|")
    return "\n".join(drawn)


def milliseconds(seconds: float | None) -> str:
    """0.0123 is "12.3"; None, for what was not run, is "-"."""
    return "-" if seconds is None else f"{1000 * seconds:.3g}"
