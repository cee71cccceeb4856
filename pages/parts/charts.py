"""The charts of all pages. Each says in its caption what to notice, and in `alt` what it shows."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots

from pages.parts.colours import BLUE, GREEN, GREY, PURPLE, VERMILLION
from ranking.types import Floats, ImageSet, Ints

MOST_POINTS = 600  # of a line: more cannot be seen
MOST_CLASSES = 20
FAR = 20.0  # times the least primal: a fall from there hides the last gap on a linear scale

Event = dict[str, Any]


def training_curve(
    iterations: Sequence[Event], tolerance: float | None, log_iterations: bool, key: str
) -> None:
    """Primal and dual with the gap between them; below it the relative gap and its tolerance. At least one
    iteration."""
    shown = thinned(iterations)
    steps = [event["iteration"] for event in shown]
    floor = lowest_bound(iterations)
    low = -math.inf if floor is None else floor
    bounded = [event for event in shown if event["dual"] is not None and event["dual"] >= low]
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.62, 0.38], vertical_spacing=0.08)
    bounds = [event["iteration"] for event in bounded]
    dual = [event["dual"] for event in bounded]
    figure.add_scatter(
        x=bounds,
        y=dual,
        name="dual (lower bound)",
        legendrank=2,
        line={"color": VERMILLION, "width": 3, "dash": "dash"},
    )
    # The gap is filled between equally long lines, so the upper one is drawn once more without a legend.
    figure.add_scatter(
        x=bounds,
        y=[event["primal"] for event in bounded],
        fill="tonexty",
        fillcolor="rgba(128,128,128,.22)",
        line={"width": 0},
        showlegend=False,
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=steps,
        y=[event["primal"] for event in shown],
        name="primal (best so far)",
        legendrank=1,
        line={"color": BLUE, "width": 3},
    )
    gaps = [(event["iteration"], event["relative_gap"]) for event in bounded if event["relative_gap"]]
    figure.add_scatter(
        x=[step for step, _ in gaps],
        y=[gap for _, gap in gaps],
        name="relative gap",
        legendrank=3,
        line={"color": PURPLE, "width": 3},
        row=2,
        col=1,
    )
    if tolerance is not None:
        figure.add_scatter(
            x=[steps[0], steps[-1]],
            y=[tolerance, tolerance],
            name=f"tolerance {tolerance:g}",
            legendrank=4,
            mode="lines",
            line={"color": GREEN, "dash": "dot", "width": 3},
            row=2,
            col=1,
        )
    if floor is None:
        figure.update_yaxes(title_text="objective", rangemode="tozero", row=1, col=1)
    else:
        figure.update_yaxes(title_text="objective", type="log", exponentformat="power", row=1, col=1)
    figure.update_yaxes(title_text="gap / primal", type="log", exponentformat="power", row=2, col=1)
    figure.update_xaxes(type="log" if log_iterations else "linear")
    figure.update_xaxes(title_text="iteration", row=2, col=1)
    last = shown[-1] if shown else None
    where = (
        "no iteration yet" if last is None else f"{last['iteration']} iterations, primal {last['primal']:.4g}"
    )
    _show(figure, key, f"Primal, dual and relative gap over the iterations: {where}", "training", height=440)


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


def precision_recall(precision: Floats, recall: Floats, k: int, key: str) -> None:
    """The curve with the chosen k marked on it.

    Its steps have the height of the precision at each relevant sample, so that the area below is the average
    precision (up to what thinning leaves out of a long ranking).
    """
    rows = thinned(range(len(precision)))
    figure = go.Figure()
    figure.add_scatter(
        x=[0.0, *recall[rows]],
        y=[precision[0], *precision[rows]],
        mode="lines",
        name="precision",
        line={"color": BLUE, "width": 3, "shape": "vh"},
        fill="tozeroy",
        fillcolor="rgba(0,114,178,.15)",
        hovertemplate="recall %{x:.3f}, precision %{y:.3f}<extra></extra>",
    )
    x, y = float(recall[k - 1]), float(precision[k - 1])
    guide = {"color": GREY, "dash": "dot", "width": 2}
    figure.add_scatter(x=[0, x, x], y=[y, y, 0], mode="lines", line=guide, hoverinfo="skip", showlegend=False)
    figure.add_scatter(
        x=[x],
        y=[y],
        mode="markers+text",
        text=[f" k = {k} "],
        textposition="bottom right" if x < 0.7 else "bottom left",
        textfont={"size": 15},
        marker={"color": VERMILLION, "size": 14, "symbol": "diamond", "line": {"color": "white", "width": 2}},
        name=f"k = {k}",
        hovertemplate=f"first {k}: recall %{{x:.3f}}, precision %{{y:.3f}}<extra></extra>",
    )
    figure.update_xaxes(title_text="recall", range=[0, 1.02])
    figure.update_yaxes(title_text="precision", range=[0, 1.05])
    figure.update_layout(showlegend=False)
    alt = f"Precision-recall curve; among the first {k} precision is {y:.3f} and recall {x:.3f}"
    _show(figure, key, alt, "precision-recall", height=300)


def class_counts(images: ImageSet, key: str) -> None:
    """How many samples show each class, in train and test."""
    train, test = images.labels[~images.test].sum(axis=0), images.labels[images.test].sum(axis=0)
    order = np.argsort(-(train + test), kind="stable")[:MOST_CLASSES]
    order = _natural(order, images.classes)[::-1]
    names = [html.escape(_short(images.classes[i])) for i in order]
    figure = go.Figure()
    for split, counts, colour, pattern in (("train", train, BLUE, ""), ("test", test, VERMILLION, "/")):
        figure.add_bar(
            y=list(range(len(order))),
            x=counts[order],
            name=split,
            orientation="h",
            text=counts[order],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": "white"},
            marker={
                "color": colour,
                "pattern": {
                    "shape": pattern,
                    "fillmode": "overlay",
                    "fgcolor": "rgba(255,255,255,.4)",
                    "size": 6,
                },
            },
            hovertemplate="%{x} samples<extra>" + split + "</extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.22)
    figure.update_xaxes(title_text="samples")
    figure.update_yaxes(tickvals=list(range(len(order))), ticktext=names)
    listed = ", ".join(f"{images.classes[i]} {train[i]} and {test[i]}" for i in order[::-1][:10])
    alt = f"Samples of each class in train and test: {listed}"
    _show(figure, key, alt, "classes", height=110 + 26 * len(order))


def _natural(order: Ints, classes: Sequence[str]) -> Ints:
    """Classes that are all numbers in the order of numbers, others as they are."""
    if not all(re.fullmatch("[0-9]{1,9}", name) for name in classes):
        return order
    return np.array(sorted(order, key=lambda i: int(classes[i])), dtype=np.int64)


def thinned(points: Sequence[Any]) -> list[Any]:
    """At most MOST_POINTS of `points`, evenly, the first and the last among them."""
    if len(points) <= MOST_POINTS:
        return list(points)
    return [points[i] for i in np.linspace(0, len(points) - 1, MOST_POINTS).round().astype(int)]


def _short(name: str) -> str:
    return name if len(name) <= 24 else name[:23] + "…"


def _show(figure: go.Figure, key: str, alt: str, file: str, height: int) -> None:
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 12, "t": 34, "b": 8},
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
        hovermode="closest",
    )
    config = {
        "displaylogo": False,
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
        "toImageButtonOptions": {"filename": file, "scale": 2},
    }
    st.plotly_chart(figure, key=key, config=config, alt=alt)
