"""Import limits: each has a default, and an environment variable that overrides it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields
from typing import Self

from ranking.core.errors import InputError

PREFIX = "RANKING_IMPORT_"


@dataclass(frozen=True)
class Limits:
    """Field `pixels` is set by RANKING_IMPORT_PIXELS, and so on. Each is a whole number, at least 1. An error about a
    value beyond a limit names its `variable`; docs/image_sets.md lists them.

    RANKING_WORKER_MEMORY limits the address space of an import; its default is 4 GiB.
    """

    # files and folders of an import; COCO's largest part has 118,000 images
    entries: int = 200_000
    # expanded size of an archive
    total_bytes: int = 8 * 2**30
    # of one image file
    image_bytes: int = 50 * 2**20
    # of one image, by its header; Pillow itself refuses more than 89 million
    pixels: int = 50_000_000
    # of one image: each becomes a stored thumbnail
    boxes: int = 10_000
    # of one image set; COCO's largest part has 860,000 boxes
    samples: int = 1_000_000
    # of one annotation file, which needs up to 15 times its size in memory
    json_bytes: int = 64 * 2**20
    # of one CSV, TSV or Parquet file, the latter also without compression
    table_bytes: int = 64 * 2**20
    # of one uploaded array of features, and of the matrix made from it
    vector_bytes: int = 2**30
    # for a whole import or preview
    seconds: int = 3_600
    # Written by an import: a table row of 12 bytes can become a crop of kilobytes.
    stored_bytes: int = 16 * 2**30

    @property
    def too_slow(self) -> str:
        """The message for work that took longer than `seconds`."""
        return f"the import exceeded {self.seconds:,} seconds. Import fewer images, or raise {variable('seconds')}"

    @classmethod
    def from_environment(cls) -> Self:
        """Return the limits set by environment variables, or their defaults; ValueError names an invalid variable."""
        given = {item.name: os.environ.get(variable(item.name)) for item in fields(cls)}
        return cls(**{name: _whole(variable(name), text) for name, text in given.items() if text})


def _whole(name: str, text: str) -> int:
    if not re.fullmatch(r"0*[1-9][0-9]{0,17}", text):
        raise InputError(name, "a whole number, at least 1", f"{text!r:.80}")
    return int(text)


def variable(name: str) -> str:
    """
    >>> variable("image_bytes")
    'RANKING_IMPORT_IMAGE_BYTES'
    """
    return PREFIX + name.upper()


def megabytes(most: int, name: str = "") -> str:
    """Return a number of bytes as text, with the variable of the limit `name`, if one is given.

    >>> megabytes(50 * 2**20, "image_bytes"), megabytes(2**20)
    ('50 MB (RANKING_IMPORT_IMAGE_BYTES)', '1 MB')
    """
    return f"{most / 2**20:g} MB" + (f" ({variable(name)})" if name else "")
