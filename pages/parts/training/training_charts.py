"""The convergence of a training run: its two bounds, or its objective by round (CCCP)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from pages.parts.app.colours import BLUE, GREEN, GREY, PURPLE, VERMILLION
from pages.parts.charts.plots import line, show, thinned

# ratio of the largest and least primal above which a linear scale would hide the last gap
FAR = 20.0
BELOW = {"row": 2, "col": 1}

Event = dict[str, Any]


def training_curve(
    iterations: Sequence[Event], tolerance: float | None, log_iterations: bool, key: str
) -> None:
    """Show primal and dual with the gap between them, and below the duality gap with its tolerance."""
    # Needs at least one iteration.
    shown, bounded, figure = _begin(iterations)
    x, dual, primal = (_column(bounded, name) for name in ("iteration", "dual", "primal"))
    line(figure, x, dual, VERMILLION, 3, "dash", name="dual (lower bound)", legendrank=2)
    # Plotly fills between lines of equal length, so the primal is plotted again over the same iterations.
    line(figure, x, primal, BLUE, 0, fill="tonexty", fillcolor="rgba(128,128,128,.22)")
    x, primal = _column(shown, "iteration"), _column(shown, "primal")
    line(figure, x, primal, BLUE, name="primal (best so far)", legendrank=1)
    words = f"{x[-1]} iterations, primal {primal[-1]:.4g}"
    alt = f"Primal, dual and duality gap over the iterations: {words}"
    _finish(figure, iterations, shown, bounded, tolerance, log_iterations, key, alt)


def training_stairs(
    iterations: Sequence[Event], tolerance: float | None, log_iterations: bool, key: str
) -> None:
    """Show the objective by round with the bounds of each convex problem, and below the gap of the round."""
    # Needs at least one iteration; each belongs to a round.
    shown, bounded, figure = _begin(iterations)
    rounds, bounded = by_round(iterations), apart(by_round(bounded))
    x, dual = _column(bounded, "iteration"), _column(bounded, "dual")
    line(figure, x, dual, VERMILLION, 3, "dash", name="dual of each round", legendrank=3)
    upper = apart(by_round(shown))
    x, primal = _column(upper, "iteration"), _column(upper, "primal")
    line(figure, x, primal, GREY, 2, name="convex problem of each round", legendrank=2)
    line(
        figure,
        *stairs(rounds),
        BLUE,
        4,
        name="objective by round",
        legendrank=1,
        shape="hv",
        mode="lines+markers",
        marker={"size": 8},
    )
    last = shown[-1]
    words = f"{len(rounds)} rounds, {last['iteration']} iterations, objective {last['primal']:.4g}"
    alt = f"The objective by round, with the bound of each round: {words}"
    _finish(figure, iterations, shown, bounded, tolerance, log_iterations, key, alt)


def _begin(iterations: Sequence[Event]) -> tuple[list[Event], list[Event], go.Figure]:
    """Return the iterations to plot, those of them whose dual is plotted, and two charts below each other."""
    shown, floor = thinned(iterations), lowest_bound(iterations)
    low = -math.inf if floor is None else floor
    bounded = [event for event in shown if event["dual"] is not None and event["dual"] >= low]
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.62, 0.38], vertical_spacing=0.08)
    return shown, bounded, figure


def _finish(
    figure: go.Figure,
    iterations: Sequence[Event],
    shown: Sequence[Event],
    bounded: Sequence[Event],
    tolerance: float | None,
    log_iterations: bool,
    key: str,
    alt: str,
) -> None:
    """Add the duality gap over the primal where it is not 0, the tolerance and the axes, and show the figure."""
    gaps = [event for event in bounded if event["relative_gap"] != 0]
    x, gap = _column(gaps, "iteration"), _column(gaps, "relative_gap")
    line(figure, x, gap, PURPLE, name="duality gap", legendrank=3, **BELOW)
    if tolerance is not None:
        x, name = [shown[0]["iteration"], shown[-1]["iteration"]], f"tolerance {tolerance:g}"
        line(figure, x, [tolerance] * 2, GREEN, 3, "dot", name=name, legendrank=4, **BELOW)
    if lowest_bound(iterations) is None:
        figure.update_yaxes(title_text="objective", rangemode="tozero", row=1, col=1)
    else:
        figure.update_yaxes(title_text="objective", type="log", exponentformat="power", row=1, col=1)
    figure.update_yaxes(title_text="duality gap", type="log", exponentformat="power", nticks=4, **BELOW)
    figure.update_xaxes(type="log" if log_iterations else "linear")
    figure.update_xaxes(title_text="iteration", **BELOW)
    show(figure, key, alt, "training", height=440)


def in_rounds(iterations: Sequence[Event]) -> list[Event]:
    """Return the iterations that belong to a round; those that compute the starting weights do not."""
    return [event for event in iterations if event.get("round", 0)]


def by_round(iterations: Sequence[Event]) -> list[list[Event]]:
    """Return the iterations of each round."""
    return [list(events) for _, events in groupby(iterations, key=lambda event: event["round"])]


def stairs(rounds: Sequence[Sequence[Event]]) -> tuple[list[int], list[float]]:
    """Return the objective at the start of each round and at the end: (rounds + 1,) iterations and values."""
    corners = thinned([events[0] for events in rounds] + [rounds[-1][-1]])
    return _column(corners, "iteration"), _column(corners, "primal")


def apart(rounds: Sequence[Sequence[Event]]) -> list[Event]:
    """Return the iterations of all rounds with an empty event between two rounds, where a plotted line breaks."""
    nothing = dict.fromkeys(("iteration", "primal", "dual", "relative_gap"))
    return [event for events in rounds for event in (*events, nothing)][:-1]


def _column(events: Sequence[Event], name: str) -> list[Any]:
    return [event[name] for event in events]


def lowest_bound(iterations: Sequence[Event]) -> float | None:
    """Return the lowest dual that a logarithmic scale shows; None if a linear scale is enough."""
    # Its ratio to the least primal is that of the least to the largest primal. None if a linear scale shows
    # the gap well, or no dual is that high yet.
    primals = [event["primal"] for event in iterations]
    least, most = min(primals), max(primals)
    if not 0 < FAR * least < most:
        return None
    floor: float = least / (most / least)
    last = iterations[-1]["dual"]
    return floor if floor > 0 and last is not None and last >= floor else None
