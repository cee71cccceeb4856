"""Comparison of two models that ask about one image: which one needs fewer questions."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from pages.parts.charts.plots import show as show_figure
from ranking.explain.labelling_model import questions_needed
from ranking.reports.line_styles import LineStyle

HEIGHT = 220


def show(played: Mapping[str, list[float]], styles: Mapping[str, LineStyle], key: str) -> None:
    """Show the break-even precision of each player, by its name, from 0 questions, in its line style."""
    figure = go.Figure()
    for name, precisions in played.items():
        x, line = list(range(len(precisions))), styles[name].line(4)
        figure.add_scatter(x=x, y=precisions, mode="lines", name=name, line=line)
    figure.update_xaxes(title_text="questions", rangemode="tozero")
    figure.update_yaxes(range=[0, 1.04], title_text="precision")
    figure.update_layout(showlegend=len(played) > 1)
    alt = f"Precision by the number of questions. {compared(played)}"
    show_figure(figure, key, alt, "precision-by-questions", HEIGHT, top=8)


def compared(played: Mapping[str, list[float]]) -> str:
    """Say after how many questions the ranking of each player is correct and stays so.

    >>> compared({"C-star": [0.5, 1.0], "Independent": [0.5, 0.5, 1.0]})
    'Fully correct: C-star after 1 question, Independent after 2.'
    >>> compared({"C-star": [0.5]})
    'Fully correct: C-star never.'
    """
    texts = []
    for name, precisions in played.items():
        count = questions_needed(precisions)
        word = " question" if count == 1 else "" if texts else " questions"
        texts.append(f"{name} never" if count is None else f"{name} after {count}{word}")
    return f"Fully correct: {', '.join(texts)}."
