"""What stands in a chart: lines, marks, bars and frames, as SVG. A title tells each where one points at it."""

from __future__ import annotations

import html
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ranking.core import Floats
from ranking.core.errors import InputError
from ranking.reports.axes import Axis
from ranking.reports.markup import Markup, element, joined

DASHES = {"solid": None, "dash": "9 5", "dot": "2 4", "dashdot": "9 4 2 4", "longdash": "16 6"}
SHAPES: Mapping[str, Sequence[tuple[float, float]]] = {  # corners around 0, of a mark of half-width 1
    "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "diamond": ((0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)),
    "triangle-up": ((0, -1.1), (1.1, 0.9), (-1.1, 0.9)),
    "triangle-down": ((0, 1.1), (1.1, -0.9), (-1.1, -0.9)),
    "cross": tuple((x, y) for x, y in ((-.4, -1), (.4, -1), (.4, -.4), (1, -.4), (1, .4), (.4, .4), (.4, 1), (-.4, 1),
                                       (-.4, .4), (-1, .4), (-1, -.4), (-.4, -.4))),
    "x": tuple((x, y) for x, y in ((-1, -.6), (-.6, -1), (0, -.4), (.6, -1), (1, -.6), (.4, 0), (1, .6), (.6, 1),
                                   (0, .4), (-.6, 1), (-1, .6), (-.4, 0))),
    "star": tuple((math.sin(i * math.pi / 5) * (1.3, 0.55)[i % 2], -math.cos(i * math.pi / 5) * (1.3, 0.55)[i % 2])
                  for i in range(10)),
}  # fmt: skip
GREY = "#808080"
ANCHORS = {"left": "end", "center": "middle", "right": "start"}
TAG = re.compile(r"</?(b|i|br|sup|sub|span)\b[^<>]*>")


def plain(text: Any) -> str:
    """The words of a text of a chart, which is HTML there.

    >>> plain("<b>AP</b> &lt; 1")
    'AP < 1'
    """
    return html.unescape(TAG.sub(lambda found: " " if found[1] == "br" else "", str(text)))


def scatter(trace: Mapping[str, Any], across: Axis, up: Axis) -> Markup:
    """Lines, marks and texts through the points of a trace, with its errors."""
    mode = trace.get("mode", "lines")
    x, y = across.at(trace["x"]), up.at(trace["y"])
    parts: list[Markup] = []
    if trace.get("fill") not in (None, "none"):
        parts.append(_filled(trace, x, y, float(up.at([0.0])[0])))
    if "lines" in mode:
        parts.extend(_lines(x, y, trace.get("line", {}), colour_of(trace)))
    for name, axis, beside in (("y", up, x), ("x", across, y)):
        if trace.get(f"error_{name}", {}).get("array") is not None:
            look = {"stroke": colour_of(trace), "stroke_width": 2}
            parts.append(_whiskers(errors(trace, name), axis, beside, name == "x", **look))
    if "markers" in mode:
        parts.append(_marks(trace, x, y))
    if "text" in mode:
        parts.append(_texts(trace, x, y))
    said = trace.get("hovertext")
    title = said if isinstance(said, str) else trace.get("name") or ""
    return element("g", element("title", plain(title)), *parts)


def _filled(trace: Mapping[str, Any], x: Floats, y: Floats, floor: float) -> Markup:
    """What lies between the line of a trace and `floor`, where 0 is, or within the line."""
    corners = _corners(x, y, trace.get("line", {}).get("shape", "linear"))
    if trace["fill"] == "tozeroy":
        corners = [*corners, (corners[-1][0], floor), (corners[0][0], floor)]
    elif trace["fill"] != "toself":
        raise InputError(
            "fill of a line", "tozeroy or toself", trace["fill"], "add it to ranking/reports/marks.py"
        )
    return element("polygon", points=_points(corners), fill=trace["fillcolor"])


def colour_of(trace: Mapping[str, Any]) -> str:
    """The one colour that stands for a trace."""
    for part in ("line", "marker"):
        colour = trace.get(part, {}).get("color")
        if isinstance(colour, str):
            return colour
    return GREY


