"""Charts to take along: one HTML file that needs no network, with what is said of each."""

from __future__ import annotations

import html
from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from pages.parts.app import downloads

Shown = tuple[go.Figure, str]  # a chart and what is said of it, as plain text

STYLE = "body{font:16px sans-serif;color:#202020;background:#fff;max-width:1100px;margin:2rem auto;padding:0 1rem}"


def as_html(title: str, figures: Sequence[Shown]) -> str:
    """A page of charts that still answer to the mouse, each with its caption as plain text, on white."""
    parts = []
    for figure, caption in figures:
        drawn = go.Figure(figure).update_layout(template="plotly_white")
        parts.append(drawn.to_html(full_html=False, include_plotlyjs=False))
        parts.append(f"<p>{html.escape(caption)}</p>")
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{STYLE}</style><script>{get_plotlyjs()}</script><h1>{html.escape(title)}</h1>{''.join(parts)}</html>"
    )


def offer(title: str, figures: Sequence[Shown], file: str) -> None:
    """The button for it, made when it is pressed."""
    downloads.offer("Charts as HTML", lambda: as_html(title, figures), file)
