"""Download of charts as a single HTML file that works offline, with a caption per chart."""

from __future__ import annotations

import html
from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from pages.parts.app import downloads

# a chart and its caption, as plain text
Shown = tuple[go.Figure, str]

STYLE = "body{font:16px sans-serif;color:#202020;background:#fff;max-width:1100px;margin:2rem auto;padding:0 1rem}"


def as_html(title: str, figures: Sequence[Shown]) -> str:
    """A page of interactive charts on a white background, each with its caption."""
    parts = []
    for figure, caption in figures:
        light = go.Figure(figure).update_layout(template="plotly_white")
        parts.append(light.to_html(full_html=False, include_plotlyjs=False))
        parts.append(f"<p>{html.escape(caption)}</p>")
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{STYLE}</style><script>{get_plotlyjs()}</script><h1>{html.escape(title)}</h1>{''.join(parts)}</html>"
    )


def offer(title: str, figures: Sequence[Shown], file: str) -> None:
    """The download button; the file is created on a click."""
    downloads.offer("Charts as HTML", lambda: as_html(title, figures), file)
