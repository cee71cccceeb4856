"""How much an import may take: each limit has a stated default, and an environment variable that sets another."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields
from typing import Self

from ranking.core.errors import InputError

PREFIX = "RANKING_INTAKE_"
WHOLE = "a whole number, at least 1"


@dataclass(frozen=True)
class Limits:
    """Field `pixels` is set by RANKING_INTAKE_PIXELS, and so on. Each is a whole number, 1 at least. An error
    about a value beyond a limit names its `variable`; docs/image_sets.md lists them.

    What an import may take of the machine's memory is set by RANKING_WORKER_MEMORY: 4 GiB of addresses where it is not.
    """

    entries: int = 200_000  # files and folders in what is brought; COCO's largest part has 118,000 images
    total_bytes: int = 8 * 2**30  # that a ZIP file expands to
    ratio: int = 100  # that a ZIP file expands by; annotations alone come to about thirty
    name_length: int = 1_000  # characters of a file's whole name in the tree
    image_bytes: int = 50 * 2**20  # of one image file
    pixels: int = 50_000_000  # of one image, by its header; Pillow itself refuses more than 89 million
    boxes: int = 10_000  # of one image: each is cut out and kept as a small picture
    samples: int = 1_000_000  # of one set; COCO's largest part has 860,000 boxes
    json_bytes: int = 64 * 2**20  # of one file of annotations, which takes up to fifteen times that in memory
    table_bytes: int = 64 * 2**20  # of one CSV, TSV or Parquet file, as it is and as it claims to expand to
    vector_bytes: int = (
        2**30
    )  # of one array of features that a person brings, and of the matrix that comes of it
    network_bytes: int = 512 * 2**20  # of one model in ONNX
    network_memory: int = 4 * 2**30  # of addresses of the process that runs it
    load_seconds: int = 60  # that loading it may take
    image_seconds: int = 20  # that it may take for one image
    network_seconds: int = 7_200  # for all images of a training together
    seconds: int = 3_600  # that an import, or a look at what was brought, may take in all
    stored_bytes: int = 16 * 2**30  # that an import may write: a row of twelve letters is a crop of kilobytes

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(item.name, WHOLE, f"{value!r:.40}")

    @property
    def too_slow(self) -> str:
        """What is said of work that took longer than `seconds`."""
        return f"the import took more than {self.seconds:,} seconds; bring fewer images, or set {variable('seconds')}"

    @classmethod
    def from_environment(cls) -> Self:
        """The limits that environment variables set, the defaults elsewhere; ValueError that names the variable."""
        values = {}
        for item in fields(cls):
            text = os.environ.get(variable(item.name))
            if text:
                if not re.fullmatch(r"0*[1-9][0-9]{0,17}", text):
                    raise InputError(variable(item.name), WHOLE, f"{text!r:.80}")
                values[item.name] = int(text)
        return cls(**values)


def variable(name: str) -> str:
    """
    >>> variable("image_bytes")
    'RANKING_INTAKE_IMAGE_BYTES'
    """
    return PREFIX + name.upper()


def megabytes(most: int, name: str = "") -> str:
    """How many bytes are allowed, in words, and the variable of the limit that says so, where it is one.

    >>> megabytes(50 * 2**20, "image_bytes"), megabytes(2**20)
    ('50 MB (RANKING_INTAKE_IMAGE_BYTES)', '1 MB')
    """
    return f"{most / 2**20:g} MB" + (f" ({variable(name)})" if name else "")
