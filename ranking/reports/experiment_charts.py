"""Charts of an experiment for pages and reports.

They show differences between two methods by query, and the effect of the settings. Names are escaped, because
texts of charts are HTML.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from ranking.core.settings import Json
from ranking.experiments.cross_validation.curves import GridCurve
from ranking.metrics.intervals import Interval
from ranking.reports.differences import Difference
from ranking.reports.line_styles import GREY, LineStyle

# letters of a name next to a chart
LONGEST = 20


def difference_bars(rows: Sequence[Difference], style: LineStyle, measure: str, reach: float) -> go.Figure:
    """Plot two bars per query, folds filled and test hatched, each with its interval."""
    # The axis is from -reach to reach.
    names, figure = [html.escape(shortened(row.query)) for row in rows], go.Figure()
    for what, intervals, pattern in (
        ("folds, Student's interval", [row.folds and row.folds.difference for row in rows], ""),
        ("test, paired bootstrap over images", [row.test for row in rows], "/"),
    ):
        known = [(place, interval) for place, interval in enumerate(intervals) if interval is not None]
        if known:
            stripes = {"shape": pattern, "fillmode": "overlay", "fgcolor": "rgba(255,255,255,.6)"}
            figure.add_bar(
                name=what,
                y=[place for place, _ in known],
                x=[interval.value for _, interval in known],
                orientation="h",
                marker={"color": style.colour, "pattern": stripes},
                error_x=whiskers([interval for _, interval in known]),
                customdata=[[names[place], ends_in_words(interval)] for place, interval in known],
                hovertemplate="%{customdata[0]}: %{x:+.3f}, %{customdata[1]}<extra></extra>",
            )
    figure.add_vline(0, line={"color": GREY, "width": 2})
    figure.update_layout(barmode="group", showlegend=True)
    figure.update_xaxes(title_text=f"difference of {measure}", range=[-reach, reach])
    figure.update_yaxes(
        range=[len(rows) - 0.5, -0.5], tickvals=list(range(len(rows))), ticktext=names, automargin=True
    )
    return figure


def whiskers(intervals: Sequence[Interval]) -> Json:
    return {
        "symmetric": False,
        "array": [interval.high - interval.value for interval in intervals],
        "arrayminus": [interval.value - interval.low for interval in intervals],
        "color": GREY,
        "thickness": 2,
    }


def ends_in_words(interval: Interval) -> str:
    """Return the ends of an interval in words.

    >>> ends_in_words(Interval(0.1, 0.05, 0.15)), ends_in_words(Interval(0.1, math.nan, math.nan))
    ('from +0.050 to +0.150', 'no interval')
    """
    return "no interval" if math.isnan(interval.low) else f"from {interval.low:+.3f} to {interval.high:+.3f}"


def bars_in_words(rows: Sequence[Difference], measure: str) -> str:
    """Return all differences as plain text."""
    texts = []
    for row in rows:
        values = [
            f"{what} {interval.value:+.3f}"
            for what, interval in (("folds", row.folds and row.folds.difference), ("test", row.test))
            if interval is not None
        ]
        texts.append(f"{row.query}: {', '.join(values) or 'not finished'}")
    return f"{measure} of {rows[0].left} minus {rows[0].right}. {'; '.join(texts)}"


def reach_of(rows: Sequence[Difference]) -> float:
    """Return the largest distance of an interval from 0, rounded up a little; at least .01."""
    known = [
        interval for row in rows for interval in (row.folds and row.folds.difference, row.test) if interval
    ]
    ends = [abs(end) for interval in known for end in interval if not math.isnan(end)]
    return max(0.01, math.ceil(100 * max(ends, default=0.0)) / 100)


def grid_lines(
    curves: Sequence[tuple[GridCurve, bool]], styles: Mapping[str, LineStyle], measure: str
) -> go.Figure | None:
    """Plot the measure along C, a line per method and combination of other settings, the chosen one thick."""
    # None until a setting has all its folds.
    if not any(curve.known for curve, _ in curves):
        return None
    figure, named = go.Figure(), set[str]()
    # The chosen one is labelled with its method.
    for curve, chosen in sorted(curves, key=lambda entry: not entry[1]):
        style, label = styles[curve.compared_method], html.escape(curve.label)
        figure.add_scatter(
            x=[C for C, _ in curve.known],
            y=[interval.value for _, interval in curve.known],
            name=html.escape(curve.compared_method),
            showlegend=curve.compared_method not in named,
            legendgroup=curve.compared_method,
            mode="lines+markers" if chosen else "lines",
            line=style.line(4 if chosen else 1),
            marker={"symbol": style.mark, "size": 11, "color": style.colour},
            hovertemplate=f"C = %{{x:g}}: %{{y:.3f}}<extra>{label}</extra>",
        )
        named.add(curve.compared_method)
    ticks = sorted({C for curve, _ in curves for C in curve.C})
    figure.update_xaxes(
        type="log", tickvals=ticks, ticktext=[f"{C:g}" for C in ticks], title_text="C", tickangle=0
    )
    figure.update_yaxes(title_text=measure)
    return figure


def lines_in_words(curves: Sequence[tuple[GridCurve, bool]], measure: str) -> str:
    """Return all values as plain text."""
    texts = []
    for curve, chosen in curves:
        values = ", ".join(f"C {C:g} {interval.value:.3f}" for C, interval in curve.known)
        texts.append(f"{curve.label}{' (chosen)' if chosen else ''}: {values or 'not finished'}")
    return f"{measure} over the folds. {'; '.join(texts)}"


def shortened(name: str) -> str:
    """Return a name, shortened to LONGEST letters."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
