"""The curve of a training: two bounds that meet, or the stairs of one that takes rounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from pages.parts.app.colours import BLUE, GREEN, GREY, PURPLE, VERMILLION
from pages.parts.views.charts import show, thinned

FAR = 20.0  # times the least primal: a fall from there hides the last gap on a linear scale

Event = dict[str, Any]


def training_curve(
    iterations: Sequence[Event], tolerance: float | None, log_iterations: bool, key: str
) -> None:
    """Primal and dual with the gap between them; below it the relative gap and its tolerance. At least one
    iteration."""
    shown = thinned(iterations)
    floor = lowest_bound(iterations)
    low = -math.inf if floor is None else floor
    bounded = [event for event in shown if event["dual"] is not None and event["dual"] >= low]
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.62, 0.38], vertical_spacing=0.08)
    _add_bounds(figure, shown, bounded)
    _add_gap(figure, shown, bounded, tolerance)
    _title_axes(figure, floor, log_iterations)
    where = f"{shown[-1]['iteration']} iterations, primal {shown[-1]['primal']:.4g}"
    show(figure, key, f"Primal, dual and relative gap over the iterations: {where}", "training", height=440)


def training_stairs(
    iterations: Sequence[Event], tolerance: float | None, log_iterations: bool, key: str
) -> None:
    """The objective by round, and within each the convex problem between its bounds; below it the round's gap.

    At least one iteration; each belongs to a round.
    """
    shown, rounds = thinned(iterations), by_round(iterations)
    floor = lowest_bound(iterations)
    low = -math.inf if floor is None else floor
    bounded = [event for event in shown if event["dual"] is not None and event["dual"] >= low]
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.62, 0.38], vertical_spacing=0.08)
    _add_rounds(figure, rounds, by_round(shown), by_round(bounded))
    _add_gap(figure, shown, apart(by_round(bounded)), tolerance)
    _title_axes(figure, floor, log_iterations)
    where = f"{len(rounds)} rounds, {shown[-1]['iteration']} iterations, objective {shown[-1]['primal']:.4g}"
    show(
        figure, key, f"The objective by round, with the bound of each round: {where}", "training", height=440
    )


def in_rounds(iterations: Sequence[Event]) -> list[Event]:
    """Those that belong to a round: not those of finding the weights that the first one begins with."""
    return [event for event in iterations if event.get("round", 0)]


def by_round(iterations: Sequence[Event]) -> list[list[Event]]:
    """The iterations of each round."""
    return [list(events) for _, events in groupby(iterations, key=lambda event: event["round"])]


def stairs(rounds: Sequence[Sequence[Event]]) -> tuple[list[int], list[float]]:
    """The objective where each round begins, and at last where it has come to: (rounds + 1,) iterations, values."""
    corners = thinned([events[0] for events in rounds] + [rounds[-1][-1]])
    return _column(corners, "iteration"), _column(corners, "primal")


def apart(rounds: Sequence[Sequence[Event]]) -> list[Event]:
    """The iterations of all rounds, with nothing between two of them: a line that is drawn breaks there."""
    nothing = dict.fromkeys(("iteration", "primal", "dual", "relative_gap"))
    return [event for events in rounds for event in (*events, nothing)][:-1]


def _add_rounds(
    figure: go.Figure,
    rounds: Sequence[Sequence[Event]],
    shown: Sequence[Sequence[Event]],
    bounded: Sequence[Sequence[Event]],
) -> None:
    """The stairs of all rounds; the convex problems' values of the `shown` iterations, the duals of the `bounded`."""
    upper, lower = apart(shown), apart(bounded)
    figure.add_scatter(
        x=_column(lower, "iteration"),
        y=_column(lower, "dual"),
        name="dual of each round",
        legendrank=3,
        line={"color": VERMILLION, "width": 3, "dash": "dash"},
    )
    figure.add_scatter(
        x=_column(upper, "iteration"),
        y=_column(upper, "primal"),
        name="convex problem of each round",
        legendrank=2,
        line={"color": GREY, "width": 2},
    )
    x, y = stairs(rounds)
    figure.add_scatter(
        x=x,
        y=y,
        name="objective by round",
        legendrank=1,
        mode="lines+markers",
        line={"color": BLUE, "width": 4, "shape": "hv"},
        marker={"size": 8},
    )


def _title_axes(figure: go.Figure, floor: float | None, log_iterations: bool) -> None:
    """The objective above, the relative gap below; logarithmic where `floor` says how far down a bound is drawn."""
    if floor is None:
        figure.update_yaxes(title_text="objective", rangemode="tozero", row=1, col=1)
    else:
        figure.update_yaxes(title_text="objective", type="log", exponentformat="power", row=1, col=1)
    figure.update_yaxes(title_text="gap / primal", type="log", exponentformat="power", row=2, col=1)
    figure.update_xaxes(type="log" if log_iterations else "linear")
    figure.update_xaxes(title_text="iteration", row=2, col=1)


def _add_bounds(figure: go.Figure, shown: Sequence[Event], bounded: Sequence[Event]) -> None:
    """The primal of all iterations and the dual of the `bounded` ones, filled between."""
    bounds = _column(bounded, "iteration")
    figure.add_scatter(
        x=bounds,
        y=_column(bounded, "dual"),
        name="dual (lower bound)",
        legendrank=2,
        line={"color": VERMILLION, "width": 3, "dash": "dash"},
    )
    # The gap is filled between equally long lines, so the upper one is drawn once more without a legend.
    figure.add_scatter(
        x=bounds,
        y=_column(bounded, "primal"),
        fill="tonexty",
        fillcolor="rgba(128,128,128,.22)",
        line={"width": 0},
        showlegend=False,
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=_column(shown, "iteration"),
        y=_column(shown, "primal"),
        name="primal (best so far)",
        legendrank=1,
        line={"color": BLUE, "width": 3},
    )


def _add_gap(
    figure: go.Figure, shown: Sequence[Event], bounded: Sequence[Event], tolerance: float | None
) -> None:
    """The relative gap where a logarithm can show it, and the tolerance over all iterations."""
    gaps = [event for event in bounded if event["relative_gap"] != 0]
    figure.add_scatter(
        x=_column(gaps, "iteration"),
        y=_column(gaps, "relative_gap"),
        name="relative gap",
        legendrank=3,
        line={"color": PURPLE, "width": 3},
        row=2,
        col=1,
    )
    if tolerance is not None:
        figure.add_scatter(
            x=[shown[0]["iteration"], shown[-1]["iteration"]],
            y=[tolerance, tolerance],
            name=f"tolerance {tolerance:g}",
            legendrank=4,
            mode="lines",
            line={"color": GREEN, "dash": "dot", "width": 3},
            row=2,
            col=1,
        )


def _column(events: Sequence[Event], name: str) -> list[Any]:
    return [event[name] for event in events]


def lowest_bound(iterations: Sequence[Event]) -> float | None:
    """The lowest dual that a logarithmic scale shows: as many times below the least primal as the highest is
    above it. None where a linear scale shows the gap well, or no dual is that high yet."""
    primals = [event["primal"] for event in iterations]
    least, most = min(primals), max(primals)
    if not 0 < FAR * least < most:
        return None
    floor: float = least / (most / least)
    last = iterations[-1]["dual"]
    return floor if floor > 0 and last is not None and last >= floor else None
