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
from ranking.core import Bools, Floats, Ints

BELOW = 3  # places that are shown after the top k
FONT = {"size": 15}
HATCHED = {"shape": "/", "fillmode": "overlay", "fgcolor": "rgba(255,255,255,.5)", "size": 7}
INSIDE, OUTSIDE = "best value with it among the k", "best value without it"


def marked(name: str, truth: bool) -> str:
    """A label with whether the picture shows it, safe for Plotly."""
    return f"{RELEVANT_GLYPH if truth else IRRELEVANT_GLYPH} {html.escape(name)}"


def ranked(names: Sequence[str], order: Ints, scores: Floats, truth: Bools, k: int) -> go.Figure:
    """The first k + BELOW labels from the top, their scores as bars; right ones whole, wrong ones hatched."""
    shown = order[: k + BELOW]
    rows = np.arange(len(shown))[::-1]
    figure = go.Figure()
    for right, name, colour in (
        (True, f"{RELEVANT_GLYPH} the picture shows it", RELEVANT),
        (False, f"{IRRELEVANT_GLYPH} it does not", IRRELEVANT),
    ):
        chosen = truth[shown] == right
        figure.add_bar(
            x=scores[shown[chosen]],
            y=rows[chosen],
            orientation="h",
            name=name,
            marker={"color": colour, "pattern": {} if right else HATCHED},
            hovertext=[html.escape(names[label]) for label in shown[chosen]],
            hovertemplate="%{hovertext}: %{x:+.3f}<extra></extra>",
        )
    _end_of_top_k(figure, len(shown) - k - 0.5, k)
    figure.update_yaxes(
        tickvals=rows,
        ticktext=[marked(names[label], bool(truth[label])) for label in shown],
        tickfont=FONT,
        showgrid=False,
    )
    figure.update_xaxes(title_text="score: best value with it − without it", zerolinecolor=GREY)
    figure.update_layout(bargap=0.25)
    return figure


def _end_of_top_k(figure: go.Figure, y: float, k: int) -> None:
    figure.add_hline(
        y=y,
        line={"color": GREY, "width": 3, "dash": "dash"},
        annotation={"text": f"k = {k}", "font": FONT},
        annotation_position="top right",
    )


def moves(names: Sequence[str], before: Ints, after: Ints, answered: int, truth: Bools, k: int) -> go.Figure:
    """Labels before an answer at the left and after it at the right, each (L,) from the top, joined by lines; what
    moved among the other labels is blue (up) or broken vermilion (down)."""
    was, now = np.argsort(before) + 1, np.argsort(after) + 1
    last = k + BELOW
    change = _among_others(before, answered) - _among_others(after, answered)
    figure = go.Figure()
    for label in np.argsort(np.abs(change), kind="stable"):  # what moved furthest lies above the rest
        if min(was[label], now[label]) > last:
            continue
        own = label == answered
        colour = PURPLE if own else BLUE if change[label] > 0 else VERMILLION if change[label] < 0 else GREY
        figure.add_scatter(
            x=[0, 1],
            y=[was[label], now[label]],
            mode="lines+markers",
            line={
                "color": colour,
                "width": 5 if own else 4 if change[label] else 2,
                "dash": "dot" if own else "dash" if change[label] < 0 else "solid",
            },
            marker={"size": 7},
            hovertemplate=f"{html.escape(names[label])}: place {was[label]} → {now[label]}<extra></extra>",
            showlegend=False,
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
    figure.update_xaxes(
        range=[-0.8, 1.8], tickvals=[0, 1], ticktext=["before", "after"], side="top", showgrid=False
    )
    figure.update_xaxes(tickfont=FONT, zeroline=False)
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
        marker={
            "color": [BLUE if weight > 0 else VERMILLION for weight in values],
            "pattern": {**HATCHED, "shape": ["" if weight > 0 else "/" for weight in values]},
        },
        hoverinfo="skip",
    )
    reach = 1.9 * max(1e-9, *map(abs, values))
    low = -reach if min(values) < 0 else -0.1 * reach
    high = reach if max(values) > 0 else 0.1 * reach
    figure.update_xaxes(range=[low, high], tickvals=[], zeroline=True, zerolinecolor=GREY, zerolinewidth=2)
    figure.update_yaxes(
        tickvals=rows,
        ticktext=[html.escape(names[label]) for label, _ in found],
        tickfont=FONT,
        showgrid=False,
    )
    figure.update_layout(showlegend=False, bargap=0.3)
    return figure


def maxima(names: Sequence[str], shown: Sequence[int], inside: Floats, outside: Floats) -> go.Figure:
    """The two maxima (L,) of the labels `shown`, the first on top and pointed at; joined by a line as long as the
    model is sure."""
    figure = go.Figure()
    rows = np.arange(len(shown))[::-1]
    for place, (row, label) in enumerate(zip(rows, shown, strict=True)):
        figure.add_scatter(
            x=[inside[label], outside[label]],
            y=[row, row],
            mode="lines",
            line={"color": PURPLE if place == 0 else GREY, "width": 9 if place == 0 else 4},
            hoverinfo="skip",
            showlegend=False,
        )
    chosen = np.array(shown, np.int64)
    for name, values, colour, symbol in (
        (INSIDE, inside, BLUE, "circle"),
        (OUTSIDE, outside, VERMILLION, "diamond-open"),
    ):
        figure.add_scatter(
            x=values[chosen],
            y=rows,
            mode="markers",
            name=name,
            marker={"color": colour, "symbol": symbol, "size": 14, "line": {"width": 3, "color": colour}},
            hovertext=[html.escape(names[label]) for label in shown],
            hovertemplate="%{hovertext}: %{x:.4f}<extra></extra>",
        )
    texts = [html.escape(names[label]) for label in shown]
    texts[0] = f"<b>asked: {texts[0]}</b>"
    figure.update_yaxes(
        tickvals=rows, ticktext=texts, tickfont=FONT, range=[-0.7, len(shown) - 0.3], showgrid=False
    )
    figure.update_xaxes(title_text="value t's + t'Ft of the best k labels", nticks=6)
    return figure
