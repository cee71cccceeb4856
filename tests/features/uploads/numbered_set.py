"""A small image set of cards, vectors for it, and where files of vectors are looked at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from image_sets import Records
from pyarrow import parquet

from ranking.core import ImageSet, SourceBox, SourceImage
from ranking.datasets import build_image_set, make_source
from ranking.features.uploads.vectors_preview import VectorsPreview, preview_vectors

CARD = next(make_source("Digits").records()).data


def source_of_cards(boxes: list[int], names: list[str] | None = None, features: Any = None) -> Records:
    """Images `img/000.jpg`, ... of two classes in turn, with so many boxes; every third for testing."""
    # features: of each image; None: no image has any.
    images = []
    for number, count in enumerate(boxes):
        name = names[number] if names else f"img/{number:03d}.jpg"
        label = ("even",) if number % 2 == 0 else ("odd",)
        card_boxes = tuple(SourceBox((0, 0, 4, 4 + place), label) for place in range(count))
        given = features[number] if features else None
        images.append(SourceImage(name, CARD, card_boxes, test=number % 3 == 2, features=given))
    return Records(images, "Cards")


def cards(folder: Path, *numbers: Any, **more: Any) -> ImageSet:
    return build_image_set(source_of_cards(*numbers, **more), folder)[0]


def vectors_of(images: ImageSet, columns: int = 5, seed: int = 0) -> np.ndarray:
    """(n, columns) float64: classes apart, in the order of the samples."""
    vectors = np.random.default_rng(seed).normal(size=(len(images), columns))
    vectors[:, 0] += np.where(images.relevance("even") > 0, 4, -4)
    return vectors


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Desk:
    def __init__(self, folder, images) -> None:
        self.folder, self.images, self.target = folder, images, folder / "run" / "vectors.npy"
        self.target.parent.mkdir(parents=True)

    def npy(self, array, **options):
        np.save(self.folder / "my.npy", array, **options)
        return self.preview("my.npy")

    def npz(self, save=np.savez, **arrays):
        save(self.folder / "my.npz", **arrays)
        return self.preview("my.npz")

    def parquet(self, columns, **options):
        parquet.write_table(pa.table(columns), self.folder / "my.parquet", **options)
        return self.preview("my.parquet")

    def text(self, name, content):
        (self.folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return self.preview(name)

    def preview(self, name, **chosen) -> VectorsPreview:
        self.target.unlink(missing_ok=True)
        preview = preview_vectors(self.folder / name, name, self.images, self.target, **chosen)
        assert self.target.exists() == (not preview.refused) == bool(preview.name), (
            "a refused look leaves nothing"
        )
        assert VectorsPreview.from_json(json.loads(json.dumps(preview.to_json()))) == preview
        return preview

    def matrix(self):
        return np.load(self.target, allow_pickle=False)
