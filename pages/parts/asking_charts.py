"""What answers are worth, as curves over the number of questions, and what two models differ by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from pages.parts.colours import BLUE, GREEN, GREY, PURPLE, VERMILLION
from ranking.fold_curves import Difference, FoldCurve
from ranking.types import Floats

# Colour, dash and mark of a line, by its place among the lines of a panel: each tells them apart alone.
LOOKS = (
    (BLUE, "solid", "circle"),
    (VERMILLION, "dash", "diamond"),
    (GREEN, "dashdot", "square"),
    (PURPLE, "dot", "triangle-up"),
    (GREY, "longdash", "x"),
)


def panel(
    curves: Sequence[FoldCurve], names: Sequence[str], every: Sequence[str], reach: tuple[float, float]
) -> go.Figure:
    """Means in percent over the number of questions, each with a band of one standard deviation over folds.

    names: of the lines, out of `every` of all panels, by which each has one look in all of them. reach: the lowest and
    the highest value of all panels, which so can be compared.
    """
    figure = go.Figure()
    looks = [LOOKS[every.index(name) % len(LOOKS)] for name in names]
    questions = np.arange(len(curves[0].mean))
    for curve, (colour, _, _) in zip(curves, looks, strict=True):  # all bands below all lines
        mean, spread = 100 * curve.mean, 100 * curve.spread
        figure.add_scatter(
            x=np.concatenate([questions, questions[::-1]]),
            y=np.concatenate([mean + spread, (mean - spread)[::-1]]),
            mode="lines",
            fill="toself",
            fillcolor=_faint(colour),
            line={"width": 0},
            hoverinfo="skip",
            showlegend=False,
        )
    for curve, name, (colour, dash, mark) in zip(curves, names, looks, strict=True):
        figure.add_scatter(
            x=questions,
            y=100 * curve.mean,
            name=name,
            mode="lines+markers",
            line={"color": colour, "width": 3, "dash": dash},
            marker={"symbol": mark, "size": 9, "color": colour},
            customdata=100 * curve.spread,
            hovertemplate="after %{x} questions %{y:.1f}% ± %{customdata:.1f}<extra></extra>",
        )
    room = 0.04 * (reach[1] - reach[0]) or 1.0
    figure.update_yaxes(title_text="BEP, %", range=[reach[0] - room, reach[1] + room])
    _title_questions(figure, len(curves[0].mean))
    return figure


def differences(found: Sequence[tuple[str, Difference]], every: Sequence[str]) -> go.Figure:
    """How far one model lies above another, in points, with an interval over folds; a line a strategy of `every`."""
    figure = go.Figure()
    for number, (name, apart) in enumerate(found):
        colour, dash, mark = LOOKS[every.index(name) % len(LOOKS)]
        shift = 0.09 * (number - (len(found) - 1) / 2)  # intervals beside each other
        bars = None if np.isnan(apart.low).any() else 100 * (apart.high - apart.mean)
        figure.add_scatter(
            x=np.arange(len(apart.mean)) + shift,
            y=100 * apart.mean,
            name=name,
            mode="lines+markers",
            line={"color": colour, "width": 3, "dash": dash},
            marker={"symbol": mark, "size": 9, "color": colour},
            error_y={"type": "data", "array": bars, "thickness": 2, "width": 4, "color": colour},
            hovertemplate="%{y:+.2f} points<extra></extra>",
        )
    figure.add_hline(y=0, line={"color": GREY, "dash": "dot", "width": 2})
    figure.update_yaxes(title_text="points of BEP", rangemode="tozero")
    _title_questions(figure, len(found[0][1].mean))
    return figure


def reach_of(curves: Sequence[FoldCurve]) -> tuple[float, float]:
    """The lowest and the highest value of all bands, in percent."""
    low: Floats = np.concatenate([curve.mean - curve.spread for curve in curves])
    high: Floats = np.concatenate([curve.mean + curve.spread for curve in curves])
    return 100 * float(low.min()), 100 * float(high.max())


def _title_questions(figure: go.Figure, count: int) -> None:
    ticks = [tick for tick in range(count) if count <= 12 or tick % 5 == 0]
    names = ["Auto" if tick == 0 else str(tick) for tick in ticks]
    figure.update_xaxes(
        title_text="questions asked",
        range=[-0.4, count - 0.6],
        tickvals=ticks,
        ticktext=names,
        tickangle=0,
        showgrid=False,
    )


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},.16)"
