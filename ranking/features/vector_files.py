"""Vectors that a person brought, on disk: one matrix a file, a row a sample, named by a hash of what is in it.

The rows are in the order of the samples of one image set, whose key is the name of the folder; each has length 1, or is
all 0. Settings that hold the name find the same numbers wherever the file is. Beside each lies what is told of it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from ranking.core import Features
from ranking.core.errors import InputError

MOST_COLUMNS = 65_536  # of one matrix: names from strangers tell how wide a matrix is, before there is one
ROWS_BYTES = 2**25  # how much of a matrix is in memory while it is hashed


@dataclass(frozen=True)
class KeptVectors:
    """What is told of vectors that are kept.

    title: what the person calls the file that they came in. columns: how many it had; those that were the same for all
    samples are left out. matched: by what its rows were matched to samples, in words. kept: when, in seconds since the
    epoch. lent: whether they are another home's.
    """

    name: str
    title: str
    columns: int
    matched: str
    kept: float
    lent: bool = False

    @property
    def size(self) -> int:
        """How many columns are kept."""
        return columns_of(self.name)


def is_vectors_name(text: str) -> bool:
    """Whether `text` could be the name of such a file: only such a text may become part of a path.

    >>> is_vectors_name("own-0123456789abcdef0123456789abcdef-512"), is_vectors_name("own-0123-99999999999")
    (True, False)
    """
    found = re.fullmatch(r"own-[0-9a-f]{32}-([1-9][0-9]{0,4})", text)
    return found is not None and int(found[1]) <= MOST_COLUMNS


def columns_of(name: str) -> int:
    """The width of the matrix of that name.

    >>> columns_of("own-0123456789abcdef0123456789abcdef-512")
    512
    """
    return int(name.rpartition("-")[2])


def short_name(name: str) -> str:
    """What people are shown of a name.

    >>> short_name("own-0123456789abcdef0123456789abcdef-512")
    'own 01234567'
    """
    return f"own {name.removeprefix('own-')[:8]}"


def vectors_name(matrix: Features) -> str:
    """The name of a matrix (n, d) of float32: equal matrices have equal names."""
    told = hashlib.sha256(repr(matrix.shape).encode())
    rows = max(1, ROWS_BYTES // max(1, matrix.shape[1] * 4))
    for start in range(0, len(matrix), rows):
        told.update(np.ascontiguousarray(matrix[start : start + rows], "<f4").tobytes())
    return f"own-{told.hexdigest()[:32]}-{matrix.shape[1]}"


def vectors_file(folder: Path, set_key: str, name: str) -> Path:
    """Where below `folder` the vectors of that name of an image set lie."""
    return folder / set_key / f"{name}.npy"


def keep_vectors(folder: Path, set_key: str, draft: Path, told: KeptVectors) -> None:
    """Move the matrix in the file `draft` among the vectors of an image set. A reader finds all of it or nothing.

    Where they are there already, what is told of them is told anew.
    """
    if not is_vectors_name(told.name):
        raise InputError("name", "the name of vectors", f"{told.name!r:.80}", "upload the file again")
    target = vectors_file(folder, set_key, told.name)
    target.parent.mkdir(parents=True, exist_ok=True)
    half_written = target.with_suffix(".part")
    written = {name: value for name, value in asdict(told).items() if name not in ("name", "lent")}
    half_written.write_text(json.dumps(written))
    os.replace(half_written, target.with_suffix(".json"))
    os.replace(draft, target)  # last: vectors that nothing is told of are not listed


def kept_vectors(folder: Path, set_key: str, lent: bool = False) -> list[KeptVectors]:
    """What is told of the vectors that were kept of an image set, those kept last first."""
    files = [file for file in (folder / set_key).glob("own-*.npy") if is_vectors_name(file.stem)]
    return sorted((_told(file, lent) for file in files), key=lambda told: (-told.kept, told.name))


def _told(file: Path, lent: bool) -> KeptVectors:
    """What lies beside a file; where that was damaged by another hand, what the file itself tells."""
    name = file.stem
    known = {item.name for item in fields(KeptVectors)} - {"name", "lent"}
    try:
        told = json.loads(file.with_suffix(".json").read_text())
        return KeptVectors(name, lent=lent, **{key: told[key] for key in known})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return KeptVectors(name, short_name(name), columns_of(name), "", time.time(), lent)


def remove_vectors(folder: Path, set_key: str, name: str) -> None:
    """Remove vectors and what is told of them, for good. Repeating it is harmless."""
    if not is_vectors_name(name):
        raise InputError("name", "the name of vectors", f"{name!r:.80}", "choose those of the list")
    file = vectors_file(folder, set_key, name)
    file.unlink(missing_ok=True)
    file.with_suffix(".json").unlink(missing_ok=True)
