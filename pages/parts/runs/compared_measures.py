"""The measures of several rankings: their curves on one pair of axes, and a table with intervals."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from pages.parts.app import keys
from pages.parts.app.frame import escaped
from pages.parts.runs.compared_shown import Shown
from pages.parts.studies.experiment_tables import as_markdown
from pages.parts.views import charts
from ranking.reports import comparison_words
from ranking.reports.comparison_files import measures_table


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
        table = measures_table(shown, top)
        st.markdown(as_markdown(table))
        st.caption(escaped(table.note))
        st.caption(comparison_words.of_intervals(shown.compared, shown.found, shown.images, shown.split))
