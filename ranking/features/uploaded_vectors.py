"""Uploaded vectors for the samples of an image set, such as the outputs of a custom network.

Their name, stored in settings, is a hash of the matrix and its width: equal vectors have equal names.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from PIL import Image

from ranking.core import Feature, Features
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.features.registry import FEATURES

# of one matrix: an untrusted name states the width of a matrix before it exists
MAX_COLUMNS = 65_536
# of a matrix in memory while it is hashed
ROWS_BYTES = 2**25


@FEATURES.register("Own vectors")
@dataclass
class OwnVectors(Feature):
    """One row of length 1 (0 stays 0) per sample, read by `ranking.features.uploads`.

    They cannot be computed for other images.
    """

    order: ClassVar[int] = 30
    default: ClassVar[bool] = False
    version: ClassVar[int] = 1
    whole_image: ClassVar[bool] = False
    supplied: ClassVar[bool] = True

    vectors: str = setting(
        "", label="Uploaded vectors", help="The name of vectors that were uploaded for the image set."
    )

    def __post_init__(self) -> None:
        if not isinstance(self.vectors, str) or not is_vectors_name(self.vectors):
            raise InputError(
                self.name,
                "the name of vectors that were uploaded for the image set",
                f"{self.vectors!r:.80}",
                "upload the file on the page Image sets, and choose the vectors there",
            )

    @property
    def size(self) -> int:
        return columns_of(self.vectors)

    def describe(self, crop: Image.Image) -> npt.NDArray[np.float32]:
        raise InputError(
            f"vectors of {short_name(self.vectors)}",
            "vectors that were uploaded for these samples, because they cannot be computed from an image",
            "none",
            "for samples of their image set, upload the file again on the page Image sets: equal vectors have the same "
            "name; for another image, choose a training run with features of images",
        )


def is_vectors_name(text: str) -> bool:
    """Return whether `text` can be the name of vectors; no other text may become part of a path.

    >>> is_vectors_name("own-0123456789abcdef0123456789abcdef-512"), is_vectors_name("own-0123-99999999999")
    (True, False)
    """
    matched = re.fullmatch(r"own-[0-9a-f]{32}-([1-9][0-9]{0,4})", text)
    return matched is not None and int(matched[1]) <= MAX_COLUMNS


def columns_of(name: str) -> int:
    """Return the width of the matrix of that name.

    >>> columns_of("own-0123456789abcdef0123456789abcdef-512")
    512
    """
    return int(name.rpartition("-")[2])


def short_name(name: str) -> str:
    """Return a name as shown on pages.

    >>> short_name("own-0123456789abcdef0123456789abcdef-512")
    'own 01234567'
    """
    return f"own {name.removeprefix('own-')[:8]}"


def vectors_name(matrix: Features) -> str:
    """Return the name of a matrix (n, d) of float32: equal matrices have equal names."""
    digest = hashlib.sha256(repr(matrix.shape).encode())
    rows = max(1, ROWS_BYTES // max(1, matrix.shape[1] * 4))
    for start in range(0, len(matrix), rows):
        digest.update(np.ascontiguousarray(matrix[start : start + rows], "<f4").tobytes())
    return f"own-{digest.hexdigest()[:32]}-{matrix.shape[1]}"
