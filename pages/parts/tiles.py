"""Samples and images as tiles of the grid, and as boxes on a whole image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pages.parts import cache
from pages.parts.cache import Ranking
from pages.parts.colours import IRRELEVANT, OF_CLASSES, RELEVANT
from pages.parts.grid import Tile
from pages.parts.picture import Box, data_url
from ranking.datasets import Thumbnails
from ranking.types import ImageSet


def ranked_tiles(images: ImageSet, ranked: Ranking, places: Sequence[int], k: int) -> list[Tile]:
    """A tile a place (from 0): rank and score, marked by relevance; the k-th says that it is the k-th."""
    thumbnails = cache.thumbnails(images.key)
    shown = [_ranked_tile(images, thumbnails, ranked, place) for place in places]
    return [
        replace(tile, below=f"k = {k}") if place == k - 1 else tile
        for place, tile in zip(places, shown, strict=True)
    ]


def _ranked_tile(images: ImageSet, thumbnails: Thumbnails, ranked: Ranking, place: int) -> Tile:
    row, score = int(ranked.samples[place]), ranked.scores[place]
    relevant = bool(ranked.relevance[place])
    shown = ", ".join(classes_of(images, row)) or "no class"
    return Tile(
        id=str(images.ids[row]),
        src=data_url(thumbnails.crop(row)),
        alt=f"rank {place + 1}, {'relevant' if relevant else 'not relevant'}, score {score:.3g}, "
        f"shows {shown}, image {images.image_names[images.image_of[row]]}",
        left=f"{place + 1}",
        right=f"{score:+#.3g}",
        mark="relevant" if relevant else "irrelevant",
    )


def image_tiles(images: ImageSet, numbers: Sequence[int]) -> list[Tile]:
    """A tile an image: its name, its split and how many boxes it has."""
    thumbnails = cache.thumbnails(images.key)
    boxes = np.bincount(images.image_of, minlength=len(images.image_names))
    tiles = []
    for image in numbers:
        split = "test" if images.image_test[image] else "train"
        name, count = str(images.image_names[image]), int(boxes[image])
        counted = "1 box" if count == 1 else f"{count} boxes"
        src = data_url(thumbnails.image(image))
        tiles.append(Tile(str(image), src, f"image {name}, {split}, {counted}", name, f"{split} · {count}"))
    return tiles


def sample_tiles(images: ImageSet, thumbnails: Thumbnails, rows: Sequence[int]) -> list[Tile]:
    """A tile a sample: what it shows."""
    tiles = []
    for row in rows:
        shown = ", ".join(classes_of(images, row)) or "no class"
        alt = f"sample {images.ids[row]} shows {shown}"
        tiles.append(Tile(str(images.ids[row]), data_url(thumbnails.crop(row)), alt, shown))
    return tiles


def classes_of(images: ImageSet, row: int) -> list[str]:
    return [name for name, shown in zip(images.classes, images.labels[row], strict=True) if shown]


def class_boxes(images: ImageSet, image: int) -> list[Box]:
    """All boxes of an image, labelled and coloured by class."""
    found = []
    for row in np.flatnonzero(images.image_of == image).tolist():
        shown = np.flatnonzero(images.labels[row])
        colour = OF_CLASSES[int(shown[0]) % len(OF_CLASSES)] if len(shown) else OF_CLASSES[-1]
        found.append(Box(_edges(images, row), ", ".join(classes_of(images, row)) or "no class", colour))
    return found


def relevance_boxes(images: ImageSet, query: str, chosen: int) -> list[Box]:
    """All boxes of the image of sample `chosen`, marked by relevance to `query`, `chosen` drawn thicker."""
    relevance = images.relevance(query)
    found = []
    for row in np.flatnonzero(images.image_of == images.image_of[chosen]).tolist():
        relevant, strong = bool(relevance[row]), bool(row == chosen)
        label = ", ".join(classes_of(images, row)) or "no class"
        colour = RELEVANT if relevant else IRRELEVANT
        found.append(Box(_edges(images, row), label if strong else "", colour, not relevant, strong))
    return found


def _edges(images: ImageSet, row: int) -> tuple[int, int, int, int]:
    left, top, right, bottom = (int(edge) for edge in images.boxes[row])
    return left, top, right, bottom
