"""What examples of formats share: files and photographs of noise in a folder, and what is read from them."""

from __future__ import annotations

import json
from pathlib import Path

import archives
import numpy as np
from archives import in_memory
from PIL import Image

from ranking.core import Problem, SourceImage
from ranking.datasets import build_image_set, make_source

CLASSES = ("cat", "dog")
# What the example of each format with boxes holds: two images to train on, and one to test on.
BOXES = [[0, 0, 20, 15], [10, 5, 20, 15], [1, 2, 4, 6], [0, 0, 40, 30]]
IS_SECOND, IS_TEST = [0, 1, 1, 0], [False, False, False, True]


def packed(path: Path, entries) -> Path:
    """The ZIP file `path` of these entries (see archives.packed)."""
    path.write_bytes(archives.packed(entries))
    return path


def photograph(size=(40, 30), seed=0, kind="JPEG", **options):
    """The bytes of an image of noise."""
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), np.uint8)
    return in_memory(lambda stream: Image.fromarray(pixels).save(stream, kind, **options))


def lay(root: Path, files: dict[str, object]) -> Path:
    """Write `files` below `root`: bytes and text as they are, None for a photograph, the rest as JSON."""
    for seed, (name, content) in enumerate(files.items()):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            content = photograph(seed=seed)
        elif not isinstance(content, str | bytes):
            content = json.dumps(content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def build(source, place, **settings):
    """The set and its report, built beside the place in a folder of its own."""
    number = len(list(place.parent.glob("built-*")))
    return build_image_set(
        make_source(source, folder=str(place), **settings), place.parent / f"built-{number}"
    )


def read(source, place, **settings):
    """The images of a source by name, and its problems without the rows about a split that is drawn."""
    records = list(make_source(source, folder=str(place), **settings).records())
    images = {item.name: item for item in records if isinstance(item, SourceImage)}
    return images, [item for item in records if isinstance(item, Problem) and item.file != "test split"]


def check_rows(problems, *expected):
    """There is a problem for each of `expected`: its file, and parts of what came instead."""
    assert [row.file for row in problems] == [file for file, *_ in expected]
    for row, (_, *parts) in zip(problems, expected, strict=True):
        assert all(part in row.came for part in parts), row


def images_and_problems(source):
    records = list(source.records())
    images = [item for item in records if isinstance(item, SourceImage)]
    return images, [item for item in records if isinstance(item, Problem)]
