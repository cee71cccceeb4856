"""The image whose labels are asked for: one of a queue of test images, or an uploaded image."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, home, keys
from pages.parts.app.frame import escaped
from pages.parts.components import tiles
from pages.parts.components.picture import picture
from pages.parts.labelling import uploaded_image
from ranking.core import Ints, LabelSet
from ranking.core.text import counted
from ranking.storage.answers import ImageAnswers
from ranking.storage.run import Run


class Shown(NamedTuple):
    """The image that is asked about."""

    # The image is row `row` of `images`.
    images: LabelSet
    row: int
    # A data URL.
    source: str
    size: tuple[int, int]
    # Whether its labels are known; without any label it has no break-even precision.
    known: bool


def show(run: Run, images: LabelSet, uploaded: uploaded_image.UploadedImage | None) -> Shown:
    """Show the image, and the buttons to other images."""
    place = st.container()
    if uploaded is not None:
        shown = Shown(*uploaded, known=False)
    else:
        queue = np.flatnonzero(images.test) if images.test.any() else np.arange(len(images))
        row = choose_image(images, queue, home.store().answers.images(run.settings["set"]))
        set_of_images = cache.image_set(run.settings["set"])
        width, height = set_of_images.image_sizes[row].tolist()
        source = cache.whole_image(set_of_images.key, row)
        shown = Shown(images, row, source, (width, height), bool(images.labels[row].any()))
        tiles.explain_cards(set_of_images)
    with place:
        alt = f"Image {shown.images.ids[shown.row]}, whose labels are asked for"
        picture(shown.source, shown.size, [], alt=alt, key=keys.widget("asked"))
    return shown


def choose_image(images: LabelSet, queue: Ints, answers: dict[str, ImageAnswers]) -> int:
    """Return the image of the URL, else the first image of the queue without an answer."""
    # Buttons lead to the previous and the next image.
    done = [bool(answers[id].answers) if id in answers else False for id in map(str, images.ids[queue])]
    first = done.index(False) if False in done else 0
    known = {str(id): row for row, id in enumerate(images.ids)}
    chosen = address.read(keys.IMAGE, lambda text: row_of(known, text), int(queue[first]))
    if address.get(keys.IMAGE) is None:
        # so that it stays after its first answer
        address.amend(**{keys.IMAGE: str(images.ids[chosen])})
    at = int(np.searchsorted(queue, chosen))
    # The answers about this image change below without this function running again, so they are not counted here.
    others = sum(answered for row, answered in zip(queue.tolist(), done, strict=True) if row != chosen)
    after = [place for place in (*range(at + 1, len(queue)), *range(at)) if not done[place]]
    goals = {"Back": at - 1, "Next": at + 1, "Next unanswered": after[0] if after else -1}
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, goal in goals.items():
            there = 0 <= goal < len(queue)
            st.button(
                label,
                key=keys.widget(f"image {label}"),
                type="primary" if label == "Next unanswered" else "secondary",
                disabled=not there,
                on_click=address.put,
                kwargs={keys.IMAGE: str(images.ids[queue[goal]]) if there else None},
            )
        st.caption(
            f"{escaped(str(images.ids[chosen]))} · {counted(others, 'other image')} answered",
            width="content",
        )
    return chosen


def row_of(known: dict[str, int], text: str) -> int:
    if text not in known:
        raise ValueError("expected the name of an image of this set")
    return known[text]
