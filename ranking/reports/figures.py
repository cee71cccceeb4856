"""Charts as SVG, which prints as sharp as it is and needs no program.

A chart comes as Plotly's JSON form has it, so that pages show the same one; of that form this draws what is used here:
one pair of axes, scatter and bar traces, shapes and annotations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ranking.core.errors import InputError
from ranking.reports.axes import Axis, axis_of
from ranking.reports.marks import DASHES, annotation, bars, colour_of, errors, plain, scatter, shape
from ranking.reports.markup import Markup, element

WIDTH, LEFT, RIGHT, TOP, FOOT = 640.0, 74.0, 14.0, 22.0, 52.0
LOWEST, HIGHEST = 160.0, 400.0
EDGE = 7.0  # beyond the ends of the axes, for half a mark

Figure = Mapping[str, Any]


def figure_svg(figure: Figure, alt: str) -> Markup:
    """The chart as `chart_svg`, and below it which line is of what."""
    return element("div", chart_svg(figure, alt), legend(figure))


def chart_svg(figure: Figure, alt: str, width: float = WIDTH) -> Markup:
    """The chart alone. alt: what it shows, in words. ValueError for a kind of trace that is not drawn here."""
    traces, layout = list(figure.get("data", [])), figure.get("layout", {})
    for trace in traces:
        if trace["type"] not in ("scatter", "bar") or trace.get("xaxis", "x") != "x":
            raise InputError(
                "chart",
                "scatter and bar traces on one pair of axes",
                f"{trace['type']} on {trace.get('xaxis', 'x')}",
                "add it to ranking/reports/figures.py",
            )
    rows = any(trace.get("orientation") == "h" for trace in traces)  # of names, as many as there are
    height = max(LOWEST, float(layout.get("height") or 340.0))
    height = height if rows else min(HIGHEST, height)
    across, up = _axes(traces, layout, width, height)
    beside = [number for number, trace in enumerate(traces) if trace["type"] == "bar"]
    grouped = layout.get("barmode", "group") == "group" and _share_places(
        [traces[number] for number in beside]
    )
    parts = [_frame(across, up)] if layout.get("xaxis", {}).get("visible", True) else []
    parts += [shape(told, across, up) for told in layout.get("shapes", []) if told.get("layer") == "below"]
    for number, trace in enumerate(traces):
        if trace["type"] == "bar":
            place, count = (beside.index(number), len(beside)) if grouped else (0, 1)
            parts.append(bars(trace, across, up, place, count))
        elif layout.get("xaxis", {}).get("range") or layout.get("yaxis", {}).get("range"):
            parts.append(_within(across, up, scatter(trace, across, up)))
        else:
            parts.append(scatter(trace, across, up))
    parts += [shape(told, across, up) for told in layout.get("shapes", []) if told.get("layer") != "below"]
    parts += [annotation(told, across, up) for told in layout.get("annotations", [])]
    view = f"0 0 {width:g} {height:g}"
    return element("svg", *parts, viewBox=view, role="img", aria_label=alt, class_="chart")


def _axes(traces: Sequence[Figure], layout: Figure, width: float, height: float) -> tuple[Axis, Axis]:
    """The two axes, for all that is drawn along them."""
    lying = [trace.get("orientation") == "h" for trace in traces if trace["type"] == "bar"]
    x, y = ([_along(trace, name) for trace in traces] for name in ("x", "y"))
    up = axis_of(layout.get("yaxis", {}), y, height - FOOT, TOP, bool(lying) and not all(lying))
    widest = max((len(plain(text)) for _, text in up.ticks()), default=0)
    left = max(LEFT, min(230.0, 9.0 * widest + 8.0))
    return axis_of(layout.get("xaxis", {}), x, left, width - RIGHT, any(lying)), up


def _along(trace: Figure, name: str) -> list[Any]:
    """The values of a trace along an axis, with the ends of its bars and errors."""
    values = list(trace[name])
    if trace["type"] == "bar" and name == ("x" if trace.get("orientation") == "h" else "y"):
        base = np.broadcast_to(np.asarray(trace.get("base", 0.0), float), len(values))
        values = [*base.tolist(), *(base + np.array(values, float)).tolist()]
    elif trace["type"] == "bar" and not any(isinstance(value, str) for value in values):
        half = float(trace.get("width") or 0.8) / 2
        values = [place + side for place in values for side in (-half, half)]
    if trace.get(f"error_{name}", {}).get("array") is not None:
        values += np.concatenate(errors(trace, name)).tolist()
    return values


def _share_places(traces: Sequence[Figure]) -> bool:
    """Whether bars of several traces stand at one place, and have to stand beside each other there."""
    places = [
        place for trace in traces for place in {*trace["y" if trace.get("orientation") == "h" else "x"]}
    ]
    return len(places) > len({*places})


def _within(across: Axis, up: Axis, drawn: Markup) -> Markup:
    """What is drawn, as far as it lies between the ends of the axes; marks at an end are whole."""
    width, height = across.end - across.start, up.start - up.end
    box = {
        "x": across.start - EDGE,
        "y": up.end - EDGE,
        "width": width + 2 * EDGE,
        "height": height + 2 * EDGE,
    }
    view = " ".join(f"{side:g}" for side in box.values())
    return element("svg", drawn, viewBox=view, **box)


def _frame(across: Axis, up: Axis) -> Markup:
    """Guides, what they stand for, and the names of the axes."""
    parts = []
    for y, text in up.ticks() if up.told.get("visible", True) else ():
        parts.append(element("line", x1=across.start, x2=across.end, y1=y, y2=y, class_="guide"))
        parts.append(element("text", plain(text), x=across.start - 8, y=y + 5, text_anchor="end"))
    right, ticks = -np.inf, sorted(across.ticks())
    crowded = sum(9.0 * len(plain(text)) for _, text in ticks) > across.end - across.start
    letter, small = (3.3, "font-size:12px") if crowded else (4.3, None)
    above = across.told.get("side") == "top"
    foot = up.end - 8 if above else up.start + 20
    for x, text in ticks:
        if not above:
            parts.append(element("line", x1=x, x2=x, y1=up.start, y2=up.start + 5, class_="guide"))
        half = letter * len(plain(text))
        if x - half > right:  # texts never lie on each other
            parts.append(element("text", plain(text), x=x, y=foot, text_anchor="middle", style=small))
            right = x + half + 4
    middle = (across.start + across.end) / 2
    parts.append(
        element("text", _title(across), x=middle, y=up.start + 44, text_anchor="middle", class_="axis")
    )
    parts.append(element("text", _title(up), x=2, y=14, class_="axis"))
    return element("g", *parts)


def _title(axis: Axis) -> str:
    title = axis.told.get("title", {})
    return plain(title.get("text") or "") if isinstance(title, Mapping) else plain(title)


def legend(figure: Figure) -> Markup:
    """A line for each trace that has a name, where there are several."""
    traces, wanted = list(figure.get("data", [])), figure.get("layout", {}).get("showlegend")
    named = [trace for trace in traces if trace.get("name") and trace.get("showlegend") is not False]
    if wanted is False or (wanted is None and len(traces) < 2):
        return Markup("")
    entries = [element("span", _sample(trace), " ", plain(trace["name"]), class_="entry") for trace in named]
    return element("p", *entries, class_="legend")


def _sample(trace: Figure) -> Markup:
    colour = colour_of(trace)
    if trace["type"] == "bar":
        striped = trace.get("marker", {}).get("pattern", {}).get("shape")
        part = element(
            "rect", x=10, y=1, width=26, height=12, fill=colour, stroke=colour, fill_opacity=0.45 if striped else None
        )  # fmt: skip
        return element("svg", part, viewBox="0 0 48 14", width=48, height=14, aria_hidden="true")
    line = {**trace.get("line", {})}
    mode, marker = trace.get("mode", "lines"), trace.get("marker", {})
    parts = []
    if "lines" in mode:
        dash = DASHES[line.get("dash") or "solid"]
        parts.append(
            element("line", x1=2, x2=46, y1=7, y2=7, stroke=colour, stroke_width=4, stroke_dasharray=dash)
        )
    if "markers" in mode:
        unit, symbol = Axis(0.0, 1.0, 0.0, 1.0, False, (), {}), marker.get("symbol", "circle")
        look = {"color": colour, "size": 13, "symbol": symbol if isinstance(symbol, str) else "circle"}
        parts.append(scatter({"mode": "markers", "x": [24.0], "y": [7.0], "marker": look}, unit, unit))
    return element("svg", *parts, viewBox="0 0 48 14", width=48, height=14, aria_hidden="true")
