"""The numbers of an image set whose samples can be put in order."""

from __future__ import annotations

import html

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.parts.app import keys
from pages.parts.app.colours import BLUE, VERMILLION
from pages.parts.app.frame import escaped
from pages.parts.runs import sets
from pages.parts.views import charts
from ranking.core import Floats, ImageSet
from ranking.core.text import written

BARS = 40


def show(images: ImageSet) -> None:
    """How the numbers of one criterion are spread, in train and test."""
    st.subheader("Numbers and split", anchor=False)
    criterion = sets.first_of(images.criteria)
    if len(images.criteria) > 1:
        criterion = st.selectbox(
            "Criterion",
            images.criteria,
            images.criteria.index(criterion),
            key=keys.widget(f"criterion of {images.key[:12]}"),
        )
    numbers = images.numbers_of(criterion)
    known = ~np.isnan(numbers)
    if not known.any():
        st.info(
            f"No number of “{escaped(criterion)}” is known, so nothing can be put in order by it.", icon="🔢"
        )
        return
    _chart(criterion, numbers[known & ~images.test], numbers[known & images.test])
    low, high = float(numbers[known].min()), float(numbers[known].max())
    test, different = int((known & images.test).sum()), len(np.unique(numbers[known]))
    unknown = "" if known.all() else f" Of {(~known).sum():,} samples the number is not known."
    st.caption(
        f"“{escaped(criterion)}” of {known.sum() - test:,} samples to train on and {test:,} to test on, from "
        f"{written(low)} to {written(high)}; no image is in both.{unknown} **Notice** that there are {different:,} "
        "different numbers: samples with equal ones have no order among them."
    )


def _chart(criterion: str, train: Floats, test: Floats) -> None:
    both = np.concatenate([train, test]).astype(np.float64)
    values = np.unique(both)
    few = len(values) <= BARS
    edges = values if few else np.linspace(values[0], values[-1], BARS + 1)
    figure = go.Figure()
    for split, numbers, colour in (("train", train, BLUE), ("test", test, VERMILLION)):
        if few:
            counts, middles = (numbers[:, None] == edges).sum(axis=0), edges
        else:
            counts, middles = np.histogram(numbers, edges)[0], (edges[:-1] + edges[1:]) / 2
        hover = f"{split}: %{{y}} samples near %{{x:.5g}}<extra></extra>"
        figure.add_bar(x=middles, y=counts, name=split, marker_color=colour, hovertemplate=hover)
    figure.update_layout(barmode="stack", bargap=0.12)
    figure.update_xaxes(title_text=html.escape(criterion))
    figure.update_yaxes(title_text="samples")
    span = f"from {written(values[0])} to {written(values[-1])}"
    alt = f"How many samples have which {criterion}, {span}, in train and test"
    charts.show(figure, keys.widget("numbers"), alt, "numbers", 300)
