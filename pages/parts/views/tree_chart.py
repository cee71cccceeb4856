"""The orders that a search visited as a chart: every step to the right is a swap, height is the value of the order."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.parts.app.colours import BLUE, GREEN, GREY, PURPLE, VERMILLION
from ranking.core import Ints
from ranking.explain.tree_search import TreeSearch, places, shown_nodes

LOOKS = (  # of trees: colour, dash and symbol tell the same
    (BLUE, "solid", "circle"),
    (VERMILLION, "dash", "square"),
    (GREEN, "dot", "triangle-up"),
    (PURPLE, "dashdot", "diamond"),
    (GREY, "longdash", "cross"),
)
MOST_NODES = 600  # that are drawn


def drawn_nodes(found: TreeSearch) -> Ints:
    """As many nodes as a picture has room for, the best of each step."""
    steps = int(found.trees.path.sum())
    return shown_nodes(found.trees, max(3, MOST_NODES // max(1, steps)))


def figure_of(found: TreeSearch, chosen: int, told: list[str]) -> go.Figure:
    """told: of each drawn node, what it says where one points at it. The points carry numbers of nodes."""
    trees, nodes = found.trees, drawn_nodes(found)
    across = dict(zip(nodes.tolist(), places(trees, nodes).tolist(), strict=True))
    words = dict(zip(nodes.tolist(), told, strict=True))
    figure = go.Figure()
    for tree in range(int(trees.trees.max()) + 1):
        own = nodes[trees.trees[nodes] == tree]
        colour, dash, symbol = LOOKS[tree % len(LOOKS)]
        for on_path, width in ((False, 1), (True, 4)):
            chosen_nodes = own[trees.path[own] == on_path]
            x: list[float | None] = []
            y: list[float | None] = []
            for node in chosen_nodes[trees.parents[chosen_nodes] >= 0].tolist():
                parent = int(trees.parents[node])
                x += [across[parent], across[node], None]
                y += [float(trees.values[parent]), float(trees.values[node]), None]
            line = {
                "color": colour if on_path else GREY,
                "width": width,
                "dash": dash if on_path else "solid",
            }
            figure.add_scatter(
                x=x,
                y=y,
                mode="lines",
                line=line,
                opacity=1 if on_path else 0.35,
                hoverinfo="skip",
                showlegend=False,
            )
        for on_path, size in ((False, 7), (True, 13)):
            part = own[trees.path[own] == on_path]
            begins = ", from RankSVM's order" if tree == 0 else ""
            figure.add_scatter(
                x=[across[node] for node in part.tolist()],
                y=trees.values[part].tolist(),
                mode="markers",
                marker={
                    "color": colour,
                    "size": size,
                    "symbol": symbol,
                    "line": {"color": "white", "width": 1},
                },
                opacity=1 if on_path else 0.55,
                customdata=part.tolist(),
                text=[words[node] for node in part.tolist()],
                hovertemplate="%{text}<extra></extra>",
                name=f"tree {tree + 1}{begins}",
                showlegend=on_path,
            )
    _add_marks(figure, found, across, chosen)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(title_text="value of the order, eq. 3")
    return figure


def _add_marks(figure: go.Figure, found: TreeSearch, across: dict[int, float], chosen: int) -> None:
    """The best that was found, the best of all orders, and the node that is shown below."""
    trees = found.trees
    best = trees.best
    figure.add_scatter(
        x=[across[best]], y=[float(trees.values[best])], mode="markers", hoverinfo="skip", name="best found",
        marker={"color": "rgba(0,0,0,0)", "size": 30, "symbol": "star", "line": {"color": GREY, "width": 2}},
    )  # fmt: skip
    if chosen in across:
        figure.add_scatter(
            x=[across[chosen]], y=[float(trees.values[chosen])], mode="markers", hoverinfo="skip", name="shown below",
            marker={"color": "rgba(0,0,0,0)", "size": 24, "symbol": "circle", "line": {"color": PURPLE, "width": 4}},
        )  # fmt: skip
    if found.best_value is not None:
        # Named in the legend: a text at the line would lie under the marks of what was found.
        figure.add_scatter(
            x=[min(across.values()), max(across.values())], y=[found.best_value] * 2, mode="lines", hoverinfo="skip",
            line={"color": GREY, "dash": "dot", "width": 2}, name="best of all orders",
        )  # fmt: skip


def clicked(key: str) -> int | None:
    """The node that was clicked in the chart of that key; None where a click took a selection back."""
    points = st.session_state[key]["selection"]["points"] if key in st.session_state else []
    told = points[0].get("customdata") if points else None
    told = told[0] if isinstance(told, list) else told
    return int(told) if isinstance(told, int | float | np.integer) else None
