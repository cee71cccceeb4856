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
from pages.parts.components.play_bar import Boxes
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
    """One tile per position in `places` (from 0) with rank and score, marked by relevance."""
    # whole: show the whole image with the sample's box instead of the crop. corrected: corrected relevance by
    # sample id.
    thumbnails, corrected = cache.thumbnails(images.key), corrected or {}
    shown = [_ranked_tile(images, thumbnails, ranked, place, whole) for place in places]
    return [_corrected(tile, corrected[tile.id]) if tile.id in corrected else tile for tile in shown]


def _corrected(tile: Tile, relevant: bool) -> Tile:
    """A tile with the corrected relevance of its sample."""
    return replace(
        tile,
        alt=f"{tile.alt}, corrected to {judged(relevant)}",
        card=(*tile.card, ("corrected to", judged(relevant))),
        corrected=glyph(relevant),
    )


def judged(relevant: bool) -> str:
    """The word for the relevance of a sample."""
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
    """Tiles of the top `count` ranks, by default all, with rank and relevance but without score."""
    thumbnails = thumbnails or cache.thumbnails(images.key)
    places = range(len(ranked))[:count]
    return [replace(_ranked_tile(images, thumbnails, ranked, place, False), right="") for place in places]


def with_terms(shown: Sequence[Tile], relevance: Ints) -> list[Tile]:
    """The tiles of a whole ranking; below relevant tiles the term of AP, relevant samples so far / rank."""
    terms = {place: f"{relevant}/{place}" for relevant, place in precision_terms(relevance)}
    return [replace(tile, right=terms.get(place, "")) for place, tile in enumerate(shown, start=1)]


def share_of_tile(images: ImageSet, row: int) -> tuple[float, float, float, float]:
    """Left, top, width and height of a sample's box if its whole image is fitted into a square of side 1."""
    return share_of(_edges(images, row), images.image_sizes[images.image_of[row]])


def share_of(box: Sequence[int] | Ints, size: Ints, ratio: float = 1.0) -> tuple[float, float, float, float]:
    """Left, top, width and height of a box of an image as shares of the tile that the image is fitted into.

    >>> share_of((0, 0, 50, 50), np.array([100, 50])), share_of((0, 0, 50, 50), np.array([100, 50]), 2.0)
    ((0.0, 0.25, 0.5, 0.5), (0.0, 0.0, 0.5, 1.0))
    """
    # size: (width, height) of the image in pixels. ratio: width / height of the tile.
    (left, top, right, bottom), (width, height) = map(int, box), map(int, size)
    # Of the tile, in pixels of the image.
    across, down = (max(width, height * ratio), max(width / ratio, height))
    return (
        (left + (across - width) / 2) / across,
        (top + (down - height) / 2) / down,
        (right - left) / across,
        (bottom - top) / down,
    )


def whole_tiles(images: ImageSet, shown: Mapping[int, int], relevant: Mapping[int, bool]) -> dict[int, Tile]:
    """Tiles of whole images, without a rank."""
    # shown: the image of each tile. relevant: which mark a tile has, if any.
    thumbnails = cache.thumbnails(images.key)
    marks = {tile: "relevant" if is_relevant else "irrelevant" for tile, is_relevant in relevant.items()}
    return {
        tile: Tile(
            id=str(tile),
            src=data_url(thumbnails.image(image)),
            alt=f"{marks.get(tile, '')} image {images.image_names[image]}".strip(),
            mark=marks.get(tile),
        )
        for tile, image in shown.items()
    }


def image_tiles(images: ImageSet, numbers: Sequence[int]) -> list[Tile]:
    """One tile per image, with the id of its first sample: its name, its split and its number of boxes."""
    thumbnails = cache.thumbnails(images.key)
    tiles = []
    for image in numbers:
        rows = samples_of(images, image)
        split = "test" if images.image_test[image] else "train"
        name, counted = str(images.image_names[image]), "1 box" if len(rows) == 1 else f"{len(rows)} boxes"
        classes = sorted({shown for row in rows for shown in images.classes_of(row)})
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
    """The rows of an image's samples; every image of a set has at least one."""
    return [int(row) for row in np.flatnonzero(images.image_of == image)]


def sample_tiles(images: ImageSet, thumbnails: Thumbnails, rows: Sequence[int]) -> list[Tile]:
    """One tile per sample with its classes."""
    tiles = []
    for row in rows:
        shown = shows(images, row)
        alt = f"sample {images.ids[row]} shows {shown}"
        tiles.append(Tile(str(images.ids[row]), data_url(thumbnails.crop(row)), alt, shown))
    return tiles


