"""Pairs of samples that a person brought, on disk: one file a list of pairs, named by a hash of what is in it.

The pairs are row numbers of one image set, whose key is the name of the folder, so that settings that hold the key
and the name find the same pairs wherever the file is.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from pathlib import Path

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


def edges_file(folder: Path, set_key: str, name: str) -> Path:
    """Where below `folder` the pairs of that name of an image set lie."""
    return folder / set_key / f"{name}.npy"


def keep_edges(folder: Path, set_key: str, edges: Ints) -> str:
    """Write pairs of an image set where they are not there yet, and return their name. They are on the disk then.

    ValueError unless they are as `checked_edges` has them. A reader never sees half a file.
    """
    name = edges_name(checked_edges(edges))
    path = edges_file(folder, set_key, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, half_written = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.save(file, np.asarray(edges, np.int64))
            file.flush()
            os.fsync(file.fileno())
        os.replace(half_written, path)
    except BaseException:
        Path(half_written).unlink(missing_ok=True)
        raise
    return name


def load_edges(folder: Path, set_key: str, name: str) -> Ints:
    """The pairs of that name of an image set. ValueError, with the remedy, where they are not there or damaged."""
    again = "upload the CSV again on the page Train: equal pairs have the same name"
    subject = f"pairs of {short_name(name)}"
    file = edges_file(folder, set_key, name)
    try:
        edges = np.load(file, allow_pickle=False)
    except FileNotFoundError as error:
        raise InputError(subject, f"a file in {folder.parent}", "none", again) from error
    except (OSError, ValueError, EOFError) as error:
        raise InputError(subject, f"an array of NumPy in {file}", "a damaged file", again) from error
    if edges.dtype != np.int64 or edges_name(edges) != name:
        expected = f"the pairs in {file} from which its name was made"
        raise InputError(subject, expected, f"others, {edges.dtype} of shape {edges.shape}", again)
    return checked_edges(edges)


def kept_edges(folder: Path, set_key: str) -> list[str]:
    """The names of the pairs that were kept of an image set, those written last first."""
    files = [file for file in (folder / set_key).glob("csv-*.npy") if is_edges_name(file.stem)]
    return [file.stem for file in sorted(files, key=lambda file: (-file.stat().st_mtime, file.stem))]


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
