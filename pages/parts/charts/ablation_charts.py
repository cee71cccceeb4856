"""Curves of a MidRank ablation as a chart and as a table; stars mark the values that the paper prints."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from pages.parts.app.colours import BLUE, GREEN, GREY, PURPLE, VERMILLION
from ranking.core.spreadsheets import rows_csv
from ranking.experiments.ablations import AGREES, EXHAUSTIVE, SEARCH, SECONDS
from ranking.experiments.order_task import NAMES
from ranking.metrics.ablation_curves import At, Curve

# Styles of lines: each differs from the others in colour, dash and symbol.
STYLES = (
    (BLUE, "solid", "circle"),
    (VERMILLION, "dash", "diamond"),
    (GREEN, "dashdot", "square"),
    (PURPLE, "dot", "triangle-up"),
)
# shown in percent
SHARES = (AGREES, NAMES.pairs)
Marks = Sequence[tuple[At, float]]


def figure_of(curves: Sequence[Curve], measure: str, across: str, marks: Marks, of: str) -> go.Figure:
    """Plot a line per curve with the error of each point; points only where settings are names."""
    # marks: values of the paper. of: the data that they were measured on.
    named = isinstance(curves[0].at[0], str)
    figure = go.Figure()
    for number, curve in enumerate(curves):
        colour, dash, symbol = STYLES[number % len(STYLES)]
        measured = curve.measures[measure]
        bars = {"type": "data", "array": scaled(measured.error, measure), "thickness": 2, "width": 4}
        line = {"color": colour, "width": 3, "dash": dash}
        figure.add_scatter(
            **along(curve.at, scaled(measured.mean, measure), named),
            name=curve.line,
            mode="markers" if named else "lines+markers",
            line=line,
            marker={"symbol": symbol, "size": 11 if named else 9, "color": colour},
            hovertemplate="%{x} · %{y}<extra>" + curve.line + "</extra>",
            **{"error_x" if named else "error_y": {**bars, "color": colour}},
        )
    if marks:
        star = {"symbol": "star-open", "size": 15, "color": GREY, "line": {"width": 2}}
        figure.add_scatter(
            **along([at for at, _ in marks], scaled([value for _, value in marks], measure), named),
            name=of,
            mode="markers",
            marker=star,
            hovertemplate="%{x} · %{y}<extra>" + of + "</extra>",
        )
    title = f"{measure}, %" if measure in SHARES else measure
    if named:
        figure.update_xaxes(title_text=title)
        figure.update_yaxes(autorange="reversed", automargin=True)
        return figure
    figure.update_yaxes(title_text=title, type="log" if measure == SECONDS else "linear")
    ticks = sorted({at for curve in curves for at in curve.at})
    figure.update_xaxes(title_text=across, tickvals=ticks, tickangle=0, showgrid=False)
    if measure == SECONDS:
        figure.update_xaxes(type="log")
    return figure


def along(at: Sequence[At], values: Sequence[float], named: bool) -> dict[str, list[At] | list[float]]:
    return {"x": list(values), "y": list(at)} if named else {"x": list(at), "y": list(values)}


def scaled(values: Sequence[float], measure: str) -> list[float]:
    return [100 * value if measure in SHARES else value for value in values]


def notice(curves: Sequence[Curve], measure: str) -> str:
    """Return the greatest value of each curve and its setting; of times, those of one sequence."""
    # That is the longest sequence that both measured.
    means = {curve.line: dict(zip(curve.at, curve.measures[measure].mean, strict=True)) for curve in curves}
    if measure == SECONDS:
        last = max(means[EXHAUSTIVE])
        slow, fast = (f"{means[line][last]:.2g} s" for line in (EXHAUSTIVE, SEARCH))
        return f"{last} images take {slow} by exhaustive search and {fast} by the search"
    texts = []
    for line, values in means.items():
        best = max(values, key=values.__getitem__)
        text = f"{line} {100 * values[best]:.1f}%" if measure in SHARES else f"{line} {values[best]:.3f}"
        texts.append(text if len(set(values.values())) == 1 else f"{text} ({best})")
    return f"the greatest {measure}: {'; '.join(texts)}"


def in_words(curves: Sequence[Curve], measure: str) -> str:
    """Return every value of a measure as plain text."""
    return f"{measure}. " + ". ".join(
        f"{curve.line}: "
        + ", ".join(
            f"{at} {mean:.3g}" for at, mean in zip(curve.at, curve.measures[measure].mean, strict=True)
        )
        for curve in curves
    )


def csv_text(curves: Sequence[Curve]) -> str:
    """Return a line per value: the curve, the setting, the measure, its mean, and half of its interval."""
    rows = [
        {"curve": curve.line, "setting": at, "measure": measure, "mean": mean, "error": error}
        for curve in curves
        for measure, measured in curve.measures.items()
        for at, mean, error in zip(curve.at, measured.mean, measured.error, strict=True)
    ]
    return rows_csv(rows)
