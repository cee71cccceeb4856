"""The charts of all pages; `alt` is the text alternative of a chart."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots

from pages.parts.app import address
from pages.parts.app.colours import BLUE, GREEN, GREY, PURPLE, VERMILLION
from ranking.core import Bools, Floats, ImageSet, Ints
from ranking.core.text import listed
from ranking.reports.comparison_charts import MAX_POINTS, pr_steps
from ranking.reports.prose import escaped

MAX_CLASSES = 20
# the tools of a chart lie over its upper edge
AT_THE_FOOT = {
    "yref": "container",
    "y": 0,
    "yanchor": "bottom",
}
# of an axis
ZERO = {"zeroline": True, "zerolinecolor": GREY, "zerolinewidth": 2}
# factor on the height of a chart in a lecture, and its limit in pixels
ENLARGED, HIGHEST = 1.2, 430
# font size in pixels in a lecture
NUMBERS = 16


def show(
    figure: go.Figure,
    key: str,
    alt: str,
    file: str,
    height: int,
    on_point: Callable[[Any], None] | None = None,
    top: int = 34,
) -> None:
    """Show a figure."""
    # file: name of the image file that its menu saves. height, top: pixels of the figure and of its upper
    # margin. on_point: called with the custom data of a clicked point.
    if address.lecture():
        height, top = max(height, min(round(ENLARGED * height), HIGHEST)), max(top, 10)
        figure.update_layout(font_size=NUMBERS, legend_font_size=NUMBERS)
        for update_axes in (figure.update_xaxes, figure.update_yaxes):
            update_axes(tickfont_size=NUMBERS, title_font_size=NUMBERS)
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 12, "t": top, "b": 8},
        legend={"orientation": "h", **AT_THE_FOOT, "x": 0, "traceorder": "normal"},
        hovermode="closest",
    )
    config = {
        "displaylogo": False,
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
        "toImageButtonOptions": {"filename": file, "scale": 2},
    }

    def select() -> None:
        if on_point is not None and (clicked := clicked_in(key)) is not None:
            on_point(clicked)

    on_select = "ignore" if on_point is None else select
    st.plotly_chart(figure, key=key, config=config, alt=alt, on_select=on_select, selection_mode="points")


def clicked_in(key: str) -> str | int | None:
    """Return the custom data of the clicked point in the chart with this key; None without one."""
    # Without one: the click cleared the selection, or the browser sent something else.
    points = st.session_state[key]["selection"]["points"] if key in st.session_state else []
    clicked = points[0].get("customdata") if points else None
    if isinstance(clicked, list) and clicked:
        clicked = clicked[0]
    return clicked if isinstance(clicked, str | int) and not isinstance(clicked, bool) else None


def line(
    figure: go.Figure,
    x: Sequence[Any],
    y: Sequence[Any],
    colour: str,
    width: float = 3,
    dash: str = "solid",
    *,
    name: str | None = None,
    shape: str = "linear",
    mode: str = "lines",
    **more: Any,
) -> None:
    """Add a line; with a name it is in the legend."""
    style = {"color": colour, "width": width, "dash": dash, "shape": shape}
    quiet = {} if "hovertemplate" in more or name else {"hoverinfo": "skip"}
    figure.add_scatter(
        **{
            "x": x,
            "y": y,
            "mode": mode,
            "name": name,
            "line": style,
            "showlegend": bool(name),
            **quiet,
            **more,
        }
    )


def points(
    figure: go.Figure,
    x: Sequence[Any],
    y: Sequence[Any],
    colour: str,
    symbol: str = "circle",
    size: float = 9,
    edge: tuple[str, float] = ("white", 1),
    *,
    name: str | None = None,
    **more: Any,
) -> None:
    """Add points; with a name they are in the legend."""
    # edge: the colour and width of their outline.
    marker = {"color": colour, "symbol": symbol, "size": size, "line": {"color": edge[0], "width": edge[1]}}
    quiet = {} if "hovertemplate" in more else {"hoverinfo": "skip"}
    figure.add_scatter(
        **{
            "x": x,
            "y": y,
            "mode": "markers",
            "name": name,
            "marker": marker,
            "showlegend": bool(name),
            **quiet,
            **more,
        }
    )


def hatched(colour: Any, shape: Any = "/", size: int = 7) -> dict[str, Any]:
    """Return the style of bars with white stripes."""
    # colour, shape: of all bars, or one per bar.
    stripes = {"shape": shape, "fillmode": "overlay", "fgcolor": "rgba(255,255,255,.5)", "size": size}
    return {"color": colour, "pattern": stripes}


def signed_bars(values: Sequence[float]) -> dict[str, Any]:
    """Return the style of bars that are solid blue above 0 and hatched vermilion below."""
    colours = [BLUE if value > 0 else VERMILLION for value in values]
    return hatched(colours, ["" if value > 0 else "/" for value in values])


def reach(values: Sequence[float], margin: float) -> list[float]:
    """Return the range of an axis with space for numbers at the ends of bars."""
    # The space is `margin` times the longest bar, on each side that has bars.
    longest = margin * max(1e-9, *(abs(float(value)) for value in values))
    low = min(values, default=0) < 0
    return [-longest if low else -0.1 * longest, longest if max(values, default=0) > 0 else 0.1 * longest]


def thinned(points: Sequence[Any]) -> list[Any]:
    """Return at most MAX_POINTS of `points`, evenly spaced, including the first and the last."""
    if len(points) <= MAX_POINTS:
        return list(points)
    return [points[i] for i in np.linspace(0, len(points) - 1, MAX_POINTS).round().astype(int)]


# ---------------------------------------------------------------------------------------------------------
# Rankings
# ---------------------------------------------------------------------------------------------------------


def precision_recall(precision: Floats, recall: Floats, k: int, key: str) -> None:
    """Show the curve with the chosen k marked on it."""
    # Its steps have the height of the precision at each relevant sample, so that the area below is the
    # average precision. If there are too many steps to plot, each plotted step has the mean height of those
    # that it replaces.
    figure = go.Figure()
    line(
        figure,
        *pr_steps(precision, recall, k),
        BLUE,
        shape="vh",
        fill="tozeroy",
        fillcolor="rgba(0,114,178,.15)",
        hovertemplate="recall %{x:.3f}, precision %{y:.3f}<extra></extra>",
    )
    x, y = float(recall[k - 1]), float(precision[k - 1])
    line(figure, [0, x, x], [y, y, 0], GREY, 2, "dot")
    points(
        figure,
        [x],
        [y],
        VERMILLION,
        "diamond",
        14,
        ("white", 2),
        mode="markers+text",
        text=[f" k = {k} "],
        textposition="bottom right" if x < 0.7 else "bottom left",
        textfont={"size": 15},
        hovertemplate=f"first {k}: recall %{{x:.3f}}, precision %{{y:.3f}}<extra></extra>",
    )
    figure.update_xaxes(title_text="recall", range=[0, 1.02])
    figure.update_yaxes(title_text="precision", range=[0, 1.05])
    alt = f"Precision-recall curve; among the first {k} precision is {y:.3f} and recall {x:.3f}"
    show(figure, key, alt, "precision-recall", height=300)


def measure_by_place(
    values: Sequence[float], place: int, name: str, colour: str, key: str, stepped: bool = False
) -> None:
    """Show a measure (n,) of rankings that differ in the rank of one image; rank `place` is marked."""
    # The chart is low and its axes have no titles, so that four of them and their caption fit on one screen.
    figure = go.Figure()
    hover = f"rank %{{x}}: {name} %{{y:.3f}}<extra></extra>"
    shape = "hvh" if stepped else "linear"
    line(
        figure,
        list(range(1, len(values) + 1)),
        list(values),
        colour,
        4,
        shape=shape,
        mode="lines+markers",
        marker={"size": 7},
        hovertemplate=hover,
    )
    now = values[place - 1]
    points(figure, [place], [now], colour, "diamond", 18, ("white", 2))
    figure.update_xaxes(range=[0.5, len(values) + 0.5], dtick=1, tickangle=0)
    figure.update_yaxes(range=[-0.04, 1.04], tickvals=[0, 0.5, 1])
    listed = ", ".join(f"{value:.3f}" for value in values)
    alt = f"{name} with the image at rank {place}: {now:.3f}; at ranks 1 to {len(values)}: {listed}"
    show(figure, key, alt, name, height=118, top=4)


def cost_of_a_place(average_precision: Sequence[float], zero_one: Sequence[float], key: str) -> None:
    """Show what moving one image down by one rank costs, in AP and in the error rate at the cutoff."""
    # average_precision, zero_one: (n,) by rank.
    figure = go.Figure()
    falls, rises = -np.diff(average_precision), np.diff(zero_one)
    steps = [f"{place} → {place + 1}" for place in range(1, len(average_precision))]
    for name, heights, style in (
        ("AP loses", falls, {"color": BLUE}),
        ("error rate gains", rises, hatched(VERMILLION)),
    ):
        hover = f"rank %{{x}}: {name} %{{y:.3f}}<extra></extra>"
        figure.add_bar(x=steps, y=heights, name=name, marker=style, hovertemplate=hover)
    figure.update_layout(barmode="group", bargap=0.25)
    figure.update_xaxes(title_text="step down")
    listed = ", ".join(f"{step} {fall:.3f}" for step, fall in zip(steps, falls, strict=True))
    show(figure, key, f"What each step down costs. AP loses: {listed}", "cost-of-a-place", height=340)


def max_marginals(
    positive: Floats, negative: Floats, difference: Floats, relevant: Bools, place: int, key: str
) -> None:
    """Show the max-marginals (n,) by rank, and below them their difference with relevant samples marked."""
    # place: rank of the selected sample, from 1.
    shown = np.array(thinned(range(len(difference))))
    marked = shown[relevant[shown]]
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.5, 0.5], vertical_spacing=0.06)
    line(figure, shown + 1, positive[shown], BLUE, name="m⁺: best value with label ✓")
    line(figure, shown + 1, negative[shown], VERMILLION, 3, "dash", name="m⁻: best value with label ✗")
    below = {"row": 2, "col": 1}
    line(figure, shown + 1, difference[shown], PURPLE, name="score m⁺ − m⁻", **below)
    hover = "rank %{x}, score %{y:.4g}<extra></extra>"
    points(figure, marked + 1, difference[marked], GREEN, name="relevant", hovertemplate=hover, **below)
    figure.add_hline(y=0, line={"color": GREY, "dash": "dot", "width": 2}, **below)
    figure.add_vline(x=place, line={"color": GREY, "width": 3})
    figure.update_yaxes(title_text="best value", row=1, col=1)
    figure.update_yaxes(title_text="score", **below)
    figure.update_xaxes(range=[0, len(difference) + 1])
    figure.update_xaxes(title_text="rank", **below)
    alt = (
        f"Max-marginals of {len(difference)} samples by rank; at rank {place} m+ is {positive[place - 1]:.4g}, m- "
        f"{negative[place - 1]:.4g}, their difference {difference[place - 1]:.4g}"
    )
    show(figure, key, alt, "max-marginals", height=400)


def parts_of_score(parts: Sequence[tuple[str, float]], score: float, key: str) -> None:
    """Show how a score adds up: its parts, (name, value) each, then their sum."""
    names, values = [name for name, _ in parts], [value for _, value in parts]
    figure = go.Figure()
    figure.add_waterfall(
        x=[*names, "score"],
        y=[*values, score],
        measure=["relative"] * len(parts) + ["total"],
        text=[f"{value:+#.3g}" for value in (*values, score)],
        textposition="outside",
        textfont={"size": 16},
        cliponaxis=False,
        increasing={"marker": {"color": GREEN}},
        decreasing={"marker": {"color": VERMILLION}},
        totals={"marker": {"color": BLUE}},
        connector={"line": {"color": GREY, "dash": "dot", "width": 2}},
        hovertemplate="%{x}: %{text}<extra></extra>",
    )
    sums = np.cumsum([0.0, *values])
    low, high = float(sums.min()), float(sums.max())
    margin = 0.16 * ((high - low) or 1.0)
    figure.update_yaxes(range=[low - margin, high + margin], **ZERO)
    figure.update_layout(showlegend=False)
    listed = ", ".join(f"{name.replace('<br>', ' ')} {value:+.3g}" for name, value in parts)
    alt = f"Parts of the score {score:+.3g}: {listed}"
    show(figure, key, alt, "parts-of-the-score", height=320, top=12)


# ---------------------------------------------------------------------------------------------------------
# Classes
# ---------------------------------------------------------------------------------------------------------


def class_counts(images: ImageSet, key: str, chosen: str | None, on_choose: Callable[[str], None]) -> None:
    """Show how many training and test samples each class has; the class `chosen` is marked."""
    # on_choose: called with the class of a clicked bar. Use another key for another `chosen`.
    train, test = images.labels[~images.test].sum(axis=0), images.labels[images.test].sum(axis=0)
    order = np.argsort(-(train + test), kind="stable")[:MAX_CLASSES]
    order = _natural(order, images.classes)[::-1]
    figure = go.Figure()
    for split, counts, style in (
        ("train", train[order], {"color": BLUE}),
        ("test", test[order], hatched(VERMILLION, size=6)),
    ):
        figure.add_bar(
            y=list(range(len(counts))),
            x=counts,
            name=split,
            orientation="h",
            text=counts,
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": "white"},
            marker=style,
            customdata=order.tolist(),
            hovertemplate="%{x} samples<extra>" + split + "</extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.22)
    figure.update_xaxes(title_text="samples")
    names = [_tick(images.classes[i], images.classes[i] == chosen) for i in order]
    figure.update_yaxes(tickvals=list(range(len(order))), ticktext=names)
    listed = ", ".join(f"{images.classes[i]} {train[i]} and {test[i]}" for i in order[::-1][:10])
    alt = f"Samples of each class in train and test: {listed}"
    height = 110 + 26 * len(order)
    show(figure, key, alt, "classes", height, lambda number: on_choose(images.classes[int(number)]))


def how_even(images: ImageSet) -> str:
    """Name the rarest and the most frequent classes."""
    counts = images.labels.sum(axis=0)
    least, most = counts.min(), counts.max()
    if least == most:
        return f"Each class is shown by {least:,} of {len(images):,} samples."
    rare, frequent = (
        listed([f"“{escaped(images.classes[place])}”" for place in np.flatnonzero(counts == end)])
        for end in (least, most)
    )
    return (
        f"Rarest, shown by {least:,} of {len(images):,} samples: {rare}. Most frequent, with {most:,}: {frequent}. "
        "For a rare class, accuracy is uninformative; a ranking measure is not."
    )


def _tick(name: str, chosen: bool) -> str:
    short = html.escape(name if len(name) <= 24 else name[:23] + "…")
    return f"<b>▸ {short}</b>" if chosen else short


def _natural(order: Ints, classes: Sequence[str]) -> Ints:
    """Return the classes in numerical order if all of their names are numbers, else in the given order."""
    if not all(re.fullmatch("[0-9]{1,9}", name) for name in classes):
        return order
    return np.array(sorted(order, key=lambda i: int(classes[i])), dtype=np.int64)
