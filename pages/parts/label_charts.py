"""Pairs of labels as charts: what was learnt of them beside what the data says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from pages.parts.colours import BLUE, GREY, VERMILLION
from pages.parts.star_picture import short
from ranking.label_pairs import LabelPairs
from ranking.types import Ints

MOST_NAMED = 5  # pairs that are named in the scatter
TICKS = {-6: "1/64", -4: "1/16", -2: "1/4", -1: "½", 0: "chance", 1: "2×", 2: "4×", 4: "16×", 6: "64×"}


def named(pairs: LabelPairs, place: int) -> str:
    """The two labels of a pair.

    >>> two = LabelPairs(("sea", "sand"), [0], [0], [1], [0.4], [2], [1.0], 4)
    >>> named(two, 0)
    'sea · sand'
    """
    return f"{pairs.names[int(pairs.first[place])]} · {pairs.names[int(pairs.second[place])]}"


def beside_the_data(pairs: LabelPairs, names: Sequence[str]) -> go.Figure:
    """A row a pair, the first on top: F as a bar, and beside it how often both are together, against chance."""
    figure = make_subplots(
        rows=1,
        cols=2,
        shared_yaxes=True,
        horizontal_spacing=0.04,
        column_titles=["learnt: F", "in the data: together"],
    )
    rows = np.arange(len(pairs))[::-1]
    for column, (values, said) in enumerate(
        (
            (pairs.weight, [f"{weight:+.2g}" for weight in pairs.weight]),
            (pairs.log_lift, [_count(pairs, place) for place in range(len(pairs))]),
        ),
        start=1,
    ):
        figure.add_bar(
            x=values,
            y=rows,
            orientation="h",
            text=said,
            textposition="auto",
            insidetextanchor="end",
            textangle=0,
            constraintext="none",
            cliponaxis=False,
            hovertext=[short(name) for name in names],
            hovertemplate="%{hovertext}: %{text}<extra></extra>",
            marker=_look(values),
            row=1,
            col=column,
        )
        reach = 1.45 * max(1e-9, float(np.abs(values).max(initial=0.0)))
        low, high = (
            (-reach if (values < 0).any() else -0.1 * reach),
            (reach if (values > 0).any() else 0.1 * reach),
        )
        figure.update_xaxes(
            range=[low, high], zeroline=True, zerolinecolor=GREY, zerolinewidth=2, row=1, col=column
        )
    figure.update_xaxes(tickvals=list(TICKS), ticktext=list(TICKS.values()), tickangle=0, row=1, col=2)
    figure.update_yaxes(tickvals=rows, ticktext=[short(name) for name in names], showgrid=False)
    figure.update_layout(showlegend=False, bargap=0.25)
    return figure


def _count(pairs: LabelPairs, place: int) -> str:
    """How many images have both, and how many would by chance."""
    return f"{pairs.together[place]:,} of {pairs.expected[place]:,.3g}"


def _look(values: np.ndarray) -> dict[str, object]:
    """Above 0 whole and blue, below 0 hatched and vermilion, as in the star."""
    return {
        "color": [BLUE if value > 0 else VERMILLION for value in values],
        "pattern": {
            "shape": ["" if value > 0 else "/" for value in values],
            "fillmode": "overlay",
            "fgcolor": "rgba(255,255,255,.5)",
            "size": 7,
        },
    }


def against_the_data(pairs: LabelPairs, told: Sequence[str], furthest: Ints) -> go.Figure:
    """Every pair by what the data says (across) and what was learnt (up); those `furthest` from the line are named."""
    figure = go.Figure()
    x, y = pairs.log_lift, pairs.weight
    ends = np.array([x.min(initial=0.0), x.max(initial=0.0)])
    figure.add_scatter(
        x=ends,
        y=pairs.slope * ends,
        mode="lines",
        line={"color": GREY, "width": 3, "dash": "dot"},
        name="the line that fits best",
        hoverinfo="skip",
    )
    for name, sign, symbol, colour in (
        ("attract", 1, "circle", BLUE),
        ("repel", -1, "diamond-open", VERMILLION),
    ):
        chosen = np.flatnonzero(sign * y > 0)
        figure.add_scatter(
            x=x[chosen],
            y=y[chosen],
            mode="markers",
            name=name,
            marker={"color": colour, "symbol": symbol, "size": 11, "line": {"width": 2, "color": colour}},
            text=[short_pair(told[place]) for place in chosen],
            hovertemplate="%{text}<extra></extra>",
        )
    middle = float(ends.mean())
    for place in furthest:
        left = x[place] > middle  # a name stands where there is room
        figure.add_annotation(
            x=float(x[place]),
            y=float(y[place]),
            text=short_pair(named(pairs, int(place))),
            showarrow=True,
            arrowwidth=2,
            arrowcolor=GREY,
            ax=-46 if left else 46,
            ay=-22 if pairs.residual[place] > 0 else 22,
            xanchor="right" if left else "left",
            font={"size": 15},
        )
    shown = {tick: text for tick, text in TICKS.items() if ends[0] - 1 <= tick <= ends[1] + 1}
    figure.update_xaxes(
        title_text="together in the data, against chance",
        tickvals=list(shown),
        ticktext=list(shown.values()),
        zeroline=True,
        zerolinecolor=GREY,
        zerolinewidth=2,
    )
    figure.update_yaxes(title_text="learnt: F", zeroline=True, zerolinecolor=GREY, zerolinewidth=2)
    return figure


def short_pair(name: str) -> str:
    """A pair's name or sentence, safe for Plotly."""
    return " · ".join(short(part) for part in name.split(" · ")) if " · " in name else name
