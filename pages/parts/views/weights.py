"""What a linear method looks at: the picture of its weights on screen, and to take along."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.parts.app import cache, keys
from pages.parts.app.frame import escaped, in_place
from pages.parts.views.weights_picture import STRONGEST, Look, as_png, as_svg, average_of, looks_of
from ranking.core import ImageSet
from ranking.metrics.ranked import Ranking
from ranking.workspace.run import Run

AVERAGED = 20  # crops, or images, from the top of the ranking


@st.fragment
def show(run: Run, images: ImageSet, ranked: Ranking) -> None:
    """The picture with its caption and downloads, or the sentence that says why there is none; made when opened."""
    folded = st.expander("What the linear model looks at", key=keys.widget("weights"), on_change="rerun")
    if not folded.open:
        return
    with folded, in_place():
        direction = cache.direction(run)
        if direction is None:
            st.caption(
                f"{run.settings['method']} is not linear in the features, so it has no weights to draw."
            )
            return
        with cache.or_gone():
            looks = looks_of(run.settings["features"], direction, images)
        if not looks:
            st.caption(
                "There is no HOG among the features of this training, so there is no picture of edges to draw "
                "its weights into. Train with HOG to see one."
            )
        for number, look in enumerate(looks):
            _show(run, with_average(look, images, ranked), f"{run.id}-{number}")


def with_average(look: Look, images: ImageSet, ranked: Ranking) -> Look:
    """`look` beside the average of what stands first in the ranking: whole images for a HOG of the whole image."""
    thumbnails, rows = cache.thumbnails(images.key), ranked.samples[:AVERAGED]
    if look.whole_image:
        seen = [thumbnails.image(int(images.image_of[row])) for row in rows]
    else:
        seen = [thumbnails.crop(int(row)) for row in rows]
    return replace(look, average=average_of(seen), average_title=f"average of the first {len(seen)}")


def _show(run: Run, look: Look, name: str) -> None:
    query = run.settings["query"]
    weights = f"Weights of {look.title} as strokes in {look.cells} by {look.cells} cells: edges that speak"
    told = (f"{weights} for {query}", f"{weights} against {query}", f"The {look.average_title}")
    wide, narrow = st.columns([3, 2], gap="medium", vertical_alignment="center")
    with wide:  # an image a panel, for on a phone they stand one below the other
        for number, column in enumerate(st.columns(look.panels, gap="xsmall")):
            column.image(as_svg(look, number), width="stretch", alt=told[number])
    with narrow:
        _explain(run, look, name)


def _explain(run: Run, look: Look, name: str) -> None:
    query = run.settings["query"]
    colours = " The squares are the colours with the largest weights." if look.colours is not None else ""
    st.caption(
        f"The weights that {escaped(run.settings['method'])} has learnt for {escaped(look.title)}: strokes lie along "
        f"edges, in steps of {180 / look.orientations:g}°, as HOG sorts directions into {look.orientations} bins. The "
        f"brighter a stroke, the more it weighs; of each cell the {STRONGEST} strongest are drawn, both panels on one "
        f"scale: what speaks for it raises the score, what speaks against it lowers it.{colours} **Notice** which "
        f"bright strokes follow an outline in the {look.average_title}, and which come from what stands around "
        f"“{escaped(query)}”."
    )
    with st.container(horizontal=True):
        st.download_button(
            "Weights as SVG",
            as_svg(look),
            f"weights-{name}.svg",
            "image/svg+xml",
            key=keys.widget(f"svg {name}"),
            on_click="ignore",
        )
        st.download_button(
            "Weights as PNG",
            lambda: as_png(look),
            f"weights-{name}.png",
            "image/png",
            key=keys.widget(f"png {name}"),
            on_click="ignore",
        )
