"""The starts of a localisation run side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from pages.parts.components import tiles
from pages.parts.components.play_bar import Lane, play_bar
from pages.parts.training import recordings
from ranking.core import ImageSet, Ints
from ranking.explain.localisation import Localisation
from ranking.explain.playback import Frame, part_localisation

# images of each start
COMPARED = 4
WHERE = (
    "LDA begins with the best windows by linear discriminant analysis; self-paced learns first from the images with "
    "the highest scores; the others begin with the windows that they name."
)


def show(
    images: ImageSet, located: Localisation, objects: Sequence[Ints] | None, split: str, relevance: Ints
) -> None:
    """Where training from each start ended, on the same images of a split."""
    part = recordings.PARTS[split]
    rows, measure = recordings.image_parts(images)[part], f"CorLoc, {part}"
    first = rows[relevance[rows] > 0][:COMPARED]
    shown = {int(image): int(image) for image in first}
    lanes, lowest = list[Lane](), int(np.argmin(located.objectives))
    for number, (name, objective) in enumerate(zip(located.starts, located.objectives, strict=True)):
        boxes = located.start_boxes[number]
        share = {} if objects is None else {measure: part_localisation(boxes, objects, rows)}
        ended = Frame(1, 1, float(objective), -np.inf, first, share, boxes=boxes[first])
        lanes.append(Lane(f"{name}{' · kept' if number == lowest else ''}", [ended], curves=("objective",)))
    play_bar(
        lanes,
        tiles.whole_tiles(images, shown, {}),
        name="starts",
        token="starts",
        label="Best windows by start",
        boxes=tiles.boxes_of(images, shown, objects),
    )
    text = "Same images for each start. Kept: the lowest objective, which needs no true box."
    shares = [lane.frames[0].measures.get(measure) for lane in lanes]
    known = {name: share for name, share in zip(located.starts, shares, strict=True) if share is not None}
    if known:
        best = max(known, key=lambda name: known[name])
        text += (
            f" **Notice** its {measure}: {known[located.starts[lowest]]:.2f}; the highest is {known[best]:.2f}, from "
            f"“{best}”."
        )
    st.caption(text, help=WHERE)
