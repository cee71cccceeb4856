"""The starts of a localisation run side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from pages.parts.components import tiles
from pages.parts.components.play_bar import Lane, play_bar
from ranking.core import ImageSet, Ints
from ranking.explain.localisation import Localisation
from ranking.explain.playback import Frame, part_localisation

COMPARED = 4  # images of each start


def show(
    images: ImageSet, located: Localisation, objects: Sequence[Ints] | None, rows: Ints, relevance: Ints
) -> None:
    """Where training from each start ended, on the same images; nothing for a single start. rows: the images of the
    split that is shown."""
    if len(located.starts) < 2:
        return
    st.markdown("### Starts side by side")
    first = rows[relevance[rows] > 0][:COMPARED]
    shown = {int(image): int(image) for image in first}
    lanes, lowest = list[Lane](), int(np.argmin(located.objectives))
    for number, (name, objective) in enumerate(zip(located.starts, located.objectives, strict=True)):
        boxes = located.start_boxes[number]
        share = None if objects is None else part_localisation(boxes, objects, rows)
        ended = Frame(1, 1, float(objective), -np.inf, first, {"CorLoc": share}, boxes=boxes[first])
        lanes.append(Lane(f"{name}{' · kept' if number == lowest else ''}", [ended], curves=("objective",)))
    play_bar(
        lanes,
        tiles.whole_tiles(images, shown, {}),
        name="starts",
        token="starts",
        label="Best windows by start",
        boxes=tiles.boxes_of(images, shown, objects),
    )
    text = "The same images after training from each start. The lowest objective is kept, which needs no true box."
    shares = [lane.frames[0].measures["CorLoc"] for lane in lanes]
    known = [share for share in shares if share is not None]
    if known and shares[lowest] is not None:
        best = "the highest" if shares[lowest] == max(known) else f"not the highest, {max(known):.2f}"
        text += f" **Notice** its CorLoc: {shares[lowest]:.2f}, {best}."
    st.caption(text)
