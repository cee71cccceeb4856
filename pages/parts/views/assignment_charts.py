"""Matrices of an assignment problem as heatmaps, with each number in its cell and the cells that count outlined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from pages.parts.app.colours import DARK_BLUE, DARK_GREY, DARK_VERMILLION, PURPLE
from ranking.core import Bools, Floats

COLOURS = [
    [0.0, DARK_VERMILLION],
    [0.5, DARK_GREY],
    [1.0, DARK_BLUE],
]  # white numbers are legible on all of them
ROW = 34  # pixels
EDGE = 0.46  # of a cell, from its middle to its outline


def matrix(
    values: Floats, counted: Bools, rows: Sequence[str], columns: Sequence[str], titles: tuple[str, str]
) -> go.Figure:
    """values (N, N) from the top; counted (N, N): outlined and bold. titles: of the rows and of the columns."""
    most = max(1e-9, float(np.abs(values).max()))
    n = len(values)
    figure = go.Figure()
    figure.add_heatmap(
        z=values,
        zmin=-most,
        zmax=most,
        colorscale=COLOURS,
        showscale=False,
        xgap=2,
        ygap=2,
        customdata=np.array([[[row, column] for column in columns] for row in rows]),
        hovertemplate="%{customdata[0]}, %{customdata[1]}: %{z:.3f}<extra></extra>",
    )
    i, j = np.indices(values.shape).reshape(2, -1)
    figure.add_scatter(
        x=j,
        y=i,
        mode="text",
        text=[
            f"<b>{cell(values[at])}</b>" if counted[at] else cell(values[at]) for at in zip(i, j, strict=True)
        ],
        textfont={"size": 14, "color": "white"},
        hoverinfo="skip",
        showlegend=False,
    )
    for y, x in np.argwhere(counted).tolist():
        corners = {"x0": x - EDGE, "x1": x + EDGE, "y0": y - EDGE, "y1": y + EDGE}
        figure.add_shape(type="rect", line={"color": PURPLE, "width": 3}, **corners)
    fixed = {"showgrid": False, "zeroline": False, "fixedrange": True, "tickangle": 0}
    ticks = list(range(n))
    figure.update_xaxes(
        tickvals=ticks,
        ticktext=list(columns),
        side="top",
        title_text=titles[1],
        range=[-0.5, n - 0.5],
        **fixed,
    )
    figure.update_yaxes(
        tickvals=ticks, ticktext=list(rows), title_text=titles[0], range=[n - 0.5, -0.5], **fixed
    )
    return figure


def height(n: int) -> int:
    """Pixels of a heatmap of n rows, with its axis above it."""
    return 70 + ROW * n


def cell(value: float) -> str:
    """A number as a cell shows it.

    >>> cell(0.0), cell(-0.25), cell(1 / 3), cell(2.0)
    ('0', '−0.25', '0.33', '2')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".").replace("-", "−")
    return "0" if text == "−0" else text
