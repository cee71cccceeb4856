"""A plot of uploaded vectors: two principal components, and how often nearest neighbours share a class."""

from __future__ import annotations

import html

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.parts.app import keys
from pages.parts.app.colours import IRRELEVANT, RELEVANT
from pages.parts.charts import plots
from ranking.core import ImageSet
from ranking.features.uploads.vector_plot import VectorPlot

STYLES = ((IRRELEVANT, "x-thin-open", "other samples"), (RELEVANT, "circle", ""))


def show(images: ImageSet, plot: VectorPlot, otherwise: str) -> None:
    """The samples of a plot, those of a chosen class highlighted."""
    # otherwise: an alternative explanation of nearest neighbours that have the same class no more often than
    # by chance.
    rows = np.array(plot.samples)
    chosen = None
    if images.classes:
        chosen = st.selectbox("Class", images.classes, key=keys.widget(f"own class {images.key}"))
    if plot.tells_nothing:
        st.warning(
            "The nearest neighbour of a sample has the same class no more often than by chance. Either these vectors "
            f"carry no information about the classes, or {otherwise}.",
            icon=":material/warning:",
        )
    _draw(images, plot, rows, chosen)
    st.caption(_caption(len(images), plot))


def _draw(images: ImageSet, plot: VectorPlot, rows: np.ndarray, chosen: str | None) -> None:
    points = np.array(plot.points)
    figure = go.Figure()
    names = np.array([html.escape(str(name)) for name in images.ids[rows]])
    shows = np.zeros(len(rows), bool) if chosen is None else images.relevance(chosen)[rows] > 0
    for (colour, symbol, name), part in zip(STYLES, (~shows, shows), strict=True):
        if part.any():
            figure.add_scatter(
                x=points[part, 0],
                y=points[part, 1],
                mode="markers",
                name=name or html.escape(str(chosen)),
                text=names[part],
                marker={"color": colour, "symbol": symbol, "size": 7, "opacity": 0.8, "line": {"width": 1.5}},
                hovertemplate="%{text}<extra></extra>",
            )
    for place, update in enumerate((figure.update_xaxes, figure.update_yaxes)):
        update(title_text=f"component {place + 1} ({plot.explained[place]:.0%})", zeroline=False)
    alt = f"{len(rows)} samples in the first two principal components of their vectors"
    alt += f"; {int(shows.sum())} of them show {chosen}" if chosen is not None else ""
    plots.show(figure, keys.widget(f"plot of vectors {images.key}"), alt, "own-features", height=360)


def _caption(samples: int, plot: VectorPlot) -> str:
    few = (
        ""
        if len(plot.samples) == samples
        else f"{len(plot.samples):,} of {samples:,} samples, evenly spaced; "
    )
    text = f"{few}the first two principal components of the vectors, with their shares of the variance."
    text = text[0].upper() + text[1:]
    if plot.agreeing is None or plot.by_chance is None:
        return text
    return (
        f"{text} **Notice** that {plot.agreeing:.0%} of the samples have a nearest neighbour of the same class. By "
        f"chance it would be {plot.by_chance:.0%}."
    )
