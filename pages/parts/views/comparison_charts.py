"""The scores of two rankings of the same samples, as a chart."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from pages.parts.app.colours import GREEN, GREY, VERMILLION
from ranking.core import Ints
from ranking.metrics.comparison import Comparison
from ranking.reports.comparison_charts import MOST_POINTS


def drawn_points(relevance: Ints, places: Ints) -> Ints:
    """The numbers of the samples that a scatter draws: all where there are few; else of each kind at most MOST_POINTS,
    spread evenly by their places (n,) in one of the rankings, the first and the last among them."""
    if len(relevance) <= 2 * MOST_POINTS:
        return np.arange(len(relevance))
    kept = []
    for kind in (relevance == 0, relevance > 0):
        of_kind = np.flatnonzero(kind)
        of_kind = of_kind[np.argsort(places[of_kind])]
        spread = np.linspace(0, len(of_kind) - 1, min(len(of_kind), MOST_POINTS)).round().astype(int)
        kept.append(of_kind[spread])
    return np.concatenate(kept)


def scores_of_two(
    compared: Comparison, one: int, other: int, names: Sequence[str], selected: int, ids: Sequence[str]
) -> go.Figure:
    """A point a sample: its scores in two rankings, the relevant ones above the others. selected: the number of the one
    that is pointed at. ids: of all samples, which a click on a point tells."""
    figure = go.Figure()
    shown = drawn_points(compared.relevance, compared.ranks[one])
    for name, relevant, colour, symbol in (
        ("not relevant", False, VERMILLION, "x-thin-open"),
        ("relevant", True, GREEN, "circle"),
    ):
        kind = shown[(compared.relevance[shown] > 0) == relevant]
        figure.add_scatter(
            x=compared.scores[one, kind],
            y=compared.scores[other, kind],
            mode="markers",
            name=name,
            marker={
                "color": colour,
                "symbol": symbol,
                "size": 9,
                "line": {"width": 2 if not relevant else 1},
            },
            customdata=[[ids[sample]] for sample in kind],
            text=[f"ranks {compared.ranks[one, i]:,} and {compared.ranks[other, i]:,}" for i in kind],
            hovertemplate="%{text}<br>scores %{x:.3g} and %{y:.3g}<extra>" + name + "</extra>",
        )
    figure.add_scatter(
        x=[compared.scores[one, selected]],
        y=[compared.scores[other, selected]],
        mode="markers",
        name="selected",
        hoverinfo="skip",
        marker={
            "color": "rgba(0,0,0,0)",
            "size": 20,
            "symbol": "circle",
            "line": {"color": GREY, "width": 4},
        },
    )
    figure.update_xaxes(title_text=f"score by {html.escape(names[one])}")
    figure.update_yaxes(title_text=f"score by {html.escape(names[other])}")
    return figure
