"""Plotly figures in reports: each is data in the file, and two scripts in the file draw all of them."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING

from plotly.offline import get_plotlyjs

from ranking.reports.markup import Markup, element

if TYPE_CHECKING:
    import plotly.graph_objects as go

DRAW = """
for (const chart of document.querySelectorAll("[data-figure]")) {
  const {data, layout} = JSON.parse(chart.dataset.figure);
  Plotly.newPlot(chart, data, layout, {responsive: true, displayModeBar: false});
}
"""
CLEAR = "rgba(0,0,0,0)"


def chart(figure: go.Figure, alt: str, height: int) -> Markup:
    """Return the place of a figure."""
    # alt: its description. Its colours of text and paper are those of report.css.
    figure.update_layout(
        template="none",
        height=height,
        margin={"l": 70, "r": 14, "t": 10, "b": 60},
        font={"family": "system-ui, sans-serif", "size": 15},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        paper_bgcolor=CLEAR,
        plot_bgcolor=CLEAR,
    )
    return element("div", class_="chart", role="img", aria_label=alt, data_figure=figure.to_json())


@cache
def scripts() -> tuple[Markup, Markup]:
    """Return Plotly itself, and the script that draws the figures."""
    return Markup(get_plotlyjs()), Markup(DRAW)


@cache
def script_hashes() -> str:
    """Return the hashes of the scripts, for a content security policy that allows no other script."""
    digests = [hashlib.sha256(script.encode()).digest() for script in scripts()]
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
