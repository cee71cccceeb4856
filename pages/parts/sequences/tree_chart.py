"""Chart of the orders that a search evaluated.

A step to the right is a swap, the height is the value of an order.
"""

from __future__ import annotations

import plotly.graph_objects as go

from pages.parts.app.colours import BLUE, GREEN, GREY, PURPLE, VERMILLION
from pages.parts.charts.plots import line, points
from ranking.core import Ints
from ranking.explain.tree_search import TreeSearch, places, shown_nodes
from ranking.inference.best_permutation import SearchTrees

# of trees: each differs from the others in colour, dash and symbol
STYLES = (
    (BLUE, "solid", "circle"),
    (VERMILLION, "dash", "square"),
    (GREEN, "dot", "triangle-up"),
    (PURPLE, "dashdot", "diamond"),
    (GREY, "longdash", "cross"),
)
# plotted
MAX_NODES = 600
NOTHING = "rgba(0,0,0,0)"


def plotted_nodes(search: TreeSearch) -> Ints:
    """Return at most about MAX_NODES nodes, the best of each step."""
    steps = int(search.trees.path.sum())
    return shown_nodes(search.trees, max(3, MAX_NODES // max(1, steps)))


def figure_of(search: TreeSearch, chosen: int, words: list[str]) -> go.Figure:
    """Plot the search."""
    # words: the hover text of each plotted node. The custom data of a point is the number of its order, from
    # 1.
    trees, nodes = search.trees, plotted_nodes(search)
    across = dict(zip(nodes.tolist(), places(trees, nodes).tolist(), strict=True))
    words_of = dict(zip(nodes.tolist(), words, strict=True))
    figure = go.Figure()
    for tree in range(int(trees.trees.max()) + 1):
        own = nodes[trees.trees[nodes] == tree]
        colour, dash, symbol = STYLES[tree % len(STYLES)]
        for on_path in (False, True):
            x, y = _edges(trees, own[trees.path[own] == on_path], across)
            style = (colour, 4, dash) if on_path else (GREY, 1, "solid")
            line(figure, x, y, *style, opacity=1 if on_path else 0.35)
        for on_path in (False, True):
            part = own[trees.path[own] == on_path].tolist()
            points(
                figure,
                [across[node] for node in part],
                trees.values[part].tolist(),
                colour,
                symbol,
                13 if on_path else 7,
                opacity=1 if on_path else 0.55,
                customdata=[node + 1 for node in part],
                text=[words_of[node] for node in part],
                hovertemplate="%{text}<extra></extra>",
                name=f"tree {tree + 1}{'' if tree else ', from the order of RankSVM'}",
                showlegend=on_path,
            )
    best = trees.best
    for node, name, symbol, size, edge in (
        (best, "best found", "star", 30, (GREY, 2)),
        (chosen, "shown below", "circle", 24, (PURPLE, 4)),
    ):
        if node in across:
            points(
                figure, [across[node]], [float(trees.values[node])], NOTHING, symbol, size, edge, name=name
            )
    if search.best_value is not None:
        # Named in the legend, because a text at the line would be hidden by the marks of the best order found.
        ends = [min(across.values()), max(across.values())]
        line(figure, ends, [search.best_value] * 2, GREY, 2, "dot", name="best of all", hoverinfo="skip")
    figure.update_xaxes(visible=False)
    figure.update_yaxes(title_text="value of the order, eq. 3")
    return figure


def _edges(
    trees: SearchTrees, nodes: Ints, across: dict[int, float]
) -> tuple[list[float | None], list[float | None]]:
    """Return x and y of the lines from the parents of nodes to the nodes, with None between two lines."""
    x: list[float | None] = []
    y: list[float | None] = []
    for node in nodes[trees.parents[nodes] >= 0].tolist():
        parent = int(trees.parents[node])
        x += [across[parent], across[node], None]
        y += [float(trees.values[parent]), float(trees.values[node]), None]
    return x, y
