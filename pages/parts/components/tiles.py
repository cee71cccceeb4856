"""Samples and images as tiles of the grid, and as boxes on a whole image."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from pages.parts.app import cache, keys
from pages.parts.app.colours import IRRELEVANT, IRRELEVANT_GLYPH, OF_CLASSES, RELEVANT, RELEVANT_GLYPH
from pages.parts.components.picture import Box, picture
from pages.parts.components.tile import Tile
from ranking.core import Bools, ImageSet, Ints
from ranking.core.text import written
from ranking.datasets import Thumbnails
from ranking.metrics.ranked import Ranking, precision_terms
from ranking.reports.markup import data_url


def ranked_tiles(
    images: ImageSet,
    ranked: Ranking,
    places: Sequence[int],
    whole: bool = False,
    corrected: Mapping[str, bool] | None = None,
) -> list[Tile]:
    """A tile a place (from 0): rank and score, marked by relevance.

    whole: not the crop but the whole image is shown, with the sample's box on it. corrected: whether samples are
    relevant by a correction, by their ids.
    """
    thumbnails, corrected = cache.thumbnails(images.key), corrected or {}
    shown = [_ranked_tile(images, thumbnails, ranked, place, whole) for place in places]
    return [_corrected(tile, corrected[tile.id]) if tile.id in corrected else tile for tile in shown]


def _corrected(tile: Tile, relevant: bool) -> Tile:
    """The tile of a sample that is relevant, or not, by a correction."""
    return replace(
        tile,
        alt=f"{tile.alt}, corrected to {judged(relevant)}",
        card=(*tile.card, ("corrected to", judged(relevant))),
        corrected=glyph(relevant),
    )


def judged(relevant: bool) -> str:
    """Whether a sample is relevant, in words."""
    return "relevant" if relevant else "irrelevant"


def glyph(relevant: bool) -> str:
    return RELEVANT_GLYPH if relevant else IRRELEVANT_GLYPH


def _ranked_tile(images: ImageSet, thumbnails: Thumbnails, ranked: Ranking, place: int, whole: bool) -> Tile:
    row, score = int(ranked.samples[place]), ranked.scores[place]
    image, relevant = int(images.image_of[row]), bool(ranked.relevance[place])
    shown, name = shows(images, row), image_name(images, row)
    return Tile(
        id=str(images.ids[row]),
        src=data_url(thumbnails.image(image) if whole else thumbnails.crop(row)),
        alt=f"rank {place + 1}, {judged(relevant)}, score {score:.3g}, shows {shown}, image {name}",
        left=f"{place + 1}",
        right=f"{score:+#.3g}",
        mark="relevant" if relevant else "irrelevant",
        box=share_of_tile(images, row) if whole else None,
        card=(
            ("rank", f"{place + 1:,} of {len(ranked):,}, {judged(relevant)}"),
            ("score", f"{score:+#.4g}"),
            ("shows", shown),
            ("image", name),
        ),
    )


def top_tiles(
    images: ImageSet, ranked: Ranking, count: int | None = None, thumbnails: Thumbnails | None = None
) -> list[Tile]:
    """The first places of a ranking, or all, to be looked at only: rank and relevance, no score."""
    thumbnails = thumbnails or cache.thumbnails(images.key)
    places = range(len(ranked))[:count]
    return [replace(_ranked_tile(images, thumbnails, ranked, place, False), right="") for place in places]


def with_terms(shown: Sequence[Tile], relevance: Ints) -> list[Tile]:
    """The tiles of a whole ranking; below a relevant one stands its term of AP: relevant so far / place."""
    terms = {place: f"{relevant}/{place}" for relevant, place in precision_terms(relevance)}
    return [replace(tile, right=terms.get(place, "")) for place, tile in enumerate(shown, start=1)]


def share_of_tile(images: ImageSet, row: int) -> tuple[float, float, float, float]:
    """Left, top, width and height of a sample's box, where its whole image is fitted into a square of side 1."""
    left, top, right, bottom = _edges(images, row)
    width, height = (int(side) for side in images.image_sizes[images.image_of[row]])
    side = max(width, height)
    across, down = (side - width) / 2, (side - height) / 2
    return (left + across) / side, (top + down) / side, (right - left) / side, (bottom - top) / side


def image_tiles(images: ImageSet, numbers: Sequence[int]) -> list[Tile]:
    """A tile an image, for its first sample: its name, its split and how many boxes it has."""
    thumbnails = cache.thumbnails(images.key)
    tiles = []
    for image in numbers:
        rows = samples_of(images, image)
        split = "test" if images.image_test[image] else "train"
        name, counted = str(images.image_names[image]), "1 box" if len(rows) == 1 else f"{len(rows)} boxes"
        classes = sorted({shown for row in rows for shown in classes_of(images, row)})
        shown = (
            _class_names(classes[:12])
            if images.classes
            else "; ".join(shows(images, row) for row in rows[:12])
        )
        tiles.append(
            Tile(
                str(images.ids[rows[0]]),
                data_url(thumbnails.image(image)),
                f"image {name}, {split}, {counted}",
                name,
                f"{split} · {len(rows)}",
                card=(
                    ("image", name),
                    ("split", split),
                    ("boxes", str(len(rows))),
                    ("shows", shown),
                ),
            )
        )
    return tiles


