"""The start page: a small ranking in which one image can be moved, and links to the other pages."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.parts.app import cache, frame, home, menu, workspace_box
from pages.parts.app.frame import escaped
from pages.parts.charts import moving_image
from pages.parts.charts.moving_image import OTHERS, RELEVANT, SHOWN
from ranking.core import ImageSet
from ranking.explain import moving
from ranking.metrics.ranked import Ranking

QUERY = "riding bike"
WAYS = {
    "Train a method": "train",
    "Label an image": "interactive_labelling",
    "Rank cars by year": "sequences",
    "Browse the images": "image_sets",
}


def steps() -> None:
    with frame.errors_in_place():
        home.show_damage()
    play()
    with st.container(horizontal=True):
        frame.next_step("Why optimise AP? (2 minutes)", "lesson")
        for label, page in WAYS.items():
            frame.next_step(label, page, obvious=False)
    with frame.errors_in_place():
        workspace_box.show()


@st.fragment
def play() -> None:
    """A small ranking whose measures are updated as the image moves."""
    with frame.picture("ranking"), frame.errors_in_place():
        images, thumbnails = cache.ready_made()
        st.markdown(
            f"## {RELEVANT} of {SHOWN} people show “{escaped(QUERY)}”. Move the marked one: what does its rank cost?"
        )
        place, k = moving_image.choose()
        order = moving.small_ranking(people(images), OTHERS, place)
        moving_image.show_ranking(images, order, place, thumbnails)
        moving_image.show_measures(order, place, k)
    menu.show_again()


def people(images: ImageSet) -> Ranking:
    """The test samples of an image set, relevant samples first, without any training."""
    rows = np.flatnonzero(images.test)
    relevance = images.relevance(QUERY)[rows]
    order = np.argsort(-relevance, kind="stable")
    return Ranking(rows[order], relevance[order], -np.arange(len(rows), dtype=np.float64))


frame.show_page("start", "Train learning-to-rank methods on images, and see how they work.", steps)
