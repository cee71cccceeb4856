"""The charts of an experiment: what one method gains over another, query by query, and what the settings are worth."""

from __future__ import annotations

import html
from collections.abc import Sequence

import plotly.graph_objects as go

from pages.parts.colours import GREY
from pages.parts.label_looks import MODELS, Look
from ranking.experiments.curves import GridCurve
from ranking.intervals import Interval
from ranking.reports import looks as report_looks
from ranking.reports.differences import Difference
from ranking.reports.drawings import shortened
from ranking.reports.findings import Findings

BAR = 46  # pixels a query


def looks_of(findings: Findings) -> dict[str, Look]:
    """The look of each method of an experiment by its name, as in its report and on the other pages."""
    of_colour = {look.colour: look for look in MODELS}
    found = report_looks.looks_of(findings.results.contenders)
    return {name: of_colour[look.colour] for name, look in found.items()}


def difference_bars(rows: Sequence[Difference], look: Look, measure: str) -> go.Figure:
    """Two bars a query, of the folds filled and of the test hatched, each with its interval."""
    figure = go.Figure()
    names = [html.escape(shortened(row.query)) for row in rows]
    for what, found, pattern in (
        ("folds, Student's interval", [row.folds and row.folds.difference for row in rows], ""),
        ("test, paired bootstrap over images", [row.test for row in rows], "/"),
    ):
        if any(one is not None for one in found):
            figure.add_bar(**_bars(names, found), name=what, marker=_filled(look.colour, pattern))
    figure.add_vline(x=0, line={"color": GREY, "width": 2})
    figure.update_yaxes(
        autorange="reversed", tickvals=list(range(len(rows))), ticktext=names, automargin=True
    )
    figure.update_xaxes(title_text=f"difference of {measure}")
    figure.update_layout(barmode="group", bargap=0.3)
    return figure


def _bars(names: Sequence[str], found: Sequence[Interval | None]) -> dict[str, object]:
    there = [(place, one) for place, one in enumerate(found) if one is not None]
    error = {
        "type": "data",
        "symmetric": False,
        "array": [one.high - one.value for _, one in there],
        "arrayminus": [one.value - one.low for _, one in there],
        "color": GREY,
        "thickness": 2,
    }
    return {
        "y": [place for place, _ in there],
        "x": [one.value for _, one in there],
        "orientation": "h",
        "error_x": error,
        "customdata": [[names[place], one.low, one.high] for place, one in there],
        "hovertemplate": "%{customdata[0]}: %{x:+.3f}, from %{customdata[1]:+.3f} to %{customdata[2]:+.3f}"
        "<extra></extra>",
    }


def _filled(colour: str, pattern: str) -> dict[str, object]:
    return {
        "color": colour,
        "pattern": {"shape": pattern, "fillmode": "overlay", "fgcolor": "rgba(255,255,255,.6)"},
    }


def bars_in_words(rows: Sequence[Difference], measure: str) -> str:
    """Every difference as plain text."""
    said = []
    for row in rows:
        told = [
            f"{what} {one.value:+.3f}"
            for what, one in (("folds", row.folds and row.folds.difference), ("test", row.test))
            if one is not None
        ]
        said.append(f"{row.query}: {', '.join(told) or 'not there yet'}")
    return f"{measure} of {rows[0].one} minus {rows[0].other}. {'; '.join(said)}"


def grid_lines(curves: Sequence[tuple[GridCurve, bool]], looks: dict[str, Look], measure: str) -> go.Figure:
    """A line a method and value of its other settings along C, thick where it is the one that was chosen."""
    figure, named = go.Figure(), set[str]()
    for curve, chosen in sorted(curves, key=lambda one: not one[1]):  # the chosen one names its method
        look = looks[curve.contender]
        told = html.escape(curve.contender + (f", {curve.others}" if curve.others else ""))
        there = [(C, one) for C, one in zip(curve.C, curve.means, strict=True) if one is not None]
        figure.add_scatter(
            x=[C for C, _ in there],
            y=[one.value for _, one in there],
            name=html.escape(curve.contender),
            showlegend=curve.contender not in named,
            legendgroup=curve.contender,
            mode="lines+markers" if chosen else "lines",
            line=look.line(4 if chosen else 1),
            marker={"symbol": look.mark, "size": 11, "color": look.colour},
            hovertemplate=f"C = %{{x:g}}: %{{y:.3f}}<extra>{told}</extra>",
        )
        named.add(curve.contender)
    ticks = sorted({C for curve, _ in curves for C in curve.C})
    figure.update_xaxes(
        type="log", tickvals=ticks, ticktext=[f"{C:g}" for C in ticks], title_text="C", tickangle=0
    )
    figure.update_yaxes(title_text=measure)
    return figure


def lines_in_words(curves: Sequence[tuple[GridCurve, bool]], measure: str) -> str:
    """Every value as plain text."""
    said = []
    for curve, chosen in curves:
        values = ", ".join(
            f"C {C:g} {one.value:.3f}" for C, one in zip(curve.C, curve.means, strict=True) if one is not None
        )
        told = (
            curve.contender + (f", {curve.others}" if curve.others else "") + (" (chosen)" if chosen else "")
        )
        said.append(f"{told}: {values or 'not there yet'}")
    return f"{measure} over the folds. {'; '.join(said)}"