def _lines(x: Floats, y: Floats, line: Mapping[str, Any], colour: str) -> list[Markup]:
    """The pieces between points that are not there."""
    there = np.isfinite(x) & np.isfinite(y)
    cuts = np.flatnonzero(np.diff(there.astype(int))) + 1
    pieces = [piece for piece in np.split(np.arange(len(x)), cuts) if len(piece) > 1 and there[piece[0]]]
    look = {"stroke": line.get("color", colour), "stroke_width": float(line.get("width", 2)), "fill": "none"}
    dash = DASHES[line.get("dash") or "solid"]
    return [
        element(
            "polyline",
            points=_points(_corners(x[piece], y[piece], line.get("shape", "linear"))),
            stroke_dasharray=dash,
            **look,
        )
        for piece in pieces
    ]


def _corners(x: Floats, y: Floats, shape: str) -> list[tuple[float, float]]:
    """The corners of a line: straight from point to point, or in steps."""
    points = list(zip(x.tolist(), y.tolist(), strict=True))
    made = points[:1]
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        half = (x0 + x1) / 2
        steps = {"linear": [], "vh": [(x0, y1)], "hv": [(x1, y0)], "hvh": [(half, y0), (half, y1)]}
        made += [*steps[shape], (x1, y1)]
    return made


def _marks(trace: Mapping[str, Any], x: Floats, y: Floats) -> Markup:
    marker, count = trace.get("marker", {}), len(x)
    sizes, symbols = _each(marker.get("size", 6), count), _each(marker.get("symbol", "circle"), count)
    colours = _each(marker.get("color", colour_of(trace)), count)
    parts = [
        _mark(str(symbols[i]), float(x[i]), float(y[i]), 0.4 * float(sizes[i]), str(colours[i]))
        for i in range(count)
        if np.isfinite(x[i]) and np.isfinite(y[i])
    ]
    return element("g", *parts, opacity=marker.get("opacity"))


def _mark(symbol: str, x: float, y: float, half: float, colour: str) -> Markup:
    """A mark; one whose name ends in "-open" is hollow."""
    shape = symbol.removesuffix("-open").removesuffix("-thin")
    hollow = symbol.endswith("-open")
    look = {"fill": "none" if hollow else colour, "stroke": colour if hollow else None, "stroke_width": 2.0}
    if shape == "circle":
        return element("circle", cx=x, cy=y, r=half, **look)
    return element(
        "polygon", points=_points([(x + half * a, y + half * b) for a, b in SHAPES[shape]]), **look
    )


def _texts(trace: Mapping[str, Any], x: Floats, y: Floats) -> Markup:
    down, _, side = trace.get("textposition", "middle center").partition(" ")
    texts = _each(trace.get("text", ""), len(x))
    shift = {"left": -8.0, "center": 0.0, "right": 8.0}[side or "center"]
    lower = {"top": -8.0, "middle": 5.0, "bottom": 20.0}[down]
    parts = [
        element("text", plain(text), x=float(a) + shift, y=float(b) + lower, text_anchor=ANCHORS[side])
        for text, a, b in zip(texts, x, y, strict=True)
        if text and np.isfinite(a) and np.isfinite(b)
    ]
    return joined(parts)


def errors(trace: Mapping[str, Any], name: str) -> tuple[Floats, Floats]:
    """(n,) how far the errors of a trace reach along its axis `name`, x or y, down and up."""
    told, values = trace[f"error_{name}"], np.array(trace[name], float)
    up = np.array(told["array"], float)
    return values - np.array(told.get("arrayminus", up), float), values + up


def _whiskers(ends: tuple[Floats, Floats], axis: Axis, beside: Floats, lying: bool, **look: Any) -> Markup:
    """A line from end to end along `axis`, each where `beside` says."""
    low, high = map(axis.at, ends)
    return joined(
        element("line", **(dict(x1=a, x2=b, y1=c, y2=c) if lying else dict(x1=c, x2=c, y1=a, y2=b)), **look)
        for a, b, c in zip(low.tolist(), high.tolist(), beside.tolist(), strict=True)
        if np.isfinite([a, b, c]).all()
    )


