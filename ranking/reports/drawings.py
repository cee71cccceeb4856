"""Charts of an experiment as SVG, which prints as sharp as it is and needs no program: bars and curves."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ranking.experiments.curves import GridCurve
from ranking.intervals import Interval
from ranking.reports.differences import Difference
from ranking.reports.looks import Look
from ranking.reports.markup import Markup, element, joined

WIDTH, LABELS, ROW, BAR = 480.0, 168.0, 34.0, 11.0
HIGH, LEFT, FOOT, TOP = 260.0, 52.0, 42.0, 10.0
LONGEST = 20  # letters of a name beside a chart; all of it is in its title


def difference_bars(rows: Sequence[Difference], look: Look, reach: float, alt: str) -> Markup:
    """Two bars a query, of the folds filled and of the test hollow, each with its interval; the axis goes from -reach
    to reach."""
    height = ROW * len(rows) + 30.0
    middle = LABELS + (WIDTH - LABELS) / 2
    scale = (WIDTH - LABELS - 52.0) / 2 / reach
    parts = [
        _vertical(middle + at * reach * scale, height - 26.0, f"{at * reach:+.2f}" if at else "0")
        for at in (-1, 0, 1)
    ]
    for number, row in enumerate(rows):
        top = ROW * number + 4.0
        parts.append(_name(row.query, LABELS - 8.0, top + 17.0))
        if row.folds is not None:
            parts.append(_bar(row.folds.difference, middle, scale, top, look, filled=1.0))
        if row.test is not None:
            parts.append(_bar(row.test, middle, scale, top + BAR + 3.0, look, filled=0.25))
    return _picture(parts, height, alt)


def curve_chart(
    curves: Sequence[tuple[GridCurve, bool]], looks: dict[str, Look], measure: str, alt: str
) -> Markup:
    """A line a curve along C, whose scale is logarithmic, thick and with its points where it is the one that was
    chosen; words alone where there is nothing to draw yet."""
    values = [one.value for curve, _ in curves for one in curve.means if one is not None]
    if not values:
        return element("p", "No setting has all its folds yet.")
    low, high = min(values), max(values)
    room = max(0.05 * (high - low), 0.005)
    low, high = low - room, high + room
    ends = [math.log10(value) for curve, _ in curves for value in curve.C]
    first, last = min(ends), max(ends)

    def at(C: float, value: float) -> tuple[float, float]:
        across = 0.5 if first == last else (math.log10(C) - first) / (last - first)
        return LEFT + 12 + across * (WIDTH - LEFT - 36), TOP + (high - value) / (high - low) * (
            HIGH - TOP - FOOT
        )

    parts = []
    for value in (low + room, (low + high) / 2, high - room):
        y = at(1.0 if first == last else 10**first, value)[1]
        parts.append(element("line", x1=LEFT, x2=WIDTH - 8, y1=y, y2=y, class_="guide"))
        parts.append(element("text", f"{value:.3f}", x=LEFT - 6, y=y + 5, text_anchor="end"))
    for value in sorted({value for curve, _ in curves for value in curve.C}):
        parts.append(element("text", f"{value:g}", x=at(value, low)[0], y=HIGH - 22, text_anchor="middle"))
    parts.append(element("text", "C", x=WIDTH / 2, y=HIGH - 4, text_anchor="middle"))
    parts.append(element("text", measure, x=2, y=HIGH - 4))
    for curve, chosen in curves:
        points = [at(C, one.value) for C, one in zip(curve.C, curve.means, strict=True) if one is not None]
        told = curve.contender + (f", {curve.others}" if curve.others else "")
        parts.append(_line(told, points, looks[curve.contender], chosen))
    return _picture(parts, HIGH, alt)


def legend(looks: dict[str, Look]) -> Markup:
    """Which line is of which method."""
    entries = []
    for name, look in looks.items():
        line = element(
            "line", x1=2, x2=46, y1=7, y2=7, stroke=look.colour, stroke_width=4, stroke_dasharray=look.dash
        )
        sample = element("svg", line, viewBox="0 0 48 14", width=48, height=14, aria_hidden="true")
        entries.append(element("span", sample, " ", name, class_="entry"))
    return element("p", *entries, class_="legend")


def reach_of(rows: Sequence[Difference]) -> float:
    """How far from 0 the intervals of differences go, a little rounded up; .01 at least."""
    ends = [
        abs(end)
        for row in rows
        for one in (row.folds and row.folds.difference, row.test)
        if one
        for end in one
    ]
    return max(0.01, math.ceil(100 * max((end for end in ends if not math.isnan(end)), default=0.0)) / 100)


def shortened(name: str) -> str:
    """A name as it stands beside a chart."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def _line(told: str, points: Sequence[tuple[float, float]], look: Look, chosen: bool) -> Markup:
    drawn = element(
        "polyline",
        element("title", told),
        points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points),
        fill="none",
        stroke=look.colour,
        stroke_width=3.5 if chosen else 1.2,
        stroke_dasharray=look.dash,
    )
    dots = [element("circle", cx=x, cy=y, r=4.5, fill=look.colour) for x, y in points if chosen]
    return joined([drawn, *dots])


def _bar(found: Interval, zero: float, scale: float, top: float, look: Look, filled: float) -> Markup:
    end = zero + found.value * scale
    bar = element(
        "rect",
        x=min(zero, end),
        y=top,
        width=abs(end - zero),
        height=BAR,
        fill=look.colour,
        fill_opacity=filled,
        stroke=look.colour,
    )
    if math.isnan(found.low):
        return bar
    low, high, y = zero + found.low * scale, zero + found.high * scale, top + BAR / 2
    ends = [element("line", x1=x, x2=x, y1=y - 4, y2=y + 4, class_="whisker") for x in (low, high)]
    return joined([bar, element("line", x1=low, x2=high, y1=y, y2=y, class_="whisker"), *ends])


def _vertical(x: float, foot: float, told: str) -> Markup:
    line = element("line", x1=x, x2=x, y1=0, y2=foot, class_="guide")
    return joined([line, element("text", told.replace("-", "−"), x=x, y=foot + 18, text_anchor="middle")])


def _name(name: str, x: float, y: float) -> Markup:
    return element("text", element("title", name), shortened(name), x=x, y=y, text_anchor="end")


def _picture(parts: Sequence[str], height: float, alt: str) -> Markup:
    return element(
        "svg", *parts, viewBox=f"0 0 {WIDTH:g} {height:g}", role="img", aria_label=alt, class_="chart"
    )
