"""Pairs of labels as charts: what was learnt of them beside what the data says."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from pages.parts.app.colours import BLUE, GREY, VERMILLION
from pages.parts.views.label_words import signed
from pages.parts.views.star_picture import short
from ranking.core import Ints
from ranking.explain.label_pairs import LabelPairs

MOST_NAMED = 5  # pairs that are named in the scatter
FAINTEST = 0.1  # of what goes most against the data: a pair that goes less is not named
TICKS = {-6: "1/64", -4: "1/16", -2: "¼", 0: "chance", 2: "4×", 4: "16×", 6: "64×"}
AGAINST = "rgba(128,128,128,.22)"


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
        column_titles=["learnt: F", "data: both vs chance"],
    )
    rows = np.arange(len(pairs))[::-1]
    for column, (values, said) in enumerate(
        (
            (pairs.weight, [signed(weight) for weight in pairs.weight]),
            (pairs.log_lift, [_count(pairs, place) for place in range(len(pairs))]),
        ),
        start=1,
    ):
        figure.add_bar(
            x=values,
            y=rows,
            orientation="h",
            text=said,
            textposition="outside",
            textangle=0,
            constraintext="none",
            cliponaxis=False,
            hovertext=[short(name) for name in names],
            hovertemplate="%{hovertext}: %{text}<extra></extra>",
            marker=_look(values),
            row=1,
            col=column,
        )
        reach = 2.1 * max(1e-9, float(np.abs(values).max(initial=0.0)))  # with room for the numbers
        low = -reach if (values < 0).any() else -0.1 * reach
        high = reach if (values > 0).any() else 0.1 * reach
        figure.update_xaxes(
            range=[low, high], zeroline=True, zerolinecolor=GREY, zerolinewidth=2, row=1, col=column
        )
    figure.update_xaxes(tickvals=[0], ticktext=["chance"], row=1, col=2)  # the numbers stand at the bars
    figure.update_xaxes(nticks=4, tickangle=0)
    figure.update_yaxes(tickvals=rows, ticktext=[short(name) for name in names], showgrid=False)
    figure.update_layout(showlegend=False, bargap=0.25)
    return figure


def _count(pairs: LabelPairs, place: int) -> str:
    """How many images have both, and how many would by chance."""
    return f"{pairs.together[place]:,} vs {pairs.expected[place]:,.3g}"


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
    """Every pair by what the data says (across) and what was learnt (up), those `furthest` from agreeing are named.

    The two quarters in which learnt and counted go against each other are grey.
    """
    figure = go.Figure()
    x, y = pairs.log_lift, pairs.weight
    wide, high = (1.15 * max(1e-9, float(np.abs(values).max(initial=0.0))) for values in (x, y))
    for sign in (1, -1):
        figure.add_shape(
            type="rect", x0=-sign * 8 * wide, x1=0, y0=0, y1=sign * 8 * high, fillcolor=AGAINST, line_width=0
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
            text=[html.escape(told[place]) for place in chosen],
            hovertemplate="%{text}<extra></extra>",
        )
    figure.add_scatter(
        x=[None],
        y=[None],
        mode="markers",
        name="learnt goes against the data",
        marker={"color": AGAINST, "symbol": "square", "size": 18},
    )
    low, most = float(x.min(initial=0.0)), float(x.max(initial=0.0))
    for place in furthest:
        left = 2 * x[place] > low + most  # where there is room
        figure.add_annotation(
            x=float(x[place]),
            y=float(y[place]),
            text=_two(pairs, int(place)),
            showarrow=True,
            arrowwidth=2,
            arrowcolor=GREY,
            ax=-28 if left else 28,
            ay=-26 if y[place] > 0 else 26,
            xanchor="right" if left else "left",
            font={"size": 15},
        )
    shown = {tick: text for tick, text in TICKS.items() if low - 1 <= tick <= most + 1}
    zero = {"zeroline": True, "zerolinecolor": GREY, "zerolinewidth": 2}
    figure.update_xaxes(
        title_text="together in the data, against chance",
        tickvals=list(shown),
        ticktext=list(shown.values()),
        tickangle=0,
        range=[min(1.15 * low, -0.4), max(1.15 * most, 0.4) + 0.12 * (most - low)],
        **zero,
    )
    figure.update_yaxes(
        title_text="learnt: F", range=[min(1.3 * float(y.min()), 0), max(1.3 * float(y.max()), 0)], **zero
    )
    return figure


def most_against(pairs: LabelPairs) -> Ints:
    """The places of at most MOST_NAMED pairs that go most against the data, and stand so far apart that all of their
    names can be read."""
    named: list[int] = []
    across, up = (max(1e-9, float(np.ptp(values))) for values in (pairs.log_lift, pairs.weight))
    for place in np.argsort(-pairs.against, kind="stable"):
        if len(named) == MOST_NAMED or pairs.against[place] <= FAINTEST * max(0.0, pairs.against.max()):
            break
        beside = np.abs(pairs.log_lift[named] - pairs.log_lift[place]) < 0.2 * across
        if not (beside & (np.abs(pairs.weight[named] - pairs.weight[place]) < 0.1 * up)).any():
            named.append(int(place))
    return np.array(named, np.int64)


def _two(pairs: LabelPairs, place: int) -> str:
    """A pair's name, safe for Plotly."""
    return " · ".join(short(pairs.names[int(column[place])]) for column in (pairs.first, pairs.second))
