"""Names of vectors that a person uploads, one row per sample of an image set: a hash of the matrix, and its width.

Settings that hold the name mean the same numbers everywhere.
"""

from __future__ import annotations

import hashlib
import re

import numpy as np

from ranking.core import Features

MOST_COLUMNS = 65_536  # of one matrix: names from strangers tell how wide a matrix is, before there is one
ROWS_BYTES = 2**25  # how much of a matrix is in memory while it is hashed


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
