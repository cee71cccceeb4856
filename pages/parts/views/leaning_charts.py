"""What weaker and stronger neighbours make of a ranking, as charts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from pages.parts.app.colours import BLUE, GREEN, GREY, VERMILLION
from pages.parts.views.charts import show
from ranking.core import Bools, Floats, Ints


def places_by_strength(
    strengths: Floats, places: Ints, relevant: Bools, names: Sequence[str], now: int, key: str
) -> None:
    """The rank of each sample of a scene, places (s, people), by the strength of its neighbours; `now` is marked."""
    figure = go.Figure()
    for person, name in enumerate(names):
        colour = GREEN if relevant[person] else VERMILLION
        figure.add_scatter(
            x=strengths,
            y=places[:, person],
            name=name,
            mode="lines+markers+text",
            text=[name if at == 0 else "" for at in range(len(strengths))],
            textposition="middle left",
            textfont={"size": 15, "color": colour},
            cliponaxis=False,
            line={"color": colour, "width": 3, "dash": "solid" if relevant[person] else "dash"},
            marker={"size": [12 if at == now else 4 for at in range(len(strengths))]},
            hovertemplate=f"{name}: rank %{{y}} at strength %{{x:.1f}}<extra></extra>",
        )
    _mark_strength(figure, float(strengths[now]))
    most = int(places.max())
    ticks = [place for place in (1, 3, 10, 30, 100, 300, 1000, 3000, 10000) if place <= 1.5 * most]
    figure.update_yaxes(
        title_text="rank",
        type="log",
        range=[float(np.log10(1.4 * most)), -0.1],
        tickvals=ticks,
        ticktext=[f"{place:,}" for place in ticks],
    )
    _title(figure, strengths)
    listed = ", ".join(f"{name} {places[now, person]}" for person, name in enumerate(names))
    show(
        figure, key, f"Rank of each person by strength; now: {listed}", "ranks-by-strength", height=240, top=8
    )


def precision_by_strength(strengths: Floats, values: Floats, key: str) -> None:
    """The average precision (s,) of the test samples by the strength of their neighbours."""
    figure = go.Figure()
    figure.add_scatter(
        x=strengths,
        y=values,
        mode="lines+markers",
        line={"color": BLUE, "width": 4},
        marker={"size": 7},
        hovertemplate="strength %{x:.1f}: AP %{y:.3f}<extra></extra>",
    )
    _mark_strength(figure, 1.0)
    figure.update_yaxes(title_text="test AP", rangemode="tozero")
    _title(figure, strengths)
    listed = ", ".join(f"{value:.3f}" for value in values)
    show(
        figure,
        key,
        f"Test AP by strength from 0 to {strengths[-1]:g}: {listed}",
        "ap-by-strength",
        height=300,
    )


def _mark_strength(figure: go.Figure, strength: float) -> None:
    figure.add_vline(x=strength, line={"color": GREY, "dash": "dot", "width": 2})


def _title(figure: go.Figure, strengths: Floats) -> None:
    figure.update_xaxes(
        title_text="strength of the neighbours",
        range=[-0.09 * float(strengths[-1]), 1.02 * float(strengths[-1])],
        tickvals=[0, 0.5, 1, 1.5, 2],
        ticktext=["off", "0.5", "as learnt", "1.5", "2"],
    )
    figure.update_layout(showlegend=False)