def bars(trace: Mapping[str, Any], across: Axis, up: Axis, place: int, beside: int) -> Markup:
    """Upright or lying bars with their errors. place: of the trace among those `beside` each other."""
    lying = trace.get("orientation") == "h"
    along, high = (up, across) if lying else (across, up)
    middles = along.numbers(trace["y" if lying else "x"])
    lengths = np.array(trace["x" if lying else "y"], float)
    base = np.array(_each(trace.get("base", 0.0), len(lengths)), float)
    width = float(trace.get("width") or 0.8) / beside
    left = middles - width * beside / 2 + width * place
    from_, to = _linear(along, left), _linear(along, left + width)
    foot, top = high.at(base), high.at(base + lengths)
    colours = _each(trace.get("marker", {}).get("color", colour_of(trace)), len(lengths))
    striped = bool(trace.get("marker", {}).get("pattern", {}).get("shape"))
    boxes = [_box(*box, lying) for box in zip(from_, to, foot, top, strict=True)]
    parts = [
        element("rect", fill=str(colour), **box, stroke=str(colour), fill_opacity=0.45 if striped else None)
        for box, colour in zip(boxes, colours, strict=True)
    ]
    name = "x" if lying else "y"
    if trace.get(f"error_{name}", {}).get("array") is not None:
        middle = _linear(along, left + width / 2)
        parts.append(_whiskers(errors(trace, name), high, middle, lying, class_="whisker"))
    title = element("title", plain(trace.get("name") or ""))
    if lying and trace.get("textposition") == "outside":
        parts += [
            element(
                "text", plain(text), x=float(end) + (6 if end >= start else -6), y=float(a + b) / 2 + 5,
                text_anchor="start" if end >= start else "end",
            )
            for text, start, end, a, b in zip(_each(trace["text"], len(lengths)), foot, top, from_, to, strict=True)
        ]  # fmt: skip
    return element("g", title, *parts, opacity=trace.get("opacity"))


def _linear(axis: Axis, values: Floats) -> Floats:
    """Where numbers of an axis stand that has names or none."""
    found: Floats = axis.start + (values - axis.low) / (axis.high - axis.low) * (axis.end - axis.start)
    return found


def _box(from_: float, to: float, foot: float, top: float, lying: bool) -> dict[str, float]:
    near, far = sorted((float(from_), float(to)))
    low, high = sorted((float(foot), float(top)))
    if lying:
        return {"x": low, "y": near, "width": high - low, "height": far - near}
    return {"x": near, "y": low, "width": far - near, "height": high - low}


def shape(told: Mapping[str, Any], across: Axis, up: Axis) -> Markup:
    """A line or frame that stands in the chart, or goes through all of it."""
    x = [_end(told, name, across) for name in ("x0", "x1")]
    y = [_end(told, name, up) for name in ("y0", "y1")]
    line = told.get("line", {})
    look = {
        "stroke": line.get("color", "none"),
        "stroke_width": float(line.get("width", 2)),
        "stroke_dasharray": DASHES[line.get("dash") or "solid"],
    }
    if told.get("type") == "line":
        return element("line", x1=x[0], x2=x[1], y1=y[0], y2=y[1], **look)
    box = {"x": min(x), "y": min(y), "width": abs(x[1] - x[0]), "height": abs(y[1] - y[0])}
    return element("rect", fill=told.get("fillcolor", "none"), opacity=told.get("opacity"), **box, **look)


def _end(told: Mapping[str, Any], name: str, axis: Axis) -> float:
    if str(told.get(f"{name[0]}ref", "")).endswith(("domain", "paper")):
        return axis.start + float(told[name]) * (axis.end - axis.start)
    return float(axis.at([told[name]])[0])


def annotation(told: Mapping[str, Any], across: Axis, up: Axis) -> Markup:
    """A text in the chart, on a ground of its own where it has one."""
    x = _end(told, "x", across) + float(told.get("xshift") or 0.0)
    y = _end(told, "y", up) - float(told.get("yshift") or 0.0)
    text, ground = plain(told["text"]), told.get("bgcolor")
    anchor = {"left": "start", "right": "end"}.get(told.get("xanchor", ""), "middle")
    lower = {"top": 16.0, "bottom": -6.0}.get(told.get("yanchor", ""), 5.0)
    if ground is None:
        return element("text", text, x=x, y=y + lower, text_anchor=anchor)
    width = 8.5 * len(text) + 10
    box = element("rect", x=x - width / 2, y=y - 13, width=width, height=26, rx=3, fill=ground)
    words = element("text", text, x=x, y=y + 5, text_anchor="middle", style="fill:#fff")
    return joined([box, words])


def _each(value: Any, count: int) -> list[Any]:
    """A value for each of `count`, of one or as many."""
    return [value] * count if isinstance(value, str | int | float) else list(value)


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
