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
from pages.parts.views.charts import ZERO, points, reach, signed_bars
from pages.parts.views.star_picture import short
from ranking.core import Ints
from ranking.explain.label_pairs import LabelPairs
from ranking.reports.prose import signed

MOST_NAMED = 5  # pairs that are named in the scatter
FAINTEST = 0.1  # of the largest disagreement with the data: pairs with a smaller one are not named
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
    figure.update_xaxes(tickvals=[0], ticktext=["chance"], row=1, col=2)  # the numbers are at the bars
    figure.update_xaxes(nticks=4, tickangle=0)
    figure.update_yaxes(tickvals=rows, ticktext=names, showgrid=False)
    figure.update_layout(showlegend=False, bargap=0.25)
    return figure


def against_the_data(pairs: LabelPairs, words: Sequence[str], furthest: Ints) -> go.Figure:
    """Plot every pair by its co-occurrence in the data (x) and its learned interaction (y); the pairs `furthest` are
    named.

    The two quadrants in which the signs differ are grey.
    """
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
        look = (colour, symbol, 11, (colour, 2))
        points(figure, x[chosen], y[chosen], *look, name=name, text=texts, hovertemplate=hover)
    points(figure, [None], [None], AGAINST, "square", 18, (AGAINST, 0), name="disagrees with the data")
    low, most = float(x.min(initial=0.0)), float(x.max(initial=0.0))
    for place in furthest:
        left = 2 * x[place] > low + most  # where there is room
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
    """Return the positions of at most MOST_NAMED pairs that disagree most with the data, so far apart that all of their
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


ATTRACTS, REPELS, NEITHER = "attracts", "repels", "does not affect"  # the effect of a weight


def in_words(pairs: LabelPairs, place: int) -> str:
    """Describe one pair in one sentence: its learned interaction, and its counts in the data."""
    first, second = (pairs.names[int(column[place])] for column in (pairs.first, pairs.second))
    weight = float(pairs.weight[place])
    verb = ATTRACTS if weight > 0 else REPELS if weight < 0 else NEITHER
    return f"{first} {verb} {second} (F = {signed(weight, 2, 'g')}): {in_the_data(pairs, place)}"


def in_the_data(pairs: LabelPairs, place: int) -> str:
    """Say how often both labels occur together, and how often they would by chance.

    >>> two = LabelPairs(("sea", "sand"), [0], [0], [1], [0.4], np.array([2]), np.array([1.0]), 4)
    >>> in_the_data(two, 0)
    'together on 50% of images, 2 times as often as by chance'
    """
    ratio = float(pairs.lift[place])
    if math.isnan(ratio):
        return "one of the two labels occurs in no image"
    if not pairs.together[place]:
        return f"never together, by chance on {pairs.expected[place]:.2g} images"
    times = f"{ratio:.2g} times as often" if f"{ratio:.2g}" != "1" else "as often"
    only = "only " if ratio < 0.95 else ""
    return (
        f"together on {percent(pairs.together[place] / pairs.images)} of images, {only}{times} as by chance"
    )


def percent(share: float) -> str:
    """Return a share in percent, rounded.

    >>> percent(0.116), percent(0.0031), percent(1.0)
    ('12%', '0.3%', '100%')
    """
    return f"{100 * share:.0f}%" if share >= 0.01 else f"{100 * share:.1g}%"


def strongest(pairs: LabelPairs) -> str:
    """Describe the strongest attraction and the strongest repulsion as sentences in Markdown."""
    places = [*pairs.strongest(1, 1), *pairs.strongest(-1, 1)]
    return " ".join(f"{escaped(in_words(pairs, int(place)))}." for place in places)


def compared(pairs: LabelPairs) -> str:
    """Say how well the learned interactions of all pairs agree with the data, and which one agrees least, as
    Markdown."""
    nonzero = pairs.weight != 0
    against, count = int(np.count_nonzero(pairs.against[nonzero] > 0)), int(nonzero.sum())
    related = "" if math.isnan(pairs.correlation) else f" (correlation {pairs.correlation:.2f})"
    text = f"{count - against:,} of {count:,} learned interactions agree with the data{related}."
    if not against:
        return text
    return f"{text} The largest disagreement: {escaped(in_words(pairs, int(pairs.against.argmax())))}."
