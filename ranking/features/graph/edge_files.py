"""Pairs of samples that a person uploads: what they must be, and their name, a hash of them.

The pairs are row numbers of one image set. Settings that hold its key and the name mean the same pairs everywhere.
"""

from __future__ import annotations

import hashlib
import re

import numpy as np

from ranking.core import Ints
from ranking.core.errors import InputError

MOST_PAIRS = 1_000_000  # of one file


def is_edges_name(text: str) -> bool:
    """Whether `text` could be the name of such a file: only such a text may become part of a path."""
    return re.fullmatch(r"csv-[0-9a-f]{32}", text) is not None


def short_name(name: str) -> str:
    """What people are shown of a name.

    >>> short_name("csv-0123456789abcdef0123456789abcdef")
    'CSV 01234567'
    """
    return f"CSV {name.removeprefix('csv-')[:8]}"


def edges_name(edges: Ints) -> str:
    """The name of pairs (m, 2): equal pairs have equal names."""
    return f"csv-{hashlib.sha256(np.ascontiguousarray(edges, '<i8').tobytes()).hexdigest()[:32]}"


def checked_edges(edges: Ints) -> Ints:
    """`edges` as (m, 2) int64, at most MOST_PAIRS of them, each pair once, its lower sample first, and in ascending
    order; else a ValueError."""
    if edges.ndim != 2 or edges.shape[1] != 2 or not np.issubdtype(edges.dtype, np.integer):
        came = f"{edges.dtype} of shape {edges.shape}"
        raise InputError("pairs", "(m, 2) integers", came, "read them from a CSV")
    if len(edges) > MOST_PAIRS:
        raise InputError("pairs", f"at most {MOST_PAIRS:,}", len(edges), "leave some out")
    first, second = edges[:, 0], edges[:, 1]
    wrong = ~((first >= 0) & (first < second))
    wrong[1:] |= (first[1:] < first[:-1]) | ((first[1:] == first[:-1]) & (second[1:] <= second[:-1]))
    if wrong.any():
        row = int(wrong.argmax())
        before = f" after {edges[row - 1].tolist()}" if row else ""
        raise InputError(
            f"row {row}",
            "each pair once, its lower sample first, and in ascending order",
            f"{edges[row].tolist()}{before}",
            "read them from a CSV, which may have them in any order",
        )
    return edges.astype(np.int64, copy=False)
