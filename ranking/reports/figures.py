"""Charts of reports as SVG, which prints sharply and needs no program; Plotly's would add 4.8 MB to each file.

A chart is given as Plotly JSON, so that pages show the same chart. This module draws the parts of that form that are
used here: one pair of axes, lines with markers, horizontal bars with error bars, lines across the chart, and texts.
"""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ranking.core import Floats
from ranking.core.errors import InputError
from ranking.reports.markup import Markup, element

WIDTH, LEFT, RIGHT, TOP, FOOT = 640.0, 74.0, 14.0, 22.0, 52.0
LOWEST, HIGHEST = 160.0, 400.0
EDGE = 7.0  # margin beyond the ends of the axes, for half a marker
DASHES = {"solid": None, "dash": "9 5", "dot": "2 4", "dashdot": "9 4 2 4", "longdash": "16 6"}
CORNERS: Mapping[str, Sequence[tuple[float, float]]] = {  # around 0, of a marker of half-width 1
    "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "diamond": ((0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)),
    "triangle-up": ((0, -1.1), (1.1, 0.9), (-1.1, 0.9)),
    "x": ((-1, -.6), (-.6, -1), (0, -.4), (.6, -1), (1, -.6), (.4, 0), (1, .6), (.6, 1), (0, .4), (-.6, 1), (-1, .6),
          (-.4, 0)),
}  # fmt: skip

Figure = Mapping[str, Any]


