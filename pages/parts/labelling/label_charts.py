"""Charts and captions of pairs of labels: their learned interactions, compared with the data."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from pages.parts.app.colours import BLUE, GREY, VERMILLION
from pages.parts.app.frame import escaped
from pages.parts.charts.plots import ZERO, points, reach, signed_bars
from pages.parts.labelling.star_picture import short
from ranking.core import Ints
from ranking.explain.label_pairs import LabelPairs
from ranking.reports.prose import signed

# pairs that are named in the scatter
MAX_NAMED = 5
# of the largest disagreement with the data: pairs with a smaller one are not named
FAINTEST = 0.1
TICKS = {-6: "1/64", -4: "1/16", -2: "¼", 0: "chance", 2: "4×", 4: "16×", 6: "64×"}
AGAINST = "rgba(128,128,128,.22)"


def named(pairs: LabelPairs, place: int) -> str:
    """Return the two labels of a pair.

    >>> two = LabelPairs(("sea", "sand"), [0], [0], [1], [0.4], [2], [1.0], 4)
    >>> named(two, 0)
    'sea · sand'
    """
    return f"{pairs.names[int(pairs.first[place])]} · {pairs.names[int(pairs.second[place])]}"


def beside_the_data(pairs: LabelPairs, names: Sequence[str]) -> go.Figure:
    """Plot a row per pair, the first on top: F, and how often both labels occur together, compared with chance."""
    figure = make_subplots(
        rows=1,
        cols=2,
        shared_yaxes=True,
        horizontal_spacing=0.04,
        column_titles=["learned: F", "data: both vs chance"],
    )
    rows, names = np.arange(len(pairs))[::-1], [short(name) for name in names]
    counts = [
        f"{both:,} vs {chance:,.3g}" for both, chance in zip(pairs.together, pairs.expected, strict=True)
    ]
    for column, values, texts in (
        (1, pairs.weight, [signed(weight, 2, "g") for weight in pairs.weight]),
        (2, pairs.log_lift, counts),
    ):
        figure.add_bar(
            x=values,
            y=rows,
            orientation="h",
            text=texts,
            textposition="outside",
            textangle=0,
            constraintext="none",
            cliponaxis=False,
            hovertext=names,
            hovertemplate="%{hovertext}: %{text}<extra></extra>",
            marker=signed_bars(values),
            row=1,
            col=column,
        )
        figure.update_xaxes(range=reach(values.tolist(), 2.1), **ZERO, row=1, col=column)
    # the numbers are at the bars
    figure.update_xaxes(tickvals=[0], ticktext=["chance"], row=1, col=2)
    figure.update_xaxes(nticks=4, tickangle=0)
    figure.update_yaxes(tickvals=rows, ticktext=names, showgrid=False)
    figure.update_layout(showlegend=False, bargap=0.25)
    return figure


def against_the_data(pairs: LabelPairs, words: Sequence[str], furthest: Ints) -> go.Figure:
    """Plot every pair by its co-occurrence in the data (x) and its learned interaction (y)."""
    # The pairs `furthest` are named. The two quadrants in which the signs differ are grey.
    figure = go.Figure()
    x, y = pairs.log_lift, pairs.weight
    wide, high = (9.2 * max(1e-9, float(np.abs(values).max(initial=0.0))) for values in (x, y))
    for sign in (1, -1):
        corner = {"x0": -sign * wide, "x1": 0, "y0": 0, "y1": sign * high}
        figure.add_shape(type="rect", fillcolor=AGAINST, line_width=0, **corner)
    for name, sign, symbol, colour in (
        ("attract", 1, "circle", BLUE),
        ("repel", -1, "diamond-open", VERMILLION),
    ):
        chosen = np.flatnonzero(sign * y > 0)
        texts, hover = [html.escape(words[place]) for place in chosen], "%{text}<extra></extra>"
        style = (colour, symbol, 11, (colour, 2))
        points(figure, x[chosen], y[chosen], *style, name=name, text=texts, hovertemplate=hover)
    points(figure, [None], [None], AGAINST, "square", 18, (AGAINST, 0), name="disagrees with the data")
    low, most = float(x.min(initial=0.0)), float(x.max(initial=0.0))
    for place in furthest:
        # where there is room
        left = 2 * x[place] > low + most
        figure.add_annotation(
            x=float(x[place]),
            y=float(y[place]),
            text=" · ".join(short(pairs.names[int(column[place])]) for column in (pairs.first, pairs.second)),
            showarrow=True,
            arrowwidth=2,
            arrowcolor=GREY,
            ax=-28 if left else 28,
            ay=-26 if y[place] > 0 else 26,
            xanchor="right" if left else "left",
            font={"size": 15},
        )
    ticks = {tick: text for tick, text in TICKS.items() if low - 1 <= tick <= most + 1}
    figure.update_xaxes(
        title_text="together in the data, compared with chance",
        tickvals=list(ticks),
        ticktext=list(ticks.values()),
        tickangle=0,
        range=[min(1.15 * low, -0.4), max(1.15 * most, 0.4) + 0.12 * (most - low)],
        **ZERO,
    )
    upright = [min(1.3 * float(y.min()), 0), max(1.3 * float(y.max()), 0)]
    figure.update_yaxes(title_text="learned: F", range=upright, **ZERO)
    return figure


def most_against(pairs: LabelPairs) -> Ints:
    """Return the positions of at most MAX_NAMED pairs that disagree most with the data."""
    # They are so far apart that all of their names can be read.
    named: list[int] = []
    across, up = (max(1e-9, float(np.ptp(values))) for values in (pairs.log_lift, pairs.weight))
    for place in np.argsort(-pairs.against, kind="stable"):
        if len(named) == MAX_NAMED or pairs.against[place] <= FAINTEST * max(0.0, pairs.against.max()):
            break
        beside = np.abs(pairs.log_lift[named] - pairs.log_lift[place]) < 0.2 * across
        if not (beside & (np.abs(pairs.weight[named] - pairs.weight[place]) < 0.1 * up)).any():
            named.append(int(place))
    return np.array(named, np.int64)


def in_words(pairs: LabelPairs, place: int) -> str:
    """Return a pair with its learned interaction and its counts in the data.

    >>> two = LabelPairs(("sea", "sand"), [0], [0], [1], [0.4], np.array([2]), np.array([1.0]), 4)
    >>> in_words(two, 0)
    'sea · sand: F = +0.4; together on 2 of 4 images, by chance 1'
    """
    return (
        f"{named(pairs, place)}: F = {signed(float(pairs.weight[place]), 2, 'g')}; together on "
        f"{pairs.together[place]:,} of {pairs.images:,} images, by chance {pairs.expected[place]:.2g}"
    )


def strongest(pairs: LabelPairs) -> str:
    """Return the pairs with the strongest attraction and the strongest repulsion as Markdown."""
    places = [*pairs.strongest(1, 1), *pairs.strongest(-1, 1)]
    return " ".join(f"{escaped(in_words(pairs, int(place)))}." for place in places)


def compared(pairs: LabelPairs) -> str:
    """Say how many of the learned interactions agree with the data, and how they are correlated."""
    nonzero = pairs.weight != 0
    agreeing, count = int(np.count_nonzero(pairs.against[nonzero] <= 0)), int(nonzero.sum())
    related = "" if math.isnan(pairs.correlation) else f" (correlation {pairs.correlation:.2f})"
    return f"{agreeing:,} of {count:,} learned interactions agree with the data{related}."
