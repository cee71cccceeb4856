"""What weaker and stronger neighbours make of a ranking, as charts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from pages.parts.app.colours import BLUE, GREEN, GREY, VERMILLION
from pages.parts.views.charts import line, show
from ranking.core import Bools, Floats, Ints


def places_by_strength(
    strengths: Floats, places: Ints, relevant: Bools, names: Sequence[str], now: int, key: str
) -> None:
    """The rank of each sample of a scene, places (s, people), by the strength of its edges; `now` is marked."""
    figure = go.Figure()
    for person, name in enumerate(names):
        colour = GREEN if relevant[person] else VERMILLION
        line(
            figure,
            strengths,
            places[:, person],
            colour,
            3,
            "solid" if relevant[person] else "dash",
            mode="lines+markers+text",
            text=[name, *[""] * (len(strengths) - 1)],
            textposition="middle left",
            textfont={"size": 15, "color": colour},
            cliponaxis=False,
            marker={"size": [12 if at == now else 4 for at in range(len(strengths))]},
            hovertemplate=f"{name}: rank %{{y}} at strength %{{x:.1f}}<extra></extra>",
        )
    most = int(places.max())
    ticks = [place for place in (1, 3, 10, 30, 100, 300, 1000, 3000, 10000) if place <= 1.5 * most]
    top = float(np.log10(1.4 * most))
    words = [f"{place:,}" for place in ticks]
    figure.update_yaxes(title_text="rank", type="log", range=[top, -0.1], tickvals=ticks, ticktext=words)
    listed = ", ".join(f"{name} {places[now, person]}" for person, name in enumerate(names))
    alt = f"Rank of each person by strength; now: {listed}"
    _show(figure, strengths, float(strengths[now]), key, alt, "ranks-by-strength", 240, 8)


def precision_by_strength(strengths: Floats, values: Floats, key: str) -> None:
    """The average precision (s,) of the test samples by the strength of their edges."""
    figure = go.Figure()
    hover, both = (
        "strength %{x:.1f}: AP %{y:.3f}<extra></extra>",
        {"mode": "lines+markers", "marker": {"size": 7}},
    )
    line(figure, strengths, values, BLUE, 4, hovertemplate=hover, **both)
    figure.update_yaxes(title_text="test AP", rangemode="tozero")
    listed = ", ".join(f"{value:.3f}" for value in values)
    alt = f"Test AP by strength from 0 to {strengths[-1]:g}: {listed}"
    _show(figure, strengths, 1.0, key, alt, "ap-by-strength", 300, 34)


def _show(
    figure: go.Figure, strengths: Floats, marked: float, key: str, alt: str, file: str, height: int, top: int
) -> None:
    """With the axis of strengths, and one of them marked."""
    figure.add_vline(x=marked, line={"color": GREY, "dash": "dot", "width": 2})
    figure.update_xaxes(
        title_text="edge strength",
        range=[-0.09 * float(strengths[-1]), 1.02 * float(strengths[-1])],
        tickvals=[0, 0.5, 1, 1.5, 2],
        ticktext=["off", "0.5", "as learned", "1.5", "2"],
    )
    show(figure, key, alt, file, height, top=top)
