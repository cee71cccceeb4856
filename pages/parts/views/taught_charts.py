"""The charts of the lesson about labels: ranked labels, how an answer moves them, and how sure a model is of each."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from pages.parts.app.colours import (
    BLUE,
    GREY,
    IRRELEVANT,
    IRRELEVANT_GLYPH,
    PURPLE,
    RELEVANT,
    RELEVANT_GLYPH,
    VERMILLION,
)
from pages.parts.views.charts import ZERO, hatched, line, points, reach, signed_bars
from ranking.core import Bools, Floats, Ints

BELOW = 3  # places that are shown after the top k
FONT = {"size": 15}
INSIDE, OUTSIDE = "best value with it among the k", "best value without it"


def marked(name: str, truth: bool) -> str:
    """A label with whether the picture shows it, safe for Plotly."""
    return f"{RELEVANT_GLYPH if truth else IRRELEVANT_GLYPH} {html.escape(name)}"


def ranked(names: Sequence[str], order: Ints, scores: Floats, truth: Bools, k: int) -> go.Figure:
    """The first k + BELOW labels from the top, their scores as bars; correct ones solid, incorrect ones hatched."""
    shown = order[: k + BELOW]
    rows = np.arange(len(shown))[::-1]
    figure = go.Figure()
    for correct, name, look in (
        (True, f"{RELEVANT_GLYPH} the image shows it", {"color": RELEVANT}),
        (False, f"{IRRELEVANT_GLYPH} it does not", hatched(IRRELEVANT)),
    ):
        chosen = truth[shown] == correct
        figure.add_bar(
            x=scores[shown[chosen]],
            y=rows[chosen],
            orientation="h",
            name=name,
            marker=look,
            hovertext=[html.escape(names[label]) for label in shown[chosen]],
            hovertemplate="%{hovertext}: %{x:+.3f}<extra></extra>",
        )
    figure.add_hline(
        y=len(shown) - k - 0.5,
        line={"color": GREY, "width": 3, "dash": "dash"},
        annotation={"text": f"k = {k}", "font": FONT},
        annotation_position="top right",
    )
    texts = [marked(names[label], bool(truth[label])) for label in shown]
    figure.update_yaxes(tickvals=rows, ticktext=texts, tickfont=FONT, showgrid=False)
    figure.update_xaxes(title_text="score: best value with it − without it", zerolinecolor=GREY)
    figure.update_layout(bargap=0.25)
    return figure


def moves(names: Sequence[str], before: Ints, after: Ints, answered: int, truth: Bools, k: int) -> go.Figure:
    """Labels before an answer at the left and after it at the right, each (L,) from the top, joined by lines; what
    moved among the other labels is blue (up) or dashed vermilion (down)."""
    was, now = np.argsort(before) + 1, np.argsort(after) + 1
    last = k + BELOW
    change = _among_others(before, answered) - _among_others(after, answered)
    figure = go.Figure()
    for label in np.argsort(np.abs(change), kind="stable"):  # what moved furthest lies above the rest
        if min(was[label], now[label]) > last:
            continue
        look = (
            (GREY, 2, "solid")
            if not change[label]
            else (BLUE, 4, "solid")
            if change[label] > 0
            else (VERMILLION, 4, "dash")
        )
        line(
            figure,
            [0, 1],
            [was[label], now[label]],
            *((PURPLE, 5, "dot") if label == answered else look),
            mode="lines+markers",
            marker={"size": 7},
            hovertemplate=f"{html.escape(names[label])}: rank {was[label]} → {now[label]}<extra></extra>",
        )
    for x, order, anchor in ((0.0, before, "right"), (1.0, after, "left")):
        for place, label in enumerate(order[:last], start=1):
            text = marked(names[label], bool(truth[label]))
            figure.add_annotation(
                x=x,
                y=place,
                text=f"<b>{text}</b>" if label == answered else text,
                xanchor=anchor,
                xshift=-8 if anchor == "right" else 8,
                showarrow=False,
                font=FONT,
            )
    figure.add_hline(y=k + 0.5, line={"color": GREY, "width": 3, "dash": "dash"})
    ticks = {"tickvals": [0, 1], "ticktext": ["before", "after"], "tickfont": FONT}
    figure.update_xaxes(range=[-0.8, 1.8], side="top", showgrid=False, zeroline=False, **ticks)
    figure.update_yaxes(range=[last + 0.6, 0.4], visible=False)
    return figure


def _among_others(order: Ints, answered: int) -> Ints:
    """(L,) the place of each label among those that are not answered; 0 of the one that is."""
    place = np.zeros(len(order), np.int64)
    place[order[order != answered]] = np.arange(1, len(order))
    return place


def signed(weight: float) -> str:
    """An interaction with its sign, a real minus.

    >>> signed(0.0447), signed(-0.0002)
    ('+0.045', '−0.000')
    """
    return f"{weight:+.3f}".replace("-", "−")


def ties(names: Sequence[str], found: Sequence[tuple[int, float]]) -> go.Figure:
    """Interactions of one label, (other label, F), from the top."""
    rows = np.arange(len(found))[::-1]
    values = [weight for _, weight in found]
    figure = go.Figure()
    figure.add_bar(
        x=values,
        y=rows,
        orientation="h",
        text=[signed(weight) for weight in values],
        textfont=FONT,
        textposition="outside",
        cliponaxis=False,
        marker=signed_bars(values),
        hoverinfo="skip",
    )
    figure.update_xaxes(range=reach(values, 1.9), tickvals=[], **ZERO)
    texts = [html.escape(names[label]) for label, _ in found]
    figure.update_yaxes(tickvals=rows, ticktext=texts, tickfont=FONT, showgrid=False)
    figure.update_layout(showlegend=False, bargap=0.3)
    return figure


def maxima(names: Sequence[str], shown: Sequence[int], inside: Floats, outside: Floats) -> go.Figure:
    """The two maxima (L,) of the labels `shown`, the first on top and pointed at; joined by a line as long as the
    model is sure."""
    figure = go.Figure()
    rows = np.arange(len(shown))[::-1]
    for row, label in zip(rows, shown, strict=True):
        look = (PURPLE, 9) if label == shown[0] else (GREY, 4)
        line(figure, [inside[label], outside[label]], [row, row], *look)
    chosen, texts = np.array(shown, np.int64), [html.escape(names[label]) for label in shown]
    for name, values, colour, symbol in (
        (INSIDE, inside, BLUE, "circle"),
        (OUTSIDE, outside, VERMILLION, "diamond-open"),
    ):
        hover = {"hovertext": texts, "hovertemplate": "%{hovertext}: %{x:.4f}<extra></extra>"}
        points(figure, values[chosen], rows, colour, symbol, 14, (colour, 3), name=name, **hover)
    texts = [f"<b>asked: {texts[0]}</b>", *texts[1:]]
    edges = [-0.7, len(shown) - 0.3]
    figure.update_yaxes(tickvals=rows, ticktext=texts, tickfont=FONT, range=edges, showgrid=False)
    figure.update_xaxes(title_text="value t's + t'Ft of the best k labels", nticks=6)
    return figure
