"""The measures of several rankings: their curves on one pair of axes, and a table with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.parts import charts, comparison_words, keys
from pages.parts.compared_shown import Shown
from pages.parts.frame import escaped
from ranking.intervals import DRAWS

FEW = 100  # images of which intervals are measurably too narrow: see benchmarks/intervals.py
CURVES = (
    "Precision and recall of every place to stop, AP the area below. **Notice** where curves cross: one method is "
    "better for a short list, another for a long one. The dotted line is what any order gives by chance."
)


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
        st.caption(CURVES)
    with right:
        st.markdown("\n".join(table_of(shown, ["AP", f"P@{top}", "NDCG"])))
        st.caption(told_of_intervals(shown))


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


def told_of_intervals(shown: Shown) -> str:
    left_out = shown.found.undefined("AP")
    rows = shown.compared.samples
    units = len(np.unique(shown.images.groups[rows]))
    of_images = units == len(np.unique(shown.images.image_of[rows]))
    what = f"{units:,} {shown.split} {'images' if of_images else 'groups of images'}"
    narrow = " Of so few they are a little too narrow." if units < FEW else ""
    without = f" {left_out:,} draws without a relevant sample are left out." if left_out else ""
    return (
        f"In brackets 95% intervals: the {what} are drawn again {DRAWS:,} times with all of their samples, and each "
        f"draw measures all methods.{without}{narrow} **Notice** that two "
        "intervals may overlap while that of the difference lies above zero: on the same draws methods rise and fall "
        "together. Each comparison is taken by itself, and none of them knows what other training images would change."
    )
