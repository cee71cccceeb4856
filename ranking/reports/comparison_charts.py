"""Precision-recall curves for pages and reports."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from ranking.core import Floats
from ranking.reports.line_styles import GREY, LineStyle

# pages plot charts before anything is compiled
if TYPE_CHECKING:
    from ranking.metrics.comparison import Comparison

# per line; more cannot be distinguished
MAX_POINTS = 600


def pr_steps(precision: Floats, recall: Floats, k: int) -> tuple[list[float], list[float]]:
    """Return the corners of the curve: one per relevant sample or group of tied ones, and one at rank k."""
    relevant = np.flatnonzero(np.diff(recall, prepend=0.0) > 0)
    x, y = [0.0], [float(precision[relevant[0]])]
    for part, place in ((relevant[relevant < k], k - 1), (relevant[relevant >= k], len(recall) - 1)):
        for group in np.array_split(part, min(len(part), MAX_POINTS)) if len(part) else ():
            x.append(float(recall[group[-1]]))
            y.append(float(precision[group].mean()))
        x.append(float(recall[place]))
        y.append(float(precision[place]))
    return x, y


def curves(compared: Comparison, names: Sequence[str], styles: Sequence[LineStyle]) -> go.Figure:
    """Plot precision by recall, one line per ranking, and the expected precision of a random order."""
    figure = go.Figure()
    for ranked, name, style in zip(compared.rankings, names, styles, strict=True):
        precision, recall = ranked.curve
        x, y = pr_steps(precision, recall, len(recall))
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            name=html.escape(f"{name}: AP {ranked.average_precision:.3f}"),
            line={**style.line(3), "shape": "vh"},
            hovertemplate=f"recall %{{x:.3f}}, precision %{{y:.3f}}<extra>{html.escape(name)}</extra>",
        )
    figure.add_hline(
        float(np.count_nonzero(compared.relevance) / len(compared.relevance)),
        line={"color": GREY, "width": 2, "dash": "dot"},
        annotation={"text": "random order", "font": {"size": 14}},
        annotation_position="bottom left",
    )
    figure.update_xaxes(title_text="recall", range=[0, 1.02])
    figure.update_yaxes(title_text="precision", range=[0, 1.05])
    figure.update_layout(showlegend=True)
    return figure
