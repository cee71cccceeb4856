"""An uploaded image whose labels are ranked: checked as imports are, and described by an isolated process.

The image is not kept; answers about it have its checksum as the name of the image.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ranking.core import Features, ImageSet, Source, SourceBox, SourceImage
from ranking.core.errors import InputError
from ranking.datasets import build_image_set, load_image_set
from ranking.datasets.build import check
from ranking.features import load_features
from ranking.features.onnx_model import OnnxModel
from ranking.files import Limits
from ranking.files.isolated import ask, serve
from ranking.workspace.store import Store

Parts = Sequence[tuple[str, Mapping[str, Any]]]
SET = "set"  # the folder of the set of one image


def name_of(data: bytes) -> str:
    """Return the name of an image, a checksum of its file.

    >>> name_of(b"")
    'own-e3b0c44298fc1c14'
    """
    return f"own-{hashlib.sha256(data).hexdigest()[:16]}"


@dataclass(frozen=True)
class OneImage(Source):
    """A source of one image. Imports need a class, so it has a class that is never shown."""

    name: ClassVar[str] = "one image"

    file: Path

    def title(self) -> str:
        return "This file"

    def __len__(self) -> int:
        return 1

    def records(self) -> Iterator[SourceImage]:
        yield SourceImage("own image", self.file, (SourceBox(None, ("?",)),), test=True)


def describe_isolated(store: Store, data: bytes, parts: Parts, folder: Path) -> tuple[ImageSet, Features]:
    """Return the image in `data` (JPEG, PNG or WebP) as a set in the empty `folder`, and its (1, d) features.

    ValueError, with the expected and the actual content, for a file that cannot be used.
    """
    ask("ranking.jobs.uploaded_image", [str(store.home), str(folder), json.dumps(parts)], data)
    images = load_image_set(folder / SET)
    return images, load_features(images, parts, folder)


def describe(store: Store, data: bytes, parts: Parts, folder: Path) -> None:
    """Do the work of `describe_isolated` in this process; `load_features` finds the features in `folder`."""
    source = OneImage(folder / "upload")
    source.file.write_bytes(
        data
    )  # pixels of files are rotated by EXIF; pixels that a source generated are not
    outcome = check(next(source.records()), Limits.from_environment())
    if outcome.image is None:
        wrong = outcome.problems[0]
        raise InputError("this file", wrong.expected, wrong.came)
    images, _ = build_image_set(source, folder / SET)
    for name, settings in parts:
        if name == OnnxModel.name:
            store.place_model(str(settings.get("model")), folder)
    load_features(images, parts, folder)


def _work(arguments: list[str], data: bytes) -> bytes:
    home, folder, parts = arguments
    describe(
        Store(Path(home)), data, [(name, settings) for name, settings in json.loads(parts)], Path(folder)
    )
    return b""


if __name__ == "__main__":
    serve(_work)