def samples_of(images: ImageSet, image: int) -> list[int]:
    """The rows of an image's samples; an image without one is in no set."""
    return [int(row) for row in np.flatnonzero(images.image_of == image)]


def sample_tiles(images: ImageSet, thumbnails: Thumbnails, rows: Sequence[int]) -> list[Tile]:
    """A tile a sample: what it shows."""
    tiles = []
    for row in rows:
        shown = shows(images, row)
        alt = f"sample {images.ids[row]} shows {shown}"
        tiles.append(Tile(str(images.ids[row]), data_url(thumbnails.crop(row)), alt, shown))
    return tiles


def marked_tile(images: ImageSet, row: int, relevant: bool) -> Tile:
    """A tile of a sample that is ranked differently from one iteration to the next."""
    thumbnails = cache.thumbnails(images.key)
    return Tile(
        id=str(row),
        src=data_url(thumbnails.crop(row)),
        alt=f"{judged(relevant)}, shows {shows(images, row)}, image {image_name(images, row)}",
        mark="relevant" if relevant else "irrelevant",
    )


def plain_tile(images: ImageSet, row: int, right: str) -> Tile:
    """A tile of a sample without a mark. right: what stands below it."""
    alt = f"{right}, image {image_name(images, row)}"
    return Tile(str(row), data_url(cache.thumbnails(images.key).crop(row)), alt, right=right)


def shows(images: ImageSet, row: int) -> str:
    """What a sample shows, in words; of a set without classes, its numbers."""
    return _class_names(classes_of(images, row)) if images.classes else numbers_of(images, row) or "no number"


def numbers_of(images: ImageSet, row: int) -> str:
    """What the criteria of a set measure of a sample, in words; "" where nothing is known."""
    numbers = zip(images.criteria, images.numbers[row].tolist(), strict=True)
    return ", ".join(f"{name} {written(number)}" for name, number in numbers if not math.isnan(number))


def _class_names(classes: Sequence[str]) -> str:
    return ", ".join(classes) or "no class"


def classes_of(images: ImageSet, row: int) -> list[str]:
    return [name for name, shown in zip(images.classes, images.labels[row], strict=True) if shown]


def image_name(images: ImageSet, row: int) -> str:
    """The name of the image that a sample is of."""
    return str(images.image_names[images.image_of[row]])


def show_image(images: ImageSet, image: int, boxes: Sequence[Box], alt: str, key: str) -> None:
    """A whole image of a set with boxes on it."""
    width, height = images.image_sizes[image].tolist()
    picture(cache.whole_image(images.key, image), (width, height), boxes, alt=alt, key=keys.widget(key))


def class_boxes(images: ImageSet, image: int, chosen: int | None = None) -> list[Box]:
    """All boxes of an image, labelled and coloured by class, that of sample `chosen` drawn thicker."""
    boxes = []
    for row in samples_of(images, image):
        shown = np.flatnonzero(images.labels[row])
        colour = OF_CLASSES[int(shown[0]) % len(OF_CLASSES)] if len(shown) else OF_CLASSES[-1]
        boxes.append(Box(_edges(images, row), shows(images, row), colour, strong=row == chosen))
    return boxes


def relevance_boxes(images: ImageSet, query: str, chosen: int, corrections: Sequence[str] = ()) -> list[Box]:
    """All boxes of the image of sample `chosen`, marked by relevance to `query`, `chosen` drawn thicker. corrections:
    as of `TrainSettings`."""
    relevance = images.relevance(query, corrections)
    return [
        _marked_box(
            images, row, bool(relevance[row]), row == chosen, shows(images, row) if row == chosen else ""
        )
        for row in samples_of(images, int(images.image_of[chosen]))
    ]


def _marked_box(images: ImageSet, row: int, relevant: bool, strong: bool, text: str) -> Box:
    colour = RELEVANT if relevant else IRRELEVANT
    return Box(_edges(images, row), text, colour, not relevant, bool(strong))


def labelled_tiles(images: ImageSet, rows: Ints, labels: Bools) -> list[Tile]:
    """A tile a sample, marked by its label (n,)."""
    thumbnails = cache.thumbnails(images.key)
    return [
        Tile(
            id=str(images.ids[row]),
            src=data_url(thumbnails.crop(int(row))),
            alt=f"labelled {judged(labels[row])}, shows {shows(images, int(row))}",
            mark="relevant" if labels[row] else "irrelevant",
        )
        for row in rows
    ]


def labelled_boxes(images: ImageSet, labels: Bools, turning: Bools, chosen: int) -> list[Box]:
    """All boxes of the image of sample `chosen`, marked by their label (n,); those that are `turning` (n,) are drawn
    thicker, and `chosen` says that it is the one."""
    boxes = []
    for row in samples_of(images, int(images.image_of[chosen])):
        text = glyph(labels[row])
        if turning[row]:
            text += " selected" if row == chosen else " turns"
        boxes.append(_marked_box(images, row, bool(labels[row]), bool(turning[row]), text))
    return boxes


def explain_cards(images: ImageSet) -> None:
    """Why a set shows no pictures, where it has none."""
    if images.image_features is not None:
        st.caption("This set has features and no pictures, so a card stands for each sample.")


def _edges(images: ImageSet, row: int) -> tuple[int, int, int, int]:
    left, top, right, bottom = (int(edge) for edge in images.boxes[row])
    return left, top, right, bottom
