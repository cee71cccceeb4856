"""What lessons show, as parts of a file to hand out: pictures in a row, a whole image, a film, a chart."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pages.parts.components.tile import GLYPHS, Tile
from pages.parts.views.strips import Box, Frame, Strip
from ranking.reports.figures import figure_svg
from ranking.reports.markup import Markup, element
from ranking.reports.page import figure
from ranking.reports.pictures import tiles_of

FEWEST_ACROSS = 6  # pictures beside each other: on paper fewer would be too large
KINDS = {"relevant": "relevant", "irrelevant": "wrong", None: "plain"}


def chart(drawn: go.Figure, alt: str) -> Markup:
    """A chart as it stands, without what answers to the mouse."""
    return figure(figure_svg(_decoded(drawn.to_plotly_json()), alt))


def _decoded(value: Any) -> Any:
    """A part of Plotly's JSON with its arrays as numbers, which it keeps as bytes."""
    if isinstance(value, dict) and value.keys() >= {"dtype", "bdata"}:
        flat = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
        return flat.reshape([int(side) for side in value["shape"].split(",")]) if "shape" in value else flat
    if isinstance(value, dict):
        return {name: _decoded(part) for name, part in value.items()}
    return [_decoded(part) for part in value] if isinstance(value, list | tuple) else value


def row(
    tiles: Sequence[Tile],
    label: str,
    columns: int,
    flags: Mapping[str, str],
    ends: Mapping[str, str],
    brackets: Mapping[str, str],
    chosen: str | None,
) -> Markup:
    """A strip of pictures, as `strip` shows it."""
    shown = []
    for tile in tiles:
        said = (flags.get(tile.id), ends.get(tile.id), brackets.get(tile.id))
        foot = " ".join(part for part in (tile.left, GLYPHS[tile.mark], tile.right, *said) if part)
        kind = f"tile {KINDS[tile.mark]}{' first' if tile.id in flags or tile.id == chosen else ''}"
        shown.append(
            element(
                "div",
                element("img", src=tile.src, alt=tile.alt),
                element("span", foot, class_="place two"),
                class_=kind,
            )
        )
    return element("div", tiles_of(shown, max(FEWEST_ACROSS, columns)), role="group", aria_label=label)


def whole(src: str, size: tuple[int, int], boxes: Sequence[Box], alt: str) -> Markup:
    """A whole image with its boxes, as `picture` shows it."""
    width, height = size
    unit = max(size) / 100
    parts = [element("image", href=src, width=width, height=height)]
    for box in boxes:
        left, top, right, bottom = box.box
        look = {
            "fill": "none",
            "stroke": box.colour,
            "stroke_width": unit * (1.6 if box.strong else 0.9),
            "stroke_dasharray": f"{3 * unit:g} {1.5 * unit:g}" if box.dashed else None,
        }
        parts.append(element("rect", x=left, y=top, width=right - left, height=bottom - top, **look))
        if box.label:
            outline = f"stroke:{box.colour};stroke-width:{1.2 * unit:g};paint-order:stroke"
            style = f"font-size:{4.5 * unit:g}px;fill:#fff;{outline}"
            parts.append(element("text", box.label, x=left + unit, y=top + 5 * unit, style=style))
    return element("svg", *parts, viewBox=f"0 0 {width} {height}", role="img", aria_label=alt, class_="whole")


def film(frames: Sequence[Frame], strips: Sequence[Strip], truth: Strip | None, label: str) -> Markup:
    """Sequences of pictures, with their captions where the truth is shown."""
    rows = []
    for strip in [*([truth] if truth else []), *strips]:
        shown = [
            element(
                "div",
                element("img", src=frames[at].src, alt=frames[at].alt),
                element("span", frames[at].caption, class_="place") if truth else Markup(""),
                class_="tile plain",
            )
            for at in strip.order
        ]
        rows.append(element("p", element("b", strip.title), class_="title"))
        rows.append(tiles_of(shown, max(4, min(len(shown), 10))))
    return element("div", *rows, role="group", aria_label=label)
