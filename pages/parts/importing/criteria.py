"""The criteria of an image set with sequences: the distribution of their values."""

from __future__ import annotations

import html

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.parts.app import keys
from pages.parts.app.colours import BLUE, VERMILLION
from pages.parts.app.frame import escaped
from pages.parts.charts import plots
from pages.parts.training import sets
from ranking.core import Floats, ImageSet
from ranking.core.text import counted, written

BARS = 40


def show(images: ImageSet) -> None:
    """The distribution of the values of a criterion in the training and test split."""
    st.subheader("Criterion and split", anchor=False)
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
            f"No sample has a value of “{escaped(criterion)}”, so no sequence can be ranked by it.", icon="🔢"
        )
        return
    _chart(criterion, numbers[known & ~images.test], numbers[known & images.test])
    low, high = float(numbers[known].min()), float(numbers[known].max())
    test, different = int((known & images.test).sum()), len(np.unique(numbers[known]))
    unknown = "" if known.all() else f" {counted(int((~known).sum()), 'sample')} without a value."
    st.caption(
        f"“{escaped(criterion)}” of {known.sum() - test:,} training and {test:,} test samples, from "
        f"{written(low)} to {written(high)}. No image is in both splits.{unknown} **Notice** that there are "
        f"{different:,} different values: samples with equal values have no order."
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
    alt = f"Number of samples by {criterion}, {span}, in the training and test split"
    plots.show(figure, keys.widget("numbers"), alt, "numbers", 300)
