"""An image of a person's own, to rank its labels: checked as imports are, and described, by a process of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ranking.apart import answer_apart, ask_apart
from ranking.datasets import build_image_set, load_image_set
from ranking.datasets.build import check
from ranking.errors import InputError
from ranking.features import load_features
from ranking.features.onnx_model import OnnxModel
from ranking.intake import Limits
from ranking.store import Store
from ranking.types import Features, ImageSet, SourceBox, SourceImage

Parts = Sequence[tuple[str, Mapping[str, Any]]]
SET = "set"  # the folder of the set of one image


@dataclass(frozen=True)
class OneImage:
    """A source of one image. Imports need a class; this one says nothing of the image, and nobody looks at it."""

    name: ClassVar[str] = "one image"
    bundled: ClassVar[bool] = False

    file: Path

    def title(self) -> str:
        return "This file"

    def __len__(self) -> int:
        return 1

    def records(self) -> Iterator[SourceImage]:
        yield SourceImage("own image", self.file, (SourceBox(None, ("?",)),), test=True)


def describe_apart(store: Store, data: bytes, parts: Parts, folder: Path) -> tuple[ImageSet, Features]:
    """The image in `data` (JPEG, PNG or WebP) as a set of one, and its features (1, d); both lie in the empty `folder`.

    ValueError, with what was expected and what came, where it is no image that can be ranked.
    """
    ask_apart("ranking.own_image", [str(store.home), str(folder), json.dumps(parts)], data)
    images = load_image_set(folder / SET)
    return images, load_features(images, parts, folder)


def describe(store: Store, data: bytes, parts: Parts, folder: Path) -> None:
    """The same by this process; `load_features` finds in `folder` what was computed."""
    source = OneImage(folder / "brought")
    source.file.write_bytes(
        data
    )  # a file's pixels are turned as EXIF says; bytes are what a source drew itself
    outcome = check(next(source.records()), Limits.from_environment())
    if outcome.image is None:
        wrong = outcome.problems[0]
        raise InputError("this file", wrong.expected, wrong.came)
    images, _ = build_image_set(source, folder / SET)
    for name, settings in parts:
        if name == OnnxModel.name:
            store.place_model(str(settings.get("model")), folder)
    load_features(images, parts, folder)


def _work(arguments: list[str], data: bytes) -> dict[str, Any]:
    home, folder, parts = arguments
    describe(
        Store(Path(home)), data, [(name, settings) for name, settings in json.loads(parts)], Path(folder)
    )
    return {}


if __name__ == "__main__":
    answer_apart(_work)
