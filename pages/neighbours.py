"""Neighbours: their effect on each sample of a training run, and the similarity graph."""

from __future__ import annotations

import streamlit as st

from pages.parts.app import controls, frame, keys, menu
from pages.parts.components import tiles
from pages.parts.neighbours import graph_models, labellings, similarity_graph
from ranking.core import ImageSet
from ranking.explain.neighbourhood import Neighbourhood
from ranking.storage.run import Run

VIEWS = {"labellings": "Two labellings of a sample", "graph": "Similarity graph"}


def steps() -> None:
    show_neighbourhood(*graph_models.choose())


@st.fragment
def show_neighbourhood(run: Run, images: ImageSet, model: Neighbourhood, split: str) -> None:
    """The part of the page that depends on clicks: it runs again without the rest."""
    test = split == "test"
    with frame.errors_in_place():
        graph_models.show_measures(model, test)
        with frame.picture("view"), st.container(horizontal=True, vertical_alignment="bottom"):
            view = controls.segments(
                "View", keys.NEIGHBOURS_VIEW, VIEWS, "labellings", label_visibility="collapsed"
            )
            graph_models.jump_buttons(images, model, test)
        ranked = model.ranking(test)
        shown = graph_models.where(images, model, ranked)
        with frame.picture("selected"):
            graph_models.show_selected(images, model, int(ranked.samples[shown.place]))
        (labellings if view == "labellings" else similarity_graph).show(
            run, images, model, ranked, shown, split
        )
        tiles.explain_cards(images)
    menu.show_again()


frame.show_page(
    "neighbours",
    "Neighbours, and their effect on ranks.",
    steps,
)
