"""Charts of a labelling simulation: precision over the number of questions, and the difference of two models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from pages.parts.app.colours import GREY
from ranking.core import Floats
from ranking.metrics.fold_curves import Difference, FoldCurve
from ranking.reports.line_styles import LineStyle


def panel(
    curves: Sequence[FoldCurve],
    names: Sequence[str],
    styles: Mapping[str, LineStyle],
    reach: tuple[float, float],
) -> go.Figure:
    """Plot means in percent over the number of questions, each with a band."""
    # A band is one standard deviation over folds. names: of the lines. styles: the line style of each name.
    # reach: the lowest and the highest value of all panels, so that they share a scale.
    figure = go.Figure()
    questions = np.arange(len(curves[0].mean))
    # one fold has no band
    several = len(curves[0].folds) > 1
    # all bands below all lines
    for curve, name in zip(curves, names, strict=True) if several else ():
        mean, spread = 100 * curve.mean, 100 * curve.spread
        figure.add_scatter(
            x=np.concatenate([questions, questions[::-1]]),
            y=np.concatenate([mean + spread, (mean - spread)[::-1]]),
            mode="lines",
            fill="toself",
            fillcolor=_faint(styles[name].colour),
            line={"width": 0},
            hoverinfo="skip",
            showlegend=False,
        )
    for curve, name in zip(curves, names, strict=True):
        style = styles[name]
        figure.add_scatter(
            x=questions,
            y=100 * curve.mean,
            name=name,
            mode="lines+markers",
            line=style.line(3),
            marker={"symbol": style.mark, "size": 9, "color": style.colour},
            customdata=100 * curve.spread,
            hovertemplate="after %{x} questions %{y:.1f}%"
            + (" ± %{customdata:.1f}" if several else "")
            + "<extra></extra>",
        )
    margin = 0.04 * (reach[1] - reach[0]) or 1.0
    figure.update_yaxes(title_text="BEP, %", range=[reach[0] - margin, reach[1] + margin])
    _title_questions(figure, len(curves[0].mean))
    return figure


def differences(by_strategy: Sequence[tuple[str, Difference]], styles: Mapping[str, LineStyle]) -> go.Figure:
    """Plot the difference of two models in points with an interval over folds, a line per strategy."""
    figure = go.Figure()
    for number, (name, apart) in enumerate(by_strategy):
        style = styles[name]
        # so that intervals do not overlap
        shift = 0.09 * (number - (len(by_strategy) - 1) / 2)
        bars = None if np.isnan(apart.low).any() else 100 * (apart.high - apart.mean)
        figure.add_scatter(
            x=np.arange(len(apart.mean)) + shift,
            y=100 * apart.mean,
            name=name,
            mode="lines+markers",
            line=style.line(3),
            marker={"symbol": style.mark, "size": 9, "color": style.colour},
            error_y={"type": "data", "array": bars, "thickness": 2, "width": 4, "color": style.colour},
            hovertemplate="%{y:+.2f} points<extra></extra>",
        )
    figure.add_hline(y=0, line={"color": GREY, "dash": "dot", "width": 2})
    figure.update_yaxes(title_text="points of BEP", rangemode="tozero")
    _title_questions(figure, len(by_strategy[0][1].mean))
    return figure


def reach_of(curves: Sequence[FoldCurve]) -> tuple[float, float]:
    """Return the lowest and the highest value of all bands, in percent."""
    low: Floats = np.concatenate([curve.mean - np.nan_to_num(curve.spread) for curve in curves])
    high: Floats = np.concatenate([curve.mean + np.nan_to_num(curve.spread) for curve in curves])
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
