"""Times of loss-augmented inference by the numbers of samples, as the paper's Figs. 1 and 2, and as a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from pages.parts.colours import BLUE, GREEN, GREY, PURPLE, VERMILLION
from pages.parts.timing_words import AXES, CALLED
from ranking.timing_studies import BINARY, NEGATIVE, POSITIVE, Point, TimingOutcome

LOOKS = {
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


def across(point: Point) -> int:
    """Where a point stands on the axis of its figure."""
    if point.varied == NEGATIVE:
        return point.negatives
    return point.positives if point.varied == POSITIVE else point.positives + point.negatives


def axes_of(points: Sequence[Point], loss: str) -> dict[str, list[Point]]:
    """The points of a figure by what is varied, from small to large."""
    return {
        axis: sorted((one for one in points if (one.loss, one.varied) == (loss, axis)), key=across)
        for axis in AXES
    }


def figure_of(axes: Mapping[str, Sequence[Point]], rows: int) -> go.Figure:
    """Seconds of a complete training's calls, an axis a panel; both scales are logarithmic."""
    columns = len(axes) // rows
    figure = make_subplots(
        rows=rows, cols=columns, subplot_titles=[AXES[axis] for axis in axes], shared_yaxes=True,
        horizontal_spacing=0.03, vertical_spacing=0.12,
    )  # fmt: skip
    for number, points in enumerate(axes.values()):
        place = {"row": number // columns + 1, "col": number % columns + 1}
        for name in [one.name for one in points[0].timed]:
            colour, dash, symbol = LOOKS[name]
            figure.add_scatter(
                x=[across(point) for point in points],
                y=[next(one.total for one in point.timed if one.name == name) for point in points],
                mode="lines+markers",
                name=CALLED[name],
                legendgroup=name,
                showlegend=number == 0,
                line={"color": colour, "dash": dash, "width": 3},
                marker={"symbol": symbol, "size": 9},
                hovertemplate="%{x:,}: %{y:.4f} s<extra>" + CALLED[name] + "</extra>",
                **place,
            )
        ticks = [across(point) for point in points]
        figure.update_xaxes(type="log", tickvals=ticks, ticktext=[f"{one:,}" for one in ticks], **place)
    figure.update_yaxes(type="log", exponentformat="power", dtick=1)
    figure.update_yaxes(title_text="seconds a training", col=1)
    return figure


def in_words(axes: Mapping[str, Sequence[Point]]) -> str:
    """Every value of a figure, as plain text."""
    told = []
    for axis, points in axes.items():
        for number, one in enumerate(points[0].timed):
            values = ", ".join(f"{across(point):,} {point.timed[number].total:.3g}" for point in points)
            told.append(f"{CALLED[one.name]} by {axis}: {values}")
    return "Seconds a training. " + ". ".join(told)


def csv_text(outcome: TimingOutcome) -> str:
    """One line a competitor at each size."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(COLUMNS)
    for point in outcome.points:
        for one in point.timed:
            values = [repr(value) for value in (one.total, one.mean, one.deviation)]
            where = [point.loss, point.varied, point.positives, point.negatives]
            writer.writerow([*where, one.name, one.calls, *values, outcome.machine])
    return stream.getvalue()
