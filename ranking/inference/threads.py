"""Work on many samples in a few threads: contiguous parts, each with its own relevant samples.

Not numba's prange: its default threading layer ends the process when two threads of the program start work at the
same time, as pages of two visitors may.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import NamedTuple, TypeVar

import numpy as np

from ranking.core import Ints

# samples: for fewer, waking another thread takes longer than its part of the work
MIN_PART = 200_000
# more would only wait for memory
MAX_PARTS = min(4, os.cpu_count() or 1)

P = TypeVar("P")
T = TypeVar("T")


class Part(NamedTuple):
    """The slice of one part among all samples, among the relevant, and among the irrelevant ones."""

    samples: slice
    positives: slice
    irrelevant: slice


def split(n: int, positives: Ints) -> list[Part]:
    """Split 0 ... n into as many parts as there are processors, and work for them."""
    # positives: ascending.
    number = max(1, min(MAX_PARTS, n // MIN_PART))
    edges = np.linspace(0, n, number + 1).astype(np.int64)
    passed = np.searchsorted(positives, edges)
    return [
        Part(
            slice(edges[part], edges[part + 1]),
            slice(passed[part], passed[part + 1]),
            slice(edges[part] - passed[part], edges[part + 1] - passed[part + 1]),
        )
        for part in range(number)
    ]


def rows(n: int, fewest: int) -> list[slice]:
    """Split 0 ... n into one part per processor, each of at least `fewest`; at least one part."""
    number = max(1, min(MAX_PARTS, n // fewest))
    edges = np.linspace(0, n, number + 1).astype(np.int64)
    return [slice(edges[part], edges[part + 1]) for part in range(number)]


def each(work: Callable[[P], T], parts: Sequence[P]) -> list[T]:
    """Return `work` of every part, the first in this thread."""
    # Worthwhile where `work` releases the interpreter lock.
    futures = [_threads().submit(work, part) for part in parts[1:]]
    return [work(parts[0]), *[future.result() for future in futures]]


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(1, MAX_PARTS - 1), thread_name_prefix="inference")