def marked_tiles(images: ImageSet, relevant: Mapping[int, bool]) -> dict[int, Tile]:
    """Tiles by row with a mark but without a rank, which changes from iteration to iteration."""
    # relevant: by row.
    thumbnails = cache.thumbnails(images.key)
    return {
        row: Tile(
            id=str(row),
            src=data_url(thumbnails.crop(row)),
            alt=f"{judged(is_relevant)}, shows {shows(images, row)}, image {image_name(images, row)}",
            mark="relevant" if is_relevant else "irrelevant",
        )
        for row, is_relevant in relevant.items()
    }


def plain_tiles(images: ImageSet, texts: Mapping[int, str]) -> dict[int, Tile]:
    """Tiles by row without a mark."""
    # texts: by row, shown below the thumbnail.
    thumbnails = cache.thumbnails(images.key)
    return {
        row: Tile(
            str(row), data_url(thumbnails.crop(row)), f"{text}, image {image_name(images, row)}", right=text
        )
        for row, text in texts.items()
    }


def shows(images: ImageSet, row: int) -> str:
    """The classes of a sample; in a set without classes, its criteria."""
    return _class_names(images.classes_of(row)) if images.classes else numbers_of(images, row) or "no value"


def numbers_of(images: ImageSet, row: int) -> str:
    """The values of a sample's criteria as text; "" if none is known."""
    return known_numbers(dict(zip(images.criteria, images.numbers[row].tolist(), strict=True)))


def known_numbers(numbers: Mapping[str, float]) -> str:
    """Values by name as text, without those that are unknown (NaN)."""
    return ", ".join(
        f"{name} {written(number)}" for name, number in numbers.items() if not math.isnan(number)
    )


def _class_names(classes: Sequence[str]) -> str:
    return ", ".join(classes) or "no class"


def image_name(images: ImageSet, row: int) -> str:
    """The name of a sample's image."""
    return str(images.image_names[images.image_of[row]])


def show_image(images: ImageSet, image: int, boxes: Sequence[Box], alt: str, key: str) -> None:
    """A whole image of a set with `boxes`."""
    width, height = images.image_sizes[image].tolist()
    picture(cache.whole_image(images.key, image), (width, height), boxes, alt=alt, key=keys.widget(key))


def class_boxes(images: ImageSet, image: int, chosen: int | None = None) -> list[Box]:
    """All boxes of an image by class; the box of sample `chosen` has a thicker outline."""
    boxes = []
    for row in samples_of(images, image):
        shown = np.flatnonzero(images.labels[row])
        colour = OF_CLASSES[int(shown[0]) % len(OF_CLASSES)] if len(shown) else OF_CLASSES[-1]
        boxes.append(Box(_edges(images, row), shows(images, row), colour, strong=row == chosen))
    return boxes


def relevance_boxes(images: ImageSet, query: str, chosen: int, corrections: Sequence[str] = ()) -> list[Box]:
    """All boxes of the image of sample `chosen`, marked by relevance to `query`."""
    # The box of `chosen` has a thicker outline. corrections: as in `TrainSettings`.
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
    """One tile per sample with its classes, marked by its label in `labels` (n,)."""
    shown = sample_tiles(images, cache.thumbnails(images.key), rows.tolist())
    marks = [judged(labels[row]) for row in rows]
    return [
        replace(tile, mark=mark, alt=f"labelled {mark}, shows {tile.left}")
        for tile, mark in zip(shown, marks, strict=True)
    ]


def labelled_boxes(images: ImageSet, labels: Bools, turning: Bools, chosen: int) -> list[Box]:
    """All boxes of the image of sample `chosen`, marked by their label (n,)."""
    # Boxes in `turning` (n,) have a thicker outline and the text "selected" or "flips".
    boxes = []
    for row in samples_of(images, int(images.image_of[chosen])):
        text = glyph(labels[row])
        if turning[row]:
            text += " selected" if row == chosen else " flips"
        boxes.append(_marked_box(images, row, bool(labels[row]), bool(turning[row]), text))
    return boxes


def boxes_of(images: ImageSet, shown: Mapping[int, int], objects: Sequence[Ints] | None) -> Boxes:
    """The boxes on tiles of whole images."""
    # shown: the image of each tile. objects: the boxes (k, 4) of the objects of each image, which are dashed;
    # None where they are not known.
    sizes = {row: images.image_sizes[image] for row, image in shown.items()}
    ratio = float(np.clip(np.median([width / height for width, height in sizes.values()]), 0.5, 2.0))
    known = {} if objects is None else {row: objects[image] for row, image in shown.items()}
    return Boxes(
        ratio,
        {row: [share_of(box, sizes[row], ratio) for box in boxes] for row, boxes in known.items()},
        lambda row, box: share_of(box, sizes[row], ratio),
    )


def explain_cards(images: ImageSet) -> None:
    """Explain the cards of an image set that has only features."""
    if images.image_features is not None:
        st.caption("This set has features but no images, so each sample is shown as a card.")


def _edges(images: ImageSet, row: int) -> tuple[int, int, int, int]:
    left, top, right, bottom = (int(edge) for edge in images.boxes[row])
    return left, top, right, bottom
