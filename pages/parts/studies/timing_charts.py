"""Charts and a table of the time of loss-augmented inference (quicksort, Figs. 1 and 2)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from pages.parts.app.colours import BLUE, GREEN, GREY, PURPLE, VERMILLION
from pages.parts.studies.timing_words import AXES, DISPLAY_NAMES, HERE, PAPER, PAPER_S, SHORT, named
from ranking.core.spreadsheets import rows_csv
from ranking.experiments.timing_studies import BINARY, NEGATIVE, POSITIVE, Point, TimingOutcome

STYLES = {
    BINARY: (GREY, "longdash", "x"),
    "greedy": (VERMILLION, "dash", "square"),
    "search": (GREEN, "dot", "triangle-up"),
    "select": (BLUE, "solid", "circle"),
    "buckets": (PURPLE, "dashdot", "diamond"),
    "auto": (GREY, "solid", "cross"),
}
COLUMNS = (
    *("loss", "varied", "relevant", "irrelevant", "algorithm", "calls"),
    *("seconds a training", "seconds a call", "deviation", "machine"),
)


def calls_of(loss: str, point: Point | None) -> go.Figure:
    """Plot the milliseconds per call, one row per algorithm, of the paper and as measured."""
    here, paper = {} if point is None else named(point), PAPER.get(loss, {})
    rows = list(here or paper)
    series = [
        (
            PAPER_S,
            {name: (timed.call, timed.deviation) for name, timed in paper.items()},
            GREY,
            "square-open",
        ),
        (
            HERE,
            {name: (1e3 * timed.mean, 1e3 * timed.deviation) for name, timed in here.items()},
            BLUE,
            "circle",
        ),
    ]
    figure = go.Figure()
    for label, values, colour, symbol in series if here else series[:1]:
        figure.add_scatter(
            x=[values[name][0] for name in values],
            y=[rows.index(name) for name in values],
            error_x={"array": [values[name][1] for name in values], "thickness": 2},
            mode="markers+text",
            name=label,
            text=[f"{values[name][0]:.3g}" for name in values],
            textposition="top center" if label == PAPER_S else "bottom center",
            textfont={"size": 14},
            marker={"color": colour, "symbol": symbol, "size": 13, "line": {"width": 3}},
            hovertemplate="%{x:.3f} ± %{error_x.array:.3f} ms<extra>" + label + "</extra>",
        )
    # also for a single series, because it names the machine
    figure.update_layout(showlegend=True)
    every = [value for _, values, _, _ in series for value, _ in values.values()]
    ends = [math.log10(min(every)) - 0.35, math.log10(max(every)) + 0.35]
    figure.update_xaxes(type="log", range=ends, dtick=1, title_text="milliseconds per call")
    figure.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=[SHORT[name] for name in rows],
        range=[len(rows) - 0.4, -0.6],
    )
    return figure


def calls_in_words(loss: str, point: Point | None) -> str:
    """Return every value of `calls_of` as plain text."""
    texts = ["Milliseconds per call"]
    if loss in PAPER:
        paper = ", ".join(f"{SHORT[name]} {timed.call:g}" for name, timed in PAPER[loss].items())
        texts.append(f"On {PAPER_S}: {paper}")
    if point is not None:
        here = ", ".join(f"{SHORT[timed.name]} {1e3 * timed.mean:.3g}" for timed in point.timed)
        texts.append(f"On {HERE}: {here}")
    return ". ".join(texts)


def across(point: Point) -> int:
    """Return the position of a point on the axis of its figure."""
    if point.varied == NEGATIVE:
        return point.negatives
    return point.positives if point.varied == POSITIVE else point.positives + point.negatives


def axes_of(points: Sequence[Point], loss: str) -> dict[str, list[Point]]:
    """Return the points of a figure by the varied number of samples, in increasing order."""
    return {
        axis: sorted((point for point in points if (point.loss, point.varied) == (loss, axis)), key=across)
        for axis in AXES
    }


def figure_of(points: Sequence[Point], highest: float, lowest: float) -> go.Figure:
    """Plot the seconds of all calls of a training run along one axis."""
    # Both axes are logarithmic; that of seconds goes from `lowest` to `highest`, so that figures can be
    # compared.
    figure = go.Figure()
    for name in [timed.name for timed in points[0].timed]:
        colour, dash, symbol = STYLES[name]
        figure.add_scatter(
            x=[across(point) for point in points],
            y=[next(timed.total for timed in point.timed if timed.name == name) for point in points],
            mode="lines+markers",
            name=SHORT[name],
            line={"color": colour, "dash": dash, "width": 3},
            marker={"symbol": symbol, "size": 9},
            hovertemplate="%{x:,}: %{y:.4f} s<extra>" + DISPLAY_NAMES[name] + "</extra>",
        )
    ticks = [across(point) for point in points]
    figure.update_xaxes(
        type="log",
        tickvals=ticks,
        ticktext=[f"{tick:,}" for tick in ticks],
        title_text=AXES[points[0].varied],
    )
    ends = [math.log10(lowest) - 0.1, math.log10(highest) + 0.1]
    figure.update_yaxes(
        type="log", exponentformat="power", dtick=1, range=ends, title_text="seconds per training run"
    )
    return figure


def figures_of(axes: Mapping[str, Sequence[Point]]) -> dict[str, go.Figure]:
    """Return the figure of each axis, all with the same scale of seconds."""
    seconds = [timed.total for points in axes.values() for point in points for timed in point.timed]
    return {axis: figure_of(points, max(seconds), min(seconds)) for axis, points in axes.items()}


def in_words(points: Sequence[Point]) -> str:
    """Return every value of a figure as plain text."""
    texts = []
    for number, timed in enumerate(points[0].timed):
        values = ", ".join(f"{across(point):,} {point.timed[number].total:.3g}" for point in points)
        texts.append(f"{SHORT[timed.name]}: {values}")
    return f"Seconds per training run by {AXES[points[0].varied]}. {'. '.join(texts)}"


def csv_text(outcome: TimingOutcome) -> str:
    """Return one line per algorithm and size."""
    rows = []
    for point in outcome.points:
        for timed in point.timed:
            where = (point.loss, point.varied, point.positives, point.negatives)
            values = (timed.name, timed.calls, timed.total, timed.mean, timed.deviation)
            rows.append(dict(zip(COLUMNS, (*where, *values, outcome.machine), strict=True)))
    return rows_csv(rows)