# ---------------------------------------------------------------------------------------------------------
# Axes
# ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high` (logarithms of the values on a logarithmic axis), drawn from `start` to `end`.
    layout: of the axis, as in Plotly."""

    low: float
    high: float
    start: float
    end: float
    layout: Figure

    def at(self, values: Sequence[float] | Floats) -> Floats:
        """Return (n,) positions of values in the drawing."""
        share = (_numbers(values, self.layout) - self.low) / (self.high - self.low)
        placed: Floats = self.start + share * (self.end - self.start)
        return placed

    def ticks(self) -> list[tuple[float, str]]:
        """Return the positions of the ticks with their labels."""
        values = self.layout.get("tickvals")
        if values is None:
            step = _round(abs(self.high - self.low) / 5)
            first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
            values = [round(step * i, 12) for i in range(first, last + 1)]
        texts = self.layout.get("ticktext") or [f"{value:.6g}".replace("-", "−") for value in values]
        return list(zip(self.at(values).tolist(), texts, strict=True))


def axis_of(layout: Figure, values: Sequence[float], start: float, end: float) -> Axis:
    """Return the axis for the values along it, with its given range or a little more than their range."""
    if layout.get("range") is not None:
        low, high = map(float, layout["range"])
        return Axis(low, high, start, end, layout)
    numbers = _numbers(values, layout)
    low, high = float(numbers.min()), float(numbers.max())
    room = 0.06 * (high - low) or 0.5
    return Axis(low - room, high + room, start, end, layout)


def _numbers(values: Sequence[float] | Floats, layout: Figure) -> Floats:
    numbers = np.asarray(values, np.float64)
    return np.log10(numbers) if layout.get("type") == "log" else numbers


def _round(step: float) -> float:
    """Round up to 1, 2 or 5 times a power of ten.

    >>> _round(0.13), _round(3.0)
    (0.2, 5.0)
    """
    power = 10.0 ** math.floor(math.log10(step))
    return next(round(factor * power, 12) for factor in (1, 2, 5, 10) if factor * power >= step * (1 - 1e-9))


# ---------------------------------------------------------------------------------------------------------
# The chart
# ---------------------------------------------------------------------------------------------------------


def chart_svg(figure: Figure, alt: str, width: float = WIDTH) -> Markup:
    """Draw a chart. alt: its description. InputError for a kind of trace that this module does not support."""
    traces, layout = figure["data"], figure["layout"]
    bars = [trace for trace in traces if trace["type"] == "bar"]
    for trace in traces:
        if trace["type"] not in ("scatter", "bar") or (trace in bars and trace.get("orientation") != "h"):
            raise InputError(
                "chart", "scatter traces and horizontal bars", trace["type"], "add it to figures.py"
            )
    height = max(LOWEST, float(layout.get("height", 340.0)))
    height = (
        height if bars else min(HIGHEST, height)
    )  # bars keep their height, which depends on the number of rows
    x, y = ([value for trace in traces for value in trace[name]] for name in ("x", "y"))
    up = axis_of(layout["yaxis"], y, height - FOOT, TOP)
    widest = max((len(html.unescape(text)) for _, text in up.ticks()), default=0)
    left = max(LEFT, min(230.0, 9.0 * widest + 8.0))
    across = axis_of(layout["xaxis"], x, left, width - RIGHT)
    elements = [
        _bars(trace, across, up, bars.index(trace), len(bars)) if trace in bars else _line(trace, across, up)
        for trace in traces
    ]
    shapes = [_across(shape, across, up) for shape in layout.get("shapes", [])]
    texts = [
        element(
            "text", html.unescape(note["text"]), x=across.at([note["x"]])[0], y=up.at([note["y"]])[0] + 16.0,
            text_anchor="start",
        )
        for note in layout.get("annotations", [])
    ]  # fmt: skip
    return element(
        "svg",
        _frame(across, up),
        _within(across, up, elements),
        *shapes,
        *texts,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        aria_label=alt,
        class_="chart",
    )


def _within(across: Axis, up: Axis, elements: Sequence[Markup]) -> Markup:
    """Clip elements to the axes; markers at an end stay complete."""
    x, y = across.start - EDGE, up.end - EDGE
    width, height = across.end - across.start + 2 * EDGE, up.start - up.end + 2 * EDGE
    view = f"{x:g} {y:g} {width:g} {height:g}"
    return element("svg", *elements, viewBox=view, x=x, y=y, width=width, height=height)


def _frame(across: Axis, up: Axis) -> Markup:
    """Draw guides, tick labels and axis titles."""
    parts = []
    for y, text in up.ticks():
        parts.append(element("line", x1=across.start, x2=across.end, y1=y, y2=y, class_="guide"))
        parts.append(element("text", html.unescape(text), x=across.start - 8, y=y + 5, text_anchor="end"))
    right = -math.inf
    for x, text in sorted(across.ticks()):
        parts.append(element("line", x1=x, x2=x, y1=up.start, y2=up.start + 5, class_="guide"))
        half = 4.3 * len(text)
        if x - half > right:  # texts never overlap
            parts.append(element("text", text, x=x, y=up.start + 20, text_anchor="middle"))
            right = x + half + 4
    middle = (across.start + across.end) / 2
    parts.append(
        element("text", _title(across), x=middle, y=up.start + 44, text_anchor="middle", class_="axis")
    )
    parts.append(element("text", _title(up), x=2, y=14, class_="axis"))
    return element("g", *parts)


def _title(axis: Axis) -> str:
    return str(axis.layout.get("title", {}).get("text", ""))


def _across(shape: Figure, across: Axis, up: Axis) -> Markup:
    """Draw a line across the whole of one axis, at a value of the other."""
    x = (across.start, across.end) if "xref" in shape else across.at([shape["x0"], shape["x1"]])
    y = (up.start, up.end) if "yref" in shape else up.at([shape["y0"], shape["y1"]])
    return element("line", x1=x[0], x2=x[1], y1=y[0], y2=y[1], **_stroke(shape["line"]))


def _stroke(line: Figure) -> dict[str, Any]:
    dash = DASHES[line.get("dash", "solid")]
    return {"stroke": line["color"], "stroke_width": float(line["width"]), "stroke_dasharray": dash}


# ---------------------------------------------------------------------------------------------------------
# Traces. The title of each appears when the pointer is on it.
# ---------------------------------------------------------------------------------------------------------


def _line(trace: Figure, across: Axis, up: Axis) -> Markup:
    """Draw a line through the points, straight or vertical first, with its markers."""
    points = list(zip(across.at(trace["x"]).tolist(), up.at(trace["y"]).tolist(), strict=True))
    corners = points
    if trace["line"].get("shape") == "vh":
        steps = [((x0, y1), (x1, y1)) for (x0, _), (x1, y1) in itertools.pairwise(points)]
        corners = [*points[:1], *itertools.chain.from_iterable(steps)]
    title = element("title", html.unescape(trace.get("hovertext", trace["name"])))
    curve = element("polyline", points=_written(corners), fill="none", **_stroke(trace["line"]))
    marks = [_mark(trace["marker"], x, y) for x, y in points] if "markers" in trace["mode"] else []
    return element("g", title, curve, *marks)


def _mark(marker: Figure, x: float, y: float) -> Markup:
    half = float(marker["size"]) / 2
    if marker["symbol"] == "circle":
        return element("circle", cx=x, cy=y, r=half, fill=marker["color"])
    corners = [(x + half * a, y + half * b) for a, b in CORNERS[marker["symbol"]]]
    return element("polygon", points=_written(corners), fill=marker["color"])


def _bars(trace: Figure, across: Axis, up: Axis, place: int, beside: int) -> Markup:
    """Draw horizontal bars from 0 with error bars. place: position of the trace among `beside` traces in a row."""
    parts, width = [element("title", trace["name"])], 0.8 / beside
    tops = np.array(trace["y"], np.float64) - 0.4 + width * place
    lengths, error = np.array(trace["x"], np.float64), trace["error_x"]
    ends = np.array([lengths - error["arrayminus"], lengths + error["array"]])
    edges = zip(up.at(tops), up.at(tops + width), across.at(lengths), *across.at(ends), strict=True)
    for high, low, end, least, most in edges:
        sides = sorted((float(across.at([0.0])[0]), float(end)))
        box = {"x": sides[0], "y": min(high, low), "width": sides[1] - sides[0], "height": abs(low - high)}
        parts.append(element("rect", **box, **_ground(trace)))
        if np.isfinite([least, most]).all():
            middle = float(high + low) / 2
            parts.append(element("line", x1=least, x2=most, y1=middle, y2=middle, class_="whisker"))
    return element("g", *parts)


def _ground(trace: Figure) -> dict[str, Any]:
    """Return the fill of a bar; bars that Plotly hatches are paler."""
    colour, hatched = trace["marker"]["color"], bool(trace["marker"]["pattern"]["shape"])
    return {"fill": colour, "stroke": colour, "fill_opacity": 0.45 if hatched else None}


def _written(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def legend(figure: Figure) -> Markup:
    """Draw a legend with an entry for each line."""
    entries = [
        element("span", _sample(trace), " ", html.unescape(trace["name"]), class_="entry")
        for trace in figure["data"]
        if trace.get("showlegend", True)
    ]
    return element("p", *entries, class_="legend")


def _sample(trace: Figure) -> Markup:
    line = element("line", x1=2, x2=46, y1=7, y2=7, **_stroke({**trace["line"], "width": 4}))
    marks = [_mark({**trace["marker"], "size": 13}, 24.0, 7.0)] if "markers" in trace["mode"] else []
    return element("svg", line, *marks, viewBox="0 0 48 14", width=48, height=14, aria_hidden="true")
