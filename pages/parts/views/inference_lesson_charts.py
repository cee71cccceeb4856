"""Pictures of the lesson about the most violated ranking: all rankings as points, one curve an image, operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from pages.parts.app.colours import BLUE, GREEN, GREY, PURPLE, RELEVANT, VERMILLION
from ranking.explain.inference_steps import InferenceProblem


def all_rankings(
    worth: Sequence[tuple[float, float]], marked: Sequence[tuple[str, float, float]]
) -> go.Figure:
    """Every ranking as a point, score across and loss up; the marked ones (name, score, loss) by name. All points on a
    dotted line have one sum: the most violated ranking lies on the highest that touches a point."""
    scores, losses = (np.array(column) for column in zip(*worth, strict=True))
    best = float((scores + losses).max())
    figure = go.Figure()
    figure.add_scatter(
        x=scores, y=losses, mode="markers", name="a ranking", marker={"color": GREY, "size": 9, "opacity": 0.6},
        hovertemplate="score %{x:.3f}, loss %{y:.3f}<extra></extra>",
    )  # fmt: skip
    low, high = float(losses.min()) - 0.05, float(losses.max()) + 0.08
    figure.add_scatter(
        x=[best - low, best - high], y=[low, high], mode="lines", name=f"score + loss = {best:.3f}",
        hoverinfo="skip", line={"color": PURPLE, "dash": "dot", "width": 3},
    )  # fmt: skip
    looks = ((BLUE, "square"), (RELEVANT, "circle"), (VERMILLION, "diamond"))
    for (name, score, loss), (colour, symbol) in zip(marked, looks, strict=True):
        figure.add_scatter(
            x=[score], y=[loss], mode="markers+text", name=name, text=[f"<b>{name.removeprefix('most ')}</b>"],
            textposition="top left" if name == marked[0][0] else "top right" if loss < 0.5 else "bottom left",
            textfont={"size": 16}, cliponaxis=False,
            marker={"color": colour, "symbol": symbol, "size": 18, "line": {"color": "white", "width": 2}},
            hovertemplate=f"{name}: score %{{x:.3f}}, loss %{{y:.3f}}<extra></extra>",
        )  # fmt: skip
    room = 0.06 * float(np.ptp(scores)) + 1e-9
    figure.update_xaxes(
        title_text="score w·Ψ(X, R)", range=[float(scores.min()) - room, float(scores.max()) + 6 * room]
    )
    figure.update_yaxes(title_text="loss Δ(R*, R)", range=[low, high + 0.06])
    figure.update_layout(showlegend=False)
    return figure


CURVES = ((BLUE, "solid", "circle"), (VERMILLION, "dash", "square"), (GREEN, "dot", "triangle-up"),
          (PURPLE, "dashdot", "cross"), (GREY, "longdash", "x"))  # fmt: skip


def all_of_rank(problem: InferenceProblem, names: Sequence[str]) -> go.Figure:
    """f_j of every irrelevant sample, one line each, with its best rank; at most as many as CURVES."""
    figure, ranks = go.Figure(), np.arange(1, problem.highest + 1)
    for values, name, (colour, dash, symbol) in zip(problem.values, names, CURVES, strict=False):
        best = problem.highest - 1 - int(np.argmax(values[::-1]))
        figure.add_scatter(
            x=ranks, y=values, mode="lines+markers", name=name, line={"color": colour, "dash": dash, "width": 3},
            marker={"symbol": symbol, "size": [20 if at == best else 8 for at in range(len(values))],
                    "line": {"color": "white", "width": 1}},
            hovertemplate=f"{name}, rank %{{x}}: %{{y:.4g}}<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(
        title_text="interleaving rank i: one plus the relevant samples above it", dtick=1, showgrid=False
    )
    figure.update_yaxes(title_text="what it adds to score + loss, f(i)")
    return figure


def operations(sizes: Sequence[int], counts: Mapping[str, Sequence[int]]) -> go.Figure:
    """Counted operations of each algorithm by the number of irrelevant samples, on logarithmic scales."""
    figure = go.Figure()
    for (name, values), (colour, dash, symbol) in zip(counts.items(), CURVES, strict=False):
        figure.add_scatter(
            x=list(sizes), y=list(values), mode="lines+markers", name=name,
            line={"color": colour, "dash": dash, "width": 3}, marker={"symbol": symbol, "size": 10},
            hovertemplate=f"%{{x:,}} irrelevant samples, {name}: %{{y:,}}<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(
        title_text="irrelevant samples",
        type="log",
        tickvals=list(sizes),
        ticktext=[f"{one:,}" for one in sizes],
    )
    figure.update_yaxes(title_text="operations", type="log", exponentformat="power", dtick=1)
    return figure
