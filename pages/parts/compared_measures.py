"""The measures of several rankings: their curves on one pair of axes, and a table with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
import streamlit as st

from pages.parts import charts, keys
from pages.parts.compared_shown import Shown
from pages.parts.frame import escaped
from ranking.reports import comparison_words


def show(shown: Shown, curves: go.Figure, top: int) -> None:
    """The curves, and the table of AP, P@k for the `top` places that are shown, and NDCG."""
    left, right = st.columns([2, 3], gap="medium")
    with left:
        values = ", ".join(
            f"{name} {ranked.average_precision:.3f}"
            for name, ranked in zip(shown.names, shown.compared.rankings, strict=True)
        )
        key, alt = keys.widget("compared curves"), f"Precision-recall curves; AP: {values}"
        charts.show(curves, key, alt, "precision-recall", height=360 + 24 * len(shown.runs))
        st.caption(comparison_words.CURVES)
    with right:
        st.markdown("\n".join(table_of(shown, ["AP", f"P@{top}", "NDCG"])))
        st.caption(comparison_words.of_intervals(shown.compared, shown.found, shown.images, shown.split))


def table_of(shown: Shown, measures: Sequence[str]) -> list[str]:
    """A line of markdown a training; bold are the best of each measure, and differences whose interval is without 0."""
    first = escaped(shown.names[0])
    heads = [*measures, f"AP less {first}"]
    lines = [f"| | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    for number, name in enumerate(shown.names):
        cells = []
        for measure in measures:
            told = shown.found.interval(measure, number)
            text = comparison_words.of_interval(told)
            cells.append(f"**{text}**" if told.value == shown.found.values[measure].max() else text)
        less = shown.found.difference("AP", number, 0)
        text = comparison_words.of_difference(less)
        cells.append("–" if not number else f"**{text}**" if less.without_zero else text)
        lines.append(f"| {escaped(name)} | {' | '.join(cells)} |")
    return lines
