"""The charts of all pages. Each says in its caption what to notice, and in `alt` what it shows."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots

from pages.parts.app.colours import BLUE, GREEN, GREY, PURPLE, VERMILLION
from ranking.core import Bools, Floats, ImageSet, Ints
from ranking.reports.comparison_charts import MOST_POINTS, pr_steps
from ranking.reports.prose import escaped

MOST_CLASSES = 20
UNEVEN = 2  # times as frequent as the rarest class is the most frequent one, where they are told apart
AT_THE_FOOT = {
    "yref": "container",
    "y": 0,
    "yanchor": "bottom",
}  # the tools of a chart lie over its upper edge


def precision_recall(precision: Floats, recall: Floats, k: int, key: str) -> None:
    """The curve with the chosen k marked on it.

    Its steps have the height of the precision at each relevant sample, so that the area below is the average
    precision; where there are more than can be drawn, a step is as high as the mean of those it stands for.
    """
    x, y = pr_steps(precision, recall, k)
    figure = go.Figure()
    figure.add_scatter(
        x=x,
        y=y,
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
    show(figure, key, alt, "precision-recall", height=300)


def measure_by_place(
    values: Sequence[float], place: int, name: str, colour: str, key: str, stepped: bool = False
) -> None:
    """A measure (n,) of rankings that differ in the place of one image, 1 ... n; `place` is marked.

    Low, and without a title of its axis, so that four of them and what follows from them stand on one screen.
    """
    places = list(range(1, len(values) + 1))
    line = {"color": colour, "width": 4, "shape": "hvh" if stepped else "linear"}
    figure = go.Figure()
    figure.add_scatter(
        x=places,
        y=list(values),
        mode="lines+markers",
        line=line,
        marker={"size": 7},
        hovertemplate=f"place %{{x}}: {name} %{{y:.3f}}<extra></extra>",
    )
    now = values[place - 1]
    figure.add_scatter(
        x=[place],
        y=[now],
        mode="markers",
        hoverinfo="skip",
        marker={"color": colour, "size": 18, "symbol": "diamond", "line": {"color": "white", "width": 2}},
    )
    figure.update_xaxes(range=[0.5, len(values) + 0.5], dtick=1, tickangle=0)
    figure.update_yaxes(range=[-0.04, 1.04], tickvals=[0, 0.5, 1])
    figure.update_layout(showlegend=False)
    listed = ", ".join(f"{value:.3f}" for value in values)
    alt = f"{name} with the image at place {place}: {now:.3f}; at places 1 to {len(values)}: {listed}"
    show(figure, key, alt, name, height=118, top=4)


def cost_of_a_place(average_precision: Sequence[float], zero_one: Sequence[float], key: str) -> None:
    """What moving one image down by one place costs: the fall of AP, the rise of the share of wrong labels at the
    cut, (n,) by place."""
    figure = go.Figure()
    falls, rises = -np.diff(average_precision), np.diff(zero_one)
    steps = [f"{place} → {place + 1}" for place in range(1, len(average_precision))]
    for name, heights, colour, pattern in (
        ("AP loses", falls, BLUE, ""),
        ("share of wrong labels at the cut grows by", rises, VERMILLION, "/"),
    ):
        figure.add_bar(
            x=steps,
            y=heights,
            name=name,
            marker={
                "color": colour,
                "pattern": {"shape": pattern, "fillmode": "overlay", "fgcolor": "rgba(255,255,255,.5)"},
            },
            hovertemplate=f"place %{{x}}: {name} %{{y:.3f}}<extra></extra>",
        )
    figure.update_layout(barmode="group", bargap=0.25)
    figure.update_xaxes(title_text="the image moves from place … to place …")
    listed = ", ".join(f"{step} {fall:.3f}" for step, fall in zip(steps, falls, strict=True))
    show(figure, key, f"What each step down costs. AP loses: {listed}", "cost-of-a-place", height=340)


def max_marginals(
    positive: Floats, negative: Floats, difference: Floats, relevant: Bools, place: int, key: str
) -> None:
    """Max-marginals (n,) by rank, and below them their difference, on which relevant samples are marked. place: of
    the selected sample, from 1."""
    shown = np.array(thinned(range(len(difference))))
    ranks, marked = shown + 1, shown[relevant[shown]]
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.5, 0.5], vertical_spacing=0.06)
    for name, values, colour, dash in (
        ("m⁺: best value with label ✓", positive, BLUE, "solid"),
        ("m⁻: best value with label ✗", negative, VERMILLION, "dash"),
    ):
        figure.add_scatter(
            x=ranks,
            y=values[shown],
            name=name,
            mode="lines",
            line={"color": colour, "width": 3, "dash": dash},
        )
    score = {"color": PURPLE, "width": 3}
    figure.add_scatter(
        x=ranks, y=difference[shown], name="score m⁺ − m⁻", mode="lines", line=score, row=2, col=1
    )
    figure.add_scatter(
        x=marked + 1,
        y=difference[marked],
        name="relevant",
        mode="markers",
        marker={"color": GREEN, "size": 9, "symbol": "circle", "line": {"color": "white", "width": 1}},
        row=2,
        col=1,
    )
    figure.add_hline(y=0, line={"color": GREY, "dash": "dot", "width": 2}, row=2, col=1)
    figure.add_vline(x=place, line={"color": GREY, "width": 3})
    figure.update_yaxes(title_text="best value", row=1, col=1)
    figure.update_yaxes(title_text="score", row=2, col=1)
    figure.update_xaxes(range=[0, len(difference) + 1])
    figure.update_xaxes(title_text="rank", row=2, col=1)
    alt = (
        f"Max-marginals of {len(difference)} samples by rank; at rank {place} m+ is {positive[place - 1]:.4g}, m- "
        f"{negative[place - 1]:.4g}, their difference {difference[place - 1]:.4g}"
    )
    show(figure, key, alt, "max-marginals", height=400)


def parts_of_score(parts: Sequence[tuple[str, float]], score: float, key: str) -> None:
    """How a score adds up: (name, value) of each part, one after the other, then their sum."""
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
    room = 0.16 * ((high - low) or 1.0)
    figure.update_yaxes(range=[low - room, high + room], zeroline=True, zerolinecolor=GREY, zerolinewidth=2)
    figure.update_layout(showlegend=False)
    listed = ", ".join(f"{name.replace('<br>', ' ')} {value:+.3g}" for name, value in parts)
    show(
        figure,
        key,
        f"What the score {score:+.3g} is made of: {listed}",
        "parts-of-the-score",
        height=320,
        top=12,
    )


def class_counts(
    images: ImageSet, key: str, chosen: str | None = None, on_choose: Callable[[str], None] | None = None
) -> None:
    """How many samples show each class, in train and test; `chosen` is pointed at.

    on_choose hears of the class whose bar is clicked. The key should differ for another `chosen`.
    """
    train, test = images.labels[~images.test].sum(axis=0), images.labels[images.test].sum(axis=0)
    order = np.argsort(-(train + test), kind="stable")[:MOST_CLASSES]
    order = _natural(order, images.classes)[::-1]
    figure = go.Figure()
    _add_split(figure, "train", train[order], BLUE, "")
    _add_split(figure, "test", test[order], VERMILLION, "/")
    figure.update_layout(barmode="stack", bargap=0.22)
    figure.update_xaxes(title_text="samples")
    names = [_tick(images.classes[i], images.classes[i] == chosen) for i in order]
    figure.update_yaxes(tickvals=list(range(len(order))), ticktext=names)
    listed = ", ".join(f"{images.classes[i]} {train[i]} and {test[i]}" for i in order[::-1][:10])
    alt = f"Samples of each class in train and test: {listed}"
    on_select = on_choose and (lambda: _tell(key, images, order, on_choose))
    show(figure, key, alt, "classes", 110 + 26 * len(order), on_select)


def how_even(images: ImageSet) -> str:
    """Whether the classes are about equally frequent, or which is the rarest and which the most frequent."""
    counts = images.labels.sum(axis=0)
    least, most = int(counts.argmin()), int(counts.argmax())
    if counts[most] < UNEVEN * counts[least]:
        return f"each class is about 1 in {len(images) / counts.mean():.0f} of the samples; none is rare."
    rarest, commonest = escaped(images.classes[least]), escaped(images.classes[most])
    return (
        f"“{rarest}” is the rarest, shown by {counts[least]:,} of {len(images):,} samples, “{commonest}” the most "
        f"frequent with {counts[most]:,}. Where a class is rare, accuracy says little and a ranking says more."
    )


def _add_split(figure: go.Figure, split: str, counts: Ints, colour: str, pattern: str) -> None:
    """A bar a class, as long as its count in the split."""
    shape = {"shape": pattern, "fillmode": "overlay", "fgcolor": "rgba(255,255,255,.4)", "size": 6}
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
        marker={"color": colour, "pattern": shape},
        hovertemplate="%{x} samples<extra>" + split + "</extra>",
    )


def _tick(name: str, chosen: bool) -> str:
    short = html.escape(_short(name))
    return f"<b>▸ {short}</b>" if chosen else short


def _tell(key: str, images: ImageSet, order: Ints, on_choose: Callable[[str], None]) -> None:
    """Say which class was clicked; nothing where a click took a selection back."""
    points = st.session_state[key]["selection"]["points"]
    if points:
        on_choose(images.classes[int(order[points[0]["y"]])])


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


def show(
    figure: go.Figure,
    key: str,
    alt: str,
    file: str,
    height: int,
    on_select: Callable[[], None] | None = None,
    top: int = 34,
) -> None:
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
    st.plotly_chart(
        figure, key=key, config=config, alt=alt, on_select=on_select or "ignore", selection_mode="points"
    )
